"""Tasks in flight on a cluster: submit, wait, classify what comes back, try again.

A worker that dies takes the tasks with it that wait there behind the one that killed it. So each
of them is tried again in quarantine, one at a time: only a task that loses its worker twice while
no other suspect is in flight has failed.
"""

from __future__ import annotations

import itertools
import logging
import pickle
import queue
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from distributed import Client, Future, get_worker
from distributed.client import ClosedClientError
from distributed.scheduler import KilledWorker

from pipeline.errors import OutOfMemoryError, PipelineError, RetryableError
from pipeline.model.tasks import Attempt, Outcome, TaskRun
from pipeline.schedule.watch import Limits, Watch, Watched

log = logging.getLogger(__name__)

THREAD_WINDOW = 2  # tasks in flight for each worker thread: one runs, one is on its way
MIN_WINDOW = 16  # tasks; 1.5 ms a task without work where 8 in flight give 2.1 ms, 4 give 2.7
MAX_DEATHS = 2  # workers lost in quarantine
GATHER_S = 120.0  # seconds to fetch small results that are ready; longer means a lost cluster

Split = Callable[[Any], Sequence[Any]]


def no_split(task: Any) -> Sequence[Any]:
    """Nothing smaller exists."""
    return ()


class WorkerDiedError(RetryableError):
    """The worker of a task died, by the task's fault or another's."""


@dataclass(frozen=True)
class Attempted:
    """What a worker sends back for one attempt: a result or an error, and where and when."""

    run: TaskRun
    result: Any = None
    error: BaseException | None = None


def attempt(run: Callable[[Any], Any], task: Any) -> Attempted:
    """Run one task on this worker; an error is a value, so that it travels with its place."""
    try:
        worker = get_worker().address
    except ValueError:  # outside a worker, in tests
        worker = ""
    started = time.time()
    result, error = None, None
    try:
        result = run(task)
    except Exception as raised:  # every error of a task becomes an outcome at the client
        error = _portable(raised)
    place = TaskRun(worker, getattr(task, "device", "cpu"), started, time.time())
    return Attempted(place, result, error)


def _portable(error: BaseException) -> BaseException:
    """The error without its frames, and as text if it cannot be pickled."""
    error.__traceback__ = None
    error.__cause__ = error.__context__ = None
    if isinstance(error, PipelineError):
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # an error class whose __init__ does not match its args
            return PipelineError(str(error))
        return error
    if isinstance(error, MemoryError):
        return OutOfMemoryError(f"out of memory: {error}")
    return PipelineError(f"{type(error).__name__}: {error}")


@dataclass(eq=False)
class _Entry:
    task: Any
    number: int  # of the attempt
    tries: int  # attempts that count against max_attempts
    submitted: float
    future: Future
    watched: Watched
    failed: tuple[Attempt, ...]
    suspect: bool = False
    deaths: int = 0  # workers it lost in quarantine


