"""A connected part of a large graph, grown by passes over all nodes and held as one bit per node.

Most large graphs have one component of nearly all nodes. Bits of millions of nodes stay in a
core's cache where labels do not, and a node is finished at its first neighbour in the part, as in
bottom-up searches. Threads share runs of words: each writes only its own, and what it reads of
others' may be old, never wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit, types

from kernels._cpu.bits import ONE, add, is_in
from kernels._cpu.lanes import lowest
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_U64
from kernels._cpu.threads import Team

N_SAMPLED = 1024  # arcs whose heads are looked at for one of many links
BEGUN = 64  # passes begin once a search has found one node in that many
TRIED = 8  # one run in that many shows whether the first pass pays off
ENOUGH = 16  # one node in that many may remain
Run = tuple[int, int]  # first word, and the one after the last


def grow_part(
    indptr: np.ndarray, indices: np.ndarray, team: Team, runs: Sequence[Run]
) -> np.ndarray | None:
    """A set of connected nodes, as far as a few passes find it.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64
    indices : (n_arcs,) int32
        One arc at least.
    runs : sequence of (int, int)
        Of all words, for threads to share.

    Returns
    -------
    (ceil(n_nodes / 64),) uint64 or None
        One bit per node. None if passes find fewer than half of the nodes, since they would take
        long.
    """
    n_nodes = len(indptr) - 1
    part = np.zeros(-(-n_nodes // 64), np.uint64)
    heads = indices[np.linspace(0, len(indices) - 1, N_SAMPLED).astype(np.int64)]
    hub = int(heads[np.argmax(indptr[heads + 1] - indptr[heads])])
    queue = np.empty(1 + n_nodes // BEGUN, np.int32)
    n_found = int(search_first(indptr, indices, hub, part, queue))
    if n_found < len(queue):
        return None  # a small component

    def gain(some: Sequence[Run]) -> int:
        gained: list[int] = []
        team.run(lambda run: gained.append(grow_run(indptr, indices, *run, part)), some)
        return sum(gained)

    tried, others = runs[::TRIED], [run for i, run in enumerate(runs) if i % TRIED]
    n_new = gain(tried)
    if n_new * ENOUGH < 64 * sum(last - first for first, last in tried):
        return None
    n_found += n_new + gain(others)
    while n_found < n_nodes - n_nodes // ENOUGH:
        n_new = gain(runs)
        n_found += n_new
        if 4 * n_new < n_nodes - n_found:
            break
    return part if 2 * n_found >= n_nodes else None


@njit(inline="always")
def missing_of(part, w, n_nodes):
    """Nodes of word ``w`` that are not in the part."""
    missing = ~part[w]
    n_here = n_nodes - 64 * w
    return missing & ((ONE << np.uint64(n_here)) - ONE) if n_here < 64 else missing


@njit([types.int64(I64, I32, types.int64, OUT_U64, OUT_I32)], cache=True, nogil=True)
def search_first(indptr, indices, start, part, queue):
    """Add to ``part`` the nodes nearest to ``start`` until ``queue`` is full; how many."""
    queue[0] = start
    add(part, start)
    n_found, i = 1, 0
    while i < n_found:
        u = np.int64(queue[i])
        i += 1
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            if not is_in(part, v):
                if n_found == queue.size:
                    return n_found
                add(part, v)
                queue[n_found] = v
                n_found += 1
    return n_found


@njit([types.int64(I64, I32, types.int64, types.int64, OUT_U64)], cache=True, nogil=True)
def grow_run(indptr, indices, first, last, part):
    """Add nodes of words ``first`` to ``last - 1`` that have a neighbour in ``part``; how many."""
    n_new, n_nodes = 0, indptr.size - 1
    for w in range(first, last):
        word = part[w]
        missing = missing_of(part, w, n_nodes)
        while missing != 0:
            bit = lowest(missing)
            missing &= missing - ONE
            u = (np.uintp(w) << np.uintp(6)) + np.uintp(bit)
            for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + np.uintp(1)])):
                if is_in(part, indices[arc]):
                    word |= ONE << bit
                    part[w] = word  # at once: others of the word may be neighbours
                    n_new += 1
                    break
    return n_new
