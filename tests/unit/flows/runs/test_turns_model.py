"""Runs that start, wait, end, fail, are cancelled and are killed, in any order, on one store.

Each run is a process of its own that takes its turn by the real locks. What becomes of it is
compared with a model of the rules in docs/nightly.md; and faults planted into the rules are found.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import types
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from flows.processes import holders
from flows.runs import turns
from tests.planted import with_fault
from tests.soak import examples

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork beside threads

PATIENCE_S = 0.2
# Until what is expected has to be so; faults that block take as long.
SETTLE_S, SETTLE_WITH_FAULT_S = 20.0, 0.7
QUIET_S = 0.03  # for which nothing else may follow
WORKS, WAITS, REFUSED, OVER, STOPPED = b"K", b"w", b"O", b"E", b"S"
MOST = 5  # living runs


class Stop(BaseException):
    """As Prefect ends a run that is cancelled."""


class Run:
    """A process that takes a turn, and works until it hears how to end."""

    def __init__(self, rules: types.ModuleType, store: Path, is_scheduled: bool):
        self.is_scheduled = is_scheduled
        self.said = b""
        heard, self._tell = os.pipe()
        self._says, say = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            with contextlib.suppress(BaseException):
                os.close(self._tell)
                os.close(self._says)
                _run(rules, store, is_scheduled, heard, say)
            os._exit(0)
        os.close(heard)
        os.close(say)
        os.set_blocking(self._says, False)

    def look(self) -> bytes:
        with contextlib.suppress(BlockingIOError):
            self.said += os.read(self._says, 100)
        return self.said[-1:]

    def tell(self, what: bytes) -> None:
        os.write(self._tell, what)

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, how)
        os.waitpid(self.pid, 0)
        for descriptor in (self._says, self._tell):
            os.close(descriptor)


def _run(rules: types.ModuleType, store: Path, is_scheduled: bool, heard: int, say: int) -> None:
    """The process of a run; it outlives its turn, since notices are sent after that."""

    def stop(*_: object) -> None:
        raise Stop

    signal.signal(signal.SIGTERM, stop)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    rules.PATIENCE_S = PATIENCE_S
    rules._is_scheduled = lambda: is_scheduled
    shown = rules._shown_as_waiting

    @contextlib.contextmanager
    def shown_as_waiting(text: str):
        os.write(say, WAITS)
        with shown(text):
            yield

    rules._shown_as_waiting = shown_as_waiting
    child = None
    try:
        with rules.turn(store):
            # What a run starts, its cluster for instance, may live a little longer than it.
            child = subprocess.Popen(["sleep", "60"], close_fds=False)
            os.write(say, WORKS)
            if os.read(heard, 1) == b"x":
                raise ValueError  # noqa: TRY301
    except rules.Overlapping:
        os.write(say, REFUSED)
    except Stop:
        os.write(say, STOPPED)
        return
    except ValueError:
        pass
    finally:
        if child is not None:
            child.kill()
            child.wait()
    os.write(say, OVER)
    select.select([heard], [], [], 60)
    os.read(heard, 1)


def machine(rules: types.ModuleType, settle_s: float) -> type[RuleBasedStateMachine]:
    """Runs by some rules, beside a model of what has to become of them."""

    class Turns(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.store = Path(tempfile.mkdtemp(prefix="turns-"))
            self.runs: list[Run] = []
            self.working: Run | None = None
            self.waiting: dict[bool, Run] = {}

        def teardown(self) -> None:
            for run in self.runs:
                run.end()
            shutil.rmtree(self.store)

        @precondition(lambda self: len(self.runs) < MOST)
        @rule(is_scheduled=st.booleans())
        def start(self, is_scheduled: bool) -> None:
            run = Run(rules, self.store, is_scheduled)
            self.runs.append(run)
            if is_scheduled in self.waiting:
                self._becomes(run, OVER, REFUSED)
                self._forget(run)
            elif self.working is None:
                self.working = run
                self._becomes(run, WORKS)
            else:
                self.waiting[is_scheduled] = run
                self._becomes(run, WAITS)
            self._check()

        @precondition(lambda self: self.working)
        @rule(how=st.sampled_from([b"e", b"x"]))
        def end_or_fail(self, how: bytes) -> None:
            """The turn ends before the process does."""
            run = self.working
            assert run is not None
            self.working = None
            run.tell(how)
            self._becomes(run, OVER)
            self._next_works()
            self._forget(run)
            self._check()

        @precondition(lambda self: self.runs)
        @rule(data=st.data(), how=st.sampled_from([signal.SIGTERM, signal.SIGKILL]))
        def cancel_or_kill(self, data: st.DataObject, how: signal.Signals) -> None:
            """A run that waits or works: what it held is free, and nothing else changes."""
            run = self.runs[data.draw(st.integers(0, len(self.runs) - 1), label="run")]
            was_working = run is self.working
            if how == signal.SIGTERM:
                os.kill(run.pid, how)
                self._becomes(run, STOPPED)
            self._forget(run)
            if was_working:
                self.working = None
                self._next_works()
            self.waiting = {place: each for place, each in self.waiting.items() if each is not run}
            self._check()

        def _forget(self, run: Run) -> None:
            self.runs.remove(run)
            run.end()

        def _next_works(self) -> None:
            """One of those that wait works now; which of two is not said."""
            if not self.waiting:
                return
            self._until(lambda: any(run.look() == WORKS for run in self.waiting.values()))
            (place,) = (at for at, run in self.waiting.items() if run.look() == WORKS)
            self.working = self.waiting.pop(place)

        def _becomes(self, run: Run, *what: bytes) -> None:
            self._until(lambda: run.look() in what and (len(what) == 1 or what[1] in run.said))

        def _until(self, is_so) -> None:
            end = time.monotonic() + settle_s
            while not is_so():
                assert time.monotonic() < end, [run.said for run in self.runs]
                time.sleep(0.001)

        def _check(self) -> None:
            time.sleep(QUIET_S if len(self.runs) > 1 else 0)
            expected = [(self.working, WORKS), *((run, WAITS) for run in self.waiting.values())]
            for run, what in expected:
                assert run is None or run.look() == what, run.said

    return Turns


def check(rules: types.ModuleType, n: int, settle_s: float) -> None:
    run_state_machine_as_test(
        machine(rules, settle_s),
        settings=settings(
            max_examples=n,
            stateful_step_count=12,
            deadline=None,
            database=None,
            derandomize=True,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            phases=[each for each in settings().phases if each.name == "generate"],
        ),
    )


def test_runs_take_turns_whatever_becomes_of_them():
    check(turns, examples(12), SETTLE_S)


FAULTS = {
    "a scheduled run has no place of its own": (
        "SCHEDULED_WAITING if _is_scheduled() else WAITING",
        "WAITING",
    ),
    "a run that waited works beside the others": (
        "held = working.take(me, wait=True)",
        "held = working.take(me)",
    ),
    "any number of runs wait": (
        "waiting.take(me, wait=True) if patient else _soon(waiting, me)",
        "os.open(os.devnull, os.O_RDONLY)",
    ),
    "a run that works keeps its place to wait": ("        os.close(place)\n", "        pass\n"),
    "a run keeps its turn until its process ends": (
        "            os.close(held)\n",
        "            pass\n",
    ),
    "each run has a turn of its own": (
        "working = Seat(store / WORKING)",
        "working = Seat(store / f'{WORKING}{os.getpid()}')",
    ),
    "a run that finds another one is refused": (
        "held = working.take(me)\n",
        "held = working.take(me)\n        if held is None: raise Overlapping\n",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_the_rules_are_found(fault):
    with pytest.raises((AssertionError, ValueError)):
        check(with_fault(turns, *FAULTS[fault]), 40, SETTLE_WITH_FAULT_S)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # What a killed run has started holds its turn.
        ("        os.ftruncate(descriptor, 0)", "        os.set_inheritable(descriptor, True)"),
        # A lock of a process, not of what it opened, is gone when any copy is closed.
        ("fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)", "fcntl.LOCK_SH"),
    ],
    ids=["inherited", "shared"],
)
def test_faults_in_the_locks_are_found(old, new):
    rules = with_fault(turns, "from flows.processes.holders import Holder, Seat\n", "")
    faulty = with_fault(holders, old, new)
    rules.Holder, rules.Seat = faulty.Holder, faulty.Seat
    with pytest.raises((AssertionError, ValueError)):
        check(rules, 40, SETTLE_WITH_FAULT_S)
