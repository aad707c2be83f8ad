"""How many of the addresses that answered have an AS, and which do not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.model.words import number

# Share of addresses in a table or on a LAN; if it is lower, pages and runs warn.
MAPPED_ENOUGH = 0.9


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
    n_on_wide_lan : int
        Of these, on one that is listed with more addresses than any LAN has.
    n_beside_lan : int
        Addresses of no AS in the other half of the prefix around a known LAN, which may be wider
        than it is listed.
    largest : tuple of (str, int)
        The /24 and /48 that hold most addresses of no AS, and how many each; most first. Without
        ``private``.
    special : tuple of (str, int)
        Ranges of the special-purpose registries that were not admitted, and how many addresses
        lie in each; most first. Without those that are private, and those of no router.
    private : tuple of (str, int)
        Likewise, those that many networks use, each for itself, such as 10.0.0.0/8: their addresses
        are placed by the routers around them, not by a table.
    of_no_router : tuple of (str, int)
        Likewise, those that no interface of a router is in, such as loopback and multicast.
    special_unrouted : frozenset of str
        Those of all three with an address that no prefix table covers: admitted, it still has no
        AS.
    n_unrouted, n_unrouted_v6 : int
        Addresses of no AS outside of special ranges, and not beside a LAN; those of IPv6 among
        them.
    has_v6_table : bool
        Whether a prefix table has prefixes of IPv6.
    """

    n_addrs: int
    n_mapped: int
    n_in_as: int
    n_on_lan: int = 0
    n_on_wide_lan: int = 0
    n_beside_lan: int = 0
    largest: tuple[tuple[str, int], ...] = ()
    special: tuple[tuple[str, int], ...] = ()
    private: tuple[tuple[str, int], ...] = ()
    of_no_router: tuple[tuple[str, int], ...] = ()
    special_unrouted: frozenset[str] = frozenset()
    n_unrouted: int = 0
    n_unrouted_v6: int = 0
    has_v6_table: bool = False

    @property
    def n_in_no_table(self) -> int:
        """Of ``n_mapped``, in an admitted range and in no prefix table: of no AS."""
        return self.n_mapped - self.n_in_as - self.n_on_lan

    @property
    def counts(self) -> dict[str, int]:
        """The counts of a manifest that ``mapped_of`` puts into words."""
        return {
            "n_addrs": self.n_addrs,
            "n_addrs_mapped": self.n_mapped,
            "n_addrs_in_no_table": self.n_in_no_table,
        }


def mapped_text(n_addrs: int, n_mapped: int, n_in_no_table: int = 0) -> str:
    """The mapped share in words; a share below 100 % is never rounded up to it.

    Addresses in a range of ``--allow-special`` that no prefix table covers count as well: they are
    admitted, but mapped to no AS. So their number stands beside it, where it is known.
    """
    share = mapped_percent(n_addrs, n_mapped)
    text = f"{n_mapped:,} of {number(n_addrs, 'address')} mapped or admitted ({share:.1f} %)"
    return text + (f", {in_no_table_text(n_in_no_table)}" if n_in_no_table else "")


def in_no_table_text(n_in_no_table: int) -> str:
    """How many of the mapped or admitted addresses have no AS all the same."""
    return f"{n_in_no_table:,} of them in no prefix table"


def mapped_percent(n_addrs: int, n_mapped: int) -> float:
    """The mapped share in per cent, rounded down to a tenth; 0 of no address."""
    return math.floor(1000 * n_mapped / n_addrs) / 10 if n_addrs else 0.0


def mapped_of(counts: Mapping[str, Any]) -> str:
    """The same from the counts of a manifest; empty without traces, or if the manifest is older."""
    n_addrs = counts.get("n_addrs")
    n_mapped = counts.get("n_addrs_mapped") or 0
    return mapped_text(n_addrs, n_mapped, in_no_table(counts)) if n_addrs else ""


def in_no_table(counts: Mapping[str, Any]) -> int:
    """Admitted addresses that no prefix table holds; 0 if the manifest is older."""
    return counts.get("n_addrs_in_no_table") or 0


def is_mapped_low(counts: Mapping[str, Any]) -> bool:
    """Whether pages and runs warn of this share; False where ``mapped_of`` says nothing.

    Addresses that are admitted, but in no prefix table, do not make it higher.
    """
    n_known = (counts.get("n_addrs_mapped") or 0) - in_no_table(counts)
    return n_known < MAPPED_ENOUGH * (counts.get("n_addrs") or 0)
