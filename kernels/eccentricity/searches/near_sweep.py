"""Eccentricities of many nodes by sweeps of 512 lanes from sources close together, on one core.

Each source of a component is in one sweep (*group*) of that component, and one compiled call makes
all sweeps: so this is the fastest way to the eccentricities of all nodes if bounds help little,
and other ways are compared with it (``strategy.is_beaten``). The steps are ``near_steps``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import lowest
from kernels._cpu.near_steps import (
    ARRAYS,
    LANES,
    NOTE_ENDS,
    ONE,
    ROWS,
    WORDS,
    begin_sweep,
    bottom_up_work,
    goes_down,
)
from kernels._cpu.signatures import I32, I64, OUT_I32
from kernels._cpu.sweep_constants import BOTTOM_UP_NODE

bottom_up, top_down = NOTE_ENDS
# Work, in units of an arc looked at bottom-up; a top-down arc mostly finds its rows in caches.
WORK_TOP_DOWN_ARC, WORK_FRONT = 1.5, 0.5
NODE_BYTES = 2 * 8 * WORDS + 3 * 4 + 1  # of ``rows_of``


@njit([types.int64(*ARRAYS, types.int64, I32, OUT_I32, OUT_I32, ROWS)], cache=True, nogil=True)
def sweep_group(indptr, indices, base, n_nodes, sources, lower, eccentricity, rows):
    """Search from at most LANES sources; returns the work, see ``sweep_components``."""
    unions = np.zeros(WORDS, np.uint64)
    level, depth = begin_sweep(indptr, indices, base, n_nodes, sources, rows), np.int64(0)
    alive = rows.every.copy()
    work = BOTTOM_UP_NODE * np.float64(n_nodes)
    while level.n_front > 0:
        depth += 1
        is_over = level.n_open == 0
        if is_over:
            unions[:] = 0
        else:
            up = bottom_up_work(indptr, base, n_nodes, level)
            if goes_down(level, up):
                work += WORK_TOP_DOWN_ARC * level.n_arcs + WORK_FRONT * level.n_front
                level = top_down(indptr, indices, base, rows, level, depth, lower, unions)
            else:
                work += up
                level = bottom_up(indptr, indices, base, rows, level, depth, lower, unions)
        for w in range(WORDS):
            ended = alive[w] & ~unions[w]  # a lane that finds no node on a level finds none later
            alive[w] ^= ended
            while ended != 0:
                eccentricity[64 * w + np.int64(lowest(ended))] = depth - 1
                ended &= ended - ONE
        if is_over:
            break
    return np.int64(work)


@njit([types.int64(I64, I32, I64, I64, I32, OUT_I32, OUT_I32, ROWS)], cache=True, nogil=True)
def sweep_components(indptr, indices, node_ptr, source_ptr, sources, lower, eccentricity, rows):
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
    rows : Rows
        For the largest component.

    Returns
    -------
    int
        Work: arcs looked at bottom-up, and other work in the same unit. The same in every run.
    """
    work = np.int64(0)
    for c in range(node_ptr.size - 1):
        base, n_nodes = node_ptr[c], node_ptr[c + 1] - node_ptr[c]
        own_lower = lower[base : base + n_nodes]
        for begin in range(source_ptr[c], source_ptr[c + 1], LANES):
            own = slice(begin, min(begin + LANES, source_ptr[c + 1]))
            work += sweep_group(
                indptr, indices, base, n_nodes, sources[own], own_lower, eccentricity[own], rows
            )
    return work
