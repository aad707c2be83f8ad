"""Find the first fault of CSR arrays, in words; one pass over the arcs, on the host."""

from __future__ import annotations

import numpy as np
from numba import njit

from kernels._cpu.signatures import F32, I32, I64, returns
from kernels.errors import GraphError

OK, START, DECREASE, END, RANGE, LOOP, UNSORTED, REPEATED, ONE_WAY = range(9)
W_FINITE, W_NEGATIVE, W_ONE_WAY, LEAVES = range(9, 13)


def check_csr(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> None:
    """Raise GraphError unless the arrays are a symmetric, sorted, loop-free CSR graph.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64; indices : (n_arcs,) int32; weights : (n_arcs,) float32 or None
        On the host, dtypes right already.

    Notes
    -----
    Symmetry in one pass: rows are sorted, so the arcs (u, v) met for rising u are, for each v,
    the row of v in its order. A cursor in each row finds the first that is not.
    """
    if len(indptr) == 0:
        raise GraphError("indptr is empty; a graph without nodes has indptr [0]")
    n_nodes, n_arcs = len(indptr) - 1, len(indices)
    if n_nodes > 2**31 - 1:
        raise GraphError(f"{n_nodes} nodes; node ids are int32, at most {2**31 - 1} fit")
    code, u, v, arc = _structure_fault(indptr, indices)
    if code == OK and weights is not None:
        code, u, v, arc = _weight_fault(indptr, indices, weights)
    if code == OK:
        return
    if code == START:
        raise GraphError(f"indptr starts with {indptr[0]}; it must start with 0")
    if code == DECREASE:
        raise GraphError(
            f"indptr decreases at node {u}: indptr[{u}] = {indptr[u]}, "
            f"indptr[{u + 1}] = {indptr[u + 1]}"
        )
    if code == END:
        raise GraphError(f"indptr ends with {indptr[-1]}; there are {n_arcs} arcs in indices")
    messages = {
        RANGE: f"indices[{arc}] = {v} (an arc of node {u}) is not a node; there are {n_nodes}",
        LOOP: f"indices[{arc}]: node {u} has an arc to itself",
        UNSORTED: f"indices[{arc}] = {v}: the arcs of node {u} are not in ascending order",
        REPEATED: f"indices[{arc}]: the arc {u} -> {v} occurs twice",
        ONE_WAY: f"the arc {u} -> {v} has no arc back {v} -> {u}; graphs must be symmetric: "
        "CSRGraph.from_edges(..., symmetrise=True) makes both",
        W_FINITE: f"weights[{arc}] of the arc {u} -> {v} is not finite",
        W_NEGATIVE: f"weights[{arc}] of the arc {u} -> {v} is negative",
        W_ONE_WAY: f"weights[{arc}] of the arc {u} -> {v} is not the weight of {v} -> {u}",
    }
    value = "" if code < W_FINITE or weights is None else f": {weights[arc]}"
    raise GraphError(messages[code] + value)


def check_shard_borders(indptr: np.ndarray, indices: np.ndarray, node_ptr: np.ndarray) -> None:
    """Raise GraphError unless ``node_ptr`` cuts the nodes into graphs that no arc leaves."""
    n_nodes = len(indptr) - 1
    if len(node_ptr) == 0:
        raise GraphError("node_ptr is empty; a shard without graphs has node_ptr [0]")
    if node_ptr[0] != 0 or node_ptr[-1] != n_nodes:
        raise GraphError(
            f"node_ptr runs from {node_ptr[0]} to {node_ptr[-1]}; it must run from 0 to the number "
            f"of nodes, {n_nodes}"
        )
    falls = np.flatnonzero(np.diff(node_ptr) < 0)
    if len(falls):
        i = falls[0]
        raise GraphError(
            f"node_ptr decreases at graph {i}: node_ptr[{i}] = {node_ptr[i]}, "
            f"node_ptr[{i + 1}] = {node_ptr[i + 1]}"
        )
    graph, u, v = _border_fault(indptr, indices, node_ptr)
    if graph >= 0:
        raise GraphError(
            f"the arc {u} -> {v} leaves graph {graph}, whose nodes are "
            f"{node_ptr[graph]} to {node_ptr[graph + 1] - 1}"
        )


@njit([returns(4)(I64, I32)], cache=True, nogil=True)
def _structure_fault(indptr, indices):
    n_nodes, n_arcs = indptr.size - 1, indices.size
    if indptr[0] != 0:
        return START, 0, 0, 0
    for u in range(n_nodes):
        if indptr[u + 1] < indptr[u]:
            return DECREASE, u, 0, 0
    if indptr[n_nodes] != n_arcs:
        return END, 0, 0, 0
    for u in range(n_nodes):
        before = np.int64(-1)
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            if v < 0 or v >= n_nodes:
                return RANGE, u, v, arc
            if v == u:
                return LOOP, u, v, arc
            if v == before:
                return REPEATED, u, v, arc
            if v < before:
                return UNSORTED, u, v, arc
            before = v
    cursor = indptr[:-1].copy()
    for u in range(n_nodes):
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            at = cursor[v]
            if at == indptr[v + 1] or indices[at] > u:
                return ONE_WAY, u, v, arc
            if indices[at] < u:  # the row of indices[at] has no such arc
                return ONE_WAY, v, np.int64(indices[at]), at
            cursor[v] = at + 1
    return OK, 0, 0, 0


@njit([returns(4)(I64, I32, F32)], cache=True, nogil=True)
def _weight_fault(indptr, indices, weights):
    """The structure is right already."""
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            if not np.isfinite(weights[arc]):
                return W_FINITE, u, np.int64(indices[arc]), arc
            if weights[arc] < 0:
                return W_NEGATIVE, u, np.int64(indices[arc]), arc
    cursor = indptr[:-1].copy()
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            if weights[cursor[v]] != weights[arc]:
                return W_ONE_WAY, u, v, arc
            cursor[v] += 1
    return OK, 0, 0, 0


@njit([returns(3)(I64, I32, I64)], cache=True, nogil=True)
def _border_fault(indptr, indices, node_ptr):
    for graph in range(node_ptr.size - 1):
        first, last = node_ptr[graph], node_ptr[graph + 1]
        for u in range(first, last):
            for arc in range(indptr[u], indptr[u + 1]):
                v = np.int64(indices[arc])
                if v < first or v >= last:
                    return graph, u, v
    return -1, 0, 0
