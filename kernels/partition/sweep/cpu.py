"""Compiled steps of a sweep on one core; see ``steps``."""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import lowest
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_I64, OUT_U64, U64
from kernels.partition.split import Part
from kernels.partition.sweep.steps import LANE, N_COUNTS, SweepSteps

ONE = np.uint64(1)


@njit([types.void(I64, I32, types.int64, U64, OUT_U64, OUT_U64)], cache=True, nogil=True)
def _push(indptr, indices, first, front, seen, found):
    for u in range(indptr.size - 1):
        word = front[first + u]
        if word == 0:
            continue
        for arc in range(indptr[u], indptr[u + 1]):
            v = indices[arc]
            new = word & ~seen[v]
            if new != 0:
                seen[v] |= new
                found[v] |= new


@njit([types.void(I64, I32, types.int64, types.uint64, U64, U64, OUT_U64)], cache=True, nogil=True)
def _pull(indptr, indices, first, alive, front, seen, found):
    for v in range(indptr.size - 1):
        missing = alive & ~seen[first + v]
        if missing == 0:
            continue
        got = np.uint64(0)
        for arc in range(indptr[v], indptr[v + 1]):
            got |= front[indices[arc]]
            if got & missing == missing:
                break
        found[first + v] = got & missing


@njit([types.void(I64, types.int64, U64, OUT_I32, OUT_I64)], cache=True, nogil=True)
def _settle(indptr, depth, found, deepest, counts):
    counts[:] = 0
    for v in range(found.size):
        word = found[v]
        if word == 0:
            continue
        deepest[v] = depth
        counts[0] += 1
        counts[1] += indptr[v + 1] - indptr[v]
        while word != 0:
            counts[2 + np.int64(lowest(word))] += 1
            word &= word - ONE


class CpuSweepSteps(SweepSteps):
    """NumPy arrays; 24 bytes per node of the graph and 12 per own node."""

    def __init__(self, part: Part):
        super().__init__(part, np)

    def push(self, n_front: int) -> None:
        part = self.part
        arrays = (self.front, self.seen, self.found_words)
        _push(part.indptr, part.indices, self.own.start, *arrays)

    def pull(self) -> None:
        part = self.part
        arrays = (self.front, self.seen, self.found_words)
        _pull(part.indptr, part.indices, self.own.start, LANE.type(self.alive), *arrays)

    def settle(self, depth: int) -> np.ndarray:
        counts = np.empty(N_COUNTS, np.int64)
        found = self.found_words[self.own]
        _settle(self.part.indptr, depth, found, self.deepest, counts)
        self.front[self.own] = found
        self.seen[self.own] |= found
        found[:] = 0
        return counts
