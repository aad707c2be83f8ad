"""Synthetic topologies. To add a model: one module here, one line in MODELS.

A model is seeded: the same arguments give the same topology, on every machine and on any number of
threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.errors import UsageError
from pipeline.generate.barabasi_albert import barabasi_albert_graph, generate_barabasi_albert
from pipeline.generate.brite_file import write_brite
from pipeline.generate.grid import generate_grid, grid_graph
from pipeline.generate.internet import generate_internet, internet_topology
from pipeline.generate.size_law import MAX_INGRESSES, SMALLEST
from pipeline.generate.top_down import generate_top_down
from pipeline.model.graphs import GraphSet
from pipeline.model.topology import Topology

__all__ = [
    "MODELS",
    "Model",
    "Parameters",
    "barabasi_albert_graph",
    "generate",
    "generate_barabasi_albert",
    "generate_graphs",
    "generate_grid",
    "generate_internet",
    "generate_top_down",
    "grid_graph",
    "internet_topology",
    "write_brite",
]


@dataclass(frozen=True)
class Parameters:
    """What a topology shall be like; a model ignores what it has no use for.

    Attributes
    ----------
    n_routers : int
        In all.
    n_ases : int
        ASes that the routers are shared out to.
    m : int
        Links that a new router brings; of top-down, a new AS too.
    seed : int
        0 to 2**64 - 1.
    smallest, largest : int, int or None
        Routers of the smallest and the largest AS of an Internet; see ``as_sizes``.
    max_ingresses : int
        The most that an AS of an Internet has.
    n_rows : int or None
        Of a grid; None: as many as make it most nearly square.
    cut : float
        Share of a grid's links that are left out.
    """

    n_routers: int
    n_ases: int = 50
    m: int = 2
    seed: int = 1
    smallest: int = SMALLEST
    largest: int | None = None
    max_ingresses: int = MAX_INGRESSES
    n_rows: int | None = None
    cut: float = 0.1


@dataclass(frozen=True)
class Model:
    """A way to make a topology; ``options``: fields of ``Parameters`` that it makes use of.

    ``graphs`` makes the same graphs, ingresses and links between ASes at once, for models that are
    made so large that the rest of a topology would not fit into memory.
    """

    make: Callable[[Parameters], Topology]
    description: str
    options: tuple[str, ...]
    graphs: Callable[[Parameters], GraphSet] | None = None


def _internet(given: Parameters) -> GraphSet:
    return generate_internet(
        given.n_ases,
        given.n_routers,
        m=given.m,
        seed=given.seed,
        smallest=given.smallest,
        largest=given.largest,
        max_ingresses=given.max_ingresses,
    )


def _grid(given: Parameters) -> Topology:
    n_routers, n_rows = given.n_routers, given.n_rows
    if n_rows is None:
        side = math.isqrt(max(n_routers, 1))
        n_rows = next(n for n in range(side, 0, -1) if n_routers % n == 0)
    if n_rows < 1 or n_routers % n_rows:
        raise UsageError(f"{n_routers} routers do not fill {n_rows} rows of a grid")
    return generate_grid(n_rows, n_routers // n_rows, cut=given.cut, seed=given.seed)


MODELS: dict[str, Model] = {
    "top-down": Model(
        lambda given: generate_top_down(given.n_ases, given.n_routers, m=given.m, seed=given.seed),
        "ASes joined by preferential attachment, routers of each joined likewise (BRITE TopDown)",
        ("n_ases", "m"),
    ),
    "ba": Model(
        lambda given: generate_barabasi_albert(given.n_routers, m=given.m, seed=given.seed),
        "routers of no AS joined by preferential attachment (BRITE RTBarabasiAlbert)",
        ("m",),
    ),
    "grid": Model(
        _grid,
        "routers of no AS in rows and columns, some links cut: long graphs",
        ("n_rows", "cut"),
    ),
    "internet": Model(
        lambda given: internet_topology(_internet(given), seed=given.seed),
        "ASes of very different sizes, routers of each joined by preferential attachment",
        ("n_ases", "m", "smallest", "largest", "max_ingresses"),
        _internet,
    ),
}


def generate(model: str, given: Parameters) -> Topology:
    """Make a topology by the model's name.

    Parameters
    ----------
    model : str
        A key of MODELS.
    given : Parameters

    Raises
    ------
    UsageError
        If the model is unknown or a number is out of range.
    """
    return _model(model).make(given)


def generate_graphs(model: str, given: Parameters) -> GraphSet | None:
    """Make the graphs of a topology at once; None: this model goes by ``generate``.

    Raises
    ------
    UsageError
        As ``generate``.
    """
    graphs = _model(model).graphs
    return None if graphs is None else graphs(given)


def _model(name: str) -> Model:
    if name not in MODELS:
        raise UsageError(f"unknown model {name!r}; give one of: {', '.join(MODELS)}")
    return MODELS[name]
