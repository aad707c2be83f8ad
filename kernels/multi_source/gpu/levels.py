"""Levels of a sweep on the GPU: bit planes, and the matrix that they are written to."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import BLOCK, grid_for
from kernels._cuda.loader import load_kernel
from kernels.csr import CSRGraph
from kernels.multi_source.gpu.footprint import N_PLANES

MOST_PLANES = 31  # levels are int32


def with_room(planes: Any, depth: int) -> Any:
    """Planes that can hold level ``depth``."""
    while depth >= 1 << len(planes):
        wider = cp.zeros((min(2 * len(planes), MOST_PLANES), *planes.shape[1:]), np.uint64)
        wider[: len(planes)] = planes
        planes = wider
    return planes


class LevelMatrix:
    """The level matrix, (n_nodes, n_sources), made of the bit planes of each group's levels.

    Bit k of the level of (node, lane) is bit ``lane`` of ``planes[k, node]``: the levels of a
    sweep then cost a few words per node, and bytes are written once, at its end.
    """

    def __init__(self, graph: CSRGraph, n_sources: int):
        self.shape = (graph.n_nodes, -(-n_sources // 4) * 4)  # four lanes per thread
        self.array: Any = None
        self.planes: Any = None

    def allocate(self) -> None:
        self.array = cp.empty(self.shape, np.uint8)

    def start(self, n_words: int) -> None:
        self.planes = cp.zeros((N_PLANES, self.array.shape[0], n_words), np.uint64)

    def fit(self, depth: int) -> None:
        """Make room for level ``depth``."""
        self.planes = with_room(self.planes, depth)

    @property
    def end(self) -> int:
        """Levels must be below this one."""
        return 1 << len(self.planes)

    def write(self, state: Any, first_lane: int, n_lanes: int, depth: int) -> None:
        """Add the levels of a group that has ended; none exceeds ``depth``."""
        self._widen(depth)
        n_nodes, stride = self.array.shape
        n_lanes = -(-n_lanes // 4) * 4
        kernel = load_kernel(__file__, f"msbfs_levels_{self.array.dtype}")
        n_planes = max(1, depth.bit_length())
        kernel(
            (grid_for(n_nodes * n_lanes // 4),),
            (BLOCK,),
            (
                state,
                self.planes,
                cp.int64(n_nodes),
                cp.int32(self.planes.shape[2]),
                cp.int32(n_planes),
                cp.int32(n_lanes),
                self.array[:, first_lane:],
                cp.int64(stride),
            ),
        )

    def _widen(self, depth: int) -> None:
        old = np.iinfo(self.array.dtype).max
        if depth < old:
            return
        dtype = np.dtype(np.uint16 if depth < 65535 else np.int32)
        unreached = self.array == old
        self.array = self.array.astype(dtype)
        self.array[unreached] = 65535 if dtype.itemsize == 2 else 2**31 - 1
