"""Plants that make an AS wider: some of its links are cut. Truth: a search from every router."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tests.oracles.nights.plants import (
    MIN_CROSSED,
    Crossed,
    Expected,
    Night,
    answers,
    reach,
    without,
)
from tests.unit.pipeline.infer.simulate import Network

MIN_GROWTH = 2  # hops: a router that is silent on one of the nights may make a hop
_MAX_CUT = 10  # links
_MIN_LEFT = 8  # routers that answer


def grow(width: str) -> Callable:
    """A plant: links of an AS are cut, the most telling first, until its ``width`` has grown."""

    def planted(night: Night, taken: set[int], rng: np.random.Generator, by: Crossed):
        net = night.net
        for asn in rng.permutation(sorted(set(net.asn) - taken)).tolist():
            before, after = widths(net, asn), net
            cut: set[tuple[int, int]] = set()
            while len(cut) < _MAX_CUT and widths(after, asn)[width] < before[width] + MIN_GROWTH:
                best = _next_cut(net, cut, asn, width, rng)
                if best is None:
                    break
                cut.add(best)
                after = without(net, cut)
            by_hops = widths(after, asn)[width] - before[width]
            most = max((by.links[u, v] + by.links[v, u] for u, v in cut), default=0)
            if by_hops >= MIN_GROWTH and most >= MIN_CROSSED:
                event = Expected("links removed", frozenset({asn}), width=width, by_hops=by_hops)
                return replace(night, net=after), event
        return None

    return planted


def widths(net: Network, asn: int) -> dict[str, int]:
    """Diameter and radius of the largest connected part of an AS that answers."""
    heard = [u for u, other in enumerate(net.asn) if other == asn and u not in net.silent]
    near = {u: [v for v in net.neighbors[u] if net.asn[v] == asn] for u in heard}
    return widths_of({u: [v for v in own if v in near] for u, own in near.items()})


def widths_of(near: dict[int, list[int]]) -> dict[str, int]:
    """Diameter and radius of the largest component of a graph, by a search from every node."""
    farthest: dict[frozenset[int], list[int]] = {}
    for start in near:
        hops, queue = {start: 0}, deque([start])
        while queue:
            u = queue.popleft()
            for v in near[u]:
                if v not in hops:
                    hops[v] = hops[u] + 1
                    queue.append(v)
        farthest.setdefault(frozenset(hops), []).append(max(hops.values()))
    largest = farthest[max(farthest, key=lambda part: (len(part), -min(part)))]
    return {"diameter": max(largest), "radius": min(largest)}


def _next_cut(
    net: Network, cut: set[tuple[int, int]], asn: int, width: str, rng: np.random.Generator
) -> tuple[int, int] | None:
    """The link without which the AS is widest, of those that leave it, and what answers, whole."""
    heard = {u for u, other in enumerate(net.asn) if other == asn and u not in net.silent}
    if len(heard) < _MIN_LEFT:
        return None
    best, most = None, -1
    for u, v in rng.permutation(sorted(net.links - cut)).tolist():
        if net.asn[u] != asn or net.asn[v] != asn or not answers(net, u, v):
            continue
        after = without(net, cut | {(u, v)})
        of_heard = {
            start: [x for x in near if x in heard] for start, near in enumerate(after.neighbors)
        }
        if not heard <= reach(replace(after, neighbors=list(of_heard.values())), u, asn):
            continue
        wide = widths(after, asn)[width]
        if wide > most:
            best, most = (u, v), wide
    return best
