"""Steps of a rank on one core, with numba; see ``steps``.

They differ from those of ``breadth_first.cpu``: a rank has the arcs of its own nodes alone, what it
finds of other ranks' nodes is kept apart to be sent, and maps have the words of 32 bits that GPUs
send. There is no queue, which other ranks' finds would have to join. ``sweep.cpu`` has a word of
lanes for each node where this has a bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_I64, OUT_U32, U32
from kernels.partition.constants import ARCS_AT, LISTED_AT, NODES_AT
from kernels.partition.exchange.message import SMALL, items, length, listed
from kernels.partition.split import WORD, Part
from kernels.partition.steps import half_of
from kernels.types import LEVEL, NODE, UNREACHED

MAP = np.dtype(np.uint32)  # a word of a bitmap
ONE = np.uint32(1)
NO_LIST = np.empty(0, NODE)


@njit([types.int64(I64, I32, types.int64, U32, OUT_U32, OUT_U32, OUT_I32)], cache=True, nogil=True)
def _expand(indptr, indices, first, front, seen, found, others):
    """Also lists other ranks' nodes where there is room; returns how many."""
    last, n_others = first + indptr.size - 1, 0
    for word in range(first >> 5, last >> 5):
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
                    if n_others < others.size and not first <= v < last:
                        others[n_others] = v
                        n_others += 1
    return n_others


@njit([types.void(I32, types.int64, types.int64, OUT_U32, OUT_U32)], cache=True, nogil=True)
def _take(nodes, first, last, seen, found):
    for v in nodes:
        mask = ONE << np.uint32(v & 31)
        if first <= v < last and not seen[v >> 5] & mask:
            seen[v >> 5] |= mask
            found[v >> 5] |= mask


@njit(
    [types.void(I64, I32, types.int64, types.int64, types.int64, U32, U32, OUT_U32)],
    cache=True,
    nogil=True,
)
def _scan(indptr, indices, first, begin, end, front, seen, found):
    for word in range((first >> 5) + begin, (first >> 5) + end):
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
def _settle(indptr, depth, found, level, message):
    message[: LISTED_AT + 1] = 0
    for word in range(found.size):
        for bit in range(WORD):
            if (found[word] >> np.uint32(bit)) & ONE:
                v = (word << 5) + bit
                level[v] = depth
                message[NODES_AT] += 1
                message[ARCS_AT] += indptr[v + 1] - indptr[v]


