"""What is said about addresses that no table maps, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.model.measured.mapped import MAPPED_ENOUGH, MappedShare, mapped_text
from pipeline.model.measured.reading import ReadReport
from pipeline.model.words import number

MAX_RANGES = 3  # special ranges to admit that a warning names
_COVERED = " and a prefix table that covers it (--ip2as)"


def why_unmapped(share: MappedShare, borders: str, faulty: Sequence[ReadReport]) -> str:
    """As ``unmapped_text``, where nothing is mapped; first what is wrong with prefix tables."""
    return "; ".join([*(each.error for each in faulty), unmapped_text(share, borders, faulty)])


def mapped_warnings(
    share: MappedShare, borders: str = "elected", faulty: Sequence[ReadReport] = ()
) -> list[str]:
    """A line if less than ``MAPPED_ENOUGH`` of the addresses are known: which not, the remedy.

    Known are those in a prefix table, and those on LANs that are not listed too wide.
    """
    n_known = share.n_in_as + share.n_on_lan - share.n_on_wide_lan
    if n_known >= MAPPED_ENOUGH * share.n_addrs:
        return []
    return [unmapped_text(share, borders, faulty)]


def unmapped_text(
    share: MappedShare, borders: str = "elected", faulty: Sequence[ReadReport] = ()
) -> str:
    """How many addresses are mapped, which prefixes are not, and the remedy.

    Parameters
    ----------
    share : MappedShare
    borders : str
        ``"elected"``: private addresses get an AS by what is around them.
    faulty : sequence of ReadReport
        Prefix tables that were not read, or not to their ends: the addresses may be there.
    """
    if not share.n_addrs:
        return "no address answered in any trace"
    n_admitted = share.n_in_no_table
    if share.n_in_as or not n_admitted:
        shown = mapped_text(share.n_addrs, share.n_mapped, n_admitted)
        shown += " (only admitted by --allow-special)" if n_admitted else ""
    else:
        answered = f"{number(share.n_addrs, 'address')} that answered"
        shown = f"no prefix table covers any of the {answered}"
        shown += f", {n_admitted:,} admitted by --allow-special but in no prefix table"
    if share.n_on_lan:
        shown += f", {share.n_on_lan:,} on LANs of exchange points (--ixp), which are in no AS"
    if share.largest:
        shown += "; largest prefixes without an AS: "
        shown += ", ".join(f"{name} ({n:,})" for name, n in share.largest)
    special = share.special
    if not (share.n_in_as or share.n_unrouted or n_admitted or share.n_on_lan or special):
        special = share.private  # nothing else is around them: a laboratory that uses them alone
    elif share.private:
        how = "placed by the routers around them" if borders == "elected" else "in no AS"
        shown += f"; private addresses, {how}: "
        shown += ", ".join(f"{name} ({n:,})" for name, n in share.private)
    if share.of_no_router:
        shown += "; addresses that no router has: "
        shown += ", ".join(f"{name} ({n:,})" for name, n in share.of_no_router)
    helps = [
        (n, f"--allow-special {name}{_COVERED if name in share.special_unrouted else ''}")
        for name, n in special[:MAX_RANGES]
    ]
    if n_unrouted := share.n_unrouted + n_admitted:
        which = "a newer"
        if share.n_unrouted_v6 == n_unrouted:
            which = "a newer IPv6" if share.has_v6_table else "an IPv6"
        what = f"{which} prefix table"
        if faulty:
            more = f" and {number(len(faulty) - 1, 'more table')}" if len(faulty) > 1 else ""
            what = f"a table that can be read whole in place of {faulty[0].path}{more}"
        helps.append((n_unrouted, f"{what} (--ip2as)"))
    n_at_lans = share.n_on_wide_lan + share.n_beside_lan if share.n_in_as else share.n_on_lan
    if n_at_lans:
        helps.append((n_at_lans, "LANs with their true prefix lengths (--ixp)"))
    helps.sort(key=lambda entry: -entry[0])
    if others := special[MAX_RANGES:]:
        n_others = sum(n for _, n in others)
        helps.append((n_others, f"--allow-special with {number(len(others), 'more range')}"))
    if not helps:
        return shown
    return f"{shown}; to fix this: " + ", ".join(f"{what} for {n:,}" for n, what in helps)
