"""Measured hop counts against those of the true network."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from pipeline.model.topology import NO_ASN, Topology
from tests.oracles.truth.network import Truth
from tests.oracles.truth.visible import Visible


def neighbors_of(links: Iterable[Iterable[Hashable]]) -> dict[Hashable, list[Hashable]]:
    near: dict[Hashable, list[Hashable]] = {}
    for one, other in links:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    return near


def hops_from(near: dict[Hashable, list[Hashable]], source: Hashable) -> dict[Hashable, int]:
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


def best_hops(truth: Truth, visible: Visible) -> tuple[int, int, float]:
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
        hops - true[router]
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
) -> tuple[int, int, float]:
    """Pairs compared, pairs with equal hops, mean measured minus true hops.

    ``past_tunnels``: of those pairs alone that are as near without the links that may hide routers:
    hops across these are promised to be too few.
    """
    inside = topology.node_asn[topology.near] == topology.node_asn[topology.far]
    inside &= topology.node_asn[topology.near] != NO_ASN
    ends = np.column_stack([topology.near[inside], topology.far[inside]])
    measured = neighbors_of(ends.tolist())
    hides = topology.link_columns.get("may_hide") if past_tunnels else None
    open_only = measured if hides is None else neighbors_of(ends[~hides[inside]].tolist())
    built = near_inside(truth, truth.links)
    return _sum_up(
        hops - true[names[node]]
        for source in sources
        for true in (hops_from(built, names[source]),)
        for past in (hops_from(open_only, source),)
        for node, hops in hops_from(measured, source).items()
        if node != source and names[node] in true and past.get(node) == hops
    )


def _sum_up(differences: Iterable[int]) -> tuple[int, int, float]:
    """Pairs, equal ones and the mean difference."""
    n = Counter(differences)
    pairs = n.total()
    return pairs, n[0], sum(one * times for one, times in n.items()) / max(1, pairs)
