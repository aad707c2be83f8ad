"""Connected components on one GPU: launches the kernels of ``connected.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp

from kernels._cuda.launch import BLOCK, grid_for, on_device_of
from kernels._cuda.loader import load_kernel
from kernels.types import NODE


def components(indptr: Any, indices: Any) -> Any:
    """Smallest node of each node's component, on the device."""
    with on_device_of(indptr):
        n_nodes = indptr.size - 1
        label = cp.empty(n_nodes, NODE)
        grid, size = (grid_for(n_nodes),), cp.int64(n_nodes)
        for step in ("connected_start", "connected_hook"):
            load_kernel(__file__, step)(grid, (BLOCK,), (indptr, indices, size, label))
        load_kernel(__file__, "connected_flatten")(grid, (BLOCK,), (size, label))
        return label


def ids_and_sizes(label: Any) -> tuple[Any, Any]:
    """Component ids in ascending order and their sizes, on the host."""
    with on_device_of(label):
        ids = cp.flatnonzero(label == cp.arange(label.size, dtype=NODE))
        return ids.get(), cp.bincount(label, minlength=label.size)[ids].get()