@dataclass(eq=False)
class Flight:
    """The one place that holds futures; every one is released when its outcome is known."""

    client: Client
    run: Callable[[Any], Any]
    name: Callable[[Any], str]
    max_attempts: int
    smaller: Split
    limits: Limits
    allowed: Callable[[Any], list[str] | None]
    _entries: dict[Any, _Entry] = field(default_factory=dict)
    _suspects: deque[tuple] = field(default_factory=deque)  # arguments of submit
    _stillborn: list[Outcome] = field(default_factory=list)  # not even submitted
    _done: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)
    _number: itertools.count = field(default_factory=itertools.count)
    _threads: dict[str, int] = field(default_factory=dict)
    _threads_at: float = float("-inf")
    _looked_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._gone = False
        self._watch = Watch(self.limits)

    def __enter__(self) -> Flight:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel what is still in flight: the caller stopped, or was interrupted."""
        left = [entry.future for entry in self._entries.values()]
        self._entries.clear()
        self._suspects.clear()
        if left and not self._lost_client():
            self.client.cancel(left)
        for future in left:
            future.release()

    @property
    def n_in_flight(self) -> int:
        return len(self._entries) + len(self._suspects) + len(self._stillborn)

    def n_pinned(self, worker: str | None) -> int:
        """Tasks in flight that are bound to one worker; None: those that are bound to none."""
        return sum(entry.watched.pin == worker for entry in self._entries.values())

    def n_threads(self) -> int:
        """Threads of all workers now, at least one; asked anew every few seconds."""
        return max(1, sum(self._refresh().values()))

    def window(self) -> int:
        """Tasks to keep in flight now."""
        return max(MIN_WINDOW, THREAD_WINDOW * self.n_threads())

    def slots(self) -> list[str]:
        """One worker address for each thread, in a fixed order."""
        workers = sorted(self._refresh(force=True).items())
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
    ) -> None:
        """Give one task to the cluster; ``pin`` is the only worker that may take it."""
        if self._lost_client():
            lost = PipelineError(f"{self.name(task).rpartition('-')[0]}: the scheduler is gone")
            self._stillborn.append(Outcome(task, number, time.time(), error=lost, failed=failed))
            return
        name = self.name(task)
        key = (name, next(self._number), number)
        workers = [pin] if pin is not None else self.allowed(task)
        submitted = time.time()
        # retries=0: Dask would also repeat errors that no repetition can cure.
        try:
            future = self.client.submit(
                attempt, self.run, task, key=key, pure=False, retries=0, workers=workers
            )
        except ClosedClientError:  # it was lost just now
            self.submit(task, pin, number, tries, failed)
            return
        watched = Watched(name.rpartition("-")[0], pin)
        self._entries[key] = _Entry(
            task, number, tries, submitted, future, watched, failed, suspect, deaths
        )
        future.add_done_callback(lambda done: self._done.put(done.key))

    def finished(self) -> list[Outcome]:
        """Wait until something has finished; outcomes of what has, in order of completion.

        May be empty: what finished was tried again, or nothing did before the next look.
        """
        keys = self._wait() if self._entries and not self._stillborn else []
        entries = [(key, self._entries[key]) for key in keys if key in self._entries]
        outcomes, self._stillborn = self._stillborn, []
        for key, entry, answer in self._fetch(entries):
            del self._entries[key]
            outcomes += self._settle(entry, answer)
            entry.future.release()
        now = time.monotonic()
        if self._entries and now - self._looked_at >= self.limits.poll_s:
            self._looked_at = now
            outcomes += self._look(now)
        self._try_a_suspect()
        return outcomes

    def _try_a_suspect(self) -> None:
        if self._suspects and not any(entry.suspect for entry in self._entries.values()):
            self.submit(*self._suspects.popleft())

    def _lost_client(self) -> bool:
        """Whether the scheduler has gone; a connection that was lost once stays lost for us."""
        self._gone = self._gone or self.client.status != "running"
        return self._gone

    def _wait(self) -> list[Any]:
        try:
            keys = [self._done.get(timeout=self.limits.poll_s)]
        except queue.Empty:
            return []
        while True:
            try:
                keys.append(self._done.get_nowait())
            except queue.Empty:
                return keys

    def _fetch(
        self, entries: list[tuple[Any, _Entry]]
    ) -> list[tuple[Any, _Entry, Attempted | BaseException]]:
        """Results of futures that are done, or why there is none."""
        ready = [entry.future for _, entry in entries if entry.future.status == "finished"]
        values: dict[Any, Attempted] = {}
        if ready:
            try:
                fetched = self.client.gather(ready)
                values = {f.key: value for f, value in zip(ready, fetched, strict=True)}
            except Exception as error:  # a worker died with a result: look at each alone
                log.debug("results could not be fetched together: %s", error)
        answers: list[tuple[Any, _Entry, Attempted | BaseException]] = []
        for key, entry in entries:
            if key in values:
                answers.append((key, entry, values[key]))
            else:
                answers.append((key, entry, self._reason(entry)))
        return answers

    def _reason(self, entry: _Entry) -> Attempted | BaseException:
        """Result or error of one future that could not be fetched with others."""
        name = entry.watched.name
        try:
            value = entry.future.result(timeout=GATHER_S)
        except KilledWorker as error:
            where = getattr(error.last_worker, "address", error.last_worker)
            return WorkerDiedError(
                f"{name}: the workers that ran it died, {where} last "
                "(killed, or more memory needed than there is)"
            )
        except TimeoutError:
            return RetryableError(f"{name}: its result could not be fetched in {GATHER_S:.0f} s")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            if self._lost_client():
                return PipelineError(f"{name}: the scheduler is gone")
            if entry.future.status == "cancelled":
                return RetryableError(f"{name}: cancelled by somebody else on this scheduler")
            return PipelineError(f"{name}: {type(error).__name__}: {error}")
        return value

    def _settle(self, entry: _Entry, answer: Attempted | BaseException) -> list[Outcome]:
        """An outcome, or another attempt."""
        run = None
        if isinstance(answer, Attempted):
            run, error = answer.run, answer.error
            self._watch.ended(run.worker, time.monotonic())
            if error is None:
                return [
                    Outcome(
                        entry.task,
                        entry.number,
                        entry.submitted,
                        result=answer.result,
                        run=run,
                        failed=entry.failed,
                    )
                ]
        else:
            error = answer
        failed = (*entry.failed, Attempt(entry.number, entry.submitted, error, run))
        if isinstance(error, OutOfMemoryError) and (parts := self.smaller(entry.task)):
            log.warning("%s; running it as %d smaller tasks", error, len(parts))
            for part in parts:
                self.submit(part, entry.watched.pin, entry.number + 1, 1, failed)
                failed = ()  # told once, with the first part
            return []
        if isinstance(error, WorkerDiedError):
            deaths = entry.deaths + entry.suspect
            if deaths < MAX_DEATHS:
                log.warning("attempt %d: %s; trying again, alone", entry.number, error)
                again = (entry.task, None, entry.number + 1, entry.tries, failed, True, deaths)
                self._suspects.append(again)
                return []
        elif isinstance(error, RetryableError) and entry.tries < self.max_attempts:
            log.warning("attempt %d: %s; trying again", entry.number, error)
            self.submit(entry.task, None, entry.number + 1, entry.tries + 1, failed)
            return []
        return [
            Outcome(
                entry.task,
                entry.number,
                entry.submitted,
                run=run,
                error=error,
                failed=entry.failed,
            )
        ]

    def _look(self, now: float) -> list[Outcome]:
        """Ask the scheduler about what has not come back."""
        try:
            info = self.client.scheduler_info(n_workers=-1)["workers"]
            processing = self.client.processing()
        except Exception as error:  # the scheduler does not answer
            if not self._lost_client():
                log.debug("the scheduler did not answer: %s", error)
                return []
            lost = PipelineError("the scheduler is gone")
            verdicts: dict[Any, PipelineError] = dict.fromkeys(self._entries, lost)
        else:
            self._threads = {worker: int(facts["nthreads"]) for worker, facts in info.items()}
            self._threads_at = now
            watched = {key: entry.watched for key, entry in self._entries.items()}
            status = {worker: str(facts.get("status", "running")) for worker, facts in info.items()}
            verdicts = self._watch.look(watched, status, processing, now)
        outcomes = []
        for key, verdict in verdicts.items():
            entry = self._entries.pop(key)
            if not self._lost_client():
                self.client.cancel([entry.future])
            entry.future.release()
            outcomes += self._settle(entry, verdict)
        return outcomes

    def _refresh(self, force: bool = False) -> dict[str, int]:
        now = time.monotonic()
        if force or now - self._threads_at >= self.limits.poll_s:
            self._threads_at = now
            if not self._lost_client():
                self._threads = dict(self.client.nthreads())
        return self._threads
