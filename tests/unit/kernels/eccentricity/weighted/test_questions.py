from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, GraphError, components, sssp
from kernels.eccentricity.questions import QUESTIONS
from kernels.eccentricity.weighted import (
    weighted_center,
    weighted_diameter,
    weighted_eccentricities,
    weighted_periphery,
    weighted_radius,
)
from kernels.eccentricity.weighted.bounds import WeightedBounds
from kernels.eccentricity.weighted.steps import unit_of
from tests.oracles.paths import distances
from tests.oracles.weighted import (
    largest_finite,
    length_of,
    scipy_eccentricities,
    true_eccentricities,
)
from tests.shapes import graph_of, grid, path, star, tree_with_hubs, weighted
from tests.soak import examples
from tests.strategies import weighted_graphs

PROPERTY = settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def by_component(graph, values, reduce) -> list[float]:
    found = components(graph)
    return [reduce(values[found.component == name]) for name in found.ids]


def check_all(graph, here, true):
    """Every answer against all eccentricities, to the bit."""
    np.testing.assert_array_equal(weighted_eccentricities(here), true)
    largest, smallest = by_component(graph, true, max), by_component(graph, true, min)
    wide, narrow = weighted_diameter(here), weighted_radius(here)
    middle, rim = weighted_center(here), weighted_periphery(here)
    found = components(graph)
    i = int(np.argmax(found.sizes))
    for answer in (wide, narrow, middle, rim):
        assert answer.exact
        assert answer.component == found.ids[i]
        np.testing.assert_array_equal(answer.lowers, answer.uppers)
    assert wide.lowers.tolist() == rim.lowers.tolist() == largest
    assert narrow.lowers.tolist() == middle.lowers.tolist() == smallest
    assert (wide.diameter, rim.diameter) == (largest[i], largest[i])
    assert (narrow.radius, middle.radius) == (smallest[i], smallest[i])
    assert true[narrow.center] == smallest[i]
    assert found.component[narrow.center] == found.ids[i]
    assert length_of(graph, wide.path) == wide.diameter
    position = np.searchsorted(found.ids, found.component)
    np.testing.assert_array_equal(middle.is_center, true == np.array(smallest)[position])
    np.testing.assert_array_equal(rim.is_periphery, true == np.array(largest)[position])
    own = found.component == found.ids[i]
    np.testing.assert_array_equal(middle.nodes, np.flatnonzero(middle.is_center & own))
    np.testing.assert_array_equal(rim.nodes, np.flatnonzero(rim.is_periphery & own))


@PROPERTY
@given(graph=weighted_graphs(max_nodes=16))
def test_every_answer_is_that_of_all_distances(device, graph):
    check_all(graph, graph.to(device), true_eccentricities(graph))


@pytest.mark.parametrize("low", [1.0, 1e-6])
@pytest.mark.parametrize("shape", [grid(9, 11), tree_with_hubs(150, seed=1), star(60), path(80)])
def test_every_answer_is_that_of_scipys_distances(device, shape, low):
    weights = np.random.default_rng(5).uniform(low, 10 * low, shape.n_edges)
    weights[::7] *= 1e5
    graph = weighted(shape, weights)
    check_all(graph, graph.to(device), scipy_eccentricities(graph))


def whole_and_rounded(n_edges, seed=1):
    """Weights whose sums are exact, and weights whose sums are rounded."""
    rng = np.random.default_rng(seed)
    return rng.integers(1, 50, n_edges), rng.uniform(1, 50, n_edges) * 10.0 ** rng.integers(
        -14, 1, n_edges
    )


def test_sums_that_are_rounded_differ_by_direction_and_bounds_hold():
    differ = 0
    for seed in range(20):
        graph = weighted(path(60), whole_and_rounded(59, seed)[1])
        rows = np.array([distances(graph, source) for source in range(60)])
        differ += int(np.any(rows != rows.T))
        true = largest_finite(rows)
        degree = np.diff(graph.indptr).astype(np.int32)
        for source in range(60):
            bounds = WeightedBounds(
                "eccentricities", np.zeros(60, np.int32), degree, unit_of(graph.weights)
            )
            bounds.update(np.array([source], np.int32), rows[source])
            assert np.all(bounds.lower <= true)
            assert np.all(true <= bounds.upper)
            assert np.all(bounds.upper[true > 0] > bounds.lower[true > 0] * 0.49)
    assert differ > 10


