"""ASes that become wider: links are cut, the most telling first. A search from every router."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from random import Random

import numpy as np

from pipeline.generate.networks.network import Network
from pipeline.generate.networks.night import Night, remove_links
from pipeline.generate.networks.planting.plant import FEW, FROM, Plant, shuffled
from pipeline.generate.networks.planting.ways import Seen, Ways, common

LEAST, MOST = 7, 60  # routers of an AS
GROWTH = 2  # hops: one may be that of a router that did not answer on one of the nights
_MOST_CUT = 10  # links
Near = dict[int, set[int]]  # neighbours of each router


def diameter_grown(seen: Seen, random: Random) -> Iterator[Plant]:
    """Links inside an AS are cut, and its diameter is two hops more."""
    yield from _grown(seen, random, "diameter")


def radius_grown(seen: Seen, random: Random) -> Iterator[Plant]:
    """Links inside an AS are cut, and its radius is two hops more."""
    yield from _grown(seen, random, "radius")


def _grown(seen: Seen, random: Random, figure: str) -> Iterator[Plant]:
    net = seen.network
    for asn in shuffled(random, seen.ases):
        own = set(net.routers[asn])
        if not LEAST <= len(own) <= MOST or own & net.answers.silent:
            continue
        near = _joined(own, (link.ends for router in own for link in net.links_of[router]))
        before, crossed = widths_of(near)[figure], widths_of(_crossed(seen.ways, net, asn))[figure]
        cut: set[tuple[int, int]] = set()
        while len(cut) < _MOST_CUT:
            link, wide = _widest(near, figure)
            if link is None or wide > before + GROWTH:
                break
            cut.add(link)
            near = _without(near, link)
            if wide < before + GROWTH:
                continue

            def alter(night: Night, cut: frozenset[tuple[int, int]] = frozenset(cut)) -> None:
                net = night.network
                remove_links(net, [e for e in net.links if e.ends in cut or e.ends[::-1] in cut])

            after = seen.ways_if(alter)
            now = widths_of(_crossed(after, net, asn))[figure]
            if now >= crossed + GROWTH and _turn(seen, after, cut):
                yield Plant(
                    f"{figure}-grown",
                    seen.ways.changed(after),
                    alter,
                    frozenset({asn}),
                    tuple(sorted({router for link in cut for router in link})),
                    figures={figure: (crossed, now)},
                )
                break


def _turn(seen: Seen, after: Ways, cut: set[tuple[int, int]]) -> bool:
    """Whether enough pairs that crossed one of some links come to its near router again."""
    for one, other in cut:
        for near, far in ((one, other), (other, one)):
            pairs = seen.links[near, far]
            turned = common(pairs, np.unique(after.pairs()[after.router == near]))
            if len(turned) >= FEW and seen.n_vantages(pairs) >= FROM:
                return True
    return False


def _joined(routers: set[int], links: Iterable[tuple[int, int]]) -> Near:
    """The graph of some routers and of the links between them."""
    near: Near = {router: set() for router in sorted(routers)}
    for one, other in links:
        if one in near and other in near and one != other:
            near[one].add(other)
            near[other].add(one)
    return near


def _crossed(ways: Ways, net: Network, asn: int) -> Near:
    """The graph of the routers and links of an AS that pairs cross."""
    own = np.array([each == asn for each in net.asn_of], bool)
    pair, router = ways.pairs(), ways.router
    inside = own[router]
    follow = (pair[1:] == pair[:-1]) & inside[1:] & inside[:-1]
    ends = np.unique(np.stack([router[:-1][follow], router[1:][follow]]), axis=1)
    return _joined(set(np.unique(router[inside]).tolist()), ends.T.tolist())


def _widest(near: Near, figure: str) -> tuple[tuple[int, int] | None, int]:
    """The link without which the graph is widest, of those that leave it whole; and the width."""
    best, most = None, -1
    for one in near:
        for other in sorted(near[one]):
            if one < other:
                less = _without(near, (one, other))
                if (
                    len(reached(less, one)) == len(near)
                    and (wide := widths_of(less)[figure]) > most
                ):
                    best, most = (one, other), wide
    return best, most


def _without(near: Near, link: tuple[int, int]) -> Near:
    one, other = link
    return near | {one: near[one] - {other}, other: near[other] - {one}}


def widths_of(near: Near) -> dict[str, int]:
    """Diameter and radius of the largest component of a graph, by a search from every node."""
    farthest: dict[frozenset[int], list[int]] = {}
    for start in near:
        hops = reached(near, start)
        farthest.setdefault(frozenset(hops), []).append(max(hops.values()))
    if not farthest:
        return {"diameter": 0, "radius": 0}
    largest = farthest[max(farthest, key=lambda part: (len(part), -min(part)))]
    return {"diameter": max(largest), "radius": min(largest)}


def reached(near: Near, start: int) -> dict[int, int]:
    """Nodes that a search from one reaches, and their hops."""
    hops, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for other in near[node]:
            if other not in hops:
                hops[other] = hops[node] + 1
                queue.append(other)
    return hops
