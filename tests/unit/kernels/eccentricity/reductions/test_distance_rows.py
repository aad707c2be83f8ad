"""Searches that are kept: levels, pairs that are left, and what is handed over."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.diameter.flat_graphs import random_regular
from benchmarks.lib.graph_files import largest_component
from benchmarks.lib.graphs import attachment
from kernels import components, diameter
from kernels.breadth_first.cpu_bytes import search_levels
from kernels.eccentricity import Strategy
from kernels.eccentricity.check import check_diameter
from kernels.eccentricity.reductions.distance_rows import search_keeping
from kernels.eccentricity.searches.farthest import LANES, sweep_ends
from kernels.types import NODE
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, path, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs


def ring(n_nodes: int):
    return graph_of(n_nodes, [(i, (i + 1) % n_nodes) for i in range(n_nodes)])


def complete(n_nodes: int):
    return graph_of(n_nodes, [(i, j) for i in range(n_nodes) for j in range(i)])


@settings(max_examples=examples(200), deadline=None)
@given(graph=graphs(), data=st.data(), kind=st.sampled_from([np.uint8, np.uint16]))
def test_levels_are_those_of_a_queue(graph, data, kind):
    if graph.n_nodes == 0:
        return
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    level, queue = np.empty(graph.n_nodes, kind), np.empty(graph.n_nodes + 1, NODE)
    last, n_reached = search_levels(graph.indptr, graph.indices, source, level, queue)
    truth = bfs_levels(graph, [source])[0]
    np.testing.assert_array_equal(level, np.where(truth < 0, np.iinfo(kind).max, truth))
    assert last == truth.max()
    assert sorted(queue[:n_reached]) == np.flatnonzero(truth >= 0).tolist()
    assert (np.diff(truth[queue[:n_reached]]) >= 0).all()


def test_dense_frontiers_are_searched_bottom_up_to_the_same_levels():
    graph = tree_with_hubs(5000, 1)
    level, queue = np.empty(5000, np.uint8), np.empty(5001, NODE)
    for source in (0, 17, 4999):
        search_levels(graph.indptr, graph.indices, source, level, queue)
        np.testing.assert_array_equal(level, bfs_levels(graph, [source])[0])


def test_levels_that_do_not_fit_are_refused():
    graph = path(300)
    level, queue = np.empty(300, np.uint8), np.empty(301, NODE)
    assert search_levels(graph.indptr, graph.indices, 0, level, queue).last_level == -1
    wide = level.astype(np.uint16)
    assert search_levels(graph.indptr, graph.indices, 0, wide, queue) == (299, 300)


@settings(max_examples=examples(300), deadline=None)
@given(graph=graphs(), sweeps=st.booleans())
def test_what_is_kept_is_true(graph, sweeps):
    kept = search_keeping(graph, sweeps)
    if kept is None:
        assert graph.n_nodes == 0 or len(components(graph).ids) > 1
        return
    hops = bfs_levels(graph, range(graph.n_nodes))
    truth = hops.max(axis=1)
    assert (kept.lower <= truth).all()
    assert (truth <= kept.upper).all()
    np.testing.assert_array_equal(kept.level, hops[kept.sources[kept.centre]])
    longest = len(kept.path) - 1
    assert hops[kept.path[0], kept.path[-1]] == longest == truth[kept.sources].max()
    assert longest == truth.max() or not kept.is_answered
    if kept.pairs is not None:
        assert (hops[tuple(kept.pairs)] <= kept.apart).all()
        beyond = np.argwhere(hops > longest)
        reported = {frozenset(pair) for pair in kept.pairs.T.tolist()}
        assert {frozenset(pair) for pair in beyond.tolist()} <= reported


@settings(max_examples=examples(200), deadline=None)
@given(graph=graphs(min_nodes=1), data=st.data())
def test_a_sweep_finds_the_farthest_of_its_sources(graph, data):
    graph = largest_component(graph)
    nodes = range(graph.n_nodes)
    sources = data.draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=LANES, unique=True))
    deepest, place = sweep_ends(graph.indptr, graph.indices, np.array(sources, NODE))
    truth = bfs_levels(graph, sources).max(axis=1)
    assert deepest == truth.max() == truth[place]


@pytest.mark.parametrize("n_sources", [1, 3, LANES])
def test_sweeps_of_large_and_long_graphs_find_the_farthest(n_sources):
    for graph in (attachment(4000, 3), tree_with_hubs(5000, 1), grid(30, 40), star(3000)):
        sources = np.linspace(0, graph.n_nodes - 1, n_sources).astype(NODE)
        deepest, place = sweep_ends(graph.indptr, graph.indices, sources)
        truth = bfs_levels(graph, sources).max(axis=1)
        assert deepest == truth.max() == truth[place]


def test_sweeps_end_what_few_searches_leave_of_short_graphs():
    n_swept = n_deeper = 0
    for seed in range(30):
        graph = attachment(700, seed)
        kept = search_keeping(graph)
        truth = bfs_levels(graph, range(graph.n_nodes)).max(axis=1)
        assert kept.is_answered
        assert len(kept.path) - 1 == truth.max()
        assert (truth[kept.ends] <= kept.upper[kept.ends]).all()
        check_diameter(graph, diameter(graph))
        n_swept += len(kept.ends) > 0
        n_deeper += len(kept.ends) > 0 and truth[kept.sources[:-1]].max() < truth.max()
        assert len(search_keeping(graph, sweeps=False).ends) == 0
    assert n_swept > 20
    assert n_deeper > 2  # where one of the ends that were swept is that of a longest path


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (graph_of(1, []), 0),
        (path(2), 1),
        (star(5), 2),
        (complete(40), 1),
        (path(200), 199),
        (grid(70, 80), 148),
        (ring(400), 200),
        (ring(401), 200),
        (tree_with_hubs(3000, 2), None),
    ],
    ids=["one", "edge", "star", "clique", "path", "grid", "ring", "odd ring", "hubs"],
)
def test_diameters_are_those_of_the_general_way(graph, expected):
    found = diameter(graph)
    other = diameter(graph, strategy=Strategy(keep=False))
    assert found.diameter == other.diameter
    assert expected in (None, found.diameter)
    assert found.exact
    assert len(found.path) == found.diameter + 1
    check_diameter(graph, found)


def test_two_searches_are_enough_for_a_path():
    assert diameter(path(1000)).n_searches <= 3
    assert diameter(star(1000)).n_searches == 2


def test_what_is_left_is_handed_over():
    graph = ring(4000)  # all nodes are alike: no bound excludes one
    kept = search_keeping(graph)
    assert kept is not None
    assert not kept.is_answered
    found = diameter(graph)
    assert (found.diameter, found.exact) == (2000, True)
    assert found.n_searches > len(kept.sources)
    check_diameter(graph, found)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_pairs_settled_by_centres_before_they_moved_are_in_the_proof(seed, keep):
    other = nx.random_regular_graph(5, 500, seed=seed)
    graph = graph_of(500, list(other.edges()))
    found = diameter(graph, strategy=Strategy(sweeps=False, keep=keep))
    assert found.diameter == bfs_levels(graph, range(500)).max()
    check_diameter(graph, found)


@pytest.mark.parametrize(("n", "degree"), [(500, 4), (1000, 8), (1500, 8), (3000, 4)])
def test_small_graphs_that_searches_say_little_about_are_swept_from_every_node(n, degree):
    """Searches cost little of what the sweeps do, so the whole costs hardly more than they."""
    for seed in range(6):
        graph = random_regular(n, degree, seed)
        kept = search_keeping(graph)
        assert kept.is_to_sweep
        assert len(kept.sources) <= 6
        assert len(kept.ends) == 0
        assert not search_keeping(graph, sweeps=False).is_to_sweep
        found = diameter(graph)
        assert found.n_searches == n
        if seed == 0 or n <= 1000:
            assert found.diameter == bfs_levels(graph, range(n)).max()
        if seed == 0:
            check_diameter(graph, found)


def test_sweeps_find_a_longest_path_that_few_searches_missed():
    for seed in range(200):
        graph = random_regular(400, 4, seed)
        kept = search_keeping(graph)
        found = diameter(graph)
        if kept.is_to_sweep and found.diameter > len(kept.path) - 1:
            break
    else:
        pytest.fail("searches missed none")
    assert found.diameter == bfs_levels(graph, range(400)).max()
    check_diameter(graph, found)


def test_graphs_in_pieces_are_left_to_the_general_way():
    assert search_keeping(graph_of(4, [(0, 1), (2, 3)])) is None
    assert search_keeping(graph_of(0, [])) is None
