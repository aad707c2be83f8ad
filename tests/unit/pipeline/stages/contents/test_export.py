"""Graphs for other programs: each format is read back by another reader than ours wrote it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import get_args

import networkx as nx
import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from pipeline.config import ExportConfig
from pipeline.config.contents import ExportFormat
from pipeline.errors import UsageError
from pipeline.graphs import build_graphs
from pipeline.ingest import open_reader
from pipeline.model.measured.reading import ReadReport
from pipeline.stages.contents.export import WRITERS, edge_table, export
from pipeline.store import Snapshot, open_snapshot
from tests.unit.pipeline.stages.contents.test_snapshots import said
from tests.unit.pipeline.stages.small_store import X, Y, make_store
from tests.unit.pipeline.store.snapshots import some_graphs, write

ASN = 30


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("some")
    write(folder, "a", some_graphs(), as_names={ASN: "<T&\x00\ufffe\u202e"})
    return folder


@pytest.fixture
def snapshot(store) -> Snapshot:
    return open_snapshot(store)


def edges_of(snapshot: Snapshot) -> dict[tuple[int, int], float]:
    """Weight of each edge, from the arrays alone."""
    graph = snapshot.graph(snapshot.row_of(ASN), weights=True)
    return {
        (node, int(head)): float(graph.weights[at])
        for node in range(graph.n_nodes)
        for at in range(graph.indptr[node], graph.indptr[node + 1])
        if (head := graph.indices[at]) > node
    }


def exported(store: Path, out: Path, format: str) -> Path:
    facts = export(ExportConfig("a", store, ASN, format, out))
    assert facts["out"] == str(out)
    return out


@pytest.mark.parametrize(
    ("name", "format"),
    [("x.csv", "csv"), ("x.PARQUET", "parquet"), ("x.links", "itdk"), ("x", "graphml")],
)
def test_the_ending_of_the_file_chooses_the_format_unless_one_is_given(
    store, tmp_path, name, format
):
    assert export(ExportConfig("a", store, ASN, out=tmp_path / name))["format"] == format
    given = export(ExportConfig("a", store, ASN, "edges", tmp_path / name))
    assert given["format"] == "edges"


def test_every_format_that_can_be_chosen_can_be_written():
    assert set(get_args(ExportFormat)) == set(WRITERS)


@pytest.mark.parametrize("name", ["x.foo", "x.csv.gz", "x.graph"])
def test_an_ending_of_no_format_is_refused_with_those_there_are(store, tmp_path, name, capsys):
    out = tmp_path / name
    words = ("export", "a", "--asn", ASN, "--store", store, "--out", out)
    status, _, err = said(capsys, *words)
    assert (status, err.count("\n")) == (2, 1)
    assert "give .graphml, .parquet, .edges, .csv, .gexf, " in err
    assert "or --format NAME" in err
    assert not out.exists()
    assert said(capsys, *words, "--format", "csv")[0] == 0


def test_graphml_is_read_by_networkx_with_all_it_holds(store, snapshot, tmp_path):
    graph = nx.read_graphml(exported(store, tmp_path / "x.graphml", "graphml"))
    wanted = edges_of(snapshot)
    weights = {(int(a[1:]), int(b[1:])): data["weight"] for a, b, data in graph.edges(data=True)}
    found = {(min(e), max(e)): float(np.float32(w)) for e, w in weights.items()}
    assert found == wanted
    assert graph.number_of_nodes() == 40
    assert not graph.is_directed()
    row = snapshot.row_of(ASN)
    ingresses = snapshot.ingresses(np.array([row]))
    roles = {int(n[1:]): data["role"] for n, data in graph.nodes(data=True) if "role" in data}
    kinds = ["candidate" if one else "ingress" for one in ingresses.candidate]
    assert roles == dict(zip(ingresses.node.tolist(), kinds, strict=True))
    assert graph.graph["name"] == "<T&\ufffd\ufffd\ufffd"
    bandwidth = {data["bandwidth"] for *_, data in graph.edges(data=True)}
    assert bandwidth <= set(range(1, 9))


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_tables_have_a_row_for_each_edge(store, snapshot, tmp_path, format):
    read = pq.read_table if format == "parquet" else pacsv.read_csv
    table = read(exported(store, tmp_path / "x", format))
    assert table.column_names == ["tail", "head", "tail_addr", "head_addr", "weight", "bandwidth"]
    ends = list(zip(table["tail"].to_pylist(), table["head"].to_pylist(), strict=True))
    assert ends == sorted(edges_of(snapshot))
    np.testing.assert_allclose(table["weight"].to_numpy(), [edges_of(snapshot)[e] for e in ends])
    if format == "parquet":
        assert table.schema.metadata[b"weight_unit"] == b"ms"


def test_the_line_of_an_export_says_what_a_node_is(store, tmp_path, capsys):
    words = ("export", "a", "--asn", ASN, "--store", store, "--out", tmp_path / "x.csv")
    kind = json.loads(said(capsys, *words, "--json")[1])["node_kind"]
    assert kind == "router"
    assert re.match(rf"AS{ASN} of a: \d+ routers, ", said(capsys, *words)[1])


def test_an_edge_list_is_read_by_our_reader_too(store, snapshot, tmp_path):
    path = exported(store, tmp_path / "x.txt", "edges")
    ((topology),) = open_reader(path, ReadReport(""), "snap")[1]
    names = topology.node_id
    found = {
        (int(names[a]), int(names[b])) for a, b in zip(topology.near, topology.far, strict=True)
    }
    assert {(min(e), max(e)) for e in found} == set(edges_of(snapshot))


def test_without_a_file_text_goes_to_standard_output(tmp_path, capfdbinary):
    store = make_store(tmp_path / "store")
    export(ExportConfig("night", store, 2, "csv"))
    header, row = capfdbinary.readouterr().out.decode().splitlines()
    assert header.startswith('"tail","head","tail_addr","head_addr","weight","n_traces"')
    assert row.startswith(f'0,1,"{X}","{Y}",5,1,')


def test_links_without_weight_or_columns_are_edges_all_the_same(tmp_path):
    from pipeline.model.topology import Topology

    path = Topology(np.full(3, 7), np.array([0, 1]), np.array([1, 2]), node_id=np.arange(3) * 10)
    write(tmp_path, "a", build_graphs([path]))
    export(ExportConfig("a", tmp_path, 7, "graphml", tmp_path / "x"))
    graph = nx.read_graphml(tmp_path / "x")
    assert sorted(graph.edges) == [("n0", "n1"), ("n1", "n2")]
    assert [data["addr"] for _, data in graph.nodes(data=True)] == ["0", "10", "20"]
    assert edge_table(open_snapshot(tmp_path), 0)["tail_addr"].to_pylist() == ["0", "10"]


def test_what_cannot_be_written_is_refused_and_leaves_nothing(store, tmp_path, capsys):
    with pytest.raises(UsageError, match="parquet is not text: give --out FILE"):
        export(ExportConfig("a", store, ASN, "parquet"))
    with pytest.raises(UsageError, match="cannot be written"):
        export(ExportConfig("a", store, ASN, "csv", tmp_path / "none" / "x"))
    kept = tmp_path / "kept.csv"
    kept.write_text("before")
    with pytest.raises(UsageError, match="AS99 is not in snapshot a"):
        export(ExportConfig("a", store, 99, "csv", kept))
    assert kept.read_text() == "before"
    words = ["export", "a", "--asn", str(ASN), "--store", str(store), "--format"]
    for more in (["none"], ["csv", "--json"], ["parquet"], ["itdk"]):
        status, out, err = said(capsys, *words, *more)
        assert (status, out, err.count("\n")) == (2, "", 1)
    status, out, _ = said(capsys, *words, "csv", "--out", tmp_path / "x.csv", "--json")
    assert (status, json.loads(out)["n_edges"]) == (0, len(edges_of(open_snapshot(store))))
    assert len(io.StringIO((tmp_path / "x.csv").read_text()).readlines()) > 1


def test_no_cell_of_a_csv_is_a_formula(store, tmp_path):
    """Ids, addresses, figures and words of our own: no text of an input."""
    lines = exported(store, tmp_path / "x.csv", "csv").read_text().splitlines()
    assert len(lines) > 1
    cells = [cell for line in lines[1:] for cell in line.split(",")]
    assert [cell for cell in cells if not re.fullmatch(r'"?([0-9a-f.:]+|[a-zA-Z_]*)"?', cell)] == []
