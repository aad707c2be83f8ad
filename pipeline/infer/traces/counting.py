"""Counts by pair of numbers: a hash table on flat arrays, for kernels to fill.

Keys are int64, ``first << 32 | second`` of two non-negative int32; -1 marks an empty slot. A table
is filled by one thread; tables of several threads are added up afterwards, which gives the same
counts however the traces were divided among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

EMPTY = -1


@njit(cache=True, nogil=True, inline="always")
def slot_of(keys, key):
    """Slot that holds ``key``, or the empty one where it belongs."""
    mask = len(keys) - 1
    x = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((x ^ (x >> np.uint64(29))) & np.uint64(mask))
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _move(old_keys, old_counts, keys, counts):
    for i in range(len(old_keys)):
        if old_keys[i] != EMPTY:
            slot = slot_of(keys, old_keys[i])
            keys[slot] = old_keys[i]
            counts[slot] = old_counts[i]


class PairCounter:
    """A table of ``n_counts`` int64 counts for each key.

    Attributes
    ----------
    keys : (n_slots,) int64
    counts : (n_slots, n_counts) int64
    n_used : int
        Kernels return how many keys they added; the caller adds it here.
    """

    def __init__(self, n_counts: int, n_slots: int = 1 << 12) -> None:
        self.keys = np.full(n_slots, EMPTY, np.int64)
        self.counts = np.zeros((n_slots, n_counts), np.int64)
        self.n_used = 0

    def reserve(self, n_more: int) -> None:
        """Make room for ``n_more`` new keys at a load of at most one half."""
        n_slots = len(self.keys)
        while 2 * (self.n_used + n_more) > n_slots:
            n_slots *= 2
        if n_slots > len(self.keys):
            old_keys, old_counts = self.keys, self.counts
            self.keys = np.full(n_slots, EMPTY, np.int64)
            self.counts = np.zeros((n_slots, old_counts.shape[1]), np.int64)
            _move(old_keys, old_counts, self.keys, self.counts)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Keys in ascending order and their counts."""
        used = self.keys != EMPTY
        keys, counts = self.keys[used], self.counts[used]
        order = np.argsort(keys)
        return keys[order], counts[order]


def add_up(tables: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Sum tables of sorted (keys, counts) into one."""
    if len(tables) == 1:
        return tables[0]
    keys = np.concatenate([table[0] for table in tables])
    counts = np.concatenate([table[1] for table in tables])
    distinct, inverse = np.unique(keys, return_inverse=True)
    total = np.zeros((len(distinct), counts.shape[1]), np.int64)
    for column in range(counts.shape[1]):
        np.add.at(total[:, column], inverse, counts[:, column])
    return distinct, total


@njit(cache=True, nogil=True)
def _fill(slots, keys):
    for key in keys:
        slots[slot_of(slots, key)] = key


def key_set(keys: np.ndarray) -> np.ndarray:
    """Slots of a table that holds some keys; look them up with ``slot_of``."""
    slots = np.full(1 << max(4, (2 * len(keys)).bit_length()), EMPTY, np.int64)
    _fill(slots, keys)
    return slots
