"""Steps of a bit-parallel sweep of 512 lanes from sources close together, on one core.

A lane carries one source. A node has a row of 64-bit words, a bit a lane, in two tables, *now* and
*after*, which are equal but for the nodes that changed on the last level: they are in the list
``front``, and marked in ``changed``. Node ids in all of these are the graph's own, within a shard.

Sources of a sweep lie close together, so that their frontiers overlap and few nodes change on each
level: ``place_sources``. What is noted of a level is either how many (source, node) pairs there
are (``COUNT_PAIRS``), or which lanes found a node, and for each node that any
lane did (``NOTE_ENDS``, for ``near_sweep``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import (
    common,
    load,
    minus,
    n_set,
    no_lanes,
    prefetch,
    some,
    store,
    union,
)
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_U64, U64, returns

WORDS = 8  # of a row: they fill a line of the cache, so a neighbour costs one wait
LANES = 64 * WORDS
AHEAD = np.uintp(64)  # arcs between asking for a row and using it
SOME_ARCS = np.uintp(8)  # after as many a node looks whether it has every lane
# A top-down arc reads and writes two rows; a bottom-up step looks at all nodes that miss a lane.
TOP_DOWN_ARC, BOTTOM_UP_ARC, BOTTOM_UP_NODE = 4, 1, 2
DENSE = 4  # a step asks no neighbour whether it changed once every DENSE-th node did
U1, U6, U63 = np.uintp(1), np.uintp(6), np.uintp(63)
ONE = np.uint64(1)

ARRAYS = (I64, I32, types.int64)  # indptr and indices of the shard, first node of the graph
_NOTED = (types.int64, OUT_I32, OUT_U64)


@njit([types.void(I64, I32, I64, I64, OUT_I32)], cache=True, nogil=True)
def place_sources(indptr, indices, node_ptr, graphs, order):
    """Fill order[node_ptr[g]:node_ptr[g + 1]] with the nodes of each of ``graphs``, by nearness.

    Own ids of the graph. Nodes are collected breadth-first from one that is left, LANES at a time:
    so sweeps carry balls of nodes rather than whole levels.
    """
    most = np.int64(0)
    for g in graphs:
        most = max(most, node_ptr[g + 1] - node_ptr[g])
    mark = np.empty(most, np.int64)  # number of the ball that a node is queued for
    queue = np.empty(most, np.int32)
    placed = np.iinfo(np.int64).max
    for g in graphs:
        base, n_nodes = node_ptr[g], node_ptr[g + 1] - node_ptr[g]
        mark[:n_nodes] = 0
        n_placed, n_queued, taken, ball, seed = np.int64(0), 0, 0, np.int64(0), np.int64(0)
        while n_placed < n_nodes:
            if n_placed % LANES == 0 and n_queued > taken:
                # The next ball begins where this one ended.
                first = queue[taken]
                ball += 1
                n_queued, taken = 1, 0
                queue[0] = first
                mark[first] = ball
            elif taken == n_queued:
                while mark[seed] == placed:
                    seed += 1
                ball += 1
                n_queued, taken = 1, 0
                queue[0] = seed
                mark[seed] = ball
            u = np.int64(queue[taken])
            taken += 1
            mark[u] = placed
            order[base + n_placed] = u
            n_placed += 1
            for arc in range(indptr[base + u], indptr[base + u + 1]):
                v = np.int64(indices[arc]) - base
                if mark[v] < ball:
                    mark[v] = ball
                    queue[n_queued] = v
                    n_queued += 1


def _steps(counts: bool) -> tuple[Callable, Callable]:
    """``bottom_up`` and ``top_down``, which count pairs or note ends.

    The former leave ``depth``, ``lower`` and ``unions`` alone. The latter raise ``lower`` of each
    node found to ``depth``, the level, put the lanes that found any node into the row ``unions``,
    and tell of no pairs.
    """

    @njit(
        [
            returns(4)(
                *(*ARRAYS, U64, U64, OUT_U64, OUT_I32, types.int64),
                *(OUT_I32, types.int64, OUT_I32, U64, OUT_U64),
                *_NOTED,
            )
        ],
        cache=True,
        nogil=True,
    )
    def bottom_up(
        indptr,
        indices,
        base,
        every,
        now,
        after,
        nodes,
        n_nodes,
        front,
        n_front,
        coming,
        changed,
        changing,
        depth,
        lower,
        unions,
    ):
        """Each of nodes[:n_nodes] that misses a lane unites the rows of its neighbours.

        Closed nodes are dropped from ``nodes``. Returns how many are left, how many changed, their
        arcs, and pairs found.
        """
        kept, n_coming, n_arcs, n_pairs = np.uintp(0), np.int64(0), np.int64(0), np.int64(0)
        first, last = np.uintp(base), np.uintp(indices.size)
        is_dense = DENSE * n_front > n_nodes
        lanes = load(WORDS, every, np.uintp(0))
        of_all = no_lanes(WORDS)
        for i in range(np.uintp(n_nodes)):
            v = np.uintp(nodes[i])
            own = load(WORDS, now, v)
            missing = minus(lanes, own)
            if not some(missing):
                store(after, v, own)
                continue
            nodes[kept] = v
            kept += U1
            got = no_lanes(WORDS)
            arc, end = np.uintp(indptr[first + v]), np.uintp(indptr[first + v + U1])
            if is_dense:
                later = AHEAD if end + AHEAD < last else np.uintp(0)
                while arc < end:
                    stop = min(arc + SOME_ARCS, end)
                    while arc < stop:
                        prefetch(WORDS, now, np.uintp(indices[arc + later]) - first)
                        got = union(got, load(WORDS, now, np.uintp(indices[arc]) - first))
                        arc += U1
                    if arc >= end or not some(minus(missing, got)):
                        break
            else:
                while arc < end:
                    u = np.uintp(indices[arc]) - first
                    if (changed[u >> U6] >> np.uint64(u & U63)) & ONE:
                        got = union(got, load(WORDS, now, u))
                    arc += U1
            found = common(got, missing)
            if some(found):
                store(after, v, union(own, found))
                changing[v >> U6] |= ONE << np.uint64(v & U63)
                coming[n_coming] = v
                n_coming += 1
                n_arcs += indptr[first + v + U1] - indptr[first + v]
                if counts:
                    n_pairs += n_set(found)
                else:
                    of_all = union(of_all, found)
                    lower[v] = max(lower[v], np.int32(depth))
            elif (changed[v >> U6] >> np.uint64(v & U63)) & ONE:
                store(after, v, own)
        if not counts:
            store(unions, np.uintp(0), of_all)
        return np.int64(kept), n_coming, n_arcs, n_pairs

    @njit(
        [returns(3)(*ARRAYS, U64, OUT_U64, OUT_I32, types.int64, OUT_I32, OUT_U64, *_NOTED)],
        cache=True,
        nogil=True,
    )
    def top_down(
        indptr, indices, base, now, after, front, n_front, coming, changing, depth, lower, unions
    ):
        """Each node that changed gives its row to its neighbours.

        Returns how many changed, their arcs, and pairs found.
        """
        first = np.uintp(base)
        of_all = no_lanes(WORDS)
        n_coming, n_arcs, n_pairs = np.int64(0), np.int64(0), np.int64(0)
        for i in range(np.uintp(n_front)):
            u = np.uintp(front[i])
            store(after, u, load(WORDS, now, u))
        for i in range(np.uintp(n_front)):
            u = np.uintp(front[i])
            row = load(WORDS, now, u)
            for arc in range(np.uintp(indptr[first + u]), np.uintp(indptr[first + u + U1])):
                v = np.uintp(indices[arc]) - first
                if not some(minus(row, load(WORDS, now, v))):
                    continue
                store(after, v, union(load(WORDS, after, v), row))
                bit = ONE << np.uint64(v & U63)
                if not changing[v >> U6] & bit:
                    changing[v >> U6] |= bit
                    coming[n_coming] = v
                    n_coming += 1
        for i in range(np.uintp(n_coming)):
            v = np.uintp(coming[i])
            n_arcs += indptr[first + v + U1] - indptr[first + v]
            found = minus(load(WORDS, after, v), load(WORDS, now, v))
            if counts:
                n_pairs += n_set(found)
            else:
                of_all = union(of_all, found)
                lower[v] = max(lower[v], np.int32(depth))
        if not counts:
            store(unions, np.uintp(0), of_all)
        return n_coming, n_arcs, n_pairs

    return bottom_up, top_down


COUNT_PAIRS, NOTE_ENDS = _steps(True), _steps(False)


def rows_of(n_nodes: int) -> tuple[np.ndarray, ...]:
    """``now``, ``after``, ``changed``, ``changing``, ``nodes``, ``front``, ``coming``."""
    size = n_nodes * WORDS
    rows = np.empty(2 * size + WORDS, np.uint64)
    first = -(rows.ctypes.data // 8) % WORDS  # no row lies across two lines of the cache
    now, after = rows[first : first + size], rows[first + size : first + 2 * size]
    changed, changing = np.empty((2, (n_nodes + 63) // 64), np.uint64)
    nodes, front, coming = np.empty((3, n_nodes), np.int32)
    return now, after, changed, changing, nodes, front, coming


@njit(
    [
        types.int64(
            *(*ARRAYS, types.int64, I32),
            *(OUT_U64, OUT_U64, OUT_U64, OUT_U64, OUT_U64),
            *(OUT_I32, OUT_I32),
        )
    ],
    cache=True,
    nogil=True,
)
def begin_sweep(
    indptr, indices, base, n_nodes, sources, every, now, after, changed, changing, nodes, front
):
    """Put a source into each lane, at most LANES of them; returns their arcs."""
    now[: n_nodes * WORDS] = 0
    after[: n_nodes * WORDS] = 0
    changed[: (n_nodes + 63) >> 6] = 0
    changing[: (n_nodes + 63) >> 6] = 0
    every[:] = 0
    n_arcs = np.int64(0)
    for lane in range(sources.size):
        v = np.int64(sources[lane])
        now[v * WORDS + (lane >> 6)] = ONE << np.uint64(lane & 63)
        every[lane >> 6] |= ONE << np.uint64(lane & 63)
        changed[v >> 6] |= ONE << np.uint64(v & 63)
        front[lane] = v
        n_arcs += indptr[base + v + 1] - indptr[base + v]
    for node in range(n_nodes):
        nodes[node] = node
    return n_arcs