@settings(max_examples=examples(150), deadline=None)
@given(graph=weighted_graphs(max_nodes=14), data=st.data())
def test_bounds_hold_after_any_searches(graph, data):
    true = true_eccentricities(graph)
    found = components(graph)
    component = np.searchsorted(found.ids, found.component).astype(np.int32)
    degree = np.diff(graph.indptr).astype(np.int32)
    question = data.draw(st.sampled_from(QUESTIONS))
    bounds = WeightedBounds(question, component, degree, unit_of(graph.weights))
    for source in data.draw(st.lists(st.integers(0, graph.n_nodes - 1), max_size=4)):
        bounds.update(np.array([source], np.int32), distances(graph, source))
        assert np.all(bounds.lower <= true)
        assert np.all(true <= bounds.upper)
        assert bounds.lower[source] == bounds.upper[source] == true[source]
    values = by_component(graph, true, min if question in ("radius", "center") else max)
    lower, upper = bounds.interval()
    assert np.all(lower <= values)
    assert np.all(values <= upper)
    if bounds.done and question != "eccentricities":
        np.testing.assert_array_equal(lower, upper)


def test_exact_sums_need_few_searches_and_rounded_ones_no_more_than_all():
    shape = grid(12, 40)
    whole, rounded = (weighted(shape, w) for w in whole_and_rounded(shape.n_edges))
    for graph in (whole, rounded):
        true = true_eccentricities(graph)
        assert weighted_diameter(graph).diameter == true.max()
        assert weighted_diameter(graph).n_searches < 60
        assert weighted_radius(graph).radius == true.min()
        assert weighted_radius(graph).n_searches < 60
    tree = weighted(path(301), np.full(300, 0.1))
    assert weighted_diameter(tree).n_searches <= 4


def test_units_are_the_largest_power_of_two_that_divides_all_weights():
    for weights, unit in (
        ([12, 20, 0], 4),
        ([1.5, 3], 0.5),
        ([0, 0], np.inf),
        ([], np.inf),
        ([2.0**-149, 1], 2.0**-149),
        ([2.0**-126 * 3], 2.0**-126),
        ([0.01], 2.0**-29),
        ([3.4028234663852886e38], 2.0**104),
    ):
        found = unit_of(np.array(weights, np.float32))
        assert found == unit
        if np.isfinite(unit):
            parts = np.array(weights, np.float32).astype(np.float64) / found
            assert np.all(parts == np.round(parts))
            assert np.any(parts % 2 == 1)


def test_limited_searches_give_an_interval_that_holds():
    shape = grid(15, 20)
    graph = weighted(shape, np.random.default_rng(2).integers(1, 30, shape.n_edges))
    true = scipy_eccentricities(graph)
    for n in (0, 1, 2, 5):
        wide, narrow = weighted_diameter(graph, n), weighted_radius(graph, n)
        assert wide.n_searches <= n
        assert wide.lower <= true.max() <= wide.upper
        assert narrow.lower <= true.min() <= narrow.upper
        assert wide.exact == (wide.lower == wide.upper)
        assert len(wide.path) == 0 or length_of(graph, wide.path) == wide.diameter


def test_small_graphs_have_defined_answers(device):
    nothing = weighted(graph_of(0, []), []).to(device)
    assert weighted_eccentricities(nothing).shape == (0,)
    assert (weighted_diameter(nothing).diameter, weighted_diameter(nothing).component) == (0, -1)
    assert (weighted_radius(nothing).radius, weighted_radius(nothing).center) == (0, -1)
    assert len(weighted_center(nothing).nodes) == len(weighted_periphery(nothing).nodes) == 0
    alone = weighted(graph_of(3, []), []).to(device)
    assert weighted_eccentricities(alone).tolist() == [0, 0, 0]
    assert weighted_diameter(alone).path.tolist() == [0]
    assert weighted_diameter(alone).n_searches == 0
    assert weighted_center(alone).nodes.tolist() == [0]


def test_a_search_of_another_graph_is_refused():
    graph, other = weighted(path(5), [1, 1, 1, 1]), weighted(path(5), [9, 9, 9, 9])
    degree = np.diff(graph.indptr).astype(np.int32)
    bounds = WeightedBounds("diameter", np.zeros(5, np.int32), degree, 1.0)
    bounds.update(np.array([0], np.int32), sssp(graph, 0).distance)
    with pytest.raises(GraphError, match="cross"):
        bounds.update(np.array([0], np.int32), sssp(other, 0).distance)
    with pytest.raises(GraphError, match="unknown question 'girth'"):
        WeightedBounds("girth", np.zeros(5, np.int32), degree, 1.0)  # type: ignore[arg-type]


def test_an_invalid_weight_is_named(device):
    plain = path(3)
    with pytest.raises(GraphError, match="the graph has no weights"):
        weighted_diameter(plain.to(device))
    weights = np.array([1, 1, np.nan, np.nan], np.float32)
    trusted = CSRGraph(plain.indptr, plain.indices, weights, trusted=True).to(device)
    with pytest.raises(GraphError, match=r"weights\[2\] of the arc 1 -> 2 is not finite"):
        weighted_radius(trusted)
