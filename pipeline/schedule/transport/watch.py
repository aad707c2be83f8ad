"""What to do about a task that does not return. Pure: decides by the scheduler's answers.

Dask waits forever for a paused worker, for a worker that a task is bound to and that is gone,
and, seen in 2 of 10 runs, for a task whose workers died one after another. So every task in flight
is checked every few seconds, by these rules:

- no worker at all for ``no_worker_s``, or none but those given up: everything fails, nothing is
  tried again;
- a worker is *given up* when it has been paused, has sent no heartbeat, or has finished nothing
  since it was given a task, each for longer than the tasks that it holds may take (``limits``), or
  when its results could not be fetched in ``fetch_s``. What it had begun is tried again elsewhere;
  where it was overdue by the limit of all tasks, it has failed. What only waited there goes
  elsewhere, without counting an attempt;
- a worker that was paused or silent is used again as soon as it is neither, one that was overdue
  as soon as nothing runs there;
- the task is bound to a worker that is gone: tried again, unbound;
- the task is with no worker for ``lost_s`` while some worker is free: tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pipeline.errors import ClusterLostError, PipelineError, RetryableError
from pipeline.schedule.transport.limits import Deadlines, Limits


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


@dataclass(frozen=True)
class Fault:
    """Why a worker has been given up: ``overdue``, ``paused``, ``silent``, ``mute`` or ``device``.

    ``mute``: its results cannot be fetched, though it may send heartbeats. ``is_final``: what it
    had begun has failed, since no attempt may take longer.
    """

    worker: str
    kind: str
    text: str
    is_final: bool = False

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
        kind = PipelineError if self.is_final else RetryableError
        return kind(f"{name}: {self.text}")


@dataclass
class Watch:
    """Remembers what earlier looks saw; times are of one monotonic clock.

    Attributes
    ----------
    given_up : dict of worker address to Fault
        Workers that get no task.
    deadlines : Deadlines
    """

    limits: Limits
    no_worker_since: float | None = None
    paused_since: dict[str, float] = field(default_factory=dict)
    last_end: dict[str, float] = field(default_factory=dict)
    given_up: dict[str, Fault] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.deadlines = Deadlines(self.limits)
        self._at_work: set[str] = set()  # workers that still ran something after they were given up

    def ended(
        self, worker: str, now: float, cost_s: float | None = None, run_s: float = 0.0
    ) -> None:
        """A task came back from ``worker``, where it took ``run_s``."""
        self.deadlines.note(cost_s, run_s, worker not in self.last_end)
        self.last_end[worker] = now

    def look(
        self,
        tasks: Mapping[Any, Watched],
        workers: Mapping[str, str],
        processing: Mapping[str, Iterable[Any]],
        now: float,
        quiet: Mapping[str, float] = MappingProxyType({}),
        free: Iterable[str] = (),
    ) -> dict[Any, PipelineError | Fault]:
        """Which tasks to give up waiting for, and why.

        Parameters
        ----------
        tasks : mapping of key to Watched
            In flight; ``worker`` and ``since`` are brought up to date.
        workers : mapping of address to status ("running", "paused", "silent", "mute", ...)
        processing : mapping of address to the keys it was given
        now : float
        quiet : mapping of address to seconds without a heartbeat
        free : addresses where nothing ran at the last heartbeat

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
        self._take_back(workers, quiet, frozenset(free))
        self._judge_workers(tasks.values(), workers, now, quiet)
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
                    verdicts[key] = self._stranded(task, fault, fault.worker in before, now)
                continue
            if task.worker is not None:
                task.stranded = None
            if error := self._judge(task, workers, some_free, now):
                verdicts[key] = error
        return verdicts

    def _stranded(
        self, task: Watched, fault: Fault, was_given_up: bool, now: float
    ) -> PipelineError | Fault:
        """A task goes elsewhere, unless no other worker may run it: it keeps coming back then."""
        if task.stranded is None or not was_given_up:
            task.stranded = now
        if now - task.stranded < self.limits.no_worker_s:
            return fault
        text = f"{task.name}: no other worker may run it, and {fault.text}"
        return PipelineError(text)

    def _take_back(
        self, workers: Mapping[str, str], quiet: Mapping[str, float], free: frozenset[str]
    ) -> None:
        """Use workers again that were given up and work again; forget those that are gone."""

        def lasts(fault: Fault) -> bool:
            worker = fault.worker
            if worker not in workers:
                return False
            if fault.kind == "device":
                return True
            if fault.kind == "overdue":
                if worker not in free:
                    self._at_work.add(worker)
                # One where nothing ran although it held tasks will begin no others either.
                return worker not in free or worker not in self._at_work
            least_s = min(self.limits.least_s, self.limits.silent_s)
            if fault.kind == "silent" and quiet.get(worker, 0.0) >= least_s:
                return True
            return workers[worker] != "running"

        self.given_up = {w: fault for w, fault in self.given_up.items() if lasts(fault)}
        self._at_work &= self.given_up.keys()

    def _judge_workers(
        self,
        tasks: Iterable[Watched],
        workers: Mapping[str, str],
        now: float,
        quiet: Mapping[str, float],
    ) -> None:
        """Give up workers that hold tasks back."""
        paused = {worker for worker, status in workers.items() if status == "paused"}
        self.paused_since = {w: self.paused_since.get(w, now) for w in paused}
        held: dict[str, list[Watched]] = {}
        for task in tasks:
            if task.worker is not None and task.worker not in self.given_up:
                held.setdefault(task.worker, []).append(task)
        for worker, there in held.items():
            status = workers.get(worker, "running")
            if fault := self._fault(worker, there, status, now, quiet.get(worker, 0.0)):
                self.given_up[worker] = fault

    def _fault(
        self, worker: str, tasks: Sequence[Watched], status: str, now: float, quiet_s: float
    ) -> Fault | None:
        """What is wrong with a worker that holds some tasks, if anything is.

        Which of them it has begun is not known: the largest decides.
        """
        deadlines, since = self.deadlines, min(task.since for task in tasks)
        if status == "mute":
            text = "gives no result and does not respond (stopped or cut off)"
            return Fault(worker, status, f"worker {worker} {text}")
        may_be_quiet_s = max(deadlines.silence(task.cost_s) for task in tasks)
        if status == "silent" or quiet_s >= may_be_quiet_s:
            return Fault(worker, "silent", f"worker {worker} does not respond (stopped or cut off)")
        if status == "paused":
            paused_s = now - max(self.paused_since[worker], since)
            if paused_s < max(deadlines.pause(task.cost_s) for task in tasks):
                return None
            text = (
                f"worker {worker} has been paused for {paused_s:.0f} s "
                "(Dask pauses a worker at 80 % of its memory limit); give the workers more memory"
            )
            return Fault(worker, status, text)
        # Waiting behind another task is not a fault: the clock starts at the worker's last end.
        held_s = now - max(since, self.last_end.get(worker, 0.0))
        is_first = worker not in self.last_end
        limit_s = max(deadlines.task(task.cost_s, task.tries, is_first) for task in tasks)
        if held_s < limit_s:
            return None
        text = f"no answer from worker {worker} for {held_s:.0f} s; gave up"
        return Fault(worker, "overdue", text, is_final=limit_s >= self.limits.task_s)

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
