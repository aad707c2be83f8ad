"""Faults, each with and without the mechanism that answers it; one run a process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import forkserver, popen_forkserver
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster, as_completed

from benchmarks.transport import tasks as on_workers
from benchmarks.transport.switches import switch_off
from pipeline.config import AnalyzeConfig
from pipeline.errors import PipelineError
from pipeline.schedule.cluster.executors import DaskExecutor
from pipeline.schedule.cluster.open import open_cluster
from pipeline.schedule.cluster.own import forking
from pipeline.schedule.cluster.own.start import start
from pipeline.schedule.transport import clock
from pipeline.schedule.transport.drive import drive, drive_striding
from pipeline.schedule.transport.here import Here
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.remote.attempt import refuse_here

LIMIT_S = 20.0  # a run that has not ended by then hangs
DEATHS_S = 60.0  # the same where workers die one after another, and start again
# A tenth of those of a run, so that each case takes seconds.
LIMITS = Limits(
    poll_s=0.2, no_worker_s=10, paused_s=3, lost_s=4, least_s=3, first_s=3,
    answer_s=1, fetch_s=3, silent_s=5,
)  # fmt: skip
# What Dask itself can be told for such faults.
SETTINGS = {
    "distributed.scheduler.worker-ttl": "5 s",
    "distributed.scheduler.no-workers-timeout": "10 s",
}
# Workers of both are forked: else those of Dask would take seconds to start again.
FORKED = {"distributed.worker.multiprocessing-method": forking.METHOD}
TASK_S = 0.05
SHORT = 1500


@dataclass
class Run:
    """One run, its marks, and what became of its tasks."""

    way: str
    folder: str
    faults: dict[int, str] = field(default_factory=dict)
    n: int = 40
    workers: int = 2
    seconds: float = TASK_S
    ended: dict[int, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    started: float = 0.0

    @property
    def tasks(self) -> list[on_workers.Task]:
        return [(i, self.folder, self.faults.get(i, ""), self.seconds) for i in range(self.n)]

    def begin(self) -> None:
        """Start the clock, and end this process if the run takes too long."""
        self.started = time.monotonic()
        dies = "die" in self.faults.values()
        late = threading.Timer(DEATHS_S if dies else LIMIT_S, self.report, (False,))
        late.daemon = True
        late.start()

    def note(self, number: int, error: object) -> None:
        self.ended[number] = "failed" if error is not None else "ok"

    def report(self, is_over: bool) -> None:
        """Print the figures as one line, and end this process with its children."""
        counts = Counter(self.ended.values())
        begun = Counter(path.name.split("-")[1] for path in Path(self.folder).glob("begun-*"))
        fatal = {i for i, fault in self.faults.items() if fault == "die"}
        row = {
            "ends": is_over,
            "wall_s": round(time.monotonic() - self.started, 1),
            "n_tasks": self.n,
            "n_done": counts["ok"],
            "n_failed": counts["failed"],
            "n_failed_without_fault": sum(
                how == "failed" and i not in fatal for i, how in self.ended.items()
            ),
            "n_lost": self.n - len(self.ended),
            "n_begun_again": sum(begun.values()) - len(begun),
            **self.more,
        }
        print("ROW", json.dumps(row), flush=True)
        os.killpg(0, signal.SIGKILL)

    @contextlib.contextmanager
    def client(self) -> Iterator[Client]:
        """Dask's own cluster or ours, with workers that have imported what tasks need."""
        with contextlib.ExitStack() as stack:
            if self.way.startswith("Dask"):
                settings = SETTINGS if self.way == "Dask, set" else {}
                stack.enter_context(dask.config.set(FORKED | settings))
                forking.start([])
                options = {"threads_per_worker": 1, "dashboard_address": None}
                cluster = stack.enter_context(LocalCluster(self.workers, **options))
                client = stack.enter_context(Client(cluster))
            else:
                client = stack.enter_context(ours(self.folder, self.workers)).client
            client.run(refuse_here, [])
            client.run(on_workers.nothing, 0)
            yield client

    def run(
        self,
        client: Client,
        schedule: Callable = drive,
        only: list[str] | None = None,
        **options: Any,
    ) -> None:
        """All tasks, by the way of this run; ``only``: workers that may run them."""
        if self.way.startswith("Dask"):
            bound_to = only or sorted(client.scheduler_info()["workers"])
            self._run_by_dask(client, bound_to if only or schedule is drive_striding else [])
            return
        options = {"name": lambda task: f"t_{task[0]}", "limits": LIMITS} | options
        given = iter(self.tasks)
        cost = {"cost": lambda task: self.seconds}
        for outcome in schedule(
            client, on_workers.run, lambda: next(given, None), **cost, **options
        ):
            self.note(outcome.task[0], outcome.error)

    def _run_by_dask(self, client: Client, bound_to: list[str]) -> None:
        options: list[dict[str, Any]] = [{}] * self.n
        if bound_to:
            options = [{"workers": [bound_to[i % len(bound_to)]]} for i in range(self.n)]
        mark = uuid.uuid4().hex  # as ours: a name a task, as runs of many ASes have
        futures = [
            client.submit(on_workers.run, task, key=(f"t_{task[0]}-{mark}", 0), retries=2, **how)
            for task, how in zip(self.tasks, options, strict=True)
        ]
        numbers = {future.key: task[0] for future, task in zip(futures, self.tasks, strict=True)}
        ended = as_completed(futures, with_results=True, raise_errors=False)
        del futures  # a result that is held would be computed again when its worker dies
        for future, result in ended:
            self.note(numbers[future.key], None if future.status == "finished" else result)


