"""Connected components on one GPU: launches the kernels of ``connected.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import BLOCK, grid_for, on_device_of
from kernels._cuda.loader import load_kernel
from kernels.connected.constants import SAMPLE
from kernels.types import NODE


def components(indptr: Any, indices: Any) -> Any:
    """Smallest node of each node's component, on the device."""
    with on_device_of(indptr):
        label, _ = _unite(indptr, indices)
        _launch("connected_flatten", label.size, cp.int64(label.size), label)
        return label


def components_and_sizes(indptr: Any, indices: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """``components``; on the host their ids in ascending order and their sizes."""
    with on_device_of(indptr):
        label, most = _unite(indptr, indices)
        n_nodes = label.size
        roots, size, n_roots = (
            cp.empty(n_nodes, NODE),
            cp.zeros(n_nodes, np.int32),
            cp.zeros(1, np.int32),
        )
        found = (label, most, roots, n_roots, size)
        _launch("connected_sizes", n_nodes, cp.int64(n_nodes), *found)
        ids = cp.sort(roots[: int(n_roots[0])])
        return label, ids.get(), size[ids].get()


def _unite(indptr: Any, indices: Any) -> tuple[Any, Any]:
    """Labels of which each leads to its component's smallest node, and that of a large part."""
    n_nodes = indptr.size - 1
    label, most = cp.empty(n_nodes, NODE), cp.empty(1, NODE)
    size = cp.int64(n_nodes)
    for step in ("connected_start", "connected_second"):
        _launch(step, n_nodes, indptr, indices, size, label)
        _launch("connected_flatten", n_nodes, size, label)
    load_kernel(__file__, "connected_sample")((1,), (SAMPLE,), (size, label, most))
    _launch("connected_hook", n_nodes, indptr, indices, size, label, most)
    return label, most


def _launch(name: str, n_threads: int, *arguments: Any) -> None:
    load_kernel(__file__, name)((grid_for(n_threads),), (BLOCK,), arguments)
