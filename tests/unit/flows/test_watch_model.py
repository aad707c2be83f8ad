"""Runs whose processes die with their worker, or by themselves, while a server comes and goes.

The loop of ``serve`` looks at a server that is a table of runs, in any order of what can happen to
them, beside the rules of docs/nightly.md; and faults planted into these rules are found.
"""

from __future__ import annotations

import datetime
import itertools
import types
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from flows import serve
from flows.processes.holders import Holder
from flows.runs import api as rules_of_runs
from flows.runs.api import PROCESS_LABEL
from tests.planted import with_fault
from tests.soak import examples

ENDED = ("COMPLETED", "CANCELLED", "CRASHED")
GONE = Holder("a run", "elsewhere", 1, 0.0, 0.0)


@dataclass
class Run:
    """A run as Prefect has it, and its process."""

    id: str
    is_deployed: bool
    state: str = "SCHEDULED"
    since: float = 0.0
    n_begun: int = 0
    is_alive: bool = False
    n_starts: int = 0
    was_cancelling: bool = False

    def becomes(self, state: str, now: float) -> None:
        self.state, self.since = state, now


class Server:
    """What the rules ask of Prefect's API."""

    def __init__(self) -> None:
        self.runs: dict[str, Run] = {}
        self.is_away = False
        self.now = 1_000_000.0

    def post(self, path: str, body: dict) -> object:
        if self.is_away:
            raise OSError("no answer")
        if path == "/flow_runs/filter":
            wanted = body["flow_runs"]["state"]["type"]["any_"]
            return [self._shown(run) for run in self.runs.values() if run.state in wanted]
        self.runs[path.split("/")[2]].becomes(body["state"]["type"], self.now)
        return {}

    def _shown(self, run: Run) -> dict:
        at = datetime.datetime.fromtimestamp(run.since, datetime.UTC).isoformat()
        label = {} if run.is_deployed else {PROCESS_LABEL: f"{run.id}"}
        return {
            "id": run.id,
            "deployment_id": "of serve" if run.is_deployed else None,
            "state": {"type": run.state, "timestamp": at},
            "run_count": run.n_begun,
            "labels": label,
        }


