"""Compiled loops over steps, of ``trees``."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.model.measured.observations import FIRST


@njit(cache=True, nogil=True)
def mark(before, marked):
    for i in range(len(before)):
        if before[i] != FIRST and marked[before[i]]:
            marked[i] = True


@njit(cache=True, nogil=True)
def sum_up(before, n):
    for i in range(len(before) - 1, -1, -1):
        if before[i] != FIRST:
            n[before[i]] += n[i]


@njit(cache=True, nogil=True)
def sign(before, own, mix, shift, signs):
    for i in range(len(before)):
        above = signs[before[i]] if before[i] != FIRST else np.uint64(0)
        value = (above ^ own[i]) * mix
        signs[i] = value ^ (value >> shift)


@njit(cache=True, nogil=True)
def depths(before, depth):
    for i in range(len(before)):
        if before[i] != FIRST:
            depth[i] = depth[before[i]] + 1


@njit(cache=True, nogil=True)
def spell(before, ends, ptr, row):
    for i in range(len(ends)):
        step = ends[i]
        for at in range(ptr[i + 1] - 1, ptr[i] - 1, -1):
            row[at] = step
            step = before[step]
