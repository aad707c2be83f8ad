"""Tasks in flight on a cluster: submit, wait, classify what comes back, try again.

What is submitted between two waits travels as one message: a graph of one task costs a scheduler
nearly what one of fifty costs.

A worker that dies takes the tasks with it that wait there behind the one that killed it. So each
of them is tried again in quarantine, one at a time: only a task that loses its worker twice while
no other suspect is in flight has failed.
"""

from __future__ import annotations

import itertools
import logging
import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

from distributed import Client
from distributed.client import ClosedClientError

from pipeline.errors import ClusterLostError, OutOfMemoryError, PipelineError, RetryableError
from pipeline.model.tasks import Attempt, Outcome
from pipeline.schedule.transport.attempt import POSTED, Attempted, WithdrawnError, attempt, pack
from pipeline.schedule.transport.connection import GONE, WITHDRAWN, Connection
from pipeline.schedule.transport.entry import Answer, Entry, WorkerDiedError, reason_of, unpacked
from pipeline.schedule.transport.mailbox import Mailbox, open_mailbox
from pipeline.schedule.transport.watch import Fault, Limits, Watch, Watched

log = logging.getLogger(__name__)

THREAD_WINDOW = 2  # tasks in flight for each worker thread: one runs, one is on its way
MIN_WINDOW = 16  # tasks; those that no worker holds wait at the scheduler for whoever is free
# Between the end of a task and the start of the one sent for it lie four streams that Dask fills
# by the batch: worker to scheduler every 2 ms, to the client 2, back 10, to the worker 5. Where
# tasks are shorter, more of them are on their way: seconds of work, and tasks at most.
ROUND_TRIP_S = 40e-3
MAX_THREAD_WINDOW, MAX_WINDOW = 32, 256
SHORT_S = 10e-3  # seconds; of tasks shorter than that a worker thread holds more
N_RECENT = 16  # tasks whose mean time decides
MAX_DEATHS = 2  # workers lost in quarantine
URGENT = -1  # number of the queue whose tasks are begun before those of all others

Split = Callable[[Any], Sequence[Any]]
Allowed = Callable[[Any, Iterable[str]], list[str] | None]  # of a task and the workers there


def on_any(task: Any, workers: Iterable[str]) -> None:
    """Every worker may run the task."""


def no_beat() -> None:
    """Nobody wants to know that time passes."""


def no_split(task: Any) -> Sequence[Any]:
    """Nothing smaller exists."""
    return ()


