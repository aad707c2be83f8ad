"""Shortest paths between two nodes on one core: searches from both ends.

Scratch of all nodes is allocated, but memory is touched only where a search comes: whether a node
was found is one bit, and its other values are read only if that bit is set.

A level is not a step of ``breadth_first.cpu``: that clears a bitmap of all nodes for each search,
goes bottom-up through all nodes, and keeps no node before; here a step asks of each arc whether the
other end has found its node, and stops there.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import F32, I32, I64
from kernels.types import NODE

BITS = types.uint64[:, ::1]
NODES = types.int32[:, ::1]
DISTANCES = types.float64[:, ::1]
SOURCE, TARGET = 0, 1  # rows of the scratch arrays
SMALL_HEAP = 1024


def by_hops(indptr: np.ndarray, indices: np.ndarray, source: int, target: int) -> np.ndarray:
    """Nodes of a path with the fewest hops, (n_hops + 1,) int32; empty if there is none."""
    n_nodes = len(indptr) - 1
    found = np.zeros((2, n_nodes // 64 + 1), np.uint64)
    queue, before = np.empty((2, n_nodes), NODE), np.empty((2, n_nodes), NODE)
    return search_levels(indptr, indices, source, target, found, queue, before)


def by_weight(
    indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray, source: int, target: int
) -> tuple[np.ndarray, float]:
    """Nodes of a path of least weight, and that weight; NaN if a weight met is invalid."""
    n_nodes = len(indptr) - 1
    found = np.zeros((2, n_nodes // 64 + 1), np.uint64)
    distance, before = np.empty((2, n_nodes), np.float64), np.empty((2, n_nodes), NODE)
    return search_weights(indptr, indices, weights, source, target, found, distance, before)


@njit(inline="always")
def _is_in(found, side, v):
    return (found[side, v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != 0


@njit(inline="always")
def _add(found, side, v):
    found[side, v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@njit(cache=True, nogil=True)
def _joined(source, target, u, v, before):
    """The path from the source to u, and from v on to the target."""
    n = 2
    at = u
    while at != source:
        at = np.int64(before[SOURCE, at])
        n += 1
    n_first = n - 1
    at = v
    while at != target:
        at = np.int64(before[TARGET, at])
        n += 1
    nodes = np.empty(n, np.int32)
    at = u
    for i in range(n_first - 1, -1, -1):
        nodes[i] = at
        at = np.int64(before[SOURCE, at])
    at = v
    for i in range(n_first, n):
        nodes[i] = at
        at = np.int64(before[TARGET, at])
    return nodes


@njit(
    [types.int32[::1](I64, I32, types.int64, types.int64, BITS, NODES, NODES)],
    cache=True,
    nogil=True,
)
def search_levels(indptr, indices, source, target, found, queue, before):
    """``found`` is zero; ``queue`` and ``before`` (2, n_nodes) are scratch, a row per end."""
    nodes = np.empty(1, np.int32)
    nodes[0] = source
    if source == target:
        return nodes
    begin, end, n_ahead = np.zeros(2, np.int64), np.ones(2, np.int64), np.zeros(2, np.int64)
    for side, start in ((SOURCE, source), (TARGET, target)):
        _add(found, side, start)
        queue[side, 0], before[side, start] = start, start
        n_ahead[side] = indptr[start + 1] - indptr[start]
    while n_ahead[SOURCE] > 0 and n_ahead[TARGET] > 0:
        side = SOURCE if n_ahead[SOURCE] <= n_ahead[TARGET] else TARGET
        last, n_next = end[side], np.int64(0)
        for i in range(begin[side], last):
            u = np.int64(queue[side, i])
            for arc in range(indptr[u], indptr[u + 1]):
                v = np.int64(indices[arc])
                if _is_in(found, 1 - side, v):
                    if side == SOURCE:
                        return _joined(source, target, u, v, before)
                    return _joined(source, target, v, u, before)
                if not _is_in(found, side, v):
                    _add(found, side, v)
                    before[side, v] = u
                    queue[side, end[side]] = v
                    end[side] += 1
                    n_next += indptr[v + 1] - indptr[v]
        begin[side], n_ahead[side] = last, n_next
    return nodes[:0]


@njit(cache=True, nogil=True)
def _push(keys, heap, size, key, node):
    """Into a heap that may name a node several times; returns the arrays, larger if need be."""
    if size == keys.size:
        more_keys, more = np.empty(2 * size, np.float64), np.empty(2 * size, np.int32)
        more_keys[:size], more[:size] = keys, heap
        keys, heap = more_keys, more
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at], heap[at] = keys[above], heap[above]
        at = above
    keys[at], heap[at] = key, node
    return keys, heap


@njit(cache=True, nogil=True)
def _pop(keys, heap, size):
    """Take out the first of ``size`` entries."""
    key, node = keys[size - 1], heap[size - 1]
    at = 0
    while 2 * at + 1 < size - 1:
        below = 2 * at + 1
        if below + 1 < size - 1 and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[at], heap[at] = keys[below], heap[below]
        at = below
    keys[at], heap[at] = key, node


@njit(
    [
        types.Tuple((types.int32[::1], types.float64))(
            I64, I32, F32, types.int64, types.int64, BITS, DISTANCES, NODES
        )
    ],
    cache=True,
    nogil=True,
)
def search_weights(indptr, indices, weights, source, target, found, distance, before):
    """As ``search_levels``; ``distance`` is scratch too. NaN: a weight is invalid."""
    none = np.empty(0, np.int32)
    source_keys, source_heap = np.empty(SMALL_HEAP, np.float64), np.empty(SMALL_HEAP, np.int32)
    target_keys, target_heap = np.empty(SMALL_HEAP, np.float64), np.empty(SMALL_HEAP, np.int32)
    size = np.ones(2, np.int64)
    for side, start in ((SOURCE, source), (TARGET, target)):
        _add(found, side, start)
        distance[side, start], before[side, start] = 0.0, start
    source_keys[0], source_heap[0] = 0.0, source
    target_keys[0], target_heap[0] = 0.0, target
    shortest, u_best, v_best = np.inf, np.int64(-1), np.int64(-1)
    if source == target:
        shortest, u_best, v_best = 0.0, source, source
    while size[SOURCE] > 0 and size[TARGET] > 0:
        if source_keys[0] + target_keys[0] >= shortest:
            break
        side = SOURCE if size[SOURCE] <= size[TARGET] else TARGET
        keys, heap = source_keys, source_heap
        if side == TARGET:
            keys, heap = target_keys, target_heap
        length, u = keys[0], np.int64(heap[0])
        _pop(keys, heap, size[side])
        size[side] -= 1
        if length > distance[side, u]:
            continue  # was found nearer since
        for arc in range(indptr[u], indptr[u + 1]):
            weight = np.float64(weights[arc])
            if not (weight >= 0 and weight < np.inf):
                return none, np.nan
            v = np.int64(indices[arc])
            reach = length + weight
            is_found = _is_in(found, side, v)
            if is_found and distance[side, v] <= reach:
                continue
            if not is_found:
                _add(found, side, v)
            distance[side, v], before[side, v] = reach, u
            keys, heap = _push(keys, heap, size[side], reach, v)
            size[side] += 1
            if _is_in(found, 1 - side, v) and reach + distance[1 - side, v] < shortest:
                shortest = reach + distance[1 - side, v]
                u_best = v_best = v
        if side == SOURCE:
            source_keys, source_heap = keys, heap
        else:
            target_keys, target_heap = keys, heap
    if u_best < 0:
        return none, np.inf
    nodes = _joined(source, target, u_best, v_best, before)
    # The node where both meet is in it twice.
    n_first = 0
    while nodes[n_first] != u_best:
        n_first += 1
    whole = np.empty(nodes.size - 1, np.int32)
    whole[:n_first], whole[n_first:] = nodes[:n_first], nodes[n_first + 1 :]
    length = 0.0
    for i in range(whole.size - 1):
        row, end = indptr[whole[i]], indptr[whole[i] + 1]
        length += np.float64(weights[row + np.searchsorted(indices[row:end], whole[i + 1])])
    return whole, length
