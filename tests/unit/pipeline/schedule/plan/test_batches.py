from dataclasses import replace

import numpy as np
import pytest
from dask.utils import key_split
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.multi_source.cpu import sizes
from pipeline.schedule.plan.batches import plan, smaller, task_name
from pipeline.schedule.plan.costs import DEFAULTS, LANES, Cost, Costs
from pipeline.schedule.thresholds import THRESHOLDS
from tests.soak import examples


def plan_of(sizes, n_workers=2, hashes=None, **options):
    """Plan of ASes 100, 101, ... with (routers, arcs, ingresses) each."""
    n_nodes, n_arcs, n_sources = np.array(sizes, np.int64).reshape(-1, 3).T
    n = len(n_nodes)
    source_ptr = np.append(0, np.cumsum(n_sources)).astype(np.int64)
    sources = [np.arange(k, dtype=np.int32) for k in n_sources.tolist()]
    return plan(
        np.arange(n),
        np.arange(n) + 100,
        n_nodes,
        n_arcs,
        hashes or [f"hash{i}" for i in range(n)],
        source_ptr,
        np.concatenate([np.empty(0, np.int32), *sources]),
        n_workers=n_workers,
        **options,
    )


def searched(tasks):
    """Every (row, source) that the tasks search, once for each time."""
    return [
        (int(row), int(source))
        for task in tasks
        for i, row in enumerate(task.rows)
        for source in task.sources[task.source_ptr[i] : task.source_ptr[i + 1]]
    ]


SMALL, MIDDLE, LARGE = (50, 200, 4), (100_000, 400_000, 100), (1_000_000, 4_000_000, 100)


@pytest.mark.parametrize(
    ("sizes", "options", "kinds"),
    [
        # One search of a million routers takes longer than the task around it,
        ([LARGE], {"n_workers": 16}, {"search": 100}),
        ([(1_000_000, 4_000_000, 4)], {}, {"search": 4}),
        # but two workers finish a hundred of them much sooner by sweeps.
        ([LARGE], {}, {"pack": 2}),
        ([LARGE] * 16, {"n_workers": 16}, {"pack": 16}),
        # One of a hundred thousand does not: enough tasks to keep both workers busy.
        ([MIDDLE], {}, {"pack": 2}),
        ([MIDDLE], {"n_workers": 1}, {"pack": 1}),
        # Hundreds of sources are several sweeps.
        ([(100_000, 400_000, 500)], {"n_workers": 1}, {"pack": 4}),
        ([SMALL] * 100, {}, {"shard": 1}),
        # Beyond that they make several, each worth a task.
        ([SMALL] * 1000, {}, {"shard": 6}),
        ([SMALL, LARGE, SMALL], {"n_workers": 16}, {"shard": 1, "search": 100}),
        ([SMALL], {}, {"pack": 1}),
        ([(1, 0, 1)], {}, {"search": 1}),
        ([SMALL, MIDDLE], {"pack": 1}, {"search": 104}),
        ([SMALL, MIDDLE], {"pack": 7}, {"pack": 16}),
        # A GPU is so fast that searches of a million routers are packed too.
        ([LARGE], {"devices": ("gpu",)}, {"pack": 1}),
        ([(50, 200, 0), (60, 240, 0)], {}, {}),
        ([], {}, {}),
    ],
)
def test_which_graphs_share_a_task(sizes, options, kinds):
    tasks = list(plan_of(sizes, **options))
    found = [task.kind for task in tasks]
    assert {kind: found.count(kind) for kind in set(found)} == kinds


# A search takes a core 1 us per arc, the GPU 1 ms; a sweep 10 us and 2 ms; the transfer is free.
PLANTED = Costs(
    cpu=Cost(search_s=0, search_arc_s=1e-6, sweep_s=0, sweep_arc_s=10e-6),
    gpu=Cost(search_s=1e-3, search_arc_s=0, sweep_s=2e-3, sweep_arc_s=0),
    transfer_byte_s=0,
    task_s=1e-3,
    source="planted",
)
# ... and here it takes 50 ms per million arcs: 200,000 bytes of nodes, 4 million of arcs.
DEAR_WAY = replace(PLANTED, transfer_byte_s=50e-3 / 4.2e6)


