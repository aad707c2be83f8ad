"""Links and ways inside and between ASes that become others, while routers stay."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from random import Random

import numpy as np

from pipeline.generate.networks.ases import PEER, Ases
from pipeline.generate.networks.network import Link
from pipeline.generate.networks.night import (
    Night,
    add_link,
    leaves,
    link_between,
    links_between,
    remove_links,
    replace_link,
    sell,
)
from pipeline.generate.networks.planting.plant import FEW, FROM, MANY, SOME, Plant, shuffled
from pipeline.generate.networks.planting.ways import Crossed, Pairs, Seen, common, joined

SLOWER_MS = 8.0
DRIFT_MS = 0.25  # a night
_MANY_VANTAGES, _FEW_VANTAGES = (8, 99), (3, 5)
_DETOUR_COST = 50  # of a link that packets shall avoid


def link_cut(seen: Seen, random: Random) -> Iterator[Plant]:
    """A link inside an AS is cut, and both its ends are reached by others."""
    net = seen.network
    for one, other in shuffled(random, seen.links):
        pairs = seen.links[one, other]
        if net.asn_of[one] != net.asn_of[other] or len(pairs) < SOME:
            continue
        if seen.n_vantages(pairs) < FROM:
            continue

        def alter(night: Night, one: int = one, other: int = other) -> None:
            net = night.network
            remove_links(net, [each for each in net.links_of[one] if each.other(one) == other])

        ways = seen.ways_if(alter)
        near = np.unique(ways.pairs()[ways.router == one])
        turned = common(pairs[ways.has_route(pairs)], near)
        if len(turned) >= FEW and (ways.router == other).any():
            asns = frozenset({net.asn_of[one]})
            yield Plant("link-cut", seen.ways.changed(ways), alter, asns, (one, other))


def ingress_moved(seen: Seen, random: Random) -> Iterator[Plant]:
    """The only link from a neighbour into an AS ends at another router of the AS."""
    net = seen.network
    for one, other in shuffled(random, seen.links):
        pairs = seen.links[one, other]
        a, b = net.asn_of[one], net.asn_of[other]
        if a == b or len(pairs) < SOME or seen.n_vantages(pairs) < FROM:
            continue
        if len(links_between(net, a, b)) != 1 or links_between(net, a, b)[0].exchange:
            continue
        ends = [
            r for r in net.routers[b] if r != other and seen.answers(r) and len(seen.routers[r])
        ]
        if not ends:
            continue
        end = random.choice(ends)

        def alter(night: Night, one: int = one, other: int = other, end: int = end) -> None:
            net = night.network
            old = link_between(net, one, other)
            add_link(net, one, end, kind=old.kind)
            remove_links(net, [old])

        both = seen.both_ways(one, other)
        yield Plant("ingress-moved", both, alter, frozenset({b}), (one, other))


def adjacency_gained(seen: Seen, random: Random) -> Iterator[Plant]:
    """Two ASes become peers."""
    net = seen.network
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
                add_link(night.network, near, far, relationship=PEER)

            pairs = seen.ways_if(alter).crossing(near, far)
            before = common(pairs, joined((seen.routers[near], seen.routers[far])))
            if _is_used(seen, before):
                asns = frozenset({one, other})
                yield Plant("adjacency-gained", pairs, alter, asns, (near, far))
                break


def relationship_changed(seen: Seen, random: Random) -> Iterator[Plant]:
    """An AS becomes the provider of a peer, over links that no pair crossed before."""
    net = seen.network
    peers = [pair for pair, kind in net.ases.relationship.items() if kind == PEER]
    for one, other in shuffled(random, peers):
        links = links_between(net, one, other)
        ends = [link.ends for link in links]
        if (min(one, other), max(one, other)) in seen.borders or other in _above(net.ases, one):
            continue  # seen already; it would buy from its own customer
        lenders = {b for a, b in ((one, other), (other, one)) if len(net.routers[a]) < 2}
        if lenders & {link.numbered_by for link in links}:
            continue  # the only router of an AS may count in the one that its address is from
        if not all(seen.answers(r) and len(seen.routers[r]) >= FEW for both in ends for r in both):
            continue

        def alter(night: Night, one: int = one, other: int = other) -> None:
            sell(night.network, one, other)

        ways = seen.ways_if(alter)
        if _is_used(seen, joined(ways.crossing(*each) for each in ends)):
            moved, asns = seen.ways.changed(ways), frozenset({one, other})
            yield Plant("relationship-changed", moved, alter, asns)


def _is_used(seen: Seen, pairs: Pairs) -> bool:
    """Whether pairs that cross a new way are enough to see it."""
    return len(np.unique(seen.target[pairs])) >= 4 and seen.n_vantages(pairs) >= FROM


def _above(ases: Ases, asn: int) -> set[int]:
    """Providers of an AS, theirs, and so on."""
    found, queue = set(), [asn]
    while queue:
        above = [each for each in ases.providers[queue.pop()] if each not in found]
        found.update(above)
        queue += above
    return found


def link_added(seen: Seen, random: Random) -> Iterator[Plant]:
    """A link inside an AS is added, and pairs use it."""
    net = seen.network
    for asn in shuffled(random, seen.ases):
        own = [r for r in net.routers[asn] if seen.answers(r) and len(seen.routers[r]) >= SOME]
        for one in own:
            for other in own:
                if other <= one or any(e.other(one) == other for e in net.links_of[one]):
                    continue

                def alter(night: Night, one: int = one, other: int = other) -> None:
                    add_link(night.network, one, other)

                ways = seen.ways_if(alter)
                pairs = ways.crossing(one, other)
                if len(pairs) < SOME or seen.n_vantages(pairs) < FROM:
                    continue
                moved, asns = seen.ways.changed(ways), frozenset({asn})
                yield Plant("link-added", moved, alter, asns, (one, other))
                break


def link_slower(seen: Seen, random: Random) -> Iterator[Plant]:
    """A link takes 8 ms more, from at least eight vantage points."""
    yield from _slower(seen, random, "link-slower", *_MANY_VANTAGES, lambda turn: SLOWER_MS)


def link_slower_few(seen: Seen, random: Random) -> Iterator[Plant]:
    """A link takes 8 ms more, from three to five vantage points."""
    yield from _slower(seen, random, "link-slower-few", *_FEW_VANTAGES, lambda turn: SLOWER_MS)


def link_drifting(seen: Seen, random: Random) -> Iterator[Plant]:
    """A link takes 0.25 ms more each night, from at least eight vantage points."""
    yield from _slower(seen, random, "link-drifting", *_MANY_VANTAGES, lambda turn: DRIFT_MS * turn)


def _slower(
    seen: Seen, random: Random, kind: str, least: int, most: int, ms: Callable[[int], float]
) -> Iterator[Plant]:
    net = seen.network
    for one, other in shuffled(random, seen.links):
        pairs = seen.links[one, other]
        if not least <= seen.n_vantages(pairs) <= most or len(pairs) < SOME:
            continue
        link = seen.link(one, other)

        def alter(night: Night, addrs: tuple[str, str] = link.addrs) -> None:
            night.slow[addrs] = ms(night.turn)

        asns = frozenset({net.asn_of[one], net.asn_of[other]})
        yield Plant(kind, seen.both_ways(one, other), alter, asns, (one, other))


def detour(seen: Seen, random: Random) -> Iterator[Plant]:
    """The cost of a link inside an AS rises: packets go around it, and it is still there."""
    net = seen.network
    for one, other in shuffled(random, seen.links):
        pairs = seen.links[one, other]
        if net.asn_of[one] != net.asn_of[other] or seen.n_vantages(pairs) < FROM:
            continue

        def alter(night: Night, one: int = one, other: int = other) -> None:
            old = link_between(night.network, one, other)
            replace_link(night.network, old, dataclasses.replace(old, cost=_DETOUR_COST))

        ways = seen.ways_if(alter)
        near = np.unique(ways.pairs()[ways.router == one])
        moved = seen.ways.changed(ways)
        if len(moved) < SOME or len(ways.crossing(one, other)):
            continue
        if len(common(pairs, near)) >= FEW and (ways.router == other).any():
            yield Plant("detour", moved, alter, frozenset({net.asn_of[one]}), (one, other))


def balancing(seen: Seen, random: Random) -> Iterator[Plant]:
    """A router gets a second one beside it, over which half of the flows go."""
    net = seen.network
    middles = middles_of(seen)
    for one, middle, end in shuffled(random, middles):
        pairs = middles[one, middle, end]
        if len(pairs) < 2 * SOME or seen.n_vantages(pairs) <= FROM or len({one, middle, end}) < 3:
            continue
        asn = net.asn_of[one]
        costs = seen.link(one, middle).cost, seen.link(middle, end).cost

        def alter(
            night: Night,
            ends: tuple[int, int] = (one, end),
            costs: tuple[int, int] = costs,
            asn: int = asn,
        ) -> None:
            router = night.network.add_router(asn)
            for end, cost in zip(ends, costs, strict=True):
                add_link(night.network, end, router, cost)

        asns = frozenset({asn})
        yield Plant("load-balancing", seen.touched(alter), alter, asns, (one, middle, end))


def middles_of(seen: Seen) -> Crossed:
    """Pairs that cross three routers of one AS, one after the other, all of which answer."""
    pair, router = seen.ways.pairs(), seen.ways.router.astype(np.int64)
    asn_of, n = np.array(seen.network.asn_of), len(seen.network.asn_of)
    three = [router[:-2], router[1:-1], router[2:]]
    found = (pair[2:] == pair[:-2]) & (asn_of[three[0]] == asn_of[three[2]])
    found &= asn_of[three[0]] == asn_of[three[1]]
    for each in three:
        found &= seen.able[each]
    one, middle, end = (each[found] for each in three)
    return Crossed((one * n + middle) * n + end, pair[2:][found], lambda c: _three(c, n))


def _three(code: int, n: int) -> tuple[int, int, int]:
    front, end = divmod(code, n)
    return *divmod(front, n), end


def tunnel(seen: Seen, random: Random) -> Iterator[Plant]:
    """MPLS hides the inner routers of an AS."""
    net = seen.network
    pair, asn_of = seen.ways.pairs(), np.array(net.asn_of)
    own_asn = asn_of[seen.ways.router]
    for asn in shuffled(random, seen.transit):
        own = np.flatnonzero(own_asn == asn)
        if not len(own):
            continue
        change = np.diff(pair[own]) != 0
        is_inner = ~(np.append(True, change) | np.append(change, True))
        routers, n = np.unique(seen.ways.router[own[is_inner]], return_counts=True)
        hidden = seen.able[routers] & (n >= FEW)
        if np.count_nonzero(hidden) < 2 or n[hidden].sum() < MANY:
            continue

        def alter(night: Night, asn: int = asn) -> None:
            night.network.answers.tunnels.add(asn)

        hides = tuple(routers[hidden].tolist())
        yield Plant("mpls", seen.touched(alter), alter, frozenset({asn}), hides)


def renumbered(seen: Seen, random: Random) -> Iterator[Plant]:
    """A router gets other addresses on all its links, and keeps none."""
    net = seen.network
    gateways = {vantage.gateway for vantage in net.vantages}
    for router in shuffled(random, seen.routers):
        pairs, asn = seen.routers[router], net.asn_of[router]
        if len(pairs) < 2 * SOME or not seen.answers(router) or router in gateways:
            continue
        if any(leaves(net, link) for link in net.links_of[router]):
            continue

        def alter(night: Night, router: int = router, asn: int = asn) -> None:
            net = night.network
            for link in list(net.links_of[router]):
                replace_link(net, link, _renumber(link, router, net.numbering.link(asn, False)[0]))
            net.loopback[router] = net.numbering.link(asn, False)[0]

        yield Plant("router-renumbered", pairs, alter, frozenset({asn}), (router,))


def _renumber(link: Link, router: int, addr: str) -> Link:
    addrs = (addr, link.addrs[1]) if router == link.ends[0] else (link.addrs[0], addr)
    return dataclasses.replace(link, addrs=addrs)
