"""Minimum spanning forests by Boruvka's algorithm on one core or several.

Every tree takes its lightest edge outwards; trees that are joined so become one, named by a small
number; edges inside a tree are dropped; and again. Most steps are passes over arrays in which one
iteration does not wait for the one before, unlike union-find, and which threads share.

The first round finds a node's edge in its own row. Later ones keep each edge between two trees
once, in four words: the two trees, the weight's bits, which ascend with weights that are not
negative, and the arc from its smaller end. Edges stay in the order of these arcs, so the bits above
an edge's place in the list make a key, no two are equal, and the lightest edge of a tree is an
atomic minimum: the result does not depend on the number of threads.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import lower_to, prefetch, write
from kernels._cpu.signatures import F32, I32, I64, OUT_I32, OUT_I64, OUT_U8, OUT_U64, U8, U32, returns
from kernels._cpu.threads import Team, n_threads
from kernels.types import NODE

LARGE = 1 << 18  # arcs from which threads share the passes; below, starting them costs more
FEW_EDGES = 1 << 15  # between trees, which one thread finishes sooner than several
FEW_TREES = 1 << 13  # which one thread joins sooner than several
CHUNKS_EACH = 4  # per thread, so that threads end together though their parts differ
MOST_ARCS = 1 << 18  # of a chunk, about: its edges stay in a core's cache between two passes
EDGES = types.uint32[:, ::1]
TREES = types.int32[:, ::1]
OUT_F32 = types.float32[::1]
_AHEAD = np.uintp(16)  # edges or arcs whose trees are prefetched
_ONE = np.uintp(1)
_TOP, _MINUS_ZERO = np.uint32(0x7F800000), np.uint32(0x80000000)  # bits of inf and of -0
_NONE, _LOW, _HALF = np.uint64(2**64 - 1), np.uint64(2**32 - 1), np.uint64(32)
# Columns of ``trees``: the other end of a tree's lightest edge; the tree that it is put under, at
# last ``~number``, the number of its tree in the next round.
NEAR, ABOVE = np.uintp(0), np.uintp(1)
# Columns of ``edges``.
FIRST, SECOND, BITS, ARC = (np.uintp(column) for column in range(4))
Range = tuple[int, int]


class Chunks(NamedTuple):
    """Edges between trees, in chunks that shrink where they begin."""

    edges: np.ndarray  # (n_edges, 4) uint32
    begins: np.ndarray  # (n_chunks,) int64
    ends: np.ndarray  # (n_chunks,) int64


def boruvka(
    indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Ends and weights of the forest's edges; None if a weight is negative or not finite."""
    bits = weights.view(np.uint32)
    with Team(n_threads() if len(indices) >= LARGE else 1) as team:
        n_nodes, is_shared = len(indptr) - 1, team.size > 1
        rows = _rows(indptr, max(_n_chunks(team), len(indices) // MOST_ARCS))
        trees, before = np.empty((n_nodes, 2), NODE), np.empty(n_nodes, np.int32)
        seen = team.map(lambda run: lightest(indptr, indices, bits, *run, trees, before), rows)
        if any(largest >= _TOP for _, largest in seen):
            return None
        chosen = np.zeros(len(indices), np.uint8)
        begins = np.array([0, *itertools.accumulate(n for n, _ in seen)])
        edges = np.empty((int(begins[-1]), 4), np.uint32)
        n_trees = _join(team, lambda run: hook_nodes(*run, trees), trees)
        best = np.full(n_trees, _NONE)
        shared = indptr, indices, bits, before, trees, chosen, edges, best, is_shared
        ends = team.map(
            lambda part: list_edges(*shared, *part[0], part[1]),
            list(zip(rows, begins[:-1].tolist(), strict=True)),
        )
        _rounds(team, Chunks(edges, begins[:-1].copy(), np.array(ends)), best, chosen)
        del edges, trees, shared
        return _gather(team, rows, (indptr, indices, weights, before, chosen))


def _n_chunks(team: Team) -> int:
    return CHUNKS_EACH * team.size if team.size > 1 else 1


def _rows(indptr: np.ndarray, n_chunks: int) -> list[Range]:
    """Runs of rows with similar numbers of arcs."""
    arcs = np.linspace(0, indptr[-1], n_chunks + 1).astype(np.int64)[1:-1]
    return list(itertools.pairwise([0, *np.searchsorted(indptr, arcs).tolist(), len(indptr) - 1]))


def _join(team: Team, hook, trees: np.ndarray) -> int:
    """Number the trees that edges join, all in ``trees``; how many. ``hook`` counts the roots."""
    n_chunks = _n_chunks(team) if len(trees) >= FEW_TREES else 1
    cuts = np.linspace(0, len(trees), n_chunks + 1).astype(np.int64).tolist()
    runs = list(itertools.pairwise(cuts))
    starts = [0, *itertools.accumulate(team.map(hook, runs))]
    numbered = list(zip(runs, starts[:-1], strict=True))
    team.run(lambda part: number(*part[0], part[1], trees), numbered)
    team.run(lambda run: climb(*run, trees), runs)
    return starts[-1]


def _rounds(team: Team, chunks: Chunks, best: np.ndarray, chosen: np.ndarray) -> None:
    """Choose edges until none is left between two trees."""
    edges, begins, ends = chunks
    while team.size > 1 and int((ends - begins).sum()) > FEW_EDGES:
        trees = np.empty((len(best), 2), NODE)
        shared = edges, best, trees, chosen
        best = np.full(_join(team, lambda run, s=shared: hook_trees(*run, *s), trees), _NONE)
        rest = edges, trees, best, True
        parts = list(zip(begins.tolist(), ends.tolist(), strict=True))
        ends = np.array(team.map(lambda part, r=rest: relabel(*part, *r), parts))
    finish(edges, begins, ends, np.empty((len(best), 2), NODE), best, chosen)


def _gather(team: Team, rows: list[Range], given) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends and weights of the chosen arcs, in their order."""
    indptr, chosen = given[0], given[-1]
    counts = team.map(lambda run: count(chosen, int(indptr[run[0]]), int(indptr[run[1]])), rows)
    starts = [0, *itertools.accumulate(counts)]
    tails, heads = np.empty((2, starts[-1]), NODE)
    theirs = np.empty(starts[-1], np.float32)
    parts = list(zip(rows, itertools.pairwise(starts), strict=True))
    team.run(lambda part: gather(*given, *part[0], *part[1], tails, heads, theirs), parts)
    return tails, heads, theirs


@njit(inline="always")
def _plus_zero(bits):
    return np.uint32(0) if bits == _MINUS_ZERO else bits


@njit(
    [returns(2)(I64, I32, U32, types.int64, types.int64, TREES, OUT_I32)],
    cache=True,
    nogil=True,
)
def lightest(indptr, indices, bits, first, last, trees, before):
    """Other ends of the lightest arcs of rows ``first`` to ``last - 1``, their own where none is.

    ``before``: arcs of each row that lead to smaller nodes; they come first. Of equal arcs the
    first one is the lightest edge: it has the smallest smaller end, then the smallest larger one.
    Returns the arcs to larger nodes, and the greatest bits of a weight.
    """
    largest, n_after = np.uint32(0), np.int64(0)
    for u in range(np.uintp(first), np.uintp(last)):
        best, n_before = _NONE, np.int32(0)
        begin, end = np.uintp(indptr[u]), np.uintp(indptr[u + _ONE])
        for arc in range(begin, end):
            w = _plus_zero(bits[arc])
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
def _note_lightest(edges, begin, end, best, is_shared):
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
    else:
        for i in range(begin, end):
            if i + _AHEAD < end:
                prefetch(1, best, np.uintp(edges[i + _AHEAD, FIRST]))
                prefetch(1, best, np.uintp(edges[i + _AHEAD, SECOND]))
            key = np.uint64(edges[i, BITS]) << _HALF | np.uint64(i)
            first, second = np.uintp(edges[i, FIRST]), np.uintp(edges[i, SECOND])
            # Without a branch this takes several times as long: each would wait for the last.
            if key < best[first]:
                write(best, first, key)
            if key < best[second]:
                write(best, second, key)


@njit(
    [
        types.int64(
            *(I64, I32, U32, I32, TREES, OUT_U8, EDGES, OUT_U64),
            *(types.boolean, types.int64, types.int64, types.int64),
        )
    ],
    cache=True,
    nogil=True,
)
def list_edges(
    indptr, indices, bits, before, trees, chosen, edges, best, is_shared, first, last, begin
):
    """Write the edges between trees from ``begin`` on, choose those of the first round; the end."""
    at, n_arcs = np.uintp(begin), np.uintp(indices.size)
    for u in range(np.uintp(first), np.uintp(last)):
        near, tree = trees[u, NEAR], trees[u, ABOVE]
        for arc in range(np.uintp(indptr[u]) + np.uintp(before[u]), np.uintp(indptr[u + _ONE])):
            v = np.uintp(indices[arc])
            if arc + _AHEAD < n_arcs:
                prefetch(1, trees, np.uintp(indices[arc + _AHEAD]))
            other = trees[v, ABOVE]
            chosen[arc] = (near == np.int32(v)) | (trees[v, NEAR] == np.int32(u))
            edges[at, FIRST], edges[at, SECOND] = ~tree, ~other
            edges[at, BITS], edges[at, ARC] = _plus_zero(bits[arc]), arc
            at += np.uintp(tree != other)  # else the next one takes its place
    _note_lightest(edges, np.uintp(begin), at, best, is_shared)
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
        key, other, is_root = best[tree], tree, True
        if key != _NONE:
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
        if i + _AHEAD < end:
            prefetch(1, trees, np.uintp(edges[i + _AHEAD, FIRST]))
            prefetch(1, trees, np.uintp(edges[i + _AHEAD, SECOND]))
        first = ~trees[np.uintp(edges[i, FIRST]), ABOVE]
        second = ~trees[np.uintp(edges[i, SECOND]), ABOVE]
        bits, arc = edges[i, BITS], edges[i, ARC]
        edges[at, FIRST], edges[at, SECOND] = first, second
        edges[at, BITS], edges[at, ARC] = bits, arc
        at += np.uintp(first != second)
    _note_lightest(edges, begin, at, best, is_shared)
    return np.int64(at)


@njit(
    [types.void(EDGES, I64, OUT_I64, TREES, OUT_U64, OUT_U8)],
    cache=True,
    nogil=True,
)
def finish(edges, begins, ends, trees, best, chosen):
    """All further rounds on this thread; ``trees`` is scratch for as many as ``best`` has."""
    n_trees = best.size
    while True:
        n_left = 0
        for chunk in range(begins.size):
            n_left += ends[chunk] - begins[chunk]
        if n_left == 0:
            return
        n_roots = hook_trees(0, n_trees, edges, best, trees, chosen)
        number(0, n_trees, 0, trees)
        climb(0, n_trees, trees)
        n_trees = n_roots
        best[:n_trees] = _NONE
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
def gather(
    indptr, indices, weights, before, chosen, first, last, begin, end, tails, heads, theirs
):
    """Write the chosen arcs of rows ``first`` to ``last - 1`` from ``begin`` to ``end - 1``."""
    at = np.uintp(begin)
    for u in range(np.uintp(first), np.uintp(last)):
        for arc in range(np.uintp(indptr[u]) + np.uintp(before[u]), np.uintp(indptr[u + _ONE])):
            if at == np.uintp(end):
                return  # what follows belongs to another thread
            tails[at], heads[at], theirs[at] = np.int32(u), indices[arc], weights[arc]
            at += np.uintp(chosen[arc])  # else the next one takes its place
