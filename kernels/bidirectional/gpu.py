"""Shortest paths between two nodes on one GPU: launches the kernel of ``bidirectional.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import COOPERATIVE_BLOCK, WARP
from kernels._cuda.launch import cooperative_grid, on_device_of
from kernels._cuda.loader import load_kernel
from kernels.types import NODE

N_STATE, HOPS = 8, 7  # of the kernel's state; the place of the number of hops in it


def by_hops(indptr: Any, indices: Any, source: int, target: int) -> np.ndarray:
    """Nodes of a path with the fewest hops, (n_hops + 1,) int32 on the host; empty without one."""
    if source == target:
        return np.array([source], NODE)
    with on_device_of(indptr):
        n_nodes = indptr.size - 1
        n_words = n_nodes // 32 + 1
        zeros = cp.zeros(2 * n_words + 2 * N_STATE + 2, np.uint32)
        state = zeros[: 2 * N_STATE].view(np.uint64)
        arrivals, found = zeros[2 * N_STATE :], zeros[2 * N_STATE + 2 :]
        queue, hubs, before = cp.empty((3, 2, n_nodes), NODE)
        path = cp.empty(n_nodes, NODE)
        kernel = load_kernel(__file__, "bidirectional_path", cooperative=True)
        kernel(
            (cooperative_grid(kernel, -(-indices.size // WARP)),),
            (COOPERATIVE_BLOCK,),
            (
                *(indptr, indices, cp.int64(n_nodes), np.int32(source), np.int32(target)),
                *(cp.int64(n_words), found, queue, hubs, before, state, path, arrivals),
            ),
        )
        n_hops = int(state[HOPS])
        return path[: n_hops + 1].get() if n_hops else np.empty(0, NODE)
