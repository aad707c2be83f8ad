"""Connected components on one core: union-find in which the smaller root always wins."""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels.signatures import I32, I64, OUT_I32


@njit([types.void(I64, I32, OUT_I32)], cache=True, nogil=True)
def components(indptr, indices, label):
    """Fill ``label`` with the smallest node of each node's component."""
    n_nodes = indptr.size - 1
    for u in range(n_nodes):
        label[u] = u
        root = np.int64(u)
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            if v > u:  # each edge once, from its larger end; arcs ascend
                break
            while label[v] != v:  # path halving
                label[v] = label[label[v]]
                v = np.int64(label[v])
            if v < root:
                label[root] = v
                root = v
            elif v > root:
                label[v] = root
    for u in range(n_nodes):  # labels are smaller than their node, so this is a whole path
        label[u] = label[label[u]]
