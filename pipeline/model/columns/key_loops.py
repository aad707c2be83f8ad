"""Compiled loops over keys, of ``sorted_keys``."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def place(table, starts, shift, keys, out):
    low, high = table[0], table[-1]
    for i in range(len(keys)):
        key = keys[i]
        if key <= low:
            out[i] = 0
            continue
        if key > high:
            out[i] = len(table)
            continue
        part = (key - low) >> shift
        left, right = starts[part], starts[part + 1]
        while left < right:
            middle = (left + right) >> 1
            if table[middle] < key:
                left = middle + 1
            else:
                right = middle
        out[i] = left
