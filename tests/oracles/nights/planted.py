"""Which events are right for what is planted, and what a reader may be told instead.

What is planted, and where, is ``pipeline.generate.networks.planting``: the product's. Here is what
comparing nights must say of it, each decision with its reason:

- both directions of a link are slowed or moved, so its pairs are those of both; where flows are
  divided, those that go another way now;
- a router that is entered by one link alone: that link is gone is as true (``Alike``);
- half of an AS by which all its pairs came from one neighbour, or went to it, and by no other link:
  that no link joins the two ASes any more is as true, and says more;
- a link that is added or cut shows as an address that nothing ties to a known router: that this
  address came or went is as true;
- two silent hosts of an AS are what chance brings (if one host in a hundred falls silent every
  night, two of five do in one of eighty ASes on one night in twelve; three of five on one night in
  a thousand), and of routers most of whose pairs reached no target and show no other way nobody can
  say whether they are gone or do not answer: both are planted, and not counted (``untold``).

Counted the other way are plants as they were before 2026-11-30: pairs of one direction, no kinds
that are as true, and what nobody can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from pipeline.generate.networks.night import (
    Night,
    addresses_of,
    link_between,
    links_between,
)
from pipeline.generate.networks.planting.kinds import KINDS
from pipeline.generate.networks.planting.links import middles_of
from pipeline.generate.networks.planting.plant import MANY, Plant, shuffled
from pipeline.generate.networks.planting.ways import Alter, Pairs, Seen, Ways, is_in
from pipeline.generate.networks.walking import AT_GATEWAY
from tests.oracles.nights.internet import JudgedNight

_LOST, _GAINED = "routers lost", "routers gained"


@dataclass(frozen=True)
class Alike:
    """Kinds that are as true, of an event that names all these ASes and one of these addresses.

    Without addresses the ASes decide alone.
    """

    kinds: tuple[str, ...]
    back: tuple[str, ...]
    asns: frozenset[int] = frozenset()
    addrs: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Wanted:
    """Kinds of events that are right, ASes one of which must be named; ``pairs``: that it touches.

    ``back``: the kinds on the night on which it is taken back; ``hidden``: ASes that it also
    touches; ``label``: of the exchange point or city that must be named; ``once``: the pairs of one
    direction, where others count both; ``untold``: nobody can tell it; ``figures``: of its AS,
    before and after: how much they differ must be told, give or take a hop.
    """

    name: str
    kinds: tuple[str, ...]
    back: tuple[str, ...]
    asns: frozenset[int]
    pairs: Pairs
    alter: Alter
    needs_alone: bool = False
    hidden: frozenset[int] = frozenset()
    alike: tuple[Alike, ...] = ()
    label: str = ""
    once: Pairs | None = None
    untold: bool = False
    figures: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def _kinds(kinds: tuple[str, ...], back: tuple[str, ...], **more: Any) -> dict[str, Any]:
    return {"kinds": kinds, "back": back, **more}


def half_as_lost(seen: Seen, plant: Plant) -> dict[str, Any]:
    after = seen.ways_if(plant.alter)
    (asn,) = plant.asns
    kinds, back = (_LOST,), (_GAINED,)
    if not any(seen.network.asn_of[router] == asn for router in routers_after(seen, after)):
        kinds, back = ("AS lost",), ("AS gained",)
    alike = _no_neighbors(seen, asn, set(plant.routers), plant.pairs)
    return _kinds(kinds, back, alike=alike, untold=not _is_shown(seen, after, plant.pairs))


def routers_after(seen: Seen, after: Ways) -> set[int]:
    """Routers that pairs cross once a night is altered, of those that always answer."""
    crossed = np.unique(after.router)
    return {r for r in crossed.tolist() if r < len(seen.network.asn_of) and seen.answers(r)}


def _is_shown(seen: Seen, after: Ways, pairs: Pairs) -> bool:
    """Whether at least half of some pairs show that they go elsewhere, or end where they did not.

    Else their traces only end sooner, as they do where routers do not answer.
    """
    answers = seen.campaign.targets.answers[seen.target]
    n_shown = 0
    for pair in pairs.tolist():
        others = {r for r in after.of(pair) if r < len(seen.able) and seen.answers(r)}
        ended = seen.ways.ending[pair]
        is_cut = answers[pair] and ended == AT_GATEWAY and after.ending[pair] != ended
        n_shown += bool(others - set(seen.ways.of(pair))) or bool(is_cut)
    return 2 * n_shown >= len(pairs)


def _no_neighbors(seen: Seen, asn: int, lost: set[int], pairs: Pairs) -> tuple[Alike, ...]:
    """Neighbours all links to which end at routers that fail, and from or to which all pairs go."""
    found = []
    for border, crossed in seen.borders.items():
        if asn not in border or not is_in(pairs, crossed).all():
            continue
        if all(lost & set(link.ends) for link in links_between(seen.network, *border)):
            found.append(Alike(("adjacency lost",), ("adjacency gained",), frozenset(border)))
    return tuple(found)


def router_lost(seen: Seen, plant: Plant) -> dict[str, Any]:
    (router,), pairs = plant.routers, plant.pairs
    after = seen.ways_if(plant.alter)
    kinds, back = (_LOST,), (_GAINED,)
    if any(is_in(pairs, crossed).all() for crossed in seen.borders.values()):
        kinds, back = (*kinds, "adjacency lost"), (*back, "adjacency gained")
    if _is_beside(seen, router, after):
        kinds, back = (*kinds, "load balancing lost"), (*back, "load balancing gained")
    alike: tuple[Alike, ...] = ()
    if len({_before(seen.ways.of(pair), router) for pair in pairs.tolist()}) == 1:
        addrs = frozenset(addresses_of(seen.network, router))
        alike = (Alike(("links removed",), ("links added",), plant.asns, addrs),)
    return _kinds(kinds, back, alike=alike, untold=not _is_shown(seen, after, pairs))


def _before(routers: list[int], router: int) -> int:
    """The router before another one, or itself if it is the first."""
    return routers[max(0, routers.index(router) - 1)]


def _is_beside(seen: Seen, router: int, after: Ways) -> bool:
    """Whether another router takes its place on most ways: flows were divided between them."""
    n_beside = 0
    for pair in seen.routers[router].tolist():
        before, now = seen.ways.of(pair), after.of(pair)
        others = [one for one, other in zip(before, now, strict=False) if one != other]
        n_beside += len(before) == len(now) and others == [router]
    return 2 * n_beside > len(seen.routers[router])


def link_cut(seen: Seen, plant: Plant) -> dict[str, Any]:
    alike = (_as_address(plant.asns, seen.link(*plant.routers).addrs, "lost", "gained"),)
    return _kinds(("links removed",), ("links added",), alike=alike)


def _as_address(asns: frozenset[int], addrs: tuple[str, str], now: str, then: str) -> Alike:
    """An interface of a link that nothing ties to another one of its router comes or goes."""
    return Alike((f"routers {now}",), (f"routers {then}",), asns, frozenset(addrs))


def link_added(seen: Seen, plant: Plant) -> dict[str, Any]:
    link = link_between(seen.altered(plant.alter).network, *plant.routers)
    alike = (_as_address(plant.asns, link.addrs, "gained", "lost"),)
    return _kinds(("links added",), ("links removed",), alike=alike)


def as_split(seen: Seen, plant: Plant) -> dict[str, Any]:
    (asn,), net = plant.asns, seen.network
    own = [r for r in net.routers[asn] if len(seen.routers[r]) and seen.answers(r)]
    half = set(plant.routers)
    parts = {r for r in own if r in half}, {r for r in own if r not in half}
    kinds, back = ("AS split in parts",), ("parts of an AS joined",)
    crossed = routers_after(seen, seen.ways_if(plant.alter))
    if min(len(crossed & part) for part in parts) < 3:  # the other part is not seen
        kinds, back = (*kinds, _LOST), (*back, _GAINED)
    return _kinds(kinds, back)


def ingress_moved(seen: Seen, plant: Plant) -> dict[str, Any]:
    kinds = back = ("ingress moved",)
    return _kinds(kinds, back, once=seen.links[plant.routers])


def link_slower(seen: Seen, plant: Plant) -> dict[str, Any]:
    return _kinds(("links slower",), (), once=seen.links[plant.routers])  # reported once


def balancing(seen: Seen, plant: Plant) -> dict[str, Any]:
    kinds, back = ("load balancing gained",), ("load balancing lost", _LOST)
    return _kinds(kinds, back, once=middles_of(seen)[plant.routers])


def two_hosts_dead(seen: Seen, plant: Plant) -> dict[str, Any]:
    return _kinds(("hosts silent",), ("hosts answer again",), untold=True)


def as_kind_says(seen: Seen, plant: Plant) -> dict[str, Any]:
    """The kinds that the row of its kind names."""
    kind = KINDS[plant.kind]
    return _kinds(kind.events, kind.back)


Right = Callable[[Seen, Plant], dict[str, Any]]

# By the names that tables of docs/changes.md have; the kinds of plants, and what is right.
_JUDGED: Mapping[str, tuple[str, Right]] = {
    "transit AS lost": ("transit-as-lost", as_kind_says),
    "edge AS lost": ("edge-as-lost", as_kind_says),
    "half of an AS lost": ("half-as-lost", half_as_lost),
    "adjacency lost": ("adjacency-lost", as_kind_says),
    "exchange lost": ("exchange-lost", as_kind_says),
    "city lost": ("city-lost", as_kind_says),
    "router lost": ("router-lost", router_lost),
    "link cut": ("link-cut", link_cut),
    "AS split": ("as-split", as_split),
    "ingress moved": ("ingress-moved", ingress_moved),
    "adjacency gained": ("adjacency-gained", as_kind_says),
    "link added": ("link-added", link_added),
    "hosts of an AS dead": ("hosts-dead", as_kind_says),
    "hosts of a prefix dead": ("hosts-of-prefix-dead", as_kind_says),
    "two hosts of an AS dead": ("two-hosts-dead", two_hosts_dead),
    "link slower": ("link-slower", link_slower),
    "link slower, 3 to 5 vantage points": ("link-slower-few", link_slower),
    "load balancing": ("load-balancing", balancing),
    "MPLS hides routers": ("mpls", as_kind_says),
    "vantage point lost": ("vantage-lost", as_kind_says),
    "targets lost": ("targets-lost", as_kind_says),
    "router silent": ("router-silent", as_kind_says),
    "router rarely answers": ("router-limited", as_kind_says),
    "AS silent": ("as-silent", as_kind_says),
    "table changed": ("table-changed", as_kind_says),
    "router renumbered": ("router-renumbered", as_kind_says),
}


# Judged by themselves, since what else is planted decides the places of those above.
_OTHERS: Mapping[str, tuple[str, Right]] = {
    "diameter grown": ("diameter-grown", as_kind_says),
    "radius grown": ("radius-grown", as_kind_says),
    "relationship changed": ("relationship-changed", as_kind_says),
    "detour": ("detour", as_kind_says),
    "second origin": ("second-origin", as_kind_says),
}

Places = Callable[[Seen, Random], Iterator[Wanted]]


def _wanted(name: str, kind: str, right: Right) -> Places:

    def places(seen: Seen, random: Random) -> Iterator[Wanted]:
        for plant in KINDS[kind].find(seen, random):
            yield Wanted(
                name=name,
                asns=plant.asns,
                pairs=plant.pairs,
                alter=plant.alter,
                needs_alone=plant.is_everywhere,
                hidden=plant.beside,
                label=plant.place,
                figures=plant.figures,
                **right(seen, plant),
            )

    return places


def election_changed(seen: Seen, random: Random) -> Iterator[Wanted]:
    """Inference puts a router into a neighbouring AS; the tables are the same."""
    net = seen.network
    for router in shuffled(random, seen.routers):
        asn = net.asn_of[router]
        near = {net.asn_of[link.other(router)] for link in net.links_of[router]} - {asn}
        if len(seen.routers[router]) < MANY or not near or not seen.answers(router):
            continue
        other = random.choice(sorted(near))
        addrs = frozenset(addresses_of(net, router))

        def alter(night: Night, addrs: frozenset[str] = addrs, other: int = other) -> None:
            assert isinstance(night, JudgedNight)
            night.owners.update(dict.fromkeys(addrs, other))

        kinds = back = ("routers of another owner",)
        pairs, asns = seen.routers[router], frozenset({asn, other})
        yield Wanted("election changed", kinds, back, asns, pairs, alter)


PLANTS: Mapping[str, Places] = {
    **{name: _wanted(name, *row) for name, row in _JUDGED.items()},
    "election changed": election_changed,
}
OTHERS: Mapping[str, Places] = {name: _wanted(name, *row) for name, row in _OTHERS.items()}
