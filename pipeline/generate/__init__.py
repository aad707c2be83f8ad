"""Synthetic topologies. To add a model: one module here, one row in MODELS.

A model's module has ``make(given) -> Topology`` and, where its row says so,
``make_graphs(given) -> GraphSet``: the same graphs, ingresses and links between ASes at once, for
models that are made so large that the rest of a topology would not fit into memory. A model is
seeded: the same arguments give the same topology, on every machine and on any number of threads.
It may have ``check(given)``, which raises UsageError at once for numbers that do not go together.
Everything else about a model (choices, messages and help of ``generate``, the table in
docs/generate.md) follows from its row. Nothing heavy is imported here before a model is made.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from pipeline.errors import UsageError
from pipeline.model.synthetic import Parameters, check_degrees, check_links

if TYPE_CHECKING:
    from pipeline.model.graphs import GraphSet
    from pipeline.model.topology import Topology

__all__ = [
    "MODELS",
    "Model",
    "Parameters",
    "check",
    "check_sizes",
    "generate",
    "generate_graphs",
    "models_named",
    "models_that_take",
]


@dataclass(frozen=True)
class Model:
    """A way to make a topology.

    Attributes
    ----------
    module : str
        Where it is made.
    options : tuple of str
        Fields of ``Parameters`` that it uses.
    description : str
    known_as : str
        Another name for it, if any.
    makes_graphs : bool
        Whether it has ``make_graphs``, and so ingresses of its own.
    compiles : str
        The module whose compiled code it calls last, if that is not ``module``.
    """

    module: str
    options: tuple[str, ...]
    description: str
    known_as: str = ""
    makes_graphs: bool = False
    compiles: str = ""

    def load(self) -> ModuleType:
        """The model's module, imported at first use: it compiles kernels."""
        return importlib.import_module(self.module)


MODELS: dict[str, Model] = {
    "ba": Model(
        "pipeline.generate.barabasi_albert",
        ("m", "weights"),
        "routers without an AS, joined by preferential attachment (BRITE RTBarabasiAlbert)",
        "Barabasi-Albert",
    ),
    "top-down": Model(
        "pipeline.generate.top_down",
        ("n_ases", "m", "weights"),
        "ASes joined by preferential attachment, and their routers likewise (BRITE TopDown)",
    ),
    "grid": Model(
        "pipeline.generate.grid",
        ("n_rows", "cut", "weights"),
        "routers without an AS in rows and columns, some links cut: long graphs",
    ),
    "degrees": Model(
        "pipeline.generate.laws.degrees",
        ("min_degree", "max_degree", "connected", "weights"),
        "routers without an AS, linked at random, with a given smallest and largest degree",
        compiles="pipeline.generate.laws.degree_links",
    ),
    "rmat": Model(
        "pipeline.generate.rmat",
        ("m", "weights"),
        "routers without an AS, few of them with very many links (R-MAT, as Graph500 draws it)",
        "R-MAT",
    ),
    "internet": Model(
        "pipeline.generate.internet",
        ("n_ases", "m", "smallest", "largest", "max_ingresses"),
        "ASes of very different sizes, routers of each joined by preferential attachment",
        "ba --internet",
        makes_graphs=True,
    ),
}


def models_named() -> str:
    """All models in words, for a help text."""
    *names, last = (
        f"{name} ({model.known_as})" if model.known_as else name for name, model in MODELS.items()
    )
    return ", ".join([*names, f"or {last}"])


def models_that_take(option: str) -> str:
    """Names of the models that use a field of ``Parameters``."""
    return ", ".join(name for name, model in MODELS.items() if option in model.options)


def check_sizes(model: str, given: Parameters) -> None:
    """Raise UsageError for more than a model can make, and for an unknown one.

    Nothing heavy is imported before.
    """
    taken = _model(model).options
    if "m" in taken:
        check_links(given.n_routers, given.m)
    if "max_degree" in taken:
        check_degrees(given.n_routers, given.max_degree)


def check(model: str, given: Parameters) -> None:
    """Raise UsageError for what can be refused before it is made; loads the model's module."""
    check_sizes(model, given)
    own = getattr(_model(model).load(), "check", None)
    if own is not None:
        own(given)


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
    chosen = _model(model)
    topology = chosen.load().make(given)
    if "weights" not in chosen.options:
        return topology
    from pipeline.generate.laws.weights import with_weights

    return with_weights(topology, given.weights, given.seed)


def generate_graphs(model: str, given: Parameters) -> GraphSet | None:
    """Make the graphs of a topology directly; None if the model only has ``generate``.

    Raises
    ------
    UsageError
        As ``generate``.
    """
    chosen = _model(model)
    return chosen.load().make_graphs(given) if chosen.makes_graphs else None


def _model(name: str) -> Model:
    if name not in MODELS:
        raise UsageError(f"unknown model {name!r}; give one of: {', '.join(MODELS)}")
    return MODELS[name]
