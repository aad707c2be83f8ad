"""Stated confidence against the measured share that is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from pipeline.infer.owners.confidence import CANDIDATE_CLASSES, CLASSES, SHARES
from pipeline.model.topology import Topology


@dataclass(frozen=True, order=True)
class Rated:
    """Things of one kind with the same stated confidence, counted."""

    what: str  # a key of ``SHARES``
    stated: float
    n: int
    right: int

    @property
    def class_name(self) -> str:
        """Class that has this confidence, of whatever kind; the nearest one if none has it."""
        names = CANDIDATE_CLASSES if self.what == "candidate" else CLASSES
        apart = np.abs(np.array(SHARES[self.what], np.float32) - self.stated)
        return names[int(apart.min(axis=0).argmin())]


@dataclass(frozen=True)
class Pooled:
    """Things of one class, counted; ``stated``: their mean confidence."""

    what: str
    class_name: str
    stated: float
    n: int
    right: int

    @property
    def measured(self) -> float:
        return self.right / self.n


def count_rated(
    topology: Topology, ingresses_right: np.ndarray, addrs_right: np.ndarray
) -> tuple[Rated, ...]:
    """Count what a topology gives a confidence.

    Parameters
    ----------
    ingresses_right : (n_ingresses,) bool
    addrs_right : (n_addrs,) int64
        -1 where not judged.
    """
    table, of_addrs = topology.ingresses, topology.addr_confidence
    if table.confidence is None or of_addrs is None:
        return ()
    judged = (addrs_right >= 0) & ~np.isnan(of_addrs)
    return (
        *_count("address", of_addrs[judged], addrs_right[judged]),
        *_count("ingress", table.confidence[~table.candidate], ingresses_right[~table.candidate]),
        *_count("candidate", table.confidence[table.candidate], ingresses_right[table.candidate]),
    )


def _count(what: str, stated: np.ndarray, right: np.ndarray) -> list[Rated]:
    values, which = np.unique(stated, return_inverse=True)
    n, n_right = np.bincount(which), np.bincount(which, right)
    return [
        Rated(what, *row)
        for row in zip(values.tolist(), n.tolist(), n_right.astype(int).tolist(), strict=True)
    ]


def pool(parts: Iterable[Rated]) -> tuple[Pooled, ...]:
    """Counts by class, in the order of ``SHARES``, likeliest first."""
    n: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    stated: Counter[tuple[str, str]] = Counter()
    for part in parts:
        key = part.what, part.class_name
        n[key] += part.n
        right[key] += part.right
        stated[key] += part.n * part.stated
    pooled = [Pooled(*key, stated[key] / n[key], n[key], right[key]) for key in n]
    return tuple(sorted(pooled, key=lambda one: (list(SHARES).index(one.what), -one.stated)))


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
