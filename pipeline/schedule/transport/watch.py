"""What to do about a task that does not return. Pure: decides by the scheduler's answers.

Dask waits forever for a paused worker, for a worker that a task is bound to and that is gone,
and, seen in 2 of 10 runs, for a task whose workers died one after another. So every task in flight
is checked every few seconds, by these rules:

- no worker at all for ``no_worker_s``, or none but those given up: everything fails, nothing is
  tried again;
- a worker is *given up* when it has been paused for ``paused_s``, has sent no heartbeat for
  ``silent_s``, its results could not be fetched in ``fetch_s``, or it has finished nothing for
  ``task_s`` since it was given a task. What it had begun is tried again elsewhere, or has failed
  where the worker was overdue; what only waited there goes elsewhere, without counting an attempt;
- a worker that was paused or silent is used again as soon as it is neither;
- the task is bound to a worker that is gone: tried again, unbound;
- the task is with no worker for ``lost_s`` while some worker is free: tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.errors import ClusterLostError, PipelineError, RetryableError


@dataclass(frozen=True)
class Limits:
    """Seconds after which the driver stops waiting."""

    poll_s: float = 2.0  # between two looks at the scheduler
    no_worker_s: float = 60.0  # a nanny restarts a worker in 2 to 5 s
    paused_s: float = 60.0
    lost_s: float = 30.0
    task_s: float = 3600.0  # 128 searches of 7 million routers take a core some 2 s
    answer_s: float = 20.0  # a scheduler answers in ms; a busy one in seconds
    fetch_s: float = 30.0  # a result is a few MB at most
    silent_s: float = 120.0  # between two heartbeats of a worker, otherwise every 1 to 5 s


@dataclass(slots=True)
class Watched:
    """A task in flight, as the watch sees it."""

    name: str
    pin: str | None = None  # the worker it is bound to
    worker: str | None = None  # where it is, if anywhere
    since: float = 0.0  # when it came there, or when it was first seen on no worker


@dataclass(frozen=True)
class Fault:
    """Why a worker has been given up: ``overdue``, ``paused``, ``silent`` or ``mute``.

    ``mute``: its results cannot be fetched, though it may send heartbeats.
    """

    worker: str
    kind: str
    text: str

    @property
    def answers(self) -> bool:
        """Whether the worker may still be asked something."""
        return self.kind in ("overdue", "paused")

    @property
    def ends(self) -> bool:
        """Whether only ending it helps: a worker of our own is then replaced."""
        return self.kind != "mute"

    def error(self, name: str) -> PipelineError:
        """The error of a task of that name which the worker had begun."""
        kind = PipelineError if self.kind == "overdue" else RetryableError
        return kind(f"{name}: {self.text}")


@dataclass
class Watch:
    """Remembers what earlier looks saw; times are of one monotonic clock.

    Attributes
    ----------
    given_up : dict of worker address to Fault
        Workers that get no task.
    """

    limits: Limits
    no_worker_since: float | None = None
    paused_since: dict[str, float] = field(default_factory=dict)
    last_end: dict[str, float] = field(default_factory=dict)
    given_up: dict[str, Fault] = field(default_factory=dict)

    def ended(self, worker: str, now: float) -> None:
        """A task came back from ``worker``."""
        self.last_end[worker] = now

    def look(
        self,
        tasks: Mapping[Any, Watched],
        workers: Mapping[str, str],
        processing: Mapping[str, Iterable[Any]],
        now: float,
    ) -> dict[Any, PipelineError | Fault]:
        """Which tasks to give up waiting for, and why.

        Parameters
        ----------
        tasks : mapping of key to Watched
            In flight; ``worker`` and ``since`` are brought up to date.
        workers : mapping of address to status ("running", "paused", "silent", "mute", ...)
        processing : mapping of address to the keys it was given
        now : float

        Returns
        -------
        dict of key to error or Fault
            RetryableError: try again elsewhere. Any other error: it has failed. Fault: it is with
            a worker that has been given up, and may have begun there or not.
        """
        place = {key: worker for worker, keys in processing.items() for key in keys}
        for key, task in tasks.items():
            worker = place.get(key)
            if worker != task.worker or not task.since:
                task.worker, task.since = worker, now
        before = set(self.given_up)
        self._judge_workers(tasks.values(), workers, now)
        usable = workers.keys() - self.given_up.keys()
        if usable:
            self.no_worker_since = None
        elif self.no_worker_since is None:
            self.no_worker_since = now
        elif now - self.no_worker_since >= self.limits.no_worker_s:
            return dict.fromkeys(tasks, ClusterLostError(self._nobody_left()))
        some_free = any(workers[w] == "running" and not list(processing.get(w, ())) for w in usable)
        verdicts: dict[Any, PipelineError | Fault] = {}
        for key, task in tasks.items():
            # If no other worker is left, tasks that came to such a worker later wait for it.
            if (fault := self.given_up.get(task.worker or "")) is not None:
                if usable or fault.worker not in before:
                    verdicts[key] = fault
            elif error := self._judge(task, workers, some_free, now):
                verdicts[key] = error
        return verdicts

    def _judge_workers(
        self, tasks: Iterable[Watched], workers: Mapping[str, str], now: float
    ) -> None:
        """Give up workers that hold tasks back, and take back those that work again."""
        paused = {worker for worker, status in workers.items() if status == "paused"}
        self.paused_since = {w: self.paused_since.get(w, now) for w in paused}
        self.given_up = {
            worker: fault
            for worker, fault in self.given_up.items()
            if worker in workers and (fault.kind == "overdue" or workers[worker] != "running")
        }
        for task in tasks:
            worker = task.worker
            if worker is None or worker in self.given_up:
                continue
            if found := self._fault(worker, task.since, workers.get(worker, "running"), now):
                self.given_up[worker] = Fault(worker, *found)

    def _fault(self, worker: str, since: float, status: str, now: float) -> tuple[str, str] | None:
        """What is wrong with a worker that was given a task at ``since``: kind and text."""
        if status == "silent":
            return status, f"worker {worker} does not respond (stopped or cut off)"
        if status == "mute":
            return status, (
                f"worker {worker} gives no result and does not respond (stopped or cut off)"
            )
        if status == "paused":
            paused_s = now - max(self.paused_since[worker], since)
            if paused_s < self.limits.paused_s:
                return None
            return status, (
                f"worker {worker} has been paused for {paused_s:.0f} s "
                "(Dask pauses a worker at 80 % of its memory limit); give the workers more memory"
            )
        # Waiting behind another task is not a fault: the clock starts at the worker's last end.
        held_s = now - max(since, self.last_end.get(worker, 0.0))
        if held_s < self.limits.task_s:
            return None
        return "overdue", f"no answer from worker {worker} for {held_s:.0f} s; gave up"

    def _nobody_left(self) -> str:
        came = f"and none joined within {self.limits.no_worker_s:.0f} s"
        if not self.given_up:
            return f"no worker is left {came}"
        return f"no working worker is left {came}: " + "; ".join(
            fault.text for fault in self.given_up.values()
        )

    def _judge(
        self, task: Watched, workers: Mapping[str, str], some_free: bool, now: float
    ) -> PipelineError | None:
        limits = self.limits
        if task.pin is not None and task.pin not in workers:
            return RetryableError(f"{task.name}: worker {task.pin} is gone")
        if task.worker is None and some_free and now - task.since >= limits.lost_s:
            return RetryableError(
                f"{task.name}: no worker began it in {limits.lost_s:.0f} s though one is free"
            )
        return None


def places(
    allowed: list[str] | None, workers: Iterable[str], avoid: frozenset[str]
) -> list[str] | None:
    """Of the workers that may run a task (None: any), those not to avoid; all if none is left."""
    if not avoid:
        return allowed
    able = workers if allowed is None else allowed
    return [worker for worker in able if worker not in avoid] or allowed
