"""Hops of each router from a few landmarks of its component: what keeps distances in a likeness.

The first landmark is a router farthest from any, each further one the farthest from those before
(Gonzalez: Clustering to minimize the maximum intercluster distance, 1985). Hops between any two
routers are at least the largest difference of their levels, and at most the smallest sum
(Ng, Zhang: Predicting Internet network distance with coordinates-based approaches, INFOCOM 2002).

The levels of a likeness hold if linked routers differ by 1 at most, and each router but the
landmarks has a neighbour that is nearer: the *cost* counts what is against it, by landmark.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernels.csr import Shard

N_LANDMARKS = 3


def levels_of(shard: Shard, of_node: np.ndarray, n_components: int) -> np.ndarray:
    """Hops of each node from the landmarks of its component.

    Parameters
    ----------
    shard : Shard
    of_node : (n_nodes,) int64
        Component of each node.
    n_components : int

    Returns
    -------
    (n_nodes, N_LANDMARKS) int32
        A component of few nodes may have the same landmark twice.
    """
    level = np.empty((shard.n_nodes, N_LANDMARKS), np.int32)
    _levels(shard.indptr, shard.indices, of_node, n_components, level)
    return level


def nearer_neighbors(indptr: np.ndarray, indices: np.ndarray, level: np.ndarray) -> np.ndarray:
    """(n_nodes, n_landmarks) int32 neighbours of a lower level, by landmark."""
    found = np.zeros(level.shape, np.int32)
    _nearer(indptr, indices, level, found)
    return found


def cost_of(indptr: np.ndarray, indices: np.ndarray, level: np.ndarray) -> int:
    """What is against levels: hops too many of links, nodes without a nearer neighbour."""
    nearer = nearer_neighbors(indptr, indices, level)
    return int(((nearer == 0) & (level > 0)).sum()) + _excess(indptr, indices, level) // 2


@njit(cache=True, nogil=True)
def _levels(indptr, indices, of_node, n_components, level):
    n = len(of_node)
    root = np.full(n_components, -1)
    for u in range(n - 1, -1, -1):
        root[of_node[u]] = u
    queue, hops = np.empty(n, np.int32), np.empty(n, np.int32)
    least = np.full(n, np.iinfo(np.int32).max, np.int32)
    for number in range(-1, level.shape[1]):
        _search(indptr, indices, root, hops, queue)
        if number >= 0:
            level[:, number] = hops
            for u in range(n):
                least[u] = min(least[u], hops[u])
        far = least if number >= 0 else hops
        root[:] = -1
        for u in range(n):
            i = of_node[u]
            if root[i] < 0 or far[u] > far[root[i]]:
                root[i] = u


@njit(cache=True, nogil=True)
def _search(indptr, indices, roots, hops, queue):
    hops[:] = -1
    stop = 0
    for root in roots:
        hops[root] = 0
        queue[stop] = root
        stop += 1
    at = 0
    while at < stop:
        u = queue[at]
        at += 1
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if hops[v] < 0:
                hops[v] = hops[u] + 1
                queue[stop] = v
                stop += 1


@njit(cache=True, nogil=True)
def _nearer(indptr, indices, level, found):
    for u in range(len(level)):
        for k in range(indptr[u], indptr[u + 1]):
            for i in range(level.shape[1]):
                found[u, i] += level[indices[k], i] < level[u, i]


@njit(cache=True, nogil=True)
def _excess(indptr, indices, level):
    total = np.int64(0)
    for u in range(len(level)):
        for k in range(indptr[u], indptr[u + 1]):
            total += link_cost(level, u, indices[k])
    return total


@njit(cache=True, nogil=True)
def link_cost(level, u, v):
    """Hops by which the levels of two nodes differ beyond one, over all landmarks."""
    cost = 0
    for i in range(level.shape[1]):
        cost += max(abs(level[u, i] - level[v, i]) - 1, 0)
    return cost


@njit(cache=True, nogil=True)
def lacks_nearer(level, nearer, u):
    """Landmarks to which no neighbour of a node is nearer."""
    cost = 0
    for i in range(level.shape[1]):
        cost += level[u, i] > 0 and nearer[u, i] == 0
    return cost


@njit(cache=True, nogil=True)
def swap_cost(level, nearer, a, x, w, y):
    """By how much the cost grows if links (a, x), (w, y) become (a, w), (x, y)."""
    cost = link_cost(level, a, w) + link_cost(level, x, y)
    cost -= link_cost(level, a, x) + link_cost(level, w, y)
    cost += _node_cost(level, nearer, a, x, w) + _node_cost(level, nearer, x, a, y)
    return cost + _node_cost(level, nearer, w, y, a) + _node_cost(level, nearer, y, w, x)


@njit(cache=True, nogil=True)
def _node_cost(level, nearer, u, old, new):
    cost = 0
    for i in range(level.shape[1]):
        if level[u, i] > 0:
            was = nearer[u, i]
            now = was - (level[old, i] < level[u, i]) + (level[new, i] < level[u, i])
            cost += (now == 0) - (was == 0)
    return cost


@njit(cache=True, nogil=True)
def swapped(level, nearer, a, x, w, y):
    """Count nearer neighbours again after links (a, x), (w, y) became (a, w), (x, y)."""
    _recount(level, nearer, a, x, w)
    _recount(level, nearer, x, a, y)
    _recount(level, nearer, w, y, a)
    _recount(level, nearer, y, w, x)


@njit(cache=True, nogil=True)
def _recount(level, nearer, u, old, new):
    for i in range(level.shape[1]):
        nearer[u, i] += (level[new, i] < level[u, i]) - (level[old, i] < level[u, i])
