"""Writers of graphs for other programs. To add a format: one module here, one row in WRITERS.
Traces are written by ``warts`` alone.

A module has ``write(graph, file)``; what it writes comes from a ``WrittenGraph`` some rows at a
time, so that a graph of millions of nodes is never held as text. Texts of third parties are
escaped for each format: none is markup, a quote or a formula of a spreadsheet.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

# What a graph may hold, as reports of conversions name it.
ASNS, ADDRESSES, WEIGHTS, UNIT = "ASes of nodes", "addresses", "weights", "unit of weights"
NODE_COLUMNS, LINK_COLUMNS = "columns of nodes", "columns of links"
LONELY, IDS = "nodes without a link", "ids of nodes"
EVERYTHING = (ASNS, ADDRESSES, WEIGHTS, UNIT, NODE_COLUMNS, LINK_COLUMNS, LONELY, IDS)
ALL = frozenset(EVERYTHING)


@dataclass(frozen=True)
class Writer:
    """One format of output.

    Attributes
    ----------
    module : str
    suffix : str
        Ending of files by which the format is chosen.
    description : str
    carries : frozenset of str
        What a file of the format can hold of a graph.
    is_text : bool
        Whether it may go to a terminal.
    """

    module: str
    suffix: str
    description: str
    carries: frozenset[str]
    is_text: bool = True

    def load(self) -> ModuleType:
        return importlib.import_module(self.module)


WRITERS: dict[str, Writer] = {
    "graphml": Writer("pipeline.writers.graphml", ".graphml", "GraphML, typed attributes", ALL),
    "parquet": Writer(
        "pipeline.writers.parquet",
        ".parquet",
        "links as Parquet",
        ALL - {NODE_COLUMNS, LONELY},
        is_text=False,
    ),
    "edges": Writer(
        "pipeline.writers.edges", ".edges", "edge list, as SNAP publishes them", frozenset({IDS})
    ),
    "csv": Writer(
        "pipeline.writers.table",
        ".csv",
        "links as CSV",
        frozenset({ASNS, ADDRESSES, WEIGHTS, LINK_COLUMNS, IDS}),
    ),
    "gexf": Writer("pipeline.writers.gexf", ".gexf", "GEXF, for Gephi", ALL - {UNIT}),
    "dot": Writer(
        "pipeline.writers.dot",
        ".dot",
        "DOT, for Graphviz, a cluster each AS",
        frozenset({ASNS, ADDRESSES, WEIGHTS, UNIT, LONELY, IDS}),
    ),
    "mtx": Writer(
        "pipeline.writers.matrix_market",
        ".mtx",
        "Matrix Market",
        frozenset({WEIGHTS, LONELY}),
    ),
    "brite": Writer(
        "pipeline.writers.brite", ".brite", "BRITE", frozenset({ASNS, WEIGHTS, LONELY, IDS})
    ),
    "itdk": Writer(
        "pipeline.writers.itdk",
        ".links",
        "ITDK: links, and nodes and ASes beside them",
        frozenset({ASNS, ADDRESSES, LONELY}),
        is_text=False,
    ),
}


def is_warts(path: Path) -> bool:
    """Whether the name of a file says that it is warts, plain or as gzip."""
    return path.name.lower().endswith((".warts", ".warts.gz"))
