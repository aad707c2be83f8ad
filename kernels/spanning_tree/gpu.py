"""Minimum spanning forests on one GPU: launches the kernel of ``spanning_tree.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import COOPERATIVE_BLOCK, WARP
from kernels._cuda.launch import cooperative_grid, on_device_of
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.types import NODE

EDGE_BYTES = 16  # of one listed edge
FEW_EDGES, FEW_NODES = 1.9, 1 << 19  # edges per node, or nodes, up to which all are listed at once
LIGHT_EDGES = 0.75  # edges per node that come first where there are more
N_SAMPLED = 1024  # weights from which the weight that divides them is estimated


def spanning_forest(indptr: Any, indices: Any, weights: Any) -> tuple[Any, Any, Any] | None:
    """Ends and weights of the forest's edges; None if a weight is negative or not finite."""
    with on_device_of(indptr):
        n_nodes, n_arcs = indptr.size - 1, indices.size
        n_edges = n_arcs // 2
        if n_edges == 0:
            return indices[:0], indices[:0], weights[:0]
        check_fits(20 * n_nodes + 2 * EDGE_BYTES * n_edges + 9 * n_arcs, "a spanning forest")
        label = cp.empty(n_nodes, NODE)
        lightest = cp.empty(2 * n_nodes, np.uint64)
        lists = cp.empty((2 * n_edges, EDGE_BYTES), np.uint8)
        chosen = cp.zeros(n_arcs, np.uint8)
        state = cp.zeros(5, np.uint32)  # three counts, whether a weight is invalid, arrivals
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
                *(state, chosen, state[3:], state[4:]),
            ),
        )
        arcs = cp.flatnonzero(chosen)
        if state[3]:
            return None
        tails = cp.searchsorted(indptr, arcs, side="right").astype(NODE) - 1
        return tails, indices[arcs], weights[arcs]


def light_weight(weights: Any, n_nodes: int, n_edges: int) -> float:
    """A weight that about LIGHT_EDGES edges per node do not exceed; inf where edges are few."""
    if n_edges <= FEW_EDGES * n_nodes or n_nodes < FEW_NODES:
        return np.inf
    sample = np.sort(weights[:: -(-weights.size // N_SAMPLED)].get())
    return float(sample[int(len(sample) * LIGHT_EDGES * n_nodes / n_edges)])
