"""Tasks in flight on a cluster: events go to FlightState, which returns instructions.

Everything to be sent between two waits goes as one message: a graph of one task costs a scheduler
nearly what one of fifty costs.
"""

from __future__ import annotations

import itertools
import logging
import queue
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from distributed import Client, Future
from distributed.client import ClosedClientError
from distributed.scheduler import KilledWorker

from pipeline.errors import ClusterLostError, PipelineError, RetryableError
from pipeline.model.search.tasks import Outcome
from pipeline.schedule.transport.attempt import (
    POSTED,
    Attempted,
    WithdrawnError,
    attempt,
    loads,
    pack,
)
from pipeline.schedule.transport.connection import GONE, WITHDRAWN, Connection
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
    Key,
    Looked,
    Ready,
    Restart,
    Send,
    Sent,
    Silent,
    Split,
    Submitted,
    Unneeded,
    Warn,
    Withdraw,
    Withdrawn,
    WorkerLost,
    Yield,
    shown,
)
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.mailbox import Mailbox, open_mailbox
from pipeline.schedule.transport.state import FlightState
from pipeline.schedule.transport.watch import places
from pipeline.schedule.transport.window import Window

log = logging.getLogger(__name__)

REASON_S = 10.0  # seconds to fetch an error that has reached this process already

Smaller = Callable[[Any], Sequence[Any]]
Allowed = Callable[[Any, Iterable[str]], list[str] | None]  # of a task and the workers there
CostOf = Callable[[Any], float | None]  # seconds that a task is expected to take; None: unknown
Received = Attempted | BaseException | bytes | str | None  # as in ``Connection.done``


def on_any(task: Any, workers: Iterable[str]) -> None:
    """Every worker may run the task."""


def no_beat() -> None:
    """Ignore the calls that are made as time passes."""


def no_estimate(task: Any) -> float | None:
    """Nothing is known about how long the task takes."""


def no_split(task: Any) -> Sequence[Any]:
    """No smaller tasks exist."""
    return ()


