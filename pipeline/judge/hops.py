"""Measured hop counts against those of the true network."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pipeline.judge.truth import Truth
from pipeline.judge.visible import Visible
from pipeline.model.topology import NO_ASN, Topology

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True)
class Compared:
    """Pairs of routers, and by how much their measured hops exceed the true ones.

    Attributes
    ----------
    pairs, equal : int
    excess : float
        Mean of measured minus true hops.
    by_asn : mapping
        Equal pairs, and pairs, of each AS.
    """

    pairs: int
    equal: int
    excess: float
    by_asn: Mapping[int, tuple[int, int]]


def neighbors_of(links: Iterable[Iterable[Node]]) -> dict[Node, list[Node]]:
    near: dict[Node, list[Node]] = {}
    for one, other in links:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    return near


def hops_from(near: Mapping[Node, Sequence[Node]], source: Node) -> dict[Node, int]:
    """Hops from ``source`` to all that it reaches, by plain breadth-first search."""
    hops, queue = {source: 0}, [source]
    for here in queue:
        for other in near.get(here, ()):
            if other not in hops:
                hops[other] = hops[here] + 1
                queue.append(other)
    return hops


def near_inside(truth: Truth, links: Iterable[Iterable[str]]) -> dict[Hashable, list[Hashable]]:
    """Neighbors by the links that are inside an AS."""
    return neighbors_of(
        link for link in links if len({truth.asn_of[router] for router in link}) == 1
    )


def best_hops(truth: Truth, visible: Visible) -> Compared:
    """As ``compare_hops`` of what traces show, if all owners and routers are known.

    A gap is as long as it is shown to be, if links inside the AS are longer.
    """
    shown, built = near_inside(truth, visible.links), near_inside(truth, truth.links)
    for ends, n in sorted(visible.gaps, key=lambda gap: (gap[1], sorted(gap[0]))):
        one, other = sorted(ends)
        inside = truth.asn_of[one] == truth.asn_of[other]
        if inside and hops_from(shown, one).get(other, n + 2) > n + 1:
            silent = [(one, other, i) for i in range(n)]
            for near, far in itertools.pairwise([one, *silent, other]):
                shown.setdefault(near, []).append(far)
                shown.setdefault(far, []).append(near)
    return _sum_up(
        (truth.asn_of[source], hops - true[router])
        for source in visible.borders
        for true in (hops_from(built, source),)
        for router, hops in hops_from(shown, source).items()
        if router != source and router in true
    )


def compare_hops(
    topology: Topology,
    names: list[str | None],
    truth: Truth,
    sources: Sequence[int],
    *,
    past_tunnels: bool = False,
) -> Compared:
    """Compare hops from some nodes of known routers to all that they reach within their AS.

    ``past_tunnels``: of those pairs alone that are as near without the links that may hide routers:
    hops across these are promised to be too few.
    """
    inside = topology.node_asn[topology.near] == topology.node_asn[topology.far]
    inside &= topology.node_asn[topology.near] != NO_ASN
    ends = np.column_stack([topology.near[inside], topology.far[inside]])
    rows: list[list[int]] = ends.tolist()
    measured = neighbors_of(rows)
    hides = topology.link_columns.get("may_hide") if past_tunnels else None
    open_only = measured if hides is None else neighbors_of(ends[~hides[inside]].tolist())
    built = near_inside(truth, truth.links)
    return _sum_up(
        (int(topology.node_asn[source]), hops - true[names[node]])
        for source in sources
        for true in (hops_from(built, names[source]),)
        for past in (hops_from(open_only, source),)
        for node, hops in hops_from(measured, source).items()
        if node != source and names[node] in true and past.get(node) == hops
    )


def _sum_up(differences: Iterable[tuple[int, int]]) -> Compared:
    """Of the AS of each pair, and of measured minus true hops."""
    n = Counter(differences)
    pairs, by_asn = n.total(), dict[int, tuple[int, int]]()
    for (asn, more), times in n.items():
        equal, of = by_asn.get(asn, (0, 0))
        by_asn[asn] = equal + (times if more == 0 else 0), of + times
    excess = sum(more * times for (_, more), times in n.items()) / max(1, pairs)
    return Compared(pairs, sum(equal for equal, _ in by_asn.values()), excess, by_asn)
