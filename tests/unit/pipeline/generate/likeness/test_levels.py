"""Hops to landmarks are those of NetworkX, and what is against them is counted."""

from __future__ import annotations

import networkx as nx
import numpy as np

from pipeline.generate.likeness.law import components_of
from pipeline.generate.likeness.levels import (
    cost_of,
    levels_of,
    nearer_neighbors,
    swap_cost,
    swapped,
)
from pipeline.generate.likeness.linking import swap
from tests.unit.pipeline.generate.likeness.originals import shard_of

GRAPH = nx.disjoint_union(nx.barabasi_albert_graph(80, 1, seed=3), nx.path_graph(5))


def levels(graph: nx.Graph):
    shard = shard_of(graph)
    parts = components_of(shard)
    return shard, levels_of(shard, parts.of_node, len(parts.size))


def test_levels_are_hops_from_routers_far_apart():
    _, level = levels(GRAPH)
    ends = []
    for column in level.T:
        for nodes in nx.connected_components(GRAPH):
            (landmark,) = (node for node in nodes if column[node] == 0)
            hops = nx.single_source_shortest_path_length(GRAPH, landmark)
            assert all(hops[node] == column[node] for node in nodes)
            ends.append(landmark)
    assert {80, 84} <= set(ends)  # both ends of the path
    assert level.max() == nx.diameter(GRAPH.subgraph(range(80)))


def test_true_levels_cost_nothing_and_an_exchange_costs_what_it_breaks():
    shard, level = levels(nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6)))
    indptr, indices = shard.indptr.copy(), shard.indices.copy()
    assert cost_of(indptr, indices, level) == 0
    nearer = nearer_neighbors(indptr, indices, level)
    rng, length = np.random.default_rng(1), np.diff(indptr)
    cost = 0
    for _ in range(50):
        a, w = rng.choice(36, 2, replace=False)
        x, y = indices[indptr[a]], indices[indptr[w]]
        linked = {*indices[indptr[a] : indptr[a + 1]]}, {*indices[indptr[x] : indptr[x + 1]]}
        if len({a, x, w, y}) < 4 or w in linked[0] or y in linked[1]:
            continue
        cost += swap_cost(level, nearer, a, x, w, y)
        swap(indptr, indices, length, a, x, w, y)
        swapped(level, nearer, a, x, w, y)
        assert np.array_equal(nearer, nearer_neighbors(indptr, indices, level))
        assert cost_of(indptr, indices, level) == cost
    assert cost > 0
