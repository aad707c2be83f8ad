"""A worker's part of one task: run it, and return its result, place and time.

A small result is posted: it travels as an event on existing streams, which Dask flushes in batches,
from worker to scheduler to client. Fetching it would take six messages (who has it, give it to me,
give it to the client, each with an answer), most of the cost of a task without work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from distributed import Worker, get_worker
from distributed.protocol.pickle import dumps, loads

from pipeline.model.search.tasks import TaskRun
from pipeline.schedule.transport.attempted import Attempted, BegunTasks, attempt_of, portable

# A scheduler remembers the last 1,000 events of a client: 16 MB until the client leaves.
MAX_POSTED_BYTES = 16 << 10
POSTED = "hopscope-posted"  # names our events among those that a client gets
EVERY_S = 2e-3  # seconds between two messages of a worker, as Dask has it

_HERE = BegunTasks()


def refuse_here(keys: Sequence[tuple]) -> list[tuple]:
    """Executed on a worker: let none of these tasks begin there; returns those that have."""
    return _HERE.refuse(keys)


def pack(
    key: tuple, topic: str, run: Callable[[Any], Any], task: Any, every_s: float = EVERY_S
) -> bytes:
    """A task as bytes, so that neither Dask nor its scheduler looks into it.

    Parameters
    ----------
    key : tuple
        Key of the task on the scheduler.
    topic : str
        Where a small result is posted; "": all results are fetched.
    run : callable
        Executed on a worker with the task.
    every_s : float
        Seconds between two messages of the worker to its scheduler, from then on.
    """
    return dumps((key, topic, every_s, run, task))


def attempt(packed: bytes) -> Attempted | str:
    """Run one task on this worker; an error is returned as a value, with its place and time.

    Returns
    -------
    Attempted or POSTED
        The latter once it has been posted.
    """
    try:
        worker: Worker | None = get_worker()
    except ValueError:  # outside a worker, in tests
        worker = None
    place = worker.address if worker else ""
    started = time.time()
    try:
        key, topic, every_s, run, task = loads(packed)
    except Exception as raised:  # it becomes an outcome at the client
        return Attempted(TaskRun(place, "cpu", started, time.time()), error=portable(raised))
    if worker is not None:
        worker.batched_stream.interval = every_s
    attempted = attempt_of(place, key, run, task, _HERE, started)
    if worker is not None and topic and _post(worker, topic, key, attempted):
        return POSTED
    return attempted


def _post(worker: Worker, topic: str, key: tuple, attempted: Attempted) -> bool:
    try:
        posted = dumps(attempted)
    except Exception:  # let Dask report what it cannot pickle
        return False
    if len(posted) > MAX_POSTED_BYTES:
        return False
    # It goes before the message that the task has ended, on the same stream.
    worker.log_event(topic, {POSTED: [list(key), posted]})
    return True
