"""Local node ids of many graphs to ids within a shard, checked on the way."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def widen_ids(indices: np.ndarray, arc_ptr: np.ndarray, node_ptr: np.ndarray) -> int:
    """Add each graph's first node to its arcs, in place.

    Parameters
    ----------
    indices : (n_arcs,) int32
    arc_ptr, node_ptr : (n_graphs + 1,) int64

    Returns
    -------
    int
        -1, or the first arc whose head is no node of its graph: a file whose checksums match its
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
