"""Seconds during which this process was running: workers are not late while it is not."""

from __future__ import annotations

import time

MOST_GAP_S = 10.0  # between two readings: the longest that counts


class Clock:
    """A monotonic clock that stands still while it is not read for long.

    If this process is stopped, or its caller takes long, what workers sent in the meantime has not
    been read: that time must not count against them.
    """

    def __init__(self) -> None:
        self._at = time.monotonic()
        self._skipped_s = 0.0

    def now(self) -> float:
        """Seconds; only differences mean something."""
        at = time.monotonic()
        self._skipped_s += max(0.0, at - self._at - MOST_GAP_S)
        self._at = at
        return at - self._skipped_s
