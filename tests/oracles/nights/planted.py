"""Changes planted into nights of ``internet``: what is altered, and the event that it must cause.

A plant is chosen by the ways that packets take through the unaltered network, and may be taken back
on the night after: then the event of the other direction is expected. Where a plant is invisible it
is not made: routers that never answer are left alone, and so is what hardly a pair crosses.

What else is decided here of what a reader may be told, each with its reason where it is decided:

- both directions of a link are slowed or moved, so its pairs are those of both; where flows are
  divided, those that go another way now;
- a router that is entered by one link alone: that link is gone is as true (``Alike``);
- half of an AS by which all its pairs came from one neighbour, or went to it, and by no other link:
  that no link joins the two ASes any more is as true, and says more;
- a link that is added or cut shows as an address that nothing ties to a known router: that this
  address came or went is as true;
- two silent hosts of an AS are what chance brings, and of routers most of whose pairs reached no
  target and show no other way nobody can say whether they are gone or do not answer: both are
  planted, and not counted (``untold``).

Counted the other way are plants as they were before 2026-11-30: pairs of one direction, no kinds
that are as true, and what nobody can tell.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from pipeline.generate.networks.ases import PEER
from pipeline.generate.networks.delays import Delays
from pipeline.generate.networks.network import Link, Network
from tests.oracles.networks.walking import Walks
from tests.oracles.nights.internet import (
    Night,
    add_link,
    addresses_of,
    links_between,
    links_of_as,
    remove_links,
)

Pair = tuple[str, str]  # addresses of a vantage point and of a target
Ways = dict[Pair, tuple[tuple[int, ...], str]]  # routers that use up a TTL, and how it ends
Alter = Callable[[Night], None]

FEW, SOME, MANY = 8, 15, 40  # pairs
NEARLY_ALL = 0.8  # of the pairs of a city: what as many cross is as good a cause


@dataclass(frozen=True)
class Alike:
    """Kinds that are as true, of an event that names all these ASes and one of these addresses.

    Without addresses the ASes decide alone.
    """

    kinds: tuple[str, ...]
    back: tuple[str, ...]
    asns: frozenset[int] = frozenset()
    addrs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Wanted:
    """Kinds of events that are right, ASes one of which must be named; ``pairs``: that it touches.

    ``back``: the kinds on the night on which it is taken back; ``hidden``: ASes that it also
    touches; ``label``: of the exchange point or city that must be named; ``once``: the pairs of one
    direction, where others count both; ``untold``: nobody can tell it.
    """

    name: str
    kinds: tuple[str, ...]
    back: tuple[str, ...]
    asns: frozenset[int]
    pairs: frozenset[Pair]
    alter: Alter
    needs_alone: bool = False
    hidden: frozenset[int] = frozenset()
    alike: tuple[Alike, ...] = ()
    label: str = ""
    once: frozenset[Pair] | None = None
    untold: bool = False


@dataclass
class Seen:
    """The unaltered network, and which pairs cross what."""

    night: Night
    ways: Ways
    routers: dict[int, set[Pair]] = field(default_factory=lambda: defaultdict(set))
    links: dict[tuple[int, int], set[Pair]] = field(default_factory=lambda: defaultdict(set))
    ases: dict[int, set[Pair]] = field(default_factory=lambda: defaultdict(set))
    transit: dict[int, set[Pair]] = field(default_factory=lambda: defaultdict(set))
    borders: dict[tuple[int, int], set[Pair]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def of(cls, night: Night) -> Seen:
        net = night.net
        seen = cls(night, ways_of(night))
        answers = set(range(len(net.asn_of))) - net.answers.silent - net.answers.limited
        for pair, (routers, _) in seen.ways.items():
            for router in routers:
                seen.routers[router].add(pair)
            asns = [net.asn_of[router] for router in routers if router in answers]
            for asn in asns:
                seen.ases[asn].add(pair)
            for asn in asns[:-1]:
                if asn not in (asns[0], asns[-1]):
                    seen.transit[asn].add(pair)
            for one, other in itertools.pairwise(routers):
                if {one, other} <= answers and one != other:
                    seen.links[one, other].add(pair)
                    a, b = net.asn_of[one], net.asn_of[other]
                    if a != b:
                        seen.borders[min(a, b), max(a, b)].add(pair)
        return seen

    @property
    def net(self) -> Network:
        return self.night.net

    def answers(self, router: int) -> bool:
        """Whether it always answers."""
        given = self.net.answers
        return router not in given.silent | given.limited

    def homes(self) -> set[int]:
        """ASes of vantage points."""
        return {vantage.asn for vantage in self.net.vantages}

    def both_ways(self, one: int, other: int) -> frozenset[Pair]:
        """Pairs that cross a link in either direction."""
        return frozenset(self.links.get((one, other), set()) | self.links.get((other, one), set()))

    def link(self, one: int, other: int) -> Link:
        return next(each for each in self.net.links_of[one] if each.other(one) == other)


def ways_of(night: Night) -> Ways:
    """Where packets of each pair go, one flow each; without those that are not measured."""
    net, walks = night.net, Walks(night.net)
    found: Ways = {}
    for vantage in net.vantages:
        if vantage.name in night.gone:
            continue
        for block in net.blocks:
            if str(block.prefix) == vantage.lan or block.target in night.left_out:
                continue
            way = walks.there(vantage, block, f"{vantage.addr}>{block.target}")
            end = f"{way.end} {block.answers}"
            found[vantage.addr, block.target] = tuple(step.router for step in way.steps), end
    return found


def touched(seen: Seen, alter: Alter) -> frozenset[Pair]:
    """Pairs that go another way, or end otherwise, once a night is altered."""
    night = Night.of_seed(seen.net.plan.seed, **changed_fields(seen))
    alter(night)
    ways = ways_of(night)
    return frozenset(pair for pair, way in seen.ways.items() if ways.get(pair) != way)


def routers_after(seen: Seen, alter: Alter) -> set[int]:
    """Routers that pairs cross once a night is altered, of those that always answer."""
    night = Night.of_seed(seen.net.plan.seed, **changed_fields(seen))
    alter(night)
    crossed = {router for routers, _ in ways_of(night).values() for router in routers}
    return {router for router in crossed if router < len(seen.net.asn_of) and seen.answers(router)}


def _is_shown(seen: Seen, alter: Alter, pairs: frozenset[Pair]) -> bool:
    """Whether at least half of some pairs show that they go elsewhere, or end where they did not.

    Else their traces only end sooner, as they do where routers do not answer.
    """
    night = Night.of_seed(seen.net.plan.seed, **changed_fields(seen))
    alter(night)
    ways = ways_of(night)
    n_shown = 0
    for pair in pairs:
        (before, ended), (after, ends) = seen.ways[pair], ways[pair]
        others = {router for router in after if seen.answers(router)} - set(before)
        n_shown += bool(others) or (ended == "gateway True" and ended != ends)
    return 2 * n_shown >= len(pairs)


def crosses(seen: Seen, alter: Alter, asn: int) -> bool:
    """Whether any pair crosses a router of an AS once a night is altered."""
    return any(seen.net.asn_of[router] == asn for router in routers_after(seen, alter))


def changed_fields(seen: Seen) -> dict:
    """Fields of its plan that the network of a seed is drawn with."""
    return dict(seen.night.changed)


def vantages_of(pairs: set[Pair]) -> set[str]:
    return {vantage for vantage, _ in pairs}


def shuffled(random: Random, items) -> list:
    found = sorted(items)
    random.shuffle(found)
    return found


Plant = Callable[[Seen, Random], Iterator[Wanted]]


def _isolate(asn: int) -> Alter:
    def alter(night: Night) -> None:
        net = night.net
        remove_links(net, [each for each in links_of_as(net, asn) if _leaves(net, each)])

    return alter


def _leaves(net: Network, link: Link) -> bool:
    one, other = (net.asn_of[router] for router in link.ends)
    return one != other


def transit_as_lost(seen: Seen, random: Random) -> Iterator[Wanted]:
    """An AS that others pass through loses all its neighbours."""
    for asn in shuffled(random, seen.transit):
        if len(seen.transit[asn]) < MANY or asn in seen.homes():
            continue
        alter = _isolate(asn)
        pairs = touched(seen, alter) & seen.ases[asn]
        kinds, back = ("AS lost",), ("AS gained",)
        yield Wanted("transit AS lost", kinds, back, frozenset({asn}), pairs, alter)


def edge_as_lost(seen: Seen, random: Random) -> Iterator[Wanted]:
    """An AS that only its own targets are in loses all its neighbours."""
    for asn in shuffled(random, seen.ases):
        if seen.transit[asn] or asn in seen.homes() or len(seen.ases[asn]) < FEW:
            continue
        alter = _isolate(asn)
        pairs = touched(seen, alter) & seen.ases[asn]
        kinds, back = ("AS lost",), ("AS gained",)
        yield Wanted("edge AS lost", kinds, back, frozenset({asn}), pairs, alter)


def half_as_lost(seen: Seen, random: Random) -> Iterator[Wanted]:
    """Half of the routers of an AS fail."""
    net = seen.net
    for asn in shuffled(random, seen.ases):
        crossed = [r for r in net.routers[asn] if seen.routers[r] and seen.answers(r)]
        if len(crossed) < 4 or asn in seen.homes():
            continue
        half = set(random.sample(crossed, len(crossed) // 2))
        if len(set().union(*(seen.routers[r] for r in half))) < MANY:
            continue

        def alter(night: Night, half: set[int] = half) -> None:
            own = {link for router in half for link in night.net.links_of[router]}
            remove_links(night.net, [each for each in night.net.links if each in own])

        pairs = frozenset(pair for r in half for pair in seen.routers[r])
        kinds, back = ("routers lost",), ("routers gained",)
        if not crosses(seen, alter, asn):
            kinds, back = ("AS lost",), ("AS gained",)
        alike = _no_neighbors(seen, asn, half, pairs)
        yield Wanted(
            *("half of an AS lost", kinds, back, frozenset({asn}), pairs, alter),
            alike=alike,
            untold=not _is_shown(seen, alter, pairs),
        )


def _no_neighbors(
    seen: Seen, asn: int, lost: set[int], pairs: frozenset[Pair]
) -> tuple[Alike, ...]:
    """Neighbours all links to which end at routers that fail, and from or to which all pairs go."""
    found = []
    for border, crossed in seen.borders.items():
        if asn not in border or not pairs <= crossed:
            continue
        if all(lost & set(link.ends) for link in links_between(seen.net, *border)):
            found.append(Alike(("adjacency lost",), ("adjacency gained",), frozenset(border)))
    return tuple(found)


def adjacency_lost(seen: Seen, random: Random) -> Iterator[Wanted]:
    """All links between two ASes are cut; both are reached another way."""
    net = seen.net
    for one, other in shuffled(random, seen.borders):
        pairs = seen.borders[one, other]
        if len(pairs) < SOME or len(vantages_of(pairs)) < 3:
            continue
        if any(link.exchange for link in links_between(net, one, other)):
            continue

        def alter(night: Night, one: int = one, other: int = other) -> None:
            remove_links(night.net, links_between(night.net, one, other))

        after = Night.of_seed(net.plan.seed, **changed_fields(seen))
        alter(after)
        ways = ways_of(after)
        if any("no route" in ways[pair][1] for pair in pairs):
            continue  # an AS is cut off: another kind
        kinds, back = ("adjacency lost",), ("adjacency gained",)
        yield Wanted(
            "adjacency lost", kinds, back, frozenset({one, other}), frozenset(pairs), alter
        )


def exchange_lost(seen: Seen, random: Random) -> Iterator[Wanted]:
    """An exchange point forwards nothing any more."""
    net = seen.net
    for exchange in net.exchanges:
        own = [link for link in net.links if link.exchange == exchange.name]
        crossed: set[Pair] = set()
        asns: set[int] = set()
        used = set()
        for link in own:
            for ends in (link.ends, link.ends[::-1]):
                if seen.links.get(ends):
                    crossed |= seen.links[ends]
                    used.add(link)
                    asns |= {net.asn_of[router] for router in ends}
        if len(crossed) < MANY or len(used) < 3:
            continue

        def alter(night: Night, name: str = exchange.name) -> None:
            remove_links(night.net, [each for each in night.net.links if each.exchange == name])

        kinds, back = ("exchange lost",), ("exchange gained",)
        pairs = frozenset(crossed)
        yield Wanted(
            *("exchange lost", kinds, back, frozenset(), pairs, alter),
            hidden=frozenset(asns),
            label=exchange.name,
        )


def city_lost(seen: Seen, random: Random) -> Iterator[Wanted]:
    """All routers in a city fail; no AS, border or router by itself explains most of its pairs."""
    net = seen.net
    cities = Delays(net)
    inside: dict[str, set[int]] = defaultdict(set)
    for router in range(len(net.asn_of)):
        inside[cities.city(router)].add(router)
    gateways = {vantage.gateway for vantage in net.vantages}
    for city in shuffled(random, inside):
        crossed = {r for r in inside[city] if seen.routers.get(r) and seen.answers(r)}
        asns = frozenset(net.asn_of[router] for router in crossed)
        pairs = frozenset(pair for router in crossed for pair in seen.routers[router])
        if len(crossed) < 3 or len(asns) < 2 or len(pairs) < MANY or inside[city] & gateways:
            continue
        things = itertools.chain(
            seen.ases.values(), seen.borders.values(), list(seen.routers.values())
        )
        if max(len(each & pairs) for each in things) > NEARLY_ALL * len(pairs):
            continue

        def alter(night: Night, lost: frozenset[int] = frozenset(inside[city])) -> None:
            own = {link for router in lost for link in night.net.links_of[router]}
            remove_links(night.net, [each for each in night.net.links if each in own])

        kinds, back = ("city lost",), ("city gained",)
        yield Wanted(
            *("city lost", kinds, back, frozenset(), pairs, alter), hidden=asns, label=city
        )


def router_lost(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A router fails; its AS has others."""
    net = seen.net
    gateways = {v.gateway for v in net.vantages} | {g for b in net.blocks for g in b.gateways}
    for router in shuffled(random, seen.routers):
        pairs = seen.routers[router]
        if len(pairs) < 2 * SOME or not seen.answers(router) or router in gateways:
            continue
        asn = net.asn_of[router]
        if len([r for r in net.routers[asn] if seen.routers[r]]) < 4:
            continue

        def alter(night: Night, router: int = router) -> None:
            remove_links(night.net, list(night.net.links_of[router]))

        kinds, back = ("routers lost",), ("routers gained",)
        if any(pairs <= crossed for crossed in seen.borders.values()):
            kinds, back = (*kinds, "adjacency lost"), (*back, "adjacency gained")
        if _is_beside(seen, router, alter):
            kinds, back = (*kinds, "load balancing lost"), (*back, "load balancing gained")
        alike: tuple[Alike, ...] = ()
        if len({_before(seen.ways[pair][0], router) for pair in pairs}) == 1:
            addrs = frozenset(addresses_of(net, router))
            alike = (Alike(("links removed",), ("links added",), frozenset({asn}), addrs),)
        yield Wanted(
            *("router lost", kinds, back, frozenset({asn}), frozenset(pairs), alter),
            alike=alike,
            untold=not _is_shown(seen, alter, frozenset(pairs)),
        )


