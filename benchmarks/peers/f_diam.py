"""A diameter after F-Diam, our own sequential one: winnow, chains, eliminate.

Bradley, Liu, Bryant, Burtscher and others: Fast exact diameter computation of sparse graphs
(ICPP 2025). A double sweep from the node of largest degree gives a bound. Winnow: of two nodes
farther apart than the bound one lies outside the ball of half the bound around that node, so those
within are not searched. Chains: of all nodes no farther from where a chain of degree 2 begins than
its tip is, none has a larger eccentricity than the tip. Eliminate: nodes within bound minus
eccentricity of a searched node are not candidates. Balls grow whenever the bound does.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit

from kernels import CSRGraph

_FAR = np.int32(2**31 - 1)


class FDiam:
    threads = 1

    def __init__(self, graph: CSRGraph):
        self.graph = graph
        self.n_searches = 0

    @staticmethod
    def check() -> None:
        pass

    def diameter(self) -> int:
        """Of a connected graph."""
        bound, self.n_searches = f_diam(self.graph.indptr, self.graph.indices)
        return int(bound)


class BruteForce:
    """One search per node, by a queue; of large graphs until ``budget_s`` is spent."""

    threads = 1
    budget_s = 3.0

    def __init__(self, graph: CSRGraph):
        self.graph = graph
        self.n_timed = graph.n_nodes
        search_s = self._measure()
        if search_s * graph.n_nodes > self.budget_s:
            self.n_timed = max(1, int(self.budget_s / search_s))

    def _measure(self) -> float:
        """Seconds of one search."""
        eccentricities_of(self.graph.indptr, self.graph.indices, np.zeros(1, np.int64))
        started = time.perf_counter()
        eccentricities_of(self.graph.indptr, self.graph.indices, np.zeros(1, np.int64))
        return time.perf_counter() - started

    @staticmethod
    def check() -> None:
        pass

    def diameter(self) -> int:
        """The largest found; the diameter where all nodes were searched (``n_timed``)."""
        sources = np.linspace(0, self.graph.n_nodes - 1, self.n_timed).astype(np.int64)
        return int(eccentricities_of(self.graph.indptr, self.graph.indices, sources).max())

    eccentricities = diameter


@njit(cache=True, nogil=True)
def eccentricities_of(indptr, indices, sources):
    """Eccentricity of each source."""
    n_nodes = len(indptr) - 1
    level = np.full(n_nodes, -1, np.int32)
    queue = np.empty(n_nodes, np.int32)
    found = np.empty(len(sources), np.int32)
    for i in range(len(sources)):
        n = _search(indptr, indices, sources[i], _FAR, level, queue)
        found[i] = level[queue[n - 1]]
        _forget(level, queue, n)
    return found


@njit(cache=True, nogil=True)
def _search(indptr, indices, source, most, level, queue):
    """Levels up to ``most``; how many nodes they have. ``level`` comes in with -1 only."""
    queue[0], level[source], head, tail = source, 0, 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        if level[u] == most:
            continue
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if level[v] < 0:
                level[v] = level[u] + 1
                queue[tail] = v
                tail += 1
    return tail


@njit(cache=True, nogil=True)
def _forget(level, queue, n):
    for i in range(n):
        level[queue[i]] = -1


@njit(cache=True, nogil=True)
def _winnow(indptr, indices, hub, bound, is_tip, is_out, level, queue):
    """Leave out the ball of half the bound around the hub, except tips that stand for others."""
    n = _search(indptr, indices, hub, bound // 2, level, queue)
    for i in range(n):
        if not is_tip[queue[i]]:
            is_out[queue[i]] = True
    _forget(level, queue, n)


@njit(cache=True, nogil=True)
def _chains(indptr, indices, is_tip, is_out, level, queue):
    """Leave out what the tips of chains stand for."""
    for tip in range(len(indptr) - 1):
        if is_out[tip] or indptr[tip + 1] - indptr[tip] != 1:
            continue
        before, here, length = tip, indices[indptr[tip]], 1
        while indptr[here + 1] - indptr[here] == 2:
            first = indices[indptr[here]]
            after = indices[indptr[here] + 1] if first == before else first
            before, here, length = here, after, length + 1
        n = _search(indptr, indices, here, length, level, queue)
        for i in range(n):
            is_out[queue[i]] = True
        is_out[tip] = False
        is_tip[tip] = True
        _forget(level, queue, n)


@njit(cache=True, nogil=True)
def _grow(indptr, indices, upper, old, new, queue):
    """Upper bounds of ``old`` and more spread to neighbours, up to ``new``."""
    tail = 0
    for u in range(len(upper)):
        if upper[u] == old:
            queue[tail] = u
            tail += 1
    head = 0
    while head < tail:
        u = queue[head]
        head += 1
        if upper[u] == new:
            continue
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if upper[v] == _FAR:
                upper[v] = upper[u] + 1
                queue[tail] = v
                tail += 1


@njit(cache=True, nogil=True)
def f_diam(indptr, indices):
    """(diameter, searches) of a connected graph."""
    n_nodes = len(indptr) - 1
    level = np.full(n_nodes, -1, np.int32)
    queue = np.empty(n_nodes, np.int32)
    is_out = np.zeros(n_nodes, np.bool_)
    is_tip = np.zeros(n_nodes, np.bool_)
    upper = np.full(n_nodes, _FAR, np.int32)  # of eccentricities, where known and within bounds
    hub = 0
    for u in range(n_nodes):
        if indptr[u + 1] - indptr[u] > indptr[hub + 1] - indptr[hub]:
            hub = u
    n = _search(indptr, indices, hub, _FAR, level, queue)
    far = queue[n - 1]
    bound = level[far]
    _forget(level, queue, n)
    n = _search(indptr, indices, far, _FAR, level, queue)
    bound = max(bound, level[queue[n - 1]])
    _forget(level, queue, n)
    upper[far] = bound
    _winnow(indptr, indices, hub, bound, is_tip, is_out, level, queue)
    _chains(indptr, indices, is_tip, is_out, level, queue)
    n_searches = 2
    for source in range(n_nodes):
        if is_out[source] or upper[source] <= bound:
            continue
        n = _search(indptr, indices, source, _FAR, level, queue)
        n_searches += 1
        found = level[queue[n - 1]]
        upper[source] = found
        if found > bound:
            _forget(level, queue, n)
            _grow(indptr, indices, upper, bound, found, queue)
            bound = found
            _winnow(indptr, indices, hub, bound, is_tip, is_out, level, queue)
        else:
            for i in range(n):
                v = queue[i]
                if found + level[v] > bound:
                    break
                upper[v] = min(upper[v], found + level[v])
            _forget(level, queue, n)
    return bound, n_searches
