"""Searches on graphs in CSR form, on CPU cores or a GPU, depending on where the graph's arrays are.

Pure computation: no files, no scheduler, no network. CuPy is imported only when an array on a GPU
is used.
"""

from __future__ import annotations

from kernels.bidirectional import ShortestPath, shortest_path
from kernels.breadth_first import BFSResult, bfs
from kernels.connected import ComponentsResult, components
from kernels.csr import CSRGraph, Shard
from kernels.depth_first import DFSResult, dfs
from kernels.eccentricity import (
    Center,
    Diameter,
    Periphery,
    Radius,
    center,
    diameter,
    eccentricities,
    periphery,
    radius,
)
from kernels.eccentricity.weighted import (
    weighted_center,
    weighted_diameter,
    weighted_eccentricities,
    weighted_periphery,
    weighted_radius,
    weighted_widths,
)
from kernels.errors import (
    CheckError,
    DeviceError,
    DeviceMemoryError,
    GraphError,
    GraphTypeError,
    HostMemoryError,
    KernelError,
)
from kernels.multi_source import MSBFSResult, ShardResult, msbfs, msbfs_shard
from kernels.shortest_paths import SSSPResult, sssp
from kernels.spanning_tree import SpanningForest, mst

__all__ = [
    "BFSResult",
    "CSRGraph",
    "Center",
    "CheckError",
    "ComponentsResult",
    "DFSResult",
    "DeviceError",
    "DeviceMemoryError",
    "Diameter",
    "GraphError",
    "GraphTypeError",
    "HostMemoryError",
    "KernelError",
    "MSBFSResult",
    "Periphery",
    "Radius",
    "SSSPResult",
    "Shard",
    "ShardResult",
    "ShortestPath",
    "SpanningForest",
    "bfs",
    "center",
    "components",
    "dfs",
    "diameter",
    "eccentricities",
    "msbfs",
    "msbfs_shard",
    "mst",
    "periphery",
    "radius",
    "shortest_path",
    "sssp",
    "weighted_center",
    "weighted_diameter",
    "weighted_eccentricities",
    "weighted_periphery",
    "weighted_radius",
    "weighted_widths",
]
