"""Compiled steps of a sweep on one GPU: launches the kernels of ``sweep.cu``; see ``steps``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import WARP
from kernels._cuda.launch import BLOCK, grid_for
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.partition.exchange.message import items
from kernels.partition.gpu import segments_of
from kernels.partition.split import WORD, Part
from kernels.partition.sweep.constants import HEAD, UNIT
from kernels.partition.sweep.steps import LANE, SMALL, SweepSteps
from kernels.types import N_FARTHEST, NODE


class GpuSweepSteps(SweepSteps):
    """CuPy arrays on the current GPU; 32 1/8 bytes per node of the graph and 16 per own node.

    Parameters
    ----------
    part : Part
        Its arrays on the GPU already, as ``GpuSteps.part``.
    small : int
        Most arcs of a frontier that is expanded at once.

    Raises
    ------
    DeviceMemoryError
        If they do not fit.
    """

    def __init__(self, part: Part, small: int = SMALL):
        n_own, n_all = len(part.indptr) - 1, int(part.split.first[-1])
        n_bytes = 32 * n_all + n_all // 8 + 16 * n_own
        check_fits(n_bytes, f"a sweep of {n_own} nodes out of {n_all}")
        super().__init__(part, cp, small)
        self.queue = cp.empty(1 + n_own, NODE)
        self.segments = segments_of(part.indptr)
        self.n_segments = len(self.segments[0])
        self.front_map = cp.zeros(n_all // WORD, np.uint32)  # nodes whose words of front are not 0
        self.units = cp.empty(-(-n_own // UNIT), LANE)

    def push(self, n_front: int) -> None:
        if not n_front:
            return
        n_own = self.deepest.size
        self.queue.data.memset_async(0, NODE.itemsize)
        self._launch("list_words", n_own, self.front[self.own], cp.int64(n_own), self.queue)
        n_threads = max(n_front, WARP * self.n_segments)
        self._launch("push", n_threads, *self._rows(), self.queue, *self._rest())

    def pull(self) -> None:
        n_own = self.deepest.size
        numbers = (cp.int64(n_own), cp.uint64(self.alive))
        n_threads = max(n_own, WARP * self.n_segments)
        self._launch("pull", n_threads, *self._rows(), *numbers, *self._rest(), self.front_map)

    def settle(self, depth: int) -> Any:
        message, n_own = self.message, self.deepest.size
        message.data.memset_async(0, HEAD * message.itemsize)
        self.front, self.before = self.before, self.front
        own = (each[self.own] for each in (self.found_words, self.seen, self.front))
        own_map = self._map_of(self.part.rank)
        args = (self.part.indptr, cp.int64(n_own), cp.int32(depth), *own, own_map)
        self._launch("settle", n_own, *args, self.deepest, message)
        numbers = (cp.int64(n_own), cp.int64(self.small))
        words = (self.front[self.own], self.seen, self.found_words)
        self._launch("push_small", n_own, *self._rows(), *numbers, *words, message)
        return message

    def keep_last(self, ended: int) -> None:
        n_own = self.deepest.size
        args = (cp.int64(n_own), cp.uint64(ended), self.before[self.own], self.last)
        self._launch("keep", n_own, *args)

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
            cp.int32(self.own.start),
            cp.int64(self.deepest.size),
            self.seen,
            self.found_words,
        )

    def take(self, received: list[Any]) -> None:
        own, n_own = self.own, self.deepest.size
        for each in received:
            if each is None:
                continue
            if each.dtype == NODE:
                self._launch("take_entries", each.size // 3, each, self.seen, self.found_words)
            else:
                words = (self.seen[own], self.found_words[own])
                self._launch("take_words", n_own, each, cp.int64(n_own), *words)
        if len(received) > 1:
            self.forget()

    def take_frontier(self, received: list[Any]) -> None:
        for rank, each in enumerate(received):
            if each is None:
                continue
            theirs = slice(self.edge[rank], self.edge[rank + 1])
            if each.dtype == NODE:
                self._map_of(rank).fill(0)
                words = (self.front, self.seen, self.front_map)
                self._launch("front_entries", each.size // 3, each, *words)
            else:
                n = theirs.stop - theirs.start
                words = (self.front[theirs], self.seen[theirs], self._map_of(rank))
                self._launch("front_words", n, cp.int64(n), *words)

    def farthest_places(self, n_lanes: int) -> np.ndarray:
        n_own = self.deepest.size
        places = cp.full((n_lanes, N_FARTHEST), -1, NODE)
        n_threads = WARP * self.units.size
        self._launch("units_of", n_threads, self.last, cp.int64(n_own), self.units)
        if n_own:
            args = (self.last, self.units, cp.int64(n_own), places)
            load_kernel(__file__, "list_farthest")((n_lanes,), (WARP,), args)
        return np.asarray(places.get())

    def _message(self, array: Any, rank: int, room: int | None) -> Any:
        if room is None:
            return super()._message(array, rank, room)
        words = array[self.edge[rank] : self.edge[rank + 1]]
        listed = cp.empty(items(1 + 3 * room), NODE)
        listed.data.memset_async(0, NODE.itemsize)
        args = (words, cp.int64(words.size), cp.int32(self.edge[rank]), listed)
        self._launch("list_entries", words.size, *args)
        return listed

    def _map_of(self, rank: int) -> Any:
        return self.front_map[self.edge[rank] // WORD : self.edge[rank + 1] // WORD]

    def _rows(self) -> tuple[Any, ...]:
        return self.part.indptr, self.part.indices, cp.int32(self.own.start)

    def _rest(self) -> tuple[Any, ...]:
        words = (self.front, self.seen, self.found_words)
        return *self.segments, cp.int32(self.n_segments), *words

    def _launch(self, name: str, n_threads: int, *args: Any) -> None:
        if n_threads:
            load_kernel(__file__, name)((grid_for(n_threads),), (BLOCK,), args)
