"""Minimum spanning forests on one core: filter-Kruskal, Kruskal and Prim, to compare with.

An edge is named by the arc from its smaller end, so edges of equal weight ascend by the smaller
end, then by the larger one, as their arcs do. Its key is the weight's bits, which ascend with
weights that are not negative, above the number of that arc: no two are equal.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import prefetch
from kernels._cpu.signatures import F32, I32, I64, OUT_F32, OUT_I32, OUT_U8, OUT_U64, U8
from kernels.connected.cpu import root_of
from kernels.spanning_tree.cpu_boruvka import boruvka
from kernels.types import NODE

# Edges up to which a part is sorted whole: fewer take longer to divide and filter than that saves.
SMALL_PART = 1 << 19
N_SAMPLED = 63  # keys of a part, whose median divides it: an odd number
MOST_PARTS = 128  # parts that wait; beyond that (only strange weights need it) one is sorted whole
AHEAD = 12  # edges whose labels are prefetched
DIGIT, N_DIGITS = 11, 3  # bits of a weight that one pass sorts by, and passes
KEYS = types.uint64[:, ::1]


def spanning_forest(
    indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray, method: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Ends and weights of the forest's edges; None if a weight is negative or not finite."""
    n_nodes, n_edges = len(indptr) - 1, len(indices) // 2
    if method == "boruvka":
        return boruvka(indptr, indices, weights)
    chosen = np.zeros(len(indices), np.uint8)
    if method == "prim":
        if not are_weights(weights):
            return None
        heap, place, parent = np.empty((3, n_nodes), NODE)
        best = np.empty(n_nodes, np.float32)
        prim(indptr, indices, weights, heap, place, parent, best, chosen)
    else:
        keys, ends = np.empty((2, n_edges), np.uint64), np.empty((2, n_edges), np.uint64)
        if not list_edges(indptr, indices, weights, keys[0], ends[0]):
            return None
        label = np.arange(n_nodes, dtype=NODE)
        small = SMALL_PART if method == "filter-kruskal" else n_edges
        kruskal(keys, ends, small, label, chosen)
    n_chosen = int(np.count_nonzero(chosen))
    tails, heads = np.empty((2, n_chosen), NODE)
    theirs = np.empty(n_chosen, np.float32)
    gather(indptr, indices, weights, chosen, tails, heads, theirs)
    return tails, heads, theirs


@njit([types.boolean(F32)], cache=True, nogil=True)
def are_weights(weights):
    """Whether each is finite and not negative."""
    valid = True
    for w in weights:
        valid &= (w >= 0) & (w < np.inf)
    return valid


@njit([types.boolean(I64, I32, F32, OUT_U64, OUT_U64)], cache=True, nogil=True)
def list_edges(indptr, indices, weights, keys, ends):
    """Key and ends (the smaller one in the upper half) of each edge; whether weights are valid."""
    bits = (weights + np.float32(0)).view(np.uint32)  # -0 becomes 0
    n = 0
    valid = True
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            v = indices[arc]
            if v > u:
                valid &= (weights[arc] >= 0) & (weights[arc] < np.inf)
                keys[n] = np.uint64(bits[arc]) << np.uint64(32) | np.uint64(arc)
                ends[n] = np.uint64(u) << np.uint64(32) | np.uint64(v)
                n += 1
    return valid


