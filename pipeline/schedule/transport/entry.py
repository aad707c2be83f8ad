"""A task in flight, and what has come back for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from distributed import Future
from distributed.scheduler import KilledWorker

from pipeline.errors import ClusterLostError, PipelineError, RetryableError
from pipeline.model.tasks import Attempt, Outcome
from pipeline.schedule.transport.attempt import Attempted, loads
from pipeline.schedule.transport.connection import Connection
from pipeline.schedule.transport.watch import Watched

REASON_S = 10.0  # seconds to learn an error that this process has been told already

Answer = Attempted | BaseException | str  # of a worker; a text: WITHDRAWN


class WorkerDiedError(RetryableError):
    """The worker of a task died, by the task's fault or another's."""


@dataclass(eq=False)
class Entry:
    """A task on its way: what it was given, and what has come of it so far."""

    task: Any
    number: int  # of the attempt
    tries: int  # attempts that count against max_attempts
    submitted: float
    future: Future | None  # None until it has been sent
    watched: Watched
    failed: tuple[Attempt, ...]
    suspect: bool = False
    deaths: int = 0  # workers it lost in quarantine
    queue: int = 0  # of the caller's
    fetching: bool = False  # it has ended, its result is on its way
    unwanted: bool = False  # to be withdrawn, unless it has begun; never to be tried again

    def outcome(self, **came: Any) -> Outcome:
        """What becomes of it, ``came`` being the rest."""
        return Outcome(self.task, self.number, self.submitted, failed=self.failed, **came)


def reason_of(name: str, future: Future | None, there: Connection) -> BaseException:
    """Why a future that has ended has no result."""
    if there.lost:
        return ClusterLostError(f"{name}: {there.gone}")
    if future is None or future.status == "cancelled":
        return RetryableError(f"{name}: cancelled by somebody else on this scheduler")
    if future.status != "error":
        return RetryableError(f"{name}: its result was lost with its worker")
    try:
        error = future.exception(timeout=REASON_S)
    except Exception as raised:
        error = raised
    if isinstance(error, KilledWorker):
        where = getattr(error.last_worker, "address", error.last_worker)
        return WorkerDiedError(
            f"{name}: the workers that ran it died, {where} last "
            "(killed, or more memory needed than there is)"
        )
    return PipelineError(f"{name}: {type(error).__name__}: {error}")


def unpacked(entry: Entry, posted: bytes) -> Attempted | BaseException:
    """What was posted for it."""
    try:
        return loads(posted)
    except Exception as error:  # of a class that is not importable here
        return PipelineError(f"{entry.watched.name}: {type(error).__name__}: {error}")
