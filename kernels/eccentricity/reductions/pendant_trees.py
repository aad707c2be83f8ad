"""Pendant trees: only the deepest node of each may be an end of a longest path.

Remove nodes of degree 1 until there are none: the removed nodes form trees, each attached to a node
of the remaining core. Let T be the tree at core node w, w included, h its height and t a deepest
node of it, the tip. All paths out of T go through w. So for x in T and y not in T,
d(x, y) = d(x, w) + d(w, y) <= h + d(w, y) = d(t, y). Hence a longest path either has both ends
among the tips, or lies in one tree, whose own longest path is known from the heights of branches
(and t is an end of one: from the root of a tree, a farthest node always is). This covers chains
that end in a leaf, which F-Diam (Bradley et al., ICPP 2025) treats by themselves.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32


def find_tips(
    indptr: np.ndarray, indices: np.ndarray, degree: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Tips of all core nodes, and how long the paths within their trees are.

    Returns
    -------
    (n_nodes,) bool
        Whether a node is the tip of a tree; a core node without a tree is its own tip.
    (n_nodes,) int32
        For tips the longest path within their tree, in hops: a lower bound of the eccentricity.
    """
    tip = np.arange(len(degree), dtype=np.int32)
    height, longest = np.zeros(len(degree), np.int32), np.zeros(len(degree), np.int32)
    left = degree.copy()
    peel(indptr, indices, left, tip, height, longest)
    is_core = left >= 0
    is_tip = np.zeros(len(degree), bool)
    is_tip[tip[is_core]] = True
    lower = np.zeros(len(degree), np.int32)
    lower[tip[is_core]] = longest[is_core]
    return is_tip, lower


@njit([types.void(I64, I32, OUT_I32, OUT_I32, OUT_I32, OUT_I32)], cache=True, nogil=True)
def peel(indptr, indices, degree, tip, height, longest):
    """Remove leaves; ``degree`` becomes -1 for removed nodes.

    On entry ``tip`` is the node itself, ``height`` and ``longest`` are zero.
    """
    for leaf in range(degree.size):
        v = np.int64(leaf)
        while degree[v] == 1:
            parent = np.int64(-1)
            for arc in range(indptr[v], indptr[v + 1]):
                if degree[indices[arc]] > 0:  # one neighbour is left
                    parent = np.int64(indices[arc])
                    break
            degree[v] = -1
            degree[parent] -= 1
            branch = height[v] + 1
            longest[parent] = max(longest[parent], longest[v], height[parent] + branch)
            if branch > height[parent]:
                height[parent] = branch
                tip[parent] = tip[v]
            elif branch == height[parent]:
                tip[parent] = min(tip[parent], tip[v])
            v = parent
