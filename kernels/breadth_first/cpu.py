"""BFS on one core, with numba: direction-optimising [1]_, and the plain queue that checks it.

The queue holds every reached node once, level after level; levels are filled in from it. One bit
per node marks reached ones, so that random reads mostly stay in the nearest caches.
A bottom-up step asks whether a neighbour was reached *before* this step: had it been reached
earlier than one level ago, the node would not be open now. So it needs no map of the frontier.
``cpu_bytes`` has the same steps on levels in place of bits, for graphs that fit into caches.

References
----------
.. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search", SC 2012.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.bits import LOW, ONE, SIX, add, is_in
from kernels._cpu.lanes import lowest, prefetch
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_U64, returns
from kernels.types import N_FARTHEST, UNREACHED

# A step goes bottom-up while the frontier is more than a BETA-th of the nodes and its arcs are more
# than an ALPHA-th of those of open nodes; the constants of GAPBS [1]_.
ALPHA = 15
BETA = 18
FEW = 4  # nodes of a frontier up to which a search is a chain of waits
AHEAD = 8  # queue places between prefetching a node's arcs and using them


@njit(cache=True, nogil=True)
def _arcs_of(indptr, base, queue, begin, end):
    arcs = np.int64(0)
    for i in range(begin, end):
        u = np.uintp(queue[np.uintp(i)] + base)
        arcs += indptr[u + np.uintp(1)] - indptr[u]
    return arcs


@njit(cache=True, nogil=True)
def _top_down(indptr, indices, base, n_nodes, target, queue, ends, n_levels, reached):
    """Level after level while few nodes are in the frontier; returns the number of levels."""
    begin = np.uintp(ends[n_levels - 2]) if n_levels > 1 else np.uintp(0)
    end = np.uintp(ends[n_levels - 1])
    while True:
        tail = end
        if end - begin < np.uintp(FEW):  # predicting branches is faster than waiting for ``tail``
            for i in range(begin, end):
                u = np.uintp(queue[i] + base)
                for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + np.uintp(1)])):
                    v = np.uint64(indices[arc] - base)
                    if not is_in(reached, v):
                        add(reached, v)
                        queue[tail] = v
                        tail += np.uintp(1)
            begin = end
        for i in range(begin, end):
            later = i + np.uintp(AHEAD)
            if later < end:
                prefetch(1, indptr, np.uintp(queue[later] + base))
                soon = np.uintp(queue[i + np.uintp(AHEAD // 2)] + base)
                prefetch(1, indices, np.uintp(indptr[soon]) >> np.uintp(1))
            u = np.uintp(queue[i] + base)
            for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + np.uintp(1)])):
                v = np.uint64(indices[arc] - base)
                word = reached[v >> SIX]
                reached[v >> SIX] = word | (ONE << (v & LOW))
                queue[tail] = v  # stays if the node is new: no branch to predict
                tail += np.uintp(((word >> (v & LOW)) & ONE) ^ ONE)
        if tail == end:
            return n_levels
        begin, end = end, tail
        ends[np.uintp(n_levels)] = end
        n_levels += 1
        if np.int64(end - begin) * BETA > n_nodes or np.int64(end) == n_nodes:
            return n_levels
        if target >= 0 and is_in(reached, target):
            return n_levels


@njit(cache=True, nogil=True)
def _bottom_up(indptr, indices, base, n_nodes, queue, end, reached, before):
    tail = np.uintp(end)
    n_words = (n_nodes + 63) >> 6
    for i in range(n_words):  # a loop: numba takes seconds to compile assignments of slices
        before[i] = reached[i]
    for i in range(n_words):
        place = np.uintp(i)
        todo = ~before[place]
        if i == n_words - 1 and n_nodes & 63:
            todo &= (ONE << np.uint64(n_nodes & 63)) - ONE
        new = np.uint64(0)
        while todo != 0:
            bit = lowest(todo)
            todo &= todo - ONE
            v = np.uintp(i << 6) + np.uintp(bit)
            u = v + np.uintp(base)
            for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + np.uintp(1)])):
                head = np.uint64(indices[arc] - base)
                if is_in(before, head):
                    new |= ONE << bit
                    queue[tail] = v
                    tail += np.uintp(1)
                    break
        reached[place] |= new
    return np.int64(tail)


SEARCH = (I64, I32, types.int64, types.int64, types.int64, types.int64)


@njit([types.int64(*SEARCH, OUT_I32, OUT_I32, OUT_U64)], cache=True, nogil=True)
def search_from(indptr, indices, base, n_nodes, n_starts, target, queue, ends, bits):
    """As ``search``, from the ``n_starts`` different nodes at the head of ``queue``."""
    n_words = (n_nodes + 63) >> 6
    reached, before = bits[:n_words], bits[n_words : 2 * n_words]
    for i in range(n_words):
        reached[i] = 0
    for i in range(n_starts):
        add(reached, queue[i])
    ends[0] = n_starts
    begin, end, n_levels = 0, n_starts, 1
    n_arcs = indptr[base + n_nodes] - indptr[base]
    while end < n_nodes:
        if target >= 0 and is_in(reached, target):
            return n_levels
        bottom_up = False
        if (end - begin) * BETA > n_nodes:
            # Open arcs estimated from the share of open nodes, which needs no long sum.
            open_arcs = n_arcs * ((n_nodes - end) / n_nodes)
            bottom_up = _arcs_of(indptr, base, queue, begin, end) * ALPHA > open_arcs
        known = n_levels
        if bottom_up:
            tail = _bottom_up(indptr, indices, base, n_nodes, queue, end, reached, before)
            if tail > end:
                ends[n_levels] = tail
                n_levels += 1
        else:
            arrays = (indptr, indices, base, n_nodes, target, queue, ends)
            n_levels = _top_down(*arrays, n_levels, reached)
        if n_levels == known:
            return n_levels
        begin, end = ends[n_levels - 2], ends[n_levels - 1]
    return n_levels


@njit([types.int64(*SEARCH, OUT_I32, OUT_I32, OUT_U64)], cache=True, nogil=True)
def search(indptr, indices, base, n_nodes, source, target, queue, ends, bits):
    """Search one graph of nodes base .. base + n_nodes - 1; returns the number of levels.

    ``source``, ``target`` (-1: none) and what the queue gets are local ids. ``queue``
    ((n_nodes + 1,)) gets the nodes in the order they are reached, ``ends`` ((n_nodes + 1,)) where
    each level ends there. ``bits`` is scratch, 2 * ((n_nodes + 63) // 64) words.
    """
    queue[0] = source
    return search_from(indptr, indices, base, n_nodes, 1, target, queue, ends, bits)


@njit(
    [
        types.void(I32, I32, types.int64, out[::1])
        for out in (types.uint8, types.uint16, types.int32)
    ],
    cache=True,
    nogil=True,
)
def fill_levels(queue, ends, n_levels, level):
    """Write the level of every queued node."""
    begin = 0
    for depth in range(n_levels):
        for i in range(begin, ends[depth]):
            level[np.uintp(queue[np.uintp(i)])] = depth
        begin = ends[depth]


@njit([types.void(I32, types.int64, types.int64, OUT_I32)], cache=True, nogil=True)
def smallest(queue, begin, end, nodes):
    """The N_FARTHEST smallest of queue[begin:end], ascending, into ``nodes`` (-1 on entry)."""
    kept = 0
    for i in range(begin, end):
        node = queue[i]
        if kept == N_FARTHEST and nodes[kept - 1] <= node:
            continue
        at = kept if kept < N_FARTHEST else kept - 1
        kept = at + 1
        while at > 0 and nodes[at - 1] > node:
            nodes[at] = nodes[at - 1]
            at -= 1
        nodes[at] = node


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
