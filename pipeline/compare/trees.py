"""Loops over the steps of vantage points, each of which comes after the step before it."""

from __future__ import annotations

import numpy as np

from pipeline.model.columns.ragged import offsets


def mark_below(before: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """(n_steps,) bool: steps that are marked, or that follow a marked one.

    Parameters
    ----------
    before : (n_steps,) int
        Row of the step before, less than its own, or ``FIRST``.
    marked : (n_steps,) bool
    """
    from pipeline.compare import loops  # compiled code: a second, not for each import

    below = marked.copy()
    loops.mark(before, below)
    return below


def sum_below(before: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(n_steps,) int64: the sum over each step and all that follow it; ``n`` (n_steps,) int64."""
    from pipeline.compare import loops  # compiled code: a second, not for each import

    total = n.copy()
    loops.sum_up(before, total)
    return total


def sign_ways(before: np.ndarray, own: np.ndarray, mix: np.uint64, shift: int) -> np.ndarray:
    """(n_steps,) uint64: a hash of all steps up to each, of ``own`` (n_steps,) uint64."""
    from pipeline.compare import loops  # compiled code: a second, not for each import

    signs = np.empty(len(before), np.uint64)
    loops.sign(before, own, mix, np.uint64(shift), signs)
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
    from pipeline.compare import loops  # compiled code: a second, not for each import

    depth = np.zeros(len(before) + 1, np.int32)
    loops.depths(before, depth[:-1])
    depth[-1] = -1  # of ``FIRST``
    ptr = offsets(depth[ends] + 1)
    row = np.empty(ptr[-1], np.int64)
    loops.spell(before, ends, ptr, row)
    return ptr, row
