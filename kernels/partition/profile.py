"""Where the time of a search over parts goes."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(eq=False)
class Profile:
    """Seconds of one rank.

    The rank waits for its device after each part and for all ranks before each exchange: such a
    search takes longer than others, by what it would otherwise overlap and by these waits.

    Attributes
    ----------
    computed_s : float
        At work on its part.
    waited_s : float
        Until the last rank was ready to exchange.
    sent_s : float
        Exchanging while nothing else was done.
    overlapped_s : float
        Exchanging beside work, as part of ``computed_s``.
    n_exchanges : int
    """

    computed_s: float = 0.0
    waited_s: float = 0.0
    sent_s: float = 0.0
    overlapped_s: float = 0.0
    n_exchanges: int = 0
    _since: float = 0.0

    def begin(self) -> None:
        """The first part begins."""
        self._since = time.perf_counter()

    def lap(self, name: str) -> float:
        """Count the time since the last call; returns it."""
        now = time.perf_counter()
        seconds, self._since = now - self._since, now
        setattr(self, name, getattr(self, name) + seconds)
        return seconds
