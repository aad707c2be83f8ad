"""Sweeps over the parts of a graph find what the search of the whole finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import GraphError, msbfs
from kernels.csr import Shard
from kernels.multi_source import msbfs_shard
from kernels.partition.sweep import sweep
from kernels.partition.sweep.cpu import CpuSweepSteps
from kernels.partition.sweep.steps import SMALL
from tests.oracles.paths import bfs_levels
from tests.ranks import on_ranks, parts_of
from tests.shapes import graph_of, grid, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import searched_graphs


def swept(graph, sources, n_ranks, small=SMALL, block=None):
    """Results of each rank."""

    def one(part, collective):
        return sweep(CpuSweepSteps(part, small), part, sources, collective)

    return on_ranks(parts_of(graph, n_ranks, block), one)


def check_same(found, graph, sources):
    source_ptr = np.array([0, len(sources)])
    expected = msbfs_shard(Shard.from_graphs([graph]), np.array(sources, int), source_ptr)
    for name in ("hop_ptr", "hop_counts", "eccentricity", "n_reached", "farthest_ptr", "farthest"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@settings(max_examples=examples(60), deadline=None)
@given(
    searched=searched_graphs(),
    n_ranks=st.sampled_from([1, 2, 3, 4]),
    small=st.sampled_from([0, 1, 3, 10, SMALL]),
)
def test_all_ranks_have_the_results_of_one_graph(searched, n_ranks, small):
    graph, sources = searched
    for found in swept(graph, sources, n_ranks, small):
        check_same(found, graph, sources)
        for i, source in enumerate(sources):
            level = bfs_levels(graph, [source])[0]
            hop_counts = found.hop_counts[found.hop_ptr[i] : found.hop_ptr[i + 1]]
            np.testing.assert_array_equal(hop_counts, np.bincount(level[level >= 0]))


@pytest.mark.parametrize("small", [0, 60, SMALL])
@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", ["grid", "hubs", "star"])
def test_more_sources_than_lanes_in_both_directions_and_forms(shape, n_ranks, small):
    graph = {
        "grid": lambda: grid(12, 100),
        "hubs": lambda: tree_with_hubs(3_000, seed=2),
        "star": lambda: star(2_000),
    }[shape]()
    sources = np.random.default_rng(1).integers(0, graph.n_nodes, 150)
    for found in swept(graph, sources, n_ranks, small):
        check_same(found, graph, sources)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_a_level_of_a_long_graph_is_one_exchange(n_ranks):
    graph = grid(12, 200)
    for found in swept(graph, [0, 7], n_ranks):
        assert found.n_exchanges == found.eccentricity.max() + 3  # one more for farthest nodes
    for found in swept(graph, [0, 7], n_ranks, small=0):
        assert found.n_exchanges == 2 * found.eccentricity.max() + 4


def test_what_a_rank_found_of_others_before_a_bottom_up_level_is_not_sent_later():
    # Rank 0 has nodes 0 to 63. At level 1 its small frontier, node 1, has found 11 nodes of rank 1
    # when hub 64 makes the level bottom-up. The next one is top-down: rank 0 has nothing to send,
    # and a list without room for it.
    reached = [(0, 1), (0, 64), *((1, v) for v in range(65, 76)), *((64, v) for v in range(76, 96))]
    others = [(v, v + 1) for v in (*range(2, 63), *range(96, 127))]
    graph = graph_of(128, reached + others)
    for found in swept(graph, [0], 2, small=20, block=64):
        check_same(found, graph, [0])


def test_the_deepest_level_of_each_node_is_a_lower_bound_that_some_source_attains():
    graph = grid(9, 40)
    parts = parts_of(graph, 3)
    sources = [0, 100, 359]

    def one(part, collective):
        steps = CpuSweepSteps(part)
        sweep(steps, part, sources, collective)
        return steps.deepest[: part.split.n_own(part.rank)]

    expected = np.array(msbfs(graph, sources, levels=True).level).max(axis=0)
    for part, deepest in zip(parts, on_ranks(parts, one), strict=True):
        first = int(part.split.first[part.rank])
        nodes = part.split.original(np.arange(first, first + len(deepest)))
        np.testing.assert_array_equal(deepest, expected[nodes])


def test_a_source_outside_is_an_error():
    (part,) = parts_of(grid(4, 8), 1)
    with pytest.raises(GraphError, match="source 32 is not a node; the graph has 32 nodes"):
        on_ranks([part], lambda part, c: sweep(CpuSweepSteps(part), part, [3, 32], c))
