"""What traces show to who knows the router of every address."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass

import numpy as np

from pipeline.model.addresses import V4_PREFIX
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.measured.traces import KIND_TIME_EXCEEDED, TraceBatch
from tests.oracles.nights.network import Network

Link = tuple[int, int]
Near = dict[int, list[int]]  # neighbours of each node
_LONGEST_GAP = 2  # unanswered hops that say how many routers there are


@dataclass(frozen=True)
class Views:
    """What traces show of routers, the smaller of two first.

    ``links``: those whose ends answered one right after the other, with those to targets that are
    routers, and without: traces alone do not tell which are. ``gaps``: the least unanswered hops
    between two routers, where there are at most ``_LONGEST_GAP``.
    """

    links: tuple[set[Link], set[Link]]
    gaps: dict[Link, int]


def routers_of(net: Network, batch: TraceBatch) -> tuple[np.ndarray, np.ndarray]:
    """Trace and router of each reply, -1 for a host."""
    numbers = (batch.addr[:, 1] ^ V4_PREFIX).astype(np.int64).tolist()
    return row_of_value(batch.reply_ptr), np.array([net.owner.get(n, -1) for n in numbers])


def links_seen(net: Network, batch: TraceBatch) -> Views:
    """Links and gaps that traces show."""
    row, router = routers_of(net, batch)
    follows = (row[1:] == row[:-1]) & (router[1:] >= 0) & (router[:-1] >= 0)
    follows &= router[1:] != router[:-1]
    length = np.diff(batch.ttl.astype(np.int64)) - 1
    on_the_way = batch.kind[1:] == KIND_TIME_EXCEEDED
    ends = np.sort(np.array([router[:-1], router[1:]]), axis=0)
    direct = follows & (length == 0)
    every, some = (ends[:, which].T.tolist() for which in (direct, direct & on_the_way))
    gaps: dict[Link, int] = {}
    short = np.flatnonzero(follows & (length > 0) & (length <= _LONGEST_GAP))
    for (u, v), n in zip(ends[:, short].T.tolist(), length[short].tolist(), strict=True):
        gaps[u, v] = min(n, gaps.get((u, v), n))
    return Views(({(u, v) for u, v in every}, {(u, v) for u, v in some}), gaps)


def growth_seen(net: Network, old: Views, new: Views, asn: int, width: str) -> int:
    """By how much the width of an AS grew, of the links that two nights show, either way."""
    before, after = (
        [_widths(net, links, views.gaps, asn)[width] for links in views.links]
        for views in (old, new)
    )
    return min(now - then for then, now in zip(before, after, strict=True))


def _widths(net: Network, links: set[Link], gaps: dict[Link, int], asn: int) -> dict[str, int]:
    """Diameter and radius of the links of an AS among some, and of gaps that these do not span."""
    near: Near = {}

    def join(u: int, v: int) -> None:
        near.setdefault(u, []).append(v)
        near.setdefault(v, []).append(u)

    for u, v in links:
        if net.asn[u] == asn == net.asn[v]:
            join(u, v)
    own = [(u, v, n) for (u, v), n in gaps.items() if net.asn[u] == asn == net.asn[v]]
    apart = [(u, v, n) for u, v, n in own if u not in near or reached(near, u).get(v, 99) > n + 1]
    silent = len(net.asn)
    for u, v, n in apart:
        chain = [u, *range(silent, silent + n), v]
        silent += n
        for one, other in itertools.pairwise(chain):
            join(one, other)
    return widths_of(near)


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
        u = queue.popleft()
        for v in near[u]:
            if v not in hops:
                hops[v] = hops[u] + 1
                queue.append(v)
    return hops
