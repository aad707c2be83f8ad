"""Stated confidence against the measured share that is right, in several networks together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from pipeline.judge.rated import Pooled, Rated, pool


@dataclass(frozen=True)
class Calibrated:
    """A class in several networks together.

    ``error``: standard error of the share that is right, by the spread between networks, since what
    is in one network is right or wrong together; None in a single one.
    """

    pooled: Pooled
    error: float | None

    @property
    def measured(self) -> str:
        """The share that is right, and its standard error."""
        error = "" if self.error is None else f" ± {self.error:.3f}"
        return f"{self.pooled.measured:.3f}{error}"


def calibrate(networks: Sequence[Sequence[Rated]]) -> list[Calibrated]:
    """Counts of several networks together, in the order of ``pool``."""
    return [
        Calibrated(one, _error(one, networks))
        for one in pool(part for network in networks for part in network)
    ]


def _error(pooled: Pooled, networks: Sequence[Sequence[Rated]]) -> float | None:
    if len(networks) < 2:
        return None
    more = (
        sum(
            part.right - pooled.measured * part.n
            for part in network
            if (part.what, part.class_name) == (pooled.what, pooled.class_name)
        )
        for network in networks
    )
    squares = sum(one * one for one in more)
    return sqrt(squares * len(networks) / (len(networks) - 1)) / pooled.n


def rows_of(calibrated: Iterable[Calibrated]) -> list[list[str]]:
    """One row per class: what, classes, number, stated, measured, their difference."""
    return [
        [
            one.pooled.what,
            one.pooled.class_name,
            str(one.pooled.n),
            f"{one.pooled.stated:.3f}",
            one.measured,
            f"{one.pooled.measured - one.pooled.stated:+.3f}",
        ]
        for one in calibrated
    ]


HEADS = [
    "confidence of",
    "class",
    "number",
    "stated",
    "measured ± standard error",
    "difference",
]