@dataclass(eq=False)
class Flight:
    """The one place that holds futures; every one is released when its outcome is known."""

    client: Client
    run: Callable[[Any], Any]
    name: Callable[[Any], str]
    max_attempts: int
    smaller: Split
    limits: Limits
    allowed: Allowed
    beat: Callable[[], None] = no_beat
    _entries: dict[Any, Entry] = field(default_factory=dict)
    _suspects: deque[tuple] = field(default_factory=deque)  # arguments of submit
    _stillborn: list[Outcome] = field(default_factory=list)  # not even submitted
    _number: itertools.count = field(default_factory=itertools.count)
    # Not yet sent: the workers that may run it, its queue, its key, and the task as bytes.
    _outbox: list[tuple[list[str] | None, int, tuple, bytes]] = field(default_factory=list)
    _mailbox: Mailbox | None = None
    _recent_s: deque[float] = field(default_factory=lambda: deque(maxlen=N_RECENT))
    _looked_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._there = Connection(self.client, self.limits)
        self._watch = Watch(self.limits)

    def __enter__(self) -> Flight:
        if not self._there.lost:
            self._mailbox = open_mailbox(self.client)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel what is still in flight: the caller stopped, or was interrupted."""
        left = [entry.future for entry in self._entries.values() if entry.future is not None]
        if self._mailbox is not None:
            self._mailbox.forget(self._entries)
            self._mailbox.close()
        self._entries.clear()
        self._outbox.clear()
        self._suspects.clear()
        self._there.cancel(left)

    @property
    def n_in_flight(self) -> int:
        return len(self._entries) + len(self._suspects) + len(self._stillborn)

    def n_queued(self, queue: int) -> int:
        """Tasks in flight that came from one of the caller's queues."""
        n_suspects = sum(arguments[-1] == queue for arguments in self._suspects)
        n_running = sum(entry.queue == queue for entry in self._entries.values())
        return n_running + n_suspects + len(self._stillborn)

    def n_pinned(self, worker: str | None) -> int:
        """Tasks in flight that are bound to one worker; None: those that are bound to none."""
        return sum(entry.watched.pin == worker for entry in self._entries.values())

    def window(self, task: Any = None) -> int:
        """Tasks to keep in flight now; with a task: of those that the same workers may run."""
        self._there.look()
        threads = self._there.threads
        allowed = self.allowed(task, threads) if task is not None else None
        workers = threads if allowed is None else allowed
        n_threads = max(1, sum(threads.get(worker, 0) for worker in workers))
        enough = max(MIN_WINDOW, THREAD_WINDOW * n_threads)
        more = n_threads * min(MAX_THREAD_WINDOW, ROUND_TRIP_S / max(self._mean_s(), 1e-6))
        return max(enough, min(MAX_WINDOW, int(more)))

    def _mean_s(self) -> float:
        """Of the last tasks; as if they were long while none has ended."""
        if not self._recent_s:
            return ROUND_TRIP_S
        return sum(self._recent_s) / len(self._recent_s)

    def slots(self) -> list[str]:
        """One worker address for each thread, in a fixed order."""
        self._there.look(force=True)
        workers = sorted(self._there.threads.items())
        return [worker for worker, n_threads in workers for _ in range(n_threads)]

    def submit(
        self,
        task: Any,
        pin: str | None = None,
        number: int = 1,
        tries: int = 1,
        failed: tuple[Attempt, ...] = (),
        suspect: bool = False,
        deaths: int = 0,
        queue: int = 0,
    ) -> None:
        """Give one task to the cluster when we wait; ``pin``: the only worker that may take it."""
        if self._there.lost:
            lost = ClusterLostError(f"{self.name(task).rpartition('-')[0]}: {self._there.gone}")
            self._stillborn.append(Outcome(task, number, time.time(), error=lost, failed=failed))
            return
        if pin in self._watch.given_up:
            pin = None
        name = self.name(task)
        key = (name, next(self._number), number)
        workers = [pin] if pin is not None else self._able(task)
        topic = self.client.id if self._mailbox is not None else ""
        packed = pack(key, topic, self.run, task)
        self._outbox.append((workers, queue, key, packed))
        watched = Watched(name.rpartition("-")[0], pin)
        self._entries[key] = Entry(
            task, number, tries, time.time(), None, watched, failed, suspect, deaths, queue
        )

    def _send(self) -> None:
        """Give the cluster what has been submitted, all that the same workers may run at once."""
        outbox, self._outbox = self._outbox, []
        for (workers, number), sent in itertools.groupby(outbox, key=lambda item: item[:2]):
            *_, keys, packed = zip(*sent, strict=True)
            if self._mailbox is not None:
                self._mailbox.expect(keys, self._there.done)
            now = time.time()
            # retries=0: Dask would also repeat errors that no repetition can cure.
            how = {"retries": 0, "workers": workers, "priority": int(number == URGENT)}
            try:
                futures = self.client.map(attempt, list(packed), key=list(keys), pure=False, **how)
            except ClosedClientError:  # it was lost just now
                self._there.gone = self._there.gone or GONE
                for entry in [self._entries.pop(key) for key in keys]:
                    self.submit(entry.task, None, entry.number, entry.tries, entry.failed)
                continue
            for key, future in zip(keys, futures, strict=True):
                self._entries[key].submitted = now
                self._entries[key].future = future
            self._there.tell_ends(futures)

    def _able(self, task: Any) -> list[str] | None:
        """Workers that may run a task and give signs of life; None: any."""
        self._there.look()
        allowed = self.allowed(task, self._there.threads)
        if not (useless := self._there.silent | self._watch.given_up.keys()):
            return allowed
        workers = list(self._there.threads) if allowed is None else allowed
        return [worker for worker in workers if worker not in useless] or allowed

    def finished(self) -> list[Outcome]:
        """Wait until something has finished; outcomes of what has, in order of completion.

        May be empty: what finished was tried again, or nothing did before the next look.
        """
        self._send()
        told = self._wait() if self._entries and not self._stillborn else []
        self.beat()
        outcomes, self._stillborn = self._stillborn, []
        answers = self._answers(told)
        if self._mailbox is not None:
            self._mailbox.forget(key for key, _ in answers)
        ended = [(self._entries.pop(key), answer) for key, answer in answers]
        taken = [entry for entry, answer in ended if answer == WITHDRAWN]
        self._there.cancel([entry.future for entry in taken if entry.future is not None])
        for entry, answer in ended:
            outcomes += self._settle(entry, answer)
        if answers:
            self._there.hold_more(self._mean_s() < SHORT_S)
        now = time.monotonic()
        if self._entries and now - self._looked_at >= self.limits.poll_s:
            outcomes += self._look()
            self._looked_at = time.monotonic()
        self._try_a_suspect()
        self._send()
        return outcomes

    def waiting(self) -> list[Any]:
        """Tasks that may not have begun, and may be withdrawn."""
        entries = self._entries.values()
        tasks = [e.task for e in entries if e.future and not (e.fetching or e.unwanted)]
        return tasks + [arguments[0] for arguments in self._suspects]

    def withdraw(self, tasks: Iterable[Any]) -> None:
        """Take back some of ``waiting``, as outcomes of ``finished``; what has begun goes on."""
        unwanted = {id(task) for task in tasks}
        keys = [key for key, entry in self._entries.items() if id(entry.task) in unwanted]
        for key in keys:
            self._entries[key].unwanted = True
        if keys:
            self._there.withdraw(keys)
        for task, _, number, _, failed, *_ in self._suspects:
            if id(task) in unwanted:
                told = Outcome(task, number, time.time(), failed=failed, withdrawn=True)
                self._stillborn.append(told)
        self._suspects = deque(s for s in self._suspects if id(s[0]) not in unwanted)

    def _try_a_suspect(self) -> None:
        if self._suspects and not any(entry.suspect for entry in self._entries.values()):
            self.submit(*self._suspects.popleft())

    def _wait(self) -> list[tuple[Any, Any]]:
        done = self._there.done
        try:
            told = [done.get(timeout=self.limits.poll_s)]
        except queue.Empty:
            return []
        while True:
            try:
                told.append(done.get_nowait())
            except queue.Empty:
                return told

    def _answers(self, told: list[tuple[Any, Any]]) -> list[tuple[Any, Answer]]:
        """What has come back; what has only ended is fetched, and comes back later.

        What has been posted may come back before Dask knows that it has ended: whoever waits for
        its end keeps the future until then.
        """
        answers: dict[Any, Answer] = {}
        ready = []
        for key, answer in told:
            if key in answers or (entry := self._entries.get(key)) is None:
                continue  # it was posted, or given up meanwhile
            if isinstance(answer, bytes):
                answers[key] = unpacked(entry, answer)
            elif answer == POSTED:
                text = f"{entry.watched.name}: its result was lost on the way"
                answers[key] = RetryableError(text)
            elif answer is not None:
                answers[key] = answer
            elif (future := entry.future) is not None and future.status == "finished":
                entry.fetching = True
                ready.append(future)
            else:
                answers[key] = reason_of(entry.watched.name, future, self._there)
        if ready:
            self._there.fetch(ready)
        return list(answers.items())

    def _settle(self, entry: Entry, answer: Answer) -> list[Outcome]:
        """An outcome, or another attempt."""
        if isinstance(answer, str):
            return [entry.outcome(withdrawn=True)]
        run = None
        if isinstance(answer, Attempted):
            run, error = answer.run, answer.error
            self._watch.ended(run.worker, time.monotonic())
            if isinstance(error, WithdrawnError) and entry.unwanted:
                return [entry.outcome(withdrawn=True)]  # before all workers have been asked
            self._recent_s.append(run.ended - run.started)
            if error is None:
                return [entry.outcome(result=answer.result, run=run)]
        else:
            error = answer
        failed = (*entry.failed, Attempt(entry.number, entry.submitted, error, run))
        if entry.unwanted and isinstance(error, RetryableError):
            # What would be tried again, or cut, if anybody still needed it.
            return [replace(entry.outcome(withdrawn=True), failed=failed)]
        if isinstance(error, OutOfMemoryError) and (parts := self.smaller(entry.task)):
            log.warning("%s; running it as %d smaller tasks", error, len(parts))
            for part in parts:
                again = (part, entry.watched.pin, entry.number + 1, 1, failed)
                self.submit(*again, queue=entry.queue)
                failed = ()  # told once, with the first part
            return []
        if isinstance(error, WorkerDiedError):
            deaths = entry.deaths + entry.suspect
            if deaths < MAX_DEATHS:
                log.warning("attempt %d: %s; trying again, alone", entry.number, error)
                suspect = (entry.task, None, entry.number + 1, entry.tries, failed, True, deaths)
                self._suspects.append((*suspect, entry.queue))
                return []
        elif isinstance(error, RetryableError) and entry.tries < self.max_attempts:
            log.warning("attempt %d: %s; trying again", entry.number, error)
            again = (entry.task, None, entry.number + 1, entry.tries + 1, failed)
            self.submit(*again, queue=entry.queue)
            return []
        return [entry.outcome(run=run, error=error)]

    def _look(self) -> list[Outcome]:
        """Ask the scheduler about what has not come back."""
        there, before = self._there, set(self._watch.given_up)
        there.look(force=True)
        verdicts: dict[Any, PipelineError | Fault] = {}
        if there.lost:
            verdicts = dict.fromkeys(self._entries, ClusterLostError(there.gone))
        elif there.answers:
            # What has ended is with no worker, and fetching has a limit of its own.
            watched = {key: e.watched for key, e in self._entries.items() if not e.fetching}
            now = time.monotonic()
            verdicts = self._watch.look(watched, there.status, there.processing, now)
        begun = self._begun(verdicts, before)
        given_up = {key: self._entries.pop(key) for key in verdicts}
        there.cancel([entry.future for entry in given_up.values() if entry.future is not None])
        self._replace(before)
        outcomes = []
        for key, entry in given_up.items():
            verdict = verdicts[key]
            if isinstance(verdict, PipelineError):
                outcomes += self._settle(entry, verdict)
            elif key in begun:
                outcomes += self._settle(entry, verdict.error(entry.watched.name))
            elif entry.unwanted:
                outcomes.append(entry.outcome(withdrawn=True))
            else:  # it only waited there, so nothing is counted
                self.submit(
                    entry.task,
                    None,
                    entry.number,
                    entry.tries,
                    entry.failed,
                    entry.suspect,
                    entry.deaths,
                    entry.queue,
                )
        return outcomes

    def _begun(self, verdicts: dict[Any, PipelineError | Fault], before: set[str]) -> set[Any]:
        """What workers that have just been given up had begun."""
        waiting: dict[Fault, list] = {}
        for key, verdict in verdicts.items():
            if isinstance(verdict, Fault) and verdict.worker not in before:
                waiting.setdefault(verdict, []).append(key)
        begun = set()
        for fault, keys in waiting.items():
            told = self._there.begun(fault.worker, keys) if fault.answers else None
            if told is None:  # what has been there longest
                keys.sort(key=lambda key: (self._entries[key].queue != URGENT, key[1]))
                told = set(keys[: self._there.threads.get(fault.worker, 1)])
            begun |= told
            n_left = len(keys) - len(told)
            log.warning("%s; tasks that only waited there and go elsewhere: %d", fault.text, n_left)
        return begun

    def _replace(self, before: set[str]) -> None:
        """End workers of ours that have just been given up, before anything else comes there."""
        for worker, fault in self._watch.given_up.items():
            if worker not in before and fault.ends and self._there.can_replace(worker):
                log.warning("worker %s is ended, another takes its place", worker)
                self._there.replace(worker)
