"""Mechanisms of the transport: where their code is, and each of them switched off."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from distributed import Nanny

from benchmarks.lib.record import REPOSITORY
from pipeline.errors import RetryableError
from pipeline.schedule.cluster.own import forking
from pipeline.schedule.cluster.own.nanny import OwnNanny
from pipeline.schedule.transport.clock import Clock
from pipeline.schedule.transport.remote import carrier, connection
from pipeline.schedule.transport.remote.connection import Connection
from pipeline.schedule.transport.state import FlightState
from pipeline.schedule.transport.watch import Watch
from pipeline.schedule.transport.window import Window

TRANSPORT, OWN = "pipeline/schedule/transport", "pipeline/schedule/cluster/own"
STATE, WATCH = f"{TRANSPORT}/state.py", f"{TRANSPORT}/watch.py"
REMOTE = f"{TRANSPORT}/remote"
# File, and the functions or classes of it that are there for the mechanism alone; none: all.
CODE: dict[str, dict[str, tuple[str, ...]]] = {
    "quarantine": {STATE: ("_on_worker_lost",)},
    "watchdog": {
        WATCH: (),
        f"{TRANSPORT}/limits.py": (),
        STATE: ("_on_looked", "_on_begun", "_on_silent", "_move"),
        f"{REMOTE}/connection.py": ("_hear", "_runs", "begun"),
        f"{TRANSPORT}/attempted.py": ("BegunTasks",),
        f"{REMOTE}/attempt.py": ("refuse_here",),
    },
    "watchdog: lost tasks": {},
    "clock": {f"{TRANSPORT}/clock.py": ()},
    "device": {STATE: ("_take_out",)},
    "restarts": {f"{REMOTE}/connection.py": ("can_replace", "replace")},
    "requests with a limit": {f"{REMOTE}/connection.py": ("ask", "look")},
    "fetching from each worker": {f"{REMOTE}/connection.py": ("fetch", "_fetch", "_fetch_from")},
    "mailbox": {f"{REMOTE}/mailbox.py": (), f"{REMOTE}/attempt.py": ("_post",)},
    "more held by a worker": {f"{REMOTE}/connection.py": ("hold",)},
    "window": {f"{TRANSPORT}/window.py": ()},
    "nanny": {f"{OWN}/nanny.py": ()},
    "forkserver": {f"{OWN}/forking.py": ()},
    "in this process": {f"{TRANSPORT}/here.py": (), "pipeline/schedule/in_process": ()},
}


def n_lines(mechanism: str) -> int:
    """Lines of code of a mechanism, without blank lines, comments and docstrings."""
    total = 0
    for name, parts in CODE[mechanism].items():
        path = REPOSITORY / name
        for file in [path] if path.is_file() else sorted(path.glob("*.py")):
            total += _n_lines_of(file, parts)
    return total


def _n_lines_of(file: Path, parts: tuple[str, ...]) -> int:
    tree = ast.parse(file.read_text())
    nodes = [node for node in ast.walk(tree) if getattr(node, "name", None) in parts]
    found: set[int] = set()
    docstrings: set[int] = set()
    for top in nodes or [tree]:
        for node in ast.walk(top):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                docstrings.update(range(node.lineno, (node.end_lineno or 0) + 1))
            elif hasattr(node, "lineno"):
                found.update((node.lineno, node.end_lineno))
    return len(found - docstrings)


def switch_off(mechanism: str) -> None:
    """In this process, which starts nothing else with it."""
    _OFF[mechanism]()


def _no_quarantine() -> None:
    def on_worker_lost(self: FlightState, event: Any) -> list:
        task = self.tasks.get(event.key)
        return [] if task is None else self._fail(task, RetryableError(event.reason))

    FlightState._on_worker_lost = on_worker_lost  # type: ignore[method-assign]


def _no_watch() -> None:
    Watch.look = lambda *given, **more: {}  # type: ignore[method-assign]


def _no_lost_tasks() -> None:
    judge = Watch._judge

    def of_bound_ones(self: Watch, task: Any, workers: Any, some_free: bool, now: float) -> Any:
        return judge(self, task, workers, False, now)

    Watch._judge = of_bound_ones  # type: ignore[method-assign]


def _no_clock() -> None:
    Clock.now = lambda self: time.monotonic()  # type: ignore[method-assign]


def _no_device() -> None:
    FlightState._take_out = lambda *given: []  # type: ignore[method-assign]


def _no_restarts() -> None:
    Connection.can_replace = lambda *given: False  # type: ignore[method-assign]


def _no_time_limit() -> None:
    connection.ask = lambda client, call, timeout_s: client.sync(call)


def _fetched_together() -> None:
    async def fetch(self: Connection, names: dict) -> None:
        answer = await self.client.scheduler.gather(keys=list(names))
        for key, value in answer["data"].items():
            self.done.put((key, value))

    Connection._fetch = fetch  # type: ignore[method-assign]


def _no_mailbox() -> None:
    carrier.open_mailbox = lambda client: None


def _no_more_held() -> None:
    Connection.hold = lambda *given: None  # type: ignore[method-assign]


def _small_window() -> None:
    def n_tasks(self: Window, n_threads: int) -> int:
        return max(self.thresholds.min_window, self.thresholds.thread_window * n_threads)

    Window.n_tasks = n_tasks  # type: ignore[method-assign]


def _no_nanny() -> None:
    OwnNanny.kill = Nanny.kill  # type: ignore[method-assign]


def _spawned() -> None:
    forking.METHOD = "spawn"
    forking.start = lambda *given, **more: None


_OFF: dict[str, Callable[[], None]] = {
    "quarantine": _no_quarantine,
    "watchdog": _no_watch,
    "watchdog: lost tasks": _no_lost_tasks,
    "clock": _no_clock,
    "device": _no_device,
    "restarts": _no_restarts,
    "requests with a limit": _no_time_limit,
    "fetching from each worker": _fetched_together,
    "mailbox": _no_mailbox,
    "more held by a worker": _no_more_held,
    "window": _small_window,
    "nanny": _no_nanny,
    "forkserver": _spawned,
}
