"""Loops over the steps of vantage points, each of which comes after the step before it."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.model.columns.ragged import offsets
from pipeline.model.measured.observations import FIRST


@njit(cache=True, nogil=True)
def _mark(before, marked):
    for i in range(len(before)):
        if before[i] != FIRST and marked[before[i]]:
            marked[i] = True


@njit(cache=True, nogil=True)
def _sum_up(before, n):
    for i in range(len(before) - 1, -1, -1):
        if before[i] != FIRST:
            n[before[i]] += n[i]


@njit(cache=True, nogil=True)
def _sign(before, own, mix, shift, signs):
    for i in range(len(before)):
        above = signs[before[i]] if before[i] != FIRST else np.uint64(0)
        value = (above ^ own[i]) * mix
        signs[i] = value ^ (value >> shift)


@njit(cache=True, nogil=True)
def _depths(before, depth):
    for i in range(len(before)):
        if before[i] != FIRST:
            depth[i] = depth[before[i]] + 1


@njit(cache=True, nogil=True)
def _spell(before, ends, ptr, row):
    for i in range(len(ends)):
        step = ends[i]
        for at in range(ptr[i + 1] - 1, ptr[i] - 1, -1):
            row[at] = step
            step = before[step]


def mark_below(before: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """(n_steps,) bool: steps that are marked, or that follow a marked one.

    Parameters
    ----------
    before : (n_steps,) int
        Row of the step before, less than its own, or ``FIRST``.
    marked : (n_steps,) bool
    """
    below = marked.copy()
    _mark(before, below)
    return below


def sum_below(before: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(n_steps,) int64: the sum over each step and all that follow it; ``n`` (n_steps,) int64."""
    total = n.copy()
    _sum_up(before, total)
    return total


def sign_ways(before: np.ndarray, own: np.ndarray, mix: np.uint64, shift: int) -> np.ndarray:
    """(n_steps,) uint64: a hash of all steps up to each, of ``own`` (n_steps,) uint64."""
    signs = np.empty(len(before), np.uint64)
    _sign(before, own, mix, np.uint64(shift), signs)
    return signs


def steps_of(before: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The steps of some ways, from the first one.

    Parameters
    ----------
    before : (n_steps,) int
    ends : (n_ways,) int
        Last step of each, or ``FIRST`` for a way without steps.

    Returns
    -------
    ptr : (n_ways + 1,) int64
    step : (n,) int64
    """
    depth = np.zeros(len(before) + 1, np.int32)
    _depths(before, depth[:-1])
    depth[-1] = -1  # of ``FIRST``
    ptr = offsets(depth[ends] + 1)
    row = np.empty(ptr[-1], np.int64)
    _spell(before, ends, ptr, row)
    return ptr, row
