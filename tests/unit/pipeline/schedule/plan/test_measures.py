"""Which graphs share a task: every AS is answered once, whatever their sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.distance_distribution import MAX_EXACT, N_SOURCES
from pipeline.metrics import WIDTH_METRICS
from pipeline.schedule.plan.costs import LANES
from pipeline.schedule.plan.measures import n_searches, plan_widths
from pipeline.schedule.plan.stream import Stream
from pipeline.schedule.thresholds import THRESHOLDS
from tests.soak import examples
from tests.unit.pipeline.schedule.plan.test_steps import COSTS

DEVICES = st.sampled_from([("cpu",), ("gpu",), ("cpu", "gpu")])
SIZES = st.lists(st.integers(1, 10**7), max_size=40)


def planned(sizes, hashes=None, kind="widths", metrics=("diameter",), **options):
    n_nodes = np.array(sizes, np.int64)
    rows = 3 * np.arange(len(sizes)) + 1
    hashes = hashes or [str(i) for i in range(len(sizes))]
    options = {"n_workers": 2} | options
    return rows, plan_widths(
        kind, metrics, rows, rows + 100, n_nodes, 4 * n_nodes, hashes, **options
    )


@settings(max_examples=examples(200), deadline=None)
@given(
    sizes=SIZES,
    shared=st.integers(1, 5),
    kind=st.sampled_from(["widths", "weighted", "effective"]),
    metrics=st.lists(st.sampled_from(WIDTH_METRICS), min_size=1, unique=True),
    n_workers=st.integers(1, 9),
    devices=DEVICES,
    pack=st.sampled_from([None, 1, 64]),
    verify=st.booleans(),
)
def test_every_graph_is_in_one_task_or_job(
    sizes, shared, kind, metrics, n_workers, devices, pack, verify
):
    hashes = [str(min(i % shared, size)) for i, size in enumerate(sizes)]
    sizes = [sizes[hashes.index(h)] for h in hashes]  # equal hash, equal size
    options = {"n_workers": n_workers, "devices": devices, "pack": pack, "verify": verify}
    rows, plan = planned(sizes, hashes, kind, tuple(metrics), **options)
    tasks = [plan.task(i) for i in range(plan.n_tasks)]
    answered = [row for task in tasks for row in task.rows.tolist()]
    answered += [job.row for job in plan.jobs]
    assert len(answered) == len(set(answered))
    assert set(answered) == set(plan.owner.tolist())
    by_row = dict(zip(rows.tolist(), hashes, strict=True))
    if kind == "weighted":
        assert plan.owner.tolist() == rows.tolist()
    else:
        assert len(answered) == len(set(hashes))
        assert [by_row[owner] for owner in plan.owner.tolist()] == hashes
    arcs = dict(zip(rows.tolist(), (4 * size for size in sizes), strict=True))
    for task in tasks:
        assert task.rows.tolist() == sorted(task.rows.tolist())
        assert task.device in devices
        in_all = sum(arcs[row] for row in task.rows.tolist())
        assert len(task.rows) == 1 or in_all <= 2 * THRESHOLDS.shard_arcs(task.device == "gpu")
    assert (np.diff(plan.cost_s) <= 0).all()
    assert not (plan.jobs and (verify or kind != "widths"))
    assert not (tasks and pack is not None and kind == "widths" and not verify)


def test_small_ases_share_a_task_and_large_ones_have_their_own():
    sizes = [100] * 2000 + [2_000_000] + [50] * 1000
    rows, plan = planned(sizes, metrics=("eccentricities",))
    tasks = [plan.task(i) for i in range(plan.n_tasks)]
    assert tasks[0].rows.tolist() == [rows[2000]]
    assert tasks[0].name == f"widths_AS{rows[2000] + 100}"
    assert 2 <= len(tasks) <= 200
    assert all(len(task.rows) > 1 for task in tasks[1:])
    assert tasks[1].name.count("_AS") == 2


def test_dense_graphs_are_answered_by_exact_searches_where_workers_are_many():
    sizes = np.array([5_000_000])
    given = (np.array([1]), np.array([9]), sizes, 40 * sizes, ["h"])
    alone = plan_widths("widths", ("diameter",), *given, n_workers=1)
    assert (alone.n_tasks, alone.jobs) == (1, ())
    shared = plan_widths("widths", ("diameter",), *given, n_workers=4, snapshot="there")
    assert shared.n_tasks == 0
    assert [(job.row, job.asn, job.n_nodes, job.snapshot) for job in shared.jobs] == [
        (1, 9, 5_000_000, "there")
    ]


@pytest.mark.parametrize("n_ases", [0, 1])
def test_almost_no_ases(n_ases):
    _, plan = planned([5] * n_ases)
    assert plan.n_tasks == plan.n_units == n_ases


def test_a_stream_takes_the_largest_of_all_plans_first():
    _, first = planned([10, 3_000_000], metrics=("eccentricities",))
    _, second = planned([1_000_000], kind="weighted")
    _, third = planned([], kind="effective")
    stream = Stream([first, second, third])
    tasks = list(stream)
    costs = np.concatenate([first.cost_s, second.cost_s])
    assert stream.longest_s == costs.max()
    order = np.argsort(-costs, kind="stable")
    both = [first.task(i) for i in range(first.n_tasks)] + [second.task(0)]
    assert [task.name for task in tasks] == [both[i].name for i in order]
    assert (stream.n_tasks, stream.n_units, stream.unit) == (3, 3, "widths")
    assert [task.name for task in stream.on("cpu")] == [task.name for task in tasks]
    assert list(stream.on("gpu")) == []
    assert list(Stream([])) == []


def test_a_search_by_weight_is_begun_before_one_by_hops_of_a_graph_ten_times_as_large():
    for n_nodes, is_first in ((990_000, False), (1_010_000, True)):
        _, by_hops = planned([10_000_000], costs=COSTS)
        _, by_weight = planned([n_nodes], kind="weighted", costs=COSTS)
        first, _ = Stream([by_hops, by_weight])
        assert (first.kind == "weighted") == is_first


def test_small_ases_are_measured_on_a_gpu_once_their_gain_pays_for_its_launches():
    """One of ten routers takes 0.2 ms less there; a shard of any number takes 40 launches."""
    for n_ases, device in ((28, "cpu"), (29, "gpu")):
        _, plan = planned([10] * n_ases, devices=("cpu", "gpu"), costs=COSTS)
        assert {plan.task(i).device for i in range(plan.n_tasks)} == {device}


def test_an_effective_diameter_costs_the_sources_that_its_kernel_takes():
    sizes = np.array([1, LANES, LANES + 1, MAX_EXACT, MAX_EXACT + 1, 10**9])
    sources = np.array([1, LANES, LANES + 1, MAX_EXACT, N_SOURCES, N_SOURCES])
    searches = n_searches("effective", ("effective_diameter",), sizes)
    np.testing.assert_array_equal(searches, 4 * np.ceil(sources / LANES))
