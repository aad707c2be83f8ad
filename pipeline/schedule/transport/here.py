"""Tasks that run in this process, in a thread of their own.

The thread stands for a worker: it has a name, may be given up and replaced, and shares nothing with
the flight, since what it is given and what it returns are copied. It searches without the
interpreter's lock, so that signals, progress and deadlines work meanwhile.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.errors import PipelineError
from pipeline.model.search.results import THIS_PROCESS
from pipeline.schedule.transport.attempted import Attempted, BegunTasks, attempt_of, copied
from pipeline.schedule.transport.carrier import Submission
from pipeline.schedule.transport.clock import Clock
from pipeline.schedule.transport.events import Event, Failed, Finished, Key, shown
from pipeline.schedule.transport.limits import Limits


@dataclass(eq=False)
class Here:
    """This process as the place where tasks run; given to ``drive`` instead of a client."""

    status: str = "here"  # not that of a client which has a scheduler
    _names: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def carrier(self, run: Callable[[Any], Any], limits: Limits) -> HereCarrier:
        """What carries the tasks of one flight."""
        return HereCarrier(run, self.next_name)

    def next_name(self) -> str:
        """Name of the next thread: "this process", and if that is given up "this process (2)"."""
        number = next(self._names)
        return THIS_PROCESS if number == 1 else f"{THIS_PROCESS} ({number})"


class _Thread:
    """Runs what is put in its queue, until it is stopped; never waited for."""

    def __init__(self, name: str, run: Callable[[Any], Any], done: queue.SimpleQueue):
        self.name = name
        self.begun = BegunTasks()
        self.todo: queue.PriorityQueue[tuple[bool, int, Submission | None]] = queue.PriorityQueue()
        self._run, self._done = run, done
        self._numbers = itertools.count()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def put(self, submission: Submission) -> None:
        self.todo.put((not submission.is_urgent, next(self._numbers), submission))

    def stop(self) -> None:
        """Begin nothing further."""
        self.todo.put((False, -1, None))

    def _work(self) -> None:
        while (submission := self.todo.get()[2]) is not None:
            self._done.put((submission.key, self._attempt(submission)))

    def _attempt(self, submission: Submission) -> Attempted:
        """One attempt, as if it came from another process."""
        found = attempt_of(self.name, submission.key, self._run, submission.task, self.begun)
        try:
            return copied(found)
        except Exception as error:
            text = f"{shown(submission.key)}: {type(error).__name__}: {error}"
            return Attempted(found.run, error=PipelineError(text))


class HereCarrier:
    """One flight's tasks in this process; also the overview of its only worker.

    Parameters
    ----------
    run : callable
        Called with one task.
    next_name : callable
        Name of the next thread.
    """

    gone = ""
    lost = False
    answers = True

    def __init__(self, run: Callable[[Any], Any], next_name: Callable[[], str]):
        self._run, self._next_name = run, next_name
        self._done: queue.SimpleQueue[tuple[Key, Attempted]] = queue.SimpleQueue()
        self._given: set[Key] = set()  # what has not ended
        self._thread: _Thread | None = None
        self.clock = Clock()
        self.silent: set[str] = set()
        self.quiet: dict[str, float] = {}
        self.free: frozenset[str] = frozenset()

    @property
    def there(self) -> HereCarrier:
        return self

    @property
    def threads(self) -> dict[str, int]:
        """Threads of each worker: one."""
        return {self._worker.name: 1}

    @property
    def status(self) -> dict[str, str]:
        return {self._worker.name: "running"}

    @property
    def processing(self) -> dict[str, set[Key]]:
        return {self._worker.name: set(self._given)}

    @property
    def _worker(self) -> _Thread:
        if self._thread is None:
            self._thread = _Thread(self._next_name(), self._run, self._done)
        return self._thread

    def look(self, force: bool = False) -> bool:
        """There is nothing to ask."""
        return force

    def open(self) -> None:
        """The thread starts with the first task."""

    def close(self) -> None:
        """Begin nothing further; what runs is not waited for, and its result is lost."""
        self.cancel(list(self._given))
        if self._thread is not None:
            self._thread.stop()

    def send(self, submissions: Sequence[Submission]) -> bool:
        """Put them in the thread's queue."""
        for submission in submissions:
            self._given.add(submission.key)
            self._worker.put(submission)
        return True

    def come(self, timeout_s: float) -> Iterator[Event]:
        """What has ended here."""
        received = []
        try:
            if timeout_s:
                received.append(self._done.get(timeout=timeout_s))
            while True:
                received.append(self._done.get_nowait())
        except queue.Empty:
            pass
        for key, attempted in received:
            if key in self._given:
                self._given.discard(key)
                yield self._event(key, attempted)

    def _event(self, key: Key, attempted: Attempted) -> Event:
        now = self.clock.now()
        if attempted.error is not None:
            return Failed(key, attempted.error, now, attempted.run)
        return Finished(key, attempted.result, attempted.run, now)

    def fetch(self, keys: Sequence[Key]) -> None:
        """Results come by themselves."""

    def cancel(self, keys: Sequence[Key]) -> None:
        """Begin none of these; results of those that run are ignored."""
        if self._thread is not None:
            self._thread.begun.refuse(keys)
        self._given -= set(keys)

    def begun(self, worker: str, keys: Sequence[Key]) -> set[Key] | None:
        """Which the thread has begun; the rest never will be."""
        return set(self._worker.begun.refuse(keys))

    def can_replace(self, worker: str) -> bool:
        """Whether it is the present thread."""
        return self._thread is not None and worker == self._thread.name

    def replace(self, worker: str) -> None:
        """Leave the thread to itself, and start another with the next task.

        A thread cannot be ended: what hangs there continues until this process ends.
        """
        if self.can_replace(worker):
            self._worker.stop()
            self._thread = None

    def hold(self, n_tasks: float) -> None:
        """The thread's queue has no limit."""