@pytest.mark.parametrize(
    ("n_arcs", "n_sources", "pack", "costs", "device"),
    [
        (999, 1, None, PLANTED, "cpu"),
        (1001, 1, None, PLANTED, "gpu"),
        # Ten searches cost a core 10 us per arc, like a sweep; the GPU sweeps in 2 ms.
        (199, 10, None, PLANTED, "cpu"),
        (201, 10, None, PLANTED, "gpu"),
        # A hundred are one sweep on both; one by one the crossing is that of one search.
        (199, 100, None, PLANTED, "cpu"),
        (201, 100, None, PLANTED, "gpu"),
        (999, 100, 1, PLANTED, "cpu"),
        (1001, 100, 1, PLANTED, "gpu"),
        # 200 are two sweeps on either device.
        (199, 200, None, PLANTED, "cpu"),
        (201, 200, None, PLANTED, "gpu"),
        # The transfer costs 50 ns per arc: negligible for many searches, a twentieth for one.
        (1051, 1, None, DEAR_WAY, "cpu"),
        (1055, 1, None, DEAR_WAY, "gpu"),
        (1005, 100, 1, DEAR_WAY, "gpu"),
    ],
)
def test_a_task_goes_where_it_ends_sooner_the_way_there_included(
    n_arcs, n_sources, pack, costs, device
):
    sizes = [(n_arcs // 40, n_arcs, n_sources)]
    tasks = list(plan_of(sizes, devices=("cpu", "gpu"), pack=pack, costs=costs))
    assert {task.device for task in tasks} == {device}


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("n_nodes", [10, 1_000_000])
def test_the_requested_device_is_used(device, n_nodes):
    tasks = list(plan_of([(n_nodes, 4 * n_nodes, 3)], devices=(device,)))
    assert {task.device for task in tasks} == {device}


@pytest.mark.parametrize(
    ("sizes", "task_s", "kinds"),
    [
        # Searches of 4 ms, a sweep of 40 ms: worth a task each where a task costs 1 ms,
        ([(1000, 4000, 8)], 1e-3, {"search": 8}),
        # but not where it costs 5 ms.
        ([(1000, 4000, 8)], 5e-3, {"pack": 1}),
        # Six ASes of 2 ms make tasks of their own, or share one.
        ([(50, 200, 20)] * 6, 1e-3, {"pack": 6}),
        ([(50, 200, 20)] * 6, 5e-3, {"shard": 3}),
    ],
)
def test_the_cost_of_a_task_decides_what_shares_one(sizes, task_s, kinds):
    costs = replace(PLANTED, task_s=task_s)
    found = [task.kind for task in plan_of(sizes, costs=costs)]
    assert {kind: found.count(kind) for kind in set(found)} == kinds


@pytest.mark.parametrize(
    ("n_ases", "device"),
    # A sweep over the shard takes the GPU 2 ms; a core 10 us per arc, and 64 more arcs per AS.
    [(2, "cpu"), (3, "gpu")],
)
def test_a_shard_goes_to_the_gpu_from_where_it_wins(n_ases, device):
    (task,) = plan_of(
        [(5, 20, 100)] * n_ases,
        n_workers=1,
        devices=("cpu", "gpu"),
        costs=replace(PLANTED, task_s=1.0),
    )
    assert (task.kind, task.device) == ("shard", device)


def test_small_ases_together_are_worth_a_gpu():
    tasks = list(plan_of([SMALL] * 200, devices=("cpu", "gpu")))
    assert [(task.kind, task.device) for task in tasks] == [("shard", "gpu")]


sizes_of_ases = st.lists(
    st.tuples(st.integers(1, 10**7), st.integers(0, 4 * 10**7), st.integers(0, 300)), max_size=12
)


@settings(max_examples=examples(150), deadline=None)
@given(
    sizes=sizes_of_ases,
    n_workers=st.integers(1, 9),
    pack=st.sampled_from([None, None, 1, 7, 200]),
    devices=st.sampled_from([("cpu",), ("gpu",), ("cpu", "gpu")]),
    data=st.data(),
)
def test_every_search_is_in_one_task_and_the_largest_come_first(
    sizes, n_workers, pack, devices, data
):
    hashes = [f"hash{data.draw(st.integers(0, i))}" for i in range(len(sizes))]
    # One hash is one graph: equal sizes except the ingresses.
    first = {h: sizes[hashes.index(h)] for h in hashes}
    sizes = [(*first[h][:2], size[2]) for h, size in zip(hashes, sizes, strict=True)]
    made = plan_of(sizes, n_workers, hashes, pack=pack, devices=devices)
    tasks = list(made)
    wanted = {
        (hashes.index(h), source)
        for h, size in zip(hashes, sizes, strict=True)
        for source in range(size[2])
    }
    found = searched(tasks)
    assert len(found) == len(set(found)) == made.n_sources
    assert set(found) == wanted
    assert made.owner.tolist() == [hashes.index(h) for h in hashes]
    assert (np.diff(made.cost_s) <= 0).all()
    for task in tasks:
        assert (np.diff(task.rows) > 0).all()
        assert task.source_ptr[0] == 0
        assert task.source_ptr[-1] == task.n_sources > 0
        most = max(LANES, *(THRESHOLDS.shard_sources(device == "gpu") for device in devices))
        assert task.n_sources <= (pack or most)
        assert (task.kind == "search") == (task.n_sources == 1)
        assert (task.kind == "shard") == (len(task.rows) > 1)
        assert task.device in devices
        n_arcs = sum(sizes[row][1] for row in task.rows)
        most = max(int(THRESHOLDS.shard_arcs(device == "gpu")) for device in devices)
        assert task.kind != "shard" or n_arcs <= 2 * most
        alone = [
            sum(h == hashes[row] and size[2] > 0 for h, size in zip(hashes, sizes, strict=True))
            == 1
            for row in task.rows
        ]
        complete = task.n_sources == sum(
            max(size[2] for h, size in zip(hashes, sizes, strict=True) if h == hashes[row])
            for row in task.rows
        )
        assert task.whole == (all(alone) and complete)


def test_on_a_gpu_large_ases_share_sweeps_with_ases_of_similar_size():
    few, many = (50_000, 200_000, 100), (300_000, 1_200_000, 500)
    huge = (6_000_000, 24_000_000, 900)
    sizes = [few] * 300 + [many] * 40 + [huge]
    tasks = list(plan_of(sizes, n_workers=1, devices=("cpu", "gpu")))
    assert {task.device for task in tasks} == {"gpu"}
    # The largest is worth its own task; its eight sweeps are too short for one each.
    assert [(len(task.rows), task.n_sources) for task in tasks if 340 in task.rows] == [(1, 900)]
    shared = [task for task in tasks if 340 not in task.rows]
    assert len(shared) < 10
    for task in shared:
        assert len(set(np.diff(task.source_ptr).tolist())) == 1
    # Cores gain nothing from it: there each is searched alone.
    assert {task.kind for task in plan_of(sizes, n_workers=1)} == {"pack"}


def test_sharing_a_graph_searches_the_union_of_sources():
    tasks = plan(
        np.array([3, 8]),
        np.array([10, 20]),
        np.array([6, 6]),
        np.array([10, 10]),
        ["same", "same"],
        np.array([0, 2, 4]),
        np.array([4, 0, 4, 5], np.int32),
        n_workers=1,
    )
    assert searched(tasks) == [(3, 0), (3, 4), (3, 5)]
    assert tasks.owner.tolist() == [3, 3]
    assert (tasks.n_units, tasks.unit) == (3, "searches")  # of four ingresses: not called these
    assert not tasks.task(0).whole


def test_thousands_of_small_ases_make_few_tasks_that_balance():
    rng = np.random.default_rng(1)
    n_nodes = (rng.pareto(1, 47_000) * 3 + 1).astype(int).clip(1, 3000)
    made = plan_of(list(zip(n_nodes, 3 * n_nodes, rng.integers(0, 6, 47_000), strict=True)), 4)
    assert 4 <= made.n_tasks <= 400
    assert made.cost_s.max() < 0.3  # seconds: no task holds the end of a run up


@pytest.mark.parametrize("sizes", [[SMALL] * 5, [MIDDLE]])
def test_smaller_tasks_search_the_same(sizes):
    (task, *_) = list(plan_of(sizes, n_workers=1))
    todo, leaves = [task], []
    while todo:
        halves = smaller(todo[0])
        (todo if halves else leaves).extend(halves or [todo[0]])
        todo.pop(0)
    assert sorted(searched(leaves)) == sorted(searched([task]))
    assert {leaf.kind for leaf in leaves} == {"search"}


@pytest.mark.parametrize(
    ("sizes", "halves"), [([SMALL] * 7, [12, 16]), ([(100_000, 400_000, 101)], [50, 51])]
)
def test_a_task_is_halved_not_cut_at_its_end(sizes, halves):
    """A task that is too large for memory fits after few attempts."""
    (task,) = plan_of(sizes, n_workers=1)
    assert [half.n_sources for half in smaller(task)] == halves


def test_the_smallest_task_falls_back_to_the_cpu_once():
    (task,) = list(plan_of([(10, 20, 1)], devices=("gpu",)))
    assert smaller(task) == []
    (on_cpu,) = smaller(task, fall_back=True)
    assert on_cpu.device == "cpu"
    assert smaller(on_cpu, fall_back=True) == []


@pytest.mark.parametrize(
    ("kind", "asns", "name"),
    [
        ("search", [3356], "bfs_AS3356"),
        ("pack", [3356], "msbfs_AS3356"),
        ("shard", [1, 7, 99], "shard_AS1_AS99"),
    ],
)
def test_dask_shows_names_whole(kind, asns, name):
    assert task_name(kind, np.array(asns)) == name
    assert key_split((f"{name}-0ab12cdef", 3, 1)) == name
    assert key_split((f"{name}-0", 3, 1)) == name


def test_a_search_is_worth_a_task_near_seventy_thousand_routers_on_a_core():
    search = DEFAULTS.cpu.search
    assert search(4 * 50_000) < DEFAULTS.task_s < search(4 * 100_000)


def test_plans_and_sweeps_agree_on_the_lanes_of_one():
    assert LANES == sizes.LANES
