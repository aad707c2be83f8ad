"""A worker's part of one task: run it, and return its result, place and time.

A small result is posted: it travels as an event on existing streams, which Dask flushes in batches,
from worker to scheduler to client. Fetching it would take six messages (who has it, give it to me,
give it to the client, each with an answer), most of the cost of a task without work.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from distributed import Worker, get_worker
from distributed.protocol.pickle import dumps, loads

from pipeline.errors import OutOfMemoryError, PipelineError, RetryableError
from pipeline.model.search.tasks import TaskRun

# A scheduler remembers the last 1,000 events of a client: 16 MB until the client leaves.
MAX_POSTED_BYTES = 16 << 10
POSTED = "hopscope-posted"  # names our events among those that a client gets
N_REMEMBERED = 10_000  # keys, of tasks that have begun and of tasks that must not


class WithdrawnError(RetryableError):
    """A task was not begun, since it had been withdrawn."""


@dataclass(frozen=True)
class Attempted:
    """A worker's answer for one attempt: a result or an error, and where and when."""

    run: TaskRun
    result: Any = None
    error: BaseException | None = None


class Begun:
    """Which tasks have begun in this process, and which have been withdrawn before they did.

    One lock decides between the two, so whatever began ends, and is used.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: OrderedDict[tuple, None] = OrderedDict()
        self._withdrawn: OrderedDict[tuple, None] = OrderedDict()

    def begin(self, key: tuple) -> bool:
        """Whether a task may begin; if so, it has."""
        with self._lock:
            if key in self._withdrawn:
                return False
            self._note(self._begun, key)
            return True

    def withdraw(self, keys: Iterable[tuple]) -> list[tuple]:
        """Prevent these tasks from beginning; returns those that have begun."""
        with self._lock:
            begun = []
            for key in keys:
                if key in self._begun:
                    begun.append(key)
                else:
                    self._note(self._withdrawn, key)
            return begun

    @staticmethod
    def _note(keys: OrderedDict[tuple, None], key: tuple) -> None:
        keys[key] = None
        while len(keys) > N_REMEMBERED:
            keys.popitem(last=False)


_HERE = Begun()


def withdraw_here(keys: Sequence[tuple]) -> list[tuple]:
    """Executed on each worker: withdraw tasks; those that have begun there."""
    return _HERE.withdraw(keys)


def pack(key: tuple, topic: str, run: Callable[[Any], Any], task: Any) -> bytes:
    """A task as bytes, so that neither Dask nor its scheduler looks into it.

    Parameters
    ----------
    key : tuple
        Key of the task on the scheduler.
    topic : str
        Where a small result is posted; "": all results are fetched.
    run : callable
        Executed on a worker with the task.
    """
    return dumps((key, topic, run, task))


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
    started = time.time()
    result, error, device = None, None, "cpu"
    key, topic = (), ""
    try:
        key, topic, run, task = loads(packed)
        device = getattr(task, "device", "cpu")
        _begin(key)
        result = run(task)
    except Exception as raised:  # every error of a task becomes an outcome at the client
        error = portable(raised)
    place = TaskRun(worker.address if worker else "", device, started, time.time())
    attempted = Attempted(place, result, error)
    if worker is not None and topic and _post(worker, topic, key, attempted):
        return POSTED
    return attempted


def _begin(key: tuple) -> None:
    if not _HERE.begin(key):
        raise WithdrawnError("it was withdrawn")


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


def portable(error: BaseException) -> BaseException:
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
