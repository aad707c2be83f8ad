"""Hop-count distributions of ASes: summed over ingresses, then mean, median and p90.

A distribution is over all pairs (ingress, router that it reaches), without the ingress itself.
Percentiles are those of numpy's ``linear`` method: between the two nearest ranks, interpolated;
ranks are exact integers, so that 10**10 pairs lose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.model.columns.ragged import offset_in_row, offsets, row_of_value
from pipeline.model.search.results import SearchResults


@dataclass(frozen=True, eq=False)
class Distributions:
    """Pairs by hop count, one row per AS.

    Attributes
    ----------
    ptr : (n_ases + 1,) int64; pairs : (n_levels_in_all,) int64
        pairs[ptr[i] + h]: (ingress, router) pairs of AS i at h hops; 0 at h = 0. An AS without a
        finished search has no levels.
    n_pairs : (n_ases,) int64
    mean, median, p90 : (n_ases,) float64
        Hops; NaN without a pair.
    n_searched : (n_ases,) int64
        Ingresses whose search finished.
    max_hops : (n_ases,) int64
        -1 without a finished search.
    """

    ptr: np.ndarray
    pairs: np.ndarray
    n_pairs: np.ndarray
    mean: np.ndarray
    median: np.ndarray
    p90: np.ndarray
    n_searched: np.ndarray
    max_hops: np.ndarray

    def of(self, i: int) -> np.ndarray:
        """(n_levels,) int64: pairs of AS i by hop count, from 0."""
        return self.pairs[self.ptr[i] : self.ptr[i + 1]]

    def part(self, begin: int, end: int) -> Distributions:
        """Those of ASes begin to end - 1."""
        rows = slice(begin, end)
        return Distributions(
            self.ptr[begin : end + 1] - self.ptr[begin],
            self.pairs[self.ptr[begin] : self.ptr[end]],
            *(
                column[rows]
                for column in (
                    self.n_pairs,
                    self.mean,
                    self.median,
                    self.p90,
                    self.n_searched,
                    self.max_hops,
                )
            ),
        )

    def total(self) -> np.ndarray:
        """(n_levels,) int64: pairs of all ASes by hop count, from 0."""
        hops = offset_in_row(self.ptr)
        total = np.zeros(int(hops.max()) + 1 if len(hops) else 0, np.int64)
        np.add.at(total, hops, self.pairs)
        return total


def sum_distributions(rows: np.ndarray, results: SearchResults) -> Distributions:
    """Sum the hop counts of each AS over its searches.

    Parameters
    ----------
    rows : (n_ases,) int64
        AS rows, ascending.
    results : SearchResults
        Searches of these rows, in any order.
    """
    n_ases = len(rows)
    position = np.searchsorted(rows, results.row)
    n_searched = np.bincount(position, minlength=n_ases).astype(np.int64)
    max_hops = np.full(n_ases, -1, np.int64)
    np.maximum.at(max_hops, position, results.eccentricity.astype(np.int64))
    # hop_counts may be longer than the eccentricity says: all must find their place.
    n_levels = np.zeros(n_ases, np.int64)
    np.maximum.at(n_levels, position, np.diff(results.hop_ptr))
    ptr = offsets(n_levels)
    pairs = np.zeros(ptr[-1], np.int64)
    hops = offset_in_row(results.hop_ptr)
    away = hops > 0
    search = row_of_value(results.hop_ptr)
    np.add.at(pairs, (ptr[position[search]] + hops)[away], results.hop_counts[away])

    level = offset_in_row(ptr)
    before = np.concatenate([[0], np.cumsum(pairs)])
    n_pairs = before[ptr[1:]] - before[ptr[:-1]]
    weighted = np.concatenate([[0], np.cumsum(pairs * level)])
    with np.errstate(invalid="ignore"):
        mean = (weighted[ptr[1:]] - weighted[ptr[:-1]]) / n_pairs
    cumulated = before[1:]
    return Distributions(
        ptr=ptr,
        pairs=pairs,
        n_pairs=n_pairs,
        mean=mean,
        median=_percentile(level, cumulated, before[ptr[:-1]], n_pairs, 5),
        p90=_percentile(level, cumulated, before[ptr[:-1]], n_pairs, 9),
        n_searched=n_searched,
        max_hops=max_hops,
    )


def _percentile(
    level: np.ndarray,
    cumulated: np.ndarray,
    before: np.ndarray,
    n_pairs: np.ndarray,
    tenths: int,
) -> np.ndarray:
    """Interpolated percentile of each row, at ``tenths``/10; NaN for a row without pairs."""
    result = np.full(len(n_pairs), np.nan)
    has = np.flatnonzero(n_pairs)
    rank, rest = np.divmod(tenths * (n_pairs[has] - 1), 10)
    low = level[np.searchsorted(cumulated, before[has] + rank, side="right")]
    above = np.minimum(rank + 1, n_pairs[has] - 1)
    high = level[np.searchsorted(cumulated, before[has] + above, side="right")]
    result[has] = low + (high - low) * (rest / 10)
    return result


def mean_of_each(hop_ptr: np.ndarray, hop_counts: np.ndarray) -> np.ndarray:
    """Mean hops of each search, its source left out; NaN where it reaches nothing else.

    Parameters
    ----------
    hop_ptr : (n_searches + 1,) int64; hop_counts : (n_levels_in_all,) int64

    Returns
    -------
    (n_searches,) float64
        Hops.
    """
    hops = offset_in_row(hop_ptr)
    away = np.concatenate([[0], np.cumsum(np.where(hops > 0, hop_counts, 0))])
    weighted = np.concatenate([[0], np.cumsum(hops * hop_counts)])
    n_away = away[hop_ptr[1:]] - away[hop_ptr[:-1]]
    with np.errstate(invalid="ignore"):
        return (weighted[hop_ptr[1:]] - weighted[hop_ptr[:-1]]) / n_away
