"""Searches on one graph. To add one: a ``Procedure`` in a module here, one row in ALGORITHMS.

What else depends on an algorithm (choices, help and messages of ``search``, the table in
docs/search.md, what the explorer offers) follows from its row and its procedure. Nothing heavy is
imported here before a search is run.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.errors import UsageError

if TYPE_CHECKING:
    from pipeline.algorithms.procedure import Procedure

__all__ = ["ALGORITHMS", "Algorithm", "algorithm", "names_that_take"]


@dataclass(frozen=True)
class Algorithm:
    """A search that can be run on one graph.

    Attributes
    ----------
    module : str
        Where its procedure is, in ``PROCEDURES``.
    description : str
    needs : tuple of str
        Of ``source``, ``target`` and ``weights``, what it cannot do without.
    takes : tuple of str
        Of the same, what it can also do without.
    """

    module: str
    description: str
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()

    def load(self, name: str) -> Procedure:
        """The procedure, imported at first use: it compiles kernels."""
        return importlib.import_module(self.module).PROCEDURES[name]


_TREES, _WIDTHS = "pipeline.algorithms.trees", "pipeline.algorithms.widths"
_PATHS = "pipeline.algorithms.paths"
ALGORITHMS: dict[str, Algorithm] = {
    "bfs": Algorithm(_TREES, "hops from a node to every other (breadth-first)", ("source",)),
    "sssp": Algorithm(_TREES, "distances by weight from a node", ("source", "weights")),
    "dfs": Algorithm(
        _TREES, "the order of a depth-first search, of all nodes or from one", takes=("source",)
    ),
    "shortest_path": Algorithm(_PATHS, "a path of fewest hops", ("source", "target")),
    "weighted_shortest_path": Algorithm(
        _PATHS, "a path of least weight", ("source", "target", "weights")
    ),
    "mst": Algorithm(_TREES, "the minimum spanning forest", ("weights",)),
    "components": Algorithm(_TREES, "connected components"),
    "diameter": Algorithm(_WIDTHS, "the longest of the shortest paths, in hops"),
    "radius": Algorithm(_WIDTHS, "the smallest eccentricity, in hops"),
    "center": Algorithm(_WIDTHS, "the nodes of smallest eccentricity"),
    "periphery": Algorithm(_WIDTHS, "the nodes of largest eccentricity"),
    "eccentricities": Algorithm(_WIDTHS, "the eccentricity of every node, in hops"),
}


def algorithm(name: str) -> Algorithm:
    """A row by its name; UsageError with all names if there is none."""
    if name not in ALGORITHMS:
        raise UsageError(f"unknown algorithm {name!r}; give one of: {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]


def names_that_take(what: str) -> str:
    """Names of the algorithms that use a source, a target or weights, for help."""
    return ", ".join(n for n, row in ALGORITHMS.items() if what in (*row.needs, *row.takes))
