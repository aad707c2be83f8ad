"""Tasks of one flight as futures of a Dask client."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import dask
from distributed import Client, Future, span
from distributed.client import ClosedClientError
from distributed.scheduler import KilledWorker

from pipeline.errors import ClusterLostError, PipelineError, RetryableError
from pipeline.schedule.transport.attempted import Attempted
from pipeline.schedule.transport.carrier import Submission
from pipeline.schedule.transport.events import (
    Event,
    Failed,
    Finished,
    Key,
    Ready,
    WorkerLost,
    shown,
)
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.remote.attempt import EVERY_S, POSTED, attempt, loads, pack
from pipeline.schedule.transport.remote.connection import GONE, Connection
from pipeline.schedule.transport.remote.mailbox import Mailbox, open_mailbox
from pipeline.schedule.transport.window import FEW

# Where tasks are short, seconds that results wait here and at a worker for others: a message or a
# graph of twenty costs little more than one. Tasks that a thread holds and that are in flight for
# each thread, at least.
GATHER_S, GATHERED_S = 5e-3, 10e-3
MANY = 8
SPAN = "hopscope"  # that of one run; those of kinds of work are in it
REASON_S = 10.0  # seconds to fetch an error that has reached this process already

Received = Attempted | BaseException | bytes | str | None  # as in ``Connection.done``


@dataclass(eq=False)
class RemoteCarrier:
    """The only holder of futures; each is released when its attempt is over.

    Parameters
    ----------
    client : Client
    run : callable
        Executed on a worker with one task; importable there.
    limits : Limits
    """

    client: Client
    run: Callable[[Any], Any]
    limits: Limits
    _futures: dict[Key, Future] = field(default_factory=dict)
    _spans: dict[str, dict[str, Any]] = field(default_factory=dict)  # by kind; "": of them all
    _mailbox: Mailbox | None = None
    _n_held: float = FEW

    def __post_init__(self) -> None:
        self.there = Connection(self.client, self.limits)

    def open(self) -> None:
        """Have small results posted, and no more tasks held than if they are long."""
        self.there.hold(FEW)
        if not self.there.lost:
            self._mailbox = open_mailbox(self.client)

    def close(self) -> None:
        """Cancel what is still in flight."""
        left = list(self._futures.values())
        if self._mailbox is not None:
            self._mailbox.forget(self._futures)
            self._mailbox.close()
        self._futures.clear()
        self.there.cancel(left)

    def send(self, submissions: Sequence[Submission]) -> bool:
        """Send them as one graph; False: the client is closed."""
        topic = self.client.id if self._mailbox is not None else ""
        keys = [one.key for one in submissions]
        every_s = GATHERED_S if self._gathers else EVERY_S
        packed = [pack(one.key, topic, self.run, one.task, every_s) for one in submissions]
        if self._mailbox is not None:
            self._mailbox.expect(keys, self.there.done)
        workers, is_urgent, kind = submissions[0].way
        # retries=0: Dask would also repeat errors that no repetition can cure.
        how = {"retries": 0, "workers": workers, "priority": int(is_urgent)}
        try:
            with dask.annotate(**self._span_of(kind)):
                futures = self.client.map(attempt, packed, key=keys, pure=False, **how)
        except ClosedClientError:
            self.there.gone = self.there.gone or GONE
            return False
        self._futures.update(zip(keys, futures, strict=True))
        self.there.report_ends(futures)
        return True

    def _span_of(self, kind: str) -> dict[str, Any]:
        """Annotations by which Dask's pages show work of one kind as one span; none if unknown."""
        if kind and kind not in self._spans:
            if "" not in self._spans:
                with span(SPAN):
                    self._spans[""] = {"span": dask.get_annotations()["span"]}
            with dask.annotate(**self._spans[""]), span(kind):
                self._spans[kind] = {"span": dask.get_annotations()["span"]}
        return self._spans[kind] if kind else {}

    def come(self, timeout_s: float) -> Iterator[Event]:
        """What was received, as events.

        A posted result may come before Dask knows that its task has ended: the future is kept until
        then.
        """
        received = self._received(timeout_s)
        over: list[Future] = []
        for key, item in received:
            if (future := self._futures.get(key)) is None:
                continue  # it was posted, or given up in the meantime
            event = event_of(key, item, future, self.there, self.there.clock.now())
            if not isinstance(event, Ready):
                self._release(key)  # else it is to be fetched
                over.append(future)
            yield event
        future = None
        self.there.release(over)

    @property
    def _gathers(self) -> bool:
        """Whether results are worth waiting for, so that many are handled together.

        If tasks are short, and so many in flight that no worker idles meanwhile.
        """
        many = MANY * max(1, sum(self.there.threads.values()))
        return self._n_held >= MANY and len(self._futures) >= many

    def _received(self, timeout_s: float) -> list[tuple[Key, Received]]:
        received = []
        try:
            if timeout_s:
                received.append(self.there.done.get(timeout=timeout_s))
                if self._gathers:
                    time.sleep(GATHER_S)
            while True:
                received.append(self.there.done.get_nowait())
        except queue.Empty:
            return received

    def fetch(self, keys: Sequence[Key]) -> None:
        """Begin to fetch results; they come later."""
        self.there.fetch([self._futures[key] for key in keys if key in self._futures])

    def cancel(self, keys: Sequence[Key]) -> None:
        """Cancel those that have been sent."""
        futures = [self._release(key) for key in keys]
        if unwanted := [future for future in futures if future is not None]:
            self.there.cancel(unwanted)

    def begun(self, worker: str, keys: Sequence[Key]) -> set[Key] | None:
        """Which a worker has begun, as it says itself."""
        return self.there.begun(worker, keys)

    def can_replace(self, worker: str) -> bool:
        """Whether the worker belongs to a cluster of ours."""
        return self.there.can_replace(worker)

    def replace(self, worker: str) -> None:
        """End a worker of ours; its nanny starts another."""
        self.there.replace(worker)

    def hold(self, n_tasks: float) -> None:
        """Let a worker thread hold that many tasks; if many, results are gathered."""
        self._n_held = n_tasks
        self.there.hold(n_tasks)

    def _release(self, key: Key) -> Future | None:
        if self._mailbox is not None:
            self._mailbox.forget((key,))
        return self._futures.pop(key, None)


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
        return Failed(key, received.error, now, received.run)
    if isinstance(received, BaseException):
        return Failed(key, received, now)
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
