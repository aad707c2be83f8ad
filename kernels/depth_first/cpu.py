"""Depth-first search on one core: a stack of nodes, and the arcs that each of them has left.

Whether a node was found is one bit, so that bits of millions of nodes stay in a core's cache. The
first wait for memory at a new node, for where its arcs begin, cannot be avoided: which node comes
next is known only then. On the way back the nodes are known, and their arcs are prefetched early.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import prefetch
from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_I64, OUT_U64
from kernels.types import NODE, OFFSET

AHEAD = 6  # places of the stack between asking for a node's next arcs and coming back to it
ONE, SIX, LOW = np.uint64(1), np.uint64(6), np.uint64(63)
NONE, NEXT = np.uintp(0), np.uintp(1)


def search(
    indptr: np.ndarray,
    indices: np.ndarray,
    source: int,
    discovery: np.ndarray,
    finish: np.ndarray,
    parent: np.ndarray,
) -> np.ndarray:
    """Fill the arrays of reached nodes; returns these in the order of discovery.

    Source -1: every node, from the smallest one not yet found in turn.
    """
    n_nodes = len(indptr) - 1
    order, stack = np.empty(n_nodes, NODE), np.empty(n_nodes, NODE)
    arcs = np.empty((2, n_nodes), OFFSET)
    bits = np.zeros(n_nodes // 64 + 1, np.uint64)
    n_found = walk(
        indptr, indices, source, bits, stack, arcs[0], arcs[1], discovery, finish, parent, order
    )
    return order if n_found == n_nodes else order[:n_found].copy()


OUT = (OUT_I64, OUT_I64, OUT_I64, OUT_I64, OUT_I32, OUT_I32)


@njit([types.int64(I64, I32, types.int64, OUT_U64, OUT_I32, *OUT)], cache=True, nogil=True)
def walk(indptr, indices, source, bits, stack, at, end, discovery, finish, parent, order):
    """``bits`` are zero; ``stack``, ``at`` and ``end``, a value per node, are scratch."""
    n_nodes = indptr.size - 1
    first, stop = (np.int64(0), n_nodes) if source < 0 else (source, source + 1)
    clock, n_found = np.int64(0), NONE
    for root in range(first, stop):
        u = np.uintp(root)
        if bits[u >> np.uintp(6)] >> (np.uint64(root) & LOW) & ONE:
            continue
        bits[u >> np.uintp(6)] |= ONE << (np.uint64(root) & LOW)
        discovery[u], parent[u] = clock, root
        order[n_found] = root
        clock += 1
        n_found += NEXT
        top = NONE
        stack[top] = root
        arc, last = np.uintp(indptr[u]), np.uintp(indptr[u + NEXT])
        end[top] = last
        while True:
            while arc < last:
                v = np.uint64(indices[arc])
                arc += NEXT
                word = bits[v >> SIX]
                if (word >> (v & LOW)) & ONE == 0:
                    w = np.uintp(v)
                    at[top] = arc
                    arc, last = np.uintp(indptr[w]), np.uintp(indptr[w + NEXT])
                    bits[v >> SIX] = word | (ONE << (v & LOW))
                    discovery[w], parent[w] = clock, u
                    order[n_found] = w
                    clock += 1
                    n_found += NEXT
                    top += NEXT
                    stack[top] = w
                    end[top] = last
                    u = w
            finish[u] = clock
            clock += 1
            if top == NONE:
                break
            top -= NEXT
            u = np.uintp(stack[top])
            arc, last = np.uintp(at[top]), np.uintp(end[top])
            if top >= np.uintp(AHEAD):
                prefetch(1, indices, np.uintp(at[top - np.uintp(AHEAD)]) >> NEXT)
    return np.int64(n_found)
