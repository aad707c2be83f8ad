"""Being asked to stop: Ctrl-C, SIGTERM, and SIGHUP of a terminal that is closed."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Stopping:
    """Which signal asked first; 0 until then."""

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
            raise KeyboardInterrupt


@contextlib.contextmanager
def stop_on_signals() -> Iterator[Stopping]:
    """Make a KeyboardInterrupt of the first signal; further ones must not cut the clearing up.

    A signal that is ignored from the start stays so: ``nohup`` means it.
    """
    stopping = Stopping()
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
