"""A task in flight: its state, its attempts, and where it is. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pipeline.errors import OutOfMemoryError
from pipeline.model.search.tasks import Attempt, TaskRun
from pipeline.schedule.transport.events import Key


@dataclass(slots=True)
class Watched:
    """A task in flight, as the watch sees it."""

    name: str
    pin: str | None = None  # the worker it is bound to
    worker: str | None = None  # where it is, if anywhere
    since: float = 0.0  # when it came there, or when it was first seen on no worker
    cost_s: float | None = None  # estimated seconds; None: unknown
    tries: int = 1  # attempts that count against ``max_attempts``
    stranded: float | None = None  # since when it only comes to workers that were given up


State = Literal["waiting", "submitted", "fetching", "splitting", "quarantined", "done"]


@dataclass(eq=False, slots=True, kw_only=True)
class TaskInFlight(Watched):
    """A task that has no outcome yet: its present attempt, and the failed ones before."""

    task: Any
    queue: int  # of the caller's
    submitted: float
    state: State = "waiting"
    key: Key = ("", 0, 0)  # of the present attempt
    number: int = 1  # of the present attempt
    n_losses: int = 0  # workers lost under suspicion
    failed: tuple[Attempt, ...] = ()
    cause: tuple[OutOfMemoryError, TaskRun | None] | None = None  # why it is to be split

    def fail(self, error: BaseException, run: TaskRun | None = None) -> None:
        """Note that the present attempt has failed."""
        self.failed = (*self.failed, Attempt(self.number, self.submitted, error, run))
