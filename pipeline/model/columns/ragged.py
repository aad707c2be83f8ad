"""Ragged columns: rows of unequal length laid end to end, with offsets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def offsets(lengths: np.ndarray | Sequence[int]) -> np.ndarray:
    """(n_rows + 1,) int64 offsets of rows of some lengths."""
    ptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ptr[1:])
    return ptr


def row_of_value(ptr: np.ndarray) -> np.ndarray:
    """Row that each value belongs to.

    Parameters
    ----------
    ptr : (n_rows + 1,) int64

    Returns
    -------
    (n_values,) int64
    """
    return np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))


def offset_in_row(ptr: np.ndarray) -> np.ndarray:
    """Position of each value within its row, from 0; (n_values,) int64."""
    return np.arange(ptr[-1] - ptr[0]) - np.repeat(ptr[:-1] - ptr[0], np.diff(ptr))


def run_starts(*columns: np.ndarray) -> np.ndarray:
    """Where runs of equal rows begin, (n_runs,) int64."""
    differs = np.zeros(len(columns[0]), bool)
    differs[:1] = True
    for column in columns:
        differs[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(differs)


def join_offsets(ptrs: Sequence[np.ndarray]) -> np.ndarray:
    """Offsets of several ragged columns laid end to end."""
    return offsets(np.concatenate([np.empty(0, np.int64), *(np.diff(ptr) for ptr in ptrs)]))


def positions_of_rows(ptr: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the values of some rows, in the order of the rows.

    Parameters
    ----------
    ptr : (n_rows + 1,) int64
    rows : (n_taken,) int64
        A row may be taken twice, or not at all.

    Returns
    -------
    (n_taken + 1,) int64, (n_values_taken,) int64
        Offsets of what is taken, and positions in the column that ``ptr`` cuts.
    """
    taken = offsets(ptr[1:][rows] - ptr[:-1][rows])
    return taken, np.repeat(ptr[:-1][rows] - taken[:-1], np.diff(taken)) + np.arange(taken[-1])


def take_rows(
    ptr: np.ndarray, values: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and values of some rows of a ragged column, as ``positions_of_rows`` takes them."""
    taken, positions = positions_of_rows(ptr, rows)
    return taken, values[positions]


def first_of_rows(ptr: np.ndarray, values: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The first values of each row, at most ``n``.

    Returns
    -------
    (n_rows + 1,) int64, (n_values_kept,)
        Offsets and values.
    """
    kept = values[ptr[0] : ptr[-1]][offset_in_row(ptr) < n]
    return offsets(np.minimum(np.diff(ptr), n)), kept


def side_by_side(ptr: np.ndarray, columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of several columns as one: in each row the values of one column after the other.

    Parameters
    ----------
    ptr : (n_rows + 1,) int64
        Cuts each of ``columns``, float64.

    Returns
    -------
    (n_rows + 1,) int64, (n_values,) float64
        Offsets and values.
    """
    size = np.diff(ptr)
    joined = offsets(size * len(columns))
    values = np.empty(joined[-1])
    place = offset_in_row(ptr) + np.repeat(joined[:-1], size)
    for k, column in enumerate(columns):
        values[place + k * np.repeat(size, size)] = column
    return joined, values


def apart(ptr: np.ndarray, values: np.ndarray, n_columns: int) -> list[np.ndarray]:
    """The columns that ``side_by_side`` made one of; at least one."""
    size = np.diff(ptr) // n_columns
    place = offset_in_row(offsets(size)) + np.repeat(ptr[:-1], size)
    return [values[place + k * np.repeat(size, size)] for k in range(n_columns)]
