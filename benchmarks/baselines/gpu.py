"""Launches the kernels of ``baselines.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import BLOCK, grid_for, on_device_of
from kernels._cuda.loader import load_kernel
from kernels.types import LEVEL, UNREACHED


def bfs_thread_per_node(indptr: Any, indices: Any, source: int) -> tuple[Any, int, int]:
    """Levels, eccentricity and nodes reached."""
    with on_device_of(indptr):
        step = load_kernel(__file__, "bfs_thread_per_node")
        n_nodes = indptr.size - 1
        level = cp.full(n_nodes, UNREACHED, LEVEL)
        level[source] = 0
        last = cp.zeros(1, LEVEL)
        grid, depth = grid_for(n_nodes), 0
        while int(last[0]) == depth:  # the one synchronisation of each level
            depth += 1
            numbers = (cp.int64(n_nodes), cp.int32(depth))
            step((grid,), (BLOCK,), (indptr, indices, *numbers, level, last))
        return level, depth - 1, int(cp.count_nonzero(level != UNREACHED))


def bfs_two_kernel(indptr: Any, indices: Any, source: int) -> tuple[Any, int, int]:
    """Levels, eccentricity and nodes reached."""
    with on_device_of(indptr):
        relax, update = (load_kernel(__file__, f"bfs_{name}") for name in ("relax", "update"))
        n_nodes = indptr.size - 1
        level = cp.full(n_nodes, UNREACHED, LEVEL)
        level[source] = 0
        mask, updating, visited = cp.zeros((3, n_nodes), np.bool_)
        mask[source] = visited[source] = True
        is_found = cp.empty(1, np.int32)
        grid, size, depth = ((-(-n_nodes // BLOCK),), (BLOCK,)), cp.int64(n_nodes), 0
        while True:
            is_found.fill(0)
            relax(*grid, (indptr, indices, size, mask, updating, visited, level))
            update(*grid, (size, mask, updating, visited, is_found))
            if not int(is_found[0]):  # the one synchronisation of each level
                break
            depth += 1
        return level, depth, int(cp.count_nonzero(visited))
