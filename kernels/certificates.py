"""Certificates: each rejects a wrong result, by code that shares nothing with the search.

They raise ``CheckError``. One is compiled, or loaded from numba's cache, when it is imported.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels.breadth_first.check import check_levels as check_levels
    from kernels.eccentricity.check import check_diameter as check_diameter
    from kernels.eccentricity.check import check_path as check_path
    from kernels.shortest_paths.check import check_distances as check_distances

_ROOMS = {
    "check_diameter": "eccentricity",
    "check_distances": "shortest_paths",
    "check_levels": "breadth_first",
    "check_path": "eccentricity",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"kernels.{_ROOMS[name]}.check"), name)
