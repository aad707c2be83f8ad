"""How a process ends: by Ctrl-C, SIGTERM or SIGHUP, or with the process that started it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_PR_SET_PDEATHSIG = 1  # prctl(2)


class Stopped(KeyboardInterrupt):
    """A KeyboardInterrupt under another name.

    CPython kills its process by SIGINT at the very end, whatever exit status was requested, if a
    plain KeyboardInterrupt ever left an ``exec`` of text (dataclasses and other modules that are
    being imported do that), although it was caught later; it looks for the exact class.
    """


class Stopping:
    """The first signal received; 0 until then."""

    def __init__(self) -> None:
        self.number = 0
        self.asked = threading.Event()

    @property
    def exit_status(self) -> int:
        """What a shell expects of a program that a signal ended."""
        return 128 + (self.number or signal.SIGINT)

    def __call__(self, number: int, _frame: object) -> None:
        if not self.asked.is_set():
            self.number = number
            self.asked.set()
            raise Stopped


_begun: list[Stopping] = []  # contexts of ``stop_on_signals`` that have not ended


def is_stopping() -> bool:
    """Whether a signal has asked this process to end; in any thread."""
    return any(stopping.asked.is_set() for stopping in _begun)


@contextlib.contextmanager
def stop_on_signals() -> Iterator[Stopping]:
    """Turn the first signal into a KeyboardInterrupt; further ones must not interrupt the clean-up.

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

    Processes that are started here react to signals as usual. Only the main thread gets signals;
    in others this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    # What the interpreter did not install (None), or what is ignored, stays.
    previous = {
        number: handler for number in numbers if callable(handler := signal.getsignal(number))
    }
    for number in previous:
        signal.signal(number, lambda number, _frame: received.append(number))
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


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
