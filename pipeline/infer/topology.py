"""Observations to a topology: routers, links, weights, the AS of each router, ingresses.

Every result depends on the traces alone, not on their order, on the files that they were in or on
the number of workers: counts and medians do not depend on order, and decisions that do are taken in
the order of addresses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pipeline.errors import UsageError
from pipeline.infer.destinations import PASSAGES, find_passages, find_routers
from pipeline.infer.gathering import Gathering, mates_of
from pipeline.infer.ingresses import find_ingresses
from pipeline.infer.nodes import Nodes
from pipeline.infer.owners.aims import find_aims
from pipeline.infer.owners.confidence import rate
from pipeline.infer.owners.elect import Election
from pipeline.infer.owners.mapped import mapped_share, origins
from pipeline.infer.owners.private import PRIVATE_ROUTERS, Around, follow_private_links
from pipeline.infer.owners.special import is_special
from pipeline.infer.owners.terms import organisations
from pipeline.infer.owners.unannounced import FIRST_STAND_IN
from pipeline.infer.paths import collecting_paths
from pipeline.infer.reasons import reasons_of
from pipeline.infer.routers.rules.dead_ends import find_dead_ends, find_only_ends
from pipeline.infer.routers.rules.exchange_lans import Lans, name_lans
from pipeline.infer.routers.swallowed import find_swallowed
from pipeline.infer.rtt import measuring_links
from pipeline.infer.rules import rules_without
from pipeline.infer.silent import SILENT_ROUTERS, SilentRouters, find_silent
from pipeline.infer.traces.distinct import find_distinct_paths
from pipeline.infer.traces.links import NodeLinks, count_links, join_links
from pipeline.infer.traces.merge import ObservedAddresses, merge_addresses
from pipeline.infer.traces.observer import Observation
from pipeline.infer.traces.passes import Spools
from pipeline.model.addresses import naming_addrs
from pipeline.model.choices import BORDERS, ROUTERS
from pipeline.model.columns.sorted_addrs import find_addrs
from pipeline.model.measured.mapped import MappedShare
from pipeline.model.measured.observations import Vantages
from pipeline.model.measured.reasons import Reasons
from pipeline.model.tables.aliases import AliasTable
from pipeline.model.tables.exchanges import ExchangePoints
from pipeline.model.tables.prefixes import PrefixTable
from pipeline.model.tables.registries import Registries
from pipeline.model.topology import NO_ASN, SIBLINGS, SILENT, Topology


class _Owned(NamedTuple):
    """Nodes and whose they are.

    ``asn`` (n_nodes,) int64, ``NO_ASN`` for none; ``election``: of their addresses; ``counts``: of
    what is said about them; ``reasons``: None without an election.
    """

    nodes: Nodes
    asn: np.ndarray
    election: Election
    lans: Lans | None
    counts: dict[str, int]
    reasons: Reasons | None = None


def _observed(observations: Sequence[Observation]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for observation in observations:
        counts["traces"] += observation.n_traces
        counts["hops"] += observation.n_hops
        counts.update(observation.counts)
    return counts


def infer_topology(
    observations: Sequence[Observation],
    *,
    prefixes: PrefixTable | None = None,
    asn: int | None = None,
    aliases: AliasTable | None = None,
    registries: Registries | None = None,
    allow_special: tuple[str, ...] = (),
    borders: str = "elected",
    routers: str = "inferred",
    bridge_gaps: bool = False,
    workers: int = 1,
    targets_are_routers: bool = False,
    without: Collection[str] = (),
) -> Topology:
    """Infer routers, links, ASes and ingresses from observed traces.

    Parameters
    ----------
    observations : sequence of Observation
        Their scratch files must still be there. Their order does not matter.
    prefixes : PrefixTable or None
        Address space by AS. None: every public address belongs to ``asn``.
    asn : int or None
        Used without ``prefixes`` only.
    aliases : AliasTable or None
        Interfaces that are one router. None: each interface is a node.
    registries : Registries or None
        What is known of ASes and addresses from elsewhere.
    allow_special : tuple of str
        Special-purpose prefixes whose addresses count as public.
    borders : str
        ``"elected"`` (``infer.owners.elect``) or ``"prefix"``: the AS of an address is
        that of its prefix, and unmapped addresses are in none.
    routers : str
        ``"inferred"``: interfaces outside alias sets that the election shows to be one router are
        one node (``infer.routers.merge``); none without an election. ``"interfaces"``: each is
        a node.
    bridge_gaps : bool
        Join the two answers around unanswered hops; such links are marked ``bridged``.
    workers : int
        Threads that read the spools.
    targets_are_routers : bool
        Every destination that answered and is not a vantage is a router, not only those that also
        answered as one: for measurements that were aimed at routers.
    without : collection of str
        Rules that are left out, by their names (``infer.rules``).

    Returns
    -------
    Topology
        ``kind`` is ``"router"`` where any addresses were merged, else ``"interface"``.
        ``weight`` in ms.
        ``link_columns``: ``n_traces`` int64, ``bridged`` and ``mpls`` bool, ``via_ixp`` bool where
        LANs of exchange points were looked for or given, and ``siblings`` bool where organisations
        were.

    Raises
    ------
    UsageError
        Without ``prefixes`` and ``asn``; if ``allow_special`` holds something other than a prefix;
        if ``borders`` or ``routers`` is not one of these words; if ``without`` names no rule.
    """
    _check_options(prefixes, asn, borders, routers)
    rules = rules_without(without)
    given = registries or Registries()
    registries = given if organisations.TERM in rules else replace(given, organisations=None)
    exchanges = registries.exchanges or ExchangePoints.none()
    observed = merge_addresses(observations)
    every = Spools(observations, observed.addrs, workers)
    all_lan = exchanges.find(observed.addrs)
    all_mates = mates_of(observed.addrs, aliases, all_lan >= 0)
    all_links, passages, only_ends = every.read(
        count_links(), find_passages(all_mates), find_only_ends(every.vantages)
    )

    def origin_of(wanted: np.ndarray) -> np.ndarray:
        special, on_lan = is_special(wanted, allow_special), exchanges.find(wanted) >= 0
        return origins(wanted, prefixes, asn, special, on_lan)

    passed = np.zeros(len(observed.addrs), bool)
    if PASSAGES in rules:
        passed = passages.find_passed(all_links, all_mates)
    is_router = find_routers(observed, all_mates, passed, targets_are_routers, aliases)

    scratch = observations[0].spool.parent if observations else None
    addrs = observed.addrs[is_router]
    links = all_links.restrict(is_router)
    spools = every.restrict(is_router)
    all_special, all_origin, share = _map_addresses(
        observed, prefixes, asn, allow_special, exchanges
    )
    special, origin = all_special[is_router], all_origin[is_router]
    known_lan = np.where(special, -1, all_lan[is_router])
    nodes = Nodes.given(addrs, aliases)
    swallowed = None if aliases is None else find_swallowed(addrs, links, nodes.alias, aliases)
    counts = _observed(observations)
    counts.update(_count_addresses(observed, is_router, share, special, origin, known_lan))
    if borders == "elected":
        distinct_paths, aims, dead_ends = spools.read(
            find_distinct_paths(origin_of, counts["traces"], workers, scratch),
            find_aims(prefixes, len(addrs), exchanges),
            find_dead_ends(
                links,
                len(addrs),
                spools.vantages,
                only_ends,
                lambda aimed_at: origin_of(aimed_at) != NO_ASN,
            ),
        )
        gathering = Gathering(
            distinct_paths,
            all_links,
            links,
            aims,
            dead_ends,
            is_router,
            addrs,
            all_origin,
            special,
            known_lan >= 0,
            registries,
            exchanges,
            rules,
        )
        unaided = None if aliases is None else mates_of(observed.addrs, None, all_lan >= 0)
        owned = _elect(gathering, all_mates, unaided, known_lan, nodes, routers == "inferred")
    else:
        lans = Lans(known_lan, exchanges.names) if exchanges.names else None
        owned = _Owned(nodes, nodes.most_common(origin), Election(origin, None), lans, {})
    nodes, node_asn, lans = owned.nodes, owned.asn, owned.lans
    counts.update(owned.counts)

    node_links = join_links(
        links, nodes.node_of, bridge_gaps, None if lans is None else lans.row >= 0
    )
    has_silent = borders == "elected" and routers == "inferred" and not bridge_gaps
    has_silent &= SILENT_ROUTERS in rules
    silent = SilentRouters.none()
    if has_silent:
        silent = find_silent(links, nodes.node_of, node_asn, node_links)
    drawn = silent.after(node_links)
    length = None if bridge_gaps else np.r_[np.ones(len(node_links.near), np.int64), silent.length]
    high, low = observed.vantages.T
    vantages = Vantages(high, low, origin_of(observed.vantages))
    with (
        measuring_links(drawn, nodes.node_of, scratch, length) as finding_weights,
        collecting_paths(
            counts["hops"],
            nodes.node_of,
            node_asn,
            vantages,
            find_addrs(observed.vantages, spools.vantages),
            workers,
            scratch,
        ) as finding_paths,
    ):
        (weight, n_floored), crossed, paths = spools.read(
            finding_weights,
            find_ingresses(nodes.node_of, node_asn, origin_of(spools.vantages), lans),
            finding_paths,
        )
    ingresses, exits, entered_unseen = crossed
    drawn, weight, gap = silent.draw(node_links, weight, len(nodes))
    is_silent = np.arange(len(nodes) + len(gap)) >= len(nodes)
    asn_drawn = np.concatenate([node_asn, node_asn[silent.near[gap]]])
    near, far = links.near[links.n_router > 0], links.far[links.n_router > 0]
    of_addrs, of_ingresses = rate(
        ingresses,
        near,
        far,
        nodes.node_of,
        node_asn,
        owned.election,
        nodes.alias >= 0,
        registries.relationships is not None,
    )
    counts.update(
        merged_addresses=len(addrs) - len(nodes),
        n_unmapped=int(np.count_nonzero(node_asn == NO_ASN)),
        links=len(drawn.near),
        silent_routers=len(gap),
        bridged_links=int(np.count_nonzero(drawn.bridged)),
        mpls_links=int(np.count_nonzero(node_links.labelled)),
        links_within_a_router=node_links.n_within_node,
        links_within_alias_sets=0 if swallowed is None else swallowed.n_links,
        rtt_floored=n_floored,
        links_without_rtt=int(np.count_nonzero(np.isnan(weight))),
        entered_unseen=sum(entered_unseen.values()),
        ingresses=int(np.count_nonzero(~ingresses.candidate)),
        ingress_candidates=int(np.count_nonzero(ingresses.candidate)),
    )
    _, naming = naming_addrs(addrs, nodes.node_of, links.count_of_each(len(addrs)))
    no_addr = np.zeros((len(gap), 2), np.uint64)
    return Topology(
        asn_drawn,
        drawn.near,
        drawn.far,
        node_addr=np.concatenate([addrs[naming], no_addr]),
        node_columns={SILENT: is_silent} if has_silent else {},
        addrs=addrs,
        addr_node=nodes.node_of,
        addr_confidence=of_addrs,
        weight=weight,
        weight_unit="ms",
        link_columns=drawn.columns() | _siblings(drawn, asn_drawn, given),
        ingresses=replace(ingresses, confidence=of_ingresses),
        exits=exits,
        kind="router" if len(nodes) < len(addrs) else "interface",
        counts=dict(counts),
        entered_unseen=entered_unseen,
        mapped=share,
        swallowed=swallowed,
        observations=paths,
        reasons=owned.reasons,
    )


def _check_options(
    prefixes: PrefixTable | None, asn: int | None, borders: str, routers: str
) -> None:
    if prefixes is None and asn is None:
        raise UsageError(
            "traces name no AS; give prefix tables (--ip2as FILE) or one AS for all (--asn N)"
        )
    if borders not in BORDERS:
        raise UsageError(f"borders {borders!r}: give {' or '.join(BORDERS)}")
    if routers not in ROUTERS:
        raise UsageError(f"routers {routers!r}: give {' or '.join(ROUTERS)}")


def _count_addresses(
    observed: ObservedAddresses,
    is_router: np.ndarray,
    share: MappedShare,
    special: np.ndarray,
    origin: np.ndarray,
    known_lan: np.ndarray,
) -> dict[str, int]:
    """Of all observed addresses, and of the kinds among those of routers (the last three)."""
    unrouted = (origin == NO_ASN) & ~special & (known_lan < 0)
    return {
        **share.counts,
        "addresses": len(observed.addrs),
        "destinations_left_out": int(np.count_nonzero(~is_router)),
        "destinations_taken_for_routers": int(np.count_nonzero(is_router & ~observed.is_router)),
        "special_addresses": int(np.count_nonzero(special)),
        "unrouted_addresses": int(np.count_nonzero(unrouted)),
    }


def _elect(
    gathering: Gathering,
    mates: np.ndarray,
    unaided: np.ndarray | None,
    known_lan: np.ndarray,
    nodes: Nodes,
    merge: bool,
) -> _Owned:
    """Owners by election; routers are inferred if ``merge``.

    Parameters
    ----------
    gathering : Gathering
    mates, unaided : (n_addrs,) int64
        Of all addresses, as from ``mates_of``: with alias sets, and without; None: there are none.
    known_lan : (n_interfaces,) int64
        Exchange point of each address, -1 for none.
    nodes : Nodes
        As given.
    merge : bool
    """
    links, special, alias = gathering.links, gathering.special, nodes.alias
    before = None
    if unaided is not None:
        evidence = gathering.gather(unaided, np.full(len(alias), -1, np.int64))
        before = evidence.conclude(Registries(), merge).election.standing
    evidence = gathering.gather(mates, alias)
    shown = evidence.shown
    lans = name_lans(gathering.addrs, shown.on_lan, known_lan, gathering.exchanges.names)
    groups, router, election, joined = evidence.conclude(gathering.registries, merge, before)
    counts = {
        "exchange_point_addresses": int(np.count_nonzero(shown.on_lan)),
        "suspect_addresses": int(np.count_nonzero(groups.suspect)),
        "alias_conflicts": groups.n_conflicts,
        "elected_otherwise": int(np.count_nonzero(election.owner != shown.origin)),
    }
    if merge:
        merged = Nodes.of(router, alias)
        counts["inferred_aliases"] = len(nodes) - len(merged)
        nodes = merged
    asn = nodes.most_common(election.owner, special)
    private = np.bincount(nodes.node_of, ~special, minlength=len(nodes)) == 0
    asn[private] = NO_ASN
    n_known = int(np.count_nonzero((asn != NO_ASN) & (asn < FIRST_STAND_IN)))
    elected = asn
    if PRIVATE_ROUTERS in gathering.rules:
        asn = follow_private_links(Around.of(links, shown.aims, nodes.node_of), asn, private)
    asn = np.where(asn < FIRST_STAND_IN, asn, NO_ASN)
    counts["unmapped_adopted"] = int(np.count_nonzero(asn != NO_ASN)) - n_known
    taken_over = {PRIVATE_ROUTERS.name: (asn != elected) & (asn != NO_ASN)}
    reasons = reasons_of(gathering.addrs, nodes, asn, election, taken_over, joined, links)
    return _Owned(nodes, asn, election, lans, counts, reasons)


def _siblings(
    links: NodeLinks, node_asn: np.ndarray, registries: Registries
) -> dict[str, np.ndarray]:
    """Which links join two ASes of one organisation, as a column; none where nothing tells."""
    siblings = registries.siblings(node_asn[links.near], node_asn[links.far])
    return {} if siblings is None else {SIBLINGS: siblings}


def _map_addresses(
    observed: ObservedAddresses,
    prefixes: PrefixTable | None,
    asn: int | None,
    allow: tuple[str, ...],
    exchanges: ExchangePoints,
) -> tuple[np.ndarray, np.ndarray, MappedShare]:
    """Special or not, and AS by prefix, of ``observed.addrs``; the mapped share of all."""
    addrs = observed.addrs
    others = observed.never_hops
    both = np.concatenate([addrs, others]) if len(others) else addrs
    special = is_special(both, allow)
    on_lan = exchanges.find(both) >= 0
    origin = origins(both, prefixes, asn, special, on_lan)
    share = mapped_share(both, origin, special, on_lan, prefixes, exchanges)
    return special[: len(addrs)], origin[: len(addrs)], share
