"""Depth-first search on one GPU: of forests by a walk, of any graph by one warp."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import WARP
from kernels._cuda.launch import on_device_of
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.connected import gpu as connected
from kernels.depth_first import euler_tour
from kernels.types import NODE, OFFSET, UNREACHED

Found = tuple[Any, Any, Any, Any]  # discovery, finish, parent, order


def by_euler_tour(indptr: Any, indices: Any, source: int | None) -> Found | None:
    """None if the graph is not a forest, or has too many arcs."""
    with on_device_of(indptr):
        n_nodes, n_arcs = indptr.size - 1, indices.size
        if n_arcs >= 2 * n_nodes or n_arcs > euler_tour.MOST_ARCS:
            return None
        root, ids, _ = connected.components_and_sizes(indptr, indices)
        if n_arcs != 2 * (n_nodes - len(ids)):
            return None
        needed = euler_tour.BYTES_PER_NODE * n_nodes + euler_tour.BYTES_PER_ARC * n_arcs
        check_fits(needed, f"a depth-first search of a forest of {n_nodes} nodes")
        return euler_tour.search(cp, indptr, indices, root, source)


def by_warp(indptr: Any, indices: Any, source: int | None) -> Found:
    """The search of a core, step by step; 32 arcs of a node are looked at together."""
    with on_device_of(indptr):
        n_nodes = indptr.size - 1
        check_fits(37 * n_nodes, f"a depth-first search of {n_nodes} nodes")
        discovery, finish, at = cp.full((3, n_nodes), UNREACHED, OFFSET)
        parent, order, stack = cp.full((3, n_nodes), UNREACHED, NODE)
        bits = cp.zeros(n_nodes // 32 + 1, np.uint32)
        n_found = cp.zeros(1, np.int32)
        load_kernel(__file__, "depth_first_warp")(
            (1,),
            (WARP,),
            (
                *(indptr, indices, cp.int64(n_nodes)),
                *(np.int32(UNREACHED if source is None else source), bits, stack, at),
                *(discovery, finish, parent, order, n_found),
            ),
        )
        return discovery, finish, parent, order[: int(n_found[0])]
