"""Compiled steps of a sweep on one GPU: launches the kernels of ``sweep.cu``; see ``steps``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import WARP
from kernels._cuda.launch import BLOCK, grid_for
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.partition.split import Part
from kernels.partition.sweep.steps import N_COUNTS, SweepSteps


class GpuSweepSteps(SweepSteps):
    """CuPy arrays on the current GPU; 24 bytes per node of the graph and 12 per own node.

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
        check_fits(24 * n_all + 12 * n_own, f"a sweep of {n_own} nodes out of {n_all}")
        super().__init__(part, cp)
        self.counts = cp.zeros(N_COUNTS, np.int64)

    def push(self) -> None:
        queue = cp.flatnonzero(self.front[self.own])
        self._launch("push", WARP * queue.size, queue, cp.int64(queue.size), *self._arrays())

    def pull(self) -> None:
        n_own = self.deepest.size
        alive = cp.uint64(self.alive)
        self._launch("pull", WARP * n_own, cp.int64(n_own), alive, *self._arrays())

    def settle(self, depth: int) -> Any:
        self.counts.fill(0)
        n_own = self.deepest.size
        own = (each[self.own] for each in (self.found_words, self.seen, self.front))
        args = (self.part.indptr, cp.int64(n_own), cp.int32(depth), *own)
        self._launch("settle", n_own, *args, self.deepest, self.counts)
        return self.counts

    def _arrays(self) -> tuple[Any, ...]:
        part, first = self.part, cp.int64(self.own.start)
        return part.indptr, part.indices, first, self.front, self.seen, self.found_words

    def _launch(self, name: str, n_threads: int, *args: Any) -> None:
        if n_threads:
            load_kernel(__file__, name)((grid_for(n_threads),), (BLOCK,), args)
