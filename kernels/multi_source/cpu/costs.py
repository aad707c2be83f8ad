"""Estimated costs of sweeps and single searches on cores; whether to continue a sweep."""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64
from kernels.multi_source.cpu.sizes import LANES

# Costs on one core, ns (bench_cpu_sweeps.py): they decide between directions, and between sweeps
# and searches.
BOTTOM_UP_ARC, BOTTOM_UP_NODE = 4, 4
TOP_DOWN_ARC, TOP_DOWN_NODE = 8, 15
SEARCH_ARC, SEARCH_NODE = 1.5, 6
TRIAL = 24  # part of the time of single searches that a sweep may spend before the first check
MOST_ASKED = 4  # checks, each after it has spent a third more
# Around each of PROBES sources fewer than BALL nodes lie within FAR hops: then a sweep from up to
# FEW_SOURCES is not even begun, which would cost as much as two or three of the searches.
PROBES, BALL, FAR, FEW_SOURCES = 3, 2000, 64, 32


@njit([types.boolean(I64, I32, types.int64, types.int64, I32)], cache=True, nogil=True)
def is_stretched(indptr, indices, base, n_nodes, sources):
    """Whether the surroundings of a few of the sources are long and thin, as on rings and paths."""
    if sources.size > FEW_SOURCES:
        return False
    queue = np.empty(min(BALL, n_nodes) + 1, np.int32)
    for i in range(PROBES):
        source = sources[i * (sources.size - 1) // (PROBES - 1)]
        is_seen = np.zeros(n_nodes, np.bool_)
        is_seen[source] = True
        queue[0] = source
        begin, end, depth = 0, 1, 0
        while begin < end and depth < FAR:
            level_end = end
            for at in range(begin, level_end):
                u = base + np.int64(queue[at])
                for arc in range(indptr[u], indptr[u + 1]):
                    v = indices[arc]
                    if not is_seen[v]:
                        if end >= BALL:
                            return False
                        is_seen[v] = True
                        queue[end] = v
                        end += 1
            begin = level_end
            depth += 1
        if depth < FAR:
            return False
    return True


@njit(cache=True, nogil=True)
def search_ns(n_arcs, n_nodes):
    """Estimated time of one single search, ns."""
    return n_arcs * SEARCH_ARC + n_nodes * SEARCH_NODE


@njit(cache=True, nogil=True)
def n_sharing(state, n_chunks):
    """Threads that share a bottom-up step."""
    return max(1, state.may_leave) if n_chunks > 1 else np.int64(1)


@njit(cache=True, nogil=True)
def found_on(by_level, depth):
    """Lanes found on a level, over all nodes."""
    n_found = np.int64(0)
    for lane in range(LANES):
        n_found += by_level[depth * LANES + lane]
    return n_found


@njit(cache=True, nogil=True)
def _is_long(state, n_arcs, by_level, n_chunks):
    """Whether single searches would end sooner than the rest of this sweep.

    Asked a few times while the sweep has spent little of what they cost. How many lanes-at-nodes
    the next levels will find is predicted from the last quarters of those known: if the logarithm
    of a level's finds grew more from t/2 to t than from t/4 to t/2, they grow by a factor per
    level, as on short graphs; else by a power of the level, as on grids. A level costs what the
    cheaper step does.
    """
    depth, n_nodes, n_threads = state.depth, state.n_nodes, state.may_leave
    n_alive = np.int64(0)
    for lane in range(LANES):
        n_alive += by_level[depth * LANES + lane] > 0
    searches = n_alive / state.n_set * state.n_lanes * search_ns(n_arcs, n_nodes) / n_threads
    now, half, quarter = depth, depth // 2, depth // 4
    g_now = np.float64(found_on(by_level, depth))
    g_half = np.float64(found_on(by_level, half))
    g_quarter = np.float64(found_on(by_level, quarter))
    late, early = np.log(g_now / g_half), np.log(g_half / g_quarter)
    is_exponential = late > 1.4 * early and late > 0.3
    factor = np.exp(late / (now - half))
    power = max(0.0, late) / np.log(2.0)
    degree = n_arcs / n_nodes
    down = (degree * TOP_DOWN_ARC + TOP_DOWN_NODE) * state.n_frontier / g_now
    up = n_nodes * (degree * BOTTOM_UP_ARC + BOTTOM_UP_NODE) / n_sharing(state, n_chunks)
    covered, cost, level = np.float64(state.covered), 0.0, np.float64(depth)
    while covered < n_alive * np.float64(n_nodes) and cost <= searches:
        level += 1
        g_now *= factor if is_exponential else 1 + power / level
        covered += g_now
        cost += min(g_now * down, up)
    return cost > searches


@njit(cache=True, nogil=True)
def ask(state, n_arcs, by_level, n_chunks):
    """``_is_long`` if it is time to ask; a short graph has ended before its 8th level."""
    if state.may_leave == 0 or state.spent < state.ask_at or state.depth < 8:
        return False
    if state.n_asked == MOST_ASKED:
        return False
    state.n_asked += 1
    state.ask_at = state.spent + state.spent // 3
    return _is_long(state, n_arcs, by_level, n_chunks)


def rest_ns(
    state: np.void, n_arcs: int, by_level: np.ndarray, n_threads: int, hop_counts: np.ndarray
) -> float:
    """Rest of a sweep, ns, if every lane finds what a search of one source found.

    ``n_threads``: that share a bottom-up step. ``hop_counts``: (n_levels,) int64, nodes by level
    of that search.
    """
    depth, n_nodes = int(state["depth"]), int(state["n_nodes"])
    found = by_level[depth * LANES : (depth + 1) * LANES]
    # A node that several lanes find on a level is listed once.
    by_lanes = np.count_nonzero(found) * hop_counts[depth + 1 :].astype(np.float64)
    sharing = int(state["n_frontier"]) / max(1, int(found.sum()))
    listed = np.minimum(by_lanes * sharing, n_nodes * -np.expm1(-by_lanes / n_nodes))
    degree = n_arcs / n_nodes
    up = n_nodes * (degree * BOTTOM_UP_ARC + BOTTOM_UP_NODE) / n_threads
    down = listed * (degree * TOP_DOWN_ARC + TOP_DOWN_NODE)
    return float(np.minimum(down, up).sum())
