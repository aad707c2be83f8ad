"""Steps of a rank on one GPU: launches the kernels of ``partition.cu``; see ``steps``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import BLOCK, grid_for
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.partition.exchange.message import HEAD, SMALL, items, length
from kernels.partition.split import WORD, Part
from kernels.partition.steps import half_of
from kernels.types import LEVEL, NODE, UNREACHED

MAP = np.dtype(np.uint32)  # a word of a bitmap


class GpuSteps:
    """One rank's maps and levels on the current GPU; as ``CpuSteps``.

    Needs 8 bytes per own node and 3/8 byte per node of the graph besides the part itself; lists
    and bitmaps on their way take up to 3/16 byte per node more.

    Parameters
    ----------
    part : Part
    small : int
        Most arcs of a frontier that is expanded at once.

    Raises
    ------
    DeviceMemoryError
        If they do not fit.
    """

    def __init__(self, part: Part, small: int = SMALL):
        self.small = small
        self.kernels: dict[str, Any] = {}
        split, rank = part.split, part.rank
        self.first = int(split.first[rank])
        self.edge = (split.first // WORD).tolist()
        self.n_words = self.edge[rank + 1] - self.edge[rank]
        self.n_own, n_all = len(part.indptr) - 1, self.edge[-1]
        what = f"a part of {self.n_own} nodes out of {split.n_nodes}"
        check_fits(8 * self.n_own + 12 * n_all, what)
        self.indptr, self.indices = cp.asarray(part.indptr), cp.asarray(part.indices)
        self.part = Part(split, rank, self.indptr, self.indices)
        self.seen, self.found_map, self.front = (cp.zeros(n_all, MAP) for _ in range(3))
        self.level = cp.empty(0, LEVEL)
        self.queue = cp.empty(1 + self.n_own, NODE)
        self.message = cp.zeros(length(small), np.int64)
        self.every = cp.zeros((split.n_ranks, length(small)), np.int64)
        self.segments = segments_of(self.indptr)
        self.n_segments = len(self.segments[0])

    def start(self, sources: np.ndarray) -> None:
        self.seen.fill(0)
        self.found_map.fill(0)
        self.level = cp.full(self.n_own, UNREACHED, LEVEL)  # the last one is the result's
        own = self.part.split.own(sources, self.part.rank)
        words, place = np.unique(own // WORD, return_inverse=True)
        bits = np.zeros(len(words), MAP)
        np.bitwise_or.at(bits, place, MAP.type(1) << (own % WORD).astype(MAP))
        if len(words):
            self.found_map[cp.asarray(words)] = cp.asarray(bits)

    def expand(self, n_front: int) -> None:
        if not n_front:
            return
        self._list(self._own(self.front), self.first, self.queue)
        self._launch(
            "expand",
            WORD * max(n_front, self.n_segments),
            self.indptr,
            self.indices,
            cp.int32(self.first),
            self.queue,
            self.front,
            *self.segments,
            cp.int32(self.n_segments),
            self.seen,
            self.found_map,
        )

    def found(self, rank: int, room: int | None) -> Any:
        words = self.found_map[self.edge[rank] : self.edge[rank + 1]]
        return words if room is None else self._listed(words, self.edge[rank] * WORD, room)

    def room(self, room: int | None) -> Any:
        return cp.empty(self.n_words, MAP) if room is None else cp.empty(items(1 + room), NODE)

    def take(self, received: list[Any]) -> None:
        for each in received:
            if each is None:
                continue
            if each.dtype == NODE:
                self._launch("take_nodes", each.size, each, self.seen, self.found_map)
            else:
                args = (each, cp.int64(self.n_words), self._own(self.seen))
                self._launch("take_words", self.n_words, *args, self._own(self.found_map))
        self.forget()

    def forget(self) -> None:
        self.found_map[: self.edge[self.part.rank]].fill(0)
        self.found_map[self.edge[self.part.rank + 1] :].fill(0)

    def frontier(self, room: int | None, begin: int = 0) -> Any:
        own = self._own(self.front)
        return own[begin:] if room is None else self._listed(own, self.first, room)

    def frontier_room(self, rank: int, room: int | None, begin: int = 0) -> Any:
        if room is not None:
            return cp.empty(items(1 + room), NODE)
        return self.front[self.edge[rank] + begin : self.edge[rank + 1]]

    def take_frontier(self, received: list[Any], earlier: list[Any] | None) -> None:
        for rank, each in enumerate(received):
            if each is None:
                continue
            half = earlier[rank] if earlier is not None else None
            if half is not None:
                self.front[self.edge[rank] : self.edge[rank] + half.size] = half
            elif each.dtype == NODE:
                self.front[self.edge[rank] : self.edge[rank + 1]].fill(0)
                self._launch("set_bits", each.size, each, self.front)
        args = (self.front, cp.int64(self.edge[-1]), self.seen)
        self._launch("add_words", self.edge[-1], *args)

    def scan(self, begin: int = 0, end: int | None = None) -> None:
        end = self.n_words if end is None else end
        n_segments = self.n_segments if begin == 0 else 0  # hubs of all words with the first ones
        self._launch(
            "scan",
            WORD * max(end - begin, n_segments),
            self.indptr,
            self.indices,
            cp.int32(self.first),
            cp.int64(WORD * begin),
            cp.int64(WORD * end),
            self.front,
            *self.segments,
            cp.int32(n_segments),
            self.seen,
            self.found_map,
        )

    def found_half(self) -> Any:
        return self._own(self.found_map)[: half_of(self.n_words)]

    def half_room(self, rank: int) -> Any:
        return cp.empty(half_of(self.edge[rank + 1] - self.edge[rank]), MAP)

    def settle(self, depth: int) -> Any:
        message = self.message
        message.data.memset_async(0, HEAD * message.itemsize)
        found, seen, front = (self._own(m) for m in (self.found_map, self.seen, self.front))
        args = (self.indptr, cp.int64(self.n_words), cp.int32(depth), found, seen, front)
        self._launch("settle", self.n_own, *args, self.level, message)
        self._launch(
            "expand_small",
            self.n_words,
            self.indptr,
            self.indices,
            cp.int32(self.first),
            cp.int64(self.n_words),
            cp.int64(self.small),
            front,
            self.seen,
            self.found_map,
            message,
        )
        return message

    def take_small(self) -> None:
        if len(self.every) == 1:
            return
        self._launch(
            "take_small",
            self.small,
            self.every,
            cp.int32(len(self.every)),
            cp.int64(self.every.shape[1]),
            cp.int32(self.part.rank),
            cp.int32(self.first),
            cp.int64(self.n_words),
            self.seen,
            self.found_map,
        )

    def levels(self) -> Any:
        level, self.level = self.level, cp.empty(0, LEVEL)
        return level

    def synchronize(self) -> None:
        cp.cuda.get_current_stream().synchronize()

    def _own(self, array: Any) -> Any:
        return array[self.edge[self.part.rank] : self.edge[self.part.rank + 1]]

    def _listed(self, words: Any, first: int, room: int) -> Any:
        nodes = cp.empty(items(1 + room), NODE)
        self._list(words, first, nodes)
        return nodes

    def _list(self, words: Any, first: int, nodes: Any) -> None:
        nodes.data.memset_async(0, NODE.itemsize)
        self._launch("list_bits", words.size, words, cp.int64(words.size), cp.int32(first), nodes)

    def _launch(self, name: str, n_threads: int, *args: Any) -> None:
        if n_threads:
            if name not in self.kernels:
                self.kernels[name] = load_kernel(__file__, name)
            self.kernels[name]((grid_for(n_threads),), (BLOCK,), args)


def segments_of(indptr: Any) -> tuple[Any, Any]:
    """Segments of hubs: places of hubs among own nodes, and which of their segments; (n,) int32."""
    n_own, nowhere = indptr.size - 1, cp.uint64(0)
    n_segments = cp.zeros(1, np.int32)
    _launch("list_segments", n_own, indptr, cp.int64(n_own), nowhere, nowhere, n_segments)
    found = cp.empty((2, int(n_segments[0])), NODE)
    if found.size:
        n_segments.fill(0)
        args = (indptr, cp.int64(n_own), found[0], found[1], n_segments)
        _launch("list_segments", n_own, *args)
    return found[0], found[1]


def count_faults(indptr: Any, indices: Any, source: int, first: int, level: Any) -> Any:
    """Own nodes whose levels contradict their rows, (1,) int64; see ``check``."""
    n_faults = cp.zeros(1, np.int64)
    n_own = indptr.size - 1
    args = (indptr, indices, cp.int64(n_own), cp.int32(first), cp.int32(source), level, n_faults)
    if n_own:
        load_kernel(__file__, "count_faults")((grid_for(WORD * n_own),), (BLOCK,), args)
    return n_faults


def link_rows(indptr: Any, indices: Any, first: int, order: Any, block: int, label: Any) -> None:
    """Link own nodes with their neighbours, by the graph's own numbers; see ``components``."""
    n_own = indptr.size - 1
    numbers = (cp.int64(first), order, cp.int64(block))
    _launch("link_rows", WORD * n_own, indptr, indices, cp.int64(n_own), *numbers, label)


def link_labels(others: Any, label: Any) -> None:
    """Link nodes with the labels that another rank gave them."""
    _launch("link_labels", label.size, others, cp.int64(label.size), label)


def flatten_labels(label: Any) -> None:
    """Labels to the roots of their trees."""
    _launch("flatten_labels", label.size, cp.int64(label.size), label)


def _launch(name: str, n_threads: int, *args: Any) -> None:
    if n_threads:
        load_kernel(__file__, name)((grid_for(n_threads),), (BLOCK,), args)
