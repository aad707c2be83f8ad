"""Shortest paths between two nodes on one GPU: launches the kernels of ``bidirectional.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import COOPERATIVE_BLOCK, SEGMENT, WARP
from kernels._cuda.launch import cooperative_grid, on_device_of
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.bidirectional.constants import CONTROL, HOPS, INVALID_WEIGHT
from kernels.types import NODE

N_STATE = 8  # places in the kernel's state
# Thresholds first rise by this many mean weights, divided by the mean degree: less than for a whole
# search, as both must stay low for the searches to end early.
RISE = 2.0
MEETING = np.dtype(
    [
        ("shortest", np.float64),
        ("length", np.float64),
        *((name, np.int32) for name in ("node", "n_before", "n_after", "fault")),
    ]
)


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


def by_weight(
    indptr: Any, indices: Any, weights: Any, source: int, target: int, rise: float = RISE
) -> tuple[np.ndarray, float] | None:
    """Nodes of a path of least weight, on the host, and that weight, inf without a path.

    The weight is NaN if one of the graph is invalid. None: the path cannot be followed back by
    distances alone, as weights of 0 leave several ways to go round in circles.
    """
    if source == target:
        return np.array([source], NODE), 0.0
    with on_device_of(indptr):
        n_nodes, n_arcs = indptr.size - 1, indices.size
        n_map, n_segments = -(-n_nodes // 32), 8 * (n_arcs // SEGMENT)
        words = 2 * (6 * n_nodes + 3 * n_map + n_segments)
        check_fits(4 * words, f"a path by weight in a graph of {n_nodes} nodes and {n_arcs} arcs")
        distance = cp.empty((2, n_nodes), np.float64)
        near, far = cp.empty((2, 2, 2, n_nodes), NODE)
        maps, segments = cp.empty(6 * n_map, np.uint32), cp.empty(2 * n_segments, np.int32)
        state = cp.zeros(8 * CONTROL + MEETING.itemsize, np.uint8)
        kernel = load_kernel(__file__, "bidirectional_by_weight", cooperative=True)
        kernel(
            (cooperative_grid(kernel, -(-n_nodes // WARP)),),
            (COOPERATIVE_BLOCK,),
            (
                *(indptr, indices, weights, cp.int64(n_nodes), cp.int64(n_arcs)),
                *(np.int32(source), np.int32(target), np.float64(rise)),
                *(distance, near, far, maps, segments, state, state[8 * CONTROL :]),
            ),
        )
        found = state[8 * CONTROL :].get().view(MEETING)[0]
        if found["fault"]:
            return (np.empty(0, NODE), np.nan) if found["fault"] == INVALID_WEIGHT else None
        if found["shortest"] == np.inf:
            return np.empty(0, NODE), np.inf
        before = near[0, 0, : int(found["n_before"])].get()[::-1]
        after = near[1, 0, : int(found["n_after"])].get()
        nodes = np.concatenate([before, np.array([found["node"]], NODE), after])
        return nodes, float(found["length"])
