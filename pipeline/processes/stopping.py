"""How a process ends: by Ctrl-C, SIGTERM or SIGHUP, or with the process that started it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from time import monotonic
from types import FrameType
from typing import NoReturn

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_PR_SET_PDEATHSIG = 1  # prctl(2)
# ``timeout`` and batch systems signal a process and then its group: that is one request.
AGAIN_S = 1.0  # seconds after which a further signal is another request
AT_ONCE = b"hopscope: ended at once; the next run removes what is left\n"
SHOW_CURSOR = b"\r\x1b[?25h"  # a terminal's, which progress may have hidden


class Stopped(KeyboardInterrupt):
    """A KeyboardInterrupt under another name.

    CPython kills its process by SIGINT at the very end, whatever exit status was requested, if a
    plain KeyboardInterrupt ever left an ``exec`` of text (dataclasses and other modules that are
    being imported do that), although it was caught later; it looks for the exact class.
    """


class Stopping:
    """The first signal received; 0 until then. A later SIGINT or SIGTERM ends this process."""

    def __init__(self) -> None:
        self.number = 0
        # No Event: the main thread may hold its lock when a signal comes, and wait for itself.
        self.is_asked = False
        self._since = 0.0

    @property
    def exit_status(self) -> int:
        """What a shell expects of a program that a signal ended."""
        return 128 + (self.number or signal.SIGINT)

    def __call__(self, number: int, _frame: object) -> None:
        if not self.is_asked:
            self.number = number
            self._since = monotonic()
            self.is_asked = True
            raise Stopped
        if _is_insistent(number, self._since):
            _end_at_once(self.exit_status)


_begun: list[Stopping] = []  # contexts of ``stop_on_signals`` that have not ended


def is_stopping() -> bool:
    """Whether a signal has asked this process to end; in any thread."""
    return any(stopping.is_asked for stopping in _begun)


@contextlib.contextmanager
def stop_on_signals() -> Iterator[Stopping]:
    """Turn the first signal into a KeyboardInterrupt, and end at once if asked again.

    The clean-up after the first is not interrupted by what comes within ``AGAIN_S``, nor by SIGHUP.
    A signal that is ignored from the start stays so: ``nohup`` means it.
    """
    stopping = Stopping()
    _begun.append(stopping)
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    previous = {
        number: signal.signal(number, stopping)
        for number in numbers
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield stopping
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        _begun.remove(stopping)


@contextlib.contextmanager
def signals_later() -> Iterator[None]:
    """React to signals when this context ends: something half started cannot be closed cleanly.

    Within ``stop_on_signals`` a second request is not put off. Processes that are started here
    react to signals as usual. Only the main thread gets signals; in others this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[tuple[int, float]] = []
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    # What the interpreter did not install (None), or what is ignored, stays.
    previous = {
        number: handler for number in numbers if callable(handler := signal.getsignal(number))
    }

    def put_off(number: int, frame: FrameType | None) -> None:
        if is_stopping():
            previous[number](number, frame)
        elif _begun and received and _is_insistent(number, received[0][1]):
            _end_at_once(128 + received[0][0])
        else:
            received.append((number, monotonic()))

    for number in previous:
        signal.signal(number, put_off)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0][0])


def _is_insistent(number: int, since: float) -> bool:
    """Whether a signal asks again for the end that was requested at ``since``."""
    return number in (signal.SIGINT, signal.SIGTERM) and monotonic() - since >= AGAIN_S


def _end_at_once(status: int) -> NoReturn:
    """End without clean-up, after the processes that multiprocessing has started here.

    Those started otherwise learn of our end from the kernel (``end_with_parent``). What is half
    written has names of its own, and is removed by the next run.
    """
    try:
        if "multiprocessing" in sys.modules:
            from multiprocessing import active_children

            for process in active_children():
                process.kill()
        os.write(2, SHOW_CURSOR + AT_ONCE if os.isatty(2) else AT_ONCE)
    finally:  # whatever was interrupted
        os._exit(status)


def end_with_parent(parent: int, request: int = signal.SIGTERM) -> bool:
    """Have this process get a signal when the thread that started it is gone (Linux only).

    Parameters
    ----------
    parent : int
        Id of the process that started this one.
    request : int
        The signal.

    Returns
    -------
    bool
        False if the parent was gone before: no signal will come.
    """
    if sys.platform != "linux":
        return True
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, request, 0, 0, 0)
    return os.getppid() == parent
