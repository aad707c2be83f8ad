"""Level-synchronous BFS on one GPU: launches the kernels of ``breadth_first.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp

from kernels._cuda.launch import BLOCK, grid_for, on_device_of
from kernels._cuda.loader import load_kernel
from kernels.types import LEVEL, NODE, UNREACHED


def bfs(indptr: Any, indices: Any, source: int, target: int) -> tuple[Any, int, int]:
    """Levels, eccentricity and nodes reached; target -1 means none."""
    with on_device_of(indptr):
        level, _, ends = _search(indptr, indices, source, target)
        return level, len(ends) - 1, ends[-1]


def bfs_in_order(indptr: Any, indices: Any, source: int) -> tuple[Any, Any, list[int]]:
    """Levels, the reached nodes by level (in no order within one), and where each level ends."""
    with on_device_of(indptr):
        return _search(indptr, indices, source, -1)


def _search(indptr: Any, indices: Any, source: int, target: int) -> tuple[Any, Any, list[int]]:
    expand = load_kernel(__file__, "bfs_expand")
    n_nodes = indptr.size - 1
    level = cp.full(n_nodes, UNREACHED, LEVEL)
    queue = cp.empty(n_nodes, NODE)
    tail = cp.ones(1, cp.int32)
    level[source] = 0
    queue[0] = source
    begin, ends = 0, [1]
    while not (target >= 0 and int(level[target]) != UNREACHED):
        numbers = (cp.int64(begin), cp.int64(ends[-1]), cp.int32(len(ends)))
        grid = grid_for(ends[-1] - begin)
        expand((grid,), (BLOCK,), (indptr, indices, *numbers, level, queue, tail))
        begin, end = ends[-1], int(tail[0])  # the one synchronisation of each level
        if begin == end:
            break
        ends.append(end)
    return level, queue, ends


def bfs_thread_per_node(indptr: Any, indices: Any, source: int) -> tuple[Any, int, int]:
    """Levels, eccentricity and nodes reached; the baseline."""
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


def parents(indptr: Any, indices: Any, level: Any) -> Any:
    """The smallest neighbour one level up of each node."""
    with on_device_of(indptr):
        n_nodes = indptr.size - 1
        parent = cp.empty(n_nodes, NODE)
        args = (indptr, indices, cp.int64(n_nodes), level, parent)
        load_kernel(__file__, "bfs_parents")((grid_for(n_nodes),), (BLOCK,), args)
        return parent
