"""Weighted widths to the bit: whole numbers by whole-number arithmetic, others by our own sssp."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import sssp
from kernels.eccentricity.questions import QUESTIONS
from kernels.eccentricity.weighted import weighted_widths
from kernels.eccentricity.weighted.bounds import WeightedBounds
from kernels.eccentricity.weighted.steps import unit_of
from tests.oracles.weighted import largest_finite, scipy_eccentricities
from tests.shapes import grid, host, path, weighted
from tests.soak import examples
from tests.strategies import graphs

PROPERTY = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
FAR = 2**60  # no path


def whole_distances(graph) -> np.ndarray:
    """(n_nodes, n_nodes) int64 by Floyd and Warshall; FAR where no path leads."""
    distance = np.full((graph.n_nodes, graph.n_nodes), FAR, np.int64)
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    distance[tails, graph.indices] = graph.weights.astype(np.int64)
    np.fill_diagonal(distance, 0)
    for via in range(graph.n_nodes):
        np.minimum(distance, distance[:, via, None] + distance[via], out=distance)
    return np.minimum(distance, FAR)


def own_eccentricities(graph) -> np.ndarray:
    """A search from every node, on the graph's device."""
    return np.array([sssp(graph, source).eccentricity for source in range(graph.n_nodes)])


@st.composite
def with_weights(draw, weight, **sizes):
    graph = draw(graphs(**sizes))
    return weighted(graph, draw(st.lists(weight, min_size=graph.n_edges, max_size=graph.n_edges)))


WHOLE = st.one_of(st.integers(0, 5), st.integers(0, 2**24))
FROM_SMALL_TO_LARGE = st.builds(
    lambda e, f: np.float32(f * 10.0**e), st.floats(-8, 7), st.floats(1, 10)
)
# Sums that are exact, and sums that just are not, in the same graph: 2 e <= 2**53 is the border.
AT_THE_BORDER = st.builds(
    lambda f, e: float(f * 2**e), st.sampled_from([1, 3]), st.sampled_from([0, 1, 49, 50, 51, 52])
)


def check_widths(graph, here, true):
    """All questions at once, without any tolerance."""
    found = weighted_widths(here, QUESTIONS)
    np.testing.assert_array_equal(found.eccentricity, true)
    for c in range(len(found.names)):
        own = true[found.component == c]
        assert found.diameter_lower[c] == found.diameter_upper[c] == own.max()
        assert found.radius_lower[c] == found.radius_upper[c] == own.min()
    for question in ("diameter", "radius", "center", "periphery"):
        alone = weighted_widths(here, [question])
        assert alone.exact.all()
        if question in ("diameter", "periphery"):
            np.testing.assert_array_equal(alone.diameter_lower, found.diameter_lower)
            np.testing.assert_array_equal(alone.diameter_upper, found.diameter_upper)
        else:
            np.testing.assert_array_equal(alone.radius_lower, found.radius_lower)
            np.testing.assert_array_equal(alone.radius_upper, found.radius_upper)
        if question == "center":
            np.testing.assert_array_equal(alone.is_center, found.is_center)
        if question == "periphery":
            np.testing.assert_array_equal(alone.is_periphery, found.is_periphery)


@PROPERTY
@given(graph=with_weights(WHOLE, max_nodes=16))
def test_whole_numbers_are_those_of_whole_number_arithmetic(device, graph):
    distance = whole_distances(graph)
    true = np.where(distance == FAR, 0, distance).max(axis=1, initial=0)
    check_widths(graph, graph.to(device), true.astype(np.float64))


@PROPERTY
@given(graph=with_weights(WHOLE, max_nodes=16), data=st.data())
def test_bounds_of_whole_numbers_have_no_margin(graph, data):
    """After some searches, exactly what the triangle inequality says of whole numbers."""
    distance = whole_distances(graph)
    joined = distance < FAR
    component = np.argmax(joined, axis=1).astype(np.int32)
    component = np.unique(component, return_inverse=True)[1].astype(np.int32)
    degree = np.diff(graph.indptr).astype(np.int32)
    bounds = WeightedBounds("eccentricities", component, degree, unit_of(graph.weights))
    lower, upper = np.zeros(graph.n_nodes), np.full(graph.n_nodes, np.inf)
    upper[joined.sum(axis=1) == 1] = 0
    for source in data.draw(st.lists(st.integers(0, graph.n_nodes - 1), max_size=4)):
        bounds.update(np.array([source], np.int32), sssp(graph, source).distance)
        own, hops = joined[source], distance[source]
        reach = hops[own].max()
        lower[own] = np.maximum(lower[own], np.maximum(hops, reach - hops)[own])
        upper[own] = np.minimum(upper[own], (reach + hops)[own])
        lower[source] = upper[source] = reach
        np.testing.assert_array_equal(bounds.lower, lower)
        np.testing.assert_array_equal(bounds.upper, upper)


@PROPERTY
@given(graph=with_weights(FROM_SMALL_TO_LARGE, max_nodes=24))
def test_weights_from_small_to_large_are_as_searches_from_all_nodes(device, graph):
    true = own_eccentricities(graph)
    np.testing.assert_array_equal(true, scipy_eccentricities(graph))
    check_widths(graph, graph.to(device), true)


@PROPERTY
@given(graph=with_weights(AT_THE_BORDER, max_nodes=12))
def test_sums_at_the_border_of_what_is_exact_are_as_searches_from_all_nodes(device, graph):
    check_widths(graph, graph.to(device), own_eccentricities(graph))


@pytest.mark.parametrize("seed", range(4))
def test_larger_graphs_are_as_searches_from_all_nodes(device, seed):
    rng = np.random.default_rng(seed)
    shape = (grid(12, 25), path(150))[seed % 2]
    for weights in (
        10 ** rng.uniform(-8, 8, shape.n_edges),
        np.where(rng.random(shape.n_edges) < 0.5, 1e-8, 1e8),
        rng.integers(1, 2**24, shape.n_edges),
    ):
        graph = weighted(shape, weights)
        true = own_eccentricities(graph)
        np.testing.assert_array_equal(true, scipy_eccentricities(graph))
        check_widths(graph, graph.to(device), true)


def test_small_weights_beside_large_ones_are_rounded_and_differ_by_direction():
    """The hazard: the length of such a path depends on the end from which it is measured."""
    graph = weighted(path(41), np.tile([1e8, 1e-8], 20))
    rows = np.array([host(sssp(graph, source).distance) for source in range(41)])
    assert np.any(rows != rows.T)
    np.testing.assert_array_equal(
        weighted_widths(graph, QUESTIONS).eccentricity, largest_finite(rows)
    )
