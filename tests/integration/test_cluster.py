"""The whole measurement on real worker processes, against SciPy."""

import contextlib
import os
import signal
import threading
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from distributed import get_worker

from kernels._cpu.threads import n_cores, n_threads
from pipeline.errors import PipelineError, UsageError
from pipeline.schedule import planning
from pipeline.schedule.cluster.open import open_cluster
from pipeline.schedule.run import measure
from pipeline.schedule.thresholds import THRESHOLDS
from pipeline.schedule.transport.drive import drive
from pipeline.schedule.transport.flight import Flight
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.remote.attempt import refuse_here
from pipeline.schedule.work.errors import errors_of, is_lost
from tests.integration.measured import (
    LARGE,
    config_for,
    credentials_of,
    expected,
    measured,
)
from tests.oracles.paths import bfs_levels

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def there(own_cluster, snapshot, tmp_path):
    """Options for a run on the existing cluster."""
    with credentials_of(own_cluster):
        yield lambda **options: config_for(
            snapshot, tmp_path, scheduler=own_cluster.address, **options
        )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pack": 1},
        {"pack": 7},
        {"schedule": "barrier"},
        {"schedule": "striding", "pack": 20},
        {"verify": True, "pack": 64},
    ],
    ids=str,
)
def test_every_pack_and_schedule_agrees_with_scipy(snapshot, wanted, there, options):
    measurement = measure(snapshot, there(**options))
    assert measurement.failed == {}
    assert measured(snapshot, measurement) == wanted


def test_auto_sends_small_ases_together_and_says_what_ran_where(snapshot, own_cluster, there):
    reported = []
    measurement = measure(snapshot, there(), reported.append)
    tasks = measurement.tasks
    assert "shard" in tasks["kind"]
    n_sources = sum(tasks["n_sources"])
    # AS10 and AS20 have one graph: 0, 2 and 5 are searched once.
    assert n_sources == len(measurement.results.source) - 1
    assert [reported[-1].done, reported[-1].total] == [n_sources, n_sources]
    assert [progress.stage for progress in reported[:2]] == ["connect", "search"]
    assert set(tasks["worker"]) <= set(own_cluster.facts)
    assert set(tasks["status"]) == {"ok"}
    searched = {asn for asns in tasks["asns"] for asn in asns.tolist()}
    assert searched == {10, 30, 40, 50, LARGE, 80}
    row_60 = snapshot.row_of(60)
    assert measurement.n_tasks[row_60] == 0
    assert measurement.device[row_60] == ""
    assert np.isnan(measurement.wall_s[row_60])
    shares = measurement.busy_share
    assert set(shares) == set(own_cluster.facts)
    assert all(0 <= share <= 1 for share in shares.values())
    assert measurement.cluster["n_workers"] == 2
    assert measurement.cluster["dashboard"].startswith("http://127.0.0.1:")


