"""How many of the addresses that answered have an AS, and which do not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.model.words import number

MAPPED_ENOUGH = 0.9  # share of addresses with a known AS; if it is lower, pages and runs warn


@dataclass(frozen=True)
class MappedShare:
    """Distinct addresses that answered, by what is known of their AS before any election.

    Attributes
    ----------
    n_addrs : int
        Distinct addresses that answered.
    n_mapped : int
        Of these, covered by a prefix table (or by the one AS that all belong to), by a special
        range that was admitted or by a known LAN of an exchange point.
    n_in_as : int
        Of these, covered by a prefix table (or the one AS): less than ``n_mapped`` where an
        admitted range is in no table, or an address is on a LAN, which is in no AS.
    n_on_lan : int
        Of ``n_mapped``, on a known LAN.
    largest : tuple of (str, int)
        The /24 and /48 that hold most addresses of no AS, and how many each; most first.
    special : tuple of (str, int)
        Ranges of the special-purpose registries that were not admitted, and how many addresses
        lie in each; most first. Without those of no router.
    of_no_router : tuple of (str, int)
        Likewise, those that no interface of a router is in, such as loopback and multicast.
    special_unrouted : frozenset of str
        Those of them with an address that no prefix table covers: admitted, it still has no AS.
    n_unrouted, n_unrouted_v6 : int
        Addresses of no AS outside of special ranges; those of IPv6 among them.
    has_v6_table : bool
        Whether a prefix table has prefixes of IPv6.
    """

    n_addrs: int
    n_mapped: int
    n_in_as: int
    n_on_lan: int = 0
    largest: tuple[tuple[str, int], ...] = ()
    special: tuple[tuple[str, int], ...] = ()
    of_no_router: tuple[tuple[str, int], ...] = ()
    special_unrouted: frozenset[str] = frozenset()
    n_unrouted: int = 0
    n_unrouted_v6: int = 0
    has_v6_table: bool = False


def mapped_text(n_addrs: int, n_mapped: int) -> str:
    """The mapped share in words; a share below 100 % is never rounded up to it.

    Addresses in a range of ``--allow-special`` that no prefix table covers count as well: they are
    admitted, but mapped to no AS.
    """
    share = mapped_percent(n_addrs, n_mapped)
    return f"{n_mapped:,} of {number(n_addrs, 'address')} mapped or admitted ({share:.1f} %)"


def mapped_percent(n_addrs: int, n_mapped: int) -> float:
    """The mapped share in per cent, rounded down to a tenth; 0 of no address."""
    return math.floor(1000 * n_mapped / n_addrs) / 10 if n_addrs else 0.0


def mapped_of(counts: Mapping[str, Any]) -> str:
    """The same from the counts of a manifest; empty without traces, or if the manifest is older."""
    n_addrs = counts.get("n_addrs")
    return mapped_text(n_addrs, counts.get("n_addrs_mapped", 0)) if n_addrs else ""


def is_mapped_low(counts: Mapping[str, Any]) -> bool:
    """Whether pages and runs warn of this share; False where ``mapped_of`` says nothing."""
    return counts.get("n_addrs_mapped", 0) < MAPPED_ENOUGH * (counts.get("n_addrs") or 0)
