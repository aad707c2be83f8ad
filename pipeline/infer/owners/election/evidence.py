"""What traces and files show of router addresses, for the election (``elect``)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pipeline.infer.owners.aims import Aims
from pipeline.infer.owners.unannounced import Possible
from pipeline.infer.traces.links import DirectedLinks
from pipeline.model.columns.keys import distinct_keys


@dataclass(frozen=True, eq=False)
class HostsBehind:
    """Answering destinations that are not routers, by the router at the TTL before.

    Attributes
    ----------
    router : (n_pairs,) int64
        Interface.
    asn : (n_pairs,) int64
        AS of the host by prefix; ``NO_ASN`` for none.
    """

    router: np.ndarray
    asn: np.ndarray


@dataclass(frozen=True, eq=False)
class Members:
    """Members of exchange points as they are registered, by router.

    Attributes
    ----------
    router : (n_pairs,) int64
        Interface on the LAN of an exchange point.
    asn : (n_pairs,) int64
    """

    router: np.ndarray
    asn: np.ndarray


@dataclass(frozen=True, eq=False)
class Named:
    """ASes that host names say, by router.

    Attributes
    ----------
    router : (n,) int64
        Interface, ascending; each at most once.
    asn : (n,) int64
    nats : (n,) float64
        Log-odds that it is right.
    name : (n,) int64
        Equal for equal names.
    """

    router: np.ndarray
    asn: np.ndarray
    nats: np.ndarray
    name: np.ndarray

    @classmethod
    def none(cls) -> Named:
        """No names."""
        whole = np.empty(0, np.int64)
        return cls(whole, whole, np.empty(0), whole)


@dataclass(frozen=True, eq=False)
class AddressEvidence:
    """What is known of addresses, whichever of them are one router.

    Attributes
    ----------
    links : DirectedLinks
    mates : (n_interfaces,) int64
    on_lan : (n_interfaces,) bool
        As from ``find_exchange_lans``.
    origin : (n_interfaces,) int64
        AS that each address is numbered from, as from ``number_unannounced``.
    hosts : HostsBehind
    aims : Aims
    members : Members
    possible : Possible
        What placeholders in ``origin`` may be named after.
    answering : (n,) int64
        ASes by prefix of all that answered, destinations too; ascending.
    named : Named
        Of ASes that something else names, too.
    """

    links: DirectedLinks
    mates: np.ndarray
    on_lan: np.ndarray
    origin: np.ndarray
    hosts: HostsBehind
    aims: Aims
    members: Members
    possible: Possible
    answering: np.ndarray
    named: Named = field(default_factory=Named.none)

    def ases(self) -> np.ndarray:
        """(n_ases,) int64: all ASes and placeholders that are named, ascending."""
        named = [self.origin, self.hosts.asn, self.members.asn, self.aims.asn, self.aims.only]
        found = distinct_keys(np.concatenate(named))
        return found[found >= 0]


def rows_of(ases: np.ndarray, asn: np.ndarray) -> np.ndarray:
    """Position of each AS in ascending ones; -1 where it is not among them."""
    at = np.minimum(np.searchsorted(ases, asn), len(ases) - 1)
    return np.where(ases[at] == asn, at, -1)
