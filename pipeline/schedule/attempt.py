"""What a worker does with one task: run it, and send back what came of it, where and when.

A small result is posted: it travels as an event on streams that exist and that Dask fills by the
batch, worker to scheduler to client. To fetch it would take six messages (who has it, give it to
me, give it to the client, each with an answer), most of what a task without work costs.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from distributed import Worker, get_worker
from distributed.protocol.pickle import dumps, loads

from pipeline.errors import OutOfMemoryError, PipelineError
from pipeline.model.tasks import TaskRun

# A scheduler remembers the last 1,000 events of a client: 16 MB until the client leaves.
MAX_POSTED_BYTES = 16 << 10
POSTED = "hopscope-posted"  # names our events among those that a client gets
STARTED = "hopscope-started"


@dataclass(frozen=True)
class Attempted:
    """What a worker sends back for one attempt: a result or an error, and where and when."""

    run: TaskRun
    result: Any = None
    error: BaseException | None = None


def pack(
    key: tuple, topic: str, run: Callable[[Any], Any], task: Any, tells_start: bool = False
) -> bytes:
    """A task as bytes: neither Dask nor its scheduler need look into it.

    Parameters
    ----------
    key : tuple
        Of the task on the scheduler.
    topic : str
        Where a small result is posted; "": all results are fetched.
    run : callable
        Executed on a worker with the task.
    tells_start : bool
        Whether the worker posts that it starts.
    """
    return dumps((key, topic, run, task, tells_start))


def attempt(packed: bytes) -> Attempted | str:
    """Run one task on this worker; an error is a value, so that it travels with its place.

    Returns
    -------
    Attempted or POSTED
        The latter once it has been posted.
    """
    try:
        worker: Worker | None = get_worker()
    except ValueError:  # outside a worker, in tests
        worker = None
    started = time.time()
    result, error, device = None, None, "cpu"
    key, topic = (), ""
    try:
        key, topic, run, task, tells_start = loads(packed)
        if tells_start and worker is not None and topic:
            worker.log_event(topic, {STARTED: list(key)})
        device = getattr(task, "device", "cpu")
        result = run(task)
    except Exception as raised:  # every error of a task becomes an outcome at the client
        error = _portable(raised)
    place = TaskRun(worker.address if worker else "", device, started, time.time())
    attempted = Attempted(place, result, error)
    if worker is not None and topic and _post(worker, topic, key, attempted):
        return POSTED
    return attempted


def _post(worker: Worker, topic: str, key: tuple, attempted: Attempted) -> bool:
    try:
        posted = dumps(attempted)
    except Exception:  # let Dask say what it cannot pickle
        return False
    if len(posted) > MAX_POSTED_BYTES:
        return False
    # It goes before the word that the task has ended, on the same stream.
    worker.log_event(topic, {POSTED: [list(key), posted]})
    return True


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
