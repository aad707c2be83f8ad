"""Pairs of nodes by distance: bit-parallel sweeps that count, on one core.

Each source of a graph is in one sweep (*group*) of that graph. Only the number of (source, node)
pairs of a level is kept, over all lanes: the bits that are set. The steps are ``near_steps``, as in
``eccentricity.searches.near_sweep``; that one follows the lanes to the end of each, this one stops
as soon as every node has every lane.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.near_steps import (
    ARRAYS,
    COUNT_PAIRS,
    LANES,
    ROWS,
    WORDS,
    begin_sweep,
    bottom_up_work,
    goes_down,
)
from kernels._cpu.signatures import I32, I64, OUT_I64

bottom_up, top_down = COUNT_PAIRS
NODE_BYTES = 2 * 8 * WORDS + 3 * 4 + 8 + 1  # of rows, and of ``by_level``


@njit([types.int64(*ARRAYS, types.int64, I32, ROWS, OUT_I64)], cache=True, nogil=True)
def sweep(indptr, indices, base, n_nodes, sources, rows, by_level):
    """Add the pairs of some sources to ``by_level``; returns the last level that has any."""
    unused, no_rows = np.empty(0, np.int32), np.empty(0, np.uint64)
    level, depth = begin_sweep(indptr, indices, base, n_nodes, sources, rows), np.int64(0)
    by_level[0] += level.n_pairs
    while level.n_open > 0 and level.n_front > 0:
        if goes_down(level, bottom_up_work(indptr, base, n_nodes, level)):
            level = top_down(indptr, indices, base, rows, level, depth, unused, no_rows)
        else:
            level = bottom_up(indptr, indices, base, rows, level, depth, unused, no_rows)
        if level.n_front > 0:
            depth += 1
            by_level[depth] += level.n_pairs
    return depth


@njit(
    [
        OUT_I64(
            *(I64, I32, I64, I64, I64, types.int64, types.int64, I32),
            *(ROWS, OUT_I64, OUT_I64),
        )
    ],
    cache=True,
    nogil=True,
)
def count_pairs(
    indptr,
    indices,
    node_ptr,
    graphs,
    group_ptr,
    first_group,
    last_group,
    order,
    rows,
    by_level,
    n_levels,
):
    """Run groups first_group .. last_group - 1; counts by level, graph after graph.

    Groups group_ptr[i] .. group_ptr[i + 1] - 1 are those of graphs[i]: LANES sources each,
    in the order of ``order``. Sets n_levels[i] of the graphs that have a group here; their
    counts are end to end. ``rows`` and ``by_level`` have room for the largest graph.
    """
    counts, end = np.empty(64, np.int64), np.int64(0)
    i = np.searchsorted(group_ptr, first_group, side="right") - 1
    group = np.int64(first_group)
    while group < last_group:
        base = node_ptr[graphs[i]]
        n_nodes = node_ptr[graphs[i] + 1] - base
        deepest = np.int64(0)
        stop = min(np.int64(last_group), group_ptr[i + 1])
        by_level[:n_nodes] = 0
        while group < stop:
            begin = (group - group_ptr[i]) * LANES
            sources = order[base + begin : base + min(n_nodes, begin + LANES)]
            depth = sweep(indptr, indices, base, n_nodes, sources, rows, by_level)
            deepest = max(deepest, depth)
            group += 1
        if end + deepest + 1 > counts.size:
            longer = np.empty(2 * counts.size + np.int64(deepest) + 1, np.int64)
            longer[:end] = counts[:end]
            counts = longer
        counts[end : end + deepest + 1] = by_level[: deepest + 1]
        end += deepest + 1
        n_levels[i] = deepest + 1
        i += 1
    return counts[:end]
