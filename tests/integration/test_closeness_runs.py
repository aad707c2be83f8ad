"""Closeness from the command line to the files of routers, the page, and a later run."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from pipeline.graphs import build_graphs
from pipeline.store import write_snapshot
from tests.integration.measured import path_links, random_links, topology

LINKS = {10: (6, path_links(6)), 20: (40, random_links(40, 2)), 30: (1, []), 40: (3, [(0, 1)])}


@pytest.fixture
def store(tmp_path):
    store = tmp_path / "store"
    ases = [topology(asn, n, links, [0]) for asn, (n, links) in LINKS.items()]
    given = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, "night", build_graphs(ases), **given)
    return store


def analyze(store, out, metrics):
    words = ["analyze", "--store", str(store), "--out", str(out), "--metrics", metrics, "--full"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--device", "cpu"])
    assert ended.value.code == 0
    return out / "night"


def by_networkx(asn):
    n_nodes, links = LINKS[asn]
    graph = nx.Graph(list(map(tuple, np.asarray(links).tolist())))
    graph.add_nodes_from(range(n_nodes))
    close, harmonic = nx.closeness_centrality(graph), nx.harmonic_centrality(graph)
    nodes, others = range(n_nodes), max(n_nodes - 1, 1)
    return [close[v] for v in nodes], [harmonic[v] / others for v in nodes]


def check(folder):
    ases = {row["asn"]: row for row in pq.read_table(folder / "ases.parquet").to_pylist()}
    ingresses = {row["asn"]: row for row in pq.read_table(folder / "ingresses.parquet").to_pylist()}
    for asn in LINKS:
        closeness, harmonic = by_networkx(asn)
        nodes = pq.read_table(folder / "nodes" / f"{asn}.parquet")
        assert nodes["closeness"].to_pylist() == pytest.approx(closeness, rel=1e-13)
        assert nodes["harmonic"].to_pylist() == pytest.approx(harmonic, rel=1e-13)
        row = ases[asn]
        first = nodes["closeness"].to_pylist()[row["max_closeness_node"]]
        assert row["max_closeness"] == first == max(nodes["closeness"].to_pylist())
        assert (row["closeness_estimated"], row["max_closeness_error"]) == (False, 0)
        assert row["n_closeness_searches"] == LINKS[asn][0]
        # An ingress has the same, of its own search.
        ingress = ingresses[asn]
        assert ingress["closeness"] == nodes["closeness"][ingress["ingress"]].as_py()
        assert ingress["harmonic"] == nodes["harmonic"][ingress["ingress"]].as_py()


def test_every_router_has_its_closeness_in_files_and_on_the_page(store, tmp_path):
    folder = analyze(store, tmp_path / "out", "hops,closeness")
    check(folder)
    assert json.loads((folder / "report.json").read_text())["totals"]["n_closeness_searches"] == 50
    page = (folder / "as" / "10.html").read_text()
    most = max(by_networkx(10)[0])
    assert f"highest closeness</dt><dd>{most:.3f}" in page
    # A later run of something else, and what this one measured, keep it.
    folder = analyze(store, tmp_path / "out", "eccentricities")
    check(folder)
    nodes = pq.read_table(folder / "nodes" / "10.parquet")
    assert nodes["eccentricity"].to_pylist() == [5, 4, 3, 3, 4, 5]
    folder = analyze(store, tmp_path / "other", "hops,closeness")  # from results of the store
    check(folder)


def test_a_report_with_ingresses_alone_has_theirs(store, tmp_path):
    folder = analyze(store, tmp_path / "out", "hops")
    row = pq.read_table(folder / "ingresses.parquet").to_pylist()[0]
    assert row["closeness"] == pytest.approx(by_networkx(10)[0][row["ingress"]], rel=1e-14)
    assert "max_closeness" not in pq.read_schema(folder / "ases.parquet").names
    assert not (folder / "nodes").exists()
