"""Nodes and whose they are: by election, or by prefixes alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.infer.evidence import Evidence, mates_of
from pipeline.infer.gathering import prepare_turns
from pipeline.infer.given import Given
from pipeline.infer.nodes import Nodes
from pipeline.infer.owners.elect import Election
from pipeline.infer.owners.private import PRIVATE_ROUTERS, Around, follow_private_links
from pipeline.infer.owners.unannounced import FIRST_STAND_IN
from pipeline.infer.reasons import reasons_of
from pipeline.infer.routers.rules.exchange_lans import Lans, name_lans
from pipeline.model.measured.reasons import Reasons
from pipeline.model.tables.registries import Registries
from pipeline.model.topology import NO_ASN


class Owned(NamedTuple):
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

    @property
    def on_lan(self) -> np.ndarray | None:
        """(n_interfaces,) bool: addresses on LANs of exchange points. None: not known."""
        return None if self.lans is None else self.lans.row >= 0


def own_by_prefix(evidence: Evidence, given: Given, nodes: Nodes) -> Owned:
    """The AS of a node is that of most of its addresses by prefix."""
    origin, names = evidence.mapped.origin, given.exchanges.names
    lans = Lans(evidence.mapped.lan, names) if names else None
    return Owned(nodes, nodes.most_common(origin), Election(origin, None), lans, {})


def elect(evidence: Evidence, given: Given, nodes: Nodes, *, merge: bool) -> Owned:
    """Owners by election.

    Parameters
    ----------
    evidence : Evidence
    given : Given
    nodes : Nodes
        By alias sets alone.
    merge : bool
        Routers are inferred.
    """
    links, special, alias = evidence.links, evidence.mapped.special, nodes.alias
    before = None
    if given.aliases is not None:
        unaided = mates_of(evidence.observed.addrs, None, evidence.all_mapped.lan >= 0)
        turns = prepare_turns(evidence, given, unaided, np.full(len(alias), -1, np.int64))
        before = turns.conclude(Registries(), merge).election.standing
    turns = prepare_turns(evidence, given, evidence.all_mates, alias)
    shown = turns.shown
    lans = name_lans(evidence.addrs, shown.on_lan, evidence.mapped.lan, given.exchanges.names)
    groups, router, election, joined = turns.conclude(given.registries, merge, before)
    counts = {
        "exchange_point_addresses": int(np.count_nonzero(shown.on_lan)),
        "suspect_addresses": int(np.count_nonzero(groups.suspect)),
        "alias_conflicts": groups.n_conflicts,
        "elected_otherwise": int(np.count_nonzero(election.owner != shown.origin)),
    }
    if given.registries.named is not None:
        counts["addresses_named"] = len(shown.named.router)
    if merge:
        merged = Nodes.of(router, alias)
        counts["inferred_aliases"] = len(nodes) - len(merged)
        nodes = merged
    asn = nodes.most_common(election.owner, special)
    private = np.bincount(nodes.node_of, ~special, minlength=len(nodes)) == 0
    asn[private] = NO_ASN
    n_known = int(np.count_nonzero((asn != NO_ASN) & (asn < FIRST_STAND_IN)))
    elected = asn
    if PRIVATE_ROUTERS in given.rules:
        asn = follow_private_links(Around.of(links, shown.aims, nodes.node_of), asn, private)
    asn = np.where(asn < FIRST_STAND_IN, asn, NO_ASN)
    counts["unmapped_adopted"] = int(np.count_nonzero(asn != NO_ASN)) - n_known
    taken_over = {PRIVATE_ROUTERS.name: (asn != elected) & (asn != NO_ASN)}
    reasons = reasons_of(evidence.addrs, nodes, asn, election, taken_over, joined, links)
    return Owned(nodes, asn, election, lans, counts, reasons)
