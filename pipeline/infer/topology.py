"""Observations to a topology: routers, links, weights, the AS of each router, ingresses.

Every result depends on the traces alone, not on their order, on the files that they were in or on
the number of workers: counts and medians do not depend on order, and decisions that do are taken in
the order of addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from pipeline.errors import UsageError
from pipeline.infer.drawn import Drawn, join_nodes, measure
from pipeline.infer.evidence import Evidence, gather
from pipeline.infer.given import Given
from pipeline.infer.nodes import Nodes
from pipeline.infer.owned import Owned, elect, own_by_prefix
from pipeline.infer.owners.confidence import Conditions, rate
from pipeline.infer.routers.swallowed import find_swallowed
from pipeline.infer.rules import rules_without
from pipeline.infer.silent import SILENT_ROUTERS
from pipeline.infer.traces.observer import Observation
from pipeline.model.addresses import naming_addrs
from pipeline.model.choices import BORDERS, ROUTERS
from pipeline.model.columns.ragged import row_of_value, run_starts
from pipeline.model.measured.kept_traces import TARGET_ITSELF, KeptTraces, TraceRows
from pipeline.model.tables.aliases import AliasTable
from pipeline.model.tables.prefixes import PrefixTable
from pipeline.model.tables.registries import Registries
from pipeline.model.topology import AS_RELATION, NO_ASN, SIBLINGS, SILENT, Topology


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
    keep_traces: bool = False,
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
    keep_traces : bool
        Keep all traces, not only some for each link and each address (``infer.kept``). Scratch
        files must be there until they are stored.

    Returns
    -------
    Topology
        ``kind`` is ``"router"`` where any addresses were merged, else ``"interface"``.
        ``weight`` in ms.
        ``link_columns``: ``n_traces`` int64, ``bridged`` and ``mpls`` bool, ``may_hide`` bool where
        borders were elected, ``via_ixp`` bool where LANs of exchange points were looked for or
        given, ``siblings`` bool where organisations were, and ``as_relation`` int8 where
        relationships were.

    Raises
    ------
    UsageError
        Without ``prefixes`` and ``asn``; if ``allow_special`` holds something other than a prefix;
        if ``borders`` or ``routers`` is not one of these words; if ``without`` names no rule.
    """
    _check_options(prefixes, asn, borders, routers)
    given = Given(
        prefixes=prefixes,
        asn=asn,
        aliases=aliases,
        all_registries=registries or Registries(),
        allow_special=allow_special,
        rules=rules_without(without),
    )
    is_elected, merge = borders == "elected", routers == "inferred"
    evidence = gather(
        observations,
        given,
        workers=workers,
        targets_are_routers=targets_are_routers,
        is_elected=is_elected,
    )
    nodes = Nodes.given(evidence.addrs, aliases)
    if is_elected:
        owned = elect(evidence, given, nodes, merge=merge)
    else:
        owned = own_by_prefix(evidence, given, nodes)
    has_silent = is_elected and merge and not bridge_gaps and SILENT_ROUTERS in given.rules
    links = join_nodes(
        evidence,
        given,
        owned,
        is_elected=is_elected,
        bridge_gaps=bridge_gaps,
        has_silent=has_silent,
    )
    drawn = measure(evidence, given, owned, links, keep_traces=keep_traces)
    return _describe(evidence, given, owned, drawn)


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


