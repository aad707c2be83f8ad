"""Addresses in a sorted column of them, by binary search."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _find(table, addrs, out):
    n = len(table)
    for i in range(len(addrs)):
        high, low = addrs[i, 0], addrs[i, 1]
        left, right = 0, n
        while left < right:
            middle = (left + right) >> 1
            if table[middle, 0] < high or (table[middle, 0] == high and table[middle, 1] < low):
                left = middle + 1
            else:
                right = middle
        found = left < n and table[left, 0] == high and table[left, 1] == low
        out[i] = left if found else -1


def find_addrs(table: np.ndarray, addrs: np.ndarray) -> np.ndarray:
    """Position of each address in a sorted address column.

    Parameters
    ----------
    table : (n_table, 2) uint64, sorted, distinct
    addrs : (n, 2) uint64

    Returns
    -------
    (n,) int32
        -1 where the address is not in the table.
    """
    out = np.empty(len(addrs), np.int32)
    _find(np.ascontiguousarray(table, np.uint64), np.ascontiguousarray(addrs, np.uint64), out)
    return out