def test_workers_share_the_cores(own_cluster):
    each = own_cluster.client.run(n_threads)
    assert list(each.values()) == [max(1, n_cores() // 2)] * 2


def test_one_as_alone(snapshot, there):
    measurement = measure(snapshot, there(asns=(20,)))
    assert measured(snapshot, measurement) == expected(snapshot, (20,))
    assert measurement.rows.tolist() == [1]


@pytest.mark.parametrize("pack", [None, 40])
def test_distances_are_the_hop_matrix_of_each_as(snapshot, there, pack):
    config = there(distances=True, pack=pack)
    measurement = measure(snapshot, config)
    assert measurement.failed == {}
    folder = Path(measurement.distances_dir)
    assert folder.parents[1] == config.out.resolve()
    assert not (config.out / snapshot.name).exists()  # nothing is published before the report
    ases = {asn for asn, *_ in expected(snapshot)}
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{a}.parquet" for a in ases)
    for asn in ases:
        row = snapshot.row_of(asn)
        first, last = np.searchsorted(measurement.results.row, [row, row + 1])
        sources = measurement.results.source[first:last]
        table = pq.read_table(folder / f"{asn}.parquet")
        n_nodes = int(snapshot.n_nodes[row])
        assert table["ingress"].to_pylist() == np.repeat(sources, n_nodes).tolist()
        assert table["node"].to_pylist() == list(range(n_nodes)) * len(sources)
        hops = np.array(table["hops"].fill_null(-1)).reshape(len(sources), n_nodes)
        np.testing.assert_array_equal(hops, bfs_levels(snapshot.graph(row), sources))


def test_a_worker_killed_in_the_middle_costs_nothing_but_time_and_is_reported(
    snapshot, own_cluster, wanted, there, caplog
):
    caplog.set_level("WARNING")  # Dask may have silenced pytest's handler with its own
    started = time.time()
    pids = list(own_cluster.client.run(os.getpid).values())

    def kill_one(progress):
        if progress.done > 20 and pids:
            os.kill(pids.pop(0), signal.SIGKILL)
            pids.clear()

    measurement = measure(snapshot, there(pack=1), kill_one)
    assert pids == []
    assert measurement.failed == {}
    assert measured(snapshot, measurement) == wanted
    (lost,) = measurement.cluster["lost_workers"]
    assert lost["worker"] in own_cluster.facts
    assert started <= lost["at"] <= time.time()
    own_cluster.client.wait_for_workers(2, timeout=180)  # on the loop that logs the loss
    assert f"worker {lost['worker']} was lost" in caplog.text


def test_two_runs_at_once_on_one_scheduler(snapshot, wanted, there):
    found = {}

    def run(pack):
        found[pack] = measured(snapshot, measure(snapshot, there(pack=pack)))

    threads = [threading.Thread(target=run, args=(pack,)) for pack in (5, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=240)
    assert found == {5: wanted, 6: wanted}


def test_an_as_that_cannot_be_read_fails_and_the_rest_is_done(snapshot, there, monkeypatch):
    def with_a_wrong_source(*args, **options):
        made = plan_of(*args, **options)
        made.sources[-1] = 10**6  # of AS80, the last graph
        return made

    plan_of = planning.plan
    monkeypatch.setattr(planning, "plan", with_a_wrong_source)
    measurement = measure(snapshot, there(pack=50))
    row = snapshot.row_of(80)
    assert list(measurement.failed) == [row]
    assert "source 1000000" in measurement.failed[row]
    assert measurement.tasks["status"].count("failed") == 1
    good = [line for line in expected(snapshot) if line[0] != 80]
    assert [line for line in measured(snapshot, measurement) if line[0] != 80] == good


def die(task):
    if task == 3:
        os._exit(1)
    return task


def test_a_task_that_kills_its_worker_fails_alone(own_cluster):
    tasks = iter(range(6))
    limits = Limits(poll_s=0.5, lost_s=120)
    outcomes = drive(
        own_cluster.client,
        die,
        lambda: next(tasks, None),
        name="poison",
        limits=limits,
    )
    by_task = {outcome.task: outcome for outcome in outcomes}
    assert sorted(by_task) == list(range(6))
    assert isinstance(by_task[3].error, PipelineError)
    assert "poison: the workers that ran it died" in str(by_task[3].error)
    assert [by_task[task].result for task in (0, 1, 2, 4, 5)] == [0, 1, 2, 4, 5]
    own_cluster.client.wait_for_workers(2, timeout=180)


def test_tasks_that_never_end_fail_alone_and_their_workers_are_replaced(own_cluster):
    """Both workers are held forever; tasks that only waited there run on their replacements."""
    held, short = [1000, 1001], [i / 1000 for i in range(12)]
    tasks = iter(held + short)
    own_cluster.client.run(refuse_here, [])  # imports what tasks need
    pids = set(own_cluster.client.run(os.getpid).values())
    n_lost = len(own_cluster.losses.reported())

    limits = Limits(poll_s=0.2, task_s=3)

    def next_task():
        if len(own_cluster.losses.reported()) > n_lost:  # replacements may take a while to import
            object.__setattr__(limits, "task_s", 600.0)
        return next(tasks, None)

    # A name each: Dask hands out tasks at once that are in no group.
    outcomes = drive(
        own_cluster.client,
        time.sleep,
        next_task,
        name=lambda task: f"long_{task}",
        limits=limits,
    )
    by_task = {outcome.task: outcome for outcome in outcomes}
    errors = {task: str(outcome.error) for task, outcome in by_task.items() if outcome.error}
    assert sorted(errors) == held
    assert all("no answer from worker tls://127.0.0.1:" in text for text in errors.values())
    assert sorted(by_task) == sorted(held + short)
    own_cluster.client.wait_for_workers(2, timeout=180)
    assert pids.isdisjoint(own_cluster.client.run(os.getpid).values())


@pytest.mark.parametrize("options", [{}, {"pack": 1}], ids=str)
def test_every_task_of_a_run_has_an_estimate(snapshot, there, monkeypatch, options):
    estimates = defaultdict(list)

    def submit(self, task, **how):
        estimates[task.kind].append(self.cost(task))
        return given(self, task, **how)

    given = Flight.submit
    monkeypatch.setattr(Flight, "submit", submit)
    measurement = measure(snapshot, there(metrics=("hops", "diameter"), **options))
    assert measurement.failed == {}
    kinds = {"opening", "candidate", "search"} if options else {"widths", "shard"}
    assert kinds <= estimates.keys()
    assert all(0 < cost_s < 1 for found in estimates.values() for cost_s in found)


def square(task):
    """Of 50 ms; one of them stops its worker, the first time."""
    number, marker = task
    time.sleep(0.05)
    if marker and not os.path.exists(marker):
        Path(marker).write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGSTOP)
    return number * number


def hang_once(task):
    """Of 50 ms; one of them hangs, the first time."""
    number, marker = task
    time.sleep(0.05)
    if marker and not os.path.exists(marker):
        Path(marker).write_text(str(os.getpid()))
        time.sleep(1000)
    return number * number


@pytest.mark.parametrize(
    ("run", "reason"), [(square, "does not respond"), (hang_once, "no answer from worker tls")]
)
def test_a_worker_that_hangs_in_a_small_task_is_replaced_soon(own_cluster, tmp_path, run, reason):
    """The estimate of 50 ms decides, not the hour that any task may take."""
    marker = str(tmp_path / "hung")
    tasks = iter([(i, marker if i == 7 else "") for i in range(40)])
    own_cluster.client.wait_for_workers(2, timeout=180)
    own_cluster.client.run(refuse_here, [])  # imports what tasks need
    limits = Limits(poll_s=0.2, least_s=4, first_s=4)
    given = {"name": lambda task: f"square_{task[0]}", "limits": limits, "cost": lambda task: 0.05}
    outcomes = list(drive(own_cluster.client, run, lambda: next(tasks, None), **given))
    results = sorted((outcome.task[0], outcome.result) for outcome in outcomes)
    assert results == [(i, i * i) for i in range(40)]
    failed = {str(attempt.error) for outcome in outcomes for attempt in outcome.failed}
    found = [text for text in failed if text.startswith("square_7: ")]
    # On a busy machine the deadline of an answer may pass first.
    assert any(reason in text or "no answer from worker" in text for text in found), failed
    own_cluster.client.wait_for_workers(2, timeout=180)
    assert int(Path(marker).read_text()) not in own_cluster.client.run(os.getpid).values()


def pause_once(task):
    """Of 50 ms; one of them makes its worker one that has too little memory, as Dask sees it."""
    number, marker = task
    time.sleep(0.05)
    if marker and not os.path.exists(marker):
        Path(marker).write_text(str(os.getpid()))
        worker = get_worker()
        worker.memory_manager.memory_pause_fraction = 1e-9
        while worker.status.name == "running":  # it looks at its memory every 0.2 s
            time.sleep(0.01)
    return number * number


async def _steal(on, dask_scheduler):
    stealing = dask_scheduler.extensions["stealing"]
    await (stealing.start() if on else stealing.stop())


@pytest.fixture
def no_stealing(own_cluster):
    """Tasks that wait at a worker stay there: Dask may move some of them, or all in time."""
    own_cluster.client.run_on_scheduler(_steal, False)
    yield
    own_cluster.client.run_on_scheduler(_steal, True)


@pytest.mark.usefixtures("no_stealing")
def test_a_worker_that_is_paused_for_good_is_replaced_and_its_tasks_run(own_cluster, tmp_path):
    """Dask would leave those that wait there until it has memory again."""
    marker = str(tmp_path / "paused")
    tasks = iter([(i, marker if i == 7 else "") for i in range(60)])
    own_cluster.client.wait_for_workers(2, timeout=180)
    own_cluster.client.run(refuse_here, [])  # imports what tasks need
    limits = Limits(poll_s=0.2, least_s=4, first_s=4, paused_s=2)
    given = {"name": lambda task: f"square_{task[0]}", "limits": limits, "cost": lambda task: 0.05}
    outcomes = list(drive(own_cluster.client, pause_once, lambda: next(tasks, None), **given))
    results = sorted((outcome.task[0], outcome.result) for outcome in outcomes)
    assert results == [(i, i * i) for i in range(60)]
    own_cluster.client.wait_for_workers(2, timeout=180)
    assert int(Path(marker).read_text()) not in own_cluster.client.run(os.getpid).values()


class CUDARuntimeError(RuntimeError):
    """As CuPy's."""


def square_on_a_gpu(task):
    """The device of one process, or of all but one, has failed."""
    number, folder, survivor = task
    mark = Path(folder) / "broken"
    pid = str(os.getpid())
    with contextlib.suppress(FileExistsError), mark.open("x") as stream:
        stream.write(pid)
    broken = pid != survivor if survivor else pid == mark.read_text()
    with errors_of(f"square_{number}", "gpu", folder):
        if broken:
            (Path(folder) / f"{pid}-{number}").touch()
            raise CUDARuntimeError("cudaErrorECCUncorrectable: uncorrectable ECC error encountered")
        time.sleep(0.02)
        return number * number


@pytest.mark.parametrize("for_good", [False, True])
def test_a_gpu_that_fails_takes_only_its_worker_out_of_service(own_cluster, tmp_path, for_good):
    """A new process may cure it, or not."""
    own_cluster.client.wait_for_workers(2, timeout=180)
    own_cluster.client.run(is_lost, ValueError())  # imports what tasks need
    pids = set(own_cluster.client.run(os.getpid).values())
    survivor = str(min(pids)) if for_good else ""
    tasks = iter([(i, str(tmp_path), survivor) for i in range(60)])
    given = {"name": lambda task: f"square_{task[0]}", "limits": Limits(poll_s=0.2)}
    outcomes = list(drive(own_cluster.client, square_on_a_gpu, lambda: next(tasks, None), **given))
    results = sorted((outcome.task[0], outcome.result) for outcome in outcomes)
    assert results == [(i, i * i) for i in range(60)]
    failures = [path.name for path in tmp_path.iterdir() if path.name != "broken"]
    assert failures
    # Those that were on their way to a worker when it failed; up to two more workers may fail.
    assert len(failures) <= THRESHOLDS.min_window * (3 if for_good else 1)
    own_cluster.client.wait_for_workers(2, timeout=180)
    left = set(own_cluster.client.run(os.getpid).values())
    assert len(pids & left) == 1
    assert not for_good or int(survivor) in left


def test_a_store_that_workers_do_not_see_is_named(own_cluster, snapshot, there, tmp_path):
    with (
        pytest.raises(UsageError, match=r"worker tls://127.0.0.1:\d+ on .* does not see .*gone"),
        open_cluster(there(), tmp_path / "gone"),
    ):
        pass


def test_workers_with_other_kernels_are_named(own_cluster, there, monkeypatch):
    ours = {"hopscope": "0.1.0", "python": "3.11", "kernels": "abc", "distributed": "x"}
    theirs = own_cluster.facts[next(iter(own_cluster.facts))]["fingerprint"]
    monkeypatch.setattr("pipeline.schedule.cluster.workers.fingerprint", lambda: theirs | ours)
    reported = pytest.raises(UsageError, match=r"^worker tls://.* has .*install the same hopscope")
    with reported, open_cluster(there()):
        pass