@contextlib.contextmanager
def ours(folder: str, workers: int = 2) -> Iterator[DaskExecutor]:
    path = Path(folder)
    config = AnalyzeConfig(
        store=path, out=path, device="cpu", workers=workers, dashboard="127.0.0.1:0"
    )
    with open_cluster(config) as cluster:
        yield cluster


def _faulty(faults: dict[int, str], **more: Any) -> Callable[[Run], None]:
    """A case whose tasks have faults, on a cluster of two workers."""
    options = {name: more.pop(name) for name in ("schedule",) if name in more}

    def case(run: Run) -> None:
        run.faults = faults
        for name, value in more.items():
            setattr(run, name, value)
        with run.client() as client:
            run.begin()
            run.run(client, **options)
            run.report(True)

    return case


def _only_there(run: Run) -> None:
    """As tasks for GPUs, where the only worker with one dies."""
    run.faults, run.n = {3: "die once"}, 30
    with run.client() as client:
        able = sorted(client.scheduler_info()["workers"])[:1]
        run.begin()
        run.run(client, allowed=lambda task, workers: able, only=able)
        run.report(True)


def _nobody(run: Run) -> None:
    """A scheduler whose workers are all gone."""
    run.n = 4
    with dask.config.set(SETTINGS if run.way == "Dask, set" else {}):
        cluster = LocalCluster(n_workers=0, dashboard_address=None)
    client = Client(cluster)
    run.begin()
    run.run(client)
    run.report(True)


def _everything_stopped(run: Run) -> None:
    """As by Ctrl-Z, for longer than any task may take; a task that runs then may not fail."""
    clock.MOST_GAP_S = 1.0
    run.seconds, run.n = 0.2, 60
    with run.client() as client:
        server = [forkserver._forkserver._forkserver_pid]  # type: ignore[attr-defined]
        pids = [os.getpid(), *client.run(os.getpid).values(), *server]
        before = set(client.run(os.getpid).values())
        words = " ".join(str(pid) for pid in pids if pid)
        command = f"sleep 1; kill -STOP {words}; sleep 8; kill -CONT {words}"
        subprocess.Popen(["sh", "-c", command], start_new_session=True)
        run.begin()
        run.run(client)
        client.wait_for_workers(2, timeout=60)
        run.more["n_workers_replaced"] = len(before - set(client.run(os.getpid).values()))
        run.report(True)


def _scheduler(sign: signal.Signals) -> Callable[[Run], None]:
    """A scheduler in a process of its own that is stopped or killed in the middle."""

    def case(run: Run) -> None:
        file = Path(run.folder, "scheduler.json")
        dask_cli = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        words = ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        scheduler = subprocess.Popen([*dask_cli, "--host", "127.0.0.1", *words], **quiet)
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file"]
        subprocess.Popen([*worker, str(file), "--nthreads", "1", "--no-dashboard"], **quiet)
        while not file.exists():
            time.sleep(0.1)
        client = Client(scheduler_file=str(file), timeout=20)
        client.wait_for_workers(1, timeout=20)
        client.run(refuse_here, [])
        run.begin()
        threading.Timer(1.0, scheduler.send_signal, (sign,)).start()
        run.run(client)
        run.report(True)

    return case


def _short(workers: int = 2, seconds: float = 0.0) -> Callable[[Run], None]:
    """What each of many short tasks costs."""

    def case(run: Run) -> None:
        run.n, run.workers = SHORT, workers
        with run.client() as client:
            for n in (200, SHORT):  # the first loads code
                tasks = [seconds] * n
                given = iter(tasks)
                run.begin()
                if run.way.startswith("Dask"):
                    futures = client.map(on_workers.nap, tasks, pure=False)
                    for future, _ in as_completed(futures, with_results=True):
                        del future
                else:
                    for _ in drive(client, on_workers.nap, lambda: next(given, None), name="e"):  # noqa: B023
                        pass
            wall_s = time.monotonic() - run.started
            run.ended = dict.fromkeys(range(SHORT), "ok")
            run.more["ms_a_task"] = round(1e3 * wall_s / SHORT, 2)
            run.report(True)

    return case


