"""Exchange points: their LANs, names and members."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.model.addresses import positions_of
from pipeline.model.tables.intervals import IntervalTable, Network, space_of_prefixes, table_of
from pipeline.model.topology import NO_ASN

# The largest exchange points have a LAN of 4,096 addresses, those of IPv6 mostly a /64.
_WIDEST = {4: 20, 6: 48}


@dataclass(frozen=True, eq=False)
class ExchangePoints:
    """Known exchange points.

    Attributes
    ----------
    lans : IntervalTable
        Row in ``names`` of each LAN, in place of an AS.
    names : tuple of str
        Third-party text; the prefix (of members alone: the address) where a LAN has no name.
    member_addr : (n_members, 2) uint64, sorted
        Addresses on LANs; twice where two members are registered with it.
    member_asn : (n_members,) int64
    prefixes : tuple of Network
        The LANs as they are listed; none of members alone.
    """

    lans: IntervalTable
    names: tuple[str, ...]
    member_addr: np.ndarray
    member_asn: np.ndarray
    prefixes: tuple[Network, ...] = ()

    @classmethod
    def none(cls) -> ExchangePoints:
        """No exchange point is known."""
        no_addr = np.empty((0, 2), np.uint64)
        no_asn = np.empty(0, np.int64)
        return cls(table_of(no_addr, no_addr, no_asn), (), no_addr, no_asn)

    def find(self, addrs: np.ndarray) -> np.ndarray:
        """(n,) int64: row in ``names`` of the exchange point that each address is on, or -1."""
        return self.lans.lookup(addrs)

    def outside(self, addrs: np.ndarray, asn: np.ndarray) -> np.ndarray:
        """(n,) int64: the AS of each address by prefix, ``NO_ASN`` on LANs."""
        return np.where(self.find(addrs) >= 0, NO_ASN, asn) if self.names else asn

    def find_wide(self, addrs: np.ndarray) -> np.ndarray:
        """(n,) bool: addresses on LANs that are listed wider than any real one."""
        wide = [one for one in self.prefixes if one.prefixlen < _WIDEST[one.version]]
        return space_of_prefixes(wide).lookup(addrs) != NO_ASN

    def find_beside(self, addrs: np.ndarray) -> np.ndarray:
        """(n,) bool: addresses on no LAN, but in the other half of the prefix around one."""
        around = [one.supernet() for one in self.prefixes]
        return (space_of_prefixes(around).lookup(addrs) != NO_ASN) & (self.find(addrs) < 0)

    def find_members(self, addrs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Members registered with some addresses.

        Parameters
        ----------
        addrs : (n, 2) uint64, sorted, distinct

        Returns
        -------
        position : (n_found,) int64
            In ``addrs``, ascending.
        asn : (n_found,) int64
        """
        at = positions_of(addrs, self.member_addr)
        return at[at >= 0], self.member_asn[at >= 0]
