"""Medians with confidence intervals that assume no distribution of the values.

The interval of a median is that of two order statistics, whose ranks are the Wilson score interval
of the share of one half [1]_. Few values from few vantage points say nothing about a network:
with fewer than ``MIN_VANTAGES`` of them there is no change.

References
----------
.. [1] R. Fontugne, C. Pelsser, E. Aben, R. Bush, "Pinpointing delay and forwarding anomalies using
   large-scale traceroute measurements", IMC 2017.
"""

from __future__ import annotations

import numpy as np

from pipeline.compare.links import SURE
from pipeline.model.columns.keys import ordered_keys, split_key

MIN_VANTAGES = 3
_Z = 1.96  # of 95 %


def wilson(n_hits: np.ndarray, n: np.ndarray, z: float = _Z) -> tuple[np.ndarray, np.ndarray]:
    """Wilson score interval of shares, float64; 0 and 1 where ``n`` is 0.

    >>> [bound.round(2).item() for bound in wilson(np.array(9), np.array(10))]
    [0.6, 0.98]
    """
    n_hits, n = np.asarray(n_hits, np.float64), np.asarray(n, np.float64)
    share = n_hits / np.maximum(n, 1)
    middle = share + z * z / (2 * np.maximum(n, 1))
    half = z * np.sqrt(share * (1 - share) / np.maximum(n, 1) + (z / (2 * np.maximum(n, 1))) ** 2)
    scale = 1 + z * z / np.maximum(n, 1)
    lower = np.where(n_hits > 0, (middle - half) / scale, 0.0)  # rounding may leave less
    upper = np.where(n_hits < n, (middle + half) / scale, 1.0)
    return lower, upper


def medians(
    row: np.ndarray, values: np.ndarray, n_rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Median of the values of each row, and its interval; NaN without values.

    Parameters
    ----------
    row : (n,) int64
    values : (n,) float64

    Returns
    -------
    median, lower, upper : (n_rows,) float64
    """
    by_value = np.argsort(values)
    rank = np.empty(len(values), np.int64)
    rank[by_value] = np.arange(len(values))
    ordered = values[by_value[split_key(np.sort(ordered_keys(row, rank)))[1]]]
    n = np.bincount(row, minlength=n_rows)
    first = np.cumsum(n) - n
    out = np.full((3, n_rows), np.nan)
    some = np.flatnonzero(n)
    at, size = first[some], n[some]
    out[0, some] = (ordered[at + (size - 1) // 2] + ordered[at + size // 2]) / 2
    lower, upper = wilson(size / 2, size)
    out[1, some] = ordered[at + np.clip(np.floor(lower * size).astype(np.int64), 0, size - 1)]
    out[2, some] = ordered[at + np.clip(np.ceil(upper * size).astype(np.int64) - 1, 0, size - 1)]
    return out[0], out[1], out[2]


def shifted_medians(
    row: np.ndarray, before: np.ndarray, moved: np.ndarray, n_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Median of the values of each row, and the same moved by the median of their changes.

    The difference of the medians of two nights may be another one, even of the other sign, where
    vantage points see different values: what is said of a change is what it was judged by.

    Parameters
    ----------
    row : (n,) int64
    before, moved : (n,) float64
        A value, and by how much it changed.

    Returns
    -------
    before, after : (n_rows,) float64
        NaN without values.
    """
    usual, change = (medians(row, values, n_rows)[0] for values in (before, moved))
    return usual, usual + change


def rare_shifts(row: np.ndarray, moved: np.ndarray, n_rows: int) -> np.ndarray:
    """(n_rows,) bool: more values of a row moved along with their median than others do by chance.

    By half of it or more, each as often as those of other rows; by Chernoff's bound of the binomial
    distribution.
    """
    shift = medians(row, moved, n_rows)[0]
    along = moved * np.sign(shift)[row]
    half = np.abs(shift) / 2
    n = np.bincount(row, minlength=n_rows)
    n_along = np.bincount(row, along >= half[row], n_rows)
    share = n_along / np.maximum(n, 1)
    ordered = np.sort(moved)
    n_above = len(moved) - np.searchsorted(ordered, half)
    n_below = np.searchsorted(ordered, -half, "right")
    n_others = np.where(shift > 0, n_above, n_below) - n_along
    chance = n_others / np.maximum(len(moved) - n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = share * np.log(share / chance)
        rest = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - chance)), 0.0)
    return (share > chance) & (n * (excess + rest) >= np.log(max(1, n_rows)) + SURE)
