"""Minimum spanning forests by Boruvka's algorithm on one core or several.

Every tree takes its lightest edge outwards; trees that are joined so become one, named by a small
number; edges inside a tree are dropped; and again. Most steps are passes over arrays in which one
iteration does not wait for the one before, unlike union-find, and which threads share. The first
round finds a node's edge in its own row, later ones in a list of the edges between different trees;
in small graphs, ``cpu_small``, all rounds take the list.
The order of edges is total, so the result does not depend on the number of threads.

Of graphs with many edges per node, those lighter than a sampled weight come first; hardly any of
the others lie between two trees then.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kernels._cpu.threads import Team, n_threads
from kernels.spanning_tree.cpu_passes import (
    ABOVE,
    INFINITE,
    MINUS_ZERO,
    NO_EDGE,
    climb,
    count,
    finish,
    gather,
    hook_nodes,
    hook_trees,
    lightest,
    list_edges,
    number,
    relabel,
)
from kernels.spanning_tree.cpu_small import small_forest
from kernels.types import NODE

LARGE = 1 << 18  # arcs from which threads share the passes; below, starting them costs more
VERY_MANY_ARCS = 50  # per node, from which on light ones come first in small graphs as well
FEW_EDGES = 1 << 15  # between trees, which one thread finishes sooner than several
FEW_TREES = 1 << 13  # which one thread joins sooner than several
MANY_EDGES = 4  # per node, from which on light ones come first
LIGHT_EDGES = 2  # of these, per node, about
N_SAMPLED = 4096  # arcs, whose weights show which edges are light
CHUNKS_EACH = 4  # per thread, so that threads end together though their parts differ
MOST_ARCS = 1 << 18  # of a chunk, about: its edges stay in a core's cache between two passes
Range = tuple[int, int]
Graph = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # with bits, and ``before``


class Chunks(NamedTuple):
    """Edges between trees, in chunks that shrink where they begin."""

    edges: np.ndarray  # (n_edges, 4) uint32
    begins: np.ndarray  # (n_chunks,) int64
    ends: np.ndarray  # (n_chunks,) int64


def boruvka(
    indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Ends and weights of the forest's edges; None if a weight is negative or not finite."""
    n_nodes, n_arcs = len(indptr) - 1, len(indices)
    if n_arcs < LARGE and n_arcs < VERY_MANY_ARCS * n_nodes:
        return small_forest(indptr, indices, weights)
    before, chosen = np.empty(n_nodes, np.int32), np.zeros(n_arcs, np.uint8)
    with Team(n_threads() if n_arcs >= LARGE else 1) as team:
        rows = _rows(indptr, max(_n_chunks(team), n_arcs // MOST_ARCS))
        if not _choose(team, rows, (indptr, indices, weights.view(np.uint32), before), chosen):
            return None
        return _gather(team, rows, (indptr, indices, weights, before, chosen))


def _choose(team: Team, rows: list[Range], graph: Graph, chosen: np.ndarray) -> bool:
    """Set ``chosen`` of the forest's arcs, and ``before``; whether weights are valid."""
    indptr, indices, bits, before = graph
    n_nodes = len(before)
    trees = np.empty((n_nodes, 2), NODE)
    seen = team.map(lambda run: lightest(indptr, indices, bits, *run, trees, before), rows)
    if any(largest >= INFINITE for _, largest in seen):
        return False
    starts = [0, *itertools.accumulate(n for n, _ in seen)]
    begins, edges = np.array(starts[:-1]), np.empty((starts[-1], 4), np.uint32)
    n_trees = _join(team, lambda run: hook_nodes(*run, trees), trees)
    parts = [(*run, begin) for run, begin in zip(rows, starts, strict=False)]

    def join_all(above: int, upto: int, names: np.ndarray) -> int:
        """All rounds of the edges whose bits lie in (above, upto]; how many trees are left."""
        best = np.full(n_trees, NO_EDGE)
        given = *graph, trees, chosen, edges, best, team.size > 1, above, upto
        ends = np.array(team.map(lambda part: list_edges(*given, *part), parts))
        return _rounds(team, Chunks(edges, begins, ends), best, chosen, names)

    limit = _limit(bits, len(edges), n_nodes)
    names = np.arange(n_trees if limit < INFINITE else 0, dtype=NODE)
    n_trees = join_all(-1, limit, names)
    if limit < INFINITE:
        trees[:, ABOVE] = ~names[~trees[:, ABOVE]]
        join_all(limit, int(INFINITE), names[:0])
    return True


def _n_chunks(team: Team) -> int:
    return CHUNKS_EACH * team.size if team.size > 1 else 1


def _rows(indptr: np.ndarray, n_chunks: int) -> list[Range]:
    """Runs of rows with similar numbers of arcs."""
    arcs = np.linspace(0, indptr[-1], n_chunks + 1).astype(np.int64)[1:-1]
    return list(itertools.pairwise([0, *np.searchsorted(indptr, arcs).tolist(), len(indptr) - 1]))


def _limit(bits: np.ndarray, n_edges: int, n_nodes: int) -> int:
    """Bits up to which an edge is light: all are unless there are many per node."""
    if n_edges <= MANY_EDGES * n_nodes:
        return int(INFINITE)
    sample = np.sort(bits[np.linspace(0, len(bits) - 1, N_SAMPLED).astype(np.int64)] & ~MINUS_ZERO)
    return int(sample[N_SAMPLED * LIGHT_EDGES * n_nodes // n_edges])


def _join(team: Team, hook: Callable[[Range], int], trees: np.ndarray) -> int:
    """Number the trees that edges join, all in ``trees``; how many. ``hook`` counts the roots."""
    n_chunks = _n_chunks(team) if len(trees) >= FEW_TREES else 1
    cuts = np.linspace(0, len(trees), n_chunks + 1).astype(np.int64).tolist()
    runs = list(itertools.pairwise(cuts))
    starts = [0, *itertools.accumulate(team.map(hook, runs))]
    numbered = list(zip(runs, starts[:-1], strict=True))
    team.run(lambda part: number(*part[0], part[1], trees), numbered)
    team.run(lambda run: climb(*run, trees), runs)
    return starts[-1]


def _rounds(
    team: Team, chunks: Chunks, best: np.ndarray, chosen: np.ndarray, names: np.ndarray
) -> int:
    """Choose edges until none is left between two trees; how many trees there are then.

    ``names``: trees, each of which gets the number of the one that it is part of in the end.
    """
    edges, begins, ends = chunks
    while team.size > 1 and int((ends - begins).sum()) > FEW_EDGES:
        trees = np.empty((len(best), 1), NODE)

        def hook(run: Range, given: Any = (edges, best, trees, chosen)) -> int:
            return hook_trees(*run, *given)

        best = np.full(_join(team, hook, trees), NO_EDGE)
        names[:] = ~trees[names, ABOVE]

        def rename(part: Range, given: Any = (edges, trees, best, True)) -> int:
            return relabel(*part, *given)

        ends = np.array(team.map(rename, zip(begins.tolist(), ends.tolist(), strict=True)))
    return finish(edges, begins, ends, np.empty((len(best), 1), NODE), best, chosen, names)


def _gather(team: Team, rows: list[Range], given: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ends and weights of the chosen arcs, in their order."""
    indptr, chosen = given[0], given[-1]
    counts = team.map(lambda run: count(chosen, int(indptr[run[0]]), int(indptr[run[1]])), rows)
    starts = [0, *itertools.accumulate(counts)]
    tails, heads = np.empty((2, starts[-1]), NODE)
    theirs = np.empty(starts[-1], np.float32)
    parts = list(zip(rows, itertools.pairwise(starts), strict=True))
    team.run(lambda part: gather(*given, *part[0], *part[1], tails, heads, theirs), parts)
    return tails, heads, theirs
