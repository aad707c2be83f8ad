from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import (
    center,
    components,
    diameter,
    eccentricities,
    periphery,
    radius,
)
from kernels.eccentricity import Proof, Strategy
from kernels.eccentricity.check import check_diameter
from kernels.errors import CheckError
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, path, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs

PROPERTY = settings(max_examples=examples(200), deadline=None)


@st.composite
def strategies(draw) -> Strategy:
    fields = {field.name: draw(st.booleans()) for field in dataclasses.fields(Strategy)}
    return Strategy(**fields)


def all_eccentricities(graph) -> np.ndarray:
    return bfs_levels(graph, range(graph.n_nodes)).max(axis=1, initial=0)


def by_component(graph, values, reduce) -> list[int]:
    found = components(graph)
    return [int(reduce(values[found.component == name])) for name in found.ids]


def largest(graph) -> np.ndarray:
    found = components(graph)
    return found.component == found.ids[np.argmax(found.sizes)]


@PROPERTY
@given(graph=graphs(), strategy=strategies())
def test_all_answers_match_brute_force(graph, strategy):
    truth = all_eccentricities(graph)
    own = largest(graph)
    np.testing.assert_array_equal(eccentricities(graph, strategy=strategy), truth)
    longest, shortest = truth[own].max(), truth[own].min()

    found = diameter(graph, strategy=strategy)
    assert (found.diameter, found.lower, found.upper, found.exact) == (longest,) * 3 + (True,)
    np.testing.assert_array_equal(found.lowers, by_component(graph, truth, np.max))
    np.testing.assert_array_equal(found.uppers, found.lowers)
    check_diameter(graph, found)
    assert own[found.path].all()

    small = radius(graph, strategy=strategy)
    assert (small.radius, small.lower, small.upper, small.exact) == (shortest,) * 3 + (True,)
    assert truth[small.center] == shortest
    assert own[small.center]
    np.testing.assert_array_equal(small.lowers, by_component(graph, truth, np.min))

    middle = center(graph, strategy=strategy)
    assert (middle.radius, middle.exact) == (shortest, True)
    np.testing.assert_array_equal(middle.nodes, np.flatnonzero(own & (truth == shortest)))
    of_own = np.array(by_component(graph, truth, np.min))
    number = np.searchsorted(components(graph).ids, components(graph).component)
    np.testing.assert_array_equal(middle.is_center, truth == of_own[number])

    rim = periphery(graph, strategy=strategy)
    assert (rim.diameter, rim.exact) == (longest, True)
    np.testing.assert_array_equal(rim.nodes, np.flatnonzero(own & (truth == longest)))
    of_own = np.array(by_component(graph, truth, np.max))
    np.testing.assert_array_equal(rim.is_periphery, truth == of_own[number])


@PROPERTY
@given(graph=graphs(), limit=st.integers(0, 4))
def test_a_run_cut_short_says_the_interval(graph, limit):
    truth = all_eccentricities(graph)
    values = {"diameter": (diameter, np.max), "radius": (radius, np.min)}
    values |= {"center": (center, np.min), "periphery": (periphery, np.max)}
    for ask, reduce in values.values():
        found = ask(graph, max_searches=limit)
        expected = np.array(by_component(graph, truth, reduce))
        assert found.n_searches <= limit
        assert (found.lowers <= expected).all()
        assert (expected <= found.uppers).all()
        if found.exact:
            np.testing.assert_array_equal(found.lowers, found.uppers)
        else:
            assert found.n_searches == limit
    middle, rim = center(graph, max_searches=limit), periphery(graph, max_searches=limit)
    own = largest(graph)
    assert set(np.flatnonzero(own & (truth == truth[own].min()))) <= set(middle.nodes.tolist())
    assert set(np.flatnonzero(own & (truth == truth[own].max()))) <= set(rim.nodes.tolist())


def test_a_graph_without_nodes_has_defined_answers():
    nothing = graph_of(0, [])
    found = diameter(nothing)
    assert (found.diameter, found.path.tolist(), found.exact) == (0, [], True)
    assert (found.component, found.n_searches) == (-1, 0)
    check_diameter(nothing, found)
    assert (radius(nothing).radius, radius(nothing).center) == (0, -1)
    assert center(nothing).nodes.tolist() == []
    assert periphery(nothing).nodes.tolist() == []
    assert eccentricities(nothing).tolist() == []


