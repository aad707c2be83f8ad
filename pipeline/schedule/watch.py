"""What to do about a task that does not come back. Pure: decides from what the scheduler says.

Dask waits for ever for a paused worker, for a worker that a task is bound to and that is gone,
and, seen in 2 of 10 runs, for a task whose workers died one after another. So every task in
flight is looked at every few seconds, by these rules:

- no worker at all for ``no_worker_s``: everything fails, nothing is tried again;
- the task is with a worker that has been paused for ``paused_s``: tried again;
- the task is with a worker that has given no sign of life for ``silent_s``, or whose results
  could not be fetched in ``fetch_s``: tried again, elsewhere while that lasts;
- the task is bound to a worker that is gone: tried again, unbound;
- the task is with no worker for ``lost_s`` while some worker is free: tried again;
- the task is with a worker that has finished nothing for ``task_s``: fails, naming the worker.
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
    silent_s: float = 120.0  # between two heartbeats of a worker, every 1 to 5 s else


@dataclass
class Watched:
    """A task in flight, as the watch sees it."""

    name: str
    pin: str | None = None  # the worker it is bound to
    worker: str | None = None  # where it is, if anywhere
    since: float = 0.0  # when it came there, or when it was seen to be nowhere


@dataclass
class Watch:
    """Remembers what earlier looks saw; times are of one monotonic clock."""

    limits: Limits
    no_worker_since: float | None = None
    paused_since: dict[str, float] = field(default_factory=dict)
    last_end: dict[str, float] = field(default_factory=dict)

    def ended(self, worker: str, now: float) -> None:
        """A task came back from ``worker``."""
        self.last_end[worker] = now

    def look(
        self,
        tasks: Mapping[Any, Watched],
        workers: Mapping[str, str],
        processing: Mapping[str, Iterable[Any]],
        now: float,
    ) -> dict[Any, PipelineError]:
        """Which tasks to give up waiting for, and why.

        Parameters
        ----------
        tasks : mapping of key to Watched
            In flight; ``worker`` and ``since`` are brought up to date.
        workers : mapping of address to status ("running", "paused", "silent", ...)
        processing : mapping of address to the keys it was given
        now : float

        Returns
        -------
        dict of key to error
            RetryableError: try again elsewhere. Any other: it has failed.
        """
        if workers:
            self.no_worker_since = None
        elif self.no_worker_since is None:
            self.no_worker_since = now
        elif now - self.no_worker_since >= self.limits.no_worker_s:
            text = f"no worker is left, and none came within {self.limits.no_worker_s:.0f} s"
            return {key: ClusterLostError(text) for key in tasks}
        paused = {w for w, status in workers.items() if status == "paused"}
        self.paused_since = {w: self.paused_since.get(w, now) for w in paused}
        place = {key: worker for worker, keys in processing.items() for key in keys}
        some_free = any(
            status == "running" and not list(processing.get(w, ())) for w, status in workers.items()
        )
        verdicts: dict[Any, PipelineError] = {}
        for key, task in tasks.items():
            worker = place.get(key)
            if worker != task.worker or not task.since:
                task.worker, task.since = worker, now
            if error := self._judge(task, workers, some_free, now):
                verdicts[key] = error
        return verdicts

    def _judge(
        self, task: Watched, workers: Mapping[str, str], some_free: bool, now: float
    ) -> PipelineError | None:
        limits = self.limits
        if task.pin is not None and task.pin not in workers:
            return RetryableError(f"{task.name}: worker {task.pin} is gone")
        if task.worker is None:
            if some_free and now - task.since >= limits.lost_s:
                return RetryableError(
                    f"{task.name}: no worker took it in {limits.lost_s:.0f} s though one is free"
                )
            return None
        if workers.get(task.worker) == "silent":
            return RetryableError(
                f"{task.name}: worker {task.worker} gives no sign of life (stopped, or cut off)"
            )
        if task.worker in self.paused_since:
            paused_s = now - max(self.paused_since[task.worker], task.since)
            if paused_s >= limits.paused_s:
                return RetryableError(
                    f"{task.name}: worker {task.worker} has been paused for {paused_s:.0f} s "
                    "(Dask pauses a worker at 80 % of its memory limit); give workers more memory"
                )
            return None
        # Waiting behind another task is no fault: the clock starts at the worker's last end.
        held_s = now - max(task.since, self.last_end.get(task.worker, 0.0))
        if held_s >= limits.task_s:
            return PipelineError(
                f"{task.name}: no answer from worker {task.worker} for {held_s:.0f} s; gave up"
            )
        return None
