"""Layers are hops, and nodes within them stand where few links cross."""

from __future__ import annotations

import numpy as np

from pipeline.report.drawing.layers import levels, place
from tests.unit.pipeline.report.memory import MemorySnapshot, _levels


def shard_of(*graphs: tuple[list[tuple[int, int]], int]):
    snapshot = MemorySnapshot(
        {10 + i: links for i, (links, _) in enumerate(graphs)},
        {10 + i: n for i, (_, n) in enumerate(graphs)},
        [],
    )
    return snapshot, snapshot.shard(range(len(graphs)))


def test_levels_are_hops_from_the_nearest_source():
    rng = np.random.default_rng(5)
    links = [tuple(sorted(pair)) for pair in rng.integers(0, 60, (70, 2)).tolist()]
    links = [pair for pair in links if pair[0] != pair[1]]
    snapshot, shard = shard_of((links, 60))
    each = np.array([_levels(snapshot.graph(0), source) for source in (3, 17)])
    each[each < 0] = 1000
    wanted = each.min(axis=0)
    wanted[wanted == 1000] = -1
    found = levels(shard.indptr, shard.indices, np.array([17, 3]))
    assert found.tolist() == wanted.tolist()


def test_each_layer_of_each_graph_is_ranked_and_the_unreached_come_last():
    _, shard = shard_of(([(0, 1), (0, 2), (1, 3)], 5), ([(0, 1)], 3))
    graph = np.repeat([0, 1], [5, 3])
    level = levels(shard.indptr, shard.indices, np.array([0, 5]))
    found = place(shard.indptr, shard.indices, graph, level)
    assert found.layer.tolist() == [0, 1, 1, 2, 3, 0, 1, 2]
    assert found.of_layer.tolist() == [1, 2, 2, 1, 1, 1, 1, 1]
    for where in ((graph == 0) & (found.layer == 1), (graph == 1) & (found.layer == 0)):
        assert sorted(found.rank[where].tolist()) == list(range(int(where.sum())))


def test_two_lines_side_by_side_do_not_cross():
    # Lines 0-2-4 and 1-3-5, with the ends of the middle layer swapped by their ids.
    _, shard = shard_of(([(0, 3), (3, 4), (1, 2), (2, 5)], 6))
    level = levels(shard.indptr, shard.indices, np.array([0, 1]))
    rank = place(shard.indptr, shard.indices, np.zeros(6, np.int64), level).rank
    assert rank[0] == rank[3] == rank[4]
    assert rank[1] == rank[2] == rank[5]


def test_nothing_is_placed_of_no_graph():
    empty = np.empty(0, np.int64)
    assert len(levels(np.zeros(1, np.int64), empty, empty)) == 0
    assert len(place(np.zeros(1, np.int64), empty, empty, empty).layer) == 0
