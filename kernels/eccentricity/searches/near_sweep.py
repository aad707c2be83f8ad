"""Eccentricities of many nodes by sweeps of 512 lanes from sources close together, on one core.

Each source of a component is in one sweep (*group*) of that component, and one compiled call makes
all sweeps: so this is the fastest way to the eccentricities of all nodes where bounds tell little,
and what other ways are held to (``strategy.is_beaten``). The steps are ``near_steps``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import lowest
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_U64
from kernels.multi_source.cpu.near_steps import (
    ARRAYS,
    BOTTOM_UP_ARC,
    BOTTOM_UP_NODE,
    LANES,
    NOTE_ENDS,
    ONE,
    TOP_DOWN_ARC,
    WORDS,
    begin_sweep,
)

bottom_up, top_down = NOTE_ENDS
# Work, in units of an arc looked at bottom-up; a top-down arc mostly finds its rows in caches.
WORK_TOP_DOWN_ARC, WORK_FRONT = 1.5, 0.5
_TABLES = (OUT_U64, OUT_U64, OUT_U64, OUT_U64, OUT_I32, OUT_I32, OUT_I32)  # ``rows_of``
NODE_BYTES = 2 * 8 * WORDS + 3 * 4 + 1  # of ``rows_of``


@njit(
    [types.int64(*ARRAYS, types.int64, I32, OUT_I32, OUT_I32, *_TABLES)],
    cache=True,
    nogil=True,
)
def sweep_group(
    indptr,
    indices,
    base,
    n_nodes,
    sources,
    lower,
    eccentricity,
    now,
    after,
    changed,
    changing,
    nodes,
    front,
    coming,
):
    """Search from at most LANES sources; returns the work, see ``sweep_components``."""
    every, unions = np.empty(WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    tables = (now, after, changed, changing, nodes, front)
    n_arcs = begin_sweep(indptr, indices, base, n_nodes, sources, every, *tables)
    alive = every.copy()
    n_open, n_front, depth = np.int64(n_nodes), np.int64(sources.size), np.int64(0)
    n_all = indptr[base + n_nodes] - indptr[base]
    work = BOTTOM_UP_NODE * np.float64(n_nodes)
    while n_front > 0:
        up = BOTTOM_UP_ARC * n_all * (n_open / n_nodes) + BOTTOM_UP_NODE * n_open
        depth += 1
        if n_open == 0:
            n_coming = np.int64(0)
            unions[:] = 0
        elif TOP_DOWN_ARC * n_arcs < up:
            work += WORK_TOP_DOWN_ARC * n_arcs + WORK_FRONT * n_front
            n_coming, n_arcs, _ = top_down(
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
                lower,
                unions,
            )
        else:
            work += up
            n_open, n_coming, n_arcs, _ = bottom_up(
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
                lower,
                unions,
            )
        for w in range(WORDS):
            ended = alive[w] & ~unions[w]  # a lane that finds no node on a level finds none later
            alive[w] ^= ended
            while ended != 0:
                eccentricity[64 * w + np.int64(lowest(ended))] = depth - 1
                ended &= ended - ONE
        for i in range(n_front):
            changed[front[i] >> 6] = 0
        n_front = n_coming
        front, coming = coming, front
        changed, changing = changing, changed
        now, after = after, now
    return np.int64(work)


@njit(
    [types.int64(I64, I32, I64, I64, I32, OUT_I32, OUT_I32, *_TABLES)],
    cache=True,
    nogil=True,
)
def sweep_components(
    indptr,
    indices,
    node_ptr,
    source_ptr,
    sources,
    lower,
    eccentricity,
    now,
    after,
    changed,
    changing,
    nodes,
    front,
    coming,
):
    """Eccentricities of some nodes of each component, within it.

    Parameters
    ----------
    node_ptr, source_ptr : (n_components + 1,) int64
        Nodes of component c are node_ptr[c] .. node_ptr[c + 1] - 1; each is connected.
    sources : (n_sources,) int32
        Those of component c, from source_ptr[c] on, in its own ids; close ones side by side.
    lower : (n_nodes,) int32
        Raised to the largest distance from a source.
    eccentricity : (n_sources,) int32
        Filled.

    Returns
    -------
    int
        Work: arcs that were looked at bottom-up, and what else is worth as much. The same in
        every run.
    """
    work = np.int64(0)
    for c in range(node_ptr.size - 1):
        base, end = node_ptr[c], node_ptr[c + 1]
        for begin in range(source_ptr[c], source_ptr[c + 1], LANES):
            stop = min(begin + LANES, source_ptr[c + 1])
            work += sweep_group(
                indptr,
                indices,
                base,
                end - base,
                sources[begin:stop],
                lower[base:end],
                eccentricity[begin:stop],
                now,
                after,
                changed,
                changing,
                nodes,
                front,
                coming,
            )
    return work
