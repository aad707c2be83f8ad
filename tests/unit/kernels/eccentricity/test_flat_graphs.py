"""Graphs on which bounds help little are swept from every node, and cost hardly more than that.

Work is counted (arcs, nodes and searches, as in the account), never seconds.
"""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.diameter.flat_graphs import (
    binary_tree,
    circulant,
    cylinder,
    hypercube,
    random_regular,
    torus,
    watts_strogatz,
)
from benchmarks.lib.graph_files import largest_component
from benchmarks.lib.graphs import attachment, cut_grid
from kernels import center, diameter, eccentricities, periphery, radius
from kernels.eccentricity import CORE, Strategy
from kernels.eccentricity import solver as driver
from kernels.eccentricity.bounds.components import numbered_components
from kernels.eccentricity.check import check_diameter
from kernels.eccentricity.questions import QUESTIONS, QUESTIONS_OF_MANY
from kernels.eccentricity.reductions.distance_rows import search_keeping
from kernels.eccentricity.searches import cpu, every_node
from kernels.eccentricity.searches.every_node import EveryNode, quick_eccentricities
from kernels.eccentricity.strategy import WORK_NS, choose_step, take_next
from pipeline.generate.csr import csr_from_links
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of
from tests.soak import examples
from tests.strategies import graphs

PROPERTY = settings(max_examples=examples(60), deadline=None)
ASK = dict(zip(QUESTIONS, (diameter, radius, center, periphery, eccentricities), strict=True))


@PROPERTY
@given(graph=graphs(min_nodes=1), data=st.data())
def test_some_nodes_of_some_components_are_swept(graph, data):
    truth = bfs_levels(graph, range(graph.n_nodes)).max(axis=1)
    names, component = numbered_components(graph)
    numbers = np.array(
        data.draw(st.lists(st.sampled_from(range(len(names))), min_size=1, unique=True))
    )
    flags = st.lists(st.booleans(), min_size=graph.n_nodes, max_size=graph.n_nodes)
    is_open = np.array(data.draw(flags)) & np.isin(component, numbers)
    unknown = np.zeros(graph.n_nodes, np.int32), np.full(graph.n_nodes, 10**6, np.int32)
    size = np.bincount(component)
    found = EveryNode(graph, component, size, numbers).sweep(is_open, *unknown, 1)
    assert sorted(found.sources) == np.flatnonzero(is_open).tolist()
    np.testing.assert_array_equal(found.eccentricity, truth[found.sources])
    np.testing.assert_array_equal(found.lower[found.sources], truth[found.sources])
    np.testing.assert_array_equal(found.upper[found.sources], truth[found.sources])
    assert (found.lower <= truth).all()
    assert (truth <= found.upper).all()


@PROPERTY
@given(graph=graphs(), question=st.sampled_from(QUESTIONS[1:]))
def test_small_graphs_in_one_piece_are_swept_at_once(graph, question):
    found, first = quick_eccentricities(graph, question)
    if graph.n_nodes and len(numbered_components(graph)[0]) == 1:
        truth = bfs_levels(graph, range(graph.n_nodes)).max(axis=1)
        np.testing.assert_array_equal(found, truth)
        np.testing.assert_array_equal(first.level, bfs_levels(graph, [first.hub])[0])
    else:
        assert found is None
        assert first is None


EVEN = {
    "hypercube": lambda: hypercube(11),
    "torus": lambda: torus(50, 50),
    "random regular": lambda: random_regular(5000, 4),
    "Watts-Strogatz": lambda: watts_strogatz(5000, 6, 0.2),
}


@pytest.mark.parametrize("question", QUESTIONS[2:])
@pytest.mark.parametrize("name", EVEN)
def test_even_graphs_of_some_thousand_nodes_are_swept_after_two_searches(name, question):
    graph = EVEN[name]()
    truth, _ = every_eccentricity(graph)
    found, _ = quick_eccentricities(graph, question)
    np.testing.assert_array_equal(found, truth)


@pytest.mark.parametrize(
    ("make", "is_swept"),
    [(EVEN["hypercube"], True), (EVEN["random regular"], False), (EVEN["Watts-Strogatz"], False)],
)
def test_for_a_radius_they_are_only_if_a_search_shows_one_farthest_node(make, is_swept):
    found, first = quick_eccentricities(make(), "radius")
    assert (found is not None) == is_swept
    assert first is None or first.eccentricity > 0


@pytest.mark.parametrize(
    "make",
    [lambda: attachment(6000), lambda: cut_grid(50), lambda: binary_tree(11),
     lambda: cylinder(5, 600), lambda: circulant(3000, [1, 2, 3])],
)  # fmt: skip
def test_graphs_that_bounds_help_with_or_long_ones_are_not_swept_at_once(make):
    graph = largest_component(make())
    assert quick_eccentricities(graph, "periphery")[0] is None


