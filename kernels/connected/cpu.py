"""Connected components on cores: union-find in which the smaller root always wins.

A label is a node of the same component, at most the node itself; a root is its own label. A root
is put under a smaller one by compare-and-swap, once and for all, so threads may link rows side by
side: which root hangs where depends on their order, the smallest node of a component does not.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import prefetch, replace_if
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_I64
from kernels._cpu.threads import Team, n_threads

LARGE = 1 << 20  # arcs from which threads share the rows; below, starting them costs more
CHUNKS_EACH = 16  # runs of rows a thread: they end together though rows differ
_AHEAD = 16  # arcs whose labels are asked for early: 8 to 32 take within a sixth of the best


def components(indptr: np.ndarray, indices: np.ndarray, label: np.ndarray) -> None:
    """Fill ``label`` ((n_nodes,) int32) with the smallest node of each node's component."""
    n_nodes = len(label)
    label[:] = np.arange(n_nodes, dtype=label.dtype)
    if len(indices) < LARGE:
        link_rows(indptr, indices, 0, n_nodes, label)
    else:
        with Team(n_threads()) as team:
            # Runs of like many arcs.
            n_chunks = CHUNKS_EACH * team.size
            starts = np.linspace(0, len(indices), n_chunks + 1)[1:-1]
            borders = [0, *np.searchsorted(indptr, starts).tolist(), n_nodes]

            def link(rows: tuple[int, int]) -> None:
                link_rows(indptr, indices, *rows, label)

            team.run(link, itertools.pairwise(borders))
    flatten(label)


@njit(inline="always")
def _root(label, node):
    """The root above a node; the path to it is halved. Ancestors stay ancestors in any order."""
    while label[node] != node:
        label[node] = label[label[node]]  # also where it changes nothing: faster than to ask
        node = np.int64(label[node])
    return node


@njit([types.void(I64, I32, types.int64, types.int64, OUT_I32)], cache=True, nogil=True)
def link_rows(indptr, indices, first, last, label):
    """Unite the nodes ``first`` to ``last - 1`` with their smaller neighbours."""
    n_arcs = indices.size
    for u in range(first, last):
        root = _root(label, np.int64(u))
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            if v > u:  # each edge once, from its larger end; arcs ascend
                break
            if arc + _AHEAD < n_arcs:
                # Of other rows too: they come next. Two labels share a word.
                prefetch(1, label, np.uintp(indices[arc + _AHEAD]) >> np.uintp(1))
            other = _root(label, v)
            while other != root:
                low, high = min(root, other), max(root, other)
                if replace_if(label, np.uintp(high), np.int32(high), np.int32(low)):
                    root = low
                    break
                root, other = _root(label, low), _root(label, high)  # another thread was first


@njit([types.void(OUT_I32)], cache=True, nogil=True)
def flatten(label):
    """Labels to roots: they are smaller than their node, so one pass follows the whole path."""
    for u in range(label.size):
        label[u] = label[label[u]]


def ids_and_sizes(label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Roots, ascending, and how many nodes each has."""
    count = np.zeros(len(label), np.int64)
    _count_members(label, count)
    ids = np.flatnonzero(count)  # a root is a member of its own component
    return ids, count[ids]


@njit([types.void(I32, OUT_I64)], cache=True, nogil=True)
def _count_members(label, count):
    for u in range(label.size):
        count[label[u]] += 1
