"""Addresses to dense numbers: an open-addressing hash table on flat arrays.

Memory grows with distinct addresses, not with replies. Numbers follow the order of arrival, so
they mean nothing outside the file that made them; ``pipeline.infer.traces.merge`` turns them into
positions in sorted order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_FIRST_SLOTS = 1 << 14  # slots of a new table, 64 kB
_MAX_LOAD = 0.5  # probes stay short; slots are 4 bytes


@njit(cache=True, nogil=True)
def _slot_of(high, low, mask):
    # splitmix64's finaliser: neighbouring addresses, the usual case, land far apart.
    x = high * np.uint64(0x9E3779B97F4A7C15) ^ low
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((x ^ (x >> np.uint64(31))) & np.uint64(mask))


@njit(cache=True, nogil=True)
def _intern(addr, start, slots, table, n_known, limit, out):
    """Number rows of ``addr`` from ``start``; stops when the table is full.

    Returns the row that it reached and how many addresses are known then.
    """
    mask = len(slots) - 1
    for i in range(start, len(addr)):
        high, low = addr[i, 0], addr[i, 1]
        slot = _slot_of(high, low, mask)
        while True:
            known = slots[slot]
            if known < 0:
                if n_known >= limit:
                    return i, n_known
                slots[slot] = n_known
                table[n_known, 0] = high
                table[n_known, 1] = low
                out[i] = n_known
                n_known += 1
                break
            if table[known, 0] == high and table[known, 1] == low:
                out[i] = known
                break
            slot = (slot + 1) & mask
    return len(addr), n_known


@njit(cache=True, nogil=True)
def _rehash(table, n_known, slots):
    mask = len(slots) - 1
    for i in range(n_known):
        slot = _slot_of(table[i, 0], table[i, 1], mask)
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = i


class AddressTable:
    """Distinct addresses in order of arrival."""

    def __init__(self) -> None:
        self._slots = np.full(_FIRST_SLOTS, -1, np.int32)
        self._table = np.empty((int(_FIRST_SLOTS * _MAX_LOAD), 2), np.uint64)
        self._n_known = 0

    def __len__(self) -> int:
        return self._n_known

    @property
    def addrs(self) -> np.ndarray:
        """(n_known, 2) uint64: address of each number."""
        return self._table[: self._n_known]

    def intern(self, addrs: np.ndarray) -> np.ndarray:
        """Numbers of some addresses; new ones get the next numbers.

        Parameters
        ----------
        addrs : (n, 2) uint64

        Returns
        -------
        (n,) int32
        """
        out = np.empty(len(addrs), np.int32)
        addrs = np.ascontiguousarray(addrs, np.uint64)
        row = 0
        while True:
            row, self._n_known = _intern(
                addrs, row, self._slots, self._table, self._n_known, len(self._table), out
            )
            if row == len(addrs):
                return out
            self._grow()

    def _grow(self) -> None:
        self._slots = np.full(2 * len(self._slots), -1, np.int32)
        table = np.empty((int(len(self._slots) * _MAX_LOAD), 2), np.uint64)
        table[: self._n_known] = self._table[: self._n_known]
        self._table = table
        _rehash(self._table, self._n_known, self._slots)
