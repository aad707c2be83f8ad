"""Rows of different length, kept end to end with offsets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def take_ragged(
    ptr: np.ndarray, values: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and values of some rows, in the order given.

    Parameters
    ----------
    ptr : (n_rows + 1,) int64; values : (ptr[-1],)
    rows : (n,) integers
    """
    length = np.diff(ptr)[rows]
    new_ptr = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    take = np.arange(new_ptr[-1]) + np.repeat(ptr[:-1][rows] - new_ptr[:-1], length)
    return new_ptr, values[take]


def join_ptrs(ptrs: Sequence[np.ndarray]) -> np.ndarray:
    """Offsets of several ragged columns laid end to end."""
    lengths = [np.diff(ptr) for ptr in ptrs]
    return np.concatenate([[0], np.cumsum(np.concatenate([[], *lengths]))]).astype(np.int64)
