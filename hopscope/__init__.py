"""Snapshots, graphs and results of hopscope for programs and notebooks.

>>> import hopscope
>>> night = hopscope.open("mystore", reports="reports")["2026-11-21"]  # doctest: +SKIP
>>> night[1299].graph, night[1299].ingresses.to_pandas()  # doctest: +SKIP
>>> hopscope.read("internet.brite").graph  # doctest: +SKIP

A thin face of ``pipeline.stages``, ``pipeline.store`` and ``kernels``: everything is imported, and
read, when it is used. docs/python.md shows all of it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pipeline import __version__

if TYPE_CHECKING:
    from hopscope.conversions import (
        from_cugraph,
        from_igraph,
        from_networkx,
        from_pandas,
        from_scipy,
        to_arrow,
        to_cugraph,
        to_igraph,
        to_networkx,
        to_pandas,
        to_scipy,
    )
    from hopscope.files import read
    from hopscope.snapshots import AutonomousSystem, Comparison, Snapshot, Store, compare
    from hopscope.snapshots import open_store as open
    from kernels import CSRGraph

__all__ = [
    "AutonomousSystem",
    "CSRGraph",
    "Comparison",
    "Snapshot",
    "Store",
    "__version__",
    "compare",
    "from_cugraph",
    "from_igraph",
    "from_networkx",
    "from_pandas",
    "from_scipy",
    "open",
    "read",
    "to_arrow",
    "to_cugraph",
    "to_igraph",
    "to_networkx",
    "to_pandas",
    "to_scipy",
]

_HOMES = {
    "AutonomousSystem": "hopscope.snapshots",
    "CSRGraph": "kernels",
    "Comparison": "hopscope.snapshots",
    "Snapshot": "hopscope.snapshots",
    "Store": "hopscope.snapshots",
    "compare": "hopscope.snapshots",
    "open": "hopscope.snapshots",
    "read": "hopscope.files",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'hopscope' has no attribute {name!r}")
    home = importlib.import_module(_HOMES.get(name, "hopscope.conversions"))
    found = getattr(home, "open_store" if name == "open" else name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