class CpuSteps:
    """One rank's maps and levels; NumPy arrays.

    What is found is in ``seen`` too, so each node is found once. ``seen`` is complete for the
    rank's own nodes; of others' it has those that this rank sent or got.

    Parameters
    ----------
    part : Part
    small : int
        Most arcs of a frontier that is expanded at once.
    """

    def __init__(self, part: Part, small: int = SMALL):
        self.part, self.small = part, small
        self.first = int(part.split.first[part.rank])
        self.edge = (part.split.first // WORD).tolist()  # words with which nodes of ranks begin
        self.seen, self.found_map, self.front = (np.zeros(self.edge[-1], MAP) for _ in range(3))
        self.n_own = len(part.indptr) - 1
        self.level = np.empty(0, LEVEL)
        self.message = np.zeros(length(small), np.int64)
        self.every = np.zeros((part.split.n_ranks, length(small)), np.int64)

    def words(self, array: np.ndarray, rank: int, begin: int = 0) -> np.ndarray:
        """A rank's words of a map, from one on."""
        return array[self.edge[rank] + begin : self.edge[rank + 1]]

    def start(self, sources: np.ndarray) -> None:
        self.seen[:] = 0
        self.found_map[:] = 0
        self.level = np.full(self.n_own, UNREACHED, LEVEL)  # the last one is the result's
        own = self.part.split.own(sources, self.part.rank)
        np.bitwise_or.at(self.found_map, own // WORD, ONE << (own % WORD).astype(MAP))

    def settle(self, depth: int) -> np.ndarray:
        new, message = self.words(self.found_map, self.part.rank), self.message
        _settle(self.part.indptr, depth, new, self.level, message)
        self.words(self.seen, self.part.rank)[:] |= new
        self.words(self.front, self.part.rank)[:] = new
        new[:] = 0
        if 0 < message[ARCS_AT] <= self.small:
            message[LISTED_AT] = self._expand(listed(message))
        return message

    def take_small(self) -> None:
        for rank, message in enumerate(self.every):
            nodes = listed(message)[: message[LISTED_AT]]
            if rank == self.part.rank:
                self.found_map[nodes >> 5] = 0  # of others' nodes, which have them now
            else:
                last = self.first + self.n_own
                _take(nodes, self.first, last, self.seen, self.found_map)

    def forget(self) -> None:
        self.found_map[: self.edge[self.part.rank]] = 0
        self.found_map[self.edge[self.part.rank + 1] :] = 0

    def expand(self, n_front: int) -> None:
        if n_front:
            self._expand(NO_LIST)

    def _expand(self, others: np.ndarray) -> int:
        part = self.part
        arrays = (self.front, self.seen, self.found_map, others)
        return int(_expand(part.indptr, part.indices, self.first, *arrays))

    def found(self, rank: int, room: int | None) -> np.ndarray:
        words = self.words(self.found_map, rank)
        return words if room is None else _list_of(words, self.edge[rank], room)

    def room(self, room: int | None) -> np.ndarray:
        n_words = len(self.words(self.front, self.part.rank))
        return np.empty(n_words, MAP) if room is None else np.empty(items(1 + room), NODE)

    def take(self, received: list[np.ndarray | None]) -> None:
        own = self.part.rank
        seen, found = self.words(self.seen, own), self.words(self.found_map, own)
        for each in received:
            if each is None:
                continue
            new = (_map_of(each, self.edge[own], len(seen)) if each.dtype == NODE else each) & ~seen
            seen |= new
            found |= new
        self.forget()

    def frontier(self, room: int | None, begin: int = 0) -> np.ndarray:
        words = self.words(self.front, self.part.rank, begin)
        return words if room is None else _list_of(words, self.first // WORD, room)

    def frontier_room(self, rank: int, room: int | None, begin: int = 0) -> np.ndarray:
        if room is not None:
            return np.empty(items(1 + room), NODE)
        return self.words(self.front, rank, begin)

    def take_frontier(
        self, received: list[np.ndarray | None], earlier: list[np.ndarray | None] | None
    ) -> None:
        for rank, each in enumerate(received):
            if each is None:
                continue
            words = self.words(self.front, rank)
            half = earlier[rank] if earlier is not None else None
            if half is not None:
                words[: len(half)] = half
            elif each.dtype == NODE:
                words[:] = _map_of(each, self.edge[rank], len(words))
            self.words(self.seen, rank)[:] |= words

    def scan(self, begin: int = 0, end: int | None = None) -> None:
        part = self.part
        end = len(self.words(self.seen, part.rank)) if end is None else end
        arrays = (self.front, self.seen, self.found_map)
        _scan(part.indptr, part.indices, self.first, begin, end, *arrays)

    def found_half(self) -> np.ndarray:
        words = self.words(self.found_map, self.part.rank)
        return words[: half_of(len(words))]

    def half_room(self, rank: int) -> np.ndarray:
        return np.empty(half_of(self.edge[rank + 1] - self.edge[rank]), MAP)

    def levels(self) -> np.ndarray:
        level, self.level = self.level, self.level[:0]
        return level

    def synchronize(self) -> None:
        pass  # a core is done when a step returns


def _list_of(words: np.ndarray, first_word: int, room: int) -> np.ndarray:
    """How many nodes, then their numbers; ``room`` for them."""
    nodes = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
    numbers = np.zeros(items(1 + room), NODE)
    numbers[0] = len(nodes)
    numbers[1 : 1 + len(nodes)] = nodes + first_word * WORD
    return numbers


def _map_of(numbers: np.ndarray, first_word: int, n_words: int) -> np.ndarray:
    """The words of a list."""
    words = np.zeros(n_words, MAP)
    local = numbers[1 : 1 + numbers[0]] - NODE.type(first_word * WORD)
    np.bitwise_or.at(words, local // WORD, ONE << (local % WORD).astype(MAP))
    return words
