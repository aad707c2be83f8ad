"""Links to the sorted rows of a CSR graph: a counting sort, shared out to threads by row."""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit

from kernels import CSRGraph
from pipeline.generate.random_words import draw_below, start_stream
from pipeline.generate.threads import call_each, n_cores

SHUFFLE_KEY = np.uint64(1 << 42)  # streams apart from those that draw links, keyed by graph

_SHORT_ROW = 32  # arcs; longer rows are sorted by numba's quicksort
_SMALL = 1 << 16  # links that are not worth a second thread


def shuffled_ids(n_nodes: int, seed: int) -> np.ndarray:
    """New ids of nodes in random order: (n_nodes,) int32, each of 0 .. n_nodes - 1 once."""
    ids = np.empty(n_nodes, np.int32)
    shuffle(ids, np.uint64(seed), SHUFFLE_KEY)
    return ids


def csr_from_links(
    n_nodes: int,
    near: np.ndarray,
    far: np.ndarray,
    *,
    ids: np.ndarray | None = None,
    n_threads: int | None = None,
) -> CSRGraph:
    """The graph of some links, no two of them alike and none a loop.

    Parameters
    ----------
    n_nodes : int
    near, far : (n_links,) int32
    ids : (n_nodes,) int32 or None
        What each node is to be called, each of 0 .. n_nodes - 1 once; None: as it is.
    n_threads : int or None
        None: a thread a core.

    Returns
    -------
    CSRGraph
        On the host; the same on any number of threads.

    Notes
    -----
    Every thread reads all links and files those of its own rows: no thread waits for another, and
    nothing is kept beside the result but a position a row (8 bytes).
    """
    ids = np.empty(0, np.int32) if ids is None else ids
    n_threads = n_threads or (n_cores() if len(near) > _SMALL else 1)
    degree = np.zeros(n_nodes, np.int32)
    even = np.linspace(0, n_nodes, n_threads + 1).astype(np.int64).tolist()
    call_each(
        count_ends,
        [(near, far, ids, *rows, degree) for rows in itertools.pairwise(even)],
        n_threads,
    )
    indptr = np.zeros(n_nodes + 1, np.int64)
    np.cumsum(degree, out=indptr[1:])
    indices = np.empty(2 * len(near), np.int32)
    shares = np.linspace(0, len(indices), n_threads + 1)[1:-1]
    bounds = [0, *np.searchsorted(indptr, shares).tolist(), n_nodes]
    call_each(
        file_ends,
        [(near, far, ids, *rows, indptr, indices) for rows in itertools.pairwise(bounds)],
        n_threads,
    )
    return CSRGraph(indptr, indices, trusted=True)


@njit(cache=True, nogil=True)
def shuffle(ids, seed, key):
    """Fill ``ids`` with 0 .. n - 1 in random order (Fisher, Yates; inside out)."""
    state = np.empty(1, np.uint64)
    start_stream(state, seed, key)
    for i in range(len(ids)):
        j = draw_below(state, i + 1)
        ids[i] = ids[j]
        ids[j] = i


@njit(cache=True, nogil=True)
def count_ends(near, far, ids, first, stop, degree):
    """Add the links of rows first .. stop - 1 to ``degree``, which is zero there on entry."""
    named = len(ids) > 0
    for i in range(len(near)):
        a, b = near[i], far[i]
        if named:
            a, b = ids[a], ids[b]
        if first <= a < stop:
            degree[a] += 1
        if first <= b < stop:
            degree[b] += 1


@njit(cache=True, nogil=True)
def file_ends(near, far, ids, first, stop, indptr, indices):
    """Write the sorted rows first .. stop - 1."""
    named = len(ids) > 0
    cursor = indptr[first:stop].copy()
    for i in range(len(near)):
        a, b = near[i], far[i]
        if named:
            a, b = ids[a], ids[b]
        if first <= a < stop:
            indices[cursor[a - first]] = b
            cursor[a - first] += 1
        if first <= b < stop:
            indices[cursor[b - first]] = a
            cursor[b - first] += 1
    for row in range(first, stop):
        _sort_row(indices[indptr[row] : indptr[row + 1]])


@njit(cache=True, nogil=True)
def _sort_row(row):
    if len(row) <= _SHORT_ROW:
        for i in range(1, len(row)):
            value, j = row[i], i
            while j > 0 and row[j - 1] > value:
                row[j] = row[j - 1]
                j -= 1
            row[j] = value
        return
    row.sort()
