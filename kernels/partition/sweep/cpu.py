"""Compiled steps of a sweep on one core; see ``steps``.

As in ``partition.cpu``, what is found of other ranks' nodes is kept apart to be sent; but a node
has a word of lanes here, so each step unites words where that one sets bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import lowest
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_I64, OUT_U64, U64
from kernels.partition.split import Part
from kernels.partition.sweep.constants import ARCS_AT, HEAD, LANES_AT, LISTED_AT, NODES_AT
from kernels.partition.sweep.steps import LANE, SMALL, SweepSteps
from kernels.types import N_FARTHEST, NODE

ONE = np.uint64(1)
HALF = np.uint64(0xFFFFFFFF)
NO_LIST = np.empty(0, NODE)


@njit([types.int64(I64, I32, types.int64, U64, OUT_U64, OUT_U64, OUT_I32)], cache=True, nogil=True)
def _push(indptr, indices, first, front, seen, found, others):
    """Also lists what other ranks' nodes get where there is room; returns how many entries."""
    last, n_others = first + indptr.size - 1, 0
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
                if 3 * n_others + 2 < others.size and not first <= v < last:
                    others[3 * n_others] = v
                    others[3 * n_others + 1] = np.int32(new & HALF)
                    others[3 * n_others + 2] = np.int32(new >> np.uint64(32))
                    n_others += 1
    return n_others


@njit([types.void(I32, types.int64, types.int64, OUT_U64, OUT_U64)], cache=True, nogil=True)
def _take(entries, first, last, seen, found):
    for i in range(0, entries.size, 3):
        v = entries[i]
        if first <= v < last:
            low, high = np.uint64(np.uint32(entries[i + 1])), np.uint64(np.uint32(entries[i + 2]))
            new = (high << np.uint64(32) | low) & ~seen[v]
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
        found[first + v] |= got & missing


@njit([types.void(I64, types.int64, U64, OUT_I32, OUT_I64)], cache=True, nogil=True)
def _settle(indptr, depth, found, deepest, counts):
    counts[: LISTED_AT + 1] = 0
    for v in range(found.size):
        word = found[v]
        if word == 0:
            continue
        deepest[v] = depth
        counts[NODES_AT] += 1
        counts[ARCS_AT] += indptr[v + 1] - indptr[v]
        while word != 0:
            counts[LANES_AT + np.int64(lowest(word))] += 1
            word &= word - ONE


class CpuSweepSteps(SweepSteps):
    """NumPy arrays; 32 bytes per node of the graph and 12 per own node."""

    def __init__(self, part: Part, small: int = SMALL):
        super().__init__(part, np, small)

    def push(self, n_front: int) -> None:
        if n_front:
            self._push(NO_LIST)

    def _push(self, others: np.ndarray) -> int:
        part = self.part
        arrays = (self.front, self.seen, self.found_words, others)
        return int(_push(part.indptr, part.indices, self.own.start, *arrays))

    def pull(self) -> None:
        part = self.part
        arrays = (self.front, self.seen, self.found_words)
        _pull(part.indptr, part.indices, self.own.start, LANE.type(self.alive), *arrays)

    def settle(self, depth: int) -> np.ndarray:
        message, found = self.message, self.found_words[self.own]
        _settle(self.part.indptr, depth, found, self.deepest, message)
        self.front, self.before = self.before, self.front
        self.front[self.own] = found
        self.seen[self.own] |= found
        found[:] = 0
        if 0 < message[ARCS_AT] <= self.small:
            message[LISTED_AT] = self._push(message[HEAD:].view(NODE))
        return message

    def take_small(self) -> None:
        for rank, message in enumerate(self.every):
            entries = message[HEAD:].view(NODE)[: 3 * message[LISTED_AT]]
            if rank == self.part.rank:
                self.found_words[entries[::3]] = 0  # of others' nodes, which have them now
            else:
                _take(entries, self.own.start, self.own.stop, self.seen, self.found_words)

    def farthest_places(self, n_lanes: int) -> np.ndarray:
        found = np.full((n_lanes, N_FARTHEST), -1, np.int64)
        for lane in range(n_lanes):
            places = np.flatnonzero(self.last & LANE.type(1 << lane))[:N_FARTHEST]
            found[lane, : len(places)] = places
        return found
