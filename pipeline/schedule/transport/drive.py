"""Keep every worker busy: submit, take the first result, refill; no barrier anywhere.

``drive`` is the schedule to use. ``drive_barrier`` and ``drive_striding`` are those of earlier
work, for comparison. All three share one loop over futures, ``Flight``.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from pipeline.model.search.tasks import Outcome
from pipeline.schedule.thresholds import THRESHOLDS
from pipeline.schedule.transport.carrier import Carrier
from pipeline.schedule.transport.flight import (
    Allowed,
    CostOf,
    Flight,
    Smaller,
    no_beat,
    no_estimate,
    no_split,
    on_any,
)
from pipeline.schedule.transport.here import Here
from pipeline.schedule.transport.limits import Limits
from pipeline.schedule.transport.state import URGENT

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

Run = Callable[[Any], Any]
NextTask = Callable[[], Any | None]
Name = str | Callable[[Any], str]


def drive(
    client: Client | Here,
    run: Run,
    next_task: NextTask,
    *,
    name: Name,
    window: int | None = None,
    max_attempts: int = 3,
    smaller: Smaller = no_split,
    limits: Limits = Limits(),  # noqa: B008
    allowed: Allowed = on_any,
    beat: Callable[[], None] = no_beat,
    cost: CostOf = no_estimate,
    beside: Sequence[NextTask] = (),
    urgent: NextTask | None = None,
) -> Generator[Outcome, None, None]:
    """Run tasks until ``next_task`` returns None with nothing in flight.

    Parameters
    ----------
    client : Client or Here
        Where tasks run: on a cluster, or in this process.
    run : callable
        Executed on a worker with one task; importable there, never defined in ``__main__``.
    next_task : callable
        Next task, or None if there is none now; asked again after each outcome has been used.
    name : str or callable from a task to str
        What the dashboard shows; no hyphens. Tasks of one name form a group, which the scheduler
        hands out one by one to free workers once it is larger than the cluster. Each call adds
        its own id, so that two runs on one scheduler never share a key.
    window : int or None
        Tasks in flight. None: two for each worker thread and at least 16, which hides the round
        trip to the scheduler; it follows workers that join or leave.
    max_attempts : int
        Attempts of a task that raises RetryableError or whose worker dies; any other error is
        final at once.
    smaller : callable from a task to a list of tasks
        Asked when a task raises OutOfMemoryError: what to run instead of it; empty: nothing
        smaller exists, it is tried again like any other.
    limits : Limits
        When to stop waiting.
    allowed : callable from a task and the workers that are there to worker addresses or None
        Workers that a task must run on (those with a GPU, say); None: any.
    beat : callable
        Called at least every ``limits.poll_s`` seconds, from this thread.
    cost : callable from a task to float or None
        Seconds that it is expected to take: its deadline follows. None: it has ``limits.task_s``.
    beside : sequence of callables like ``next_task``
        Further queues, each with its own window, from the workers that may run its next
        task: so tasks for some workers never hold up tasks for others.
    urgent : callable like ``next_task``, or None
        A queue whose tasks, wherever they wait, are begun before all others: what comes next
        depends on their results. It bounds what it has in flight itself; the others fill the rest.

    Yields
    ------
    Outcome
        In the order of completion. Errors are outcomes; nothing is raised for them. When the
        caller stops iterating, or is interrupted, what is in flight is cancelled.
    """
    given = (max_attempts, smaller, limits, allowed, beat, cost)
    flight = Flight(_carrier(client, run, limits), _run_name(name), *given)
    with flight:
        queues = dict(enumerate([next_task, *beside]))
        if urgent is not None:
            queues = {URGENT: urgent} | queues
        upcoming: dict[int, Any | None] = dict.fromkeys(queues)
        while True:
            for i, next_of_queue in queues.items():
                while True:
                    if upcoming[i] is None:
                        upcoming[i] = next_of_queue()
                    if upcoming[i] is None:
                        break
                    most = window or flight.window(upcoming[i])
                    if i != URGENT and flight.n_queued(i) >= most:
                        break
                    task, upcoming[i] = upcoming[i], None
                    flight.submit(task, queue=i)
            if not flight.n_in_flight:
                return
            yield from flight.finished()


def drive_barrier(
    client: Client | Here,
    run: Run,
    next_task: NextTask,
    *,
    name: Name,
    window: int | None = None,
    max_attempts: int = 3,
    smaller: Smaller = no_split,
    limits: Limits = Limits(),  # noqa: B008
    allowed: Allowed = on_any,
    beat: Callable[[], None] = no_beat,
    cost: CostOf = no_estimate,
) -> Generator[Outcome, None, None]:
    """One task for each worker thread, wait for all of them, then the next batch.

    Parameters are those of ``drive``; ``window`` overrides the size of a batch.
    """
    given = (max_attempts, smaller, limits, allowed, beat, cost)
    flight = Flight(_carrier(client, run, limits), _run_name(name), *given)
    with flight:
        while True:
            slots = flight.slots()
            for i in range(window or max(1, len(slots))):
                if (task := next_task()) is None:
                    break
                flight.submit(task, pin=slots[i % len(slots)] if slots else None)
            if not flight.n_in_flight:
                return
            batch: list[Outcome] = []
            while flight.n_in_flight:
                batch += flight.finished()
            yield from batch


def drive_striding(
    client: Client | Here,
    run: Run,
    next_task: NextTask,
    *,
    name: Name,
    window: int | None = None,
    max_attempts: int = 3,
    smaller: Smaller = no_split,
    limits: Limits = Limits(),  # noqa: B008
    allowed: Allowed = on_any,
    beat: Callable[[], None] = no_beat,
    cost: CostOf = no_estimate,
) -> Generator[Outcome, None, None]:
    """A fixed share for each worker: task i goes to worker i mod n, even if another is free.

    Parameters are those of ``drive``; ``window`` is the number of tasks that one worker holds.
    Shares are fixed when the run starts; those of a worker that dies go to any other.
    """
    given = (max_attempts, smaller, limits, allowed, beat, cost)
    flight = Flight(_carrier(client, run, limits), _run_name(name), *given)
    with flight:
        slots: list[str | None] = [*flight.slots()] or [None]
        shares: list[deque] = [deque() for _ in slots]
        number = 0
        while True:
            pinned = flight.pinned()
            held = [pinned[slot] for slot in slots]
            for i, slot in enumerate(slots):
                # A worker's next task may come after tasks of others: these wait in their shares.
                while held[i] < (window or THRESHOLDS.thread_window):
                    while not shares[i] and (task := next_task()) is not None:
                        shares[number % len(slots)].append(task)
                        number += 1
                    if not shares[i]:
                        break
                    flight.submit(shares[i].popleft(), pin=slot)
                    held[i] += 1
            if not flight.n_in_flight:
                return
            yield from flight.finished()


SCHEDULES = {"free": drive, "barrier": drive_barrier, "striding": drive_striding}


def _carrier(client: Client | Here, run: Run, limits: Limits) -> Carrier:
    """What carries tasks to where ``client`` stands for."""
    if isinstance(client, Here):
        return client.carrier(run, limits)
    from pipeline.schedule.transport.remote.carrier import RemoteCarrier  # imports Dask

    return RemoteCarrier(client, run, limits)


def _run_name(name: Name) -> Callable[[Any], str]:
    """Group name of a task: Dask shows the part before the hyphen, the rest keeps runs apart."""
    # The digit in front matters: Dask would show an id of letters alone.
    run_id = f"0{int(time.time()):x}{uuid.uuid4().hex[:8]}"
    if callable(name):
        return lambda task: f"{name(task)}-{run_id}"
    return lambda task: f"{name}-{run_id}"
