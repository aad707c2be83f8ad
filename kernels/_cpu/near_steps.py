"""Steps of a bit-parallel sweep of 512 lanes from sources close together, on one core.

A lane carries one source. A node has a row of 64-bit words, one bit per lane, in two tables, *now*
and *after*, which are equal except for the nodes that changed on the last level: they are in the
list ``front``, and marked in ``changed``: see ``Rows``.

Sources of a sweep lie close together, so that their frontiers overlap and few nodes change on each
level: ``place_sources``. For each level a step notes either the number of (source, node) pairs
(``COUNT_PAIRS``), or which lanes found a node and which nodes were found by any lane
(``NOTE_ENDS``, for ``near_sweep``), or adds up the distances of each node (``ADD_UP``).

Unlike in ``eccentricity.searches.sweep_steps``, all sources are in one component, and the few nodes
that change are listed too, so that a top-down step need not look through the bitmap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_U64, named
from kernels._cpu.sweep_constants import (
    AHEAD,
    BOTTOM_UP_ARC,
    BOTTOM_UP_NODE,
    DENSE,
    FAR,
    HITS,
    N_SUMS,
    NEAR,
    SOME_ARCS,
    TOP_DOWN_ARC,
    UNIT,
)
from kernels._cpu.variants import variant

WORDS = 8  # of a row: they fill a line of the cache, so a neighbour costs one wait
LANES = 64 * WORDS
U1, U6, U63 = np.uintp(1), np.uintp(6), np.uintp(63)
ONE = np.uint64(1)

ARRAYS = (I64, I32, types.int64)  # indptr and indices of the shard, first node of the graph


class Rows(NamedTuple):
    """Working arrays of a sweep of a graph of up to n_nodes nodes; ids are the graph's own.

    Parameters
    ----------
    every : (WORDS,) uint64
        Lanes in use.
    tables : (2, n_nodes * WORDS) uint64
        The rows: *now* is that of the level's side, *after* is the other one.
    marks : (2, (n_nodes + 63) // 64) uint64
        A bit per node: ``changed`` is that of the level's side, and the step fills the other one.
    lists : (2, n_nodes) int32
        The nodes that are marked: ``front``, and those that the step finds.
    nodes : (n_nodes,) int32
        Nodes that may lack a lane.
    """

    every: np.ndarray
    tables: np.ndarray
    marks: np.ndarray
    lists: np.ndarray
    nodes: np.ndarray


class Level(NamedTuple):
    """A complete level of a sweep."""

    side: np.int64  # which one of each pair in ``Rows`` is its own
    n_open: np.int64  # nodes in ``Rows.nodes``
    n_front: np.int64  # nodes that changed
    n_arcs: np.int64  # theirs
    n_pairs: np.int64  # of a source and a node that it found


_PAIR = types.uint64[:, ::1]
ROWS = named(Rows, OUT_U64, _PAIR, _PAIR, types.int32[:, ::1], OUT_I32)
LEVEL = named(Level, *[types.int64] * 5)
_STEP = [LEVEL(*ARRAYS, ROWS, LEVEL, types.int64, OUT_I32, OUT_U64)]


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


@njit(cache=True, nogil=True)
def bottom_up_work(indptr, base, n_nodes, level):
    """Arcs that a bottom-up step is likely to look at, and other work in the same unit."""
    n_all = indptr[base + n_nodes] - indptr[base]
    return BOTTOM_UP_ARC * n_all * (level.n_open / n_nodes) + BOTTOM_UP_NODE * level.n_open


@njit(cache=True, nogil=True)
def goes_down(level, up):
    """Whether a top-down step costs less than a bottom-up one of work ``up``."""
    return TOP_DOWN_ARC * level.n_arcs < up


@njit(cache=True, nogil=True)
def _unmark(rows, level):
    """Clear the marks of a level's own side, which the next step fills."""
    changed, front = rows.marks[level.side], rows.lists[level.side]
    for i in range(level.n_front):
        changed[front[i] >> 6] = 0


@njit(cache=True, nogil=True)
def inverse(depth):
    """1 / depth, to the nearest in ``UNIT``, of a depth of at least 1."""
    return np.uint64((2 * UNIT + depth) // (2 * depth))


@njit(cache=True, nogil=True)
def _add_up(sums, v, depth, each, n_found):
    """Add ``n_found`` sources at ``depth`` hops to the sums of a node."""
    at, n = np.uintp(N_SUMS) * v, np.uint64(n_found)
    sums[at + np.uintp(FAR)] += n * np.uint64(depth)
    sums[at + np.uintp(NEAR)] += n * each
    sums[at + np.uintp(HITS)] += n


def _steps(notes: str) -> tuple[Callable, Callable]:
    """``bottom_up`` and ``top_down``, which count pairs, note ends or add up, for the next level.

    ``counts`` leave ``depth``, ``lower`` and ``unions`` alone. ``ends`` raise ``lower`` of each
    node found to ``depth``, the level, put the lanes that found any node into the row ``unions``,
    and count no pairs. ``sums`` add the distances of each node found, at ``depth``, to ``unions``,
    N_SUMS numbers per node, and leave ``lower`` alone.
    """
    counts, ends, adds = notes == "counts", notes == "ends", notes == "sums"

    @njit(_STEP, cache=True, nogil=True)
    @variant(notes)
    def bottom_up(indptr, indices, base, rows, level, depth, lower, unions):
        """Each of nodes[:n_open] that lacks a lane unites the rows of its neighbours.

        Closed nodes are dropped from ``nodes``.
        """
        side, other, n_open = level.side, 1 - level.side, level.n_open
        now, after, nodes = rows.tables[side], rows.tables[other], rows.nodes
        changed, changing, coming = rows.marks[side], rows.marks[other], rows.lists[other]
        kept, n_coming, n_arcs, n_pairs = np.uintp(0), np.int64(0), np.int64(0), np.int64(0)
        first, last = np.uintp(base), np.uintp(indices.size)
        is_dense = DENSE * level.n_front > n_open
        lanes = load(WORDS, rows.every, np.uintp(0))
        of_all, each = no_lanes(WORDS), inverse(max(depth, 1))
        for i in range(np.uintp(n_open)):
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
                if adds:
                    _add_up(unions, v, depth, each, n_set(found))
                if ends:
                    of_all = union(of_all, found)
                    lower[v] = max(lower[v], np.int32(depth))
            elif (changed[v >> U6] >> np.uint64(v & U63)) & ONE:
                store(after, v, own)
        if ends:
            store(unions, np.uintp(0), of_all)
        _unmark(rows, level)
        return Level(other, np.int64(kept), n_coming, n_arcs, n_pairs)

    @njit(_STEP, cache=True, nogil=True)
    @variant(notes)
    def top_down(indptr, indices, base, rows, level, depth, lower, unions):
        """Each node that changed gives its row to its neighbours."""
        side, other, n_front = level.side, 1 - level.side, level.n_front
        now, after, changing = rows.tables[side], rows.tables[other], rows.marks[other]
        front, coming = rows.lists[side], rows.lists[other]
        first = np.uintp(base)
        of_all, each = no_lanes(WORDS), inverse(max(depth, 1))
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
            if adds:
                _add_up(unions, v, depth, each, n_set(found))
            if ends:
                of_all = union(of_all, found)
                lower[v] = max(lower[v], np.int32(depth))
        if ends:
            store(unions, np.uintp(0), of_all)
        _unmark(rows, level)
        return Level(other, level.n_open, n_coming, n_arcs, n_pairs)

    return bottom_up, top_down


# None of these may be used in another closure: numba would compile that in each process.
COUNT_PAIRS, NOTE_ENDS, ADD_UP = _steps("counts"), _steps("ends"), _steps("sums")


def rows_of(n_nodes: int) -> Rows:
    """Rows for graphs of up to ``n_nodes`` nodes."""
    size = n_nodes * WORDS
    words = np.empty(2 * size + WORDS, np.uint64)
    first = -(words.ctypes.data // 8) % WORDS  # no row lies across two lines of the cache
    return Rows(
        every=np.empty(WORDS, np.uint64),
        tables=words[first : first + 2 * size].reshape(2, size),
        marks=np.empty((2, (n_nodes + 63) // 64), np.uint64),
        lists=np.empty((2, n_nodes), np.int32),
        nodes=np.empty(n_nodes, np.int32),
    )


@njit([LEVEL(*ARRAYS, types.int64, I32, ROWS)], cache=True, nogil=True)
def begin_sweep(indptr, indices, base, n_nodes, sources, rows):
    """Put a source into each lane, at most LANES of them; returns the level that they form."""
    every, nodes = rows.every, rows.nodes
    now, after, front = rows.tables[0], rows.tables[1], rows.lists[0]
    changed, changing = rows.marks[0], rows.marks[1]
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
    n_sources = np.int64(sources.size)
    return Level(np.int64(0), np.int64(n_nodes), n_sources, n_arcs, n_sources)
