"""Widths of graphs in parts are those of the whole, whatever the number of ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import GraphError, bfs, components
from kernels.certificates import check_path
from kernels.eccentricity.questions import QUESTIONS
from kernels.partition.cpu import CpuSteps
from kernels.partition.sweep.cpu import CpuSweepSteps
from kernels.partition.widths import Searches, part_widths
from tests.oracles.paths import bfs_levels
from tests.ranks import on_ranks, parts_of
from tests.shapes import graph_of, grid, path, relabelled, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs


def widths_of(graph, n_ranks, questions=QUESTIONS, max_searches=None, steps=CpuSteps):
    """The answers of each rank."""

    def one(part, collective):
        searches = Searches(part, steps(part), CpuSweepSteps(part), collective)
        return part_widths(searches, questions, max_searches)

    return on_ranks(parts_of(graph, n_ranks), one)


def check_answers(graph, answers, eccentricity, questions=QUESTIONS):
    """Exact values of all ranks against the eccentricity of every node."""
    component = components(graph).component
    names = np.unique(component)
    for found in answers:
        np.testing.assert_array_equal(found.names, names)
        assert found.exact.all()
        for c, name in enumerate(names):
            own = eccentricity[component == name]
            if {"diameter", "periphery", "eccentricities"} & set(questions):
                assert found.diameter_lower[c] == found.diameter_upper[c] == own.max()
            if {"radius", "center", "eccentricities"} & set(questions):
                assert found.radius_lower[c] == found.radius_upper[c] == own.min()
        if "eccentricities" in questions:
            np.testing.assert_array_equal(found.eccentricity, eccentricity[found.nodes])
        own = component[found.nodes]
        most = np.array([eccentricity[component == name].max() for name in names])
        least = np.array([eccentricity[component == name].min() for name in names])
        at = np.searchsorted(names, own)
        if "center" in questions:
            expected = eccentricity[found.nodes] == least[at]
            np.testing.assert_array_equal(found.is_center, expected)
        if "periphery" in questions:
            expected = eccentricity[found.nodes] == most[at]
            np.testing.assert_array_equal(found.is_periphery, expected)
        if "diameter" in questions:
            check_path(graph, found.path)
            assert len(found.path) == found.diameter_lower[found.largest] + 1
            assert component[found.path[0]] == names[found.largest]
    nodes = np.concatenate([found.nodes for found in answers])
    np.testing.assert_array_equal(np.sort(nodes), np.arange(graph.n_nodes))


def eccentricities_of(graph):
    """By a plain search from every node."""
    return np.array([bfs_levels(graph, [v])[0].max() for v in range(graph.n_nodes)])


@settings(max_examples=examples(60), deadline=None)
@given(
    graph=graphs(),
    n_ranks=st.sampled_from([1, 2, 3, 4]),
    questions=st.lists(st.sampled_from(QUESTIONS), min_size=1, unique=True),
)
def test_all_ranks_have_the_exact_answers(graph, n_ranks, questions):
    answers = widths_of(graph, n_ranks, tuple(questions))
    check_answers(graph, answers, eccentricities_of(graph), questions)


def apart():
    """Components of several shapes and sizes."""
    edges = [(i, i + 1) for i in range(40)] + [(50, 51)]
    edges += [(60 + i, 60 + (i + 1) % 21) for i in range(21)]
    return graph_of(90, edges)


@pytest.mark.parametrize("n_ranks", [2, 3, 4])
@pytest.mark.parametrize("shape", ["grid", "hubs", "star", "path", "apart"])
def test_known_shapes(shape, n_ranks):
    graph = {
        "grid": lambda: grid(13, 60),
        "hubs": lambda: tree_with_hubs(700, seed=5),
        "star": lambda: star(500),
        "path": lambda: relabelled(path(300), np.random.default_rng(1).permutation(300)),
        "apart": apart,
    }[shape]()
    check_answers(graph, widths_of(graph, n_ranks), eccentricities_of(graph))


def test_ranks_agree_in_all_that_is_not_their_own():
    first, *others = widths_of(tree_with_hubs(500, seed=9), 3)
    for other in others:
        for name in ("names", "size", "exact", "n_searches", "radius_upper", "path"):
            np.testing.assert_array_equal(getattr(first, name), getattr(other, name))


def test_few_searches_suffice_where_bounds_help():
    graph = grid(40, 60)
    found = widths_of(graph, 2, ("diameter", "radius"))[0]
    assert found.diameter_lower[0] == 98
    assert found.n_searches[0] < graph.n_nodes // 8


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_limited_searches_leave_intervals_that_hold_the_value(limit):
    graph = tree_with_hubs(600, seed=4)
    eccentricity = eccentricities_of(graph)
    for found in widths_of(graph, 2, ("diameter", "radius", "center"), limit):
        assert found.n_searches.tolist() == [limit]
        assert not found.exact[0]
        assert found.diameter_lower[0] <= eccentricity.max() <= found.diameter_upper[0]
        assert found.radius_lower[0] <= eccentricity.min() <= found.radius_upper[0]
        assert len(found.path) == found.diameter_lower[0] + 1
        check_path(graph, found.path)


class Wrong(CpuSteps):
    """Steps whose levels are too large by two, except near the source."""

    def levels(self):
        return np.where(self.level > 1, self.level + 2 * (self.level % 2), self.level)


def test_a_wrong_search_is_noticed():
    with pytest.raises((GraphError, AssertionError), match=r"cross|contradict"):
        widths_of(grid(6, 30), 2, ("eccentricities",), steps=Wrong)


def test_an_unknown_question_is_an_error():
    with pytest.raises(GraphError, match="unknown question 'girth'"):
        widths_of(path(5), 1, ("girth",))


def test_a_graph_of_one_node():
    (found,) = widths_of(graph_of(1, []), 1)
    assert (found.diameter_lower[0], found.radius_upper[0], found.path.tolist()) == (0, 0, [0])
    assert bfs(graph_of(1, []), 0).eccentricity == 0
