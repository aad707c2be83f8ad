"""How many pairs of nodes are so many hops apart: bit-parallel sweeps that count, on one core.

Each source of a graph is in one sweep (*group*) of that graph. Of a level only the number of
(source, node) pairs is kept, over all lanes: bits that are set. The steps are ``near_steps``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_I64, OUT_U64
from kernels.multi_source.cpu.near_steps import (
    ARRAYS,
    BOTTOM_UP_ARC,
    BOTTOM_UP_NODE,
    COUNT_PAIRS,
    LANES,
    TOP_DOWN_ARC,
    WORDS,
    begin_sweep,
    rows_of,
)

bottom_up, top_down = COUNT_PAIRS


@njit(
    [
        types.int64(
            *(*ARRAYS, types.int64, I32, types.int64),
            *(OUT_U64, OUT_U64, OUT_U64, OUT_U64),
            *(OUT_I32, OUT_I32, OUT_I32, OUT_I64),
        )
    ],
    cache=True,
    nogil=True,
)
def sweep(
    indptr,
    indices,
    base,
    n_nodes,
    sources,
    n_sources,
    now,
    after,
    changed,
    changing,
    nodes,
    front,
    coming,
    by_level,
):
    """Add the pairs of some sources to ``by_level``; the last level on which there are any."""
    every = np.empty(WORDS, np.uint64)
    unused, no_rows = np.empty(0, np.int32), np.empty(0, np.uint64)
    tables = (now, after, changed, changing, nodes, front)
    n_arcs = begin_sweep(indptr, indices, base, n_nodes, sources[:n_sources], every, *tables)
    n_open, n_front, depth = np.int64(n_nodes), np.int64(n_sources), np.int64(0)
    n_all = indptr[base + n_nodes] - indptr[base]
    by_level[0] += n_sources
    while n_open > 0 and n_front > 0:
        cost = BOTTOM_UP_ARC * n_all * (n_open / n_nodes) + BOTTOM_UP_NODE * n_open
        if TOP_DOWN_ARC * n_arcs < cost:
            n_coming, n_arcs, n_pairs = top_down(
                indptr,
                indices,
                base,
                now,
                after,
                front,
                n_front,
                coming,
                changing,
                depth,
                unused,
                no_rows,
            )
        else:
            n_open, n_coming, n_arcs, n_pairs = bottom_up(
                indptr,
                indices,
                base,
                every,
                now,
                after,
                nodes,
                n_open,
                front,
                n_front,
                coming,
                changed,
                changing,
                depth,
                unused,
                no_rows,
            )
        for i in range(n_front):
            changed[front[i] >> 6] = 0
        n_front = n_coming
        front, coming = coming, front
        changed, changing = changing, changed
        now, after = after, now
        if n_front > 0:
            depth += 1
            by_level[depth] += n_pairs
    return depth


@njit(
    [
        OUT_I64(
            *(I64, I32, I64, I64, I64, types.int64, types.int64, I32),
            *(OUT_U64, OUT_U64, OUT_U64, OUT_U64),
            *(OUT_I32, OUT_I32, OUT_I32, OUT_I64, OUT_I64),
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
    now,
    after,
    changed,
    changing,
    nodes,
    front,
    coming,
    by_level,
    n_levels,
):
    """Run groups first_group .. last_group - 1; counts by level, graph after graph.

    Groups group_ptr[i] .. group_ptr[i + 1] - 1 are those of graphs[i]: LANES sources each,
    in the order of ``order``. Sets n_levels[i] of the graphs that have a group here; their
    counts are end to end. ``by_level`` and the lists have room for the largest graph.
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
            n_sources = min(n_nodes - begin, LANES)
            depth = sweep(
                indptr,
                indices,
                base,
                n_nodes,
                order[base + begin : base + n_nodes],
                n_sources,
                now,
                after,
                changed,
                changing,
                nodes,
                front,
                coming,
                by_level,
            )
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


NODE_BYTES = 2 * 8 * WORDS + 3 * 4 + 8 + 1  # of ``scratch``


def scratch(n_nodes: int) -> tuple[np.ndarray, ...]:
    """``now`` to ``by_level`` of ``count_pairs``, for graphs of up to so many nodes."""
    return *rows_of(n_nodes), np.empty(n_nodes, np.int64)
