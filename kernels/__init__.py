"""Searches on graphs in CSR form, on CPU cores or a GPU; the graph's arrays decide where.

Pure computation: no files, no scheduler, no network. CuPy is imported only once an array of a
GPU is at hand.
"""

from __future__ import annotations

from kernels.breadth_first import BFSResult, bfs, bfs_queue, bfs_thread_per_node
from kernels.csr import CSRGraph, Shard, hash_arrays
from kernels.errors import (
    CheckError,
    DeviceError,
    DeviceMemoryError,
    GraphError,
    KernelError,
)

__all__ = [
    "BFSResult",
    "CSRGraph",
    "CheckError",
    "DeviceError",
    "DeviceMemoryError",
    "GraphError",
    "KernelError",
    "Shard",
    "bfs",
    "bfs_queue",
    "bfs_thread_per_node",
    "hash_arrays",
]
