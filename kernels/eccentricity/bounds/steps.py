"""Compiled passes over the bounds of all nodes; see ``bounds``.

``component`` numbers components 0, 1, ...; ``most`` and ``least`` hold, for each of them, the
largest lower and the smallest upper bound of its nodes.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_U8, U8, U16
from kernels.eccentricity.questions import CENTER, DIAMETER, PERIPHERY, RADIUS

FREE, SEARCHED, IN_FLIGHT = range(3)  # states of nodes; see ``take``
HOPS, LINKS = np.int64(2**20 - 1), np.int64(2**22 - 1)  # largest values that keys distinguish


@njit([types.void(I32, I32, I32, OUT_I32, OUT_I32)], cache=True, nogil=True)
def start(component, size, degree, lower, upper):
    """Bounds before any search: neighbours are 1 hop away, each further hop reaches a new node."""
    for v in range(component.size):
        n = size[component[v]]
        if n == 1:
            lower[v], upper[v] = 0, 0
        elif degree[v] == n - 1:
            lower[v], upper[v] = 1, 1
        else:
            lower[v], upper[v] = 2, n - degree[v]


@njit([types.void(I32, I32, I32, OUT_I32, OUT_I32)], cache=True, nogil=True)
def extremes(component, lower, upper, most, least):
    """Fill ``most`` and ``least``."""
    most[:] = 0
    least[:] = np.iinfo(np.int32).max
    for v in range(component.size):
        c = component[v]
        most[c] = max(most[c], lower[v])
        least[c] = min(least[c], upper[v])


@njit(
    [
        types.int64(given, given, types.int64, I32, OUT_I32, OUT_I32, OUT_I32, OUT_I32)
        for given in (U8, U16, I32)
    ],
    cache=True,
    nogil=True,
)
def merge(new_lower, new_upper, none, component, lower, upper, most, least):
    """Keep the tighter bound of each node; returns a node whose bounds cross, or -1.

    ``none``: the value in ``new_upper`` that means no bound.
    """
    crossed = np.int64(-1)
    if most.size == 1:  # no index to follow: vector instructions
        highest, lowest = most[0], least[0]
        n_crossed = np.int64(0)
        for v in range(lower.size):
            a = max(lower[v], np.int32(new_lower[v]))
            b = np.int32(new_upper[v])
            b = upper[v] if b == none else min(upper[v], b)
            lower[v], upper[v] = a, b
            highest, lowest = max(highest, a), min(lowest, b)
            n_crossed += a > b
        most[0], least[0] = highest, lowest
        if n_crossed > 0:
            for v in range(lower.size):
                if lower[v] > upper[v]:
                    return np.int64(v)
        return crossed
    for v in range(lower.size):
        a = max(lower[v], np.int32(new_lower[v]))
        b = np.int32(new_upper[v])
        b = upper[v] if b == none else min(upper[v], b)
        lower[v], upper[v] = a, b
        c = component[v]
        most[c] = max(most[c], a)
        least[c] = min(least[c], b)
        if a > b:
            crossed = np.int64(v)
    return crossed


@njit(cache=True, nogil=True)
def matters(question, lower, upper, most, least):
    """Whether a node with these bounds may change the answer; hops, or weights."""
    if question == DIAMETER:
        return upper > most
    if question == RADIUS:
        return lower < least
    if question == CENTER:
        return lower <= least and lower < upper
    if question == PERIPHERY:
        return upper >= most and lower < upper
    return lower < upper


@njit(
    [types.int64(types.int64, OUT_I32, types.int64, I32, I32, I32, I32, I32)],
    cache=True,
    nogil=True,
)
def keep_open(question, nodes, n_nodes, component, lower, upper, most, least):
    """Move the nodes that still matter to the front of nodes[:n_nodes]; returns their number."""
    kept = 0
    for i in range(n_nodes):
        v = nodes[i]
        c = component[v]
        if matters(question, lower[v], upper[v], most[c], least[c]):
            nodes[kept] = v
            kept += 1
    return kept


@njit([types.void(I32, I32, OUT_I32)], cache=True, nogil=True)
def mark(nodes, component, is_marked):
    """Mark the components of some nodes."""
    is_marked[:] = 0
    for v in nodes:
        is_marked[component[v]] = 1


@njit([types.int64(I32, I32, I32, I32, OUT_I32)], cache=True, nogil=True)
def outside(nodes, component, level, most, found):
    """Those of ``nodes`` that lie outside the ball around their component's centre."""
    n_found = 0
    for v in nodes:
        if 2 * np.int64(level[v]) > most[component[v]]:
            found[n_found] = v
            n_found += 1
    return n_found


