"""How one algorithm is run on a graph, shown, tabulated and certified."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from kernels import CSRGraph
from kernels.csr import to_host

Implementation = Literal["sequential", "cores", "gpu"]
Run = Callable[[CSRGraph, int, int], Any]  # graph, source, target: -1 where none is needed


@dataclasses.dataclass(frozen=True)
class Procedure:
    """An algorithm that can be run; results are those of ``kernels``.

    Attributes
    ----------
    cores : callable
        Runs on the graph's device: the search that ``kernels`` offers.
    sequential : callable or None
        The plain algorithm on one core, to compare with.
    facts : callable
        Graph, result on the host -> what was found, as JSON values.
    text : callable
        Facts, function from a node to its name, what a node is called -> one line.
    columns : callable
        Result on the host -> table with a row per node or edge. Columns of ``NODE_COLUMNS`` hold
        nodes.
    certify : callable
        Graph on the host, result on the host -> what was checked, in words; raises CheckError.
    """

    cores: Run
    facts: Callable[[CSRGraph, Any], dict[str, Any]]
    text: Callable[[dict[str, Any], Callable[[int], str], str], str]
    columns: Callable[[Any], dict[str, np.ndarray]]
    certify: Callable[[CSRGraph, Any], str]
    sequential: Run | None = None

    @property
    def implementations(self) -> Mapping[Implementation, Run]:
        """Each way to run it, by name."""
        own: dict[Implementation, Run] = {"cores": self.cores, "gpu": self.cores}
        return own if self.sequential is None else {"sequential": self.sequential, **own}


NODE_COLUMNS = ("node", "tail", "head")


def on_host(found: Any, graph: CSRGraph) -> Any:
    """A result with its arrays on the host, of ``graph``, which is the same graph there."""
    if not dataclasses.is_dataclass(found) or isinstance(found, type):
        return to_host(found)
    arrays = {each.name: to_host(getattr(found, each.name)) for each in dataclasses.fields(found)}
    return dataclasses.replace(found, **arrays | ({"graph": graph} if "graph" in arrays else {}))


def checked(words: str) -> Callable[[CSRGraph, Any], str]:
    """``certify`` for results that check themselves; ``words``: what they prove."""

    def certify(_: CSRGraph, found: Any) -> str:
        found.check()
        return words

    return certify


def counts_of(values: np.ndarray) -> list[int]:
    """How many of the values are 0, 1, 2, ...; negative ones are left out."""
    return np.bincount(values[values >= 0]).tolist()
