"""Searches on graphs in CSR form, on CPU cores or a GPU, depending on where the graph's arrays are.

Pure computation: no files, no scheduler, no network. CuPy is imported only when an array on a GPU
is used.
Each name is imported when it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kernels.compiled import prepare

if TYPE_CHECKING:
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

_HOMES = {
    "BFSResult": "kernels.breadth_first",
    "CSRGraph": "kernels.csr",
    "Center": "kernels.eccentricity",
    "CheckError": "kernels.errors",
    "ComponentsResult": "kernels.connected",
    "DFSResult": "kernels.depth_first",
    "DeviceError": "kernels.errors",
    "DeviceMemoryError": "kernels.errors",
    "Diameter": "kernels.eccentricity",
    "GraphError": "kernels.errors",
    "GraphTypeError": "kernels.errors",
    "HostMemoryError": "kernels.errors",
    "KernelError": "kernels.errors",
    "MSBFSResult": "kernels.multi_source",
    "Periphery": "kernels.eccentricity",
    "Radius": "kernels.eccentricity",
    "SSSPResult": "kernels.shortest_paths",
    "Shard": "kernels.csr",
    "ShardResult": "kernels.multi_source",
    "ShortestPath": "kernels.bidirectional",
    "SpanningForest": "kernels.spanning_tree",
    "bfs": "kernels.breadth_first",
    "center": "kernels.eccentricity",
    "components": "kernels.connected",
    "dfs": "kernels.depth_first",
    "diameter": "kernels.eccentricity",
    "eccentricities": "kernels.eccentricity",
    "msbfs": "kernels.multi_source",
    "msbfs_shard": "kernels.multi_source",
    "mst": "kernels.spanning_tree",
    "periphery": "kernels.eccentricity",
    "radius": "kernels.eccentricity",
    "shortest_path": "kernels.bidirectional",
    "sssp": "kernels.shortest_paths",
    "weighted_center": "kernels.eccentricity.weighted",
    "weighted_diameter": "kernels.eccentricity.weighted",
    "weighted_eccentricities": "kernels.eccentricity.weighted",
    "weighted_periphery": "kernels.eccentricity.weighted",
    "weighted_radius": "kernels.eccentricity.weighted",
    "weighted_widths": "kernels.eccentricity.weighted",
}

prepare()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kernels' has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
