"""Two numbers as one, by which rows are sorted, counted and looked up."""

from __future__ import annotations

import numpy as np

from pipeline.model.columns.ragged import run_starts
from pipeline.model.columns.sorted_keys import places_of_keys

_MOST_NUMBERS = 1 << 62  # that a packed key tells apart
_OF_A_TABLE = 8  # numbers for each key: as many are looked up in a table of bool


def pair_keys(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """One number for each pair, in either order.

    Parameters
    ----------
    one, other : (n,) int64
        From 0 to 2**31 - 1: nodes, addresses or rows. AS numbers may be larger.

    Returns
    -------
    (n,) int64
        The smaller one decides first.
    """
    return (np.minimum(one, other) << 32) | np.maximum(one, other)


def ordered_keys(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """One number for each ordered pair; ``split_key`` gives both back.

    Parameters
    ----------
    first, second : (n,) of any integers
        First from 0 to 2**31 - 1: rows or nodes. Second from 0 to 2**32 - 1, so AS numbers, too.
        With larger ones as first, keys still differ, but do not sort like the pairs.

    Returns
    -------
    (n,) int64
        The first one decides first.
    """
    return (np.asarray(first, np.int64) << 32) | np.asarray(second, np.int64)


def split_key(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two numbers of each key, int64."""
    return keys >> 32, keys & 0xFFFF_FFFF


def packed_keys(*columns: np.ndarray) -> list[np.ndarray]:
    """Fewer columns that sort like these: one number for several, as far as their ranges allow.

    Parameters
    ----------
    *columns : (n,) of any integers, at least one
        The first decides first.

    Returns
    -------
    list of (n,) int64
        At least one. A column of a range beyond 2**62 is by itself, as it came.
    """
    keys: list[np.ndarray] = []
    room = 0  # numbers that the last key may still be multiplied by
    for column in columns:
        low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
        n = high - low + 1
        if n > _MOST_NUMBERS:
            keys.append(column)
            room = 0
            continue
        if column.dtype == np.uint64:
            own = (column - np.uint64(low)).astype(np.int64)
        else:
            own = column.astype(np.int64) - low
        if n > 1 << 32 and (own == 0).any():  # none, and addresses that have a high part in common
            gap = int(own.min(initial=n, where=own > 0)) - 1
            own, n = np.maximum(own - gap, 0), n - gap
        if n <= room:
            keys[-1] = keys[-1] * n + own
            room //= n
        elif n > 1 or not keys:
            keys.append(own)
            room = _MOST_NUMBERS // n
    return keys


def number_rows(*columns: np.ndarray) -> tuple[np.ndarray, int]:
    """Numbers from 0 for distinct rows, in ascending order, and how many there are.

    Parameters
    ----------
    *columns : (n,) arrays
        The first decides first.

    Returns
    -------
    (n,) int64, int
    """
    keys = packed_keys(*columns)
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
    starts = run_starts(*(key[order] for key in keys))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    return numbers, len(starts)


def distinct_keys(keys: np.ndarray) -> np.ndarray:
    """Distinct keys, (n,) of any integers, ascending.

    ``np.unique`` alone hashes them since NumPy 2.3, and keys of two numbers collide there: it took
    twenty times as long for 3 million.
    """
    keys = np.sort(keys)
    is_new = np.ones(len(keys), bool)
    is_new[1:] = keys[1:] != keys[:-1]
    return keys[is_new]


def is_among(keys: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n,) bool: which keys are among others, both of integers; as ``np.isin``, without hashing."""
    if not len(others) or not len(keys):
        return np.zeros(len(keys), bool)
    low, high = others.min(), others.max()
    n = int(high) - int(low) + 1
    if n <= _OF_A_TABLE * (len(keys) + len(others)):
        is_there = np.zeros(n, bool)
        is_there[others - low] = True
        found = (keys >= low) & (keys <= high)
        found[found] = is_there[keys[found] - low]
        return found
    return position_of(np.sort(others), keys) >= 0


def position_of(table: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Position of each key in an ascending table, (n,) int64; -1 where it is not there."""
    if not len(table):
        return np.full(len(keys), -1)
    at = np.minimum(places_of_keys(table, keys), len(table) - 1)
    return np.where(table[at] == keys, at, -1)


def first_rows(keys: np.ndarray) -> np.ndarray:
    """The first row of each distinct key, in ascending order of these."""
    order = np.argsort(keys)
    starts = run_starts(keys[order])
    return np.minimum.reduceat(order, starts) if len(starts) else order


def common_rows(keys: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each key of both, in ascending order of these, here and there."""
    rows, there = first_rows(keys), first_rows(others)
    if not len(rows) or not len(there):
        return rows[:0], there[:0]
    here, known = keys[rows], others[there]
    at = position_of(known, here)
    return rows[at >= 0], there[at[at >= 0]]
