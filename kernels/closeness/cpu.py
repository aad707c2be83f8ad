"""Sums of distances by bit-parallel sweeps that add up, on one core.

The steps are ``near_steps``; a sweep stops as soon as every node has every lane.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.near_steps import (
    ADD_UP,
    ARRAYS,
    LANES,
    ROWS,
    WORDS,
    begin_sweep,
    bottom_up_work,
    goes_down,
)
from kernels._cpu.signatures import I32, I64, OUT_U64
from kernels._cpu.sweep_constants import N_SUMS

bottom_up, top_down = ADD_UP
NODE_BYTES = 2 * 8 * WORDS + 3 * 4 + 1 + 8 * N_SUMS  # of rows, and of the sums


@njit([types.void(*ARRAYS, types.int64, I32, ROWS, OUT_U64)], cache=True, nogil=True)
def sweep(indptr, indices, base, n_nodes, sources, rows, sums):
    """Add the distances from some sources, at most LANES, to the sums of each node."""
    unused = np.empty(0, np.int32)
    level, depth = begin_sweep(indptr, indices, base, n_nodes, sources, rows), np.int64(0)
    while level.n_open > 0 and level.n_front > 0:
        depth += 1
        if goes_down(level, bottom_up_work(indptr, base, n_nodes, level)):
            level = top_down(indptr, indices, base, rows, level, depth, unused, sums)
        else:
            level = bottom_up(indptr, indices, base, rows, level, depth, unused, sums)


@njit(
    [
        types.void(
            *(I64, I32, I64, I64, I32, I64, I64, types.int64, types.int64),
            *(ROWS, OUT_U64),
        )
    ],
    cache=True,
    nogil=True,
)
def add_groups(
    indptr,
    indices,
    node_ptr,
    graphs,
    sources,
    source_ptr,
    group_ptr,
    first_group,
    last_group,
    rows,
    sums,
):
    """Run groups first_group .. last_group - 1 and add to ``sums``, N_SUMS per node.

    Groups group_ptr[i] .. group_ptr[i + 1] - 1 are those of graphs[i]: LANES of its sources each.
    The sums of the graphs that have a group here are end to end, from the first on.
    """
    i = np.searchsorted(group_ptr, first_group, side="right") - 1
    group, at = np.int64(first_group), np.int64(0)
    while group < last_group:
        base = node_ptr[graphs[i]]
        n_nodes = node_ptr[graphs[i] + 1] - base
        first, end = source_ptr[graphs[i]], source_ptr[graphs[i] + 1]
        own = sums[at : at + N_SUMS * n_nodes]
        stop = min(np.int64(last_group), group_ptr[i + 1])
        while group < stop:
            begin = first + (group - group_ptr[i]) * LANES
            here = sources[begin : min(end, begin + LANES)]
            sweep(indptr, indices, base, n_nodes, here, rows, own)
            group += 1
        at += N_SUMS * n_nodes
        i += 1
