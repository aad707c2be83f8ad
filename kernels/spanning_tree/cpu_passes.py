"""The passes over nodes, edges and trees that Boruvka's algorithm on cores consists of.

Threads share each: what a pass writes for a node or an edge, one thread writes alone, except the
key of a tree's lightest edge, an atomic minimum.

A tree is at first a node. Until its number is known, it holds the tree that it is put under.
An edge between two trees is four words: the two trees, the weight's bits, which ascend with weights
that are not negative, and the arc from its smaller end. Edges stay in the order of these arcs, so
the bits above an edge's place in the list make a key, and no two are equal.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import lower_to, prefetch
from kernels._cpu.signatures import (
    F32,
    I32,
    I64,
    OUT_F32,
    OUT_I32,
    OUT_I64,
    OUT_U8,
    OUT_U64,
    U8,
    U32,
    returns,
)

EDGES = types.uint32[:, ::1]
TREES = types.int32[:, ::1]
# Columns of ``trees``: the tree that a tree is put under, in the end ``~number``, its number in the
# next round; where the first round goes by rows, also the other end of a node's lightest edge.
ABOVE, NEAR = np.uintp(0), np.uintp(1)
# Columns of ``edges``.
FIRST, SECOND, BITS, ARC = (np.uintp(column) for column in range(4))
INFINITE, MINUS_ZERO = np.uint32(0x7F800000), np.uint32(0x80000000)  # bits of weights
NO_EDGE = np.uint64(2**64 - 1)  # above all keys
_AHEAD = np.uintp(16)  # edges or arcs whose trees are prefetched
_ONE = np.uintp(1)
_LOW, _HALF = np.uint64(2**32 - 1), np.uint64(32)


@njit(inline="always")
def plus_zero(bits):
    """The bits of a weight, where those of -0 become those of 0."""
    return np.uint32(0) if bits == MINUS_ZERO else bits


@njit(
    [returns(2)(I64, I32, U32, types.int64, types.int64, TREES, OUT_I32)],
    cache=True,
    nogil=True,
)
def lightest(indptr, indices, bits, first, last, trees, before):
    """Other ends of the lightest arcs of rows ``first`` to ``last - 1``, their own where none is.

    ``before``: arcs of each row that lead to smaller nodes; they come first. The first of equal
    arcs is the lightest edge: it has the smallest smaller end, then the smallest larger one.
    Returns the arcs to larger nodes, and the greatest bits of a weight.
    """
    largest, n_after = np.uint32(0), np.int64(0)
    for u in range(np.uintp(first), np.uintp(last)):
        best, n_before = NO_EDGE, np.int32(0)
        begin, end = np.uintp(indptr[u]), np.uintp(indptr[u + _ONE])
        for arc in range(begin, end):
            w = plus_zero(bits[arc])
            largest = max(largest, w)
            best = min(best, np.uint64(w) << _HALF | np.uint64(arc - begin))
            n_before += np.int32(indices[arc] < np.int32(u))
        before[u] = n_before
        n_after += np.int64(end - begin) - n_before
        trees[u, NEAR] = indices[begin + np.uintp(best & _LOW)] if end > begin else np.int32(u)
    return n_after, np.int64(largest)


@njit([types.int64(types.int64, types.int64, TREES)], cache=True, nogil=True)
def hook_nodes(first, last, trees):
    """Put nodes under the other ends of their edges; the smaller end of an edge of both stays."""
    n_roots = 0
    for u in range(np.uintp(first), np.uintp(last)):
        v = np.uintp(trees[u, NEAR])
        is_root = (trees[v, NEAR] == np.int32(u)) & (u <= v)
        trees[u, ABOVE] = np.int32(u if is_root else v)
        n_roots += is_root
    return n_roots


@njit([types.void(types.int64, types.int64, types.int64, TREES)], cache=True, nogil=True)
def number(first, last, next_number, trees):
    """Number the roots from ``next_number`` on; all others rise by a step.

    What is read of others may be old or new: an ancestor or its number either way.
    """
    following = np.int32(next_number)
    for u in range(np.uintp(first), np.uintp(last)):
        above = trees[u, ABOVE]
        is_root = above == np.int32(u)
        higher = trees[np.uintp(above), ABOVE]
        trees[u, ABOVE] = ~following if is_root else higher if above >= 0 else above
        following += np.int32(is_root)


@njit([types.void(types.int64, types.int64, TREES)], cache=True, nogil=True)
def climb(first, last, trees):
    """Give each the number of its root; paths are shortened on the way."""
    for u in range(np.uintp(first), np.uintp(last)):
        above = trees[u, ABOVE]
        while above >= 0:
            higher = trees[np.uintp(above), ABOVE]
            trees[u, ABOVE] = higher
            above = higher


@njit([types.void(EDGES, types.uintp, types.uintp, OUT_U64, types.boolean)], cache=True, nogil=True)
def note_lightest(edges, begin, end, best, is_shared):
    """Lower the keys of both trees of each edge; other threads may do the same if it is shared."""
    if is_shared:
        for i in range(begin, end):
            if i + _AHEAD < end:
                prefetch(1, best, np.uintp(edges[i + _AHEAD, FIRST]))
                prefetch(1, best, np.uintp(edges[i + _AHEAD, SECOND]))
            key = np.uint64(edges[i, BITS]) << _HALF | np.uint64(i)
            first, second = np.uintp(edges[i, FIRST]), np.uintp(edges[i, SECOND])
            if key < best[first]:
                lower_to(best, first, key)
            if key < best[second]:
                lower_to(best, second, key)
    else:  # without branches: which edge is lighter cannot be predicted
        for i in range(begin, end):
            key = np.uint64(edges[i, BITS]) << _HALF | np.uint64(i)
            first, second = np.uintp(edges[i, FIRST]), np.uintp(edges[i, SECOND])
            best[first] = min(key, best[first])
            best[second] = min(key, best[second])


@njit(
    [
        types.int64(
            *(I64, I32, U32, I32, TREES, OUT_U8, EDGES, OUT_U64),
            *(types.boolean, *[types.int64] * 5),
        )
    ],
    cache=True,
    nogil=True,
)
def list_edges(
    indptr,
    indices,
    bits,
    before,
    trees,
    chosen,
    edges,
    best,
    is_shared,
    above,
    upto,
    first,
    last,
    begin,
):
    """Write the edges between trees whose bits lie in (above, upto] from ``begin`` on; the end.

    With ``above`` -1 those that the first round takes are chosen, whatever their weight.
    """
    at, n_arcs = np.uintp(begin), np.uintp(indices.size)
    for u in range(np.uintp(first), np.uintp(last)):
        near, tree = trees[u, NEAR], trees[u, ABOVE]
        for arc in range(np.uintp(indptr[u]) + np.uintp(before[u]), np.uintp(indptr[u + _ONE])):
            v = np.uintp(indices[arc])
            if arc + _AHEAD < n_arcs:
                prefetch(1, trees, np.uintp(indices[arc + _AHEAD]))
            other = trees[v, ABOVE]
            if above < 0:
                chosen[arc] = (near == np.int32(v)) | (trees[v, NEAR] == np.int32(u))
            w = plus_zero(bits[arc])
            edges[at, FIRST], edges[at, SECOND] = ~tree, ~other
            edges[at, BITS], edges[at, ARC] = w, arc
            # If it does not count, the next one takes its place.
            at += np.uintp((tree != other) & (np.int64(w) > above) & (np.int64(w) <= upto))
    note_lightest(edges, np.uintp(begin), at, best, is_shared)
    return np.int64(at)


@njit(
    [types.int64(types.int64, types.int64, EDGES, OUT_U64, TREES, OUT_U8)],
    cache=True,
    nogil=True,
)
def hook_trees(first, last, edges, best, trees, chosen):
    """Choose the lightest edge of each tree and put the tree under the other, as ``hook_nodes``."""
    n_roots = 0
    for tree in range(np.uintp(first), np.uintp(last)):
        key, other, is_root = best[tree], np.uintp(tree), True
        if key != NO_EDGE:
            i = np.uintp(key & _LOW)
            other = np.uintp(edges[i, FIRST] ^ edges[i, SECOND]) ^ tree
            is_root = (best[other] == key) & (tree < other)
            chosen[edges[i, ARC]] = 1
        trees[tree, ABOVE] = np.int32(tree if is_root else other)
        n_roots += is_root
    return n_roots


@njit(
    [types.int64(types.int64, types.int64, EDGES, TREES, OUT_U64, types.boolean)],
    cache=True,
    nogil=True,
)
def relabel(begin, end, edges, trees, best, is_shared):
    """Name the edges of a chunk by the new trees, without those inside one; the end of the rest."""
    at, begin, end = np.uintp(begin), np.uintp(begin), np.uintp(end)
    for i in range(begin, end):
        first = ~trees[np.uintp(edges[i, FIRST]), ABOVE]
        second = ~trees[np.uintp(edges[i, SECOND]), ABOVE]
        bits, arc = edges[i, BITS], edges[i, ARC]
        edges[at, FIRST], edges[at, SECOND] = first, second
        edges[at, BITS], edges[at, ARC] = bits, arc
        at += np.uintp(first != second)
    note_lightest(edges, begin, at, best, is_shared)
    return np.int64(at)


@njit(
    [types.int64(EDGES, I64, OUT_I64, TREES, OUT_U64, OUT_U8, OUT_I32)],
    cache=True,
    nogil=True,
)
def finish(edges, begins, ends, trees, best, chosen, names):
    """All further rounds on this thread; ``trees`` is scratch for as many as ``best`` has."""
    n_trees = best.size
    while True:
        n_left = 0
        for chunk in range(begins.size):
            n_left += ends[chunk] - begins[chunk]
        if n_left == 0:
            return n_trees
        n_roots = hook_trees(0, n_trees, edges, best, trees, chosen)
        number(0, n_trees, 0, trees)
        climb(0, n_trees, trees)
        n_trees = n_roots
        for i in range(names.size):
            names[i] = ~trees[np.uintp(names[i]), ABOVE]
        best[:n_trees] = NO_EDGE
        for chunk in range(begins.size):
            ends[chunk] = relabel(begins[chunk], ends[chunk], edges, trees, best, False)


@njit([types.int64(U8, types.int64, types.int64)], cache=True, nogil=True)
def count(chosen, begin, end):
    """Chosen arcs."""
    n = 0
    for arc in range(begin, end):
        n += chosen[arc]
    return n


@njit(
    [
        types.void(
            *(I64, I32, F32, I32, U8, types.int64, types.int64, types.int64, types.int64),
            *(OUT_I32, OUT_I32, OUT_F32),
        )
    ],
    cache=True,
    nogil=True,
)
def gather(indptr, indices, weights, before, chosen, first, last, begin, end, tails, heads, theirs):
    """Write the chosen arcs of rows ``first`` to ``last - 1`` from ``begin`` to ``end - 1``."""
    at = np.uintp(begin)
    for u in range(np.uintp(first), np.uintp(last)):
        for arc in range(np.uintp(indptr[u]) + np.uintp(before[u]), np.uintp(indptr[u + _ONE])):
            if at == np.uintp(end):
                return  # what follows belongs to another thread
            tails[at], heads[at], theirs[at] = np.int32(u), indices[arc], weights[arc]
            at += np.uintp(chosen[arc])  # else the next one takes its place
