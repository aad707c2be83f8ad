"""Distinct rows of many traces in bounded memory, whatever the order of traces."""

from __future__ import annotations

import numpy as np

_MOST = 1 << 18


class DistinctRows:
    """Rows that were added, each once; of more than 2^18 those with the smallest keys.

    Parameters
    ----------
    shape : tuple of int
        Of one row.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._keys, self._rows = [np.empty(0, np.uint64)], [np.empty((0, *shape), np.int32)]
        self._n_added = 0

    def add(self, keys: np.ndarray, rows: np.ndarray) -> None:
        """Add rows, (n, *shape) int32, with keys that are mixed from all they hold, (n,) uint64."""
        self._keys.append(keys)
        self._rows.append(rows)
        self._n_added += len(keys)
        if self._n_added > _MOST:
            self.kept()

    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """Keys, ascending, and rows."""
        keys, first = np.unique(np.concatenate(self._keys), return_index=True)
        keys, first = keys[:_MOST], first[:_MOST]
        rows = np.concatenate(self._rows)[first]
        self._keys, self._rows, self._n_added = [keys], [rows], 0
        return keys, rows
