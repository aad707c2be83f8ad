"""State of tasks in flight: events in, instructions out. Pure: no I/O, no clock, no Dask.

Each task is in one state at a time:

- ``waiting``: to be sent; the scheduler does not have it yet;
- ``submitted``: with the scheduler or a worker; whether it has begun is not known here;
- ``fetching``: it has ended, its result is on its way;
- ``splitting``: it was out of memory, and the caller must supply smaller tasks;
- ``quarantined``: its worker died; it waits until no other suspect is in flight;
- ``done``: its outcome has been reported, or smaller tasks replace it.

A worker that dies also loses the tasks that waited there behind the one that killed it. So each
of them is tried again in quarantine, one at a time: only a task that loses its worker twice while
no other suspect is in flight has failed.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from pipeline.errors import ClusterLostError, DeviceLostError, OutOfMemoryError, RetryableError
from pipeline.model.search.tasks import Attempt, Outcome, TaskRun
from pipeline.schedule.transport.events import (
    Ask,
    Begun,
    Cancel,
    ClusterLost,
    Cut,
    Event,
    Failed,
    Fetch,
    Finished,
    Instruction,
    Key,
    Looked,
    Ready,
    Restart,
    Send,
    Sent,
    Silent,
    Split,
    Submitted,
    Warn,
    WorkerLost,
    Yield,
    shown,
)
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.watch import Fault, Watch, Watched

MAX_LOSSES = 2  # workers that a task may lose while it alone is under suspicion
MAX_DEVICE_RESTARTS = 2  # workers replaced since their device failed: a new process may cure it
URGENT = -1  # number of the queue whose tasks are begun before those of all others


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


@dataclass(eq=False)
class FlightState:
    """All tasks in flight.

    Parameters
    ----------
    name : callable from a task to str
        ``shown-run``: two flights on one scheduler have different runs.
    max_attempts : int
        Attempts of a task that fails with RetryableError.
    limits : Limits
        When to stop waiting.

    Attributes
    ----------
    tasks : dict of key to TaskInFlight
        All but those in quarantine.
    n_of_queue : Counter
        Tasks in flight by the caller's queue.
    quarantine, suspect
        Those that wait for their turn, and the one of them whose turn it is.
    lost : str
        Why the cluster is gone; empty while it is not.
    """

    name: Callable[[Any], str]
    max_attempts: int
    limits: Limits
    tasks: dict[Key, TaskInFlight] = field(default_factory=dict)
    n_of_queue: Counter[int] = field(default_factory=Counter)
    quarantine: deque[TaskInFlight] = field(default_factory=deque)
    suspect: TaskInFlight | None = None
    lost: str = ""
    _numbers: itertools.count = field(default_factory=itertools.count)
    _silent: frozenset[str] = frozenset()
    _avoid: frozenset[str] = frozenset()
    _threads: dict[str, int] = field(default_factory=dict)
    _n_device_restarts: int = 0

    def __post_init__(self) -> None:
        self._watch = Watch(self.limits)
        self._on: dict[type, Callable[[Any], list[Instruction]]] = {
            Submitted: self._on_submitted,
            Sent: self._on_sent,
            Ready: self._on_ready,
            Finished: self._on_finished,
            Failed: self._on_failed,
            WorkerLost: self._on_worker_lost,
            Cut: self._on_cut,
            Silent: self._on_silent,
            Looked: self._on_looked,
            Begun: self._on_begun,
            ClusterLost: self._on_cluster_lost,
        }

    @property
    def n_in_flight(self) -> int:
        return len(self.tasks) + len(self.quarantine)

    def pinned(self) -> Counter[str | None]:
        """Tasks in flight by the worker that they are bound to; None: bound to none."""
        return Counter(task.pin for task in self.tasks.values())

    def handle(self, event: Event) -> list[Instruction]:
        """Handle an event; returns what to do now, in this order.

        What comes for an attempt that is over is ignored.
        """
        instructions = self._on[type(event)](event)
        if self.suspect is None and self.quarantine:
            self.suspect = self.quarantine.popleft()
            instructions += self._send(self.suspect)
        return instructions

    def _on_submitted(self, event: Submitted) -> list[Instruction]:
        self.n_of_queue[event.queue] += 1
        task = TaskInFlight(name="", task=event.task, queue=event.queue, submitted=event.at)
        task.cost_s = event.cost_s
        return self._send(task, event.pin)

    def _on_sent(self, event: Sent) -> list[Instruction]:
        for key in event.keys:
            task = self.tasks.get(key)
            if task is not None and task.state == "waiting":
                task.state, task.submitted = "submitted", event.at
        return []

    def _on_ready(self, event: Ready) -> list[Instruction]:
        task = self.tasks.get(event.key)
        if task is None or task.state != "submitted":
            return []
        task.state = "fetching"
        return [Fetch(event.key)]

    def _on_finished(self, event: Finished) -> list[Instruction]:
        if (task := self.tasks.get(event.key)) is None:
            return []
        self._note_end(task, event.run, event.now)
        return [self._end(task, result=event.result, run=event.run)]

    def _on_failed(self, event: Failed) -> list[Instruction]:
        if (task := self.tasks.get(event.key)) is None:
            return []
        if event.run is not None:
            self._note_end(task, event.run, event.now)
            if isinstance(event.error, DeviceLostError):
                taken_out = self._take_out(event.run.worker, event.error, task)
                return taken_out + self._fail(task, event.error, event.run)
        return self._fail(task, event.error, event.run)

    def _take_out(
        self, worker: str, error: DeviceLostError, cause: TaskInFlight
    ) -> list[Instruction]:
        """Give up a worker whose device has failed: it would fail all that it is given."""
        if worker in self._watch.given_up:
            return []
        fault = Fault(worker, "device", f"worker {worker}: its device has failed: {error}")
        self._watch.given_up[worker] = fault
        self._avoid |= {worker}
        there = [task for task in self.tasks.values() if task.worker == worker]
        there = [task for task in there if task.state == "submitted" and task is not cause]
        text = f"{fault.text}; it gets no further task"
        instructions: list[Instruction] = [Warn(text), Cancel(tuple(task.key for task in there))]
        if self._n_device_restarts < MAX_DEVICE_RESTARTS:
            self._n_device_restarts += 1
            instructions.append(Restart(worker))
        for task in there:
            instructions += self._move(task)
        return instructions

    def _on_worker_lost(self, event: WorkerLost) -> list[Instruction]:
        task, error = self.tasks.get(event.key), RetryableError(event.reason)
        if task is None:
            return []
        task.n_losses += task is self.suspect
        if task.n_losses == MAX_LOSSES:
            return [self._end(task, error=error)]
        self._leave(task)
        text = f"attempt {task.number}: {error}; trying again, alone"
        task.fail(error)
        task.number += 1
        task.state = "quarantined"
        self.quarantine.append(task)
        return [Warn(text)]

    def _on_cut(self, event: Cut) -> list[Instruction]:
        task = self.tasks.get(event.key)
        if task is None or task.cause is None:
            return []
        error, run = task.cause
        if not event.parts:
            task.cause = None
            return self._try_again(task, error, run)
        self._leave(task)
        task.state = "done"
        task.fail(error, run)
        self.n_of_queue[task.queue] += len(event.parts) - 1
        text = f"{error}; running it as {len(event.parts)} smaller tasks"
        instructions: list[Instruction] = [Warn(text)]
        for i, part in enumerate(event.parts):
            smaller = TaskInFlight(name="", task=part, queue=task.queue, submitted=task.submitted)
            smaller.number, smaller.cost_s = task.number + 1, task.cost_s
            smaller.failed = () if i else task.failed  # reported once, with the first part
            instructions += self._send(smaller, task.pin)
        return instructions

    def _on_silent(self, event: Silent) -> list[Instruction]:
        self._silent = event.workers
        self._avoid = self._silent | self._watch.given_up.keys()
        return []

    def _on_looked(self, event: Looked) -> list[Instruction]:
        given_up = set(self._watch.given_up)
        self._threads = dict(event.threads)
        # What has ended is with no worker, and fetching has its own limit.
        watched = {k: task for k, task in self.tasks.items() if task.state == "submitted"}
        seen = (event.status, event.processing, event.now, event.quiet, event.free)
        verdicts = self._watch.look(watched, *seen)
        self._avoid = self._silent | self._watch.given_up.keys()
        instructions: list[Instruction] = []
        held: dict[Fault, list[Key]] = {}  # tasks by the fault of their worker, found just now
        over = []
        for key, verdict in verdicts.items():
            if isinstance(verdict, Fault) and verdict.worker not in given_up:
                held.setdefault(verdict, []).append(key)
            else:
                over.append(key)
        if over:
            instructions.append(Cancel(tuple(over)))
        for key in over:
            task, verdict = watched[key], verdicts[key]
            if isinstance(verdict, Fault):
                instructions += self._move(task)
                continue
            instructions += self._fail(task, verdict)
            if isinstance(verdict, ClusterLostError):  # others will not find a worker either
                left, self.quarantine = self.quarantine, deque()
                instructions += [self._end(suspect, error=verdict) for suspect in left]
        for fault, keys in held.items():
            if fault.answers:
                instructions.append(Ask(fault.worker, tuple(keys)))
            else:
                instructions += self._on_begun(Begun(fault.worker, tuple(keys), None))
        return instructions

    def _on_begun(self, event: Begun) -> list[Instruction]:
        fault = self._watch.given_up.get(event.worker)
        tasks = [self.tasks[key] for key in event.keys if key in self.tasks]
        if fault is None or not tasks:
            return []
        begun = event.begun
        if begun is None:  # the one that has been there longest
            tasks.sort(key=lambda task: (task.queue != URGENT, task.key[1]))
            begun = frozenset(task.key for task in tasks[: self._threads.get(fault.worker, 1)])
        n_left = sum(task.key not in begun for task in tasks)
        text = f"{fault.text}; tasks waiting there that go to other workers: {n_left}"
        instructions: list[Instruction] = [Warn(text), Cancel(tuple(task.key for task in tasks))]
        if fault.ends:  # before anything else comes there
            instructions.append(Restart(fault.worker))
        for task in tasks:
            if task.key in begun:
                instructions += self._fail(task, fault.error(task.name))
            else:
                instructions += self._move(task)
        return instructions

    def _on_cluster_lost(self, event: ClusterLost) -> list[Instruction]:
        self.lost = event.reason
        keys, tasks = tuple(self.tasks), [*self.tasks.values(), *self.quarantine]
        self.quarantine.clear()
        error = ClusterLostError(self.lost)
        return [Cancel(keys), *(self._end(task, error=error) for task in tasks)]

    def _note_end(self, task: TaskInFlight, run: TaskRun, now: float) -> None:
        self._watch.ended(run.worker, now, task.cost_s, run.ended - run.started)

    def _send(self, task: TaskInFlight, pin: str | None = None) -> list[Instruction]:
        """Begin an attempt."""
        name = self.name(task.task)
        task.key = (name, next(self._numbers), task.number)
        task.name = shown(task.key)
        if self.lost:
            return [self._end(task, error=ClusterLostError(f"{task.name}: {self.lost}"))]
        task.pin = pin if pin not in self._watch.given_up else None
        task.state, task.worker, task.since = "waiting", None, 0.0
        self.tasks[task.key] = task
        return [Send(task.key, task.task, task.pin, self._avoid, task.queue == URGENT)]

    def _move(self, task: TaskInFlight) -> list[Instruction]:
        """Send elsewhere what only waited at a worker, without counting an attempt."""
        del self.tasks[task.key]
        return self._send(task)

    def _fail(
        self, task: TaskInFlight, error: BaseException, run: TaskRun | None = None
    ) -> list[Instruction]:
        """Another attempt, smaller tasks, or an outcome."""
        if not isinstance(error, RetryableError):
            return [self._end(task, run=run, error=error)]
        if isinstance(error, OutOfMemoryError):
            task.state, task.cause = "splitting", (error, run)
            return [Split(task.key, task.task)]
        return self._try_again(task, error, run)

    def _try_again(
        self, task: TaskInFlight, error: BaseException, run: TaskRun | None
    ) -> list[Instruction]:
        if task.tries >= self.max_attempts:
            return [self._end(task, run=run, error=error)]
        self._leave(task)
        text = f"attempt {task.number}: {error}; trying again"
        task.fail(error, run)
        task.number += 1
        task.tries += 1
        task.n_losses = 0
        return [Warn(text), *self._send(task)]

    def _leave(self, task: TaskInFlight) -> None:
        """End its present attempt."""
        self.tasks.pop(task.key, None)
        if task is self.suspect:
            self.suspect = None

    def _end(self, task: TaskInFlight, **came: Any) -> Yield:
        """Report its outcome; ``came``: what else is known."""
        self._leave(task)
        task.state = "done"
        self.n_of_queue[task.queue] -= 1
        return Yield(Outcome(task.task, task.number, task.submitted, failed=task.failed, **came))