@dataclass(eq=False)
class Flight:
    """The only holder of futures; each is released when its attempt is over."""

    client: Client
    run: Callable[[Any], Any]
    name: Callable[[Any], str]
    max_attempts: int
    smaller: Smaller
    limits: Limits
    allowed: Allowed
    beat: Callable[[], None] = no_beat
    cost: CostOf = no_estimate
    _futures: dict[Key, Future] = field(default_factory=dict)
    _outcomes: list[Outcome] = field(default_factory=list)  # not handed out yet
    # Not yet sent: the workers that may run it, whether it is urgent, its key, the task as bytes.
    _outbox: list[tuple[list[str] | None, bool, Key, bytes]] = field(default_factory=list)
    _unread: list[Future] = field(default_factory=list)  # results to be fetched
    _unwanted: list[Future] = field(default_factory=list)  # to be cancelled
    _silent: frozenset[str] = frozenset()  # as the state knows them
    _mailbox: Mailbox | None = None
    _window: Window = field(default_factory=Window)

    def __post_init__(self) -> None:
        self._there = Connection(self.client, self.limits)
        self._clock = self._there.clock
        self._looked_at = self._clock.now()
        self._state = FlightState(self.name, self.max_attempts, self.limits)
        self._do: dict[type, Callable[[Any], None]] = {
            Send: self._do_send,
            Fetch: self._do_fetch,
            Split: self._do_split,
            Withdraw: self._do_withdraw,
            Cancel: self._do_cancel,
            Ask: self._do_ask,
            Restart: self._do_restart,
            Warn: self._do_warn,
            Yield: self._do_yield,
        }

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
        left = [*self._unwanted, *self._futures.values()]
        if self._mailbox is not None:
            self._mailbox.forget(self._futures)
            self._mailbox.close()
        self._futures.clear()
        self._outbox.clear()
        self._there.cancel(left)

    @property
    def n_in_flight(self) -> int:
        return self._state.n_in_flight + len(self._outcomes)

    def n_queued(self, queue: int) -> int:
        """Tasks in flight that came from one of the caller's queues."""
        return self._state.n_of_queue[queue] + len(self._outcomes)

    def pinned(self) -> Counter[str | None]:
        """Tasks in flight by the worker that they are bound to; None: bound to none."""
        return self._state.pinned()

    def window(self, task: Any = None) -> int:
        """Tasks to keep in flight now; with a task: of those that the same workers may run."""
        self._there.look()
        threads = self._there.threads
        allowed = self.allowed(task, threads) if task is not None else None
        workers = threads if allowed is None else allowed
        return self._window.n_tasks(sum(threads.get(worker, 0) for worker in workers))

    def slots(self) -> list[str]:
        """One worker address for each thread, in a fixed order."""
        self._there.look(force=True)
        workers = sorted(self._there.threads.items())
        return [worker for worker, n_threads in workers for _ in range(n_threads)]

    def submit(self, task: Any, pin: str | None = None, queue: int = 0) -> None:
        """Give one task to the cluster when we wait; ``pin``: the only worker that may take it."""
        self._there.look()
        self._note_loss()
        self._note_silence()
        self._handle(Submitted(task, time.time(), queue, pin, self.cost(task)))

    def finished(self) -> list[Outcome]:
        """Wait until something has finished; outcomes of what has, in order of completion.

        May be empty: finished tasks were tried again, or none finished before the next poll.
        """
        self._flush()
        received = self._wait() if self._state.n_in_flight and not self._outcomes else []
        self.beat()
        self._note_silence()
        self._use(received)
        self._note_loss()
        now = self._clock.now()
        if self._state.n_in_flight and now - self._looked_at >= self.limits.poll_s:
            self._look()
            self._looked_at = self._clock.now()
        self._flush()
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def withdrawable(self) -> list[Any]:
        """Tasks that may not have begun, and may be withdrawn."""
        return self._state.withdrawable()

    def withdraw(self, tasks: Iterable[Any]) -> None:
        """Withdraw some of ``withdrawable``, as outcomes of ``finished``; what runs continues."""
        if unneeded := tuple(tasks):
            self._handle(Unneeded(unneeded))

    # Events.

    def _handle(self, event: Event) -> None:
        for instruction in self._state.handle(event):
            self._do[type(instruction)](instruction)

    def _wait(self) -> list[tuple[Key, Received]]:
        try:
            received = [self._there.done.get(timeout=self.limits.poll_s)]
        except queue.Empty:
            return []
        return received + self._come()

    def _come(self) -> list[tuple[Key, Received]]:
        """Everything received so far."""
        received = []
        while True:
            try:
                received.append(self._there.done.get_nowait())
            except queue.Empty:
                return received

    def _use(self, received: list[tuple[Key, Received]]) -> None:
        """Handle what was received.

        A posted result may come before Dask knows that its task has ended: the future is kept until
        then.
        """
        for key, item in received:
            if (future := self._futures.get(key)) is None:
                continue  # it was posted, or given up in the meantime
            event = event_of(key, item, future, self._there, self._clock.now())
            if not isinstance(event, Ready) and item != WITHDRAWN:
                self._release(key)  # else it is to be fetched, or cancelled
            if isinstance(event, Finished | Failed) and event.run is not None:
                self._window.note(event.run)
            self._handle(event)
        if received:
            self._there.hold_more(self._window.is_short)

    def _note_silence(self) -> None:
        silent = frozenset(self._there.silent)
        if silent != self._silent:
            self._silent = silent
            self._handle(Silent(silent))

    def _note_loss(self) -> None:
        """If the scheduler is gone, use what has come before, and fail the rest."""
        if self._there.lost and not self._state.lost:
            self._use(self._come())
            self._handle(ClusterLost(self._there.gone))

    def _look(self) -> None:
        """Ask the scheduler about tasks that have not come back."""
        there = self._there
        there.look(force=True)
        self._note_loss()
        self._note_silence()
        if there.answers:
            seen = (there.threads, there.status, there.processing, self._clock.now())
            self._handle(Looked(*seen, there.quiet, there.free))

    # Instructions.

    def _do_send(self, send: Send) -> None:
        if send.pin is not None:
            workers: list[str] | None = [send.pin]
        else:
            threads = self._there.threads
            workers = places(self.allowed(send.task, threads), threads, send.avoid)
        topic = self.client.id if self._mailbox is not None else ""
        packed = pack(send.key, topic, self.run, send.task)
        self._outbox.append((workers, send.is_urgent, send.key, packed))

    def _do_fetch(self, fetch: Fetch) -> None:
        self._unread.append(self._futures[fetch.key])

    def _do_split(self, split: Split) -> None:
        self._handle(Cut(split.key, tuple(self.smaller(split.task))))

    def _do_withdraw(self, withdraw: Withdraw) -> None:
        self._there.withdraw(withdraw.keys)

    def _do_cancel(self, cancel: Cancel) -> None:
        futures = [self._release(key) for key in cancel.keys]
        self._unwanted += [future for future in futures if future is not None]
        if None in futures:
            unsent = set(cancel.keys)
            self._outbox = [item for item in self._outbox if item[2] not in unsent]

    def _do_ask(self, ask: Ask) -> None:
        begun = self._there.begun(ask.worker, ask.keys)
        self._handle(Begun(ask.worker, ask.keys, None if begun is None else frozenset(begun)))

    def _do_restart(self, restart: Restart) -> None:
        if self._there.can_replace(restart.worker):
            self._cancel()
            log.warning("worker %s is ended and replaced", restart.worker)
            self._there.replace(restart.worker)

    def _do_warn(self, warn: Warn) -> None:
        log.warning("%s", warn.text)

    def _do_yield(self, received: Yield) -> None:
        self._outcomes.append(received.outcome)

    def _release(self, key: Key) -> Future | None:
        if self._mailbox is not None:
            self._mailbox.forget((key,))
        return self._futures.pop(key, None)

    def _flush(self) -> None:
        """Send collected requests together, which is cheaper."""
        self._cancel()
        if self._unread:
            unread, self._unread = self._unread, []
            self._there.fetch(unread)
        outbox, self._outbox = self._outbox, []
        for (workers, is_urgent), sent in itertools.groupby(outbox, key=lambda item: item[:2]):
            *_, keys, packed = zip(*sent, strict=True)
            if self._mailbox is not None:
                self._mailbox.expect(keys, self._there.done)
            now = time.time()
            # retries=0: Dask would also repeat errors that no repetition can cure.
            how = {"retries": 0, "workers": workers, "priority": int(is_urgent)}
            try:
                futures = self.client.map(attempt, list(packed), key=list(keys), pure=False, **how)
            except ClosedClientError:  # it was lost just now
                self._there.gone = self._there.gone or GONE
                self._note_loss()
                return
            self._futures.update(zip(keys, futures, strict=True))
            self._handle(Sent(keys, now))
            self._there.report_ends(futures)

    def _cancel(self) -> None:
        unwanted, self._unwanted = self._unwanted, []
        if unwanted:
            self._there.cancel(unwanted)


