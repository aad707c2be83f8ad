"""Synthetic topologies. To add a model: one module here, one row in MODELS.

A model's module has ``make(given) -> Topology``, or ``links`` if it may be a level of a hierarchy
(``flat_links``). Where its row says so, it has ``make_graphs(given) -> GraphSet``: the same graphs,
ingresses and links between ASes at once, for models that are made so large that the rest of a
topology would not fit into memory. A model is seeded: the same arguments give the same topology, on
every machine and on any number of threads. It may have ``check(given)``, which raises UsageError at
once for numbers that do not go together. Everything else about a model (choices, messages and help
of ``generate``, the table in docs/generate.md) follows from its row. Nothing heavy is imported here
before a model is made.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pipeline.errors import UsageError
from pipeline.model.synthetic import Parameters, check_degrees, check_links

if TYPE_CHECKING:
    import numpy as np

    from pipeline.model.graphs import GraphSet
    from pipeline.model.topology import Topology

__all__ = [
    "MODELS",
    "Model",
    "Parameters",
    "check",
    "check_sizes",
    "flat_links",
    "flat_models",
    "generate",
    "generate_graphs",
    "is_brite",
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
    entry : str
        Where a module makes several models: ``links_ba2`` and ``check_ba2`` for ``ba2``.
    brite : tuple of int
        Its numbers in BRITE's files: of routers, and of ASes where it makes these as well. Such a
        model of one level also has ``links`` (see ``flat_links``), ``numbers`` if it has any, and
        may be a level of a hierarchy.
    """

    module: str
    options: tuple[str, ...]
    description: str
    known_as: str = ""
    makes_graphs: bool = False
    compiles: str = ""
    entry: str = ""
    brite: tuple[int, ...] = ()

    @property
    def is_flat(self) -> bool:
        """Whether it may be a level of a hierarchy."""
        return len(self.brite) > 1

    def load(self) -> ModuleType:
        """The model's module, imported at first use: it compiles kernels."""
        return importlib.import_module(self.module)

    def function(self, name: str) -> Callable[..., Any] | None:
        """``make``, ``check``, ``links`` or another of the model; None if it has none."""
        return getattr(self.load(), f"{name}_{self.entry}" if self.entry else name, None)


_PLANE = ("placement", "plane_side", "square_side", "bandwidth")
_FLAT = ("m", "alpha", "beta", "growth", "preferential", "p", "q")  # of any model of one level

MODELS: dict[str, Model] = {
    "ba": Model(
        "pipeline.generate.barabasi_albert",
        ("m", "level", *_PLANE, "weights"),
        "routers without an AS, joined by preferential attachment (BRITE RTBarabasiAlbert)",
        "Barabasi-Albert",
        brite=(2, 4),
    ),
    "ba2": Model(
        "pipeline.generate.grown",
        ("m", "p", "q", "level", *_PLANE, "weights"),
        "the same, where links are also added and moved (BRITE RTBarabasiAlbert2)",
        "Albert-Barabasi",
        entry="ba2",
        brite=(9, 10),
    ),
    "glp": Model(
        "pipeline.generate.grown",
        ("m", "p", "beta", "level", *_PLANE, "weights"),
        "the same, where links are also added, with a general preference (BRITE RTGLP)",
        entry="glp",
        brite=(11, 12),
    ),
    "waxman": Model(
        "pipeline.generate.waxman",
        ("m", "alpha", "beta", "growth", "preferential", "level", *_PLANE, "weights"),
        "routers without an AS, linked the more likely the nearer they are (BRITE RTWaxman)",
        brite=(1, 3),
    ),
    "top-down": Model(
        "pipeline.generate.top_down",
        (
            *("n_ases", "as_model", "router_model", *_FLAT, "edge_connection", "k", *_PLANE),
            *("bandwidth_between", "weights"),
        ),
        "ASes joined by preferential attachment, and their routers likewise (BRITE TopDown)",
        brite=(5,),
    ),
    "bottom-up": Model(
        "pipeline.generate.bottom_up",
        (
            *("n_ases", "router_model", *_FLAT, "grouping", "assignment", *_PLANE),
            *("bandwidth_between", "weights"),
        ),
        "one graph of routers, grouped into ASes (BRITE BottomUp)",
        brite=(6,),
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


def is_brite(model: str) -> bool:
    """Whether it is one of BRITE's, with BRITE's numbers."""
    return bool(MODELS[model].brite)


def flat_models() -> tuple[str, ...]:
    """Names of the models of one level, for the levels of a hierarchy."""
    return tuple(name for name, model in MODELS.items() if model.is_flat)


def flat_links(
    model: str,
    node_ptr: np.ndarray,
    places: tuple[np.ndarray, np.ndarray],
    given: Parameters,
) -> tuple[np.ndarray, np.ndarray]:
    """Links of graphs side by side, by a model of one level.

    Parameters
    ----------
    node_ptr : (n_graphs + 1,) int64
        Nodes of graph i are node_ptr[i] .. node_ptr[i + 1] - 1.
    places : two (n_nodes,) float64
        x and y of each node, in cells of its plane.
    given : Parameters

    Returns
    -------
    near, far : (n_links,) int64 or int32
        No loops, no duplicates.
    """
    links = _model(model).function("links")
    if links is None:
        raise UsageError(
            f"{model} is no model of one level; give one of {', '.join(flat_models())}"
        )
    return links(node_ptr, places, given)


def models_that_take(option: str) -> str:
    """Names of the models that use a field of ``Parameters``."""
    return ", ".join(name for name, model in MODELS.items() if option in model.options)


def most_links(model: str, n_routers: int, n_ases: int) -> int:
    """How many links of its own each router of a model can have, 1 at least."""
    largest = -(-n_routers // n_ases) if model == "top-down" else n_routers
    return max((largest - 1) // 2 if model == "rmat" else largest - 1, 1)


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
    own = _model(model).function("check")
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
    topology = _make(chosen, given)
    if given.level == "as" and "level" in chosen.options:
        from pipeline.generate.laws.plane import as_ases

        topology = as_ases(topology)
    if "weights" not in chosen.options:
        return topology
    from pipeline.generate.laws.weights import with_weights

    return with_weights(topology, given.weights, given.seed)


def _make(model: Model, given: Parameters) -> Topology:
    make, links = model.function("make"), model.function("links")
    if links is None:
        assert make is not None
        return make(given)
    from pipeline.generate.flat import make_flat

    own = model.function("check")
    if own is not None:
        own(given)
    return make_flat(links, given)


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
