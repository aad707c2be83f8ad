"""Parameters of a synthetic topology."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_ASN = 1  # of the ASes that are made; the others follow
SMALLEST = 20  # routers; default of the smallest AS
MAX_INGRESSES = 2000  # default of the maximum per AS


@dataclass(frozen=True)
class Parameters:
    """Parameters of a topology; a model ignores those that it does not use.

    Attributes
    ----------
    n_routers : int
        In all.
    n_ases : int
        ASes among which the routers are divided.
    m : int
        Links of each new router; for top-down also of each new AS.
    seed : int
        0 to 2**64 - 1.
    smallest, largest : int, int or None
        Routers of the smallest and the largest AS of an Internet; see ``as_sizes``.
    max_ingresses : int
        Maximum number of ingresses per AS of an Internet.
    n_rows : int or None
        Of a grid; None: the number that makes it most nearly square.
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
