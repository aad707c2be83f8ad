"""What is known beside the traces: tables, and the rules that may be used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pipeline.infer.owners.mapped import mapped_share, origins
from pipeline.infer.owners.special import is_special
from pipeline.infer.owners.terms import organisations
from pipeline.infer.rule import Rules
from pipeline.infer.traces.merge import ObservedAddresses
from pipeline.model.addresses import unique_addrs
from pipeline.model.measured.mapped import MappedShare
from pipeline.model.tables.aliases import AliasTable
from pipeline.model.tables.exchanges import ExchangePoints
from pipeline.model.tables.prefixes import PrefixTable
from pipeline.model.tables.registries import Registries


class Mapped(NamedTuple):
    """What prefixes say of addresses.

    Attributes
    ----------
    special : (n,) bool
        Private and other special-purpose addresses.
    origin : (n,) int64
        AS by prefix; ``NO_ASN`` for none.
    lan : (n,) int64
        Exchange point on whose known LAN it is, -1 for none.
    """

    special: np.ndarray
    origin: np.ndarray
    lan: np.ndarray

    def take(self, rows: np.ndarray) -> Mapped:
        """The same of addresses at some positions."""
        return Mapped(*(column[rows] for column in self))

    def of_routers(self, is_router: np.ndarray) -> Mapped:
        """The same of the addresses of routers; a special one is on no LAN."""
        special, origin, lan = (column[is_router] for column in self)
        return Mapped(special, origin, np.where(special, -1, lan))


@dataclass(frozen=True, eq=False)
class Given:
    """Tables and rules.

    Attributes
    ----------
    prefixes : PrefixTable or None
    asn : int or None
        The AS of every public address, without ``prefixes``.
    aliases : AliasTable or None
    all_registries : Registries
    allow_special : tuple of str
        Special-purpose prefixes whose addresses count as public.
    rules : Rules
    """

    prefixes: PrefixTable | None
    asn: int | None
    aliases: AliasTable | None
    all_registries: Registries
    allow_special: tuple[str, ...]
    rules: Rules

    @cached_property
    def registries(self) -> Registries:
        """What the rules may use of them."""
        if organisations.TERM in self.rules:
            return self.all_registries
        return replace(self.all_registries, organisations=None)

    @cached_property
    def exchanges(self) -> ExchangePoints:
        """Exchange points; none where none are known."""
        return self.registries.exchanges or ExchangePoints.none()

    def map(self, addrs: np.ndarray) -> Mapped:
        """What prefixes say of addresses, (n, 2) uint64."""
        special, lan = is_special(addrs, self.allow_special), self.exchanges.find(addrs)
        return Mapped(special, origins(addrs, self.prefixes, self.asn, special, lan >= 0), lan)

    def origin_of(self, addrs: np.ndarray) -> np.ndarray:
        """(n,) int64: AS of addresses, (n, 2) uint64, by prefix; ``NO_ASN`` for none."""
        return self.map(addrs).origin

    def share_mapped(self, observed: ObservedAddresses) -> MappedShare:
        """How many of all addresses that answered are mapped."""
        addrs = unique_addrs([observed.addrs, observed.never_hops])
        special, origin, lan = self.map(addrs)
        return mapped_share(addrs, origin, special, lan >= 0, self.prefixes, self.exchanges)
