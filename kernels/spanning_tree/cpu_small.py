"""Minimum spanning forests of small graphs on one core, by Boruvka's algorithm.

As ``cpu_boruvka``, with every edge in one list from the first round on. No loop goes row by row:
a processor predicts the ends of few short rows, and a wrong prediction costs more than the arcs of
a row.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import F32, I32, I64, OUT_I32, OUT_U8, OUT_U64, U32
from kernels.spanning_tree.cpu_passes import (
    ARC,
    BITS,
    EDGES,
    FIRST,
    INFINITE,
    NO_EDGE,
    OUT_F32,
    SECOND,
    TREES,
    finish,
    note_lightest,
    plus_zero,
)
from kernels.types import NODE


def small_forest(
    indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Ends and weights of the forest's edges; None if a weight is negative or not finite."""
    n_nodes, n_arcs = len(indptr) - 1, len(indices)
    # One more of each than there are: an arc that is not an edge, or an empty row, is written
    # behind the last one.
    row, edges = np.zeros(n_arcs + 1, NODE), np.empty((n_arcs // 2 + 1, 4), np.uint32)
    n_edges = list_arcs(indptr, indices, weights.view(np.uint32), row, edges)
    if n_edges < 0:
        return None
    best, trees = np.full(n_nodes, NO_EDGE), np.empty((n_nodes, 1), NODE)
    chosen = np.zeros(n_arcs, np.uint8)
    n_chosen = n_nodes - choose(edges, n_edges, trees, best, chosen)
    tails, heads = np.empty((2, n_chosen), NODE)
    theirs = np.empty(n_chosen, np.float32)
    arcs = edges.reshape(-1)  # no longer needed
    gather(row, indices, weights, chosen, arcs, tails, heads, theirs)
    return tails, heads, theirs


@njit([types.int64(I64, I32, U32, OUT_I32, EDGES)], cache=True, nogil=True)
def list_arcs(indptr, indices, bits, row, edges):
    """Write the row of each arc, zeros before, and all edges; how many, -1 with a bad weight."""
    for u in range(np.uintp(indptr.size - 1)):
        row[np.uintp(indptr[u])] = np.int32(u)  # the last of those that begin there has arcs
    tail, at, largest = np.int32(0), np.uintp(0), np.uint32(0)
    for arc in range(np.uintp(indices.size)):
        tail = max(tail, row[arc])
        row[arc] = tail
        head, w = indices[arc], plus_zero(bits[arc])
        largest = max(largest, w)
        edges[at, FIRST], edges[at, SECOND] = np.uint32(tail), np.uint32(head)
        edges[at, BITS], edges[at, ARC] = w, np.uint32(arc)
        at += np.uintp(head > tail)  # else the next one takes its place
    return np.int64(at) if largest < INFINITE else np.int64(-1)


@njit([types.int64(EDGES, types.int64, TREES, OUT_U64, OUT_U8)], cache=True, nogil=True)
def choose(edges, n_edges, trees, best, chosen):
    """Set ``chosen`` of the forest's arcs; how many trees there are in the end."""
    note_lightest(edges, np.uintp(0), np.uintp(n_edges), best, False)
    begins, ends = np.zeros(1, np.int64), np.full(1, n_edges)
    return finish(edges, begins, ends, trees, best, chosen, np.empty(0, np.int32))


@njit(
    [types.void(I32, I32, F32, OUT_U8, types.uint32[::1], OUT_I32, OUT_I32, OUT_F32)],
    cache=True,
    nogil=True,
)
def gather(row, indices, weights, chosen, arcs, tails, heads, theirs):
    """Ends and weights of the chosen arcs, in their order; ``arcs`` is scratch, one per arc."""
    n = np.uintp(0)
    for arc in range(np.uintp(chosen.size)):
        arcs[n] = arc
        n += np.uintp(chosen[arc])  # else the next one takes its place
    for i in range(np.uintp(tails.size)):
        at = np.uintp(arcs[i])
        tails[i], heads[i], theirs[i] = row[at], indices[at], weights[at]
