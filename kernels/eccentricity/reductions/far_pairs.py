"""Pairs that may be farther apart than the longest distance found, by distance rows; one core.

See ``distance_rows``, which makes the searches: a row of ``levels`` each.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 128  # columns looked at together: their estimates stay in registers and the first cache


@njit(cache=True, nogil=True)
def count_by_level(level, upper, longest, count):
    """Nodes that may be an end of a longer path, by their level; zero on entry."""
    for v in range(level.size):
        count[level[v]] += upper[v] > longest


@njit(cache=True, nogil=True)
def pairs_beyond(count, deepest, longest):
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
def in_most(first, second, n_pairs, count):
    """The node that is in most pairs; ``count`` is zero before and after."""
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
def list_pairs(levels, order, centre, upper, longest, count, first, second, apart):
    """Pairs that no kept search keeps near; their number, -1: too little room for one more block.

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
    n_found = np.uintp(0)
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
            if n_found + np.uintp(size) > np.uintp(first.size):
                return np.int64(-1)
            for j in range(size):  # written at once, kept if far: no branch to predict
                first[n_found], second[n_found] = nodes[i], nodes[begin + j]
                apart[n_found] = near[j]
                n_found += np.uintp(near[j] > longest)
        i += 1
    return np.int64(n_found)


@njit(cache=True, nogil=True)
def keep_pairs(level, upper, longest, first, second, apart, n_pairs):
    """Drop pairs that one more search, or the bounds, keep near; returns how many are left."""
    kept = np.uintp(0)
    for i in range(np.uintp(n_pairs)):
        x, y = first[i], second[i]
        u, v = np.uintp(x), np.uintp(y)
        hops = min(apart[i], np.int32(level[u]) + np.int32(level[v]))
        first[kept], second[kept], apart[kept] = x, y, hops
        kept += np.uintp((hops > longest) & (upper[u] > longest) & (upper[v] > longest))
    return np.int64(kept)
