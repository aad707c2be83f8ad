"""Shortest paths on one core, with numba: near-far [1]_, and Dijkstra's algorithm with a heap.

Near-far keeps no order among the nodes nearer than the threshold: a first-in-first-out queue costs
nothing where a heap waits for memory, and with a threshold that rises by the mean weight, or less
where nodes have many arcs, few nodes are relaxed twice.

References
----------
.. [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-efficient parallel GPU methods for
   single-source shortest paths", IPDPS 2014.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import prefetch
from kernels._cpu.signatures import F32, F64, I32, I64, OUT_F64, OUT_I32, OUT_U8
from kernels.types import UNREACHED

LARGE = 1 << 20  # arcs from which threads share a search (``shared``)
DEGREE = 3.0  # arcs per node from which the threshold rises by less than the mean weight
PATIENCE = 4  # relaxations per arc, on average, after which Dijkstra's algorithm takes over
AHEAD = 8  # queue places between prefetching a node's arcs and using them
IS_NEAR, IS_FAR = 1, 2  # bits of ``queued``
NONE, ONE, TWO, FOUR = np.uintp(0), np.uintp(1), np.uintp(2), np.uintp(4)
OPEN = -2  # no strictly nearer tight neighbour


@njit(
    [types.Tuple((types.float64, types.boolean))(F32)],
    cache=True,
    nogil=True,
    fastmath={"reassoc"},  # the order of the sum may change, nothing else
)
def scan_weights(weights):
    """Mean weight, and whether all are finite and not negative."""
    total, n_invalid = 0.0, 0
    for arc in range(weights.size):
        weight = weights[arc]
        total += np.float64(weight)
        n_invalid += not (weight >= np.float32(0) and weight < np.float32(np.inf))
    return total / max(1, weights.size), n_invalid == 0


ARRAYS = (I64, I32, F32)
NEAR_FAR = (types.float64, types.int64, OUT_F64, OUT_I32, OUT_I32, OUT_U8)


@njit([types.boolean(*ARRAYS, I32, types.int64, *NEAR_FAR)], cache=True, nogil=True)
def near_far(
    indptr, indices, weights, sources, target, delta, patience, distance, near, far, queued
):  # fmt: skip
    """Fill ``distance`` ((n_nodes,), out); False if that takes too many relaxations.

    ``sources`` are distinct; a distance is that to the nearest of them. It ends once all nodes as
    near as the target (-1: none) have theirs.
    Scratch: ``near`` is a circular queue, of a power of two above n_nodes; ``far`` and ``queued``
    ((n_nodes,)). A node is at most once in each. Every node whose distance was lowered after its
    arcs were last relaxed is in ``near`` if the distance is below the threshold, in ``far`` if not:
    so when both are empty no arc can lower its head.

    A node that came to ``far`` by an arc of weight w is looked at there w / delta + 1 times at
    most: O(n_nodes + n_arcs) for all nodes together if delta is the mean weight.
    """
    distance[:] = np.inf
    queued[:] = 0
    head, tail, n_far = NONE, NONE, 0
    for source in sources:
        distance[source] = 0.0
        queued[source] = IS_NEAR
        near[tail] = source
        tail += ONE
    wrap = np.uintp(near.size - 1)
    threshold = max(delta, np.nextafter(0.0, 1.0))
    left = patience * indices.size
    while True:
        while head != tail:
            later = head + np.uintp(AHEAD)
            if later < tail:
                prefetch(1, indptr, np.uintp(near[later & wrap]))
                soon = np.uintp(near[(head + np.uintp(AHEAD // 2)) & wrap])
                prefetch(1, distance, soon)
                words = np.uintp(indptr[soon]) >> ONE  # prefetch counts words of 8 bytes
                prefetch(1, indices, words)
                prefetch(1, weights, words)
            u = np.uintp(near[head & wrap])
            head += ONE
            queued[u] &= IS_FAR
            length = distance[u]
            left -= indptr[u + ONE] - indptr[u]
            if left < 0:
                return False
            for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + ONE])):
                v = np.uintp(indices[arc])
                reach = length + np.float64(weights[arc])
                if reach < distance[v]:
                    distance[v] = reach
                    where = queued[v]
                    if reach < threshold:
                        if where & IS_NEAR == 0:
                            queued[v] = where | IS_NEAR
                            near[tail & wrap] = v
                            tail += ONE
                    elif where == 0:
                        queued[v] = IS_FAR
                        far[n_far] = v
                        n_far += 1
        if target >= 0 and distance[target] < threshold:
            return True
        head = tail = NONE
        least = np.float64(np.inf)
        while tail == NONE:  # a second time if all of ``far`` is beyond the next threshold
            if n_far == 0:
                return True
            passed = threshold
            threshold += delta
            if least < np.inf:
                threshold = max(least + delta, np.nextafter(least, np.inf))
            least, n_kept = np.float64(np.inf), 0
            for i in range(n_far):
                v = np.uintp(far[i])
                length = distance[v]
                if length >= threshold:
                    far[n_kept] = v
                    n_kept += 1
                    least = min(least, length)
                elif length >= passed:
                    near[tail] = v
                    tail += ONE
                    queued[v] = IS_NEAR
                else:  # was in ``near`` in the meantime
                    queued[v] = 0
            n_far = n_kept


@njit(
    [types.void(*ARRAYS, I32, types.int64, OUT_F64, OUT_I32, OUT_F64, OUT_I32)],
    cache=True,
    nogil=True,
)
def dijkstra(indptr, indices, weights, sources, target, distance, heap, key, place):
    """Fill ``distance`` ((n_nodes,), out), as ``near_far``.

    Scratch, (n_nodes,) each: ``heap`` is a heap of nodes with four children each, ``key`` their
    distances, ``place`` the position of each node in it.
    """
    distance[:] = np.inf
    size = NONE
    for source in sources:
        distance[source] = 0.0
        heap[size], key[size], place[source] = source, 0.0, size
        size += ONE
    while size > NONE:
        u = np.uintp(heap[0])
        length = key[0]
        if target >= 0 and length > distance[target]:
            return
        size -= ONE
        node, last = heap[size], key[size]  # sinks from the top
        at = NONE
        while FOUR * at + ONE < size:
            child = FOUR * at + ONE
            best, least = child, key[child]
            for other in range(child + ONE, min(child + FOUR, size)):
                if key[other] < least:
                    best, least = np.uintp(other), key[other]
            if least >= last:
                break
            heap[at], key[at] = heap[best], least
            place[np.uintp(heap[at])] = at
            at = best
        heap[at], key[at], place[np.uintp(node)] = node, last, at
        for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + ONE])):
            v = np.uintp(indices[arc])
            reach = length + np.float64(weights[arc])
            if reach < distance[v]:  # never of a node taken before: it is at most as far as u
                at = np.uintp(place[v])
                if distance[v] == np.inf:
                    at = size
                    size += ONE
                distance[v] = reach
                while at > NONE:  # rises
                    above = (at - ONE) >> TWO
                    if key[above] <= reach:
                        break
                    heap[at], key[at] = heap[above], key[above]
                    place[np.uintp(heap[at])] = at
                    at = above
                heap[at], key[at], place[v] = v, reach, at


@njit([types.void(OUT_F64, types.float64)], cache=True, nogil=True)
def forget_beyond(distance, limit):
    """Set what is greater than ``limit`` to inf."""
    for v in range(distance.size):
        distance[v] = distance[v] if distance[v] <= limit else np.inf


@njit([OUT_I32(I32, types.int64)], cache=True, nogil=True)
def path_to(parent, node):
    """The path to a node, from the node that is its own parent."""
    n, at = 1, node
    while parent[at] != at:
        n, at = n + 1, np.int64(parent[at])
    path = np.empty(n, np.int32)
    for i in range(n - 1, -1, -1):
        path[i] = node
        node = np.int64(parent[node])
    return path


@njit([types.Tuple((types.float64, types.int64))(F64)], cache=True, nogil=True)
def summarise(distance):
    """The largest finite distance, and how many are finite."""
    largest, n_reached = 0.0, 0
    for v in range(distance.size):
        length = distance[v]
        if length < np.inf:
            n_reached += 1
            largest = max(largest, length)
    return largest, n_reached


@njit(cache=True, nogil=True)
def _is_level(distance, u, v, weight):
    """Whether the arc is tight and both ends are equally far."""
    return distance[u] == distance[v] and distance[u] + np.float64(weight) == distance[v]


@njit(cache=True, nogil=True)
def _join_plateaus(indptr, indices, weights, distance, n_open, parent):
    """Parents of the open nodes, breadth-first from the nodes of their distance that have one."""
    n_nodes = distance.size
    rank = np.zeros(n_nodes, np.int32)  # arcs to the nearest node that was not open; -1 not known
    for v in range(n_nodes):
        if parent[v] == OPEN:
            rank[v] = -1
    queue = np.empty(n_open, np.int32)
    begin, tail, depth = 0, 0, 1
    for v in range(n_nodes):
        if rank[v] == 0:
            continue
        for arc in range(indptr[v], indptr[v + 1]):
            u = indices[arc]
            if rank[u] == 0 and _is_level(distance, u, v, weights[arc]):
                parent[v] = u
                rank[v] = 1
                queue[tail] = v
                tail += 1
                break
    while begin < tail:
        end = tail
        depth += 1
        for i in range(begin, end):
            u = queue[i]
            for arc in range(indptr[u], indptr[u + 1]):
                v = indices[arc]
                if not _is_level(distance, u, v, weights[arc]):
                    continue
                if rank[v] == -1:
                    rank[v] = depth
                    parent[v] = u
                    queue[tail] = v
                    tail += 1
                elif rank[v] == depth:
                    parent[v] = min(parent[v], u)
        begin = end


@njit([types.void(*ARRAYS, types.int64, F64, OUT_I32)], cache=True, nogil=True)
def parents(indptr, indices, weights, source, distance, parent):
    """Fill ``parent`` ((n_nodes,), out) by the rule of ``sssp``, from right distances."""
    n_nodes, n_open = distance.size, 0
    for v in range(n_nodes):
        if v == source or distance[v] == np.inf:
            parent[v] = source if v == source else UNREACHED
            continue
        parent[v] = OPEN
        for arc in range(np.uintp(indptr[v]), np.uintp(indptr[v + 1])):
            u = np.uintp(indices[arc])
            length = distance[u]
            if length < distance[v] and length + np.float64(weights[arc]) == distance[v]:
                parent[v] = u
                break
        n_open += parent[v] == OPEN
    if n_open:
        _join_plateaus(indptr, indices, weights, distance, n_open, parent)
