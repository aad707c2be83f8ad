"""What evidence shows with an alias file, or without one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.infer.conclude import Turns
from pipeline.infer.evidence import Evidence
from pipeline.infer.given import Given
from pipeline.infer.owners.election.evidence import AddressEvidence, HostsBehind, Members, Named
from pipeline.infer.owners.unannounced import (
    UNANNOUNCED,
    find_holders,
    find_possible,
    number_unannounced,
)
from pipeline.infer.routers.rules.exchange_lans import EXCHANGE_LANS, find_exchange_lans
from pipeline.infer.routers.rules.gateways import find_gateways
from pipeline.model.columns.keys import distinct_keys
from pipeline.model.topology import NO_ASN


def prepare_turns(
    evidence: Evidence, given: Given, all_mates: np.ndarray, alias: np.ndarray
) -> Turns:
    """What is known before routers and owners are inferred, with these alias sets.

    Parameters
    ----------
    evidence : Evidence
    given : Given
        Its alias file is not looked at.
    all_mates : (n_addrs,) int64
        As from ``mates_of``.
    alias : (n_interfaces,) int64
        Smallest interface of the alias set that each interface is in; -1 for none.
    """
    addrs, links, is_router = evidence.addrs, evidence.links, evidence.is_router
    special, origin, known_lan = evidence.mapped
    delegations, rules = given.registries.delegations, given.rules
    mates = _restrict_mates(all_mates, is_router)
    on_lan = known_lan >= 0
    if EXCHANGE_LANS in rules:
        on_lan = on_lan | find_exchange_lans(addrs, links, mates, origin, special | on_lan)
    mates = np.where(on_lan, -1, mates)
    numbered = find_holders(addrs, origin, special | on_lan, delegations)
    if UNANNOUNCED in rules:
        numbered = number_unannounced(addrs, numbered, special | on_lan)
    gateways = find_gateways(
        evidence.paths,
        evidence.dead_ends,
        evidence.all_links,
        is_router,
        origin=numbered,
        left_out=((numbered == NO_ASN) & ~on_lan) | (alias >= 0),
        on_lan=on_lan,
        rules=rules,
    )
    # Of what looks like a link, both ends are on one router: of two links, then.
    mates = np.where((mates >= 0) & (gateways[mates] == gateways), -1, mates)
    shown = AddressEvidence(
        links=links,
        mates=mates,
        on_lan=on_lan,
        origin=numbered,
        hosts=_find_hosts(evidence),
        aims=evidence.aims,
        members=Members(*given.exchanges.find_members(addrs)),
        possible=find_possible(addrs, numbered, delegations),
        answering=distinct_keys(evidence.all_mapped.origin),
    )
    if given.registries.named is not None:
        named = Named(*given.registries.named.find(addrs, shown.ases()))
        shown = replace(shown, named=named)
    return Turns(
        evidence=evidence,
        shown=shown,
        alias=alias,
        gateways=gateways,
        rules=rules,
    )


def _find_hosts(evidence: Evidence) -> HostsBehind:
    """Answering destinations that are no routers, right behind one."""
    is_router, links = evidence.is_router, evidence.all_links
    behind = is_router[links.near] & ~is_router[links.far] & (links.n_destination > 0)
    new_id = np.cumsum(is_router) - 1
    return HostsBehind(new_id[links.near[behind]], evidence.all_mapped.origin[links.far[behind]])


def _restrict_mates(mates: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Mates among kept addresses, in their numbering."""
    new_id = np.where(kept, np.cumsum(kept) - 1, -1)
    return np.where(mates >= 0, new_id[np.maximum(mates, 0)], -1)[kept]