@njit(cache=True, nogil=True)
def _sort(keys, ends, at, begin, end):
    """Sort a part by weight, from where it is (``at``); returns where it is then.

    One digit after another, the lowest first; each pass keeps the order of equal digits, so edges
    of equal weight stay in the order of arcs. A digit that all have is skipped.
    """
    radix = 1 << DIGIT
    mask = np.uint64(radix - 1)
    count = np.zeros((N_DIGITS, radix), np.int64)
    for i in range(begin, end):
        bits = keys[at, i] >> np.uint64(32)
        for digit in range(N_DIGITS):
            count[digit, (bits >> np.uint64(DIGIT * digit)) & mask] += 1
    for digit in range(N_DIGITS):
        shift = np.uint64(32 + DIGIT * digit)
        if count[digit, (keys[at, begin] >> shift) & mask] == end - begin:
            continue
        place = np.int64(begin)
        for value in range(radix):
            of_value = count[digit, value]
            count[digit, value] = place
            place += of_value
        for i in range(begin, end):
            value = (keys[at, i] >> shift) & mask
            to = count[digit, value]
            count[digit, value] = to + 1
            keys[1 - at, to], ends[1 - at, to] = keys[at, i], ends[at, i]
        at = 1 - at
    return at


@njit(cache=True, nogil=True)
def _prefetch_labels(label, ends, i):
    if i < ends.size:
        prefetch(1, label, np.uintp(ends[i] >> np.uint64(33)))  # two labels share a word
        prefetch(1, label, np.uintp((ends[i] & np.uint64(0xFFFFFFFF)) >> np.uint64(1)))


@njit(cache=True, nogil=True)
def _unite(keys, ends, begin, end, label, chosen, n_left):
    """Choose the sorted edges that join two trees; how many may still be chosen."""
    for i in range(begin, end):
        if n_left == 0:
            break
        _prefetch_labels(label, ends, i + AHEAD)
        u = root_of(label, np.int64(ends[i] >> np.uint64(32)))
        v = root_of(label, np.int64(ends[i] & np.uint64(0xFFFFFFFF)))
        if u != v:
            label[max(u, v)] = min(u, v)
            chosen[keys[i] & np.uint64(0xFFFFFFFF)] = 1
            n_left -= 1
    return n_left


