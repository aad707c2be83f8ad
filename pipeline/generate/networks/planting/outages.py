"""What fails as a whole: ASes, borders, exchange points, cities, routers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random

from pipeline.generate.networks.network import Link, Network
from pipeline.generate.networks.night import (
    Night,
    leaves,
    links_between,
    remove_links,
)
from pipeline.generate.networks.planting.plant import FEW, FROM, MANY, SOME, Plant, shuffled
from pipeline.generate.networks.planting.ways import Alter, Seen, common, joined

NEARLY_ALL = 0.8  # of the pairs of a city: what as many cross is as good a cause


def _isolate(asn: int) -> Alter:
    def alter(night: Night) -> None:
        net = night.network
        own = (link for router in net.routers[asn] for link in net.links_of[router])
        remove_links(net, [link for link in own if leaves(net, link)])

    return alter


def _without(routers: frozenset[int]) -> Alter:
    def alter(night: Night) -> None:
        net = night.network
        remove_links(net, [link for router in routers for link in net.links_of[router]])

    return alter


def transit_as_lost(seen: Seen, random: Random) -> Iterator[Plant]:
    """An AS that others pass through loses all its neighbours."""
    for asn in shuffled(random, seen.transit):
        if len(seen.transit[asn]) < MANY or asn in seen.homes():
            continue
        alter = _isolate(asn)
        pairs = common(seen.touched(alter), seen.ases[asn])
        yield Plant("transit-as-lost", pairs, alter, frozenset({asn}))


def edge_as_lost(seen: Seen, random: Random) -> Iterator[Plant]:
    """An AS that only its own targets are in loses all its neighbours."""
    for asn in shuffled(random, seen.ases):
        if len(seen.transit[asn]) or asn in seen.homes() or len(seen.ases[asn]) < FEW:
            continue
        alter = _isolate(asn)
        pairs = common(seen.touched(alter), seen.ases[asn])
        yield Plant("edge-as-lost", pairs, alter, frozenset({asn}))


def half_as_lost(seen: Seen, random: Random) -> Iterator[Plant]:
    """Half of the routers of an AS fail."""
    net = seen.network
    for asn in shuffled(random, seen.ases):
        crossed = [r for r in net.routers[asn] if len(seen.routers[r]) and seen.answers(r)]
        if len(crossed) < 4 or asn in seen.homes():
            continue
        half = random.sample(crossed, len(crossed) // 2)
        pairs = joined(seen.routers[r] for r in half)
        if len(pairs) >= MANY:
            alter = _without(frozenset(half))
            yield Plant("half-as-lost", pairs, alter, frozenset({asn}), tuple(sorted(half)))


def adjacency_lost(seen: Seen, random: Random) -> Iterator[Plant]:
    """All links between two ASes are cut; both are reached another way."""
    net = seen.network
    for one, other in shuffled(random, seen.borders):
        pairs = seen.borders[one, other]
        if len(pairs) < SOME or seen.n_vantages(pairs) < FROM:
            continue
        if any(link.exchange for link in links_between(net, one, other)):
            continue

        def alter(night: Night, one: int = one, other: int = other) -> None:
            remove_links(night.network, links_between(night.network, one, other))

        if not seen.ways_if(alter).has_route(pairs).all():
            continue  # an AS is cut off: another kind
        yield Plant("adjacency-lost", pairs, alter, frozenset({one, other}))


def exchange_lost(seen: Seen, random: Random) -> Iterator[Plant]:
    """An exchange point forwards nothing any more."""
    net = seen.network
    for exchange in net.exchanges:
        own = [link for link in net.links if link.exchange == exchange.name]
        used: dict[Link, list[tuple[int, int]]] = defaultdict(list)
        for link in own:
            for ends in (link.ends, link.ends[::-1]):
                if ends in seen.links:
                    used[link].append(ends)
        pairs = joined(seen.links[ends] for each in used.values() for ends in each)
        if len(pairs) < MANY or len(used) < 3:
            continue
        asns = frozenset(net.asn_of[router] for link in used for router in link.ends)

        def alter(night: Night, name: str = exchange.name) -> None:
            net = night.network
            remove_links(net, [each for each in net.links if each.exchange == name])

        yield Plant("exchange-lost", pairs, alter, beside=asns, place=exchange.name)


def city_lost(seen: Seen, random: Random) -> Iterator[Plant]:
    """All routers in a city fail; no AS, border or router by itself explains most of its pairs."""
    net, delays = seen.network, seen.campaign.delays
    inside: dict[str, set[int]] = defaultdict(set)
    for router in range(len(net.asn_of)):
        inside[delays.city(router)].add(router)
    gateways = {vantage.gateway for vantage in net.vantages}
    for city in shuffled(random, inside):
        crossed = [r for r in inside[city] if r in seen.routers and seen.answers(r)]
        asns = frozenset(net.asn_of[router] for router in crossed)
        pairs = joined(seen.routers[router] for router in crossed)
        if len(crossed) < 3 or len(asns) < 2 or len(pairs) < MANY or inside[city] & gateways:
            continue
        most = max(each.most(pairs) for each in (seen.ases, seen.borders, seen.routers))
        if most <= NEARLY_ALL * len(pairs):
            alter, routers = _without(frozenset(inside[city])), tuple(sorted(inside[city]))
            yield Plant("city-lost", pairs, alter, routers=routers, beside=asns, place=city)


def router_lost(seen: Seen, random: Random) -> Iterator[Plant]:
    """A router fails; its AS has others."""
    net = seen.network
    gateways = {v.gateway for v in net.vantages} | {g for b in net.blocks for g in b.gateways}
    for router in shuffled(random, seen.routers):
        pairs = seen.routers[router]
        if len(pairs) < 2 * SOME or not seen.answers(router) or router in gateways:
            continue
        asn = net.asn_of[router]
        if len([r for r in net.routers[asn] if len(seen.routers[r])]) >= 4:
            alter = _without(frozenset({router}))
            yield Plant("router-lost", pairs, alter, frozenset({asn}), (router,))


def as_split(seen: Seen, random: Random) -> Iterator[Plant]:
    """The links between two halves of an AS are cut."""
    net = seen.network
    for asn in shuffled(random, seen.ases):
        routers = net.routers[asn]
        own = [r for r in routers if len(seen.routers[r]) and seen.answers(r)]
        if len(own) < 7 or len(routers) < 8:
            continue
        half: set[int] = set()
        queue = [random.choice(own)]
        while queue and len(half) < len(routers) // 2:
            router = queue.pop(0)
            if router in half:
                continue
            half.add(router)
            queue += [link.other(router) for link in net.links_of[router] if link.kind == "inner"]
        links = dict.fromkeys(link for router in routers for link in net.links_of[router])
        cut = [link for link in links if link.kind == "inner" and len(half & set(link.ends)) == 1]
        parts = [r for r in own if r in half], [r for r in own if r not in half]
        rest = set(routers) - half
        if min(map(len, parts)) < 3 or len(_reach(net, min(rest), rest)) < len(rest):
            continue

        def alter(
            night: Night, addrs: frozenset[tuple[str, str]] = frozenset(link.addrs for link in cut)
        ) -> None:
            remove_links(night.network, [e for e in night.network.links if e.addrs in addrs])

        pairs = joined(seen.both_ways(*link.ends) for link in cut)
        if len(pairs) >= SOME:
            yield Plant("as-split", pairs, alter, frozenset({asn}), tuple(sorted(half)))


def _reach(net: Network, start: int, among: set[int]) -> set[int]:
    found, queue = set(), [start]
    while queue:
        router = queue.pop()
        if router in found or router not in among:
            continue
        found.add(router)
        queue += [e.other(router) for e in net.links_of[router] if e.kind == "inner"]
    return found
