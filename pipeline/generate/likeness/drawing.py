"""Values of links from the law of the original's, by the classes of both ends.

A link takes a value of the original's links between the same two classes: of n new links and m
original ones, new link j of a cell takes number p(j) m / n of its sorted values, p a fixed
permutation. So each cell has the original's values as evenly as can be, in the same numbers if n is
m; links of two classes that the original does not link take values of the nearest cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, eq=False)
class LinkValues:
    """Values of the original's links by cell, sorted in each; NaN last.

    Attributes
    ----------
    key : (n_cells,) int64
        near * n_classes + far, near <= far, ascending.
    ptr : (n_cells + 1,) int64
    value : (n_links,) float32
    n_classes : int
    """

    key: np.ndarray
    ptr: np.ndarray
    value: np.ndarray
    n_classes: int


def link_values(
    indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, node_class: np.ndarray, n: int
) -> LinkValues:
    """The values of graphs side by side, by ``n`` classes of nodes.

    Parameters
    ----------
    indptr, indices
        A symmetric CSR.
    values : (n_arcs,) float32
    node_class : (n_nodes,) int64
    n : int
    """
    tail = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    once = np.flatnonzero(tail < indices)
    ends = np.stack([node_class[tail[once]], node_class[indices[once]]])
    keys = ends.min(axis=0) * n + ends.max(axis=0)
    order = np.lexsort((values[once], keys))
    key, first = np.unique(keys[order], return_index=True)
    return LinkValues(key, np.append(first, len(keys)), values[once][order], n)


def draw_values(
    indptr: np.ndarray, indices: np.ndarray, node_class: np.ndarray, of: LinkValues
) -> np.ndarray:
    """Values of the arcs of a graph, the same on both arcs of a link.

    Parameters
    ----------
    indptr, indices
        A symmetric CSR; rows are sorted.
    node_class : (n_nodes,) integers
        Classes as those of ``of``.

    Returns
    -------
    (n_arcs,) float32
    """
    values = np.full(len(indices), np.nan, np.float32)
    if len(of.value):
        counts = np.zeros(len(of.key), np.int64)
        _draw(indptr, indices, node_class, of.key, of.ptr, of.value, of.n_classes, counts, values)
    return values


@njit(cache=True, nogil=True)
def _cell(key, wanted):
    at = np.searchsorted(key, wanted)
    if at == len(key) or (at > 0 and key[at] - wanted > wanted - key[at - 1]):
        at -= 1
    return at


@njit(cache=True, nogil=True)
def _draw(indptr, indices, node_class, key, ptr, value, n_classes, counts, values):
    n = len(indptr) - 1
    for u in range(n):
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if v > u:
                a, b = node_class[u], node_class[v]
                counts[_cell(key, min(a, b) * n_classes + max(a, b))] += 1
    step = np.empty(len(counts), np.int64)
    for i in range(len(counts)):
        step[i] = _coprime(counts[i])
    drawn = np.zeros(len(counts), np.int64)
    for u in range(n):
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if v <= u:
                continue
            a, b = node_class[u], node_class[v]
            i = _cell(key, min(a, b) * n_classes + max(a, b))
            place = (drawn[i] * step[i]) % counts[i]
            drawn[i] += 1
            found = value[ptr[i] + np.int64((place + 0.5) * (ptr[i + 1] - ptr[i]) / counts[i])]
            values[k] = found
            row = indices[indptr[v] : indptr[v + 1]]
            values[indptr[v] + np.searchsorted(row, u)] = found


@njit(cache=True, nogil=True)
def _coprime(n):
    """A number near the golden section of n that has no divisor in common with it."""
    step = np.int64(n * _GOLDEN)
    step += step == 0
    while True:
        a, b = n, step
        while b:
            a, b = b, a % b
        if a <= 1:
            return step
        step += 1
