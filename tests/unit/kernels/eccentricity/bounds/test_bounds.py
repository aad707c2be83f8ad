"""The state machine alone: any order of completion, any failure, several searches in flight."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import GraphError, components
from kernels.eccentricity.bounds.bounds import EccentricityBounds
from kernels.eccentricity.questions import QUESTIONS
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, path, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs


def machine(graph, question, **options) -> EccentricityBounds:
    found = components(graph)
    number = np.searchsorted(found.ids, found.component).astype(np.int32)
    return EccentricityBounds(question, number, np.diff(graph.indptr), **options)


def implied(hops, sources, dtype=np.uint8) -> tuple[np.ndarray, np.ndarray]:
    """Bounds by searches from some nodes, out of all distances."""
    none = np.iinfo(dtype).max
    lower, upper = np.zeros(hops.shape[0], dtype), np.full(hops.shape[0], none, dtype)
    for source in sources:
        level = hops[source]
        reached = level >= 0
        e, d = level.max(), level[reached]
        lower[reached] = np.maximum(lower[reached], np.maximum(d, e - d))
        upper[reached] = np.minimum(upper[reached], e + d)
    return lower, upper


def check_answer(bounds: EccentricityBounds, truth: np.ndarray) -> None:
    """What the machine knows once it is done is what was requested."""
    for i in range(len(bounds.size)):
        own = bounds.component == i
        low, high = truth[own].min(), truth[own].max()
        if bounds.question in ("diameter", "periphery"):
            assert bounds.most[i] == high
        if bounds.question in ("radius", "center"):
            assert bounds.least[i] == low
        if bounds.question == "center":
            claimed = own & (bounds.lower <= bounds.least[i])
            np.testing.assert_array_equal(claimed, own & (truth == low))
        if bounds.question == "periphery":
            claimed = own & (bounds.upper >= bounds.most[i])
            np.testing.assert_array_equal(claimed, own & (truth == high))
        if bounds.question == "eccentricities":
            np.testing.assert_array_equal(bounds.lower[own], truth[own])


def check_bounds(bounds: EccentricityBounds, truth: np.ndarray) -> None:
    """At any time: no bound is wrong, and the interval holds the value."""
    assert (bounds.lower <= truth).all()
    assert (truth <= bounds.upper).all()
    lowers, uppers = bounds.interval()
    for i in range(len(bounds.size)):
        own = truth[bounds.component == i]
        value = own.min() if bounds.question in ("radius", "center") else own.max()
        assert lowers[i] <= value <= uppers[i]


@settings(max_examples=examples(400), deadline=None)
@given(
    graph=graphs(),
    question=st.sampled_from(QUESTIONS),
    is_winnowing=st.booleans(),
    data=st.data(),
)
def test_exact_for_any_order_of_completion_and_any_failure(graph, question, is_winnowing, data):
    hops = bfs_levels(graph, range(graph.n_nodes))
    truth = hops.max(axis=1)
    bounds = machine(graph, question, is_winnowing=is_winnowing)
    running: list[np.ndarray] = []
    chance = st.integers(0, 9)
    for _ in range(60 * graph.n_nodes):
        if bounds.done:
            break
        n_each = data.draw(st.integers(1, 3))
        by = data.draw(st.sampled_from([None, "upper", "lower"]))
        while len(running) < data.draw(st.integers(1, 5)):
            taken = bounds.take(n_each, by)
            if not len(taken):
                break
            running.append(taken)
        assert running, "nothing is in flight and nothing can be taken, but it is not done"
        task = running.pop(data.draw(st.integers(0, len(running) - 1)))
        fate = data.draw(chance)
        if fate == 0:
            bounds.release(task)
            continue
        done_by = task[: len(task) // 2] if fate == 1 else task  # a part of it came back
        bounds.release(task[len(done_by) :])
        alone = len(np.unique(bounds.component[done_by])) == len(done_by)
        dtype = data.draw(st.sampled_from([np.uint8, np.uint16, np.int32]))
        bounds.update(done_by, *implied(hops, done_by, dtype), alone=alone)
        if fate == 2:  # reported twice, as by a task that was believed lost
            bounds.update(done_by, *implied(hops, done_by, dtype), alone=alone)
        if fate == 3:  # and one that nobody requested
            other = np.array([data.draw(st.integers(0, graph.n_nodes - 1))])
            bounds.update(other, *implied(hops, other, dtype), alone=True)
        if fate == 4 and question == "diameter" and not bounds.done:
            restrict(bounds, hops, data.draw(st.integers(0, 2)))
        check_bounds(bounds, truth)
    assert bounds.done
    check_answer(bounds, truth)


def restrict(bounds: EccentricityBounds, hops: np.ndarray, slack: int) -> None:
    """Set the pairs that may be far apart, for a component that still has pending nodes."""
    component = int(bounds.component[bounds.pending()[0]])
    own = np.flatnonzero(bounds.component == component)
    first, second = np.meshgrid(own, own)
    apart = hops[first, second] + slack
    is_far = (apart > bounds.most[component]) & (first != second)
    bounds.restrict(component, np.stack([first[is_far], second[is_far]]), apart[is_far])


@settings(max_examples=examples(100), deadline=None)
@given(graph=graphs(), question=st.sampled_from(QUESTIONS), seed=st.integers(0, 99))
def test_bounds_do_not_depend_on_the_order_of_updates(graph, question, seed):
    hops = bfs_levels(graph, range(graph.n_nodes))
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    first, second = machine(graph, question), machine(graph, question)
    for source in range(graph.n_nodes):
        first.update([source], *implied(hops, [source]), alone=True)
    for source in order.tolist():
        second.update([source], *implied(hops, [source]), alone=True)
    np.testing.assert_array_equal(first.lower, second.lower)
    np.testing.assert_array_equal(first.upper, second.upper)
    assert first.done
    assert second.done


def test_sources_in_flight_are_not_taken_again_until_released():
    graph = grid(4, 4)
    bounds = machine(graph, "eccentricities")
    taken = [int(bounds.take()[0]) for _ in range(16)]
    assert sorted(taken) == list(range(16))
    assert len(bounds.take()) == 0
    bounds.release([5, 6])
    assert sorted(bounds.take(9).tolist()) == [5, 6]
    assert not bounds.done


def test_taking_many_gives_that_many_of_each_component():
    graph = graph_of(9, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)])
    bounds = machine(graph, "eccentricities")
    taken = bounds.take(2)
    assert np.bincount(bounds.component[taken]).tolist() == [2, 2]
    assert len(set(taken.tolist())) == 4


def test_sources_alternate_between_far_and_central():
    bounds = machine(star_with_tail(), "diameter")
    first = bounds.take()  # all bounds but that of degrees are equal: a leaf
    assert bounds.degree[first[0]] == 1
    assert bounds.take()[0] == 0  # the hub


def star_with_tail():
    return graph_of(9, [(0, i) for i in range(1, 6)] + [(5, 6), (6, 7), (7, 8)])


def test_winnowing_leaves_only_nodes_outside_the_ball():
    graph = tree_with_hubs(400, 3)
    hops = bfs_levels(graph, range(400))
    with_ball = machine(graph, "diameter")
    without = machine(graph, "diameter", is_winnowing=False)
    hub = int(np.argmax(with_ball.degree))
    far = int(np.argmax(hops[hub]))
    for source in (hub, far):
        with_ball.update([source], *implied(hops, [source]), alone=True)
        without.update([source], *implied(hops, [source]), alone=True)
    assert with_ball.centre.tolist() == [hub]
    kept = set(with_ball.pending().tolist())
    assert kept == {v for v in without.pending().tolist() if 2 * hops[hub, v] > hops[far].max()}
    assert len(kept) < len(without.pending())


def test_bounds_that_cross_are_refused():
    bounds = machine(path(5), "diameter")
    wrong = np.full(5, 2, np.uint8)
    bounds.update([0], wrong, np.full(5, 4, np.uint8))
    with pytest.raises(GraphError, match="bounds of node 0 cross: at least 3 and at most 2"):
        bounds.update([1], wrong + np.uint8(1), wrong)


def test_unknown_questions_are_refused():
    with pytest.raises(GraphError, match="unknown question 'girth'"):
        EccentricityBounds("girth", np.zeros(2, np.int32), np.ones(2, np.int32))


def test_known_pairs_are_covered_by_few_nodes():
    graph = graph_of(7, [(0, i) for i in range(1, 7)])
    bounds = machine(graph, "diameter", is_winnowing=False)
    pairs = np.array([[1, 1, 1, 4, 5], [2, 3, 4, 2, 6]])
    bounds.restrict(0, pairs, np.full(5, 3))
    assert bounds.pending().tolist() == [1, 2, 3, 4, 5, 6]
    taken = bounds.take(9, "upper").tolist()
    assert taken[0] == 1  # in three of five
    assert len(taken) == 3
    assert len(bounds.take(9, "upper")) == 0  # every pair has an end in flight
    bounds.restrict(0, pairs[:, :0], np.empty(0))
    assert bounds.done
