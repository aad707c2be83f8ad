"""Tasks with faults, executed on workers; importable by them."""

from __future__ import annotations

import os
import signal
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from distributed import get_worker

from pipeline.errors import DeviceLostError

Task = tuple[int, str, str, float]  # number, folder of marks, fault, seconds
BYTES = 100_000  # of a result that is fetched, since it is too large to be posted


def run(task: Task) -> Any:
    """Note that the task has begun, work for its seconds, then have its fault."""
    number, folder, fault, seconds = task
    n_before = len(list(Path(folder).glob(f"begun-{number}-*")))
    Path(folder, f"begun-{number}-{uuid.uuid4().hex}").touch()
    time.sleep(seconds)
    if fault == "die" or (fault == "die once" and not n_before):
        os._exit(1)
    if fault == "hang once" and not n_before:
        time.sleep(1e6)
    if fault == "stop once" and not n_before:
        os.kill(os.getpid(), signal.SIGSTOP)
    if fault == "pause once" and not n_before:
        _pause()
    if fault == "device":
        _use_device(folder)
    if fault == "stop at fetch" and not n_before:
        return StopsAtFetch()
    return bytes(BYTES) if fault in ("large", "stop at fetch") else number


def _pause() -> None:
    """Have Dask see a worker that has too little memory, for good."""
    worker = get_worker()
    worker.memory_manager.memory_pause_fraction = 1e-9
    while worker.status.name == "running":
        time.sleep(0.01)


def _use_device(folder: str) -> None:
    """The device of the first process that comes here has failed; it fails at once."""
    mark = Path(folder, "broken")
    try:
        with mark.open("x") as stream:
            stream.write(str(os.getpid()))
    except FileExistsError:
        pass
    if mark.read_text() == str(os.getpid()):
        raise DeviceLostError("its device has failed")
    time.sleep(0.05)


class StopsAtFetch:
    """A result whose worker stops when it is pickled to be fetched."""

    def __init__(self) -> None:
        self.large = bytes(BYTES)
        self.pid = os.getpid()

    def __reduce__(self) -> Any:
        # Our workers pickle a result to see whether it is small enough to be posted.
        if os.getpid() == self.pid and not _is_weighed():
            os.kill(os.getpid(), signal.SIGSTOP)
        return (bytes, (self.large,))


def _is_weighed() -> bool:
    """Whether ``remote.attempt._post`` is what pickles now."""
    frame: Any = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_post":
            return True
        frame = frame.f_back
    return False


def nothing(task: Any) -> Any:
    """A task without work."""
    return task


def nap(seconds: float) -> float:
    """A task that waits, or one without work."""
    if seconds:
        time.sleep(seconds)
    return seconds
