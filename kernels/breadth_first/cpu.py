"""BFS on one core, with numba: direction-optimising, and the plain queue that it is held to.

Rule of the direction [1]_: a step goes bottom-up while the arcs of the frontier are more than a
``ALPHA``-th of the arcs of the nodes not yet reached, and top-down again when the frontier is
less than a ``BETA``-th of the nodes. The constants are those of [1]_ as GAPBS ships them.

References
----------
.. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels.signatures import I32, I64, OUT_I32, returns
from kernels.types import UNREACHED

ALPHA = 15
BETA = 18


@njit([returns(2)(I64, I32, types.int64, types.int64, OUT_I32)], cache=True, nogil=True)
def bfs(indptr, indices, source, target, level):
    """Fill ``level`` ((n_nodes,), UNREACHED on entry); eccentricity and nodes reached.

    Target -1 means none. The queue holds every reached node once, level after level.
    """
    n_nodes = indptr.size - 1
    queue = np.empty(n_nodes, np.int32)
    level[source] = 0
    queue[0] = source
    begin, end, depth = 0, 1, 0
    frontier_arcs = indptr[source + 1] - indptr[source]
    open_arcs = indptr[n_nodes] - frontier_arcs  # arcs of nodes not yet reached
    bottom_up = False
    while begin < end and not (target >= 0 and level[target] != UNREACHED):
        depth += 1
        if bottom_up:
            bottom_up = (end - begin) * BETA > n_nodes
        else:
            bottom_up = frontier_arcs * ALPHA > open_arcs and (end - begin) * BETA > n_nodes
        tail = end
        frontier_arcs = np.int64(0)
        if bottom_up:
            for v in range(n_nodes):
                if level[v] != UNREACHED:
                    continue
                for arc in range(indptr[v], indptr[v + 1]):
                    if level[np.uintp(indices[arc])] == depth - 1:
                        level[v] = depth
                        queue[tail] = v
                        tail += 1
                        frontier_arcs += indptr[v + 1] - indptr[v]
                        break
        else:
            for i in range(begin, end):
                u = np.int64(queue[i])
                for arc in range(indptr[u], indptr[u + 1]):
                    head = np.uintp(indices[arc])
                    if level[head] == UNREACHED:
                        level[head] = depth
                        queue[tail] = indices[arc]
                        tail += 1
                        frontier_arcs += indptr[head + np.uintp(1)] - indptr[head]
        open_arcs -= frontier_arcs
        begin, end = end, tail
    return depth if begin < end else depth - 1, end


@njit([returns(2)(I64, I32, types.int64, OUT_I32)], cache=True, nogil=True)
def bfs_queue(indptr, indices, source, level):
    """Fill ``level``; the textbook search: one queue, one node at a time."""
    queue = np.empty(indptr.size - 1, np.int32)
    level[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for arc in range(indptr[u], indptr[u + 1]):
            v = indices[arc]
            if level[v] == UNREACHED:
                level[v] = level[u] + 1
                queue[tail] = v
                tail += 1
    return np.int64(level[queue[tail - 1]]), tail


@njit([types.void(I64, I32, I32, OUT_I32)], cache=True, nogil=True)
def parents(indptr, indices, level, parent):
    """Fill ``parent`` with the smallest neighbour one level up of each node."""
    for v in range(indptr.size - 1):
        parent[v] = v if level[v] == 0 else UNREACHED
        if level[v] > 0:
            for arc in range(indptr[v], indptr[v + 1]):
                if level[np.uintp(indices[arc])] == level[v] - 1:
                    parent[v] = indices[arc]
                    break
