"""Steps of a rank on one GPU: launches the kernels of ``partition.cu``; see ``steps``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import BLOCK, grid_for
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.partition.constants import SMALL_BLOCK
from kernels.partition.exchange.message import HEAD, SMALL, items, length
from kernels.partition.split import WORD, Part
from kernels.partition.steps import half_of
from kernels.types import LEVEL, NODE, UNREACHED

MAP = np.dtype(np.uint32)  # a word of a bitmap


class GpuSteps:
    """One rank's maps and levels on the current GPU; as ``CpuSteps``.

    Needs 8 bytes per own node and 3/8 byte per node of the graph besides the part itself; lists
    and bitmaps on their way take up to 3/16 byte per node more.

    What is found from a small frontier is listed, of own nodes in ``mine``, of others' in the
    message; while all frontiers are small, the frontier itself is a list too, and one block does a
    level without a look at the maps. They are brought up to date once a larger level needs them.
    A bottom-up level counts what it finds, and so needs no other look at the rows.

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
        check_fits(8 * self.n_own + 12 * n_all + 4 * self.n_words, what)
        self.indptr, self.indices = cp.asarray(part.indptr), cp.asarray(part.indices)
        self.part = Part(split, rank, self.indptr, self.indices)
        self.seen, self.found_map, self.front = (cp.zeros(n_all, MAP) for _ in range(3))
        self.own_seen, self.own_found, self.own_front = (
            each[self.edge[rank] : self.edge[rank + 1]]
            for each in (self.seen, self.found_map, self.front)
        )
        self.bare = cp.empty(self.n_words, MAP)
        self._launch("mark_bare", self.n_own, self.indptr, cp.int64(self.n_words), self.bare)
        self.level = cp.empty(0, LEVEL)
        self.queue = cp.empty(1 + self.n_own, NODE)
        self.mine = cp.zeros(1 + small, NODE)
        self.front_list = cp.zeros(1 + split.n_ranks * small, NODE)
        self.message = cp.zeros(length(small), np.int64)
        self.every = cp.zeros((split.n_ranks, length(small)), np.int64)
        self.segments = segments_of(self.indptr)
        self.n_segments = len(self.segments[0])
        # What never changes of arguments.
        self.rows = self.indptr, self.indices, cp.int32(self.first)
        self.words_small = cp.int64(self.n_words), cp.int64(small)
        self.messages = (
            self.every,
            cp.int32(split.n_ranks),
            cp.int64(self.every.shape[1]),
            cp.int32(rank),
        )
        self.hubs = *self.segments, cp.int32(self.n_segments)
        self.depth, self.step, self.is_listed = 0, "", False

    def start(self, sources: np.ndarray) -> None:
        self.seen.fill(0)
        self.own_seen[...] = self.bare
        self.found_map.fill(0)
        self.level = cp.full(self.n_own, UNREACHED, LEVEL)  # the last one is the result's
        own = self.part.split.own(sources, self.part.rank)
        if len(own):
            listed = cp.asarray(np.concatenate([[len(own)], own]).astype(NODE))
            self._launch("set_bits", len(own), listed, self.found_map)
        self.step, self.is_listed = "start", False
        self.words_small = cp.int64(self.n_words), cp.int64(self.small)

    def expand(self, n_front: int) -> None:
        if not n_front:
            return
        self._map_front()
        self._launch("set_listed", max(1, self.small), self.mine, self.message, self.found_map)
        self._list(self.own_front, self.first, self.queue)
        self._launch(
            "expand",
            WORD * max(n_front, self.n_segments),
            *self.rows,
            self.queue,
            self.front,
            *self.hubs,
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
                args = (each, cp.int64(self.n_words), self.own_seen, self.own_found)
                self._launch("take_words", self.n_words, *args)
        if len(received) > 1:
            self.found_map[: self.edge[self.part.rank]].fill(0)
            self.found_map[self.edge[self.part.rank + 1] :].fill(0)
        self.step = "take"

    def forget(self) -> None:
        # Own nodes too: the level goes bottom-up, and will find them and count them.
        self._launch("unclaim", max(1, self.small), self.mine, self.seen)

    def frontier(self, room: int | None, begin: int = 0) -> Any:
        self._map_front()
        own = self.own_front
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
        self._map_front()
        end = self.n_words if end is None else end
        n_segments = self.n_segments if begin == 0 else 0  # hubs of all words with the first ones
        if begin == 0:
            self.message.data.memset_async(0, HEAD * self.message.itemsize)
        self._launch(
            "scan",
            WORD * max(end - begin, n_segments),
            *self.rows,
            cp.int64(WORD * begin),
            cp.int64(WORD * end),
            self.front,
            *self.segments,
            cp.int32(n_segments),
            cp.int32(self.depth + 1),
            self.seen,
            self.found_map,
            self.level,
            self.message,
        )
        self.step = "scan"

    def found_half(self) -> Any:
        return self.own_found[: half_of(self.n_words)]

    def half_room(self, rank: int) -> Any:
        return cp.empty(half_of(self.edge[rank + 1] - self.edge[rank]), MAP)

    def settle(self, depth: int) -> Any:
        message, step, self.depth = self.message, self.step, depth
        if step == "small":
            self._launch(
                "small_level",
                1,
                *self.rows,
                *self.words_small,
                *self.messages,
                cp.int32(depth),
                self.seen,
                self.level,
                self.mine,
                self.front_list,
                message,
                block=SMALL_BLOCK,
            )
            self.is_listed = True
            return message
        self.is_listed = False
        n_words = self.words_small[0]
        if step == "scan":
            self._launch("turn", self.n_words, n_words, self.own_found, self.own_front)
        else:
            message.data.memset_async(0, HEAD * message.itemsize)
            maps = self.own_found, self.own_seen, self.own_front
            args = (self.indptr, n_words, cp.int32(depth), *maps, self.level, message)
            self._launch("settle", self.n_words, *args)
        self.mine.data.memset_async(0, NODE.itemsize)
        given = (*self.rows, *self.words_small, self.own_front, self.seen, self.mine, message)
        self._launch("expand_small", self.n_words, *given)
        return message

    def take_small(self) -> None:
        self.step = "small"

    def levels(self) -> Any:
        level, self.level = self.level, cp.empty(0, LEVEL)
        return level

    def synchronize(self) -> None:
        cp.cuda.get_current_stream().synchronize()

    def _map_front(self) -> None:
        """The map has the frontier, which small levels only list."""
        if self.is_listed:
            self.own_front.fill(0)
            self._launch("set_bits", self.front_list.size, self.front_list, self.front)
            self.is_listed = False

    def _listed(self, words: Any, first: int, room: int) -> Any:
        nodes = cp.empty(items(1 + room), NODE)
        self._list(words, first, nodes)
        return nodes

    def _list(self, words: Any, first: int, nodes: Any) -> None:
        nodes.data.memset_async(0, NODE.itemsize)
        self._launch("list_bits", words.size, words, cp.int64(words.size), cp.int32(first), nodes)

    def _launch(self, name: str, n_threads: int, *args: Any, block: int = BLOCK) -> None:
        if n_threads:
            if name not in self.kernels:
                self.kernels[name] = load_kernel(__file__, name)
            self.kernels[name]((grid_for(n_threads),), (block,), args)


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
