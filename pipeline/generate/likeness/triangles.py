"""Triangles of graphs: how often each node is the corner of one.

Each triangle is found once, from its corner of the smallest degree (Chiba, Nishizeki: Arboricity
and subgraph listing algorithms, 1985): O(n_links ** 1.5).
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit

from kernels.host import n_cores
from pipeline.generate.threads import call_each

_FEW_ARCS = 1 << 17  # not worth a second thread
_SLICES = 8  # per thread: hubs make some of them longer


def corners(indptr: np.ndarray, indices: np.ndarray, n_threads: int | None = None) -> np.ndarray:
    """Triangles that each node is a corner of: pairs of its neighbours that are linked.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64; indices : (n_arcs,) int32
        A symmetric CSR without loops and duplicates; rows in any order.
    n_threads : int or None
        None: one per core.

    Returns
    -------
    (n_nodes,) int64
    """
    n_nodes = len(indptr) - 1
    rank = np.empty(n_nodes, np.int32)
    rank[np.argsort(np.diff(indptr), kind="stable")] = np.arange(n_nodes, dtype=np.int32)
    up_ptr, up = _upward(indptr, indices, rank)
    n_threads = (n_threads or n_cores()) if len(indices) > _FEW_ARCS else 1
    found = [np.zeros(n_nodes, np.int64) for _ in range(n_threads)]
    cuts = np.linspace(0, n_nodes, n_threads * _SLICES + 1).astype(np.int64).tolist()

    def count(thread: int) -> None:
        mark = np.full(n_nodes, -1, np.int32)
        for first, stop in list(itertools.pairwise(cuts))[thread::n_threads]:
            _count(first, stop, up_ptr, up, mark, found[thread])

    call_each(count, [(thread,) for thread in range(n_threads)], n_threads)
    return np.sum(found, axis=0)


@njit(cache=True, nogil=True)
def _upward(indptr, indices, rank):
    """Neighbours of higher rank of each node."""
    n = len(indptr) - 1
    ptr = np.empty(n + 1, np.int64)
    ptr[0] = 0
    for u in range(n):
        above = 0
        for k in range(indptr[u], indptr[u + 1]):
            if rank[indices[k]] > rank[u]:
                above += 1
        ptr[u + 1] = ptr[u] + above
    up = np.empty(ptr[n], np.int32)
    for u in range(n):
        at = ptr[u]
        for k in range(indptr[u], indptr[u + 1]):
            if rank[indices[k]] > rank[u]:
                up[at] = indices[k]
                at += 1
    return ptr, up


@njit(cache=True, nogil=True)
def _count(first, stop, ptr, up, mark, found):
    for u in range(first, stop):
        if ptr[u + 1] - ptr[u] < 2:
            continue
        for k in range(ptr[u], ptr[u + 1]):
            mark[up[k]] = u
        for k in range(ptr[u], ptr[u + 1]):
            v = up[k]
            for j in range(ptr[v], ptr[v + 1]):
                if mark[up[j]] == u:
                    found[u] += 1
                    found[v] += 1
                    found[up[j]] += 1
