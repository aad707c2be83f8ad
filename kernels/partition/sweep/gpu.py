"""Compiled steps of a sweep on one GPU: launches the kernels of ``sweep.cu``; see ``steps``."""

from __future__ import annotations

from typing import Any

import cupy as cp

from kernels._cuda.constants import WARP
from kernels._cuda.launch import BLOCK, grid_for
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.partition.gpu import segments_of
from kernels.partition.split import Part
from kernels.partition.sweep.constants import HEAD
from kernels.partition.sweep.steps import SMALL, SweepSteps
from kernels.types import NODE


class GpuSweepSteps(SweepSteps):
    """CuPy arrays on the current GPU; 24 bytes per node of the graph and 16 per own node.

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
        check_fits(24 * n_all + 16 * n_own, f"a sweep of {n_own} nodes out of {n_all}")
        super().__init__(part, cp, small)
        self.queue = cp.empty(1 + n_own, NODE)
        self.segments = segments_of(part.indptr)
        self.n_segments = len(self.segments[0])

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
        self._launch("pull", n_threads, *self._rows(), *numbers, *self._rest())

    def settle(self, depth: int) -> Any:
        message, n_own = self.message, self.deepest.size
        message.data.memset_async(0, HEAD * message.itemsize)
        own = (each[self.own] for each in (self.found_words, self.seen, self.front))
        args = (self.part.indptr, cp.int64(n_own), cp.int32(depth), *own)
        self._launch("settle", n_own, *args, self.deepest, message)
        numbers = (cp.int64(n_own), cp.int64(self.small))
        words = (self.front[self.own], self.seen, self.found_words)
        self._launch("push_small", n_own, *self._rows(), *numbers, *words, message)
        return message

    def keep(self, alive: int) -> None:
        self.alive = alive
        n_own = self.deepest.size
        args = (cp.int64(n_own), cp.uint64(alive), self.front[self.own], self.last)
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

    def _rows(self) -> tuple[Any, ...]:
        return self.part.indptr, self.part.indices, cp.int32(self.own.start)

    def _rest(self) -> tuple[Any, ...]:
        words = (self.front, self.seen, self.found_words)
        return *self.segments, cp.int32(self.n_segments), *words

    def _launch(self, name: str, n_threads: int, *args: Any) -> None:
        if n_threads:
            load_kernel(__file__, name)((grid_for(n_threads),), (BLOCK,), args)
