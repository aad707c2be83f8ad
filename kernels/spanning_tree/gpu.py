"""Minimum spanning forests on one GPU: launches the kernel of ``spanning_tree.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import COOPERATIVE_BLOCK, WARP
from kernels._cuda.launch import BLOCK, cooperative_grid, grid_for, on_device_of
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.spanning_tree.constants import MOST_BITS, NO_KEY
from kernels.types import NODE

EDGE_BYTES = 16  # of one listed edge
FEW_EDGES, FEW_NODES = 1.9, 1 << 19  # edges per node, or nodes, up to which all are listed at once
LIGHT_EDGES = 0.75  # edges per node that come first where there are more
N_SAMPLED = 1024  # weights from which the weight that divides them is estimated
MINUS_ZERO = np.uint32(1 << 31)

Forest = tuple[Any, Any, Any]  # tails, heads, weights


def spanning_forest(indptr: Any, indices: Any, weights: Any, method: str) -> Forest | None:
    """Ends and weights of the forest's edges; None if a weight is negative or not finite."""
    find = {"boruvka": _by_rounds, "kruskal": _by_order, "prim": _by_growth}[method]
    with on_device_of(indptr):
        if indices.size == 0:
            return indices[:0], indices[:0], weights[:0]
        chosen = find(indptr, indices, weights)
        if chosen is None:
            return None
        return _ends(indptr, indices, weights, cp.flatnonzero(chosen))


def _ends(indptr: Any, indices: Any, weights: Any, arcs: Any) -> Forest:
    """Tails, heads and weights of arcs, in one launch: small graphs wait for launches alone."""
    n = arcs.size
    ends = cp.empty(n, NODE), cp.empty(n, NODE), cp.empty(n, np.float32)
    numbers = (cp.int64(indptr.size - 1), arcs, cp.int64(n))
    kernel = load_kernel(__file__, "spanning_tree_ends")
    kernel((grid_for(n),), (BLOCK,), (indptr, indices, weights, *numbers, *ends))
    return ends


def _by_order(indptr: Any, indices: Any, weights: Any) -> Any | None:
    """Kruskal: marks of the chosen arcs. Edges are sorted by all threads, united by one."""
    n_nodes, n_arcs = indptr.size - 1, indices.size
    check_fits(36 * n_arcs + 4 * n_nodes, "a spanning forest")
    bits = _bits(weights)
    if bits is None:
        return None
    tails = cp.searchsorted(indptr, cp.arange(n_arcs), side="right") - 1
    arcs = cp.flatnonzero(tails < indices)
    keys = cp.sort(bits[arcs].astype(np.uint64) << np.uint64(32) | arcs.astype(np.uint64))
    label, chosen = cp.arange(n_nodes, dtype=NODE), cp.zeros(n_arcs, np.uint8)
    load_kernel(__file__, "spanning_tree_kruskal")(
        (1,),
        (COOPERATIVE_BLOCK,),
        (indptr, indices, cp.int64(n_nodes), keys, cp.int64(keys.size), label, chosen),
    )
    return chosen


def _by_growth(indptr: Any, indices: Any, weights: Any) -> Any | None:
    """Prim: marks of the chosen arcs. Each step adds the node at the end of the lightest edge."""
    n_nodes, n_arcs = indptr.size - 1, indices.size
    check_fits(9 * n_nodes + 5 * n_arcs, "a spanning forest")
    if _bits(weights) is None:
        return None
    lightest, least = (cp.full(n, np.uint64(NO_KEY)) for n in (n_nodes, 3))
    inside, chosen = cp.zeros(n_nodes, np.uint8), cp.zeros(n_arcs, np.uint8)
    kernel = load_kernel(__file__, "spanning_tree_prim", cooperative=True)
    kernel(
        (cooperative_grid(kernel, -(-n_nodes // WARP)),),
        (COOPERATIVE_BLOCK,),
        (
            *(indptr, indices, weights, cp.int64(n_nodes)),
            *(lightest, inside, least, chosen, cp.zeros(1, np.uint32)),
        ),
    )
    return chosen


def _bits(weights: Any) -> Any | None:
    """Bits of weights, which ascend with them; None if one is negative or not finite."""
    bits = weights.view(np.uint32)
    bits = cp.where(bits == MINUS_ZERO, np.uint32(0), bits)
    return None if bool((bits > np.uint32(MOST_BITS)).any()) else bits


def _by_rounds(indptr: Any, indices: Any, weights: Any) -> Any | None:
    """Boruvka: marks of the chosen arcs."""
    n_nodes, n_arcs = indptr.size - 1, indices.size
    n_edges = n_arcs // 2
    check_fits(20 * n_nodes + 2 * EDGE_BYTES * n_edges + 9 * n_arcs, "a spanning forest")
    label = cp.empty(n_nodes, NODE)
    lightest = cp.empty(2 * n_nodes, np.uint64)
    lists = cp.empty((2 * n_edges, EDGE_BYTES), np.uint8)
    chosen = cp.zeros(n_arcs, np.uint8)
    state = cp.zeros(5, np.uint32)  # one copy of zeros for all three
    counts, is_invalid, arrivals = state[:3], state[3:4], state[4:]
    light = light_weight(weights, n_nodes, n_edges)
    kernel = load_kernel(__file__, "spanning_tree_boruvka", cooperative=True)
    grid = cooperative_grid(kernel, -(-max(n_nodes, n_arcs) // WARP))
    kernel(
        (grid,),
        (COOPERATIVE_BLOCK,),
        (
            *(indptr, indices, weights, cp.int64(n_nodes)),
            *(np.float32(light), np.int32(light < np.inf)),
            *(label, lightest, lists, cp.int64(n_edges)),
            *(counts, chosen, is_invalid, arrivals),
        ),
    )
    return None if is_invalid else chosen


def light_weight(weights: Any, n_nodes: int, n_edges: int) -> float:
    """A weight that about LIGHT_EDGES edges per node do not exceed; inf where edges are few."""
    if n_edges <= FEW_EDGES * n_nodes or n_nodes < FEW_NODES:
        return np.inf
    sample = np.sort(weights[:: -(-weights.size // N_SAMPLED)].get())
    return float(sample[int(len(sample) * LIGHT_EDGES * n_nodes / n_edges)])
