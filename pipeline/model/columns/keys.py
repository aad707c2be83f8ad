"""Two numbers as one, by which rows are sorted, counted and looked up."""

from __future__ import annotations

import numpy as np


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
    others = np.sort(others)
    if not len(others):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    return others[at] == keys
