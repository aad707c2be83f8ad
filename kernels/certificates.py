"""Certificates: each rejects a wrong result, by code that shares nothing with the search.

They raise ``CheckError``. One is compiled, or loaded from numba's cache, when it is imported. The
results of searches have them as ``check()``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels.bidirectional.check import check_shortest_path as check_shortest_path
    from kernels.breadth_first.check import check_levels as check_levels
    from kernels.connected.check import check_components as check_components
    from kernels.depth_first.check import check_dfs as check_dfs
    from kernels.eccentricity.check import check_diameter as check_diameter
    from kernels.eccentricity.check import check_path as check_path
    from kernels.eccentricity.check import check_widths as check_widths
    from kernels.shortest_paths.check import check_distances as check_distances
    from kernels.spanning_tree.check import check_forest as check_forest

_ROOMS = {
    "check_components": "connected",
    "check_dfs": "depth_first",
    "check_diameter": "eccentricity",
    "check_distances": "shortest_paths",
    "check_forest": "spanning_tree",
    "check_levels": "breadth_first",
    "check_path": "eccentricity",
    "check_shortest_path": "bidirectional",
    "check_widths": "eccentricity",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"kernels.{_ROOMS[name]}.check"), name)
