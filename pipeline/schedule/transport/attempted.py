"""One attempt of a task where it runs: what comes of it, and whether it may begin."""

from __future__ import annotations

import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pipeline.errors import OutOfMemoryError, PipelineError, RetryableError
from pipeline.model.search.tasks import TaskRun

N_REMEMBERED = 10_000  # keys, of tasks that have begun and of tasks that must not


@dataclass(frozen=True)
class Attempted:
    """A worker's answer for one attempt: a result or an error, and where and when."""

    run: TaskRun
    result: Any = None
    error: BaseException | None = None


class BegunTasks:
    """Which tasks have begun in this process, and which never will.

    One lock decides between the two, so what has not begun, and is sent elsewhere, does not begin
    here as well.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: OrderedDict[tuple, None] = OrderedDict()
        self._refused: OrderedDict[tuple, None] = OrderedDict()

    def begin(self, key: tuple) -> bool:
        """Whether a task may begin; if so, it has."""
        with self._lock:
            if key in self._refused:
                return False
            self._note(self._begun, key)
            return True

    def refuse(self, keys: Iterable[tuple]) -> list[tuple]:
        """Let none of these tasks begin; returns those that have."""
        with self._lock:
            begun = []
            for key in keys:
                if key in self._begun:
                    begun.append(key)
                else:
                    self._note(self._refused, key)
            return begun

    @staticmethod
    def _note(keys: OrderedDict[tuple, None], key: tuple) -> None:
        keys[key] = None
        while len(keys) > N_REMEMBERED:
            keys.popitem(last=False)


def attempt_of(
    place: str,
    key: tuple,
    run: Callable[[Any], Any],
    task: Any,
    begun: BegunTasks,
    started: float | None = None,
) -> Attempted:
    """Run one task here; an error is returned as a value, with its place and time.

    Parameters
    ----------
    place : str
        Name of this worker.
    key : tuple
        Of the attempt.
    run : callable
        Called with the task.
    begun : BegunTasks
        Decides whether it may begin.
    started : float or None
        Seconds since 1970 UTC; None: now.
    """
    started = time.time() if started is None else started
    result: Any = None
    error: BaseException | None = None
    if not begun.begin(key):
        error = RetryableError("it was not to begin here any longer")
    else:
        try:
            result = run(task)
        except Exception as raised:  # every error of a task becomes an outcome at the client
            error = portable(raised)
    device = getattr(task, "device", "cpu")
    return Attempted(TaskRun(place, device, started, time.time()), result, error)


def copied(found: Attempted) -> Attempted:
    """The same as if it came from another process: it shares nothing with the task that ran."""
    return pickle.loads(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))


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
