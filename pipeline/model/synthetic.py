"""Parameters of a synthetic topology."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.errors import UsageError
from pipeline.model.words import number

FIRST_ASN = 1  # of the ASes that are made; the others follow
MAX_INGRESSES = 2000  # default of the maximum per AS

MAX_LINKS = 2**31 - 1  # of all graphs together: link ends are drawn by 32 random bits

MAX_SEED = 2**64 - 1

# Laws of weights, and how each is written.
LAWS = {"whole": "whole:LOW:HIGH", "uniform": "uniform:LOW:HIGH", "exponential": "exponential:MEAN"}
MAX_WHOLE = 2**24  # whole weights are exact up to here, as float32


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
    smallest, largest : int or None
        Routers of the smallest and the largest AS of an Internet; None: see ``as_sizes``.
    max_ingresses : int
        Maximum number of ingresses per AS of an Internet.
    n_rows : int or None
        Of a grid; None: the number that makes it most nearly square.
    cut : float
        Share of a grid's links that are left out.
    min_degree, max_degree : int
        Smallest and largest degree of a graph of given degrees, both attained.
    connected : bool
        Whether such a graph is connected.
    weights : str or None
        Law of the weights, as ``law_of`` reads it; None: the lengths of the links.
    """

    n_routers: int
    n_ases: int = 50
    m: int = 2
    seed: int = 1
    smallest: int | None = None
    largest: int | None = None
    max_ingresses: int = MAX_INGRESSES
    n_rows: int | None = None
    cut: float = 0.1
    min_degree: int = 2
    max_degree: int = 6
    connected: bool = False
    weights: str | None = None


def law_of(text: str) -> tuple[str, tuple[float, ...]]:
    """Name and numbers of a law of weights: ``whole:1:1024``, ``uniform:0.5:2``, ``exponential:3``.

    Raises
    ------
    ValueError
        If it is not one of ``LAWS``, or its numbers are wrong; the message says what to give.
    """
    takes = f"{', '.join(LAWS.values())}, with finite numbers, 0 <= LOW <= HIGH and MEAN > 0"
    name, *parts = text.split(":")
    try:
        numbers = tuple(float(part) for part in parts)
    except ValueError:
        raise ValueError(takes) from None
    if name not in LAWS or len(numbers) != LAWS[name].count(":"):
        raise ValueError(takes)
    if not all(math.isfinite(number) for number in numbers) or min(numbers) < 0:
        raise ValueError(takes)
    if numbers[-1] < numbers[0] or numbers[-1] > 1e30 or (len(numbers) == 1 and numbers[0] == 0):
        raise ValueError(takes)
    is_exact = all(number.is_integer() and number <= MAX_WHOLE for number in numbers)
    if name == "whole" and not is_exact:
        raise ValueError(f"{LAWS[name]} with whole numbers up to {MAX_WHOLE}")
    return name, numbers


def check_links(n_routers: int, m: int) -> None:
    """Raise UsageError if routers with ``m`` links each have too many."""
    if n_routers * m > MAX_LINKS:
        raise UsageError(
            f"{number(n_routers, 'router')} with {number(m, 'link')} each are more than "
            f"{number(MAX_LINKS, 'link')}: give fewer"
        )


def check_others(n_routers: int, m: int, most: int, where: str = "") -> None:
    """Raise UsageError if ``m`` links a router are more than the ``most`` that can be.

    All routers would be linked to one another, whatever ``m``. A single router has no other, so
    nothing is drawn and nothing is wrong.
    """
    if n_routers > 1 and m > most:
        fewer = f"give --links {most} or fewer, or more routers" if most else "give more routers"
        raise UsageError(
            f"{number(m, 'link')} for each of {number(n_routers, 'router')}{where} are more than "
            f"there can be: {fewer}"
        )


def check_degrees(n_routers: int, most: int) -> None:
    """Raise UsageError if routers with at most ``most`` links each may have too many."""
    if n_routers * max(most, 1) // 2 > MAX_LINKS:
        raise UsageError(
            f"{number(n_routers, 'router')} with up to {number(most, 'link')} each may have more "
            f"than {number(MAX_LINKS, 'link')}: give fewer"
        )
