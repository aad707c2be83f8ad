"""The diameter of a graph in one piece by few searches, all levels of which are kept.

After searches from s_1 .. s_k let L be the longest distance found. Any node z bounds the distance
of every pair: d(x, y) <= d(x, z) + d(z, y) (Potamias et al.: Fast shortest path distance estimation
in large networks, CIKM 2009). So L is the diameter once, for every pair x, y, some s_i has
d(s_i, x) + d(s_i, y) <= L, or x or y has an eccentricity of at most L by the triangle inequality
(Takes, Kosters, CIKM 2011). Taking for s_i the one centre c alone is winnowing: see ``bounds``.

Searches alternate: from a *far* node x, of a pair that is left, which makes all distances of x
known; then from a *central* one, on a shortest path from x to the farthest node y that is left for
x. That d(x, y) <= L is known by now, but not why: any node z of the path has
d(x, z) + d(z, y) = d(x, y) <= L, and keeps neighbours of x and y near to one another too. Of the
path that node is taken whose eccentricity may be smallest. On hierarchies of ASes, road-like and
router graphs this takes 3 to 25 searches where choosing by bounds alone takes ten times as many.

Where it takes too long, what was found is handed over; the answer is exact either way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, types

from kernels.csr import CSRGraph
from kernels.eccentricity.level_search import CACHED_NODES, search_levels
from kernels.eccentricity.strategy import (
    FEW,
    FEW_LANES_SEARCHES,
    MANY_LANES_SEARCHES,
    SWEEP_GROWTH,
    SWEEP_HOPS,
)
from kernels.signatures import I32, I64, OUT_I32, OUT_I64
from kernels.types import NODE

N_KEPT = 64  # searches: a byte a node each
ROOM = 1 << 16  # pairs that are worth a list
LIST_ARC = 16  # pairs that may be looked at in the time that a search spends on an arc
BLOCK = 128  # columns looked at together: their estimates stay in registers and the first cache
SEARCH_NS_ARC, SEARCH_NS_NODE = 1.5, 5  # of level_search, on graphs in caches
N_TRIED, MANY_PAIRS = 5, 1 << 13  # of short graphs: when to give up
HANDING_OVER_NS = 500_000  # what the general way spends before its first search
ANSWERED, LEFT, TOO_LONG, IN_PIECES = range(4)
FEW_LANES, MANY_LANES = 64, 512


@dataclass(frozen=True, eq=False)
class Kept:
    """What was found.

    Attributes
    ----------
    is_answered : bool
        Whether the longest distance found is the diameter.
    sources : (n_searches,) int32
    centre : int
        Which of them keeps the most pairs near, by itself.
    lower, upper : (n_nodes,) uint8 or uint16
        Bounds of eccentricities, equal at the sources.
    level : (n_nodes,) uint8 or uint16
        From the centre.
    path : (longest + 1,) int32
        A shortest path of the longest distance found.
    pairs, apart : (2, n_pairs) int32, (n_pairs,) int32, or None
        What may be farther apart, and how far at most; None: not known.
    """

    is_answered: bool
    sources: np.ndarray
    centre: int
    lower: np.ndarray
    upper: np.ndarray
    level: np.ndarray
    path: np.ndarray
    pairs: np.ndarray | None
    apart: np.ndarray | None


def search_keeping(graph: CSRGraph) -> Kept | None:
    """Search until the diameter is known or other ways are likely to be faster.

    Returns
    -------
    Kept or None
        None for a graph in several pieces, with more than CACHED_NODES nodes or none, or too long
        for levels of two bytes.
    """
    n_nodes = graph.n_nodes
    if n_nodes == 0 or n_nodes > CACHED_NODES:
        return None
    first, second, apart = np.empty((3, min(ROOM, n_nodes * n_nodes)), np.int32)
    for kind in (np.uint8, np.uint16):
        levels = np.empty((N_KEPT, n_nodes), kind)
        lower, upper = np.empty((2, n_nodes), kind)
        sources, told = np.empty(N_KEPT, NODE), np.empty(4, np.int64)
        pairs = (first, second, apart)
        outcome = run(graph.indptr, graph.indices, levels, lower, upper, sources, *pairs, told)
        if outcome == IN_PIECES:
            return None
        if outcome != TOO_LONG:
            n_searches, best, centre, n = told.tolist()
            path = walk(graph.indptr, graph.indices, levels[best])
            found = (sources[:n_searches], centre, lower, upper, levels[centre], path)
            if n <= 0:  # answered, or not known
                return Kept(outcome == ANSWERED, *found, None, None)
            return Kept(outcome == ANSWERED, *found, np.stack([first[:n], second[:n]]), apart[:n])
    return None


@njit(cache=True, nogil=True)
def _tighten(level, eccentricity, lower, upper):
    e = level.dtype.type(eccentricity)
    for v in range(level.size):
        d = level[v]
        far, near = level.dtype.type(e + d), level.dtype.type(e - d)
        low = d if d > near else near
        lower[v] = low if low > lower[v] else lower[v]
        upper[v] = far if far < upper[v] else upper[v]


@njit(cache=True, nogil=True)
def _count_by_level(level, upper, longest, count):
    """Nodes that may be an end of a longer path, by their level; zero on entry."""
    for v in range(level.size):
        count[level[v]] += upper[v] > longest


@njit(cache=True, nogil=True)
def _pairs_beyond(count, deepest, longest):
    """Pairs of them whose levels add up to more than ``longest``; and how many lie outside."""
    below = np.zeros(deepest + 2, np.int64)
    for a in range(deepest + 1):
        below[a + 1] = below[a] + count[a]
    pairs, outside = 0.0, np.int64(0)
    for a in range(longest // 2 + 1, deepest + 1):
        outside += count[a]
        near = below[a] - below[max(0, longest - a + 1)]
        pairs += count[a] * (near + 0.5 * (count[a] - 1))
    return pairs, outside


@njit(cache=True, nogil=True)
def _farthest(level, lower, upper, indptr, longest):
    """The node outside the ball that may have the largest eccentricity; ties: lower, degree."""
    best, best_key = np.int64(-1), np.int64(-1)
    for v in range(level.size):
        if upper[v] > longest and 2 * np.int64(level[v]) > longest:
            degree = min(np.int64(indptr[v + 1] - indptr[v]), np.int64(2**22 - 1))
            key = (np.int64(upper[v]) << 40) + (np.int64(lower[v]) << 22) + 2**22 - 1 - degree
            if key > best_key:
                best, best_key = np.int64(v), key
    return best


@njit(cache=True, nogil=True)
def _in_most(first, second, n_pairs, count):
    """The node that stands in most pairs; ``count`` is zero before and after."""
    best = np.int64(first[0])
    for i in range(n_pairs):
        for v in (first[i], second[i]):
            count[v] += 1
            if count[v] > count[best]:
                best = np.int64(v)
    for i in range(n_pairs):
        count[first[i]] = 0
        count[second[i]] = 0
    return best


@njit(cache=True, nogil=True)
def _central(indptr, indices, levels, n_kept, source, lower, upper, longest, is_done, near):
    """A node on a path from ``source``, the last that was searched; -1: none is of use."""
    near[:] = near.dtype.type(np.iinfo(near.dtype).max)
    for k in range(n_kept - 1):
        level = levels[k]
        own = level[source]
        for v in range(near.size):
            sum_ = near.dtype.type(own + level[v])
            near[v] = sum_ if sum_ < near[v] else near[v]
    level = levels[n_kept - 1]
    far = np.int64(-1)
    for v in range(near.size):
        if near[v] > longest and upper[v] > longest and (far < 0 or level[v] > level[far]):
            far = np.int64(v)
    best, best_degree = np.int64(-1), np.int64(0)
    at = far
    while at >= 0 and level[at] > 0:
        next_node, most = np.int64(-1), np.int64(-1)
        for arc in range(indptr[at], indptr[at + 1]):
            w = np.int64(indices[arc])
            degree = indptr[w + 1] - indptr[w]
            if level[w] + 1 == level[at] and degree > most:
                next_node, most = w, degree
        at = next_node
        if is_done[at]:
            continue
        is_better = best < 0 or lower[at] < lower[best]
        if is_better or (lower[at] == lower[best] and most > best_degree):
            best, best_degree = at, most
    return best


@njit(cache=True, nogil=True)
def _list_pairs(levels, order, centre, upper, longest, count, first, second, apart):
    """Pairs that no kept search keeps near; their number, -1: more than there is room.

    ``order``: kept searches, central ones first; ``count``: nodes in question by centre's level.
    """
    level = levels[centre]
    place = np.empty(count.size + 1, np.int64)  # of the first node on a level; high levels first
    place[count.size] = 0
    for a in range(count.size - 1, -1, -1):
        place[a] = place[a + 1] + count[a]
    n_open = place[0]
    start = place.copy()
    nodes = np.empty(n_open, np.int32)
    for v in range(level.size):
        if upper[v] > longest:
            above = np.int64(level[v]) + 1
            nodes[start[above]] = v
            start[above] += 1
    rows = np.empty((order.size, n_open), levels.dtype)
    for k in range(order.size):
        own = levels[order[k]]
        for i in range(n_open):
            rows[k, i] = own[np.uintp(nodes[i])]
    near = np.empty(BLOCK, levels.dtype)
    n_found = 0
    i = 0
    while i < n_open and 2 * np.int64(level[nodes[i]]) > longest:
        end = place[max(0, longest - np.int64(level[nodes[i]]) + 1)]
        for begin in range(i + 1, end, BLOCK):
            size = min(BLOCK, end - begin)
            near[:] = near.dtype.type(np.iinfo(near.dtype).max)
            is_left = True
            for k in range(order.size):
                own = rows[k, i]
                row = rows[k, begin : begin + size]
                farthest = near.dtype.type(0)
                for j in range(size):
                    sum_ = near.dtype.type(own + row[j])
                    sum_ = sum_ if sum_ < near[j] else near[j]
                    near[j] = sum_
                    farthest = sum_ if sum_ > farthest else farthest
                if farthest <= longest:
                    is_left = False
                    break
            if not is_left:
                continue
            for j in range(size):
                if near[j] > longest:
                    if n_found == first.size:
                        return np.int64(-1)
                    first[n_found], second[n_found] = nodes[i], nodes[begin + j]
                    apart[n_found] = near[j]
                    n_found += 1
        i += 1
    return np.int64(n_found)


@njit(cache=True, nogil=True)
def _keep_pairs(level, upper, longest, first, second, apart, n_pairs):
    """Drop pairs that one more search keeps near, or the bounds; how many are left."""
    kept = 0
    for i in range(n_pairs):
        x, y = first[i], second[i]
        hops = min(apart[i], np.int32(level[x]) + np.int32(level[y]))
        if hops > longest and upper[x] > longest and upper[y] > longest:
            first[kept], second[kept], apart[kept] = x, y, hops
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _is_dear(n_kept, n_left, n_pairs, longest, search_ns):
    """Whether a sweep from all nodes that are left would have cost less than was spent."""
    longer = max(1.0, (longest / SWEEP_HOPS) ** SWEEP_GROWTH)
    if longest <= SWEEP_HOPS and n_left > FEW:  # sweeps are cheap, and no node is on most paths
        is_many = n_left <= FEW_LANES and n_pairs > MANY_PAIRS
        if (is_many and n_kept >= N_TRIED) or (n_pairs < 0 and n_kept >= 2 * N_TRIED):
            return True
    sweep = FEW_LANES_SEARCHES
    if n_left > FEW_LANES:
        sweep = MANY_LANES_SEARCHES * ((n_left + MANY_LANES - 1) // MANY_LANES)
    return n_left > FEW and n_kept >= sweep * longer + HANDING_OVER_NS / search_ns


@njit(
    [
        types.int64(I64, I32, kind[:, ::1], kind[::1], kind[::1], *[OUT_I32] * 4, OUT_I64)
        for kind in (types.uint8, types.uint16)
    ],
    cache=True,
    nogil=True,
)
def run(indptr, indices, levels, lower, upper, sources, first, second, apart, told):
    """Search until answered or dear; the outcome.

    ``told``: the number of searches, which found the longest path, which is the centre, and the
    number of pairs that are left, -1: not known.
    """
    n_nodes = lower.size
    none = np.int64(np.iinfo(levels.dtype).max)
    queue = np.empty(n_nodes + 1, np.int32)
    near = np.empty(n_nodes, levels.dtype)
    is_done = np.zeros(n_nodes, np.bool_)
    in_pairs = np.zeros(0, np.int32)
    eccentricity = np.empty(levels.shape[0], np.int64)
    search_ns = SEARCH_NS_ARC * indices.size + SEARCH_NS_NODE * n_nodes
    source = np.int64(0)
    for v in range(n_nodes):
        degree = indptr[v + 1] - indptr[v]
        lower[v] = 0
        upper[v] = min(none - 1, n_nodes - max(1, degree))  # each hop has a node of its own
        if degree > indptr[source + 1] - indptr[source]:
            source = np.int64(v)
    longest, centre, n_kept, n_pairs = np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
    may_list = np.float64(LIST_ARC) * indices.size
    is_far = False
    while True:
        level = levels[n_kept]
        found = search_levels(indptr, indices, source, level, queue)
        if found < 0:
            return np.int64(TOO_LONG)
        if queue[n_nodes] < n_nodes:
            return np.int64(IN_PIECES)
        eccentricity[n_kept] = found
        sources[n_kept] = source
        is_done[source] = True
        if found > longest or n_kept == 0:
            longest = found
            told[1] = n_kept
        n_kept += 1
        told[0] = n_kept
        _tighten(level, found, lower, upper)

        deepest = eccentricity[centre]
        count = np.zeros(deepest + 1, np.int64)
        _count_by_level(levels[centre], upper, longest, count)
        pairs, outside = _pairs_beyond(count, deepest, longest)
        if 4 * found <= 5 * deepest and n_kept > 1:
            its_count = np.zeros(found + 1, np.int64)
            _count_by_level(level, upper, longest, its_count)
            its_pairs, its_outside = _pairs_beyond(its_count, found, longest)
            if its_pairs < pairs:
                centre, pairs, outside, count = n_kept - 1, its_pairs, its_outside, its_count
        n_left = outside
        if n_pairs >= 0:
            n_pairs = _keep_pairs(level, upper, longest, first, second, apart, n_pairs)
        elif 0 < outside and pairs <= may_list and (n_kept > 2 or outside <= FEW):
            order = np.argsort(eccentricity[:n_kept])
            n_pairs = _list_pairs(
                levels, order, centre, upper, longest, count, first, second, apart
            )
            if n_pairs < 0:
                may_list = pairs / 4
            elif in_pairs.size == 0:
                in_pairs = np.zeros(n_nodes, np.int32)
        if n_pairs >= 0:
            n_left = min(n_left, n_pairs)
        told[2], told[3] = centre, n_pairs
        if n_left == 0:
            return np.int64(ANSWERED)
        if n_kept == levels.shape[0] or _is_dear(n_kept, n_left, n_pairs, longest, search_ns):
            return np.int64(LEFT)

        last = source
        if is_far:
            is_far = False
            source = _central(
                indptr, indices, levels, n_kept, last, lower, upper, longest, is_done, near
            )
            if source >= 0:
                continue
        is_far = True
        if n_pairs > 0:
            source = _in_most(first, second, n_pairs, in_pairs)
        else:
            source = _farthest(levels[centre], lower, upper, indptr, longest)


@njit(
    [types.Array(types.int32, 1, "C")(I64, I32, kind[::1]) for kind in (types.uint8, types.uint16)],
    cache=True,
    nogil=True,
)
def walk(indptr, indices, level):
    """A shortest path from the source of ``level`` to a node of the last level."""
    far = np.argmax(level)
    path = np.empty(np.int64(level[far]) + 1, np.int32)
    v = np.int64(far)
    for i in range(path.size - 1, -1, -1):
        path[i] = v
        for arc in range(indptr[v], indptr[v + 1]):
            if np.int64(level[indices[arc]]) == i - 1:
                v = np.int64(indices[arc])
                break
    return path
