"""Disjoint sets as a forest: parent of each member, a root is its own parent."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def find_root(parent, x):
    """Root of x; shortens the way to it."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit(cache=True, nogil=True)
def unite(root, one, other):
    """Join the sets of pairs, in place; the smallest member is the root, and parent of all."""
    for i in range(len(one)):
        x, y = find_root(root, one[i]), find_root(root, other[i])
        root[max(x, y)] = min(x, y)
    for x in range(len(root)):
        root[x] = find_root(root, x)
