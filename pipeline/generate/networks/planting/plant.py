"""What a plant is: an alteration of a network at one place, and what it touches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from pipeline.generate.networks.planting.ways import Alter, Pairs, Seen

FEW, SOME, MANY = 8, 15, 40  # pairs: what fewer cross is hardly observable
FROM = 3  # vantage points likewise


@dataclass(frozen=True, eq=False)
class Plant:
    """A change at one place.

    Attributes
    ----------
    pairs : (n,) int64
        That it touches.
    alter : callable
        Alters a night; LookupError if what it alters is not there.
    asns : frozenset of int
        ASes that it is about; of what is in many places: none.
    routers : tuple of int
        Routers that it is about, of a link its ends in the direction of most pairs.
    beside : frozenset of int
        ASes that it also touches.
    place : str
        Name of the exchange point or city.
    hosts : tuple of str
        Vantage points or targets that it is about.
    is_everywhere : bool
        Whether nothing else may be planted on its nights.
    figures : dict of str to (int, int)
        Figures of its AS that differ, before and after, of what pairs cross.
    is_less : bool
        A share that falls: to compare it is what taking back one that rises is.
    """

    kind: str
    pairs: Pairs
    alter: Alter
    asns: frozenset[int] = frozenset()
    routers: tuple[int, ...] = ()
    beside: frozenset[int] = frozenset()
    place: str = ""
    hosts: tuple[str, ...] = ()
    is_everywhere: bool = False
    figures: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    is_less: bool = False


Find = Callable[[Seen, Random], Iterator[Plant]]


class Kind(NamedTuple):
    """A kind of plant: what it needs, and its places, in random order.

    ``events``, ``back``: what comparing calls it on the first of its nights, and on the first after
    them; several where the place decides, none where it has no name. ``nights``: of its own that
    pass until it says so; where it takes several, it also needs three without it.
    """

    needs: str
    find: Find
    events: tuple[str, ...]
    back: tuple[str, ...] = ()
    nights: int = 1


def shuffled(random: Random, items: Any) -> list[Any]:
    """Items in random order."""
    found = sorted(items)
    random.shuffle(found)
    return found
