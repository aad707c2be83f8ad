"""Hop counts that a GPU returns one block of levels at a time, put together source by source."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class BlockCounts:
    """Counts copied from the device, a block of levels at a time."""

    rows: list[np.ndarray] = field(default_factory=list)  # of each block, ascending
    n_levels: list[np.ndarray] = field(default_factory=list)
    counts: list[np.ndarray] = field(default_factory=list)  # source after source

    def add(self, rows: np.ndarray, n_levels: np.ndarray, counts: np.ndarray) -> None:
        self.rows.append(rows)
        self.n_levels.append(n_levels)
        self.counts.append(counts)

    def ragged(self, n_sources: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """hop_ptr, hop_counts and n_reached of all sources."""
        hop_ptr = np.zeros(n_sources + 1, np.int64)
        if len(self.rows) == 1 and len(self.rows[0]) == n_sources:  # one block, in order
            np.cumsum(self.n_levels[0], out=hop_ptr[1:])
            hop_counts = self.counts[0].astype(np.int64)
        else:
            total = np.zeros(n_sources, np.int64)
            for rows, n_levels in zip(self.rows, self.n_levels, strict=True):
                total[rows] += n_levels
            np.cumsum(total, out=hop_ptr[1:])
            hop_counts = np.empty(hop_ptr[-1], np.int64)
            at = hop_ptr[:-1].copy()
            for rows, n_levels, counts in zip(self.rows, self.n_levels, self.counts, strict=True):
                first = np.cumsum(n_levels) - n_levels
                place = np.arange(len(counts)) + np.repeat(at[rows] - first, n_levels)
                hop_counts[place] = counts
                at[rows] += n_levels
        n_reached = np.zeros(n_sources, np.int64)
        if n_sources:
            n_reached = np.add.reduceat(hop_counts, hop_ptr[:-1])
        return hop_ptr, hop_counts, n_reached
