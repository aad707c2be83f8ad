"""Components that are answered leave the searches of the others, and nothing else changes by it."""

from __future__ import annotations

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import CSRGraph
from kernels.eccentricity.questions import QUESTIONS
from kernels.eccentricity.weighted import (
    answering,
    weighted_center,
    weighted_diameter,
    weighted_eccentricities,
    weighted_periphery,
    weighted_radius,
    weighted_widths,
)
from kernels.eccentricity.weighted.bounds import WeightedBounds
from tests.oracles.weighted import scipy_eccentricities, true_eccentricities
from tests.shapes import graph_of, weighted
from tests.soak import examples

PROPERTY = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
WEIGHTS = {
    "whole": lambda rng, n: rng.integers(0, 9, n),
    "rounded": lambda rng, n: 10 ** rng.uniform(-8, 8, n),
    "at the border of exact sums": lambda rng, n: rng.choice([2.0**-29, 2.0**22, 2.0**23, 3], n),
}


@contextmanager
def cutting(smallest: int):
    """Graphs of more nodes than this are cut."""
    with patch.object(answering, "SMALL_NODES", smallest):
        yield


@st.composite
def of_many_components(draw) -> CSRGraph:
    """Trees, rings with shortcuts, links and single nodes, whose ids are mixed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    links, n = [], 0
    for _ in range(int(rng.integers(1, 12))):
        size = int(rng.choice([1, 2, 3, 5, 9, 14]))
        near = rng.random() < 0.5
        first = [max(0, v - 2) if near else 0 for v in range(size)]
        links += [(n + v, n + int(rng.integers(first[v], v))) for v in range(1, size)]
        n_more = int(rng.integers(0, size)) * int(rng.integers(0, 2))
        links += (n + rng.integers(0, size, (n_more, 2))).tolist()
        n += size
    new_id = rng.permutation(n)
    graph = graph_of(n, [(new_id[u], new_id[v]) for u, v in links])
    return weighted(graph, WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))](rng, graph.n_edges))


def assert_same(one, other) -> None:
    """All fields are, to the bit."""
    for name, value in vars(one).items():
        if name not in ("graph", "shard"):
            np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


@PROPERTY
@given(graph=of_many_components(), data=st.data())
def test_widths_and_their_searches_are_those_of_the_whole_graph(device, graph, data):
    asked = data.draw(st.lists(st.sampled_from(QUESTIONS), unique=True, min_size=1))
    most = data.draw(st.none() | st.integers(0, 6))
    there = graph.to(device)
    with cutting(graph.n_nodes):
        whole = weighted_widths(there, asked, most)
    with cutting(0):
        found = weighted_widths(there, asked, most)
    assert_same(whole, found)
    found.check()
    if most is None and "eccentricities" in asked:
        np.testing.assert_array_equal(found.eccentricity, true_eccentricities(graph))


ONE_QUESTION = (weighted_diameter, weighted_radius, weighted_center, weighted_periphery)


@PROPERTY
@given(
    graph=of_many_components(),
    ask=st.sampled_from(ONE_QUESTION),
    most=st.none() | st.integers(0, 30),
)
def test_one_question_is_answered_as_by_the_whole_graph(device, graph, ask, most):
    there = graph.to(device)
    with cutting(graph.n_nodes):
        whole = ask(there, most)
    with cutting(0):
        found = ask(there, most)
    assert_same(whole, found)
    found.check()


def ring_beside(n_ring: int, n_links: int, n_alone: int) -> CSRGraph:
    """A ring whose nodes have the largest ids, links, and nodes without any."""
    begin = 2 * n_links + n_alone
    ring = [(begin + v, begin + (v + 1) % n_ring) for v in range(n_ring)]
    links = [(2 * i, 2 * i + 1) for i in range(n_links)]
    graph = graph_of(begin + n_ring, ring + links)
    return weighted(graph, np.random.default_rng(5).integers(1, 1_000, graph.n_edges))


@pytest.fixture
def n_bounded(monkeypatch) -> list[int]:
    """How many nodes each search, and the update of bounds that follows, was about."""
    counts: list[int] = []
    update = WeightedBounds.update

    def counted(self, sources, distance):
        counts.append(len(distance))
        return update(self, sources, distance)

    monkeypatch.setattr(WeightedBounds, "update", counted)
    return counts


@pytest.mark.parametrize("questions", [["eccentricities"], ["diameter", "radius"], ["center"]])
def test_searches_of_a_ring_do_not_pass_over_what_is_answered(device, questions, n_bounded):
    graph = ring_beside(150, 2_000, 3_000).to(device)
    found = weighted_widths(graph, questions)
    assert found.n_searches[-1] > 20
    assert max(n_bounded) <= graph.n_nodes
    assert sum(n_bounded) <= 150 * found.n_searches[-1] + 4 * graph.n_nodes
    found.check()


def test_a_ring_among_many_nodes_has_the_eccentricities_of_all_distances(device):
    graph = ring_beside(150, 800, 300)
    expected = scipy_eccentricities(graph)
    np.testing.assert_array_equal(weighted_eccentricities(graph.to(device)), expected)
    longest = weighted_diameter(graph.to(device))
    assert longest.component == 1_900
    assert longest.diameter == expected[1_900:].max()
    assert min(longest.path) >= 1_900
    longest.check()


def test_equal_components_are_searched_side_by_side(n_bounded):
    """Cutting each out by itself would take a call of the interpreter for every search of each."""
    ring = [(v, (v + 1) % 30) for v in range(30)]
    graph = graph_of(3_000, [(30 * i + u, 30 * i + v) for i in range(100) for u, v in ring])
    found = weighted_widths(weighted(graph, np.ones(graph.n_edges)), ["eccentricities"])
    assert len(n_bounded) == found.n_searches.max()
    assert np.all(found.eccentricity == 15)
