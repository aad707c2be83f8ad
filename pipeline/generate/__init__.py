"""Synthetic topologies. To add a model: one module here, one line in MODELS.

A model is seeded: the same arguments give the same topology, on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.errors import UsageError
from pipeline.generate.barabasi_albert import generate_barabasi_albert
from pipeline.generate.brite_file import write_brite
from pipeline.generate.top_down import generate_top_down
from pipeline.model.topology import Topology

__all__ = [
    "MODELS",
    "Model",
    "generate",
    "generate_barabasi_albert",
    "generate_top_down",
    "write_brite",
]


@dataclass(frozen=True)
class Model:
    """A way to make a topology: called with (n_routers, n_ases, m, seed)."""

    make: Callable[[int, int, int, int], Topology]
    description: str


MODELS: dict[str, Model] = {
    "top-down": Model(
        lambda n_routers, n_ases, m, seed: generate_top_down(n_ases, n_routers, m=m, seed=seed),
        "ASes joined by preferential attachment, routers of each joined likewise (BRITE TopDown)",
    ),
    "ba": Model(
        lambda n_routers, n_ases, m, seed: generate_barabasi_albert(n_routers, m=m, seed=seed),
        "routers of no AS joined by preferential attachment (BRITE RTBarabasiAlbert)",
    ),
}


def generate(
    model: str, *, n_routers: int, n_ases: int = 50, m: int = 2, seed: int = 1
) -> Topology:
    """Make a topology by the model's name.

    Parameters
    ----------
    model : str
        A key of MODELS.
    n_routers : int
        Routers in all.
    n_ases : int
        ASes that they are shared out to; models without ASes ignore it.
    m : int
        Links that a new router, or a new AS, brings.
    seed : int
        0 to 2**64 - 1.

    Raises
    ------
    UsageError
        If the model is unknown or a number is out of range.
    """
    if model not in MODELS:
        raise UsageError(f"unknown model {model!r}; give one of: {', '.join(MODELS)}")
    return MODELS[model].make(n_routers, n_ases, m, seed)
