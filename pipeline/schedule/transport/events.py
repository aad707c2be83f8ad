"""Events of tasks in flight, and instructions in response: plain values, no I/O.

``at`` is in seconds since 1970 UTC, ``now`` in seconds of one monotonic clock. A ``key`` names one
attempt of a task: (name, number of the attempt in this flight, number of the task's attempt).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.model.search.tasks import Outcome, TaskRun

Key = tuple[str, int, int]


def shown(key: Key) -> str:
    """Name of a task as the dashboard and messages show it: without the run's id."""
    return key[0].rpartition("-")[0]


@dataclass(frozen=True, slots=True)
class Submitted:
    """The caller hands in a task; ``pin``: the only worker that may take it."""

    task: Any
    at: float
    queue: int = 0  # of the caller's
    pin: str | None = None
    cost_s: float | None = None  # estimated seconds; None: unknown


@dataclass(frozen=True, slots=True)
class Sent:
    """The scheduler has got these attempts."""

    keys: tuple[Key, ...]
    at: float


@dataclass(frozen=True, slots=True)
class Ready:
    """An attempt has ended, and its worker keeps the result."""

    key: Key


@dataclass(frozen=True, slots=True)
class Finished:
    """A result has arrived."""

    key: Key
    result: Any
    run: TaskRun
    now: float


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt raised an error, or its result is lost; ``run``: where it ran, if known."""

    key: Key
    error: BaseException
    now: float
    run: TaskRun | None = None


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """The worker of an attempt died, by the fault of this task or of another."""

    key: Key
    reason: str


@dataclass(frozen=True, slots=True)
class Cut:
    """The answer to Split: what to run instead; none: nothing smaller exists."""

    key: Key
    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Silent:
    """All workers without a heartbeat now."""

    workers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Looked:
    """The scheduler has reported the state of workers (as in ``Watch.look``) and their tasks."""

    threads: Mapping[str, int]
    status: Mapping[str, str]
    processing: Mapping[str, Iterable[Any]]
    now: float
    quiet: Mapping[str, float] = field(default_factory=dict)
    free: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Begun:
    """The answer to Ask: what a worker has begun of ``keys``; the rest will never begin there.

    None: no answer.
    """

    worker: str
    keys: tuple[Key, ...]
    begun: frozenset[Key] | None


@dataclass(frozen=True, slots=True)
class ClusterLost:
    """The scheduler is gone for good."""

    reason: str


Event = (
    Submitted
    | Sent
    | Ready
    | Finished
    | Failed
    | WorkerLost
    | Cut
    | Silent
    | Looked
    | Begun
    | ClusterLost
)


@dataclass(frozen=True, slots=True)
class Send:
    """Give the scheduler an attempt: to ``pin`` alone, else to none of ``avoid`` if others may."""

    key: Key
    task: Any
    pin: str | None
    avoid: frozenset[str]
    is_urgent: bool


@dataclass(frozen=True, slots=True)
class Fetch:
    """Get a result from the worker that keeps it."""

    key: Key


@dataclass(frozen=True, slots=True)
class Split:
    """Ask the caller for smaller tasks than this one; the answer is Cut."""

    key: Key
    task: Any


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel these at the scheduler: they are no longer needed."""

    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a worker which of these it has begun; the answer is Begun."""

    worker: str
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Restart:
    """End a worker, if the cluster is ours, so that another takes its place."""

    worker: str


@dataclass(frozen=True, slots=True)
class Warn:
    """Log a warning."""

    text: str


@dataclass(frozen=True, slots=True)
class Yield:
    """Give the caller an outcome."""

    outcome: Outcome


Instruction = Send | Fetch | Split | Cancel | Ask | Restart | Warn | Yield
