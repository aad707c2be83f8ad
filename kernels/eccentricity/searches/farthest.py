"""Which of up to 64 nodes is farthest from any other: one sweep on one core, by rows of 64 lanes.

Only the last level of all lanes together is found, so nothing is counted by lane and no bounds are
kept, unlike in ``sweep``, which has the same steps otherwise (Then et al.: The more the merrier,
VLDB 2014): on graphs that fit in caches this takes half its time.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import lowest
from kernels._cpu.signatures import I32, I64

LANES = 64
# One sweep on a graph of few hops, in caches: steps top-down while the frontier is small, later
# ones bottom-up. An arc top-down costs as much as TOP_DOWN_ARC bottom-up.
TOP_DOWN_ARC = 4
U1 = np.uintp(1)
ONE = np.uint64(1)


@njit(
    [types.UniTuple(types.int64, 2)(I64, I32, I32)],
    cache=True,
    nogil=True,
)
def sweep_ends(indptr, indices, sources):
    """The largest eccentricity of at most LANES different nodes, and the place of one that has it.

    In a connected graph.
    """
    n_nodes = indptr.size - 1
    now = np.zeros(n_nodes, np.uint64)
    after = np.zeros(n_nodes, np.uint64)
    front, coming = np.empty(n_nodes + 1, np.int32), np.empty(n_nodes + 1, np.int32)
    every, last = np.uint64(0), np.uint64(0)
    n_front, n_arcs, depth = np.uintp(sources.size), np.int64(0), np.int64(0)
    for lane in range(sources.size):
        u = np.uintp(sources[lane])
        bit = ONE << np.uint64(lane)
        every |= bit
        now[u] = bit
        front[lane] = u
        n_arcs += indptr[u + U1] - indptr[u]
    last = every
    while n_front > 0 and TOP_DOWN_ARC * n_arcs < indices.size:
        n_coming = np.uintp(0)
        for i in range(n_front):
            u = np.uintp(front[i])
            row = now[u]
            for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + U1])):
                v = np.uintp(indices[arc])
                new = row & ~now[v]
                known = after[v]
                coming[n_coming] = v  # stays if the node is new and gets a lane
                n_coming += np.uintp((known == 0) & (new != 0))
                after[v] = known | new
        n_arcs = np.int64(0)
        found = np.uint64(0)
        for i in range(n_coming):
            v = np.uintp(coming[i])
            found |= after[v]
            now[v] |= after[v]
            after[v] = 0
            n_arcs += indptr[v + U1] - indptr[v]
        front, coming = coming, front
        n_front = n_coming
        if found != 0:
            depth += 1
            last = found
    if n_front == 0:
        return depth, np.int64(lowest(last))
    left, n_left = front, np.uintp(n_nodes)
    for i in range(n_left):
        left[i] = i
    while n_left > 0:
        n_kept = np.uintp(0)
        found = np.uint64(0)
        for i in range(n_left):
            v = np.uintp(left[i])
            own = now[v]
            after[v] = own
            if own == every:
                continue
            left[n_kept] = v
            n_kept += U1
            got = own
            for arc in range(np.uintp(indptr[v]), np.uintp(indptr[v + U1])):
                got |= now[np.uintp(indices[arc])]
            after[v] = got
            found |= got ^ own
        n_left = n_kept
        if found == 0:
            break
        depth += 1
        last = found
        now, after = after, now
    return depth, np.int64(lowest(last))
