"""Files with lengths or round-trip times through ingest and store, against other programs.

BRITE lengths against NetworkX, round-trip times of the lab against SciPy; no tolerance.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest

from kernels import sssp, weighted_diameter, weighted_widths
from kernels.eccentricity.questions import QUESTIONS
from kernels.eccentricity.weighted.steps import unit_of
from kernels.shortest_paths.check import check_distances
from pipeline.cli import main
from pipeline.config import IngestConfig
from pipeline.stages.ingest import ingest
from pipeline.store import open_snapshot
from tests.oracles.weighted import length_of, scipy_eccentricities
from tests.real_data import REPOSITORY, real_data


def networkx_graph(path: Path) -> nx.Graph:
    """Nodes and lengths of the file, read here by themselves; lengths as the store keeps them."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    nodes, edges = text.split("Nodes:")[1].split("Edges:")
    graph = nx.Graph()
    graph.add_nodes_from(int(line.split()[0]) for line in nodes.splitlines()[1:] if line.strip())
    for line in edges.splitlines()[1:]:
        if line.strip():
            _, u, v, length = line.split()[:4]
            graph.add_edge(int(u), int(v), length=float(np.float32(length)))
    return graph


def check_as(snapshot, row: int, whole: nx.Graph, sources: int) -> None:
    """Distances from some routers of an AS, and its diameter, against NetworkX; no tolerance."""
    graph, ids = snapshot.graph(row, weights=True), snapshot.nodes(row).id
    own = whole.subgraph(ids.tolist()).copy()  # a view is slow
    assert graph.n_edges == own.number_of_edges()
    for source in np.linspace(0, graph.n_nodes - 1, sources).astype(int).tolist():
        found = sssp(graph, source)
        check_distances(graph.indptr, graph.indices, graph.weights, source, found.distance)
        theirs = nx.single_source_dijkstra_path_length(own, int(ids[source]), weight="length")
        expected = [theirs.get(name, np.inf) for name in ids.tolist()]
        np.testing.assert_array_equal(found.distance, expected)


def widths_by_networkx(whole: nx.Graph, ids: np.ndarray) -> np.ndarray:
    own = whole.subgraph(ids.tolist()).copy()  # a view is slow
    rows = dict(nx.all_pairs_dijkstra_path_length(own, weight="length"))
    return np.array([max(rows[name].values()) for name in ids.tolist()])


def snapshot_of(folder: Path, path: Path, asn: int | None = None):
    ingest(IngestConfig(inputs=(path,), store=folder / "store", snapshot="a", asn=asn))
    return open_snapshot(folder / "store")


def test_a_counted_topology(tmp_path):
    """Routers 2, 3, 4 of one AS: lengths 5, 5, 10; routers 5, 6 of another: 6."""
    snapshot = snapshot_of(tmp_path, REPOSITORY / "data/samples/brite/topdown_java.brite")
    assert snapshot.weight_unit == "length"
    first, second = (snapshot.graph(row, weights=True) for row in range(2))
    found = weighted_widths(first, QUESTIONS)
    assert found.eccentricity.tolist() == [10, 5, 10]
    assert (found.diameter_lower[0], found.radius_lower[0]) == (10, 5)
    assert np.flatnonzero(found.is_center).tolist() == [1]
    assert weighted_diameter(second).diameter == 6


def not_json(text: str):
    raise AssertionError(f"{text} is no JSON")


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of Distributed
@pytest.mark.parametrize("pages", ["--pages", "--no-pages"])
@pytest.mark.parametrize(
    "metrics",
    [
        "weighted_diameter,weighted_radius",
        "diameter,radius,weighted_center,weighted_eccentricities",
    ],
)
def test_a_command_that_may_search_nothing_reports_what_it_knows(
    scheduler_address, tmp_path, monkeypatch, capsys, metrics, pages
):
    """ASes of 3 and 2 routers; of weights nothing is known before the first search."""
    snapshot_of(tmp_path, REPOSITORY / "data/samples/brite/topdown_java.brite")
    given = ["--store", tmp_path / "store", "--out", tmp_path / "out", pages]
    given += ["--scheduler", scheduler_address]
    asked = ["analyze", *given, "--metrics", metrics, "--max-searches", 0]
    monkeypatch.setattr(sys, "argv", ["hopscope", *map(str, asked)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0, capsys.readouterr().err
    out = tmp_path / "out" / "a"
    report = json.loads((out / "report.json").read_text(), parse_constant=not_json)
    assert report["totals"]["weighted_widths"]["n_not_exact"] == 2
    table = pq.read_table(out / "ases.parquet").to_pydict()
    for name in ("weighted_diameter", "weighted_radius"):
        assert table[name] == table[f"{name}_upper"] == [None, None]
        assert table[f"{name}_lower"] == [0.0, 0.0]
    assert (out / "index.html").exists() == (pages == "--pages")
    if pages == "--pages":
        assert "at least 0.00" in (out / "as" / "0.html").read_text()


@pytest.mark.parametrize(
    ("name", "asn", "rows", "sources"),
    [
        ("brite/brite-topdown.brite", None, 6, 20),
        ("brite/java_BU5000_50AS_rw.brite.gz", None, 6, 20),
        ("brite/cpp_RTWaxman1k.brite.gz", 64500, 1, 30),
        ("brite/java_RTBA10000.brite.gz", 64500, 1, 4),
    ],
)
def test_real_topologies_are_as_networkx_finds_them(tmp_path, name, asn, rows, sources):
    path = real_data(name)
    snapshot, whole = snapshot_of(tmp_path, path, asn), networkx_graph(path)
    for row in range(min(rows, snapshot.n_ases)):
        check_as(snapshot, row, whole, sources)
        graph, ids = snapshot.graph(row, weights=True), snapshot.nodes(row).id
        found = weighted_widths(graph, QUESTIONS[:4])
        assert found.exact.all()
        largest = int(np.argmax(found.size))
        assert length_of(graph, found.path) == found.diameter_lower[largest]
        if graph.n_nodes > 1200:
            continue  # a search from each node takes NetworkX too long
        true = widths_by_networkx(whole, ids)
        for c in range(len(found.names)):
            own = true[found.component == c]
            assert found.diameter_lower[c] == found.diameter_upper[c] == own.max()
            assert found.radius_lower[c] == found.radius_upper[c] == own.min()
        np.testing.assert_array_equal(weighted_widths(graph, QUESTIONS).eccentricity, true)


def test_round_trip_times_of_the_lab_are_as_scipy_finds_them(tmp_path):
    """Their sums are exact, as multiples of 2**-30 ms or more: so bounds have no margin."""
    lab = REPOSITORY / "data/samples/lab"
    ingest(
        IngestConfig(
            inputs=(lab,),
            store=tmp_path / "store",
            snapshot="a",
            ip2as=(lab / "lab.pfx2as",),
            allow_special=("198.18.0.0/15",),
        )
    )
    snapshot = open_snapshot(tmp_path / "store")
    assert snapshot.weight_unit == "ms"
    assert snapshot.n_ases == 10
    for row in range(snapshot.n_ases):
        graph = snapshot.graph(row, weights=True)
        assert unit_of(graph.weights) >= 2.0**-30
        found = weighted_widths(graph, QUESTIONS)
        true = scipy_eccentricities(graph)
        np.testing.assert_array_equal(found.eccentricity, true)
        assert found.exact.all()
        assert found.diameter_lower.max() == true.max() > 0.02