def _describe(evidence: Evidence, given: Given, owned: Owned, drawn: Drawn) -> Topology:
    """What was inferred as a topology, with how sure it is, and counts."""
    nodes, links, crossed = owned.nodes, evidence.links, drawn.crossed
    of_addrs, of_ingresses = rate(
        crossed.ingresses,
        links,
        node_of=nodes.node_of,
        node_asn=owned.asn,
        election=owned.election,
        in_set=nodes.alias >= 0,
        special=evidence.mapped.special,
        origin=evidence.mapped.origin,
        aims=evidence.aims,
        conditions=Conditions(
            relationships=given.registries.relationships is not None,
            classic=evidence.counts["classic_traces"] / max(1, evidence.counts["traces"]),
            n_vantages=len(evidence.observed.vantages),
        ),
    )
    swallowed = None
    if given.aliases is not None:
        swallowed = find_swallowed(evidence.addrs, links, nodes.alias, given.aliases)
    share = given.share_mapped(evidence.observed)
    n_interfaces = len(evidence.addrs)
    # Places of a private address that are on one node are one row.
    row = np.flatnonzero(_is_new(evidence.addrs, nodes.node_of))
    _, naming = naming_addrs(evidence.addrs, nodes.node_of, links.count_of_each(n_interfaces))
    no_addr = np.zeros((len(drawn.silent_asn), 2), np.uint64)
    asn = np.concatenate([owned.asn, drawn.silent_asn])
    is_silent = np.arange(len(asn)) >= len(nodes)
    ends = asn[drawn.links.near], asn[drawn.links.far]
    stated = {
        SIBLINGS: given.all_registries.siblings(*ends),
        AS_RELATION: given.all_registries.relation(*ends),
    }
    return Topology(
        asn,
        drawn.links.near,
        drawn.links.far,
        node_addr=np.concatenate([evidence.addrs[naming], no_addr]),
        node_columns={SILENT: is_silent} if drawn.has_silent else {},
        addrs=evidence.addrs[row],
        addr_node=nodes.node_of[row],
        addr_confidence=None if of_addrs is None else of_addrs[row],
        weight=drawn.weight,
        weight_unit="ms",
        link_columns=drawn.links.columns()
        | {name: column for name, column in stated.items() if column is not None},
        ingresses=replace(crossed.ingresses, confidence=of_ingresses),
        exits=crossed.exits,
        kind="router" if len(nodes) < n_interfaces else "interface",
        counts={
            **evidence.counts,
            **share.counts,
            **_count_addresses(evidence),
            **owned.counts,
            **_count_drawn(evidence, owned, drawn, 0 if swallowed is None else swallowed.n_links),
        },
        entered_unseen=crossed.entered_unseen,
        mapped=share,
        swallowed=swallowed,
        observations=drawn.observations,
        traces=_kept_traces(evidence, nodes.node_of, drawn),
        reasons=owned.reasons,
    )


def _kept_traces(evidence: Evidence, node_of: np.ndarray, drawn: Drawn) -> KeptTraces:
    """What is kept, by distinct addresses of nodes."""
    addrs = evidence.addrs
    order = np.lexsort((node_of, addrs[:, 1], addrs[:, 0]))
    starts = run_starts(addrs[order, 0], addrs[order, 1], node_of[order])
    number = np.empty(len(addrs), np.int32)
    number[order] = row_of_value(np.append(starts, len(order)))
    number = np.append(number, np.int32(TARGET_ITSELF))

    def renumbered(part: Callable[[], TraceRows]) -> Callable[[], TraceRows]:
        def read() -> TraceRows:
            rows = part()
            return replace(rows, interface=number[rows.interface])

        return read

    first = order[starts]
    return KeptTraces(
        evidence.counts["traces"],
        addrs[first],
        node_of[first].astype(np.int32),
        [renumbered(part) for part in drawn.kept.parts],
        drawn.kept.rank,
    )


def _is_new(addrs: np.ndarray, node_of: np.ndarray) -> np.ndarray:
    """(n,) bool: the first interface of each address of a node."""
    order = np.lexsort((node_of, addrs[:, 1], addrs[:, 0]))
    result = np.zeros(len(addrs), bool)
    result[order[run_starts(addrs[order, 0], addrs[order, 1], node_of[order])]] = True
    return result


def _count_addresses(evidence: Evidence) -> dict[str, int]:
    """Of all observed addresses, and of the kinds among those of routers (the last three)."""
    observed, is_router = evidence.observed, evidence.is_router
    special, origin, lan = evidence.mapped
    unrouted = (origin == NO_ASN) & ~special & (lan < 0)
    return {
        "addresses": len(observed.addrs),
        "destinations_left_out": int(np.count_nonzero(~is_router)),
        "destinations_taken_for_routers": int(np.count_nonzero(is_router & ~observed.is_router)),
        "special_addresses": int(np.count_nonzero(special)),
        "unrouted_addresses": int(np.count_nonzero(unrouted)),
    }


def _count_drawn(
    evidence: Evidence, owned: Owned, drawn: Drawn, n_swallowed: int
) -> dict[str, int]:
    """Of nodes, links and ingresses."""
    links, crossed = drawn.links, drawn.crossed
    return {
        "merged_addresses": len(evidence.addrs) - len(owned.nodes),
        "n_unmapped": int(np.count_nonzero(owned.asn == NO_ASN)),
        "links": len(links.near),
        "silent_routers": len(drawn.silent_asn),
        "bridged_links": int(np.count_nonzero(links.bridged)),
        "mpls_links": int(np.count_nonzero(links.labelled)),
        **(
            {}
            if links.may_hide is None
            else {"links_that_may_hide": int(np.count_nonzero(links.may_hide))}
        ),
        "links_within_a_router": links.n_within_node,
        "links_within_alias_sets": n_swallowed,
        "rtt_floored": drawn.n_floored,
        "links_without_rtt": int(np.count_nonzero(np.isnan(drawn.weight))),
        "entered_unseen": sum(crossed.entered_unseen.values()),
        "ingresses": int(np.count_nonzero(~crossed.ingresses.candidate)),
        "ingress_candidates": int(np.count_nonzero(crossed.ingresses.candidate)),
    }
