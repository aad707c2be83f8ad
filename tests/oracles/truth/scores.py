"""Figures of one topology against the truth; see the package for what each of them means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path

import numpy as np

from pipeline.infer import Observation, Registries, infer_topology
from pipeline.infer.ingresses import find_ingresses
from pipeline.infer.traces.passes import Spools
from pipeline.model.addresses import is_private
from pipeline.model.topology import NO_ASN, Topology
from tests.addresses import format_addrs
from tests.oracles.truth.calibration import Rated, count_rated
from tests.oracles.truth.hops import best_hops, compare_hops
from tests.oracles.truth.laboratory import LAB_RANGES, Laboratory, read_lab
from tests.oracles.truth.network import Truth
from tests.oracles.truth.visible import Visible, find_visible


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
    def link_precision(self) -> float:
        return self.links_found / max(1, self.links_found + self.links_false)

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
    def past_equal_share(self) -> float:
        return self.past_equal / max(1, self.past_pairs)

    @property
    def best_equal_share(self) -> float:
        return self.best_equal / max(1, self.best_pairs)


def names_of_nodes(topology: Topology, truth: Truth) -> list[str | None]:
    """Router of each node, by the address that names the node."""
    assert topology.node_addr is not None
    return [truth.router_of.get(addr) for addr in format_addrs(topology.node_addr)]


def _nodes_of(topology: Topology) -> list[tuple[str, int]]:
    """Each address and its node; private ones may be on several."""
    assert topology.addrs is not None
    assert topology.addr_node is not None
    return list(zip(format_addrs(topology.addrs), topology.addr_node.tolist(), strict=True))


def node_of(topology: Topology) -> dict[str, int]:
    """Node of each address; of several the last."""
    return dict(_nodes_of(topology))


def _addrs_right(topology: Topology, truth: Truth, addrs: frozenset[str]) -> np.ndarray:
    """(n_addrs,) of the topology: 1 on a node in the AS of its router, 0 if not; -1 not judged."""
    asn = topology.node_asn.tolist()
    return np.array(
        [
            int(asn[node] == truth.asn_of[truth.router_of[addr]]) if addr in addrs else -1
            for addr, node in _nodes_of(topology)
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
            right[i] = not truth.neighbor_asns.get(name, set()).isdisjoint(seen)
    return right


def _count_routers(
    topology: Topology, names: list[str | None], right: np.ndarray
) -> dict[str, int]:
    """Ingresses by true router and AS: what is said of one router counts once.

    A router is right if one of its nodes is; in two ASes it is two. A node of no known router
    counts by itself.
    """
    table = topology.ingresses
    said: dict[tuple[str | int, int], bool] = {}
    for node, is_right in zip(table.node[~table.candidate], right[~table.candidate], strict=True):
        key = (names[node] or int(node), int(topology.node_asn[node]))
        said[key] = said.get(key, False) or bool(is_right)
    return {"routers_right": sum(said.values()), "routers": len(said)}


def joined_routers(topology: Topology, names: list[str | None]) -> set[frozenset[str | None]]:
    """Pairs of known routers that links of the graphs join; a node in no AS is in no graph."""
    in_graph = topology.node_asn != NO_ASN
    kept = in_graph[topology.near] & in_graph[topology.far]
    ends = zip(topology.near[kept].tolist(), topology.far[kept].tolist(), strict=True)
    pairs = {frozenset((names[a], names[b])) for a, b in ends}
    return {pair for pair in pairs if len(pair) == 2 and None not in pair}


def _pairs(groups: Iterable[Hashable]) -> int:
    """Pairs of things that are in the same group, from the group of each."""
    return sum(comb(n, 2) for n in Counter(groups).values())


def _alias_pairs(topology: Topology, truth: Truth, addrs: frozenset[str]) -> dict[str, int]:
    """Count pairs of addresses; an address of no known router is a router of its own.

    A private one of no known router may be of any: it is not judged.
    """
    assert topology.addrs is not None
    private = set(format_addrs(topology.addrs[is_private(topology.addrs)]))
    known = [
        (node, truth.router_of.get(addr, addr), addr in addrs)
        for addr, node in _nodes_of(topology)
        if addr in truth.router_of or addr not in private
    ]
    return {
        "alias_pairs": _pairs(node for node, _, _ in known),
        "alias_pairs_right": _pairs((node, router) for node, router, _ in known),
        "alias_pairs_found": _pairs((node, router) for node, router, seen in known if seen),
        "alias_pairs_visible": _pairs(truth.router_of[addr] for addr in addrs),
    }


def score(
    topology: Topology,
    truth: Truth,
    observations: Sequence[Observation],
    visible: Visible | None = None,
) -> Score:
    """Compare a topology with the truth; ``visible`` is found in the observations unless given."""
    visible = visible or find_visible(truth, observations)
    names = names_of_nodes(topology, truth)
    joined = joined_routers(topology, names)
    right = ingresses_right(topology, names, truth)
    good = topology.ingresses.node[right & ~topology.ingresses.candidate].tolist()
    found = visible.borders & {names[node] for node in good}
    hop_pairs, equal, excess = compare_hops(topology, names, truth, good)
    past_pairs, past_equal, _ = compare_hops(topology, names, truth, good, past_tunnels=True)
    best_pairs, best_equal, best_excess = best_hops(truth, visible)
    candidates = int(np.count_nonzero(topology.ingresses.candidate))
    addrs = _addrs_right(topology, truth, visible.addrs)
    return Score(
        addrs_right=int(np.count_nonzero(addrs == 1)),
        addrs=len(visible.addrs),
        ingresses_right=len(good),
        ingresses=len(topology.ingresses) - candidates,
        **_count_routers(topology, names, right),
        candidates=candidates,
        borders_found=len(found),
        borders_visible=len(visible.borders),
        borders_true=len(truth.border_routers),
        ases_found=len({truth.asn_of[router] for router in found if router is not None}),
        ases_visible=len({truth.asn_of[router] for router in visible.borders}),
        links_found=len(joined & visible.links),
        links_visible=len(visible.links),
        links_true=len(truth.links),
        links_false=len(joined - truth.links),
        **_alias_pairs(topology, truth, visible.addrs),
        hop_pairs=hop_pairs,
        hops_equal=equal,
        hops_excess=excess,
        best_pairs=best_pairs,
        best_equal=best_equal,
        best_excess=best_excess,
        rated=count_rated(topology, right, addrs),
        past_pairs=past_pairs,
        past_equal=past_equal,
    )


def infer_lab(
    lab: Laboratory,
    *,
    true_alias_sets: bool = False,
    registries: Collection[str] = (),
    **options,
) -> Topology:
    """Infer the topology of a laboratory; options go to ``infer_topology``.

    ``registries``: fields of ``Registries`` whose files are used.
    """
    return infer_topology(
        lab.observations,
        prefixes=lab.prefixes,
        allow_special=LAB_RANGES,
        aliases=lab.aliases if true_alias_sets else None,
        registries=Registries(**{name: getattr(lab.registries, name) for name in registries}),
        **options,
    )


def judge_lab(lab: Laboratory, **options) -> Score:
    """Infer the topology of a laboratory and compare it; see ``infer_lab`` for the options."""
    return score(infer_lab(lab, **options), lab.truth, lab.observations, lab.visible)


def judge_owners(lab: Laboratory, owners: Mapping[str, int]) -> Score:
    """Compare another program's owners of addresses: one node per address, the same rules after."""
    plain = infer_topology(
        lab.observations, prefixes=lab.prefixes, allow_special=LAB_RANGES, borders="prefix"
    )
    assert plain.node_addr is not None
    asn = [owners.get(addr, NO_ASN) for addr in format_addrs(plain.node_addr)]
    node_asn = np.array(asn, np.int64)
    spools = Spools(lab.observations, plain.node_addr, 1)
    unknown = np.full(len(spools.vantages), NO_ASN)
    crossed = spools.read(find_ingresses(np.arange(plain.n_nodes), node_asn, unknown))
    topology = replace(plain, node_asn=node_asn, ingresses=crossed.ingresses)
    return score(topology, lab.truth, lab.observations, lab.visible)


def score_lab(folder: Path, scratch: Path, **options) -> Score:
    """Read, infer and compare one laboratory; see ``judge_lab`` for the options."""
    return judge_lab(read_lab(folder, scratch), **options)
