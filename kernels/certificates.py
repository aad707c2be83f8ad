"""Certificates: each rejects a wrong result, by code that shares nothing with the search.

They raise ``CheckError``. One is compiled, or loaded from numba's cache, when it is imported. The
results of searches have them as ``check()``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels.bidirectional.check import check_shortest_path
    from kernels.breadth_first.check import check_levels
    from kernels.connected.check import check_components
    from kernels.depth_first.check import check_dfs
    from kernels.eccentricity.check import check_diameter, check_path, check_widths
    from kernels.shortest_paths.check import check_distances
    from kernels.spanning_tree.check import check_forest

__all__ = [
    "check_components",
    "check_dfs",
    "check_diameter",
    "check_distances",
    "check_forest",
    "check_levels",
    "check_path",
    "check_shortest_path",
    "check_widths",
]

_ROOMS = {
    "check_components": "connected",
    "check_dfs": "depth_first",
    "check_distances": "shortest_paths",
    "check_forest": "spanning_tree",
    "check_levels": "breadth_first",
    "check_shortest_path": "bidirectional",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = _ROOMS.get(name, "eccentricity")
    return getattr(importlib.import_module(f"kernels.{room}.check"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
