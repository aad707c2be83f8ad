"""The end of a run that a Prefect server, which was given up, cannot record."""

from __future__ import annotations

import contextlib
import logging
import signal
from collections.abc import Iterator

from prefect.exceptions import TerminationSignal
from prefect.states import State

# The first two send their lines; the last one logs each event that could not be sent, whole.
LOGGERS = ("prefect.flow_runs", "prefect.task_runs", "prefect._internal")

_noting: list[list[State]] = []


@contextlib.contextmanager
def noted_ends() -> Iterator[list[State]]:
    """The states that flows of this process end with inside the block, recorded or not."""
    ends: list[State] = []
    _noting.append(ends)
    try:
        yield ends
    finally:
        _noting.remove(ends)


def note_end(state: State) -> None:
    """Say which state a flow is about to end with."""
    for ends in _noting:
        ends.append(state)


def stop_if_asked(error: BaseException) -> None:
    """Stop as Prefect does after a signal, if recording that end is what has failed.

    Raises
    ------
    KeyboardInterrupt
        If a signal came before ``error``.
    """
    before: BaseException | None = error
    while before is not None:
        if isinstance(before, TerminationSignal):
            signal.raise_signal(before.signal)  # Prefect had it in place of our own handler
        if isinstance(before, KeyboardInterrupt):
            raise before
        before = before.__cause__ or before.__context__


def send_no_more() -> None:
    """Send no more lines of logs to Prefect, and say nothing of what it does not take."""
    for name in LOGGERS:
        for handler in logging.getLogger(name).handlers:
            handler.setLevel(logging.CRITICAL + 1)
    logging.raiseExceptions = False  # else Prefect says of lines on their way that they are lost
