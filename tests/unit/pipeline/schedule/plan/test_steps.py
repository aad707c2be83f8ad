"""When an AS is answered by exact searches, and how each of its searches goes: pure choices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels.eccentricity import CLUSTER, Facts
from pipeline.model.search.exact import ExactJob, ExactTask
from pipeline.schedule.plan.batches import plan
from pipeline.schedule.plan.costs import DEFAULTS, Cost, Costs
from pipeline.schedule.plan.measures import n_searches, plan_widths
from pipeline.schedule.plan.steps import by_exact_search, has_room, next_search, task_s, window
from pipeline.schedule.thresholds import THRESHOLDS
from pipeline.schedule.transport.limits import Deadlines, Limits

JOB = ExactJob(0, 7, 10**6, 4 * 10**6, "", ("eccentricities",))
COSTS = Costs(
    cpu=Cost(search_s=20e-6, search_arc_s=7e-9, sweep_s=50e-6, sweep_arc_s=40e-9),
    gpu=Cost(search_s=0.15e-3, search_arc_s=0.045e-9, sweep_s=0.2e-3, sweep_arc_s=0.14e-9),
    transfer_byte_s=0.1e-9,
    task_s=2e-3,
    source="of this table",
)
LETTERS = {"far": "f", "alternate": "a"}
N_SEARCHES = (3, 4, 100)
N_PENDING = (1, 4, 5, 30, 65, 600, 5000, 10**6)

# Device, nodes, arcs, hops, threads; then for each number of searches a word for each number of
# pending nodes: a letter, or s and the nodes that a sweep carries.
CHOICES = [
    (
        *("cpu", 1_000, 4_000, 10, 1),
        "f f a a a a a a|f f s5 s30 s64 s512 s512 s512|f f s5 s30 s64 s512 s512 s512",
    ),
    (
        *("cpu", 1_000, 4_000, 10, 4),
        "f f a a a a a a|f f a s7 s16 s64 s512 s512|f f a s7 s16 s64 s512 s512",
    ),
    ("cpu", 1_000, 4_000, 300, 1, "f f a a a a a a|f f a a a a a a|f f a s30 s64 s512 s512 s512"),
    ("cpu", 1_000, 4_000, 300, 4, "f f a a a a a a|f f a a a a a a|f f a s7 s16 s64 s512 s512"),
    (
        *("cpu", 1_000_000, 10_000_000, 10, 1),
        "f f a a a a a a|f f a s30 s64 s512 s512 s512|f f a s30 s64 s512 s512 s512",
    ),
    (
        *("cpu", 1_000_000, 10_000_000, 10, 4),
        "f f a a a a a a|f f a s7 s16 s64 s512 s512|f f a s7 s16 s64 s512 s512",
    ),
    ("cpu", 1_000_000, 10_000_000, 300, 1, "f f a a a a a a|f f a a a a a a|f f a a a a a a"),
    ("cpu", 1_000_000, 10_000_000, 300, 4, "f f a a a a a a|f f a a a a a a|f f a a a a a a"),
    (
        *("cpu", 10_000_000, 40_000_000, 10, 1),
        "f f a a a a a a|f f s5 s30 s64 s64 s64 s64|f f s5 s30 s64 s64 s64 s64",
    ),
    (
        *("cpu", 10_000_000, 40_000_000, 10, 4),
        "f f a a a a a a|f f a s7 s16 s64 s64 s64|f f a s7 s16 s64 s64 s64",
    ),
    ("cpu", 10_000_000, 40_000_000, 300, 1, "f f a a a a a a|f f a a a a a a|f f a a a a a a"),
    ("cpu", 10_000_000, 40_000_000, 300, 4, "f f a a a a a a|f f a a a a a a|f f a a a a a a"),
    (
        *("gpu", 1_000, 4_000, 10, 1),
        "f f a a a a a a|f f s5 s30 s64 s256 s256 s256|f f s5 s30 s64 s256 s256 s256",
    ),
    (
        *("gpu", 1_000, 4_000, 10, 4),
        "f f a a a a a a|f f a s7 s16 s64 s256 s256|f f a s7 s16 s64 s256 s256",
    ),
    ("gpu", 1_000, 4_000, 300, 1, "f f a a a a a a|f f a a a a a a|f f a s30 s64 s256 s256 s256"),
    ("gpu", 1_000, 4_000, 300, 4, "f f a a a a a a|f f a a a a a a|f f a s7 s16 s64 s256 s256"),
    (
        *("gpu", 1_000_000, 10_000_000, 10, 1),
        "f f a a a a a a|f f s5 s30 s64 s256 s256 s256|f f s5 s30 s64 s256 s256 s256",
    ),
    (
        *("gpu", 1_000_000, 10_000_000, 10, 4),
        "f f a a a a a a|f f a s7 s16 s64 s256 s256|f f a s7 s16 s64 s256 s256",
    ),
    (
        *("gpu", 1_000_000, 10_000_000, 300, 1),
        "f f a a a a a a|f f a a a a a a|f f a s30 s64 s256 s256 s256",
    ),
    (
        *("gpu", 1_000_000, 10_000_000, 300, 4),
        "f f a a a a a a|f f a a a a a a|f f a a s16 s64 s256 s256",
    ),
    (
        *("gpu", 10_000_000, 40_000_000, 10, 1),
        "f f a a a a a a|f f s5 s30 s64 s64 s64 s64|f f s5 s30 s64 s64 s64 s64",
    ),
    (
        *("gpu", 10_000_000, 40_000_000, 10, 4),
        "f f a a a a a a|f f a s7 s16 s64 s64 s64|f f a s7 s16 s64 s64 s64",
    ),
    (
        *("gpu", 10_000_000, 40_000_000, 300, 1),
        "f f a a a a a a|f f a a a a a a|f f s5 s30 s64 s64 s64 s64",
    ),
    (
        *("gpu", 10_000_000, 40_000_000, 300, 4),
        "f f a a a a a a|f f a a a a a a|f f a s7 s16 s64 s64 s64",
    ),
]


def facts(n_pending: int, n_searches: int, longest: int) -> Facts:
    return Facts(False, n_searches, longest, n_pending)


def chosen(job: ExactJob, now: Facts, n_threads: int) -> str:
    step, n_each = next_search(job, now, n_threads, COSTS)
    assert (n_each > 1) == (step == "sweep")
    return LETTERS.get(step, f"s{n_each}")


@pytest.mark.parametrize(
    ("device", "n_nodes", "n_arcs", "longest", "n_threads", "expected"), CHOICES
)
def test_steps_on_a_cluster(device, n_nodes, n_arcs, longest, n_threads, expected):
    job = replace(JOB, device=device, n_nodes=n_nodes, n_arcs=n_arcs)
    words = [
        " ".join(chosen(job, facts(count, n, longest), n_threads) for count in N_PENDING)
        for n in N_SEARCHES
    ]
    assert words == expected.split("|")


@pytest.mark.parametrize(("device", "most"), [("cpu", 512), ("gpu", 256)])
def test_the_user_sets_how_many_sources_share_a_task(device, most):
    job = replace(JOB, device=device)
    for now in (facts(10**6, 0, 10), facts(3, 100, 10)):
        packs = [next_search(job, now, 2, COSTS, pack) for pack in (7, 10**6)]
        assert packs == [("sweep", 7), ("sweep", most)]
    assert next_search(job, facts(10**6, 100, 10), 2, COSTS, 1) == ("alternate", 1)
    assert next_search(job, facts(3, 0, 10), 2, COSTS, 1) == ("far", 1)


def test_long_graphs_are_searched_one_by_one_first():
    assert chosen(JOB, facts(10**6, 100, 2000), 2) == "a"  # a sweep of hardly any sharing
    # Where results cost more than sweeps do, single searches come first all the same.
    there = replace(JOB, device="gpu")
    now = [facts(10**6, n, 2000) for n in (8, 499, 500)]
    assert [chosen(there, each, 1) for each in now] == ["a", "a", "s256"]


def test_whether_an_as_is_answered_by_exact_searches():
    n_nodes, n_arcs = 6_800_000, 27_200_000
    for n_arcs, n in ((11_700_000, 4), (11_800_000, 6)):  # 82 ms: 8 ns a node, and the task
        assert window(10**7, n_arcs, 64, COSTS, "cpu") == n
    slow = replace(DEFAULTS, cpu=replace(DEFAULTS.cpu, search_arc_s=1e-6))
    assert [by_exact_search(n_nodes, n_arcs, n, slow) for n in (1, 3, 4)] == [False, False, True]
    assert by_exact_search(10, 20, 1, pack=1)
    assert not by_exact_search(10_000, 40_000, 64)
    assert not by_exact_search(n_nodes, n_arcs, 8, device="gpu")


def test_other_thresholds_cut_otherwise():
    sizes = np.full(100, 10**5)
    given = (np.arange(100), np.arange(100), sizes, 4 * sizes, [str(i) for i in range(100)])
    small = replace(THRESHOLDS, shard_arcs_cpu=2 * 4 * 10**5)
    for thresholds, most in ((THRESHOLDS, 10), (small, 2)):
        widths = plan_widths(
            "widths", ("diameter",), *given, n_workers=1, costs=COSTS, thresholds=thresholds
        )
        sources = np.arange(101), np.zeros(100, np.int32)
        packs = plan(*given, *sources, n_workers=1, costs=COSTS, thresholds=thresholds)
        for tasks in (widths, packs):
            assert max(len(tasks.task(i).rows) for i in range(tasks.n_tasks)) <= most
    assert n_searches("effective", ("effective_diameter",), sizes[:1]) > 1000
    few = replace(THRESHOLDS, max_exact=10, n_sources=64)
    assert n_searches("effective", ("effective_diameter",), sizes[:1], few) == 4


def test_other_thresholds_plan_otherwise():
    slow = replace(DEFAULTS, cpu=replace(DEFAULTS.cpu, search_arc_s=1e-6))
    sizes = (6_800_000, 27_200_000)
    two = replace(THRESHOLDS, min_workers=2)
    assert by_exact_search(*sizes, 2, slow, thresholds=two)
    assert not by_exact_search(*sizes, 2, slow)
    wide = replace(THRESHOLDS, thread_window=5, many_window=70)
    assert window(*sizes, 64, slow, "cpu", wide) == 5 * 64
    assert [has_room(n, 10**6, 4, wide) for n in (19, 20)] == [True, False]
    assert [has_room(n, 10**3, 4, wide) for n in (69, 70)] == [True, False]
    at_once = replace(THRESHOLDS, steps=replace(CLUSTER, n_first=0, hops_each=100))
    now = facts(10**6, 0, 10)
    assert next_search(JOB, now, 2, COSTS)[0] == "alternate"
    assert next_search(JOB, now, 2, COSTS, thresholds=at_once) == ("sweep", 512)


def test_more_tasks_of_small_ases_are_in_flight():
    assert [has_room(n, 10**6, 4) for n in (7, 8)] == [True, False]
    assert [has_room(n, 10**3, 4) for n in (63, 64)] == [True, False]
    assert has_room(199, 10**3, 100)


def test_no_more_is_in_flight_than_the_client_can_merge():
    assert window(10**6, 4 * 10**6, 1, DEFAULTS, "cpu") == 2
    assert window(10**6, 4 * 10**6, 64, DEFAULTS, "gpu") == 4
    slow = replace(DEFAULTS, cpu=replace(DEFAULTS.cpu, search_arc_s=1e-6))
    assert window(10**6, 4 * 10**6, 64, slow, "cpu") == 128


@pytest.mark.parametrize(("kind", "n_sources"), [("candidate", 1), ("candidate", 64)])
def test_the_estimate_of_a_task_grows_with_its_searches(kind, n_sources):
    task = ExactTask(kind, JOB, np.arange(n_sources, dtype=np.int32), "cpu")
    assert task_s(task, COSTS) == pytest.approx(n_sources * (20e-6 + 7e-9 * JOB.n_arcs))


def test_components_trees_and_certificates_count_in_the_deadline_of_a_task():
    """An opening takes as long as twenty searches, a path and its certificate as six."""
    deadlines = Deadlines(Limits())
    job = replace(JOB, n_nodes=10**8, n_arcs=4 * 10**8)
    for kind, n_own, n_alike in (("opening", 0, 20), ("path", 1, 6)):
        task, other = (
            ExactTask(name, job, np.arange(n, dtype=np.int32), "cpu")
            for name, n in ((kind, n_own), ("candidate", n_alike))
        )
        allowed_s = deadlines.task(task_s(task, COSTS))
        assert allowed_s == deadlines.task(task_s(other, COSTS)) > Limits.least_s