def _start_lost(run: Run) -> None:
    """The process that workers are forked from dies while it makes one; then a second start."""
    connect = popen_forkserver.forkserver.connect_to_new_process  # type: ignore[attr-defined]

    def connect_and_lose(fds: Any) -> Any:
        forkserver.ensure_running()
        server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
        os.kill(server, signal.SIGSTOP)
        try:
            return connect(fds)
        finally:
            os.kill(server, signal.SIGKILL)

    path = Path(run.folder)
    config = AnalyzeConfig(store=path, out=path, device="cpu", workers=2, dashboard="127.0.0.1:0")
    run.n = 2  # starts: the first fails, the second does not
    run.begin()
    popen_forkserver.forkserver.connect_to_new_process = connect_and_lose  # type: ignore[attr-defined]
    try:
        with start(config):
            pass
    except PipelineError as error:
        run.note(0, None)
        run.more["said"] = str(error)
    popen_forkserver.forkserver.connect_to_new_process = connect  # type: ignore[attr-defined]
    with start(config) as client:
        run.note(1, None if len(client.run(os.getpid)) == 2 else "missing")
    run.report(True)


def _started(run: Run) -> None:
    """From nothing to the end of twenty tasks without work."""
    run.n = 20
    given = iter(range(run.n))
    run.begin()
    with contextlib.ExitStack() as stack:
        if run.way == "with" and run.more.pop("here", False):
            client: Any = Here()
        else:
            client = stack.enter_context(ours(run.folder)).client
        for outcome in drive(client, on_workers.nothing, lambda: next(given, None), name="e"):
            run.note(outcome.task, outcome.error)
        run.more["first_results_s"] = round(time.monotonic() - run.started, 2)
    run.more["closed_s"] = round(time.monotonic() - run.started, 2)
    run.report(True)


def _here(run: Run) -> None:
    run.more["here"] = True
    _started(run)


@dataclass(frozen=True)
class Case:
    """A mechanism, a fault, and the ways in which it is run."""

    mechanism: str
    fault: str
    run: Callable[[Run], None]
    ways: tuple[str, ...] = ("Dask", "without", "with")


PAIR = ("without", "with")
DASK_SET = ("Dask", "Dask, set", "without", "with")
CASES = {
    "die": Case(
        "quarantine",
        "the first and the last of 40 tasks kill their worker, the only one, each time",
        _faulty({0: "die", 39: "die"}, workers=1),
    ),
    "die_short": Case(
        "quarantine", "2 of 400 short tasks kill their worker, each time",
        _faulty({100: "die", 200: "die"}, n=400, seconds=0.005),
    ),
    "die_all": Case(
        "watchdog: lost tasks", "12 tasks, each kills its worker",
        _faulty(dict.fromkeys(range(12), "die"), n=12),
    ),
    "gone": Case(
        "watchdog: lost tasks",
        "tasks that only a worker which has died may run",
        _only_there,
        DASK_SET,
    ),
    "hang": Case("watchdog", "a task hangs, once", _faulty({7: "hang once"}), DASK_SET),
    "stop": Case("watchdog", "a worker is stopped", _faulty({7: "stop once"}), DASK_SET),
    "pause": Case("watchdog", "a worker stays paused", _faulty({7: "pause once"}), DASK_SET),
    "nobody": Case("watchdog", "no worker is left", _nobody, DASK_SET),
    "bound": Case(
        "watchdog",
        "tasks bound to a worker that died",
        _faulty({3: "die once"}, schedule=drive_striding, n=60),
        DASK_SET,
    ),
    "frozen": Case(
        "clock", "client and workers stopped for 8 s (Ctrl-Z)", _everything_stopped,
        PAIR,
    ),
    "device": Case(
        "device",
        "the device of one worker fails at once, each time",
        _faulty(dict.fromkeys(range(40), "device"), seconds=0.0),
    ),
    "hang_both": Case(
        "restarts", "two tasks hang, once", _faulty({3: "hang once", 4: "hang once"})
    ),
    "silent": Case(
        "requests with a limit", "the scheduler is stopped", _scheduler(signal.SIGSTOP)
    ),
    "killed": Case(
        "requests with a limit", "the scheduler is killed", _scheduler(signal.SIGKILL)
    ),
    "fetch": Case(
        "fetching from each worker",
        "a worker stops when its result is fetched, once",
        _faulty({10: "stop at fetch"} | {i: "large" for i in range(40) if i != 10}),
    ),
    "post": Case("mailbox", f"{SHORT} tasks without work", _short()),
    "hold": Case("more held by a worker", f"{SHORT} tasks without work", _short(), PAIR),
    "window": Case("window", f"{SHORT} tasks without work", _short(), PAIR),
    "window_many": Case(
        "window", f"{SHORT} tasks without work, 8 workers", _short(8), PAIR
    ),
    "window_8": Case("window", f"{SHORT} tasks of 10 ms, 8 workers", _short(8, 0.01), PAIR),
    "start_lost": Case(
        "nanny", "the process that workers are forked from dies at a start", _start_lost,
        PAIR,
    ),
    "start": Case("forkserver", "start of 2 workers", _started, PAIR),
    "here": Case("in this process", "a run of 20 tasks without work", _here, PAIR),
}  # fmt: skip


def main() -> None:
    """Run one case in one way: ``python -m benchmarks.transport.cases CASE WAY``."""
    name, way = sys.argv[1:]
    case = CASES[name]
    if way == "without" and case.mechanism != "in this process":
        switch_off(case.mechanism)
    with tempfile.TemporaryDirectory() as folder:
        case.run(Run(way, folder))


if __name__ == "__main__":
    main()
