"""A network as it was built: routers, their ASes and addresses, links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations


@dataclass(frozen=True)
class Truth:
    """A network as it was built, or the part of one that its operator knows.

    Attributes
    ----------
    asn_of : mapping
        AS of each router.
    router_of : mapping
        Router of each address, in its one spelling.
    links : frozenset
        Between two routers.
    neighbor_asns : mapping
        Of border routers: the ASes that they have links to.
    n_exchanges : int
        Exchange points.
    plan : str
        Name and seed of the plan that it was built from; empty: not known.
    is_whole : bool
        An address of no known router is of no router. Not where only a part is known.
    has_links : bool
        Links are known: all between known routers.
    relationships : mapping
        -1: the first AS is a provider of the second one, 0: they are peers. Not known: empty.
    organisations : mapping
        Of ASes; those of one organisation are siblings. Not known: empty.
    """

    asn_of: Mapping[str, int]
    router_of: Mapping[str, str]
    links: frozenset[frozenset[str]]
    neighbor_asns: Mapping[str, Collection[int]]
    n_exchanges: int = 0
    plan: str = ""
    is_whole: bool = True
    has_links: bool = True
    relationships: Mapping[tuple[int, int], int] = field(default_factory=dict)
    organisations: Mapping[int, object] = field(default_factory=dict)

    @property
    def border_routers(self) -> set[str]:
        return set(self.neighbor_asns)


def neighbors_by_links(
    links: Iterable[frozenset[str]], asn_of: Mapping[str, int]
) -> dict[str, set[int]]:
    """ASes that routers have links to, of those with a link to another AS."""
    neighbor_asns: dict[str, set[int]] = {}
    for here, there in (pair for link in links for pair in permutations(link)):
        if asn_of[here] != asn_of[there]:
            neighbor_asns.setdefault(here, set()).add(asn_of[there])
    return neighbor_asns
