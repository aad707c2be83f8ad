"""The mapped share: of the addresses that answered, the share whose owner is known.

That is those with an AS by prefix, those of a special range that was admitted, and those on a known
LAN of an exchange point, which belongs to no AS.

Counted before any election, over all addresses that answered: the election assigns an AS to many
unmapped addresses, and so hides that a prefix table is missing or old. An address of an admitted
range that no table covers counts, though it has no AS; how many these are is said beside the share.
A private address that was not admitted is not mapped, but no prefix table is to blame for that.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.owners.special import OF_NO_ROUTER, special_range, special_ranges
from pipeline.model.addresses import PRIVATE, format_addr, is_v4
from pipeline.model.measured.mapped import MappedShare
from pipeline.model.tables.exchanges import ExchangePoints
from pipeline.model.tables.prefixes import PrefixTable
from pipeline.model.topology import NO_ASN

N_LARGEST = 5  # unmapped prefixes that are named


def origins(
    addrs: np.ndarray,
    prefixes: PrefixTable | None,
    asn: int | None,
    special: np.ndarray,
    on_lan: np.ndarray,
) -> np.ndarray:
    """AS of each address by prefix, or the one AS of all; (n,) int64, ``NO_ASN`` for none.

    Parameters
    ----------
    addrs : (n, 2) uint64
    prefixes : PrefixTable or None
    asn : int or None
        Used without ``prefixes`` only.
    special : (n,) bool
        Addresses that belong to no AS whatever the table says.
    on_lan : (n,) bool
        Addresses on known LANs of exchange points: likewise.
    """
    if prefixes is not None:
        origin = prefixes.lookup(addrs)
    else:
        origin = np.full(len(addrs), NO_ASN if asn is None else asn, np.int64)
    origin[special | on_lan] = NO_ASN
    return origin


def mapped_share(
    addrs: np.ndarray,
    origin: np.ndarray,
    special: np.ndarray,
    on_lan: np.ndarray,
    prefixes: PrefixTable | None,
    exchanges: ExchangePoints,
) -> MappedShare:
    """Count addresses by whether they are mapped, and find the prefixes that are not.

    Parameters
    ----------
    addrs : (n, 2) uint64, distinct
        All addresses that answered.
    origin : (n,) int64
        As from ``origins``.
    special : (n,) bool
        As from ``is_special``, without the ranges that were admitted.
    on_lan : (n,) bool
    prefixes : PrefixTable or None
        As for ``origins``.
    exchanges : ExchangePoints
        The LANs.
    """
    in_as = int(np.count_nonzero(origin != NO_ASN))
    none = np.flatnonzero((origin == NO_ASN) & (special | ~on_lan))
    lost, lost_special = addrs[none], special[none]
    position = special_range(lost)
    admitted = (position >= 0) & ~lost_special
    beside = (position < 0) & exchanges.find_beside(lost)
    unrouted = (position < 0) & ~beside
    ranges = _by_range(position[lost_special])
    is_private = np.isin(position, [special_ranges().index(text) for text in PRIVATE])
    return MappedShare(
        n_addrs=len(addrs),
        n_mapped=len(addrs) - len(lost) + int(np.count_nonzero(admitted)),
        n_in_as=in_as,
        n_on_lan=int(np.count_nonzero(on_lan & ~special)),
        n_on_wide_lan=int(np.count_nonzero(exchanges.find_wide(addrs[on_lan & ~special]))),
        n_beside_lan=int(np.count_nonzero(beside)),
        largest=_largest(lost[~(is_private & lost_special)]),
        special=tuple(one for one in ranges if one[0] not in OF_NO_ROUTER | PRIVATE),
        private=tuple(one for one in ranges if one[0] in PRIVATE),
        of_no_router=tuple(one for one in ranges if one[0] in OF_NO_ROUTER),
        special_unrouted=_unrouted_ranges(lost[lost_special], position[lost_special], prefixes),
        n_unrouted=int(np.count_nonzero(unrouted)),
        n_unrouted_v6=int(np.count_nonzero(unrouted & ~is_v4(lost))),
        has_v6_table=prefixes is not None and len(prefixes.v6.first) > 0,
    )


def _unrouted_ranges(
    addrs: np.ndarray, position: np.ndarray, prefixes: PrefixTable | None
) -> frozenset[str]:
    """Ranges of the registries with an address that no prefix table covers."""
    if prefixes is None:
        return frozenset()
    unrouted = np.unique(position[prefixes.lookup(addrs) == NO_ASN])
    return frozenset(special_ranges()[i] for i in unrouted.tolist())


def _largest(addrs: np.ndarray) -> tuple[tuple[str, int], ...]:
    """The /24 and /48 with most addresses; the lowest of equal ones first."""
    v4 = is_v4(addrs)
    # High words of IPv6 have no free bit: the two families are counted separately.
    low, n_low = np.unique(addrs[v4, 1] >> np.uint64(8), return_counts=True)
    high, n_high = np.unique(addrs[~v4, 0] >> np.uint64(16), return_counts=True)
    found = [(f"{format_addr(0, low[i] << 8)}/24", int(n_low[i])) for i in _most(n_low)]
    found += [(f"{format_addr(high[i] << 16, 0)}/48", int(n_high[i])) for i in _most(n_high)]
    return tuple(sorted(found, key=lambda entry: -entry[1])[:N_LARGEST])


def _most(counts: np.ndarray) -> list[int]:
    return np.argsort(-counts, kind="stable")[:N_LARGEST].tolist()


def _by_range(position: np.ndarray) -> tuple[tuple[str, int], ...]:
    """How many addresses each range of the registries holds, from positions of ranges."""
    n_each = np.bincount(position, minlength=len(special_ranges())).tolist()
    found = [(text, n) for text, n in zip(special_ranges(), n_each, strict=True) if n]
    return tuple(sorted(found, key=lambda entry: -entry[1]))
