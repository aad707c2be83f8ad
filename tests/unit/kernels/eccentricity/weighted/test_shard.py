from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, GraphError, components, sssp
from kernels.eccentricity.questions import QUESTIONS
from kernels.eccentricity.weighted import (
    weighted_center,
    weighted_diameter,
    weighted_periphery,
    weighted_radius,
    weighted_widths,
)
from kernels.eccentricity.weighted.bounds import WeightedBounds
from kernels.eccentricity.weighted.steps import unit_of
from tests.oracles.weighted import length_of, true_eccentricities
from tests.shapes import graph_of, grid, path, weighted
from tests.soak import examples
from tests.strategies import weighted_graphs

PROPERTY = settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@st.composite
def with_centres(draw) -> CSRGraph:
    """A tree with shortcuts and whole weights, in which one centre follows another, and an edge.

    Drawn evenly, by a seed: smaller and simpler ones have one centre only.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(5, 16))
    tree = [(v, int(rng.integers(0, v))) for v in range(1, n)]
    shortcuts = rng.integers(0, n, (int(rng.integers(0, n)), 2)).tolist()
    graph = graph_of(n + 2, [*tree, *shortcuts, (n, n + 1)])
    return weighted(graph, rng.integers(1, 20, graph.n_edges))


def extremes(graph, true, component) -> tuple[np.ndarray, np.ndarray]:
    """Largest and smallest eccentricity of each component."""
    n = int(component.max(initial=-1)) + 1
    most, least = np.zeros(n), np.full(n, np.inf)
    np.maximum.at(most, component, true)
    np.minimum.at(least, component, true)
    return most, least


@PROPERTY
@given(graph=st.one_of(with_centres(), weighted_graphs(max_nodes=16)), data=st.data())
def test_all_questions_are_answered_as_all_distances_do(device, graph, data):
    questions = data.draw(st.lists(st.sampled_from(QUESTIONS), unique=True, min_size=1))
    found = weighted_widths(graph.to(device), questions)
    true = true_eccentricities(graph)
    names = components(graph)
    np.testing.assert_array_equal(found.names, names.ids)
    np.testing.assert_array_equal(found.names[found.component], names.component)
    np.testing.assert_array_equal(found.size, names.sizes)
    most, least = extremes(graph, true, found.component)
    assert found.exact.all()
    assert found.questions == tuple(question for question in QUESTIONS if question in questions)
    assert np.all(found.diameter_lower <= most)
    assert np.all(most <= found.diameter_upper)
    assert np.all(found.radius_lower <= least)
    assert np.all(least <= found.radius_upper)
    if {"diameter", "periphery", "eccentricities"} & set(questions):
        np.testing.assert_array_equal(found.diameter_lower, found.diameter_upper)
    if {"radius", "center", "eccentricities"} & set(questions):
        np.testing.assert_array_equal(found.radius_lower, found.radius_upper)
    if "eccentricities" in questions:
        np.testing.assert_array_equal(found.eccentricity, true)
    if "center" in questions:
        np.testing.assert_array_equal(found.is_center, true == least[found.component])
    if "periphery" in questions:
        np.testing.assert_array_equal(found.is_periphery, true == most[found.component])
    if "diameter" in questions:
        largest = int(np.argmax(found.size))
        assert found.path_ptr.tolist() == [0, len(found.path)]
        assert np.all(found.component[found.path] == largest)
        assert length_of(graph, found.path) == most[largest]
    asked = {
        "eccentricity": "eccentricities",
        "is_center": "center",
        "is_periphery": "periphery",
        "path": "diameter",
        "path_ptr": "diameter",
    }
    for column, question in asked.items():
        assert (getattr(found, column) is None) == (question not in questions)


def test_a_counted_sample(device):
    """A path of three edges 2, 5, 1, an edge of 4, and a node alone.

    From node 0: 0, 2, 7, 8; so eccentricities are 8, 6, 7, 8; the middle is node 1.
    """
    graph = weighted(graph_of(7, [(0, 1), (1, 2), (2, 3), (4, 5)]), [2, 5, 1, 4]).to(device)
    found = weighted_widths(graph, QUESTIONS)
    assert found.names.tolist() == [0, 4, 6]
    assert found.size.tolist() == [4, 2, 1]
    assert found.component.tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert found.diameter_lower.tolist() == found.diameter_upper.tolist() == [8, 4, 0]
    assert found.radius_lower.tolist() == found.radius_upper.tolist() == [6, 4, 0]
    assert found.eccentricity.tolist() == [8, 6, 7, 8, 4, 4, 0]
    assert np.flatnonzero(found.is_center).tolist() == [1, 4, 5, 6]
    assert np.flatnonzero(found.is_periphery).tolist() == [0, 3, 4, 5, 6]
    assert found.path.tolist() in ([0, 1, 2, 3], [3, 2, 1, 0])
    assert found.path_ptr.tolist() == [0, 4]


NOTHING = weighted(graph_of(0, []), [])
# Distances from node 0: 0, 2, 1, 4; from 1: 2, 0, 3, 2; from 2: 1, 3, 0, 3. So the diameter is 4;
# the search that gives the radius 3 finds a centre with node 0 or 3 outside its ball again.
RING = weighted(graph_of(4, [(0, 1), (0, 2), (1, 3), (2, 3)]), [2, 1, 2, 3])


@settings(PROPERTY, max_examples=examples(300))
@given(
    graph=st.one_of(with_centres(), weighted_graphs(max_nodes=16)),
    questions=st.lists(st.sampled_from(QUESTIONS), unique=True, min_size=1),
)
@example(graph=RING, questions=["diameter", "radius"])
def test_an_answer_remains_whatever_question_comes_next(graph, questions):
    found = components(graph)
    component = np.searchsorted(found.ids, found.component).astype(np.int32)
    most, least = extremes(graph, true_eccentricities(graph), component)
    degree = np.diff(graph.indptr).astype(np.int32)
    bounds = WeightedBounds(questions[0], component, degree, unit_of(graph.weights))
    for i, question in enumerate(questions):
        bounds.ask(question)
        while not bounds.done:
            sources = bounds.take()
            rows = [sssp(graph, source).distance for source in sources.tolist()]
            bounds.update(sources, np.min(rows, axis=0))
        for earlier in questions[: i + 1]:
            bounds.ask(earlier)
            assert bounds.done, f"{earlier} is open again after {question}"
            if earlier != "eccentricities":
                value = least if earlier in ("radius", "center") else most
                np.testing.assert_array_equal(bounds.interval(), [value, value])


@pytest.mark.parametrize("asked", [["diameter", "radius"], ["center", "diameter"]])
def test_a_ring_whose_centre_moves_after_its_diameter_is_known(device, asked):
    found = weighted_widths(RING.to(device), asked)
    assert found.exact.tolist() == [True]
    assert (found.diameter_lower[0], found.diameter_upper[0]) == (4, 4)
    assert (found.radius_lower[0], found.radius_upper[0]) == (3, 3)


def test_more_searches_never_loosen_what_is_proven():
    shape = grid(9, 12)
    graph = weighted(shape, np.random.default_rng(7).integers(1, 30, shape.n_edges))
    true = true_eccentricities(graph)
    before = np.inf
    for n in range(30):
        found = weighted_widths(graph, ["diameter", "center"], n)
        assert true.max() <= found.diameter_upper[0] <= before
        before = found.diameter_upper[0]


def test_questions_share_their_searches():
    shape = grid(15, 30)
    graph = weighted(shape, np.random.default_rng(3).integers(1, 40, shape.n_edges))
    alone = [int(weighted_widths(graph, [question]).n_searches.sum()) for question in QUESTIONS]
    together = int(weighted_widths(graph, QUESTIONS).n_searches.sum())
    assert together == alone[QUESTIONS.index("eccentricities")]
    few = int(weighted_widths(graph, ["radius", "diameter"]).n_searches.sum())
    assert few < alone[0] + alone[1]


def test_limited_searches_give_intervals_that_hold():
    shape = grid(15, 20)
    graph = weighted(shape, np.random.default_rng(2).integers(1, 30, shape.n_edges))
    true = true_eccentricities(graph)
    for n in (0, 1, 2, 3, 6):
        found = weighted_widths(graph, ["radius", "diameter", "periphery"], n)
        assert np.all(found.n_searches <= n)
        assert found.diameter_lower[0] <= true.max() <= found.diameter_upper[0]
        assert found.radius_lower[0] <= true.min() <= found.radius_upper[0]
        assert not found.exact[0]
        assert np.all(found.is_periphery[true == true.max()])
        assert not len(found.path) or length_of(graph, found.path) == found.diameter_lower[0]


def test_small_graphs_have_defined_answers(device):
    nothing = weighted_widths(weighted(graph_of(0, []), []).to(device), QUESTIONS)
    assert nothing.exact.shape == nothing.diameter_lower.shape == nothing.names.shape == (0,)
    assert nothing.eccentricity.shape == nothing.is_center.shape == (0,)
    assert nothing.path_ptr.tolist() == [0, 0]
    alone = weighted_widths(weighted(graph_of(2, []), []).to(device), QUESTIONS)
    assert alone.exact.tolist() == [True, True]
    assert alone.diameter_upper.tolist() == alone.radius_upper.tolist() == [0, 0]
    assert alone.n_searches.tolist() == [0, 0]
    assert alone.path.tolist() == [0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (-1, r"weights\[2\] of the arc 1 -> 2 is negative"),
        (np.nan, r"weights\[2\] of the arc 1 -> 2 is not finite"),
        (np.inf, r"weights\[2\] of the arc 1 -> 2 is not finite"),
    ],
)
def test_an_invalid_weight_is_named_by_its_first_arc(device, wrong, message):
    shape = path(4)
    weights = np.array([1, 1, wrong, wrong, wrong, wrong], np.float32)
    graph = CSRGraph(shape.indptr, shape.indices, weights, trusted=True).to(device)
    with pytest.raises(GraphError, match=message):
        weighted_widths(graph, ["diameter"])
    with pytest.raises(GraphError, match=message):
        weighted_diameter(graph)
    with pytest.raises(GraphError, match="the graph has no weights"):
        weighted_widths(shape.to(device), ["diameter"])


def test_the_limit_is_one_of_each_component():
    parts = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8), (8, 9)]
    graph = weighted(graph_of(10, parts), [1, 2, 3, 4, 4, 3, 2, 1])
    found = weighted_widths(graph, ["eccentricities"], 2)
    assert found.n_searches.tolist() == [2, 2]


@pytest.mark.parametrize(
    "ask", [weighted_diameter, weighted_radius, weighted_center, weighted_periphery]
)
def test_fewer_searches_than_none_are_refused(device, ask):
    """Of two components, since a negative limit once let the first of them be searched."""
    for graph in (weighted(graph_of(5, [(0, 1), (1, 2), (3, 4)]), [1, 2, 3]), NOTHING):
        there = graph.to(device)
        with pytest.raises(GraphError, match="max_searches is -1; give a whole number, 0 or more"):
            ask(there, max_searches=-1)
        with pytest.raises(GraphError, match="max_searches is -1; give a whole number, 0 or more"):
            weighted_widths(there, ["radius"], max_searches=-1)
        assert ask(there, max_searches=0).n_searches == 0


def test_an_unknown_question_is_refused():
    with pytest.raises(GraphError, match="unknown question 'girth'"):
        weighted_widths(weighted(path(2), [1]), ["radius", "girth"])
    with pytest.raises(GraphError, match="no question; use one of diameter"):
        weighted_widths(weighted(path(2), [1]), [])