def _before(routers: tuple[int, ...], router: int) -> int:
    """The router before another one, or itself if it is the first."""
    return routers[max(0, routers.index(router) - 1)]


def _is_beside(seen: Seen, router: int, alter: Alter) -> bool:
    """Whether another router takes its place on most ways: flows were divided between them."""
    after = Night.of_seed(seen.net.plan.seed, **changed_fields(seen))
    alter(after)
    ways = ways_of(after)
    n_beside = 0
    for pair in seen.routers[router]:
        before, now = seen.ways[pair][0], ways[pair][0]
        others = [one for one, other in zip(before, now, strict=False) if one != other]
        n_beside += len(before) == len(now) and others == [router]
    return 2 * n_beside > len(seen.routers[router])


def link_cut(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A link inside an AS is cut, and both its ends are reached by others."""
    net = seen.net
    for one, other in shuffled(random, seen.links):
        pairs = seen.links[one, other]
        if net.asn_of[one] != net.asn_of[other] or len(pairs) < SOME:
            continue
        if len(vantages_of(pairs)) < 3:
            continue

        def alter(night: Night, one: int = one, other: int = other) -> None:
            own = [each for each in night.net.links_of[one] if each.other(one) == other]
            remove_links(night.net, own)

        after = Night.of_seed(net.plan.seed, **changed_fields(seen))
        alter(after)
        ways = ways_of(after)
        turned = {p for p in pairs if one in ways[p][0] and "no route" not in ways[p][1]}
        routers = {r for routers, _ in ways.values() for r in routers}
        if len(turned) < FEW or other not in routers:
            continue
        pairs = frozenset(pair for pair in seen.ways if ways[pair] != seen.ways[pair])
        asns = frozenset({net.asn_of[one]})
        alike = (_as_address(asns, seen.link(one, other).addrs, "lost", "gained"),)
        kinds, back = ("links removed",), ("links added",)
        yield Wanted("link cut", kinds, back, asns, pairs, alter, alike=alike)


def _as_address(asns: frozenset[int], addrs: tuple[str, str], now: str, then: str) -> Alike:
    """An interface of a link that nothing ties to another one of its router comes or goes."""
    return Alike((f"routers {now}",), (f"routers {then}",), asns, frozenset(addrs))


def as_split(seen: Seen, random: Random) -> Iterator[Wanted]:
    """The links between two halves of an AS are cut."""
    net = seen.net
    for asn in shuffled(random, seen.ases):
        own = [r for r in net.routers[asn] if seen.routers[r] and seen.answers(r)]
        if len(own) < 7 or len(net.routers[asn]) < 8:
            continue
        half, queue = set(), [random.choice(own)]
        while queue and len(half) < len(net.routers[asn]) // 2:
            router = queue.pop(0)
            if router in half:
                continue
            half.add(router)
            queue += [link.other(router) for link in net.links_of[router] if link.kind == "inner"]
        cut = [
            link
            for link in net.links
            if link.kind == "inner"
            and net.asn_of[link.ends[0]] == asn
            and len(half & set(link.ends)) == 1
        ]
        parts = [r for r in own if r in half], [r for r in own if r not in half]
        if min(map(len, parts)) < 3:
            continue
        rest = set(net.routers[asn]) - half
        if len(_reach(net, min(rest), rest)) < len(rest):
            continue

        def alter(night: Night, addrs=frozenset(link.addrs for link in cut)) -> None:
            remove_links(night.net, [each for each in night.net.links if each.addrs in addrs])

        pairs = frozenset(
            pair
            for link in cut
            for ends in (link.ends, link.ends[::-1])
            for pair in seen.links.get(ends, ())
        )
        if len(pairs) < SOME:
            continue
        kinds, back = ("AS split in parts",), ("parts of an AS joined",)
        crossed = routers_after(seen, alter)
        if min(len(crossed & set(part)) for part in parts) < 3:  # the other part is not seen
            kinds, back = (*kinds, "routers lost"), (*back, "routers gained")
        yield Wanted("AS split", kinds, back, frozenset({asn}), pairs, alter)


def _reach(net: Network, start: int, among: set[int]) -> set[int]:
    found, queue = set(), [start]
    while queue:
        router = queue.pop()
        if router in found or router not in among:
            continue
        found.add(router)
        queue += [e.other(router) for e in net.links_of[router] if e.kind == "inner"]
    return found


def ingress_moved(seen: Seen, random: Random) -> Iterator[Wanted]:
    """The only link from a neighbour into an AS ends at another router of the AS."""
    net = seen.net
    for one, other in shuffled(random, seen.links):
        pairs = seen.links[one, other]
        a, b = net.asn_of[one], net.asn_of[other]
        if a == b or len(pairs) < SOME or len(vantages_of(pairs)) < 3:
            continue
        if len(links_between(net, a, b)) != 1 or links_between(net, a, b)[0].exchange:
            continue
        ends = [r for r in net.routers[b] if r != other and seen.answers(r) and seen.routers[r]]
        if not ends:
            continue
        end = random.choice(ends)

        def alter(night: Night, one: int = one, other: int = other, end: int = end) -> None:
            net = night.net
            old = next(each for each in net.links_of[one] if each.other(one) == other)
            kind = old.kind
            for router in old.ends:
                net.links_of[router].remove(old)
            net.links.remove(old)
            new = add_link(net, one, end)
            object.__setattr__(new, "kind", kind)

        kinds = back = ("ingress moved",)
        yield Wanted(
            *("ingress moved", kinds, back, frozenset({b}), seen.both_ways(one, other), alter),
            once=frozenset(pairs),
        )


def adjacency_gained(seen: Seen, random: Random) -> Iterator[Wanted]:
    """Two ASes become peers."""
    net = seen.net
    large = [asn for asn in seen.ases if net.ases.tier[asn] in ("transit", "regional")]
    for one in shuffled(random, large):
        for other in random.sample(large, len(large)):
            if one == other or net.ases.between(one, other) is not None:
                continue
            ends = [
                [r for r in net.routers[asn] if seen.answers(r) and len(seen.routers[r]) >= FEW]
                for asn in (one, other)
            ]
            if not all(ends):
                continue
            near, far = (random.choice(own) for own in ends)

            def alter(night: Night, near: int = near, far: int = far) -> None:
                add_link(night.net, near, far, kind=PEER)

            after = Night.of_seed(net.plan.seed, **changed_fields(seen))
            alter(after)
            ways = ways_of(after)
            both = {(near, far), (far, near)}
            pairs = {
                pair
                for pair, (routers, _) in ways.items()
                if both & set(itertools.pairwise(routers))
            }
            before = {p for p in pairs if {near, far} & set(seen.ways[p][0])}
            if len({target for _, target in before}) < 4 or len(vantages_of(before)) < 3:
                continue
            kinds, back = ("adjacency gained",), ("adjacency lost",)
            asns = frozenset({one, other})
            yield Wanted("adjacency gained", kinds, back, asns, frozenset(pairs), alter)
            break


def hosts_dead(seen: Seen, random: Random) -> Iterator[Wanted]:
    """No target of an AS answers any more; its routers do."""
    yield from _hosts(seen, random, "hosts of an AS dead", whole=True)


def hosts_of_prefix_dead(seen: Seen, random: Random) -> Iterator[Wanted]:
    """Three neighbouring targets of an AS do not answer any more; others do."""
    yield from _hosts(seen, random, "hosts of a prefix dead", whole=False)


def two_hosts_dead(seen: Seen, random: Random) -> Iterator[Wanted]:
    """Two neighbouring targets of an AS do not answer any more; others do.

    If one host in a hundred falls silent every night, two of five do in one AS in a thousand: in
    one of eighty ASes on one night in twelve. An event of two hosts comes when nothing
    happened; of three of five it is one night in a thousand.
    """
    yield from _hosts(seen, random, "two hosts of an AS dead", whole=False, n_dead=2)


def _hosts(
    seen: Seen, random: Random, name: str, *, whole: bool, n_dead: int = 3
) -> Iterator[Wanted]:
    net = seen.net
    for asn in shuffled(random, seen.ases):
        own = [block for block in net.blocks if block.asn == asn and block.answers]
        if len(own) < n_dead + (not whole) or not any(map(seen.answers, net.routers[asn])):
            continue
        chosen = {each.target for each in (own if whole else own[:n_dead])}
        if not all(seen.answers(g) for block in own for g in block.gateways):
            continue
        pairs = frozenset(p for p in seen.ways if p[1] in chosen)

        def alter(night: Night, chosen: set[str] = chosen) -> None:
            for block in night.net.blocks:
                if block.target in chosen:
                    block.answers = False

        kinds, back = ("hosts silent",), ("hosts answer again",)
        yield Wanted(*(name, kinds, back, frozenset({asn}), pairs, alter), untold=len(chosen) < 3)


def link_slower(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A link takes 8 ms more, from many vantage points."""
    yield from _slower(seen, random, "link slower", 8, 99)


def link_slower_few(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A link takes 8 ms more, from three to five vantage points."""
    yield from _slower(seen, random, "link slower, 3 to 5 vantage points", 3, 5)


def _slower(seen: Seen, random: Random, name: str, least: int, most: int) -> Iterator[Wanted]:
    net = seen.net
    for one, other in shuffled(random, seen.links):
        pairs = seen.links[one, other]
        if not least <= len(vantages_of(pairs)) <= most or len(pairs) < SOME:
            continue
        link = seen.link(one, other)

        def alter(night: Night, addrs: tuple[str, str] = link.addrs) -> None:
            night.slow[addrs] = 8.0

        asns = frozenset({net.asn_of[one], net.asn_of[other]})
        kinds, back = ("links slower",), ()  # a bad night is reported once
        every = seen.both_ways(one, other)
        yield Wanted(name, kinds, back, asns, every, alter, once=frozenset(pairs))


def balancing(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A router gets a second one beside it, over which half of the flows go."""
    net = seen.net
    middles: dict[tuple[int, int, int], set[Pair]] = defaultdict(set)
    for pair, (routers, _) in seen.ways.items():
        for three in zip(routers, routers[1:], routers[2:], strict=False):
            if len({net.asn_of[r] for r in three}) == 1 and all(map(seen.answers, three)):
                middles[three].add(pair)
    for one, middle, end in shuffled(random, middles):
        pairs = middles[one, middle, end]
        if len(pairs) < 2 * SOME or len(vantages_of(pairs)) < 4 or len({one, middle, end}) < 3:
            continue
        asn = net.asn_of[one]
        costs = seen.link(one, middle).cost, seen.link(middle, end).cost

        def alter(night: Night, ends=(one, end), costs=costs, asn: int = asn) -> None:
            router = night.net._add_router(asn)
            for end, cost in zip(ends, costs, strict=True):
                add_link(night.net, end, router, cost)

        kinds, back = ("load balancing gained",), ("load balancing lost", "routers lost")
        yield Wanted(
            *("load balancing", kinds, back, frozenset({asn}), touched(seen, alter), alter),
            once=frozenset(pairs),
        )


def tunnel(seen: Seen, random: Random) -> Iterator[Wanted]:
    """MPLS hides the inner routers of an AS."""
    net = seen.net
    for asn in shuffled(random, seen.transit):
        inner: Counter[int] = Counter()
        for routers, _ in seen.ways.values():
            own = [r for r in routers if net.asn_of[r] == asn]
            inner.update(own[1:-1])
        hidden = [r for r, n in inner.items() if n >= FEW and seen.answers(r)]
        if len(hidden) < 2 or sum(inner[r] for r in hidden) < MANY:
            continue

        def alter(night: Night, asn: int = asn) -> None:
            night.net.answers.tunnels.add(asn)

        pairs = touched(seen, alter)
        kinds, back = ("routers hidden",), ("routers shown",)
        yield Wanted("MPLS hides routers", kinds, back, frozenset({asn}), pairs, alter)


def election_changed(seen: Seen, random: Random) -> Iterator[Wanted]:
    """Inference puts a router into a neighbouring AS; the tables are the same."""
    net = seen.net
    for router in shuffled(random, seen.routers):
        asn = net.asn_of[router]
        near = {net.asn_of[link.other(router)] for link in net.links_of[router]} - {asn}
        if len(seen.routers[router]) < MANY or not near or not seen.answers(router):
            continue
        other = random.choice(sorted(near))
        addrs = addresses_of(net, router)

        def alter(night: Night, addrs=frozenset(addrs), other: int = other) -> None:
            night.owners.update(dict.fromkeys(addrs, other))

        kinds = back = ("routers of another owner",)
        pairs = frozenset(seen.routers[router])
        asns = frozenset({asn, other})
        yield Wanted("election changed", kinds, back, asns, pairs, alter)


def vantage_lost(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A vantage point does not measure."""
    vantage = random.choice(seen.net.vantages)

    def alter(night: Night) -> None:
        night.gone.add(vantage.name)

    pairs = frozenset(pair for pair in seen.ways if pair[0] == vantage.addr)
    kinds, back = ("vantage point lost",), ("vantage point gained",)
    yield Wanted("vantage point lost", kinds, back, frozenset({vantage.asn}), pairs, alter)


def targets_lost(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A third of the targets are not measured."""
    targets = sorted({target for _, target in seen.ways})
    chosen = frozenset(random.sample(targets, len(targets) // 3))

    def alter(night: Night) -> None:
        night.left_out |= chosen

    pairs = frozenset(pair for pair in seen.ways if pair[1] in chosen)
    yield Wanted("targets lost", ("targets lost",), ("targets gained",), frozenset(), pairs, alter)


def router_silent(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A router does not answer any more."""
    yield from _answers_less(seen, random, "router silent", 0.0)


def router_limited(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A router answers one probe in eight."""
    yield from _answers_less(seen, random, "router rarely answers", 0.12)


def _answers_less(seen: Seen, random: Random, name: str, share: float) -> Iterator[Wanted]:
    net = seen.net
    for router in shuffled(random, seen.routers):
        behind = {
            pair
            for pair in seen.routers[router]
            if 0 < seen.ways[pair][0].index(router) < len(seen.ways[pair][0]) - 1
            and all(
                map(
                    seen.answers,
                    seen.ways[pair][0][
                        seen.ways[pair][0].index(router) - 1 : seen.ways[pair][0].index(router) + 2
                    ],
                )
            )
        }
        if len(behind) < 2 * SOME or len(vantages_of(behind)) < 4:
            continue
        if router in net.answers.outgoing | net.answers.loopback:
            continue

        def alter(night: Night, router: int = router) -> None:
            night.rare[router] = share

        asns = frozenset({net.asn_of[router]})
        pairs = frozenset(seen.routers[router])
        kinds, back = ("routers silent",), ("routers answer again",)
        yield Wanted(name, kinds, back, asns, pairs, alter)


def as_silent(seen: Seen, random: Random) -> Iterator[Wanted]:
    """No router of an AS answers any more, but packets pass."""
    for asn in shuffled(random, seen.transit):
        pairs = seen.transit[asn]
        if len(pairs) < MANY or len(vantages_of(pairs)) < 4 or asn in seen.homes():
            continue

        def alter(night: Night, asn: int = asn) -> None:
            night.rare.update(dict.fromkeys(night.net.routers[asn], 0.0))

        kinds, back = ("AS silent",), ("AS answers again",)
        own = frozenset(seen.ases[asn])
        yield Wanted("AS silent", kinds, back, frozenset({asn}), own, alter)


def table_changed(seen: Seen, random: Random) -> Iterator[Wanted]:
    """Half of the block of an AS is announced by a stranger."""
    net = seen.net
    asn = random.choice(sorted(seen.ases))
    half = next(iter(net.numbering.infrastructure[asn].subnets(1)))

    def alter(night: Night) -> None:
        night.table += f"{half.network_address}\t{half.prefixlen}\t4200009999\n"

    kinds = back = ("inputs changed",)
    pairs = frozenset(seen.ases[asn])
    yield Wanted("table changed", kinds, back, frozenset(), pairs, alter, needs_alone=True)


def renumbered(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A router gets other addresses on all its links, and keeps none."""
    net = seen.net
    gateways = {vantage.gateway for vantage in net.vantages}
    for router in shuffled(random, seen.routers):
        asn = net.asn_of[router]
        if len(seen.routers[router]) < 2 * SOME or not seen.answers(router):
            continue
        if router in gateways or any(_leaves(net, link) for link in net.links_of[router]):
            continue

        def alter(night: Night, router: int = router, asn: int = asn) -> None:
            net = night.net
            for link in list(net.links_of[router]):
                fresh = net.numbering.link(asn, False)
                place = link.ends.index(router)
                addrs = list(link.addrs)
                addrs[place] = fresh[0]
                object.__setattr__(link, "addrs", tuple(addrs))
            net.loopback[router] = net.numbering.link(asn, False)[0]

        pairs = frozenset(seen.routers[router])
        kinds = back = ("router renumbered",)
        yield Wanted("router renumbered", kinds, back, frozenset({asn}), pairs, alter)


def shortcut(seen: Seen, random: Random) -> Iterator[Wanted]:
    """A link inside an AS is added, and pairs use it."""
    net = seen.net
    for asn in shuffled(random, seen.ases):
        own = [r for r in net.routers[asn] if seen.answers(r) and len(seen.routers[r]) >= SOME]
        for one in own:
            for other in own:
                if other <= one or any(e.other(one) == other for e in net.links_of[one]):
                    continue

                added: list[Link] = []

                def alter(night: Night, one: int = one, other: int = other, added=added) -> None:
                    added[:] = [add_link(night.net, one, other)]

                after = Night.of_seed(net.plan.seed, **changed_fields(seen))
                alter(after)
                ways = ways_of(after)
                both = {(one, other), (other, one)}
                pairs = frozenset(
                    pair
                    for pair, (routers, _) in ways.items()
                    if both & set(itertools.pairwise(routers))
                )
                if len(pairs) < SOME or len(vantages_of(set(pairs))) < 3:
                    continue
                moved = frozenset(p for p in seen.ways if ways[p] != seen.ways[p])
                kinds, back = ("links added",), ("links removed",)
                asns = frozenset({asn})
                alike = (_as_address(asns, added[0].addrs, "gained", "lost"),)
                yield Wanted("link added", kinds, back, asns, moved, alter, alike=alike)
                break


PLANTS: dict[str, Plant] = {
    "transit AS lost": transit_as_lost,
    "edge AS lost": edge_as_lost,
    "half of an AS lost": half_as_lost,
    "adjacency lost": adjacency_lost,
    "exchange lost": exchange_lost,
    "city lost": city_lost,
    "router lost": router_lost,
    "link cut": link_cut,
    "AS split": as_split,
    "ingress moved": ingress_moved,
    "adjacency gained": adjacency_gained,
    "link added": shortcut,
    "hosts of an AS dead": hosts_dead,
    "hosts of a prefix dead": hosts_of_prefix_dead,
    "two hosts of an AS dead": two_hosts_dead,
    "link slower": link_slower,
    "link slower, 3 to 5 vantage points": link_slower_few,
    "load balancing": balancing,
    "MPLS hides routers": tunnel,
    "election changed": election_changed,
    "vantage point lost": vantage_lost,
    "targets lost": targets_lost,
    "router silent": router_silent,
    "router rarely answers": router_limited,
    "AS silent": as_silent,
    "table changed": table_changed,
    "router renumbered": renumbered,
}
