from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pipeline.graphs import build_graphs
from pipeline.infer.declared import declare
from pipeline.ingest import open_reader
from pipeline.model.measured.reading import ReadReport
from pipeline.store import open_snapshot
from tests.real_data import real_data
from tests.unit.pipeline.store.snapshots import write


@pytest.mark.parametrize(
    ("name", "n_nodes", "n_links"),
    [
        ("brite/brite-topdown.brite", 1500, 3060),
        ("brite/java_BU5000_50AS_rw.brite.gz", 5000, 10_000),
        ("brite/cpp_TD10x1000.brite.gz", 10_000, 20_020),
    ],
)
def test_a_real_brite_hierarchy_comes_back_from_the_store_as_networkx_sees_it(
    tmp_path, name, n_nodes, n_links
):
    path = real_data(name)
    (read,) = open_reader(path, ReadReport(str(path)))[1]
    topology = declare(read, asn=None, ingresses=None)
    graphs = build_graphs([topology])
    write(tmp_path, "a", graphs)
    snapshot = open_snapshot(tmp_path)
    assert snapshot.n_nodes.sum() == n_nodes == topology.n_nodes
    n_kept = int(snapshot.n_edges.sum()) + snapshot.borders().num_rows
    dropped = graphs.counts["n_loops_dropped"] + graphs.counts["n_parallel_dropped"]
    assert n_kept + dropped == n_links == topology.n_links
    whole = nx.Graph()
    whole.add_nodes_from(topology.node_id.tolist())
    ends = topology.node_id[topology.near], topology.node_id[topology.far]
    whole.add_edges_from(zip(*map(np.ndarray.tolist, ends), strict=True))
    for row in range(snapshot.n_ases):
        ids = snapshot.nodes(row).id
        graph = snapshot.graph(row, check=True)
        own = whole.subgraph(ids.tolist())
        assert snapshot.n_components[row] == nx.number_connected_components(own)
        tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        found = set(zip(ids[tails].tolist(), ids[graph.indices].tolist(), strict=True))
        assert found == {(a, b) for a, b in own.to_directed().edges if a != b}