def machine(rules: types.ModuleType) -> type[RuleBasedStateMachine]:
    class Watching(RuleBasedStateMachine):
        @initialize()
        def begin(self) -> None:
            self.prefect = Server()
            self.ids = map(str, itertools.count())
            self.patch = pytest.MonkeyPatch()
            process = SimpleNamespace(returncode=1, poll=lambda: None)
            server = SimpleNamespace(process=process, log="", start=lambda: None, wait=lambda: None)
            self.worker = SimpleNamespace(
                process=process, log="", stop=lambda: None, start_again=self._worker_begins
            )
            self.has_worker = True
            now = lambda: self.prefect.now  # noqa: E731
            clock = SimpleNamespace(time=now, monotonic=now, sleep=lambda s: None)
            self.patch.setattr(serve, "time", clock)
            self.patch.setattr(serve, "warn", lambda text: None)
            self.patch.setattr(serve, "RESTARTS_WITHIN_S", 0.0)
            for name in ("end_lost_runs", "schedule_again"):
                self.patch.setattr(serve, name, getattr(rules, name))
            runs = self.prefect.runs
            self.patch.setattr(
                rules,
                "Holder",
                SimpleNamespace(
                    from_text=lambda text: (
                        text and SimpleNamespace(is_gone=lambda: not runs[text].is_alive)
                    )
                ),
            )
            self.watch = serve._Watch(server, self.worker, self.prefect)

        def teardown(self) -> None:
            if hasattr(self, "patch"):
                self.patch.undo()

        def _of(self, *states: str, alive: bool | None = None) -> list[Run]:
            return [
                run
                for run in self.prefect.runs.values()
                if run.state in states and alive in (None, run.is_alive)
            ]

        @rule(is_deployed=st.booleans())
        def ask_for(self, is_deployed: bool) -> None:
            """A run of a deployment waits for the worker, one by hand begins."""
            run = Run(next(self.ids), is_deployed, since=self.prefect.now)
            if not is_deployed:
                run.state, run.is_alive, run.n_begun = "RUNNING", True, 1
            self.prefect.runs[run.id] = run

        @precondition(lambda self: self.has_worker)
        @rule()
        def worker_starts(self) -> None:
            for run in self._of("SCHEDULED"):
                run.becomes("PENDING", self.prefect.now)
                run.is_alive, run.n_starts = True, run.n_starts + 1

        @rule()
        def begin_to_run(self) -> None:
            for run in self._of("PENDING", alive=True):
                run.becomes("RUNNING", self.prefect.now)
                run.n_begun += 1

        @precondition(lambda self: self.prefect.runs)
        @rule(data=st.data(), what=st.sampled_from(["end", "cancel", "die"]))
        def one(self, data: st.DataObject, what: str) -> None:
            runs = self._of("RUNNING", "CANCELLING", "PENDING", alive=True)
            if not runs:
                return
            run = runs[data.draw(st.integers(0, len(runs) - 1), label="run")]
            if what == "end" and run.state == "RUNNING":
                run.is_alive = False
                run.becomes("COMPLETED", self.prefect.now)
            elif what == "cancel" and run.state == "RUNNING":
                run.was_cancelling = True
                run.becomes("CANCELLING", self.prefect.now)
            elif what == "die" and not run.is_deployed:
                run.is_alive = False  # nobody tells the server
            elif what == "die" and self.has_worker:
                run.is_alive = False
                state = "CANCELLED" if run.state == "CANCELLING" else "CRASHED"
                run.becomes(state, self.prefect.now)  # its worker does

        @precondition(lambda self: self.has_worker)
        @rule()
        def worker_dies(self) -> None:
            self.has_worker = False
            self.worker.process = SimpleNamespace(returncode=1, poll=lambda: 1)
            for run in self.prefect.runs.values():
                if run.is_deployed:
                    run.is_alive = False

        def _worker_begins(self) -> None:
            self.has_worker = True
            self.worker.process = SimpleNamespace(returncode=1, poll=lambda: None)

        @precondition(lambda self: self.has_worker)
        @rule()
        def worker_dies_as_a_run_starts(self) -> None:
            self.ask_for(True)
            self.worker_starts()
            self.worker_dies()
            self.look_twice()

        @precondition(lambda self: self.has_worker)
        @rule()
        def a_run_dies_as_it_starts(self) -> None:
            self.ask_for(True)
            self.worker_starts()
            run = self._of("PENDING", alive=True)[-1]
            run.is_alive = False
            run.becomes("CRASHED", self.prefect.now)

        @rule(passes_s=st.sampled_from([1.0, 10.0, 1000.0]), is_away=st.sampled_from([0, 0, 0, 1]))
        def look(self, passes_s: float, is_away: int = 0) -> None:
            self.prefect.now += passes_s
            self.prefect.is_away = bool(is_away)
            runs = self.prefect.runs.values()
            before = {run.id: (run.state, run.is_alive, run.since) for run in runs}
            assert self.watch.look()
            self.prefect.is_away = False
            earliest = self.watch._away.since - serve.CRASHES_BEFORE_S
            for run in runs:
                state, was_alive, since = before[run.id]
                if was_alive:
                    assert run.state == state, "a living run was ended"
                if run.state == "SCHEDULED" and state not in ("SCHEDULED", "PENDING"):
                    assert run.is_deployed, "a run by hand is scheduled"
                    assert run.n_begun == 0, "a run that had begun is started again"
                    is_late = state == "CRASHED" and since < earliest
                    assert not is_late, "a run that crashed by itself is started again"

        @rule()
        def look_twice(self) -> None:
            """Then nothing is in progress that has no process."""
            self.look(10.0)
            self.look(10.0)
            lost = self._of("RUNNING", "PENDING", "CANCELLING", alive=False)
            assert not lost, "a run without a process is in progress"
            assert self.has_worker
            starting = [run for run in self._of("CRASHED") if run.is_deployed and not run.n_begun]
            late = [run for run in starting if self.watch._again[run.id] < serve.STARTS]
            if self.watch._away.is_recent():
                assert not [r for r in late if r.since > self.watch._away.since], (
                    "lost at its start"
                )

        @invariant()
        def cancelled_runs_do_not_crash(self) -> None:
            for run in self.prefect.runs.values() if hasattr(self, "prefect") else ():
                assert not (run.was_cancelling and run.state in ("CRASHED", "SCHEDULED"))
                assert run.n_starts <= 1 + serve.STARTS, "started again and again"

    return Watching


def check(rules: types.ModuleType, n: int) -> None:
    run_state_machine_as_test(
        machine(rules),
        settings=settings(
            max_examples=n,
            stateful_step_count=25,
            deadline=None,
            database=None,
            derandomize=True,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            phases=[each for each in settings().phases if each.name == "generate"],
        ),
    )


def test_runs_that_died_are_ended_and_taken_up_as_the_page_says():
    check(with_fault(rules_of_runs, "API_TIMEOUT_S = 5.0", "API_TIMEOUT_S = 4.0"), examples(150))


FAULTS = {
    "a cancelled run crashed": ('"CANCELLED" if was_asked else "CRASHED"', '"CRASHED"'),
    "runs by hand end with the worker": (
        '(no_worker and run.get("deployment_id"))',
        "no_worker",
    ),
    "runs of a dead worker stay": ('(no_worker and run.get("deployment_id"))', "False"),
    "runs by hand that were killed stay": (
        "return process is not None and process.is_gone()",
        "return False",
    ),
    "a run that had begun starts again": ('run["run_count"] > 0 or not run', "not run"),
    "a run that crashed long ago starts again": ("has_begun or ended < since or", "has_begun or"),
    "a run is started without end": (' or run["id"] in but:', ":"),
    "a run that was starting is lost": ("again.append(run", "(lambda run: None)(run"),
    "no run is looked for in a state": ('["RUNNING", "PENDING", "CANCELLING"]', '["RUNNING"]'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_the_rules_are_found(fault):
    with pytest.raises(AssertionError):
        check(with_fault(rules_of_runs, *FAULTS[fault]), 2000)
