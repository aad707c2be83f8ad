"""Tasks in flight: events go to FlightState, which returns instructions.

Everything to be sent between two waits goes as one message: a graph of one task costs a scheduler
nearly what one of fifty costs.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from pipeline.model.search.tasks import Outcome
from pipeline.schedule.transport.carrier import Carrier, Submission
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
    Restart,
    Send,
    Sent,
    Silent,
    Split,
    Submitted,
    Warn,
    Yield,
)
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.state import FlightState
from pipeline.schedule.transport.watch import places
from pipeline.schedule.transport.window import Window

log = logging.getLogger(__name__)

Smaller = Callable[[Any], Sequence[Any]]
Allowed = Callable[[Any, Iterable[str]], list[str] | None]  # of a task and the workers there
CostOf = Callable[[Any], float | None]  # seconds that a task is expected to take; None: unknown


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
    """Connects the state of tasks in flight to what carries them."""

    carrier: Carrier
    name: Callable[[Any], str]
    max_attempts: int
    smaller: Smaller
    limits: Limits
    allowed: Allowed
    beat: Callable[[], None] = no_beat
    cost: CostOf = no_estimate
    _outcomes: list[Outcome] = field(default_factory=list)  # not handed out yet
    _outbox: list[Submission] = field(default_factory=list)  # not sent yet
    _unread: list[Key] = field(default_factory=list)  # of results to be fetched
    _unwanted: list[Key] = field(default_factory=list)  # to be cancelled
    _silent: frozenset[str] = frozenset()  # as the state knows them
    _window: Window = field(default_factory=Window)
    _said: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._there = self.carrier.there
        self._clock = self._there.clock
        self._looked_at = self._clock.now()
        self._state = FlightState(self.name, self.max_attempts, self.limits)
        self._do: dict[type, Callable[[Any], None]] = {
            Send: self._do_send,
            Fetch: self._do_fetch,
            Split: self._do_split,
            Cancel: self._do_cancel,
            Ask: self._do_ask,
            Restart: self._do_restart,
            Warn: self._do_warn,
            Yield: self._do_yield,
        }

    def __enter__(self) -> Flight:
        self.carrier.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel what is still in flight: the caller stopped, or was interrupted."""
        self._outbox.clear()
        self.carrier.close()

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
        waits = self._state.n_in_flight and not self._outcomes
        came = self.carrier.come(self.limits.poll_s) if waits else ()
        self.beat()
        self._note_silence()
        self._use(came)
        self._note_loss()
        now = self._clock.now()
        if self._state.n_in_flight and now - self._looked_at >= self.limits.poll_s:
            self._look()
            self._looked_at = self._clock.now()
        self._flush()
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    # Events.

    def _handle(self, event: Event) -> None:
        for instruction in self._state.handle(event):
            self._do[type(instruction)](instruction)

    def _use(self, came: Iterable[Event]) -> None:
        """Handle what has come."""
        n_came = 0
        for n_came, event in enumerate(came, start=1):  # noqa: B007
            if isinstance(event, Finished | Failed) and event.run is not None:
                self._window.note(event.run)
            self._handle(event)
        if n_came:
            self.carrier.hold(self._window.n_held)

    def _note_silence(self) -> None:
        silent = frozenset(self._there.silent)
        if silent != self._silent:
            self._silent = silent
            self._handle(Silent(silent))

    def _note_loss(self) -> None:
        """If the scheduler is gone, use what has come before, and fail the rest."""
        if self._there.lost and not self._state.lost:
            self._use(self.carrier.come(0.0))
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
        self._outbox.append(Submission(send.key, send.task, workers, send.is_urgent))

    def _do_fetch(self, fetch: Fetch) -> None:
        self._unread.append(fetch.key)

    def _do_split(self, split: Split) -> None:
        self._handle(Cut(split.key, tuple(self.smaller(split.task))))

    def _do_cancel(self, cancel: Cancel) -> None:
        self._unwanted += cancel.keys
        unsent = set(cancel.keys)
        self._outbox = [submission for submission in self._outbox if submission.key not in unsent]

    def _do_ask(self, ask: Ask) -> None:
        begun = self.carrier.begun(ask.worker, ask.keys)
        self._handle(Begun(ask.worker, ask.keys, None if begun is None else frozenset(begun)))

    def _do_restart(self, restart: Restart) -> None:
        if self.carrier.can_replace(restart.worker):
            self._cancel()
            log.warning("worker %s is being stopped and replaced", restart.worker)
            self.carrier.replace(restart.worker)

    def _do_warn(self, warn: Warn) -> None:
        """Tasks of one AS have one name, and those that a worker held are lost together."""
        if warn.text not in self._said:
            self._said.add(warn.text)
            log.warning("%s", warn.text)

    def _do_yield(self, received: Yield) -> None:
        self._outcomes.append(received.outcome)

    def _flush(self) -> None:
        """Send collected requests together, which is cheaper."""
        self._cancel()
        if self._unread:
            unread, self._unread = self._unread, []
            self.carrier.fetch(unread)
        outbox, self._outbox = self._outbox, []
        for _, group in itertools.groupby(outbox, key=lambda submission: submission.way):
            submissions = tuple(group)
            now = time.time()
            if not self.carrier.send(submissions):  # the way was lost just now
                self._note_loss()
                return
            self._handle(Sent(tuple(submission.key for submission in submissions), now))

    def _cancel(self) -> None:
        unwanted, self._unwanted = self._unwanted, []
        if unwanted:
            self.carrier.cancel(unwanted)
