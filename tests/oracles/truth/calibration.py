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
    def measured(self) -> float:
        return self.right / self.n

    @property
    def class_names(self) -> str:
        """Classes that have this confidence."""
        names = CANDIDATE_CLASSES if self.what == "candidate" else CLASSES
        shares = np.array(SHARES[self.what], np.float32).tolist()
        return ", ".join(n for n, s in zip(names, shares, strict=True) if s == self.stated)


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


def pool(parts: Iterable[Rated]) -> tuple[Rated, ...]:
    """Counts of several laboratories together, in the order of ``SHARES``, likeliest first."""
    n: Counter[tuple[str, float]] = Counter()
    right: Counter[tuple[str, float]] = Counter()
    for part in parts:
        n[part.what, part.stated] += part.n
        right[part.what, part.stated] += part.right
    order = sorted(n, key=lambda key: (list(SHARES).index(key[0]), -key[1]))
    return tuple(Rated(*key, n[key], right[key]) for key in order)


@dataclass(frozen=True)
class Calibrated:
    """A class in several networks together.

    ``error``: standard error of the share that is right, by the spread between networks, since what
    is in one network is right or wrong together; None in a single one.
    """

    rated: Rated
    error: float | None

    @property
    def measured(self) -> str:
        """The share that is right, and its standard error."""
        error = "" if self.error is None else f" ± {self.error:.3f}"
        return f"{self.rated.measured:.3f}{error}"


def calibrate(networks: Sequence[Sequence[Rated]]) -> list[Calibrated]:
    """Counts of several networks together, in the order of ``pool``."""
    return [
        Calibrated(one, _error(one, networks))
        for one in pool(part for network in networks for part in network)
    ]


def _error(pooled: Rated, networks: Sequence[Sequence[Rated]]) -> float | None:
    if len(networks) < 2:
        return None
    more = (
        sum(
            part.right - pooled.measured * part.n
            for part in network
            if (part.what, part.stated) == (pooled.what, pooled.stated)
        )
        for network in networks
    )
    squares = sum(one * one for one in more)
    return sqrt(squares * len(networks) / (len(networks) - 1)) / pooled.n


def rows_of(calibrated: Iterable[Calibrated]) -> list[list[str]]:
    """One row per class: what, classes, number, stated, measured, their difference."""
    return [
        [
            one.rated.what,
            one.rated.class_names,
            str(one.rated.n),
            f"{one.rated.stated:.3f}",
            one.measured,
            f"{one.rated.measured - one.rated.stated:+.3f}",
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
