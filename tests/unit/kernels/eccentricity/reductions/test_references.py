"""Upper bounds from unsearched nodes, and the blocking nodes that are searched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import center, components, eccentricities, periphery
from kernels.eccentricity import Strategy
from kernels.eccentricity.reductions import references as territories
from kernels.eccentricity.reductions.references import ReferenceNodes
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, path, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs


def known(hops, sources):
    """Bounds by the triangle inequality after some searches."""
    n_nodes = len(hops)
    lower, upper = np.zeros(n_nodes, np.int32), np.full(n_nodes, n_nodes, np.int32)
    for source in sources:
        d, e = hops[source], hops[source].max()
        lower = np.maximum(lower, np.maximum(d, e - d)).astype(np.int32)
        upper = np.minimum(upper, e + d).astype(np.int32)
    return lower, upper


@settings(max_examples=examples(400), deadline=None)
@given(graph=graphs(), data=st.data())
def test_no_bound_is_wrong_whatever_was_searched_in_whatever_order(graph, data):
    hops = bfs_levels(graph, range(graph.n_nodes))
    if graph.n_nodes == 0 or (hops < 0).any():
        return
    truth = hops.max(axis=1)
    node = st.integers(0, graph.n_nodes - 1)
    references = data.draw(st.lists(node, min_size=1, max_size=3, unique=True))
    own = ReferenceNodes(hops[references].astype(np.uint8))
    searched: list[int] = []
    while True:
        came_back = data.draw(st.lists(node, max_size=3))  # others fail, or are still running
        own.note(np.array(came_back, np.int32))
        searched += came_back
        lower, upper = known(hops, searched)
        open_nodes = np.flatnonzero(lower < upper).astype(np.int32)
        lowered = own.close(lower, upper, open_nodes)
        assert (truth <= lowered).all()
        assert (lowered <= upper).all()
        still_open = np.flatnonzero(lower < lowered).astype(np.int32)
        chosen = own.choose(lower, lowered, still_open, 4)
        assert len(chosen) <= 4
        assert not set(chosen.tolist()) & set(searched)
        if not len(still_open):
            break
        searched += [int(still_open[0]), *chosen.tolist()]
        own.note(np.array(searched, np.int32))
    np.testing.assert_array_equal(lowered, truth)


def test_searched_nodes_block_no_others():
    hops = bfs_levels(path(5), range(5))
    lower, upper = known(hops, [2])
    assert (lower.tolist(), upper.tolist()) == ([2, 1, 2, 1, 2], [4, 3, 2, 3, 4])
    own = ReferenceNodes(hops[[2]].astype(np.uint8))
    own.note(np.array([2]))
    nodes = np.array([0, 1, 3, 4], np.int32)
    np.testing.assert_array_equal(own.close(lower, upper, nodes), upper)  # ends block others
    lower, upper = known(hops, [2, 0])
    own.note(np.array([0]))
    # 1 may still have node 4 three hops away; 3 and 4 have nothing farther than what they know.
    assert own.close(lower, upper, np.array([1], np.int32))[1] == 3
    own.note(np.array([4]))
    lower, upper = known(hops, [2, 0, 4])
    assert own.close(lower, upper, nodes).tolist() == [4, 3, 2, 3, 4]


def test_nodes_in_the_way_of_many_are_chosen():
    # A hub with 30 leaves and two arms of 4 hops, one end of which was searched: leaves have 5 hops
    # to it. Of what was not searched only the other end is farther than 3 hops from the hub.
    arms = [(0, 31), (31, 32), (32, 33), (33, 34), (0, 35), (35, 36), (36, 37), (37, 38)]
    graph = graph_of(39, [(0, i) for i in range(1, 31)] + arms)
    hops = bfs_levels(graph, range(39))
    own = ReferenceNodes(hops[[0]].astype(np.uint8))
    own.note(np.array([0, 34]))
    lower, _ = known(hops, [0, 34])
    upper = np.full(39, 8, np.int32)
    upper[[0, 34]] = lower[[0, 34]]
    nodes = np.flatnonzero(lower < upper).astype(np.int32)
    assert own.choose(lower, upper, nodes, 10).tolist() == [38]


@pytest.mark.parametrize("graph", [tree_with_hubs(6000, 3), grid(60, 60)], ids=["hubs", "grid"])
def test_all_eccentricities_are_the_same_with_and_without(graph, monkeypatch):
    monkeypatch.setattr(territories, "MANY_OPEN", 16)
    monkeypatch.setattr(territories, "FIRST_SEARCHES", 64)
    expected = eccentricities(graph, strategy=Strategy(territories=False))
    np.testing.assert_array_equal(eccentricities(graph), expected)


@settings(max_examples=examples(100), deadline=None)
@given(graph=graphs())
def test_all_eccentricities_match_brute_force_with_territories_from_the_start(graph):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(territories, "MANY_OPEN", 0)
        patch.setattr(territories, "FIRST_SEARCHES", 0)
        patch.setattr(territories, "N_REFERENCES", 1)
        found, middle, rim = eccentricities(graph), center(graph), periphery(graph)
    truth = bfs_levels(graph, range(graph.n_nodes)).max(axis=1, initial=0)
    np.testing.assert_array_equal(found, truth)
    if len(components(graph).ids) == 1:
        assert middle.nodes.tolist() == np.flatnonzero(truth == truth.min()).tolist()
        assert rim.nodes.tolist() == np.flatnonzero(truth == truth.max()).tolist()
