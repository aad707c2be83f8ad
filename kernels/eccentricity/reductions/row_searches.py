"""The compiled searches of ``distance_rows``: which node is next, and when to stop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32, named
from kernels.breadth_first.cpu_bytes import search_levels
from kernels.eccentricity.reductions.far_pairs import (
    BLOCK,
    count_by_level,
    in_most,
    keep_pairs,
    list_pairs,
    pairs_beyond,
)
from kernels.eccentricity.reductions.landmarks import ROOM
from kernels.eccentricity.searches.farthest import LANES, sweep_ends
from kernels.eccentricity.strategy import WORK_NS
from kernels.eccentricity.thresholds import CORE

LIST_ARC = 4  # pairs per arc that each search allows to be checked: a fourth of its time
TOO_MANY, ANEW = 4, 1.25  # fewer pairs to try after too many; ANEW: per search
SEARCH_NS_ARC, SEARCH_NS_NODE = 1.5, 5  # of level_search, on graphs in caches
# Of ends_sweep on short graphs; an arc costs 1 ns more for that many nodes: rows leave the caches.
SWEEP_ENDS_NS, SWEEP_ENDS_NS_ARC, SWEEP_ENDS_NODES = 3_000, 10, 40_000
# The least number of further searches, unless pairs or nodes are few.
EAGER, FEW_PAIRS, FEW_NODES = 10, 1 << 8, 1 << 9
WITH_PAIRS = 1.25  # times the searches: pairs take a fourth of their time, see LIST_ARC
LITTLE_CLOSED = 4  # a fourth of the nodes is left
N_TRIED, MANY_PAIRS = 5, 1 << 13  # of short graphs: when to give up
HANDING_OVER_NS = 1_500_000  # cost of the general solver before its first search
# All sweeps of a short graph that cost less are made without that solver: it would hardly gain as
# much as it costs (bench_flat_graphs.py).
SWEPT_NS, SWEPT_HOPS, SWEPT_SPREAD = 10_000_000, 16, 1.4
ANSWERED, LEFT, LEFT_TO_SWEEP, TOO_LONG, IN_PIECES = range(5)
# Thresholds of cores, as compiled code can read them.
ALLOWANCE, FEW, FEW_LANES, MANY_LANES = CORE.allowance, CORE.few, CORE.few_lanes, CORE.many_lanes
FEW_LANES_SEARCHES, MANY_LANES_SEARCHES = CORE.few_lanes_searches, CORE.many_lanes_searches
SWEEP_HOPS, SWEEP_GROWTH = CORE.sweep_hops, CORE.sweep_growth


class End(NamedTuple):
    """Why ``run`` ended, and its results."""

    outcome: np.int64  # ANSWERED, LEFT, LEFT_TO_SWEEP, TOO_LONG or IN_PIECES
    n_searches: np.int64
    best: np.int64  # which search found the longest path
    centre: np.int64  # and which keeps the most pairs near
    n_pairs: np.int64  # that are left; -1: not known
    n_ends: np.int64  # nodes from which sweeps were made
    first: np.ndarray  # (ROOM,) int32: the ends of the pairs, and their upper bounds
    second: np.ndarray
    apart: np.ndarray


_END = named(End, *[types.int64] * 6, *[OUT_I32] * 3)


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
def _central(indptr, indices, levels, n_kept, source, lower, upper, longest, is_done, near):
    """A node on a path from ``source``, the last one searched; -1: none is useful."""
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
def _every_ns(n_nodes, n_arcs, longest):
    """Cost of sweeping from every node of a short graph; as ``strategy.sweep_work``."""
    n_groups = (n_nodes + MANY_LANES - 1) // MANY_LANES
    return n_groups * (2 * n_nodes + 0.9 * (n_arcs + 2 * n_nodes) * longest) * WORK_NS


@njit(cache=True, nogil=True)
def _leaving_ns(n_nodes, n_arcs, longest, least, may_sweep):
    """Cost of giving up, and whether that is to sweep a small graph from every node, which ends it.

    Otherwise it is what the general solver costs before its first search.
    """
    every_ns = _every_ns(n_nodes, n_arcs, longest)
    is_short = longest <= SWEEP_HOPS
    is_short = is_short or (longest <= SWEPT_HOPS and longest <= SWEPT_SPREAD * least)
    if may_sweep and is_short and every_ns <= SWEPT_NS:
        return every_ns, True
    return np.float64(HANDING_OVER_NS), False


@njit(cache=True, nogil=True)
def _is_too_expensive(
    n_kept, n_left, n_pairs, longest, search_ns, n_nodes, n_arcs, leaving_ns, is_quick
):
    """Whether a sweep from all remaining nodes would have cost less than was spent.

    Or whether the cost so far, compared with a sweep from every node, is all that may be spent on
    little progress.
    """
    n_groups = (n_nodes + MANY_LANES - 1) // MANY_LANES
    n_groups_left = (n_left + MANY_LANES - 1) // MANY_LANES
    every_ns = _every_ns(n_nodes, n_arcs, longest)
    spent_ns = WITH_PAIRS * n_kept * search_ns
    if is_quick and n_left > FEW_LANES:
        return n_kept > 1 and spent_ns + search_ns > (ALLOWANCE - 1) * every_ns
    is_much = n_left > FEW_LANES and LITTLE_CLOSED * n_groups_left > n_groups
    if is_much and spent_ns > (ALLOWANCE - 1) * every_ns + leaving_ns:
        return True
    longer = max(1.0, (longest / SWEEP_HOPS) ** SWEEP_GROWTH)
    if longest <= SWEEP_HOPS and n_left > FEW:  # sweeps are cheap, and no node is on most paths
        is_many = n_left <= FEW_LANES and n_pairs > MANY_PAIRS
        if (is_many and n_kept >= N_TRIED) or (n_pairs < 0 and n_kept >= 2 * N_TRIED):
            return True
    sweep = FEW_LANES_SEARCHES
    if n_left > FEW_LANES:
        sweep = MANY_LANES_SEARCHES * ((n_left + MANY_LANES - 1) // MANY_LANES)
    return n_left > FEW and n_kept >= sweep * longer + leaving_ns / search_ns


@njit(cache=True, nogil=True)
def _sweep_ns(n_sources, n_nodes, n_arcs):
    """Cost of the sweeps for a number of sources."""
    n_sweeps = (n_sources + LANES - 1) // LANES
    return n_sweeps * (SWEEP_ENDS_NS + n_arcs * (SWEEP_ENDS_NS_ARC + n_nodes / SWEEP_ENDS_NODES))


@njit(cache=True, nogil=True)
def _deepest(indptr, indices, nodes):
    """The largest eccentricity of some nodes, and one that has it."""
    deepest, end = np.int64(-1), np.int64(-1)
    for begin in range(0, nodes.size, LANES):
        some = nodes[begin : begin + LANES]
        found, place = sweep_ends(indptr, indices, some)
        if found > deepest:
            deepest, end = found, np.int64(some[place])
    return deepest, end


@njit(cache=True, nogil=True)
def _outside(level, upper, longest, nodes):
    """Nodes outside the ball that may be an end of a longer path; how many."""
    n = 0
    for v in range(level.size):
        if upper[v] > longest and 2 * np.int64(level[v]) > longest:
            nodes[n] = v
            n += 1
    return n


@njit(
    [
        _END(I64, I32, kind[:, ::1], kind[::1], kind[::1], OUT_I32, OUT_I32)
        for kind in (types.uint8, types.uint16)
    ],
    cache=True,
    nogil=True,
)
def run(indptr, indices, levels, lower, upper, sources, ends):
    """Search until answered or too expensive.

    ``ends`` gets at most the number of nodes that it has room for.
    """
    n_nodes = lower.size
    none = np.int64(np.iinfo(levels.dtype).max)
    queue = np.empty(n_nodes + 1, np.int32)
    near = np.empty(n_nodes, levels.dtype)
    is_done = np.zeros(n_nodes, np.bool_)
    in_pairs = np.zeros(0, np.int32)
    first, second, apart = in_pairs, in_pairs, in_pairs  # room is made when it is needed
    eccentricity = np.empty(levels.shape[0], np.int64)
    best, n_ends = np.int64(0), np.int64(0)
    search_ns = SEARCH_NS_ARC * indices.size + SEARCH_NS_NODE * n_nodes
    source = np.int64(0)
    for v in range(n_nodes):
        degree = indptr[v + 1] - indptr[v]
        lower[v] = 0
        upper[v] = min(none - 1, n_nodes - max(1, degree))  # each hop has its own node
        if degree > indptr[source + 1] - indptr[source]:
            source = np.int64(v)
    longest, centre, n_kept, n_pairs = np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
    credit, most_pairs = 0.0, np.inf  # pairs that may be looked at
    is_far = False
    while True:
        level = levels[n_kept]
        found, n_reached = search_levels(indptr, indices, source, level, queue)
        if found < 0:
            outcome = TOO_LONG
            break
        if n_reached < n_nodes:
            outcome = IN_PIECES
            break
        eccentricity[n_kept] = found
        sources[n_kept] = source
        is_done[source] = True
        if found > longest or n_kept == 0:
            longest = found
            best = n_kept
        n_kept += 1
        _tighten(level, found, lower, upper)

        deepest = eccentricity[centre]
        count = np.zeros(deepest + 1, np.int64)
        count_by_level(levels[centre], upper, longest, count)
        pairs, outside = pairs_beyond(count, deepest, longest)
        if 4 * found <= 5 * deepest and n_kept > 1:
            its_count = np.zeros(found + 1, np.int64)
            count_by_level(level, upper, longest, its_count)
            its_pairs, its_outside = pairs_beyond(its_count, found, longest)
            if its_pairs < pairs:
                centre, pairs, outside, count = n_kept - 1, its_pairs, its_outside, its_count
        n_left = outside
        credit += np.float64(LIST_ARC) * indices.size
        most_pairs *= ANEW
        if n_pairs >= 0:
            n_pairs = keep_pairs(level, upper, longest, first, second, apart, n_pairs)
        elif 0 < outside and pairs <= min(credit, most_pairs) and (n_kept > 2 or outside <= FEW):
            if first.size == 0:
                room = min(ROOM, n_nodes * n_nodes)
                if longest <= SWEEP_HOPS:  # sweeps cost less than keeping a pair per arc
                    room = min(room, indices.size)
                room += BLOCK
                first = np.empty(room, np.int32)
                second, apart = np.empty(room, np.int32), np.empty(room, np.int32)
            order = np.argsort(eccentricity[:n_kept])
            n_pairs = list_pairs(levels, order, centre, upper, longest, count, first, second, apart)
            credit -= pairs
            if n_pairs < 0:
                most_pairs = pairs / TOO_MANY
            elif in_pairs.size == 0:
                in_pairs = np.zeros(n_nodes, np.int32)
        if n_pairs >= 0:
            n_left = min(n_left, n_pairs)
        if n_left == 0:
            outcome = ANSWERED
            break
        least = eccentricity[:n_kept].min()
        leaving_ns, is_quick = _leaving_ns(n_nodes, indices.size, longest, least, ends.size > 0)
        spent = (n_kept, n_left, n_pairs, longest, search_ns, n_nodes, indices.size)
        is_expensive = n_kept == levels.shape[0]
        is_expensive = is_expensive or _is_too_expensive(*spent, leaving_ns, is_quick)
        if 1 < n_kept < levels.shape[0] and n_left > FEW and longest <= SWEEP_HOPS:
            sweep_ns = _sweep_ns(outside, n_nodes, indices.size)
            goes_on = pairs > FEW_PAIRS and n_nodes > FEW_NODES
            saved_ns = max(EAGER, n_kept) * search_ns if goes_on else 0.0
            if is_quick:  # a sweep that costs no more than the searches so far is worth trying
                saved_ns = max(saved_ns, WITH_PAIRS * n_kept * search_ns)
            if is_expensive:
                saved_ns += leaving_ns
                if not is_quick:
                    n_sweeps = (outside + MANY_LANES - 1) // MANY_LANES
                    saved_ns += n_sweeps * MANY_LANES_SEARCHES * search_ns
            if sweep_ns <= saved_ns and outside <= ends.size:
                n_ends = np.int64(_outside(levels[centre], upper, longest, ends))
                farthest, end = _deepest(indptr, indices, ends[:n_ends])
                if farthest <= longest:
                    outcome = ANSWERED
                    break
                for v in ends[:n_ends]:
                    upper[v] = min(upper[v], levels.dtype.type(farthest))
                source = end  # whose search makes the path known, and leaves nothing outside
                continue
        if is_expensive:
            outcome = LEFT_TO_SWEEP if is_quick else LEFT
            break

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
            source = in_most(first, second, n_pairs, in_pairs)
        else:
            source = _farthest(levels[centre], lower, upper, indptr, longest)
    return End(np.int64(outcome), n_kept, best, centre, n_pairs, n_ends, first, second, apart)


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
