"""Sums of distances from some nodes, by levels that stay on one GPU."""

from __future__ import annotations

from collections.abc import Callable

import cupy as cp
import numpy as np

from kernels._cpu.sweep_constants import N_SUMS
from kernels._cuda.launch import BLOCK, grid_for, on_device_of
from kernels._cuda.loader import load_kernel
from kernels.csr import CSRGraph
from kernels.multi_source import msbfs

AT_ONCE = 128  # sources: a byte for each and every node


def sums_from(graph: CSRGraph, sources: np.ndarray, inverses: Callable) -> np.ndarray:
    """(n_nodes, N_SUMS) uint64 on the host; see ``sums``."""
    with on_device_of(graph.indptr):
        sums = cp.zeros((graph.n_nodes, N_SUMS), np.uint64)
        for first in range(0, len(sources), AT_ONCE):
            found = msbfs(graph, sources[first : first + AT_ONCE], levels=True)
            level = found.level.T  # (n_nodes, n_sources), each node's levels side by side
            n_levels = found.hop_counts.shape[1]
            load_kernel(__file__, f"closeness_add_{level.dtype}")(
                (grid_for(graph.n_nodes * 32),),
                (BLOCK,),
                (
                    level,
                    np.int64(graph.n_nodes),
                    np.int32(level.shape[1]),
                    np.int64(level.strides[0] // level.itemsize),
                    cp.asarray(inverses(n_levels)),
                    np.int32(n_levels),
                    sums,
                ),
            )
        return sums.get()
