"""Compiled steps of a sweep on one GPU: launches the kernels of ``sweep.cu``; see ``steps``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import WARP
from kernels._cuda.launch import BLOCK, grid_for
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.partition.gpu import segments_of
from kernels.partition.split import Part
from kernels.partition.sweep.steps import N_COUNTS, SweepSteps
from kernels.types import NODE


class GpuSweepSteps(SweepSteps):
    """CuPy arrays on the current GPU; 24 bytes per node of the graph and 16 per own node.

    Parameters
    ----------
    part : Part
        Its arrays on the GPU already, as ``GpuSteps.part``.

    Raises
    ------
    DeviceMemoryError
        If they do not fit.
    """

    def __init__(self, part: Part):
        n_own, n_all = len(part.indptr) - 1, int(part.split.first[-1])
        check_fits(24 * n_all + 16 * n_own, f"a sweep of {n_own} nodes out of {n_all}")
        super().__init__(part, cp)
        self.counts = cp.zeros(N_COUNTS, np.int64)
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
        self.counts.fill(0)
        n_own = self.deepest.size
        own = (each[self.own] for each in (self.found_words, self.seen, self.front))
        args = (self.part.indptr, cp.int64(n_own), cp.int32(depth), *own)
        self._launch("settle", n_own, *args, self.deepest, self.counts)
        return self.counts

    def _rows(self) -> tuple[Any, ...]:
        return self.part.indptr, self.part.indices, cp.int32(self.own.start)

    def _rest(self) -> tuple[Any, ...]:
        words = (self.front, self.seen, self.found_words)
        return *self.segments, cp.int32(self.n_segments), *words

    def _launch(self, name: str, n_threads: int, *args: Any) -> None:
        if n_threads:
            load_kernel(__file__, name)((grid_for(n_threads),), (BLOCK,), args)