@njit(cache=True, nogil=True)
def _leave_out(keys, ends, begin, end, label):
    """Move the edges between different trees to the front; where they end."""
    kept = begin
    for i in range(begin, end):
        _prefetch_labels(label, ends, i + AHEAD)
        u = root_of(label, np.int64(ends[i] >> np.uint64(32)))
        v = root_of(label, np.int64(ends[i] & np.uint64(0xFFFFFFFF)))
        if u != v:
            keys[kept], ends[kept] = keys[i], ends[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _part(keys, ends, at, begin, end):
    """Move the edges up to the median of a sample to the front of the other place, in order."""
    sample = np.empty(N_SAMPLED, np.uint64)
    for i in range(N_SAMPLED):
        sample[i] = keys[at, begin + (end - begin) * (2 * i + 1) // (2 * N_SAMPLED)]
    sample.sort()
    pivot = sample[N_SAMPLED // 2]
    middle = begin
    for i in range(begin, end):
        middle += keys[at, i] <= pivot
    low, high = begin, middle
    for i in range(begin, end):
        is_low = keys[at, i] <= pivot
        to = low if is_low else high
        keys[1 - at, to], ends[1 - at, to] = keys[at, i], ends[at, i]
        low += is_low
        high += not is_low
    return middle


@njit([types.void(KEYS, KEYS, types.int64, OUT_I32, OUT_U8)], cache=True, nogil=True)
def kruskal(keys, ends, small, label, chosen):
    """Set ``chosen`` of the forest's arcs; ``small`` edges are sorted whole.

    ``keys`` and ``ends`` (2, n_edges) hold the edges in their first rows; the others are scratch.
    ``label`` is each node's own id at first; afterwards a root is the smallest node of its tree.
    """
    stack = np.empty((MOST_PARTS, 3), np.int64)  # the lightest on top: where, begin, end
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, keys.shape[1]
    height, n_left, is_first = 1, label.size - 1, True
    while height > 0 and n_left > 0:
        height -= 1
        at, begin, end = stack[height]
        if not is_first:
            end = _leave_out(keys[at], ends[at], begin, end, label)
        while end - begin > small and height < stack.shape[0]:
            middle = _part(keys, ends, at, begin, end)
            at = 1 - at
            stack[height, 0], stack[height, 1], stack[height, 2] = at, middle, end
            height += 1
            end = middle
        if end > begin:
            at = _sort(keys, ends, at, begin, end)
            n_left = _unite(keys[at], ends[at], begin, end, label, chosen, n_left)
        is_first = False


@njit(inline="always")
def _comes_first(best, parent, u, v):
    """Whether the edge by which u would join its tree comes before that of v."""
    if best[u] != best[v]:
        return best[u] < best[v]
    p, q = np.int64(parent[u]), np.int64(parent[v])
    low_u, low_v = min(p, u), min(q, v)
    return low_u < low_v or (low_u == low_v and max(p, u) < max(q, v))


@njit(cache=True, nogil=True)
def _rise(heap, place, best, parent, at):
    node = np.int64(heap[at])
    while at > 0:
        above = (at - 1) >> 1
        other = np.int64(heap[above])
        if not _comes_first(best, parent, node, other):
            break
        heap[at] = other
        place[other] = at
        at = above
    heap[at] = node
    place[node] = at


@njit(cache=True, nogil=True)
def _take_first(heap, place, best, parent, size):
    """Take the first of ``size`` nodes out of the heap."""
    first, node = np.int64(heap[0]), np.int64(heap[size - 1])
    size -= 1
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size:
            left, right = np.int64(heap[below]), np.int64(heap[below + 1])
            below += _comes_first(best, parent, right, left)
        other = np.int64(heap[below])
        if not _comes_first(best, parent, other, node):
            break
        heap[at] = other
        place[other] = at
        at = below
    if size > 0:
        heap[at] = node
        place[node] = at
    return first


@njit(inline="always")
def _arc_to(indptr, indices, u, v):
    """The arc from u to its neighbour v."""
    low, high = indptr[u], indptr[u + 1]
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low


OUTSIDE, INSIDE = -1, -2  # of a tree that grows, and not beside it


@njit(
    [types.void(I64, I32, F32, OUT_I32, OUT_I32, OUT_I32, OUT_F32, OUT_U8)],
    cache=True,
    nogil=True,
)
def prim(indptr, indices, weights, heap, place, parent, best, chosen):
    """Set ``chosen`` of the forest's arcs; the other arrays are scratch, one value per node."""
    place[:] = OUTSIDE
    for root in range(place.size):
        if place[root] != OUTSIDE:
            continue
        size, u = 0, np.int64(root)
        place[u] = INSIDE
        while True:
            for arc in range(indptr[u], indptr[u + 1]):
                v = np.int64(indices[arc])
                at = place[v]
                if at == INSIDE or (at != OUTSIDE and weights[arc] > best[v]):
                    continue
                if at == OUTSIDE:
                    at = size
                    heap[size] = v
                    size += 1
                elif weights[arc] == best[v]:
                    p = np.int64(parent[v])
                    low, low_p = min(u, v), min(p, v)
                    if low > low_p or (low == low_p and max(u, v) > max(p, v)):
                        continue
                best[v], parent[v] = weights[arc], u
                _rise(heap, place, best, parent, at)
            if size == 0:
                break
            u = _take_first(heap, place, best, parent, size)
            size -= 1
            place[u] = INSIDE
            p = np.int64(parent[u])
            chosen[_arc_to(indptr, indices, min(p, u), max(p, u))] = 1


@njit(
    [
        types.void(
            I64,
            I32,
            F32,
            U8,
            OUT_I32,
            OUT_I32,
            types.float32[::1],
        )
    ],
    cache=True,
    nogil=True,
)
def gather(indptr, indices, weights, chosen, tails, heads, theirs):
    """Ends and weights of the chosen arcs, in their order."""
    n = 0
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            if chosen[arc]:
                tails[n], heads[n] = u, indices[arc]
                theirs[n] = weights[arc]
                n += 1
