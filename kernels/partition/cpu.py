"""Steps of a rank on one core, with numba; see ``search.Steps``."""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_I64
from kernels.partition.split import WORD, Part
from kernels.types import LEVEL, NODE, UNREACHED

MAP = np.dtype(np.uint32)  # a word of a bitmap
U32 = types.Array(types.uint32, 1, "C", readonly=True)
OUT_U32 = types.uint32[::1]
ONE = np.uint32(1)


@njit([types.void(I64, I32, types.int64, U32, OUT_U32, OUT_U32)], cache=True, nogil=True)
def _expand(indptr, indices, first, front, seen, found):
    for word in range(first >> 5, (first + indptr.size - 1) >> 5):
        bits = front[word]
        for bit in range(WORD):
            if not (bits >> np.uint32(bit)) & ONE:
                continue
            u = (word << 5) + bit - first
            for arc in range(indptr[u], indptr[u + 1]):
                v = indices[arc]
                mask = ONE << np.uint32(v & 31)
                if not seen[v >> 5] & mask:
                    seen[v >> 5] |= mask
                    found[v >> 5] |= mask


@njit([types.void(I64, I32, types.int64, U32, U32, OUT_U32)], cache=True, nogil=True)
def _scan(indptr, indices, first, front, seen, found):
    for word in range(first >> 5, (first + indptr.size - 1) >> 5):
        bits = ~seen[word]
        for bit in range(WORD):
            if not (bits >> np.uint32(bit)) & ONE:
                continue
            v = (word << 5) + bit - first
            for arc in range(indptr[v], indptr[v + 1]):
                w = indices[arc]
                if (front[w >> 5] >> np.uint32(w & 31)) & ONE:
                    found[word] |= ONE << np.uint32(bit)
                    break


@njit([types.void(I64, types.int64, U32, OUT_I32, OUT_I64)], cache=True, nogil=True)
def _settle(indptr, depth, found, level, counts):
    counts[:] = 0
    for word in range(found.size):
        for bit in range(WORD):
            if (found[word] >> np.uint32(bit)) & ONE:
                v = (word << 5) + bit
                level[v] = depth
                counts[0] += 1
                counts[1] += indptr[v + 1] - indptr[v]


class CpuSteps:
    """One rank's maps and levels; NumPy arrays.

    What is found is in ``seen`` too, so each node is found once. ``seen`` is complete for the
    rank's own nodes; of others' it has those that this rank sent or got.
    """

    def __init__(self, part: Part):
        self.part = part
        self.first = int(part.split.first[part.rank])
        self.edge = (part.split.first // WORD).tolist()  # words with which nodes of ranks begin
        self.seen, self.found_map, self.front = (np.zeros(self.edge[-1], MAP) for _ in range(3))
        self.level = np.empty(len(part.indptr) - 1, LEVEL)

    def words(self, array: np.ndarray, rank: int) -> np.ndarray:
        """A rank's words of a map."""
        return array[self.edge[rank] : self.edge[rank + 1]]

    def start(self, sources: np.ndarray) -> None:
        self.seen[:] = 0
        self.found_map[:] = 0
        self.level[:] = UNREACHED
        own = self.part.split.own(sources, self.part.rank)
        np.bitwise_or.at(self.found_map, own // WORD, ONE << (own % WORD).astype(MAP))

    def expand(self, n_front: int) -> None:
        part = self.part
        if n_front:
            _expand(part.indptr, part.indices, self.first, self.front, self.seen, self.found_map)

    def found(self, rank: int, room: int | None) -> np.ndarray:
        words = self.words(self.found_map, rank)
        return words if room is None else _list_of(words, self.edge[rank], room)

    def room(self, room: int | None) -> np.ndarray:
        n_words = len(self.words(self.front, self.part.rank))
        return np.empty(n_words, MAP) if room is None else np.empty(1 + room, NODE)

    def take(self, received: list[np.ndarray | None]) -> None:
        own = self.part.rank
        seen, found = self.words(self.seen, own).copy(), self.words(self.found_map, own).copy()
        for each in received:
            if each is None:
                continue
            new = (_map_of(each, self.edge[own], len(seen)) if each.dtype == NODE else each) & ~seen
            seen |= new
            found |= new
        self.found_map[:] = 0
        self.words(self.seen, own)[:], self.words(self.found_map, own)[:] = seen, found

    def frontier(self, room: int | None) -> np.ndarray:
        words = self.words(self.front, self.part.rank)
        return words if room is None else _list_of(words, self.first // WORD, room)

    def frontier_room(self, rank: int, room: int | None) -> np.ndarray:
        return self.words(self.front, rank) if room is None else np.empty(1 + room, NODE)

    def take_frontier(self, received: list[np.ndarray | None]) -> None:
        for rank, each in enumerate(received):
            if each is None:
                continue
            words = self.words(self.front, rank)
            if each.dtype == NODE:
                words[:] = _map_of(each, self.edge[rank], len(words))
            self.words(self.seen, rank)[:] |= words

    def scan(self) -> None:
        part = self.part
        _scan(part.indptr, part.indices, self.first, self.front, self.seen, self.found_map)

    def settle(self, depth: int) -> np.ndarray:
        counts = np.empty(2, np.int64)
        new = self.words(self.found_map, self.part.rank)
        _settle(self.part.indptr, depth, new, self.level, counts)
        self.words(self.seen, self.part.rank)[:] |= new
        self.words(self.front, self.part.rank)[:] = new
        new[:] = 0
        return counts

    def levels(self) -> np.ndarray:
        return self.level


def _list_of(words: np.ndarray, first_word: int, room: int) -> np.ndarray:
    """How many nodes, then their numbers; ``room`` for them."""
    nodes = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
    listed = np.zeros(1 + room, NODE)
    listed[0] = len(nodes)
    listed[1 : 1 + len(nodes)] = nodes + first_word * WORD
    return listed


def _map_of(listed: np.ndarray, first_word: int, n_words: int) -> np.ndarray:
    """The words of a list."""
    words = np.zeros(n_words, MAP)
    local = listed[1 : 1 + listed[0]] - NODE.type(first_word * WORD)
    np.bitwise_or.at(words, local // WORD, ONE << (local % WORD).astype(MAP))
    return words
