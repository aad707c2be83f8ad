from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import diameter
from kernels.eccentricity import Strategy
from kernels.eccentricity.check import check_diameter
from kernels.eccentricity.reductions.pendant_trees import find_tips
from kernels.errors import CheckError
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, path
from tests.soak import examples
from tests.strategies import graphs


@st.composite
def graphs_with_trees(draw):
    """Any graph with trees hung on it."""
    core = draw(graphs(max_nodes=15))
    parents = draw(st.lists(st.integers(0, 10**6), max_size=25))
    edges = [(u, int(v)) for u in range(core.n_nodes) for v in neighbours(core, u)]
    for i, parent in enumerate(parents):
        node = core.n_nodes + i
        edges.append((node, parent % node))
    n_nodes = core.n_nodes + len(parents)
    new_id = draw(st.permutations(range(n_nodes)))
    return graph_of(n_nodes, [(new_id[u], new_id[v]) for u, v in edges])


def neighbours(graph, node) -> np.ndarray:
    return graph.indices[graph.indptr[node] : graph.indptr[node + 1]]


def tips_of(graph) -> tuple[np.ndarray, np.ndarray]:
    return find_tips(graph.indptr, graph.indices, np.diff(graph.indptr).astype(np.int32))


@settings(max_examples=examples(300), deadline=None)
@given(graph=graphs_with_trees())
def test_a_longest_path_has_its_ends_among_tips_or_lies_in_a_tree(graph):
    hops = bfs_levels(graph, range(graph.n_nodes))
    is_tip, lower = tips_of(graph)
    assert (lower <= hops.max(axis=1)).all()
    assert (lower[~is_tip] == 0).all()
    among_tips = hops[np.ix_(is_tip, is_tip)].max(initial=0)
    assert max(among_tips, lower.max(initial=0)) == hops.max(initial=0)


@settings(max_examples=examples(200), deadline=None)
@given(graph=graphs_with_trees(), winnow=st.booleans())
def test_diameters_with_and_without_trees(graph, winnow):
    hops = bfs_levels(graph, range(graph.n_nodes))
    for trees in (True, False):
        found = diameter(graph, strategy=Strategy(keep=False, trees=trees, winnow=winnow))
        assert found.diameter == hops[found.path[0]].max()
        assert found.lowers.max() == hops.max()
        assert found.proof.by_trees == (trees and bool((np.diff(graph.indptr) == 1).any()))
        check_diameter(graph, found)


def test_tips_are_the_deepest_nodes():
    #  a triangle 0 1 2; on 2 hang 3 - 4 and 5 - 6, on 1 hangs 7
    graph = graph_of(8, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 5), (5, 6), (1, 7)])
    is_tip, lower = tips_of(graph)
    assert np.flatnonzero(is_tip).tolist() == [0, 4, 7]
    assert lower.tolist() == [0, 0, 0, 0, 4, 0, 0, 1]


def test_a_tree_needs_no_search_but_one_for_its_path():
    found = diameter(path(50), strategy=Strategy(keep=False))
    assert (found.diameter, len(found.path)) == (49, 50)
    assert found.n_searches <= 1
    check_diameter(path(50), found)


def test_certificate_refuses_a_tree_that_is_longer():
    graph = graph_of(8, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 5), (5, 6), (1, 7)])
    found = diameter(graph, strategy=Strategy(keep=False))
    wrong = found.path[:-1]
    object.__setattr__(found, "diameter", found.diameter - 1)
    object.__setattr__(found, "path", wrong)
    with pytest.raises(CheckError, match="a pendant tree has a path of 4 hops"):
        check_diameter(graph, found)
