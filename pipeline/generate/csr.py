"""Links to the sorted rows of a CSR graph, on several threads.

Both ends of each link are first filed by bucket of rows, then each bucket is sorted by itself: it
fits into a core's cache, which a counting sort straight into all rows would miss with each link.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit

from kernels import CSRGraph
from kernels.host import n_cores
from pipeline.generate.shares import part
from pipeline.generate.threads import call_each
from pipeline.model.random_words import draw_below, start_stream

SHUFFLE_KEY = np.uint64(1 << 42)  # streams apart from those that draw links, keyed by graph
ONE_BUCKET = 31  # as ``shift``: all rows

# Rows of a bucket are 2 to this power: of 13 to 16, tried on benchmarks/bench_generate.py's graphs,
# 15 is the best, or equal to it, on two cores, with 27 M arcs in order and shuffled.
_BUCKET_SHIFT = 15
_SHORT_ROW = 32  # arcs; longer rows are sorted by numba's quicksort
_FEW_LINKS = 1 << 16  # not worth a second thread


def shuffled_ids(n_nodes: int, seed: int, graph: int = 0) -> np.ndarray:
    """New ids of nodes in random order: (n_nodes,) int32, each of 0 .. n_nodes - 1 once."""
    ids = np.empty(n_nodes, np.int32)
    shuffle(ids, np.uint64(seed), SHUFFLE_KEY + np.uint64(graph))
    return ids


def csr_from_links(
    n_nodes: int,
    near: np.ndarray,
    far: np.ndarray,
    *,
    ids: np.ndarray | None = None,
    n_threads: int | None = None,
) -> CSRGraph:
    """The graph of some links without duplicates or loops.

    Parameters
    ----------
    n_nodes : int
    near, far : (n_links,) int32
    ids : (n_nodes,) int32 or None
        New id of each node, each of 0 .. n_nodes - 1 once; None: unchanged.
    n_threads : int or None
        None: one thread per core.

    Returns
    -------
    CSRGraph
        On the host; the same on any number of threads. Nodes without links stay.

    Notes
    -----
    Peak memory besides the links is 24 bytes per link (8 of them the result's) and 8 per node.
    """
    indptr = np.empty(n_nodes + 1, np.int64)
    indices = np.empty(2 * len(near), np.int32)
    file_links(near, far, ids, indptr, indices, n_threads)
    return CSRGraph(indptr, indices, trusted=True)


def file_links(
    near: np.ndarray,
    far: np.ndarray,
    ids: np.ndarray | None,
    indptr: np.ndarray,
    indices: np.ndarray,
    n_threads: int | None = None,
) -> None:
    """``csr_from_links`` into given arrays: (n_nodes + 1,) int64, (2 n_links,) int32."""
    n_nodes, n_arcs = len(indptr) - 1, len(indices)
    indptr[n_nodes] = n_arcs
    if n_nodes == 0:
        return
    ids = np.empty(0, np.int32) if ids is None else ids
    n_threads = n_threads or (n_cores() if len(near) > _FEW_LINKS else 1)
    n_buckets = ((n_nodes - 1) >> _BUCKET_SHIFT) + 1
    cuts = np.linspace(0, len(near), n_threads + 1).astype(np.int64).tolist()
    shares = [(near[a:b], far[a:b], ids, _BUCKET_SHIFT) for a, b in itertools.pairwise(cuts)]
    counts = np.zeros((n_threads, n_buckets), np.int64)
    with part(0.0, 0.1):  # by time, each
        own = zip(shares, counts, strict=True)
        call_each(_count_by_bucket, [(*s, c) for s, c in own], n_threads)
    # Bucket after bucket, and in each the share of one thread after that of another.
    at = (np.cumsum(counts.T.ravel()) - counts.T.ravel()).reshape(n_buckets, n_threads).T.copy()
    bucket_ptr = np.append(at[0], n_arcs)
    row, head = np.empty(n_arcs, np.int32), np.empty(n_arcs, np.int32)
    with part(0.1, 0.4):
        own = zip(shares, at, strict=True)
        call_each(split_by_bucket, [(*s, a, row, head) for s, a in own], n_threads)
    with part(0.4, 1.0):
        given = (bucket_ptr, row, head, indptr, indices)
        call_each(_fill_bucket, [(bucket, *given) for bucket in range(n_buckets)], n_threads)


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
def _count_by_bucket(near, far, ids, shift, counts):
    """Add the ends of links in each bucket to ``counts``."""
    named = len(ids) > 0
    for i in range(len(near)):
        a, b = near[i], far[i]
        if named:
            a, b = ids[a], ids[b]
        counts[a >> shift] += 1
        counts[b >> shift] += 1


@njit(cache=True, nogil=True)
def split_by_bucket(near, far, ids, shift, at, row, head):
    """File both arcs of each link at ``at[bucket]`` of ``row`` and ``head``, which moves on."""
    named = len(ids) > 0
    for i in range(len(near)):
        a, b = near[i], far[i]
        if named:
            a, b = ids[a], ids[b]
        k = at[a >> shift]
        row[k], head[k] = a, b
        at[a >> shift] = k + 1
        k = at[b >> shift]
        row[k], head[k] = b, a
        at[b >> shift] = k + 1


@njit(cache=True, nogil=True)
def _fill_bucket(bucket, bucket_ptr, row, head, indptr, indices):
    first = bucket << _BUCKET_SHIFT
    stop = min(len(indptr) - 1, first + (1 << _BUCKET_SHIFT))
    cursor = np.empty(stop - first, np.int64)
    fill_rows(first, bucket_ptr[bucket], bucket_ptr[bucket + 1], row, head, cursor, indptr, indices)


@njit(cache=True, nogil=True)
def fill_rows(first, arc, stop_arc, row, head, cursor, indptr, indices):
    """Sort arcs arc .. stop_arc - 1 into rows from ``first`` on; ``cursor``: (n_rows,)."""
    cursor[:] = 0
    for k in range(arc, stop_arc):
        cursor[row[k] - first] += 1
    at = arc
    for i in range(len(cursor)):
        indptr[first + i] = at
        at += cursor[i]
        cursor[i] = indptr[first + i]
    for k in range(arc, stop_arc):
        i = row[k] - first
        indices[cursor[i]] = head[k]
        cursor[i] += 1
    for i in range(len(cursor)):
        _sort_row(indices[indptr[first + i] : cursor[i]])


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
