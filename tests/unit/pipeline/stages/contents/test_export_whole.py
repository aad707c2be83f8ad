"""A snapshot as a whole for other programs: every format, read back; levels; hostile texts."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.io

from pipeline.config import ExportConfig
from pipeline.graphs import build_graphs
from pipeline.infer.declared import declare
from pipeline.ingest import open_reader
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology
from pipeline.stages.contents.export import export
from tests.addresses import parse_addrs
from tests.unit.pipeline.store.snapshots import write

# AS 1: 0-1-2, AS 2: 3-4, AS 3: 5; links 2-3 and 4-5 between them.
ADDRS = ["20.0.0.1", "20.0.0.2", "20.0.0.3", "30.0.0.1", "30.0.0.2", "2600::1"]
EDGES = {(0, 1): 1.5, (1, 2): 2, (2, 3): 0.1, (3, 4): None, (4, 5): 7}
HOSTILE = '=HYPERLINK("http://x")&<b>\\"]\u202e'


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    addr = parse_addrs(ADDRS)
    ends = np.array(list(EDGES)).T
    more = parse_addrs(["20.0.0.1", "20.0.0.2", "20.0.0.3", "20.0.0.9", *ADDRS[3:]])
    topology = Topology(
        node_asn=np.array([1, 1, 1, 2, 2, 3]),
        near=ends[0],
        far=ends[1],
        node_addr=addr,
        weight=np.array([np.nan if w is None else w for w in EDGES.values()], np.float32),
        weight_unit="ms",
        link_columns={"note": np.array([HOSTILE, "", "-1", "@x", "plain"], object)},
        addrs=more,
        addr_node=np.array([0, 1, 2, 0, 3, 4, 5]),
    )
    graphs = build_graphs([declare(topology, asn=None, ingresses=None)])
    write(folder, "a", graphs, as_names={1: HOSTILE, 2: "Two"})
    return folder


def written(store, out, **more):
    facts = export(ExportConfig("a", store, out=out, **more))
    return out, facts


def read_back(path, format=None):
    report = ReadReport(str(path))
    (topology,) = open_reader(path, report, format)[1]
    assert not report.rejected
    ids = topology.node_id
    ends = zip(ids[topology.near].tolist(), ids[topology.far].tolist(), strict=True)
    return topology, [(min(pair), max(pair)) for pair in ends]


def weights_of(topology, links):
    return {
        link: None if np.isnan(weight) else float(weight)
        for link, weight in zip(links, topology.weight, strict=True)
    }


WEIGHTS = {link: None if w is None else float(np.float32(w)) for link, w in EDGES.items()}


def test_graphml_is_read_back_unchanged(store, tmp_path):
    path, facts = written(store, tmp_path / "x.graphml")
    assert (facts["n_nodes"], facts["n_edges"], facts["asn"]) == (6, 5, None)
    topology, links = read_back(path)
    assert weights_of(topology, links) == WEIGHTS
    assert topology.weight_unit == "ms"
    order = np.argsort(topology.node_id)
    assert topology.node_asn[order].tolist() == [1, 1, 1, 2, 2, 3]
    assert topology.node_addr[order].tolist() == parse_addrs(ADDRS).tolist()
    notes = dict(zip(links, topology.link_columns["note"], strict=True))
    assert notes[0, 1] == HOSTILE.replace("\u202e", "\ufffd")
    graph = nx.read_graphml(path)
    assert graph.number_of_edges() == 5
    assert graph.graph["name"] == "a"


def test_gexf_is_read_by_networkx(store, tmp_path):
    path, _ = written(store, tmp_path / "x.gexf")
    ET.parse(path)
    as_known = tmp_path / "known.gexf"  # NetworkX reads the version before, which is alike here
    as_known.write_text(
        path.read_text().replace("http://gexf.net/1.3", "http://www.gexf.net/1.2draft", 1)
    )
    graph = nx.read_gexf(as_known)
    weights = {(int(a[1:]), int(b[1:])): d.get("weight") for a, b, d in graph.edges(data=True)}
    assert {(min(e), max(e)) for e in weights} == set(EDGES)
    assert [graph.nodes[f"n{i}"]["label"] for i in range(6)] == ADDRS
    assert graph.nodes["n5"]["asn"] == 3


def test_dot_has_a_cluster_for_each_as_and_round_trip_times(store, tmp_path):
    path, _ = written(store, tmp_path / "x.dot")
    text = path.read_text()
    assert text.count("subgraph") == 3
    assert text.count("{") == text.count("}") == 4
    assert 'n1 -- n2 [label="2 ms"];' in text
    assert "n3 -- n4;" in text
    second = text.index('label="AS2"')
    assert text.index('"30.0.0.1"') > second > text.index('"20.0.0.3"')


def test_lists_and_tables_have_every_link(store, tmp_path):
    path, _ = written(store, tmp_path / "x.edges")
    assert set(read_back(path)[1]) == set(EDGES)
    path, _ = written(store, tmp_path / "x.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert {(int(row["tail"]), int(row["head"])) for row in rows} == set(EDGES)
    ends = {(row["tail_addr"], row["head_addr"], row["tail_asn"], row["head_asn"]) for row in rows}
    assert ("30.0.0.2", "2600::1", "2", "3") in ends
    notes = [row["note"] for row in rows if row["note"]]
    assert len(notes) == 4
    assert not [note for note in notes if note[0] in "=+-@"]
    topology, links = read_back(path)
    assert weights_of(topology, links) == WEIGHTS
    assert topology.node_addr.tolist() == sorted(parse_addrs(ADDRS).tolist())
    path, _ = written(store, tmp_path / "x.parquet")
    table = pq.read_table(path)
    assert set(zip(table["tail"].to_pylist(), table["head"].to_pylist(), strict=True)) == set(EDGES)
    assert table.schema.metadata[b"weight_unit"] == b"ms"


def test_matrix_market_is_read_by_scipy_and_by_us(store, tmp_path):
    path, _ = written(store, tmp_path / "x.mtx")
    matrix = scipy.io.mmread(path).tocoo()
    pairs = set(zip(matrix.row.tolist(), matrix.col.tolist(), strict=True))
    assert pairs == set(EDGES) | {(b, a) for a, b in EDGES}
    assert [(a - 1, b - 1) for a, b in sorted(read_back(path)[1])] == sorted(EDGES)
    path, _ = written(store, tmp_path / "one.mtx", asn=1)
    topology, links = read_back(path)
    assert weights_of(topology, links) == {(1, 2): 1.5, (2, 3): 2}


def test_brite_is_read_back(store, tmp_path):
    path, _ = written(store, tmp_path / "x.brite")
    topology, links = read_back(path)
    assert sorted(links) == sorted(EDGES)
    assert topology.node_asn.tolist() == [1, 1, 1, 2, 2, 3]
    assert topology.node_columns["indegree"].tolist() == [1, 2, 2, 2, 2, 1]
    assert topology.link_columns["type"].tolist().count("E_AS") == 2


def test_itdk_files_are_read_back(store, tmp_path):
    path, facts = written(store, tmp_path / "kit.links")
    assert [p.rpartition("/")[2] for p in facts["files"]] == [
        "kit.links",
        "kit.nodes",
        "kit.nodes.as",
    ]
    nodes = (tmp_path / "kit.nodes").read_text().splitlines()
    assert nodes[1] == "node N1:  20.0.0.1 20.0.0.9"
    assert len(nodes) == 7
    topology, links = read_back(path)
    assert sorted((a - 1, b - 1) for a, b in links) == sorted(EDGES)
    assert topology.node_asn.tolist() == [1, 1, 1, 2, 2, 3]
    assert len(topology.addrs) == 7


def test_levels_of_ases_and_of_borders(store, tmp_path):
    path, facts = written(store, tmp_path / "x.graphml", level="as")
    assert (facts["n_nodes"], facts["n_edges"], facts["node_kind"]) == (3, 2, "as")
    graph = nx.read_graphml(path)
    assert graph.edges["n1", "n2"]["n_links"] == 1
    assert graph.nodes["n1"]["name"].startswith("=HYPERLINK")
    path, facts = written(store, tmp_path / "b.graphml", level="border")
    topology, links = read_back(path)
    names = dict(zip(topology.node_id.tolist(), topology.node_asn.tolist(), strict=True))
    assert names == {0: 1, 1: 2, 2: 2, 3: 3}
    assert sorted(links) == [(0, 1), (1, 2), (2, 3)]
    _, facts = written(store, tmp_path / "one.csv", level="border", asn=2)
    assert (facts["n_nodes"], facts["n_edges"]) == (2, 1)


@pytest.mark.parametrize("format", ["csv", "gexf", "graphml"])
def test_an_as_name_is_never_markup(store, tmp_path, format):
    path, _ = written(store, tmp_path / f"x.{format}", level="as")
    text = path.read_text()
    assert "<b>" not in text
    assert "\u202e" not in text
