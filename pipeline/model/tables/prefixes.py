"""Announced address space: the AS of each address by longest-prefix match.

IPv4 has a million prefixes, so its intervals take 8 bytes each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.model.tables.intervals import IntervalTable
from pipeline.model.topology import NO_ASN

NO_ORIGIN = 0  # of an interval of IPv4: AS 0 is never an origin


@dataclass(frozen=True, eq=False)
class PrefixTable:
    """Announced address space as disjoint intervals.

    Attributes
    ----------
    v4_first : (n_intervals,) uint32, sorted
        First IPv4 address of each interval; it ends where the next one begins.
    v4_asn : (n_intervals,) uint32
        0 between prefixes.
    v6 : IntervalTable
    n_prefixes : int
    """

    v4_first: np.ndarray
    v4_asn: np.ndarray
    v6: IntervalTable
    n_prefixes: int

    def lookup(self, addrs: np.ndarray) -> np.ndarray:
        """AS of each address by longest-prefix match.

        Parameters
        ----------
        addrs : (n, 2) uint64
            Sorted columns are fastest: the search stays in cache.

        Returns
        -------
        (n,) int64
            ``NO_ASN`` where no prefix holds the address.
        """
        addrs = np.ascontiguousarray(addrs, np.uint64)
        out = self.v6.lookup(addrs)
        _lookup_v4(self.v4_first, self.v4_asn, addrs, out)
        return out


@njit(cache=True, nogil=True)
def _lookup_v4(first, asn, addrs, out):
    for i in range(len(addrs)):
        if addrs[i, 0] != 0 or addrs[i, 1] >> np.uint64(32) != 0xFFFF:
            continue
        addr = np.int64(addrs[i, 1] & np.uint64(0xFFFFFFFF))
        left, right = 0, len(first)  # intervals that begin at or before the address
        while left < right:
            middle = (left + right) >> 1
            if np.int64(first[middle]) <= addr:
                left = middle + 1
            else:
                right = middle
        found = np.int64(asn[left - 1]) if left > 0 else NO_ORIGIN
        out[i] = found if found != NO_ORIGIN else NO_ASN