def event_of(key: Key, received: Received, future: Future, there: Connection, now: float) -> Event:
    """What has happened to an attempt, by what has come for it."""
    if isinstance(received, bytes):
        try:
            received = loads(received)
        except Exception as error:  # of a class that is not importable here
            return Failed(key, PipelineError(f"{shown(key)}: {type(error).__name__}: {error}"), now)
    if isinstance(received, Attempted):
        if received.error is None:
            return Finished(key, received.result, received.run, now)
        if isinstance(received.error, WithdrawnError):  # before all workers have been asked
            return Withdrawn(key)
        return Failed(key, received.error, now, received.run)
    if isinstance(received, BaseException):
        return Failed(key, received, now)
    if received == WITHDRAWN:
        return Withdrawn(key)
    if received == POSTED:
        return Failed(key, RetryableError(f"{shown(key)}: its result was lost in transit"), now)
    if future.status == "finished":
        return Ready(key)
    return _failure(key, future, there, now)


def _failure(key: Key, future: Future, there: Connection, now: float) -> Event:
    """Why a future that has ended has no result."""
    name = shown(key)
    if there.lost:
        return Failed(key, ClusterLostError(f"{name}: {there.gone}"), now)
    if future.status == "cancelled":
        text = f"{name}: cancelled by another client of this scheduler"
        return Failed(key, RetryableError(text), now)
    if future.status != "error":
        return Failed(key, RetryableError(f"{name}: its result was lost with its worker"), now)
    try:
        error = future.exception(timeout=REASON_S)
    except Exception as raised:
        error = raised
    if isinstance(error, KilledWorker):
        where = getattr(error.last_worker, "address", error.last_worker)
        return WorkerLost(
            key,
            f"{name}: the workers that ran it died, {where} last (killed, or out of memory)",
        )
    return Failed(key, PipelineError(f"{name}: {type(error).__name__}: {error}"), now)
