"""Columns of the store to arrays of a graph or shard, checked on the way."""

from __future__ import annotations

import numpy as np
from numba import njit, types

I32, I64 = (types.Array(kind, 1, "C", readonly=True) for kind in (types.int32, types.int64))
OUT_I32, OUT_I64 = (types.Array(kind, 1, "C") for kind in (types.int32, types.int64))


@njit(types.int64(I32, OUT_I64), cache=True, nogil=True)
def sum_degrees(degree: np.ndarray, indptr: np.ndarray) -> int:
    """Fill ``indptr`` (n_nodes + 1,) with the sums of ``degree`` (n_nodes,); the least degree."""
    total, least = 0, 0
    indptr[0] = 0
    for node in range(degree.size):
        total += degree[node]
        least = min(least, degree[node])
        indptr[node + 1] = total
    return least


@njit(types.int64(OUT_I32, I64, I64), cache=True, nogil=True)
def widen_ids(indices: np.ndarray, arc_ptr: np.ndarray, node_ptr: np.ndarray) -> int:
    """Add each graph's first node to its arcs, in place.

    Parameters
    ----------
    indices : (n_arcs,) int32
    arc_ptr, node_ptr : (n_graphs + 1,) int64

    Returns
    -------
    int
        -1, or the first arc whose head is not a node of its graph: a file whose checksums match its
        altered content must not make a kernel read outside its arrays.
    """
    for i in range(node_ptr.size - 1):
        first = node_ptr[i]
        n_nodes = node_ptr[i + 1] - first
        for k in range(arc_ptr[i], arc_ptr[i + 1]):
            head = np.int64(indices[k])
            if head < 0 or head >= n_nodes:
                return k
            indices[k] = head + first
    return -1
