"""Steps of a bit-parallel sweep for eccentricities, on one core; see ``sweep``.

A node has a row of 64-bit words, one bit per lane; a lane carries one source of every component.
Two tables of rows: *now*, which lanes have reached each node up to the last complete level, and
*next*. They are equal except for the nodes that changed on that level, which are marked in a
bitmap. ``every`` has one row per component: the lanes it uses. A node that has all of them is
closed. ``unions`` gets, for each component, the lanes that found any node on this level.

Sources may lie anywhere, in any component: many nodes change on a level, so they are in a bitmap
only, not in a list as in ``_cpu.near_steps``. Unlike ``multi_source`` nothing is counted by lane:
what eccentricities need is the last level on which a lane found a node, and for each node the last
level on which any lane found it. Why the loops over arcs are not shared: ``_cpu.sweep_constants``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit, types

from kernels._cpu.bits import add, is_in
from kernels._cpu.lanes import common, load, minus, no_lanes, prefetch, some, store, union
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_U64, U64, returns
from kernels._cpu.sweep_constants import AHEAD, SOME_ARCS
from kernels._cpu.variants import variant
from kernels.eccentricity.thresholds import CORE

U1, U6 = np.uintp(1), np.uintp(6)
ONE = np.uint64(1)

_TABLES = (I64, I32, I32, U64, OUT_U64, OUT_U64)
_LEVEL = (U64, OUT_U64, types.int64, OUT_I32, OUT_U64)


def _steps(words: int) -> tuple[Callable, Callable]:
    """``bottom_up`` and ``top_down`` for rows of this many words."""

    @njit(
        [returns(3)(*_TABLES, OUT_I32, types.int64, *_LEVEL, types.boolean)],
        cache=True,
        nogil=True,
    )
    @variant(f"{words}_words")
    def bottom_up(
        indptr,
        indices,
        component,
        every,
        now,
        after,
        nodes,
        n_nodes,
        changed,
        changing,
        depth,
        lower,
        unions,
        is_dense,
    ):
        """Each of nodes[:n_nodes] that lacks a lane unites the rows of its neighbours.

        Closed nodes are dropped from ``nodes``. Returns how many are left, how many changed, and
        their arcs. ``is_dense``: most nodes changed, so no neighbour is asked whether it did.
        """
        kept, n_found, n_arcs = np.uintp(0), np.int64(0), np.int64(0)
        last = np.uintp(indices.size)
        for i in range(np.uintp(n_nodes)):
            v = np.uintp(nodes[i])
            own = load(words, now, v)
            c = np.uintp(component[v])
            missing = minus(load(words, every, c), own)
            if not some(missing):
                store(after, v, own)
                continue
            nodes[kept] = v
            kept += U1
            got = no_lanes(words)
            arc, end = np.uintp(indptr[v]), np.uintp(indptr[v + U1])
            if is_dense:
                later = AHEAD if end + AHEAD < last else np.uintp(0)
                while arc < end:
                    stop = min(arc + SOME_ARCS, end)
                    while arc < stop:
                        prefetch(words, now, np.uintp(indices[arc + later]))
                        got = union(got, load(words, now, np.uintp(indices[arc])))
                        arc += U1
                    if arc >= end or not some(minus(missing, got)):
                        break
            else:
                while arc < end:
                    u = np.uintp(indices[arc])
                    if is_in(changed, u):
                        got = union(got, load(words, now, u))
                    arc += U1
            found = common(got, missing)
            if some(found):
                store(after, v, union(own, found))
                add(changing, v)
                n_found += 1
                n_arcs += indptr[v + U1] - indptr[v]
                lower[v] = max(lower[v], np.int32(depth))
                store(unions, c, union(load(words, unions, c), found))
            elif is_in(changed, v):
                store(after, v, own)
        return np.int64(kept), n_found, n_arcs

    @njit([returns(2)(*_TABLES, *_LEVEL)], cache=True, nogil=True)
    @variant(f"{words}_words")
    def top_down(
        indptr,
        indices,
        component,
        every,
        now,
        after,
        changed,
        changing,
        depth,
        lower,
        unions,
    ):
        """Each node that changed gives its row to its neighbours; returns as ``bottom_up``."""
        for word in range(np.uintp(changed.size)):
            bits = changed[word]
            v = word << U6
            while bits != 0:
                if bits & ONE:
                    store(after, v, load(words, now, v))
                bits >>= ONE
                v += U1
        for word in range(np.uintp(changed.size)):
            bits = changed[word]
            u = word << U6
            while bits != 0:
                if bits & ONE:
                    row = load(words, now, u)
                    for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + U1])):
                        v = np.uintp(indices[arc])
                        if some(minus(row, load(words, now, v))):
                            store(after, v, union(load(words, after, v), row))
                            add(changing, v)
                bits >>= ONE
                u += U1
        n_found, n_arcs = np.int64(0), np.int64(0)
        for word in range(np.uintp(changing.size)):
            bits = changing[word]
            v = word << U6
            while bits != 0:
                if bits & ONE:
                    n_found += 1
                    n_arcs += indptr[v + U1] - indptr[v]
                    lower[v] = max(lower[v], np.int32(depth))
                    c = np.uintp(component[v])
                    found = minus(load(words, after, v), load(words, now, v))
                    store(unions, c, union(load(words, unions, c), found))
                bits >>= ONE
                v += U1
        return n_found, n_arcs

    return bottom_up, top_down


# Of 64 lanes; eight fill a line of the cache: one wait per neighbour.
FEW_WORDS, MANY_WORDS = CORE.few_lanes // 64, CORE.many_lanes // 64
STEPS = {words: _steps(words) for words in (FEW_WORDS, MANY_WORDS)}


@njit([types.void(OUT_U64, types.int64, I32, I64)], cache=True, nogil=True)
def set_lanes(rows, words, nodes, lanes):
    """Set a lane in the row of each node."""
    for i in range(nodes.size):
        lane = np.uint64(lanes[i])
        rows[np.int64(nodes[i]) * words + np.int64(lane >> np.uint64(6))] |= ONE << (
            lane & np.uint64(63)
        )


@njit([types.void(I64, I32, OUT_I32, I32, I32, types.int64)], cache=True, nogil=True)
def relax(indptr, indices, bound, sources, eccentricity, sign):
    """Spread what is known of some nodes: eccentricities of neighbours differ by one at most.

    ``sign`` 1: lower ``bound`` to the least eccentricity of a source plus its distance; -1: raise
    it to the largest eccentricity minus distance. One search from all sources at once, each of
    which starts when its own value is reached; nodes whose bound is as tight already are not
    followed.
    """
    order = np.argsort(sign * eccentricity)
    front = np.empty(bound.size, np.int32)
    coming = np.empty(bound.size, np.int32)
    n_front, i = 0, 0
    value = np.int64(0)
    while n_front > 0 or i < sources.size:
        if n_front == 0:
            value = np.int64(eccentricity[order[i]])
        while i < sources.size and eccentricity[order[i]] == value:
            s = sources[order[i]]
            i += 1
            if sign * bound[s] > sign * value:
                bound[s] = value
                front[n_front] = s
                n_front += 1
        value += sign
        n_coming = 0
        for j in range(n_front):
            u = np.uintp(front[j])
            for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + U1])):
                w = np.uintp(indices[arc])
                if sign * bound[w] > sign * value:
                    bound[w] = value
                    coming[n_coming] = w
                    n_coming += 1
        front, coming = coming, front
        n_front = n_coming
