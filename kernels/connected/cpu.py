"""Connected components on cores: union-find in which the smaller root always wins.

A label is a node of the same component, at most the node itself; a root is its own label. A root
is put under a smaller one by compare-and-swap, once and for all, so threads may link rows side by
side: the shape of the trees depends on their order, the smallest node of a component does not.
In a large graph most nodes are usually found to be connected first (``part``), and get their label
from that; only the others are linked, as in Afforest [1]_.

References
----------
.. [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via
   subgraph sampling", IPDPS 2018.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit, types

from kernels._cpu.bits import ONE, is_in
from kernels._cpu.lanes import lowest, prefetch, replace_if
from kernels._cpu.signatures import I32, I64, OUT_I32, U64
from kernels._cpu.threads import Team, n_threads
from kernels.connected.part import grow_part, missing_of

LARGE = 1 << 20  # arcs from which threads share the rows; below, starting them costs more
CHUNKS_EACH = 16  # runs of rows per thread, so that threads end together though rows differ
_AHEAD = 16  # arcs whose labels are prefetched: 8 to 32 take at most a sixth longer than the best


def components(indptr: np.ndarray, indices: np.ndarray, label: np.ndarray) -> None:
    """Fill ``label`` ((n_nodes,) int32) with the smallest node of each node's component."""
    n_nodes = len(label)
    if len(indices) < LARGE:
        label[:] = np.arange(n_nodes, dtype=label.dtype)
        link_rows(indptr, indices, 0, n_nodes, label)
    else:
        with Team(n_threads()) as team:
            _share(indptr, indices, label, team)
    flatten(label)


def _share(indptr: np.ndarray, indices: np.ndarray, label: np.ndarray, team: Team) -> None:
    """Link all rows by threads."""
    n_nodes, n_runs = len(label), CHUNKS_EACH * team.size
    runs = _runs(np.linspace(0, -(-n_nodes // 64), n_runs + 1).astype(np.int64).tolist())
    part = grow_part(indptr, indices, team, runs) if len(indices) else None
    if part is None:
        label[:] = np.arange(n_nodes, dtype=label.dtype)
        # Runs with similar numbers of arcs.
        starts = np.linspace(0, len(indices), n_runs + 1)[1:-1]
        rows = _runs([0, *np.searchsorted(indptr, starts).tolist(), n_nodes])
        team.run(lambda run: link_rows(indptr, indices, *run, label), rows)
    else:
        smallest = first_of(part)
        team.run(lambda run: label_part(*run, part, smallest, label), runs)
        team.run(lambda run: link_others(indptr, indices, *run, part, label), runs)


def _runs(borders: list[int]) -> list[tuple[int, int]]:
    return list(itertools.pairwise(borders))


@njit(inline="always")
def root_of(label, node):
    """The root above a node; the path to it is halved. Ancestors stay ancestors in any order."""
    while label[node] != node:
        label[node] = label[label[node]]  # also if it changes nothing: faster than a check
        node = np.int64(label[node])
    return node


@njit(inline="always")
def _unite(label, root, node):
    """Put the greater of two roots, ``root`` and that of ``node``, under the lesser; returns it."""
    other = root_of(label, node)
    while other != root:
        low, high = min(root, other), max(root, other)
        if replace_if(label, np.uintp(high), np.int32(high), np.int32(low)):
            return low
        root, other = root_of(label, low), root_of(label, high)  # another thread was faster
    return root


@njit([types.void(I64, I32, types.int64, types.int64, OUT_I32)], cache=True, nogil=True)
def link_rows(indptr, indices, first, last, label):
    """Unite the nodes ``first`` to ``last - 1`` with their smaller neighbours."""
    n_arcs = indices.size
    for u in range(first, last):
        root = root_of(label, np.int64(u))
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            if v > u:  # each edge once, from its larger end; arcs ascend
                break
            if arc + _AHEAD < n_arcs:
                # Of other rows too: they come next. Two labels share a word.
                prefetch(1, label, np.uintp(indices[arc + _AHEAD]) >> np.uintp(1))
            root = _unite(label, root, v)


@njit([types.int64(U64)], cache=True, nogil=True)
def first_of(part):
    """The smallest node in ``part``, which has one."""
    w = 0
    while part[w] == 0:
        w += 1
    return 64 * w + np.int64(lowest(part[w]))


@njit(
    [types.void(types.int64, types.int64, U64, types.int64, OUT_I32)],
    cache=True,
    nogil=True,
)
def label_part(first, last, part, smallest, label):
    """Label words ``first`` to ``last - 1``: ``smallest`` in the part, else the node."""
    for w in range(first, last):
        begin, end = 64 * w, min(64 * w + 64, label.size)
        if missing_of(part, w, label.size) == 0:
            label[begin:end] = smallest
        else:
            for u in range(begin, end):
                label[u] = smallest if is_in(part, u) else u


@njit([types.void(I64, I32, types.int64, types.int64, U64, OUT_I32)], cache=True, nogil=True)
def link_others(indptr, indices, first, last, part, label):
    """Unite the nodes of words ``first`` to ``last - 1`` outside the part with their neighbours.

    The part is connected already, so this sees each edge that matters.
    """
    for w in range(first, last):
        missing = missing_of(part, w, label.size)
        while missing != 0:
            u = 64 * w + np.int64(lowest(missing))
            missing &= missing - ONE
            root = root_of(label, u)
            for arc in range(indptr[u], indptr[u + 1]):
                v = np.int64(indices[arc])
                if v < u or is_in(part, v):  # an edge of two others once, from its larger end
                    root = _unite(label, root, v)


@njit([types.void(OUT_I32)], cache=True, nogil=True)
def flatten(label):
    """Labels to roots: they are smaller than their node, so one pass follows the whole path."""
    for u in range(label.size):
        label[u] = label[label[u]]


def ids_and_sizes(label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Roots, ascending, and how many nodes each has."""
    count = np.zeros(len(label), np.int32)
    _count_members(label, count)
    ids = np.flatnonzero(count)  # a root is its own member component
    return ids, count[ids]


@njit([types.void(I32, OUT_I32)], cache=True, nogil=True)
def _count_members(label, count):
    """Runs of one label are counted at once: most nodes of most graphs have the same."""
    begin = 0
    for u in range(1, label.size + 1):
        if u == label.size or label[u] != label[begin]:
            count[label[begin]] += u - begin
            begin = u
