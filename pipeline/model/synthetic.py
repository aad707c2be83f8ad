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

# Laws of bandwidths (BRITE's BWDist), and how each is written; Mbit/s.
BANDWIDTHS = {
    "constant": "constant:VALUE",
    "uniform": "uniform:LOW:HIGH",
    "heavy-tailed": "heavy-tailed:LOW:HIGH",
    "exponential": "exponential:MEAN",
}
BANDWIDTH = "uniform:10:1024"  # BRITE's numbers

MAX_SIDE = 40_000  # cells on a side of a plane, of which each takes a byte
LEVELS = ("router", "as")
# BRITE's models by their numbers, with the names that its Java engine writes.
BRITE_MODELS = {
    1: "RTWaxman",
    2: "RTBarabasiAlbert",
    3: "ASWaxman",
    4: "ASBarabasi",
    5: "TopDown",
    6: "BottomUp",
    9: "RTBarabasiAlbert2",
    10: "ASBarabasi2",
    11: "RTGLP",
    12: "ASGLP",
}
BRITE_FILES = (7, 8)  # numbers of models that only read a file, of routers or of ASes

PLACEMENTS = ("random", "heavy-tailed")
GROWTHS = ("incremental", "all")
EDGE_CONNECTIONS = ("random", "smallest", "smallest-non-leaf", "smallest-k")
GROUPINGS = ("random-pick", "random-walk")
ASSIGNMENTS = ("constant", "uniform", "heavy-tailed", "exponential")
PARETO_SHAPE = 1.2  # of all heavy tails of BRITE but that of its placement

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
    bandwidth : str
        Law of the bandwidths, as ``bandwidth_law_of`` reads it.
    bandwidth_between : str or None
        That of links between ASes; None: the same.
    level : str
        One of LEVELS: what a node of a graph of one level is.
    placement : str
        One of PLACEMENTS. A heavy tail puts many routers into few squares of the plane.
    plane_side, square_side : int or None
        Cells on a side of the plane of an AS (BRITE's HS) and of its squares (LS). None: 1000, or
        more where a quarter of the cells would be taken; and a tenth of that.
    alpha : float
        Waxman's, above 0 and at most 1.
    beta : float or None
        Waxman's, or GLP's; None: that model's own.
    growth : str
        One of GROWTHS; Waxman.
    preferential : bool
        Whether Waxman's routers prefer those of many links.
    p, q : float or None
        Probabilities of adding links and of moving them; None: the model's own.
    edge_connection : str
        One of EDGE_CONNECTIONS: the router at which a link between two ASes ends; top-down.
    k : int
        Smallest degree of that router for ``smallest-k``.
    as_model, router_model : str
        A model of one level; of a hierarchy.
    grouping, assignment : str
        One of GROUPINGS and of ASSIGNMENTS: how bottom-up chooses the routers of an AS, and how
        many.
    as_level : Parameters or None
        Of the graph of ASes; None: the same numbers as for routers.
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
    bandwidth: str = BANDWIDTH
    bandwidth_between: str | None = None
    level: str = "router"
    placement: str = PLACEMENTS[0]
    plane_side: int | None = None
    square_side: int | None = None
    alpha: float = 0.15
    beta: float | None = None
    growth: str = GROWTHS[0]
    preferential: bool = False
    p: float | None = None
    q: float | None = None
    edge_connection: str = "smallest-non-leaf"
    k: int = 2
    as_model: str = "ba"
    router_model: str = "ba"
    grouping: str = "random-walk"
    assignment: str = ASSIGNMENTS[0]
    as_level: Parameters | None = None


def law_of(text: str) -> tuple[str, tuple[float, ...]]:
    """Name and numbers of a law of weights: ``whole:1:1024``, ``uniform:0.5:2``, ``exponential:3``.

    Raises
    ------
    ValueError
        If it is not one of ``LAWS``, or its numbers are wrong; the message says what to give.
    """
    takes = f"{', '.join(LAWS.values())}, with finite numbers, 0 <= LOW <= HIGH and MEAN > 0"
    name, numbers = _law(text, LAWS, takes)
    is_exact = all(number.is_integer() and number <= MAX_WHOLE for number in numbers)
    if name == "whole" and not is_exact:
        raise ValueError(f"{LAWS[name]} with whole numbers up to {MAX_WHOLE}")
    return name, numbers


def bandwidth_law_of(text: str) -> tuple[str, tuple[float, ...]]:
    """Name and numbers of a law of bandwidths, in Mbit/s: ``uniform:10:1024``, ``constant:10``.

    Raises
    ------
    ValueError
        If it is not one of ``BANDWIDTHS``, or its numbers are wrong; the message says what to give.
    """
    takes = f"{', '.join(BANDWIDTHS.values())}, with finite numbers above 0 and LOW <= HIGH"
    name, numbers = _law(text, BANDWIDTHS, takes)
    if min(numbers) <= 0:
        raise ValueError(takes)
    return name, numbers


def _law(text: str, laws: dict[str, str], takes: str) -> tuple[str, tuple[float, ...]]:
    name, *parts = text.split(":")
    try:
        numbers = tuple(float(part) for part in parts)
    except ValueError:
        raise ValueError(takes) from None
    if name not in laws or len(numbers) != laws[name].count(":"):
        raise ValueError(takes)
    if not all(math.isfinite(number) for number in numbers) or min(numbers) < 0:
        raise ValueError(takes)
    if numbers[-1] < numbers[0] or numbers[-1] > 1e30 or (len(numbers) == 1 and numbers[0] == 0):
        raise ValueError(takes)
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
