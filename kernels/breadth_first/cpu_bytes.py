"""One search on one core that writes levels at once, a byte or two per node; for small graphs.

Only the level of a node shows whether it was reached, so no bitmap is kept and no level is
filled in afterwards. On graphs whose levels fit into the second cache this takes a third to a half
less time than ``cpu``, which is made for larger graphs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32, named

CACHED_NODES = 1 << 19  # beyond this, a search by bits is faster: at 1 M nodes 21 ms instead of 32
# A step goes bottom-up while the frontier is more than a BETA-th of the nodes and its arcs are more
# than an ALPHA-th of those of open nodes: later than where steps look at bits, since here a step
# top-down costs less (best of 8 pairs of numbers on attachment graphs, hierarchies, real graphs).
BETA, ALPHA = 6, 2
U1 = np.uintp(1)


class Searched(NamedTuple):
    """Result of a search."""

    last_level: np.int64  # -1: twice that many do not fit into the dtype of levels
    n_reached: np.int64


_SEARCHED = named(Searched, types.int64, types.int64)


@njit(
    [_SEARCHED(I64, I32, types.int64, kind[::1], OUT_I32) for kind in (types.uint8, types.uint16)],
    cache=True,
    nogil=True,
)
def search_levels(indptr, indices, source, level, queue):
    """Fill ``level``, the dtype's maximum where unreached.

    ``queue``: (n_nodes + 1,), gets the nodes in the order they are reached; the last place is
    written to before it is known whether a node is new.
    """
    n_nodes = np.uintp(level.size)
    none = level.dtype.type(np.iinfo(level.dtype).max)
    level[:] = none
    level[source] = 0
    queue[0] = source
    begin, end = np.uintp(0), U1
    depth = np.int64(0)
    while end < n_nodes:
        if 2 * (depth + 1) >= np.int64(none):
            return Searched(np.int64(-1), np.int64(end))
        before, now = level.dtype.type(depth), level.dtype.type(depth + 1)
        tail = end
        is_up = False
        if (end - begin) * np.uintp(BETA) > n_nodes:
            n_arcs = np.int64(0)
            for i in range(begin, end):
                u = np.uintp(queue[i])
                n_arcs += indptr[u + U1] - indptr[u]
            is_up = n_arcs * ALPHA > indices.size * (np.int64(n_nodes - end) / np.int64(n_nodes))
        if is_up:
            for w in range(n_nodes):
                if level[w] != none:
                    continue
                for arc in range(np.uintp(indptr[w]), np.uintp(indptr[w + U1])):
                    if level[np.uintp(indices[arc])] == before:
                        level[w] = now
                        queue[tail] = w
                        tail += U1
                        break
        else:
            for i in range(begin, end):
                u = np.uintp(queue[i])
                for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + U1])):
                    v = np.uintp(indices[arc])
                    known = level[v]
                    queue[tail] = v  # stays if the node is new: no branch to predict
                    is_new = known == none
                    level[v] = now if is_new else known
                    tail += np.uintp(is_new)
        if tail == end:
            break
        begin, end = end, tail
        depth += 1
    return Searched(depth, np.int64(end))
