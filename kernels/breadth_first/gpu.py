"""BFS on one GPU: launches the kernels of ``breadth_first.cu``."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import WARP
from kernels._cuda.launch import BLOCK, cooperative_grid, grid_for, on_device_of
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits
from kernels.breadth_first.constants import (
    AT_DEPTH,
    AT_IS_LEFT,
    AT_N_REACHED,
    CLUSTER,
    CLUSTER_BLOCK,
    CONTROL,
    LARGE_BLOCK,
    SMALL_BLOCK,
)
from kernels.breadth_first.footprint import (
    gpu_bytes,
    max_segments,
    parents_bytes,
    scratch_words,
)
from kernels.types import LEVEL, NODE

# Bottom-up while the frontier's arcs are more than an ALPHA-th of the arcs not yet seen, and its
# nodes more than a BETA-th of all.
ALPHA = 8
BETA = 256
# Narrow levels in a row that one block searches; then a cluster of blocks goes on, if the GPU has
# clusters.
NARROW_LEVELS = 32
LARGE = 1 << 24  # arcs, from which the form for large graphs is faster


def bfs(indptr: Any, indices: Any, source: int, target: int) -> tuple[Any, int, int]:
    """Levels, eccentricity and nodes reached; target -1 means none."""
    with on_device_of(indptr):
        n_nodes, n_arcs = indptr.size - 1, indices.size
        name, block = ("bfs_search", SMALL_BLOCK)
        if n_arcs >= LARGE:
            name, block = ("bfs_search_large", LARGE_BLOCK)
        search = load_kernel(__file__, name, cooperative=True)
        check_fits(gpu_bytes(n_nodes, n_arcs), f"a search of {n_nodes} nodes and {n_arcs} arcs")
        parts = scratch_words(n_nodes, n_arcs)
        places = list(itertools.accumulate(parts))[:-1]
        level = cp.empty(n_nodes, LEVEL)
        scratch = cp.empty(sum(parts), np.int32)
        scratch.data.memset_async(0, 4 * CONTROL)
        grid = cooperative_grid(search, -(-n_nodes // WARP), block)
        queue, maps, segments = (scratch[place:] for place in places)
        n_levels = NARROW_LEVELS if _has_clusters(cp.cuda.Device().id) else np.iinfo(np.int32).max
        goes_on = False
        while True:
            arguments = (
                indptr,
                indices,
                cp.int64(n_nodes),
                cp.int64(n_arcs),
                cp.int32(source),
                cp.int32(target),
                cp.int64(ALPHA),
                cp.int64(BETA),
                cp.int32(n_levels),
                goes_on,
                level,
                queue,
                maps,
                segments,
                scratch,
            )
            search((grid,), (block,), arguments)
            control = scratch[:CONTROL].get()  # the one synchronisation
            if not control[AT_IS_LEFT]:
                return level, int(control[AT_DEPTH]), int(control[AT_N_REACHED])
            goes_on = True
            load_kernel(__file__, "narrow_search")(
                (CLUSTER,),
                (CLUSTER_BLOCK,),
                (indptr, indices, cp.int32(target), level, queue, maps, scratch),
            )


@functools.cache
def _has_clusters(device_id: int) -> bool:
    """Whether blocks can share their memory: compute capability 9.0 or later."""
    return int(cp.cuda.Device(device_id).compute_capability) >= 90


def parents(indptr: Any, indices: Any, source: int, level: Any) -> Any:
    """The smallest neighbour one level up of each node."""
    with on_device_of(indptr):
        n_nodes, n_arcs = indptr.size - 1, indices.size
        what = f"parents of a search of {n_nodes} nodes and {n_arcs} arcs"
        check_fits(parents_bytes(n_nodes, n_arcs), what)
        parent = cp.empty(n_nodes, NODE)
        thirds = cp.empty(-(-n_nodes // 4), np.uint8)
        room = max_segments(n_arcs)
        segments = cp.empty(2 * room + 1, np.int32)
        segments[-1:] = 0
        hubs = (segments[:room], segments[room:], segments[-1:])
        load_kernel(__file__, "bfs_thirds")(
            (grid_for(thirds.size),), (BLOCK,), (cp.int64(n_nodes), level, thirds)
        )
        load_kernel(__file__, "bfs_parents")(
            (grid_for(n_nodes),),
            (BLOCK,),
            (indptr, indices, cp.int64(n_nodes), cp.int32(source), level, thirds, parent, *hubs),
        )
        if room:
            load_kernel(__file__, "bfs_hub_parents")(
                (grid_for(WARP * room),),
                (BLOCK,),
                (indptr, indices, level, thirds, parent, *hubs),
            )
        return parent
