"""What repairs work on: runs of routers moved to another AS, distinct paths in bounded memory."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import cost_of

# Most that a move may cost, in tenths of a nat, chosen on simulated networks.
MOST = 40
MAX_ROUNDS = 20
_MOST_ROWS = 1 << 18


@njit(cache=True, nogil=True)
def cost_of_move(case, groups, to):
    """What the groups of a run cost more in another AS, one moved after the other.

    They stay where they are. ``groups``: (n,) int, -1 for none.
    """
    labels = case.labels
    was, cost = np.full(len(groups), -1, np.int64), np.int64(0)
    for at in range(len(groups)):
        group = groups[at]
        if group >= 0:
            was[at] = labels[group]
            if was[at] != to:
                cost += cost_of(case, group, to) - cost_of(case, group, was[at])
                labels[group] = to
    for at in range(len(groups)):
        if groups[at] >= 0:
            labels[groups[at]] = was[at]
    return cost


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
        if self._n_added > _MOST_ROWS:
            self.kept()

    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """Keys, ascending, and rows."""
        keys, first = np.unique(np.concatenate(self._keys), return_index=True)
        keys, first = keys[:_MOST_ROWS], first[:_MOST_ROWS]
        rows = np.concatenate(self._rows)[first]
        self._keys, self._rows, self._n_added = [keys], [rows], 0
        return keys, rows
