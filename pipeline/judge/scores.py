"""Figures of one topology against the truth; the package says what each of them means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import comb, sqrt
from typing import TypeAlias

import numpy as np

from pipeline.judge.hops import best_hops, compare_hops
from pipeline.judge.rated import Rated, count_rated, rated_things
from pipeline.judge.truth import Truth
from pipeline.judge.visible import Visible
from pipeline.model.addresses import format_addrs, is_private
from pipeline.model.topology import NO_ASN, Topology

# Of each AS: how many of its things are right, and how many there are.
ByAs: TypeAlias = Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Score:
    """Counts behind the figures of one topology."""

    addrs_right: int
    addrs: int
    ingresses_right: int
    ingresses: int
    routers_right: int  # right ingresses, those of one router counted once
    routers: int
    candidates: int  # left out
    borders_found: int
    borders_visible: int
    borders_true: int
    ases_found: int
    ases_visible: int
    links_found: int
    links_visible: int
    links_true: int
    links_false: int
    alias_pairs_right: int
    alias_pairs: int
    alias_pairs_found: int  # of addresses that answered as routers
    alias_pairs_visible: int
    hop_pairs: int
    hops_equal: int
    hops_excess: float
    best_pairs: int  # of hops, if all that the traces show were known
    best_equal: int
    best_excess: float
    rated: tuple[Rated, ...] = ()
    past_pairs: int = 0  # of hops, of those that no link that may hide routers makes shorter
    past_equal: int = 0
    plain_links_right: int = 0  # of links that are not said to hide routers
    plain_links: int = 0
    not_judged: int = 0  # ingresses at routers that a truth of a part does not know
    # Standard errors of shares by name, where there are any.
    errors: Mapping[str, float] = field(default_factory=dict)

    @property
    def asn_precision(self) -> float:
        return self.addrs_right / max(1, self.addrs)

    @property
    def ingress_precision(self) -> float:
        return self.ingresses_right / max(1, self.ingresses)

    @property
    def router_precision(self) -> float:
        return self.routers_right / max(1, self.routers)

    @property
    def border_recall(self) -> float:
        return self.borders_found / max(1, self.borders_visible)

    @property
    def link_recall(self) -> float:
        return self.links_found / max(1, self.links_visible)

    @property
    def links_judged(self) -> int:
        """Links that are stated and visible, or false."""
        return self.links_found + self.links_false

    @property
    def link_precision(self) -> float:
        return self.links_found / max(1, self.links_judged)

    @property
    def alias_precision(self) -> float:
        return self.alias_pairs_right / max(1, self.alias_pairs)

    @property
    def alias_recall(self) -> float:
        return self.alias_pairs_found / max(1, self.alias_pairs_visible)

    @property
    def hops_equal_share(self) -> float:
        return self.hops_equal / max(1, self.hop_pairs)

    @property
    def best_equal_share(self) -> float:
        return self.best_equal / max(1, self.best_pairs)


def names_of_nodes(topology: Topology, truth: Truth) -> list[str | None]:
    """Router of each node, by the address that names the node."""
    assert topology.node_addr is not None
    return [truth.router_of.get(addr) for addr in format_addrs(topology.node_addr)]


def nodes_of(topology: Topology) -> list[tuple[str, int]]:
    """Each address and its node; private ones may be on several."""
    assert topology.addrs is not None
    assert topology.addr_node is not None
    return list(zip(format_addrs(topology.addrs), topology.addr_node.tolist(), strict=True))


def node_of(topology: Topology) -> dict[str, int]:
    """Node of each address; of several the last."""
    return dict(nodes_of(topology))


def standard_error(by_asn: ByAs) -> float | None:
    """Standard error of the share that is right, by the spread between ASes; None of fewer than 2.

    What is in one AS is right or wrong together: so ASes are drawn, not things. That is the usual
    linearised error of a ratio [1]_.

    References
    ----------
    .. [1] W. Cochran, "Sampling Techniques", third edition, 1977, section 6.4.
    """
    kept = [(right, n) for right, n in by_asn.values() if n]
    whole = sum(n for _, n in kept)
    if len(kept) < 2:
        return None
    share = sum(right for right, _ in kept) / whole
    squares = sum((right - share * n) ** 2 for right, n in kept)
    return sqrt(squares * len(kept) / (len(kept) - 1)) / whole


def by_asn(items: Iterable[tuple[int, bool]]) -> dict[int, tuple[int, int]]:
    """Count things by their AS: how many are right, how many there are."""
    counted: dict[int, tuple[int, int]] = {}
    for asn, is_right in items:
        right, n = counted.get(asn, (0, 0))
        counted[asn] = right + int(is_right), n + 1
    return counted


def _total(counted: ByAs) -> tuple[int, int]:
    return sum(right for right, _ in counted.values()), sum(n for _, n in counted.values())


def _addrs_right(topology: Topology, truth: Truth, addrs: frozenset[str]) -> np.ndarray:
    """(n_addrs,) of the topology: 1 on a node in the AS of its router, 0 if not; -1 not judged."""
    asn = topology.node_asn.tolist()
    return np.array(
        [
            int(asn[node] == truth.asn_of[truth.router_of[addr]]) if addr in addrs else -1
            for addr, node in nodes_of(topology)
        ],
        np.int64,
    )


def ingresses_right(topology: Topology, names: list[str | None], truth: Truth) -> np.ndarray:
    """(n_ingresses,) bool: in the AS of their router, next to an AS that it has a link to."""
    table = topology.ingresses
    right = np.zeros(len(table), bool)
    for i, node in enumerate(table.node.tolist()):
        name = names[node]
        seen = table.neighbor_asn[table.neighbor_ptr[i] : table.neighbor_ptr[i + 1]].tolist()
        if name is not None and truth.asn_of[name] == topology.node_asn[node]:
            right[i] = not set(truth.neighbor_asns.get(name, ())).isdisjoint(seen)
    return right


def ingresses_judged(topology: Topology, names: list[str | None], truth: Truth) -> np.ndarray:
    """(n_ingresses,) bool: all, or those at known routers where a part of the truth is known."""
    nodes = topology.ingresses.node.tolist()
    return np.array([truth.is_whole or names[node] is not None for node in nodes], bool)


def _routers_by_asn(
    topology: Topology, names: list[str | None], right: np.ndarray, counted: np.ndarray
) -> dict[int, tuple[int, int]]:
    """Ingresses by true router and AS: what is said of one router counts once.

    A router is right if one of its nodes is; in two ASes it is two. A node of no known router
    counts by itself.
    """
    table = topology.ingresses
    said: dict[tuple[str | int, int], bool] = {}
    for node, is_right in zip(table.node[counted], right[counted], strict=True):
        key = (names[node] or int(node), int(topology.node_asn[node]))
        said[key] = said.get(key, False) or bool(is_right)
    return by_asn((asn, is_right) for (_, asn), is_right in said.items())


def joined_routers(
    topology: Topology, names: list[str | None], *, past_tunnels: bool = False
) -> set[frozenset[str]]:
    """Pairs of known routers that links of the graphs join; a node in no AS is in no graph.

    ``past_tunnels``: without links that may hide routers, as the topology itself says.
    """
    in_graph = topology.node_asn != NO_ASN
    kept = in_graph[topology.near] & in_graph[topology.far]
    if past_tunnels and "may_hide" in topology.link_columns:
        kept &= ~topology.link_columns["may_hide"]
    joined = set()
    for near, far in zip(topology.near[kept].tolist(), topology.far[kept].tolist(), strict=True):
        one, other = names[near], names[far]
        if one is not None and other is not None and one != other:
            joined.add(frozenset((one, other)))
    return joined


def _pairs(groups: Iterable[tuple[int, Hashable]]) -> dict[int, int]:
    """Pairs of things that are in the same group, by AS; from the AS and the group of each."""
    pairs: Counter[int] = Counter()
    for (asn, _), n in Counter(groups).items():
        pairs[asn] += comb(n, 2)
    return pairs


def _alias_pairs(topology: Topology, truth: Truth, addrs: frozenset[str]) -> dict[str, ByAs]:
    """Pairs of addresses by AS; an address of no known router is a router of its own.

    One of no known router is not judged where it is private, and may be of any router, nor where
    only a part of the truth is known.
    """
    assert topology.addrs is not None
    private = set(format_addrs(topology.addrs[is_private(topology.addrs)]))
    asn = topology.node_asn.tolist()
    known = [
        (asn[node], node, truth.router_of.get(addr, addr), addr in addrs)
        for addr, node in nodes_of(topology)
        if addr in truth.router_of or (truth.is_whole and addr not in private)
    ]
    stated = _pairs((at, node) for at, node, _, _ in known)
    right = _pairs((at, (node, router)) for at, node, router, _ in known)
    seen = [(truth.asn_of[router], node, router) for _, node, router, is_seen in known if is_seen]
    found = _pairs((at, (node, router)) for at, node, router in seen)
    routers = (truth.router_of[addr] for addr in addrs)
    visible = _pairs((truth.asn_of[router], router) for router in routers)
    return {
        "alias_pairs_right": {at: (right.get(at, 0), n) for at, n in stated.items()},
        "alias_pairs_found": {at: (found.get(at, 0), n) for at, n in visible.items()},
    }


def _addresses_by_asn(
    topology: Topology, truth: Truth, right: np.ndarray, addrs: frozenset[str]
) -> dict[int, tuple[int, int]]:
    """Addresses that are judged, by the AS of their routers; one on no node is wrong."""
    true = {addr: truth.asn_of[truth.router_of[addr]] for addr in addrs}
    n = Counter(true.values())
    rows = zip(nodes_of(topology), right.tolist(), strict=True)
    # A private address may be on several nodes: it counts once.
    on_right = {addr for (addr, _), is_right in rows if is_right == 1}
    n_right = Counter(true[addr] for addr in on_right)
    return {asn: (n_right[asn], n[asn]) for asn in n}


def _links_by_asn(
    joined: set[frozenset[str]], truth: Truth, visible: Visible
) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]]:
    """Visible links and those found of them; links found or false, and those not false."""

    def of_link(link: frozenset[str]) -> int:
        return min(truth.asn_of[router] for router in link)

    judged = (joined & visible.links) | (joined - truth.links)
    return (
        by_asn((of_link(link), link in joined) for link in visible.links),
        by_asn((of_link(link), link in truth.links) for link in judged),
    )


def score(topology: Topology, truth: Truth, visible: Visible) -> Score:
    """Compare a topology with the truth, as far as traces show that."""
    names = names_of_nodes(topology, truth)
    joined = joined_routers(topology, names) if truth.has_links else set()
    table = topology.ingresses
    right = ingresses_right(topology, names, truth)
    judged = ingresses_judged(topology, names, truth)
    stated = judged & ~table.candidate
    good = table.node[right & stated].tolist()
    found = visible.borders & {names[node] for node in good}
    addrs = _addrs_right(topology, truth, visible.addrs)
    hops = compare_hops(topology, names, truth, good)
    past = compare_hops(topology, names, truth, good, past_tunnels=True)
    best = best_hops(truth, visible)
    asns = topology.node_asn[table.node]
    links_found, links_right = _links_by_asn(joined, truth, visible)
    plain = joined_routers(topology, names, past_tunnels=True) if truth.has_links else set()
    _, plain_right = _links_by_asn(plain, truth, visible)
    parts: dict[str, ByAs] = {
        "ingresses": by_asn(zip(asns[stated].tolist(), right[stated].tolist(), strict=True)),
        "routers": _routers_by_asn(topology, names, right, stated),
        "borders": by_asn((truth.asn_of[one], one in found) for one in visible.borders),
        "addresses": _addresses_by_asn(topology, truth, addrs, visible.addrs),
        "links_found": links_found,
        "links_right": links_right,
        "links_right_past_tunnels": plain_right,
        **_alias_pairs(topology, truth, visible.addrs),
        "hops": hops.by_asn,
        "hops_past_tunnels": past.by_asn,
        "hops_at_best": best.by_asn,
    }
    rated: list[Rated] = []
    for what, values, is_right, of in rated_things(topology, right, addrs, judged):
        counts = count_rated(what, values, is_right)
        rated += counts
        classes = {one.stated: one.class_name for one in counts}
        names_of = np.array([classes[value] for value in values.tolist()], object)
        for name in set(classes.values()):
            some = names_of == name
            things = zip(of[some].tolist(), is_right[some].tolist(), strict=True)
            parts[f"{what} {name}"] = by_asn((at, bool(one)) for at, one in things)
    total = {name: _total(counted) for name, counted in parts.items()}
    errors = {name: standard_error(counted) for name, counted in parts.items()}
    return Score(
        addrs_right=total["addresses"][0],
        addrs=total["addresses"][1],
        ingresses_right=total["ingresses"][0],
        ingresses=total["ingresses"][1],
        routers_right=total["routers"][0],
        routers=total["routers"][1],
        candidates=int(np.count_nonzero(table.candidate & judged)),
        borders_found=total["borders"][0],
        borders_visible=total["borders"][1],
        borders_true=len(truth.border_routers),
        ases_found=len({truth.asn_of[router] for router in found if router is not None}),
        ases_visible=len({truth.asn_of[router] for router in visible.borders}),
        links_found=total["links_found"][0],
        links_visible=total["links_found"][1],
        links_true=len(truth.links),
        links_false=total["links_right"][1] - total["links_right"][0],
        alias_pairs_right=total["alias_pairs_right"][0],
        alias_pairs=total["alias_pairs_right"][1],
        alias_pairs_found=total["alias_pairs_found"][0],
        alias_pairs_visible=total["alias_pairs_found"][1],
        hop_pairs=hops.pairs,
        hops_equal=hops.equal,
        hops_excess=hops.excess,
        best_pairs=best.pairs,
        best_equal=best.equal,
        best_excess=best.excess,
        rated=tuple(rated),
        past_pairs=past.pairs,
        past_equal=past.equal,
        plain_links_right=total["links_right_past_tunnels"][0],
        plain_links=total["links_right_past_tunnels"][1],
        not_judged=int(np.count_nonzero(~judged)),
        errors={name: error for name, error in errors.items() if error is not None},
    )
