"""Compiled passes over the bounds of all nodes; see ``bounds``.

``component`` numbers components 0, 1, ...; ``most`` and ``least`` hold, for each of them, the
largest lower and the smallest upper bound of its nodes.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels.signatures import I32, OUT_I32, OUT_U8

DIAMETER, RADIUS, CENTER, PERIPHERY, ECCENTRICITIES = range(5)
FREE, SEARCHED, OUTER, CENTRAL = range(4)  # the last two are in flight; see ``take``
U8 = types.Array(types.uint8, 1, "C", readonly=True)
U16 = types.Array(types.uint16, 1, "C", readonly=True)


@njit([types.void(I32, I32, I32, OUT_I32, OUT_I32)], cache=True, nogil=True)
def start(component, size, degree, lower, upper):
    """Bounds before any search: a node reaches its neighbours in 1 hop and gains one more a hop."""
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

    ``none``: what stands in ``new_upper`` where there is no bound.
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
def _matters(question, lower, upper, most, least):
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
        if _matters(question, lower[v], upper[v], most[c], least[c]):
            nodes[kept] = v
            kept += 1
    return kept


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


@njit([types.void(I32, OUT_U8, I32, I32, I32, I32, I32, OUT_I32)], cache=True, nogil=True)
def highest(nodes, state, component, lower, upper, degree, is_open, best):
    """For each open component the free node of ``nodes`` with the highest upper bound, or -1.

    Ties: the highest lower bound, then the smallest degree: such nodes lie far out.
    """
    best[:] = -1
    for v in nodes:
        c = component[v]
        if state[v] != FREE or is_open[c] == 0:
            continue
        b = best[c]
        if (
            b < 0
            or upper[v] > upper[b]
            or (
                upper[v] == upper[b]
                and (lower[v] > lower[b] or (lower[v] == lower[b] and degree[v] < degree[b]))
            )
        ):
            best[c] = v


@njit([types.void(I32, OUT_U8, I32, I32, I32, I32, I32, OUT_I32)], cache=True, nogil=True)
def lowest(nodes, state, component, lower, upper, degree, is_open, best):
    """The same with the lowest lower bound; ties: the largest degree."""
    best[:] = -1
    for v in nodes:
        c = component[v]
        if state[v] != FREE or is_open[c] == 0 or lower[v] == upper[v]:
            continue
        b = best[c]
        if b < 0 or lower[v] < lower[b] or (lower[v] == lower[b] and degree[v] > degree[b]):
            best[c] = v


@njit([types.int64(I32, I32, types.int64[::1], OUT_I32)], cache=True, nogil=True)
def cover(first, second, count, chosen):
    """Nodes that together stand in all pairs, greedily; as many as there is room for.

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
