"""How many pairs of nodes are so many hops apart: bit-parallel sweeps that count, on one core.

A lane carries one source; each source of a graph is in one sweep (*group*) of that graph. Of a
level only the number of (source, node) pairs is kept, over all lanes: bits that are set. As in
``sweep`` a node has a row of 64-bit words in two tables, *now* and *after*, which are equal but for
the nodes that changed on the last level: they are in the list ``front``, and marked in ``changed``.
Node ids in all of these are the graph's own.

Sources of a sweep lie close together, so that their frontiers overlap and few nodes change on each
level: ``place_sources``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels.lanes import (
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
from kernels.signatures import I32, I64, OUT_I32, OUT_I64, OUT_U64, U64, returns

WORDS = 8  # of a row: they fill a line of the cache, so a neighbour costs one wait
LANES = 64 * WORDS
AHEAD = np.uintp(64)  # arcs between asking for a row and using it
SOME_ARCS = np.uintp(8)  # after as many a node looks whether it has every lane
# A top-down arc reads and writes two rows; a bottom-up step looks at all nodes that miss a lane.
TOP_DOWN_ARC, BOTTOM_UP_ARC, BOTTOM_UP_NODE = 4, 1, 2
DENSE = 4  # a step asks no neighbour whether it changed once every DENSE-th node did
U1, U6, U63 = np.uintp(1), np.uintp(6), np.uintp(63)
ONE = np.uint64(1)

_ARRAYS = (I64, I32, types.int64)  # indptr and indices of the shard, first node of the graph


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


@njit(
    [
        returns(4)(
            *(*_ARRAYS, U64, U64, OUT_U64, OUT_I32, types.int64),
            *(OUT_I32, types.int64, OUT_I32, U64, OUT_U64),
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
):
    """Each of nodes[:n_nodes] that misses a lane unites the rows of its neighbours.

    Closed nodes are dropped from ``nodes``. Returns how many are left, how many changed, their
    arcs, and pairs found.
    """
    kept, n_coming, n_arcs, n_pairs = np.uintp(0), np.int64(0), np.int64(0), np.int64(0)
    first, last = np.uintp(base), np.uintp(indices.size)
    is_dense = DENSE * n_front > n_nodes
    lanes = load(WORDS, every, np.uintp(0))
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
            n_pairs += n_set(found)
        elif (changed[v >> U6] >> np.uint64(v & U63)) & ONE:
            store(after, v, own)
    return np.int64(kept), n_coming, n_arcs, n_pairs


@njit(
    [returns(3)(*_ARRAYS, U64, OUT_U64, OUT_I32, types.int64, OUT_I32, OUT_U64)],
    cache=True,
    nogil=True,
)
def top_down(indptr, indices, base, now, after, front, n_front, coming, changing):
    """Each node that changed gives its row to its neighbours.

    Returns how many changed, their arcs, and pairs found.
    """
    first = np.uintp(base)
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
        n_pairs += n_set(minus(load(WORDS, after, v), load(WORDS, now, v)))
    return n_coming, n_arcs, n_pairs


@njit(
    [
        types.int64(
            *(*_ARRAYS, types.int64, I32, types.int64),
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
    now[: n_nodes * WORDS] = 0
    after[: n_nodes * WORDS] = 0
    changed[: (n_nodes + 63) >> 6] = 0
    changing[: (n_nodes + 63) >> 6] = 0
    every = np.zeros(WORDS, np.uint64)
    n_arcs = np.int64(0)
    for lane in range(n_sources):
        v = np.int64(sources[lane])
        now[v * WORDS + (lane >> 6)] = ONE << np.uint64(lane & 63)
        every[lane >> 6] |= ONE << np.uint64(lane & 63)
        changed[v >> 6] |= ONE << np.uint64(v & 63)
        front[lane] = v
        n_arcs += indptr[base + v + 1] - indptr[base + v]
    for node in range(n_nodes):
        nodes[node] = node
    n_open, n_front, depth = np.int64(n_nodes), np.int64(n_sources), np.int64(0)
    n_all = indptr[base + n_nodes] - indptr[base]
    by_level[0] += n_sources
    while n_open > 0 and n_front > 0:
        cost = BOTTOM_UP_ARC * n_all * (n_open / n_nodes) + BOTTOM_UP_NODE * n_open
        if TOP_DOWN_ARC * n_arcs < cost:
            n_coming, n_arcs, n_pairs = top_down(
                indptr, indices, base, now, after, front, n_front, coming, changing
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
    size = n_nodes * WORDS
    rows = np.empty(2 * size + WORDS, np.uint64)
    first = -(rows.ctypes.data // 8) % WORDS  # no row lies across two lines of the cache
    now, after = rows[first : first + size], rows[first + size : first + 2 * size]
    changed, changing = np.empty((2, (n_nodes + 63) // 64), np.uint64)
    nodes, front, coming = np.empty((3, n_nodes), np.int32)
    return now, after, changed, changing, nodes, front, coming, np.empty(n_nodes, np.int64)
