"""The state of one AS alone: any order of completion, failures, duplicates."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lib.graph_files import largest_component
from benchmarks.lib.graphs import cut_grid
from kernels import exact_search
from kernels.eccentricity.bounds.components import numbered_components
from kernels.eccentricity.searches.cpu import CoreSearches
from kernels.errors import CheckError
from pipeline.errors import PipelineError, RetryableError
from pipeline.metrics import WIDTH_METRICS
from pipeline.model.search.exact import ExactBounds, ExactJob, ExactTask
from pipeline.model.search.tasks import Outcome
from pipeline.schedule.exact_search import tasks as exact_tasks
from pipeline.schedule.exact_search.state import MAX_FAILED, ExactOptions, ExactState
from pipeline.schedule.exact_search.tasks import run_exact
from pipeline.schedule.plan.costs import DEFAULTS
from tests.oracles.widths import Truth, check_widths
from tests.shapes import graph_of, grid, path, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs


def job_of(graph, metrics, device="cpu") -> ExactJob:
    return ExactJob(0, 7, graph.n_nodes, graph.n_arcs, "nowhere", tuple(metrics), device)


@contextmanager
def resident(graph):
    """Tasks run here, on this graph."""
    with patch.object(exact_tasks, "resident_graph", lambda *_: graph):
        yield


def outcome_of(task, error=None) -> Outcome:
    result = run_exact(task) if error is None else None
    return Outcome(task, 1, 0.0, result=result, error=error)


def answer_of(graph, metrics, **options):
    """One task after another, all of which succeed."""
    state = ExactState(job_of(graph, metrics), ExactOptions(DEFAULTS, **options))
    with resident(graph):
        while (task := state.next_task()) is not None:
            state.use(outcome_of(task))
    assert state.n_flying == 0
    return state.answer


asked = st.lists(st.sampled_from(WIDTH_METRICS), min_size=1, unique=True)


@settings(max_examples=examples(300), deadline=None)
@given(
    graph=graphs(max_nodes=24),
    metrics=asked,
    pack=st.sampled_from([None, 1, 2, 5, 64]),
    max_searches=st.one_of(st.none(), st.integers(0, 6)),
    n_workers=st.integers(1, 5),
    is_faulty=st.booleans(),
    data=st.data(),
)
def test_exact_for_any_order_and_any_failure(
    graph, metrics, pack, max_searches, n_workers, is_faulty, data
):
    options = ExactOptions(DEFAULTS, n_workers, pack, max_searches)
    state = ExactState(job_of(graph, metrics), options)
    running: list[ExactTask] = []
    reported: list[Outcome] = []
    n_failed = 0
    with resident(graph):
        while True:
            while len(running) < n_workers and (task := state.next_task()) is not None:
                running.append(task)
            assert state.n_flying == len(running)
            if not running:
                break
            flying = [v for t in running if t.kind == "candidate" for v in t.sources.tolist()]
            assert len(flying) == len(set(flying))  # nothing is searched twice at a time
            task = running.pop(data.draw(st.integers(0, len(running) - 1)))
            what = data.draw(st.integers(0, 9)) if is_faulty else 0
            if what == 9:
                n_failed += 1
                state.use(outcome_of(task, error=PipelineError("it failed")))
                continue
            if what == 8 and task.n_sources > 1:
                halves = [replace(task, sources=part) for part in np.array_split(task.sources, 2)]
                state.cut(task, halves)
                running += halves
                continue
            outcome = outcome_of(task)
            state.use(outcome)
            reported.append(outcome)
            if what == 7:  # reported again, or long ago
                state.use(data.draw(st.sampled_from(reported)))
    answer = state.answer
    assert answer is not None
    assert answer.widths.metrics == tuple(metrics)
    check_widths(answer.widths, Truth(graph))
    if not n_failed and max_searches is None:
        assert answer.widths.exact[0]
    assert (answer.reason == "") == answer.widths.exact[0]
    if set(metrics) <= {"diameter", "radius"} and not n_failed:
        bounds = ["diameter_lower", "diameter_upper", "radius_lower", "radius_upper"]
        found = {name: getattr(answer.widths, name)[0] for name in bounds}
        met = all(found[f"{name}_lower"] == found[f"{name}_upper"] for name in metrics)
        assert answer.widths.exact[0] <= met
    assert answer.is_failed <= (n_failed > 0 and not answer.widths.exact[0])
    if max_searches is None:
        assert answer.is_failed == (not answer.widths.exact[0])
    n_searches = answer.widths.n_searches[0]
    assert n_searches <= graph.n_nodes
    if max_searches is not None:
        assert n_searches <= max_searches * len(Truth(graph).components)


@pytest.mark.parametrize("is_failing", [False, True])
def test_parts_of_a_task_are_in_flight_in_its_place(is_failing):
    graph = grid(6, 6)
    state = ExactState(job_of(graph, ["eccentricities"]), ExactOptions(DEFAULTS, 1, 4, None))
    n_cut = 0
    with resident(graph):
        while (task := state.next_task()) is not None:
            assert state.n_flying == 1
            parts = [task]
            if task.n_sources > 1:
                parts = [replace(task, sources=part) for part in np.array_split(task.sources, 2)]
                state.cut(task, parts)
                n_cut += 1
                assert state.n_flying == 2
                # What fails once is given back, and searched later.
                if is_failing and n_cut == 1:
                    state.use(outcome_of(parts.pop(0), error=PipelineError("a bad day")))
            for part in parts:
                state.use(outcome_of(part))
            assert state.n_flying == 0
    assert n_cut
    assert state.answer is not None
    assert state.answer.widths.exact[0]
    check_widths(state.answer.widths, Truth(graph))


# Diameter and radius prove each other before either question is done by itself.
MEETING = [
    graph_of(5, [(1, 0), (2, 1), (3, 0), (4, 1), (0, 4), (2, 0), (2, 3), (2, 4)]),
    graph_of(6, [(1, 0), (2, 1), (3, 0), (4, 3), (5, 4)]),
]


@pytest.mark.parametrize("max_searches", [0, 1, 2, None])
@pytest.mark.parametrize("metrics", [("diameter",), ("diameter", "radius"), ("radius",)])
@pytest.mark.parametrize("graph", MEETING, ids=["dense", "path"])
def test_if_bounds_meet_the_width_is_exact(graph, metrics, max_searches):
    widths = answer_of(graph, metrics, max_searches=max_searches, pack=1).widths
    met = [
        getattr(widths, f"{name}_lower")[0] == getattr(widths, f"{name}_upper")[0]
        for name in metrics
    ]
    assert bool(widths.exact[0]) is all(met)
    check_widths(widths, Truth(graph))


SHAPES = {
    "path": path(30),
    "star": star(20),
    "grid": grid(9, 7),
    "hubs": tree_with_hubs(300, 1),
    "two": graph_of(40, [*[(i, i + 1) for i in range(20)], *[(i, i + 1) for i in range(22, 39)]]),
    "one node": graph_of(1, []),
    "no links": graph_of(4, []),
}


@pytest.mark.parametrize("pack", [None, 1, 3, 100])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_question_of_known_shapes(shape, pack):
    graph = SHAPES[shape]
    truth = Truth(graph)
    for metrics in (
        *((metric,) for metric in WIDTH_METRICS),
        ("diameter", "radius"),
        WIDTH_METRICS,
    ):
        answer = answer_of(graph, metrics, pack=pack)
        assert answer.widths.exact[0]
        check_widths(answer.widths, truth)


def test_hand_counted_path_of_five():
    answer = answer_of(path(5), WIDTH_METRICS).widths
    assert (answer.diameter_lower[0], answer.radius_upper[0]) == (4, 2)
    assert answer.path.tolist() in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0])
    assert answer.center.tolist() == [2]
    assert answer.periphery.tolist() == [0, 4]
    assert answer.eccentricity.tolist() == [4, 3, 2, 3, 4]
    assert answer.eccentricity.dtype == np.uint8
    assert answer.counts.tolist() == [0, 0, 1, 2, 2]
    assert answer.component_diameter.tolist() == [4]


@pytest.mark.parametrize("metric", ["eccentricities", "center", "periphery", "radius"])
def test_a_tree_needs_few_searches(metric):
    """A long path with legs: bounds by other searches leave most of its nodes open."""
    n_spine = 2_500
    legs = np.arange(n_spine, 4 * n_spine)
    links = [(i, i + 1) for i in range(n_spine - 1)]
    graph = graph_of(4 * n_spine, [*links, *zip(legs % n_spine, legs, strict=True)])
    found = answer_of(graph, [metric]).widths
    assert found.exact[0]
    assert found.n_searches[0] <= 4
    if metric == "eccentricities":
        spine = np.arange(n_spine)
        expected = np.maximum(spine, spine[::-1]) + 1
        assert (
            found.eccentricity.tolist() == np.concatenate([expected, *[expected + 1] * 3]).tolist()
        )


def test_a_graph_without_nodes_needs_no_task():
    state = ExactState(job_of(graph_of(0, []), ["diameter"]), ExactOptions(DEFAULTS))
    assert state.next_task() is None
    assert state.answer.widths.exact[0]
    assert state.answer.widths.component[0] == -1
    assert state.answer.widths.diameter_upper[0] == 0


def test_several_questions_share_their_searches():
    graph = tree_with_hubs(2000, 3)
    alone = [answer_of(graph, [m]).widths.n_searches[0] for m in ("diameter", "radius")]
    both = answer_of(graph, ["diameter", "radius"]).widths.n_searches[0]
    assert both <= sum(alone)


@pytest.mark.parametrize("max_searches", [None, 500])
@pytest.mark.parametrize("kind", ["opening", "candidate", "path"])
def test_an_as_that_fails_for_good_ends_as_an_interval_with_the_reason(kind, max_searches):
    graph = grid(12, 11)
    options = ExactOptions(DEFAULTS, max_searches=max_searches)
    state = ExactState(job_of(graph, ["diameter", "radius"]), options)
    n_failed = 0
    with resident(graph):
        while (task := state.next_task()) is not None:
            if task.kind == kind:
                n_failed += 1
                state.use(outcome_of(task, error=RetryableError("no luck")))
            else:
                state.use(outcome_of(task))
    answer = state.answer
    assert not answer.widths.exact[0]
    assert (answer.reason, answer.is_failed) == ("no luck", True)
    assert n_failed == (MAX_FAILED if kind == "candidate" else 1)
    check_widths(answer.widths, Truth(graph))
    if kind == "opening":
        assert answer.widths.diameter_upper[0] == -1
    if kind == "path":  # the value is proven, but nothing shows it
        assert answer.widths.diameter_lower[0] == answer.widths.diameter_upper[0] == 21


def test_one_failure_is_recovered_by_others():
    graph = tree_with_hubs(400, 5)
    state = ExactState(job_of(graph, ["eccentricities"]), ExactOptions(DEFAULTS, pack=1))
    failed = []
    with resident(graph):
        while (task := state.next_task()) is not None:
            if task.kind == "candidate" and not failed:
                failed.append(task.sources.tolist())
                state.use(outcome_of(task, error=PipelineError("a bad day")))
            else:
                state.use(outcome_of(task))
    assert failed
    assert state.answer.widths.exact[0]
    check_widths(state.answer.widths, Truth(graph))


def test_a_limit_is_not_a_failure_even_if_a_failure_was_recovered():
    graph = tree_with_hubs(400, 5)
    options = ExactOptions(DEFAULTS, pack=1, max_searches=3)
    state = ExactState(job_of(graph, ["eccentricities"]), options)
    n_failed = 0
    with resident(graph):
        while (task := state.next_task()) is not None:
            is_first = task.kind == "candidate" and not n_failed
            n_failed += is_first
            state.use(outcome_of(task, error=PipelineError("a bad day") if is_first else None))
    assert n_failed == 1
    assert not state.answer.widths.exact[0]
    assert not state.answer.is_failed
    assert state.answer.reason == "stopped after 3 searches, the limit"


def test_a_result_of_another_graph_makes_nothing_exact():
    graph, other = path(30), star(29)
    state = ExactState(job_of(graph, ["eccentricities"]), ExactOptions(DEFAULTS))
    with resident(graph):
        state.use(outcome_of(state.next_task()))
    task = state.next_task()
    searches = CoreSearches(other, np.zeros(30, np.int32), 1)
    found = searches.search(task.sources)
    wrong = ExactBounds(found.sources, found.eccentricity, found.lower, found.upper)
    state.use(Outcome(task, 1, 0.0, result=wrong))
    assert not state.answer.widths.exact[0]
    assert state.answer.widths.diameter_upper[0] == -1
    assert "cross" in state.answer.reason


@pytest.mark.parametrize("max_searches", [None, 0])
def test_a_hub_with_more_links_than_two_bytes_hold(max_searches):
    """By its degree alone, a node that all others are linked to has eccentricity 1."""
    graph = star(70_000)
    options = {"pack": 1, "max_searches": max_searches}
    answer = answer_of(graph, ["diameter", "radius"], **options)
    found = answer.widths
    assert (found.radius_lower[0], found.radius_upper[0]) == (1, 1)
    assert (found.diameter_lower[0], found.diameter_upper[0]) == (2, 2)
    if max_searches is None:
        assert (answer.reason, found.exact[0]) == ("", True)


def test_a_missing_path_is_refused():
    graph = path(6)
    task = ExactTask("path", job_of(graph, ["diameter"]), np.array([0], np.int32), "cpu")
    with resident(graph):
        found = run_exact(replace(task, length=5))
        assert found.path.tolist() == [0, 1, 2, 3, 4, 5]
        with pytest.raises(PipelineError, match="no node is 6 hops from node 0"):
            run_exact(replace(task, length=6))


def test_results_are_as_narrow_as_they_can_be():
    for n_nodes, kind in ((100, np.uint8), (2000, np.uint16)):
        graph = path(n_nodes)
        job = job_of(graph, ["eccentricities"])
        for sources in ([n_nodes // 2], [0, n_nodes // 2, n_nodes - 1]):
            given = np.array(sources, np.int32)
            task = ExactTask("candidate", job, given, "cpu", alone=len(sources) == 1)
            with resident(graph):
                found = run_exact(task)
            assert found.lower.dtype == found.upper.dtype == kind
            assert found.eccentricity.tolist() == [max(s, n_nodes - 1 - s) for s in sources]


def test_what_a_worker_knows_serves_one_run_only():
    graph = grid(8, 8)
    task = ExactTask("candidate", job_of(graph, ["radius"]), np.array([0], np.int32), "cpu")
    both = np.array([9, 54], np.int32)
    with resident(graph):
        run_exact(replace(task, run="a"))
        again = run_exact(replace(task, run="a", sources=both, alone=False))
        fresh = run_exact(replace(task, run="b", sources=both, alone=False))
    assert (again.lower[0], again.upper[0]) == (14, 14)
    assert fresh.lower[0] < 14


def test_few_searches_answer_a_long_graph_on_a_gpu(monkeypatch):
    graph = cut_grid(100)
    component = np.zeros(graph.n_nodes, np.int32)

    def on_core(graph, sources):
        unknown = np.zeros(graph.n_nodes, np.int32), np.full(graph.n_nodes, 2**31 - 1, np.int32)
        return CoreSearches(graph, component, 1).sweep(sources, *unknown)

    monkeypatch.setattr(exact_tasks, "_implied_on_gpu", on_core)
    graph = largest_component(graph)
    component = component[: graph.n_nodes]
    job = job_of(graph, ["diameter", "radius"], "gpu")
    state, running = ExactState(job, ExactOptions(DEFAULTS)), []
    with resident(graph):
        while True:
            while len(running) < 2 and (task := state.next_task()) is not None:
                running.append(task)
            if not running:
                break
            state.use(outcome_of(running.pop(0)))
    assert state.answer.widths.exact[0]
    assert state.answer.widths.n_searches[0] <= 20


def test_the_certificate_of_a_path_is_asked(monkeypatch):
    def refuse(*_):
        raise CheckError("wrong level")

    monkeypatch.setattr(exact_tasks, "check_levels", refuse)
    task = ExactTask("path", job_of(path(3), ["diameter"]), np.array([0], np.int32), "cpu")
    with resident(path(3)), pytest.raises(PipelineError, match="wrong result on cpu"):
        run_exact(task)


def test_more_sources_than_a_gpu_has_lanes_are_searched_in_parts(monkeypatch):
    """By cores in its place: many components, a source of each."""
    graph = graph_of(
        3 * 300, [(3 * i + a, 3 * i + b) for i in range(300) for a, b in ((0, 1), (1, 2))]
    )
    asked = []

    def on_cores(graph, sources):
        asked.append(len(sources))
        found = numbered_components(graph)
        return CoreSearches(graph, found[1], len(found[0])).search(sources)

    monkeypatch.setattr(exact_search, "implied_on_gpu", on_cores)
    sources = np.arange(0, 900, 3, dtype=np.int32)
    task = ExactTask("candidate", job_of(graph, ["radius"], "gpu"), sources, "gpu")
    with resident(graph):
        found = run_exact(task)
    assert asked == [150, 150]
    assert found.upper.dtype == np.uint8
    assert found.upper.tolist() == [2, 3, 4] * 300
    assert found.lower.tolist() == [2, 1, 2] * 300
    assert found.eccentricity.tolist() == [2] * 300