@njit([types.void(I32, I32, I32, I32, OUT_I32)], cache=True, nogil=True)
def count_outside(nodes, component, level, most, count):
    """The same, counted by component."""
    count[:] = 0
    for v in nodes:
        c = component[v]
        count[c] += 2 * np.int64(level[v]) > most[c]


@njit(cache=True, nogil=True)
def _key(by_upper, lower, upper, degree):
    """Priority of a node, larger first; numbers too large for their bits count as equal.

    By upper bounds: the highest one, then the highest lower bound, then the smallest degree: such
    nodes lie far out. By lower bounds: the lowest one, then the largest degree.
    """
    links = min(np.int64(degree), LINKS)
    low = min(np.int64(lower), HOPS)
    if by_upper:
        return (min(np.int64(upper), HOPS) * (HOPS + 1) + low) * (LINKS + 1) + LINKS - links
    return (HOPS - low) * (LINKS + 1) + links


_NODES = (types.boolean, I32, OUT_U8, I32, I32, I32, I32, I32)


@njit([types.void(*_NODES, types.int64[::1], OUT_I32)], cache=True, nogil=True)
def best_of_each(by_upper, nodes, state, component, lower, upper, degree, is_open, key, best):
    """For each open component the free node of ``nodes`` to be searched first, or -1."""
    best[:] = -1
    key[:] = -1
    for v in nodes:
        c = component[v]
        own = _key(by_upper, lower[v], upper[v], degree[v])
        if own <= key[c] or state[v] != FREE or is_open[c] == 0:
            continue
        if by_upper or lower[v] < upper[v]:
            key[c], best[c] = own, v


@njit([types.int64(*_NODES, OUT_I32)], cache=True, nogil=True)
def best_of_all(by_upper, nodes, state, component, lower, upper, degree, is_open, best):
    """The free nodes of open components to be searched first, in that order; their number."""
    n_best = best.size
    found, keys = np.empty(2 * n_best, np.int32), np.empty(2 * n_best, np.int64)
    n_found, least = 0, np.int64(-1)
    for v in nodes:
        own = _key(by_upper, lower[v], upper[v], degree[v])
        if own <= least or state[v] != FREE or is_open[component[v]] == 0:
            continue
        if not by_upper and lower[v] == upper[v]:
            continue
        found[n_found], keys[n_found] = v, own
        n_found += 1
        if n_found == found.size:
            order = np.argsort(-keys)
            found[:n_best], keys[:n_best] = found[order[:n_best]], keys[order[:n_best]]
            n_found, least = n_best, keys[n_best - 1]
    order = np.argsort(-keys[:n_found])
    n_found = min(n_found, n_best)
    best[:n_found] = found[order[:n_found]]
    return np.int64(n_found)


@njit([types.int64(I32, I32, types.int64[::1], OUT_I32)], cache=True, nogil=True)
def cover(first, second, count, chosen):
    """A greedy cover of all pairs by nodes, as far as there is room.

    ``first``, ``second``: the pairs, of nodes 0 .. count.size - 1; ``count`` is zero on entry.
    """
    is_left = np.ones(first.size, np.bool_)
    for i in range(first.size):
        count[first[i]] += 1
        count[second[i]] += 1
    n_chosen = 0
    while n_chosen < chosen.size:
        best = np.argmax(count)
        if count[best] == 0:
            break
        chosen[n_chosen] = best
        n_chosen += 1
        for i in range(first.size):
            if is_left[i] and (first[i] == best or second[i] == best):
                is_left[i] = False
                count[first[i]] -= 1
                count[second[i]] -= 1
    return n_chosen


@njit([types.void(I64, I32, I32, I32, I64, I64, OUT_I32)], cache=True, nogil=True)
def trace_back(indptr, indices, level, ends, start, stop, path):
    """Paths to ``ends``, along which levels fall by one; path[start[i]:stop[i]] is the i-th."""
    for i in range(ends.size):
        v = np.int64(ends[i])
        for at in range(stop[i] - 1, start[i], -1):
            path[at] = v
            arc = indptr[v]
            while level[indices[arc]] != level[v] - 1:
                arc += 1
            v = np.int64(indices[arc])
        path[start[i]] = v
