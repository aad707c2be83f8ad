"""What traces and files show of router addresses, with an alias file or without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.infer.conclude import Evidence
from pipeline.infer.owners.aims import Aims
from pipeline.infer.owners.election.evidence import AddressEvidence, HostsBehind, Members
from pipeline.infer.owners.unannounced import (
    UNANNOUNCED,
    find_holders,
    find_possible,
    number_unannounced,
)
from pipeline.infer.routers.rules.dead_ends import DeadEnds
from pipeline.infer.routers.rules.exchange_lans import EXCHANGE_LANS, find_exchange_lans
from pipeline.infer.routers.rules.gateways import find_gateways
from pipeline.infer.routers.subnet_mates import find_mates
from pipeline.infer.rule import Rules
from pipeline.infer.traces.distinct import DistinctPaths
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.tables.aliases import AliasTable
from pipeline.model.tables.exchanges import ExchangePoints
from pipeline.model.tables.registries import Registries
from pipeline.model.topology import NO_ASN


def mates_of(addrs: np.ndarray, aliases: AliasTable | None, on_lan: np.ndarray) -> np.ndarray:
    """(n,) int64: the other end of each address's link, -1 for none and on known LANs.

    Parameters
    ----------
    addrs : (n, 2) uint64, sorted, distinct
    aliases : AliasTable or None
    on_lan : (n,) bool
    """
    mates = find_mates(addrs, None if aliases is None else aliases.routers_of(addrs))
    return np.where(on_lan, -1, mates)


@dataclass(frozen=True, eq=False)
class Gathering:
    """What does not depend on an alias file. All addresses, and those of routers among them.

    Attributes
    ----------
    paths : DistinctPaths
        Of router addresses.
    all_links, links : DirectedLinks
        Of all addresses, and of those of routers in their numbering.
    aims : Aims
    dead_ends : DeadEnds
    is_router : (n_addrs,) bool
    addrs : (n_interfaces, 2) uint64
        Of routers.
    all_origin : (n_addrs,) int64
        AS of each by prefix; ``NO_ASN`` for none.
    special : (n_interfaces,) bool
    on_known_lan : (n_interfaces,) bool
    registries : Registries
    exchanges : ExchangePoints
    rules : Rules
    """

    paths: DistinctPaths
    all_links: DirectedLinks
    links: DirectedLinks
    aims: Aims
    dead_ends: DeadEnds
    is_router: np.ndarray
    addrs: np.ndarray
    all_origin: np.ndarray
    special: np.ndarray
    on_known_lan: np.ndarray
    registries: Registries
    exchanges: ExchangePoints
    rules: Rules

    def gather(self, all_mates: np.ndarray, alias: np.ndarray) -> Evidence:
        """The evidence with these alias sets.

        Parameters
        ----------
        all_mates : (n_addrs,) int64
            As from ``mates_of``.
        alias : (n_interfaces,) int64
            Smallest interface of the alias set that each interface is in; -1 for none.
        """
        links, is_router, special = self.links, self.is_router, self.special
        rules = self.rules
        origin = self.all_origin[is_router]
        behind = is_router[self.all_links.near] & ~is_router[self.all_links.far]
        behind &= self.all_links.n_destination > 0
        hosts = HostsBehind(
            (np.cumsum(is_router) - 1)[self.all_links.near[behind]],
            self.all_origin[self.all_links.far[behind]],
        )
        mates = _restrict_mates(all_mates, is_router)
        on_lan = self.on_known_lan
        if EXCHANGE_LANS in rules:
            on_lan = on_lan | find_exchange_lans(
                self.addrs, links, mates, origin, special | self.on_known_lan
            )
        mates = np.where(on_lan, -1, mates)
        held = find_holders(self.addrs, origin, special | on_lan, self.registries.delegations)
        numbered = held
        if UNANNOUNCED in rules:
            numbered = number_unannounced(self.addrs, held, special | on_lan)
        gateways = find_gateways(
            self.paths,
            self.dead_ends,
            self.all_links,
            is_router,
            numbered,
            ((numbered == NO_ASN) & ~on_lan) | (alias >= 0),
            on_lan,
            rules,
        )
        # Of what looks like a link, both ends are on one router: of two links, then.
        mates = np.where((mates >= 0) & (gateways[mates] == gateways), -1, mates)
        shown = AddressEvidence(
            links,
            mates,
            on_lan,
            numbered,
            hosts,
            self.aims,
            Members(*self.exchanges.find_members(self.addrs)),
            find_possible(self.addrs, numbered, self.registries.delegations),
        )
        return Evidence(self.paths, shown, special, alias, gateways, rules)


def _restrict_mates(mates: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Mates among kept addresses, in their numbering."""
    new_id = np.where(kept, np.cumsum(kept) - 1, -1)
    return np.where(mates >= 0, new_id[np.maximum(mates, 0)], -1)[kept]