def test_the_search_that_showed_it_is_not_made_again(monkeypatch):
    graph, sources = attachment(6000), []
    count = every_node.search_levels

    def searched(indptr, indices, source, *given):
        sources.append(source)
        return count(indptr, indices, source, *given)

    monkeypatch.setattr(every_node, "search_levels", searched)
    monkeypatch.setattr(cpu, "search_levels", searched)
    found = radius(graph)
    assert found.radius == every_eccentricity(graph)[0].min()
    assert sources.count(int(np.argmax(np.diff(graph.indptr)))) == 1


def test_a_diameter_of_fourteen_hops_is_swept_for_where_eccentricities_are_nearly_equal():
    assert search_keeping(watts_strogatz(4000, 4, 0.3)).is_to_sweep
    assert search_keeping(watts_strogatz(5000, 6, 0.2)).is_to_sweep


def every_eccentricity(graph) -> tuple[np.ndarray, int]:
    """By sweeps from every node; and their work."""
    n = graph.n_nodes
    every = EveryNode(graph, np.zeros(n, np.int32), np.array([n]), np.zeros(1, np.int64))
    unknown = np.zeros(n, np.int32), np.full(n, n, np.int32)
    return every.sweep(np.ones(n, bool), *unknown, n).lower, every.work


FLAT = {
    "circulant": lambda: circulant(3000, [1, 2, 3]),
    "short circulant": lambda: circulant(6000, [1, 7, 49, 343]),
    "torus": lambda: torus(60, 60),
    "hypercube": lambda: hypercube(12),
    "random regular": lambda: random_regular(6000, 4),
    "Watts-Strogatz": lambda: watts_strogatz(6000, 6, 0.1),
    "attachment": lambda: attachment(6000),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", FLAT)
def test_no_question_costs_much_more_than_sweeping_from_every_node(name, question, monkeypatch):
    graph = FLAT[name]()
    truth, work = every_eccentricity(graph)
    asked: list[driver.Finishing] = []

    class Seen(driver.Finishing):
        def __init__(self, *given):
            super().__init__(*given)
            asked.append(self)

    monkeypatch.setattr(driver, "Finishing", Seen)
    answer = ASK[question](graph)
    if question == "diameter":
        assert answer.diameter == truth.max()
    elif question == "radius":
        assert answer.radius == truth.min() == truth[answer.center]
    elif question == "center":
        np.testing.assert_array_equal(answer.is_center, truth == truth.min())
    elif question == "periphery":
        np.testing.assert_array_equal(answer.is_periphery, truth == truth.max())
    else:
        np.testing.assert_array_equal(answer, truth)
    spent = sum(each.spent_ns for each in asked)
    is_seen = name in SEEN_AT_ONCE and question in QUESTIONS_OF_MANY
    assert spent <= (MOST_AT_ONCE if is_seen else MOST) * work * WORK_NS


# Times the work of the sweeps; the goal for time is 1.2, and here all steps are counted too.
MOST, MOST_AT_ONCE = 1.5, 1.15
SEEN_AT_ONCE = ("circulant", "short circulant", "torus", "hypercube", "random regular")


@pytest.mark.parametrize(("width", "length"), [(130, 130), (50, 200)])
def test_one_ball_prices_sweeps_that_are_predicted_too_high(width, length):
    graph = torus(width, length)
    truth, work = every_eccentricity(graph)
    solver = driver.EccentricitySolver(graph, "radius", Strategy())
    account, sampled = None, []
    while not solver.is_over:
        now = solver.facts()
        assert now is not None
        step = choose_step(now, solver.thresholds)
        if step == "sample":
            account = solver.finishing.account(solver, 0.0)
        solver.take(step)
        sampled.append(step == "sample")
    assert sum(sampled) == 1
    assert account is not None
    assert account.whole_ns >= 1.3 * work * WORK_NS  # 1.38 and 1.56
    after = solver.finishing.account(solver, 0.0)
    assert after is not None
    assert 0.75 <= after.whole_ns / (work * WORK_NS) <= 1.25
    assert not after.is_guess
    assert solver.bounds.most[0] == truth.max()
    assert solver.finishing.spent_ns <= 1.05 * work * WORK_NS  # 1.29 of the first without samples


@pytest.mark.parametrize(
    ("make", "is_flat"),
    [
        (lambda: circulant(5000, [1, 2]), True),
        (lambda: random_regular(6000, 4), True),
        (lambda: attachment(20_000), False),
        (lambda: watts_strogatz(6000, 6, 0.1), False),
    ],
    ids=["circulant", "random regular", "attachment", "Watts-Strogatz"],
)
def test_four_searches_tell_whether_bounds_close_anything(make, is_flat):
    solver = driver.EccentricitySolver(make(), "center", Strategy())
    while solver.bounds.n_searches < CORE.n_first:
        take_next(solver)
        assert not solver.is_flat
    take_next(solver)
    assert solver.is_flat == is_flat
    if is_flat:
        assert solver.is_over
    limited = driver.EccentricitySolver(make(), "center", Strategy(), max_searches=40)
    limited.run()
    assert not limited.is_flat
    assert limited.bounds.n_searches <= 40


def test_two_flat_components_are_seen_too():
    near = np.arange(3000)
    near = np.concatenate([near, 3000 + near])
    graph = csr_from_links(6000, near, near // 3000 * 3000 + (near + 1) % 3000)
    solver = driver.EccentricitySolver(graph, "periphery", Strategy())
    while not solver.is_over:
        take_next(solver)
    assert solver.is_flat
    assert solver.bounds.n_searches == 6000
    assert (solver.bounds.lower == 1500).all()


def test_a_few_nodes_left_out_make_no_sweep_more_expensive():
    graph = torus(3, 2000)
    n = graph.n_nodes
    is_open = np.ones(n, bool)
    is_open[np.random.default_rng(4).choice(n, 60, replace=False)] = False
    every = EveryNode(graph, np.zeros(n, np.int32), np.array([n]), np.zeros(1, np.int64))
    unknown = np.zeros(n, np.int32), np.full(n, n, np.int32)
    every.sweep(np.ones(n, bool), *unknown, n)
    whole = every.work
    found = every.sweep(is_open, *unknown, n)
    assert every.work == whole
    assert sorted(found.sources) == np.flatnonzero(is_open).tolist()


def test_what_sweeps_cost_is_counted_in_64_bits():
    """Work of one sweep of a cycle of 40,000, times 79 sweeps, is beyond 32."""
    graph = circulant(40_000, [1])
    size = np.array([40_000], np.int32)  # as components are counted
    every = EveryNode(graph, np.zeros(40_000, np.int32), size, np.zeros(1, np.int64))
    assert (every.n_nodes // 512 * 71_303_040).tolist() == [40_000 // 512 * 71_303_040]


def test_a_diameter_by_sweeps_from_all_that_is_left_is_certified():
    graph = circulant(1200, [1, 2, 3])
    found = diameter(graph, strategy=Strategy(keep=False))
    assert found.diameter == 200
    check_diameter(graph, found)


def test_graphs_in_pieces_are_swept_too(monkeypatch):
    ring = [(i, (i + j) % 900) for i in range(900) for j in (1, 2, 3)]
    other = [(900 + i, 900 + (i + 1) % 700) for i in range(700)]
    graph = graph_of(1603, [*ring, *other, (1600, 1601)])
    swept = []
    plain = every_node.sweep_components

    def sweep(*given):
        swept.append(len(given[2]) - 1)
        return plain(*given)

    monkeypatch.setattr(every_node, "sweep_components", sweep)
    truth = eccentricities(graph)
    assert swept
    np.testing.assert_array_equal(truth[:900], 150)
    np.testing.assert_array_equal(truth[900:1600], 350)
    np.testing.assert_array_equal(truth[1600:], [1, 1, 0])
    np.testing.assert_array_equal(center(graph).is_center, True)


def test_a_question_is_freed_with_its_answer():
    gc.collect()
    gc.disable()
    try:
        solver = driver.EccentricitySolver(watts_strogatz(3000, 6, 0.1), "center", Strategy())
        solver.run()
        gone = weakref.ref(solver)
        del solver
        assert gone() is None  # else memory piles up, and each question waits for new pages
    finally:
        gc.enable()


def test_landmarks_may_cost_what_was_spent_before_them():
    graph = circulant(3000, [1, 2, 3])
    solver = driver.EccentricitySolver(graph, "diameter", Strategy())
    assert solver.finishing.room_ns() == solver.finishing.spent_ns
    solver.finishing.spend(1e6)
    assert solver.finishing.room_ns() == solver.finishing.spent_ns >= 1e6
    solver.finishing.account(solver, 1e9)
    solver.finishing.spend(1e9)
    assert solver.finishing.room_ns() == 0


def test_the_same_plan_every_time():
    graph = watts_strogatz(3000, 6, 0.1)
    first = diameter(graph)
    again = diameter(graph)
    assert first.n_searches == again.n_searches
    np.testing.assert_array_equal(first.proof.sources, again.proof.sources)