def test_a_single_node_is_its_own_center_and_periphery():
    single = graph_of(1, [])
    assert diameter(single).path.tolist() == [0]
    assert (radius(single).radius, radius(single).center) == (0, 0)
    assert center(single).nodes.tolist() == periphery(single).nodes.tolist() == [0]


def test_the_answer_is_about_the_largest_component_and_all_are_reported():
    graph = graph_of(12, [(0, 1), (2, 3), (3, 4), (4, 5), (6, 7), (7, 8), (8, 6), (8, 9), (9, 10)])
    found = diameter(graph)
    assert (found.component, found.diameter) == (6, 3)
    assert found.components.tolist() == [0, 2, 6, 11]
    assert found.lowers.tolist() == found.uppers.tolist() == [1, 3, 3, 0]
    assert radius(graph).lowers.tolist() == [1, 2, 2, 0]


def test_of_two_largest_components_the_first_is_reported():
    graph = graph_of(6, [(0, 1), (0, 2), (3, 4), (4, 5), (3, 5)])
    assert (diameter(graph).component, diameter(graph).diameter) == (0, 2)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (path(1000), (999, 500)),
        (star(300), (2, 1)),
        (grid(20, 30), (48, 25)),
        (graph_of(501, [(i, (i + 1) % 501) for i in range(501)]), (250, 250)),
    ],
    ids=["path", "star", "grid", "cycle"],
)
def test_known_shapes(graph, expected):
    assert (diameter(graph).diameter, radius(graph).radius) == expected


def test_levels_beyond_a_byte_and_beyond_two():
    assert diameter(path(300)).diameter == 299
    long = path(70_000)
    assert diameter(long).diameter == 69_999
    assert radius(long).center in (34_999, 35_000)
    assert center(long).nodes.tolist() == [34_999, 35_000]


def test_a_graph_with_hubs_needs_few_searches():
    graph = tree_with_hubs(3000, 1)
    found = diameter(graph)
    truth = all_eccentricities(graph)
    assert found.diameter == truth.max()
    assert found.n_searches < graph.n_nodes / 4
    np.testing.assert_array_equal(eccentricities(graph), truth)
    check_diameter(graph, found)


def test_certificate_refuses_a_wrong_diameter():
    graph = grid(7, 9)
    found = diameter(graph)
    shorter = dataclasses.replace(found, diameter=found.diameter - 1, path=found.path[:-1])
    with pytest.raises(CheckError, match="nothing in the proof"):
        check_diameter(graph, shorter)
    with pytest.raises(CheckError, match="a path of"):
        check_diameter(graph, dataclasses.replace(found, diameter=found.diameter + 1))
    around = np.array([0, 1, 10, 9, 18], np.int32)
    with pytest.raises(CheckError, match="not a shortest"):
        check_diameter(graph, dataclasses.replace(found, diameter=4, path=around))
    one = {
        "sources": found.proof.sources[:1],
        "centres": np.array([-1]),
        "landmarks": found.path[:0],
    }
    unproven = dataclasses.replace(found.proof, **one)
    with pytest.raises(CheckError, match="nothing in the proof"):
        check_diameter(graph, dataclasses.replace(found, proof=unproven))
    with pytest.raises(CheckError, match="component"):
        check_diameter(graph, dataclasses.replace(found, component=5))


def test_certificate_refuses_a_path_that_jumps():
    graph = graph_of(6, [(0, 1), (1, 2), (0, 3), (3, 4), (2, 5), (4, 5)])
    found = diameter(graph)
    start, end = int(found.path[0]), int(found.path[-1])
    hops = bfs_levels(graph, [start])[0]
    first = [v for v in range(6) if hops[v] == 1]
    second = [v for v in range(6) if hops[v] == 2]
    for u in first:
        for v in second:
            if v not in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]:
                wrong = np.array([start, u, v, end], np.int32)
                with pytest.raises(CheckError, match="which are not linked"):
                    check_diameter(graph, dataclasses.replace(found, path=wrong))
                return
    pytest.fail("no wrong step to try")


def test_a_proof_is_nodes_only():
    found = diameter(grid(5, 5))
    assert isinstance(found.proof, Proof)
    assert found.proof.sources.dtype == np.int32
