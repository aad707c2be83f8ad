"""Plants that make an AS wider: some of its links are cut. Truth: a search from every router."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tests.oracles.nights.network import Network, measure
from tests.oracles.nights.plants import (
    MIN_CROSSED,
    MIN_GROWTH,
    Crossed,
    Expected,
    Night,
    answers,
    without,
)
from tests.oracles.nights.seen import Link, Near, growth_seen, links_seen, reached, widths_of

_MAX_CUT = 10  # links
_MIN_LEFT = 8  # routers that answer


def grow(width: str) -> Callable:
    """A plant: links of an AS are cut, the most telling first, until its ``width`` has grown.

    By ``MIN_GROWTH`` between routers that answer, and by no less of what traces show of these and
    of silent ones: of many ASes that is no longest path, and silent routers may show as targets.
    """

    def planted(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
        net = night.net
        for asn in rng.permutation(sorted(set(net.asn) - taken)).tolist():
            near = heard(net, asn)
            before = widths_of(near)[width]
            cut: set[Link] = set()
            while len(near) >= _MIN_LEFT and len(cut) < _MAX_CUT:
                best, wide = _next_cut(net, near, width, rng)
                if best is None or wide > before + MIN_GROWTH:
                    break
                cut.add(best)
                near = _less(near, best)
                most = max(by.links[u, v] + by.links[v, u] for u, v in cut)
                if wide < before + MIN_GROWTH or most < MIN_CROSSED:
                    continue
                after = without(net, cut)
                if _is_seen(by, after, asn, width):
                    asns = frozenset({asn})
                    event = Expected("links removed", asns, width=width, by_hops=MIN_GROWTH)
                    return replace(night, net=after), event
        return None

    return planted


def _is_seen(by: Crossed, after: Network, asn: int, width: str) -> bool:
    """Whether traces, of a night on which the same routers answer, show that it has grown."""
    return growth_seen(after, by.seen, links_seen(after, measure(after)), asn, width) >= MIN_GROWTH


def heard(net: Network, asn: int) -> Near:
    """The graph of the routers of an AS that are not silent."""
    near = {u: [] for u, other in enumerate(net.asn) if other == asn and u not in net.silent}
    return {u: [v for v in net.neighbors[u] if v in near] for u in near}


def _next_cut(
    net: Network, near: Near, width: str, rng: np.random.Generator
) -> tuple[Link | None, int]:
    """The link without which the graph is widest, of those that leave it whole; and the width."""
    links = sorted((u, v) for u, own in near.items() for v in own if u < v and answers(net, u, v))
    best, most = None, -1
    for u, v in rng.permutation(np.array(links).reshape(-1, 2)).tolist():
        less = _less(near, (u, v))
        if len(reached(less, u)) == len(near) and (wide := widths_of(less)[width]) > most:
            best, most = (u, v), wide
    return best, most


def _less(near: Near, link: Link) -> Near:
    """A graph without one of its links."""
    u, v = link
    return near | {u: [x for x in near[u] if x != v], v: [x for x in near[v] if x != u]}
