"""Address ranges as disjoint intervals, and the value of the narrowest range around an address.

Ranges are prefixes: two of them are nested or disjoint. They become disjoint intervals once; a
column is then looked up by binary search, IPv4 and IPv6 in one table.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.model.addresses import V4_PREFIX
from pipeline.model.topology import NO_ASN

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, eq=False)
class IntervalTable:
    """Announced address space as disjoint intervals.

    Attributes
    ----------
    first : (n_intervals, 2) uint64, sorted
        First address of each interval; it ends where the next one begins.
    asn : (n_intervals,) int64
        ``NO_ASN`` between prefixes.
    """

    first: np.ndarray
    asn: np.ndarray

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
        out = np.empty(len(addrs), np.int64)
        _lookup(self.first, self.asn, np.ascontiguousarray(addrs, np.uint64), out)
        return out


@njit(cache=True, nogil=True)
def _lookup(first, asn, addrs, out):
    for i in range(len(addrs)):
        high, low = addrs[i, 0], addrs[i, 1]
        left, right = 0, len(first)  # intervals that begin at or before the address
        while left < right:
            middle = (left + right) >> 1
            if first[middle, 0] < high or (first[middle, 0] == high and first[middle, 1] <= low):
                left = middle + 1
            else:
                right = middle
        out[i] = asn[left - 1] if left > 0 else NO_ASN


@njit(cache=True, nogil=True)
def _emit(first, asn, n, high, low, value):
    """Append an interval; one that begins where the last began replaces it."""
    if n > 0 and first[n - 1, 0] == high and first[n - 1, 1] == low:
        n -= 1
    if n > 0 and asn[n - 1] == value:
        return n
    first[n, 0], first[n, 1], asn[n] = high, low, value
    return n + 1


@njit(cache=True, nogil=True)
def _flatten(start, end, origin, first, asn):
    """Nested prefixes, sorted by start, wider first, to disjoint intervals."""
    stack = np.empty(130, np.int64)  # prefixes around this place; each is longer than the last
    depth, n = 0, 0
    one = np.uint64(1)
    zero = np.uint64(0)
    for i in range(len(start) + 1):
        while depth > 0:
            top = stack[depth - 1]
            if i < len(start) and (
                end[top, 0] > start[i, 0]
                or (end[top, 0] == start[i, 0] and end[top, 1] >= start[i, 1])
            ):
                break
            depth -= 1
            high, low = end[top, 0], end[top, 1] + one
            if low == zero:
                high = high + one
                if high == zero:  # the end of the address space
                    continue
            n = _emit(first, asn, n, high, low, origin[stack[depth - 1]] if depth > 0 else NO_ASN)
        if i < len(start):
            n = _emit(first, asn, n, start[i, 0], start[i, 1], origin[i])
            stack[depth] = i
            depth += 1
    return n


def table_of(start: np.ndarray, end: np.ndarray, origin: np.ndarray) -> IntervalTable:
    """Build a table of distinct prefixes.

    Parameters
    ----------
    start, end : (n, 2) uint64
        First and last address of each; sorted by start, wider ones first.
    origin : (n,) int64
    """
    first = np.empty((2 * len(start) + 1, 2), np.uint64)
    asn = np.empty(2 * len(start) + 1, np.int64)
    n = _flatten(start, end, origin, first, asn)
    return IntervalTable(first[:n].copy(), asn[:n].copy())


def space_of_prefixes(networks: Iterable[Network]) -> IntervalTable:
    """The address space of some prefixes, 0 inside; they may be equal or nested."""
    words = np.array(sorted(map(prefix_range, set(networks))), np.uint64).reshape(-1, 2, 2)
    start, end = words[:, 0], words[:, 1]
    order = np.lexsort((~end[:, 1], ~end[:, 0], start[:, 1], start[:, 0]))
    return table_of(start[order], end[order], np.zeros(len(words), np.int64))


def prefix_range(network: Network) -> tuple[tuple[int, int], tuple[int, int]]:
    """First and last address of a prefix as (high, low) words; IPv4 mapped."""
    mapped = int(V4_PREFIX) if network.version == 4 else 0
    first = int(network.network_address) | mapped
    last = int(network.broadcast_address) | mapped
    word = 0xFFFF_FFFF_FFFF_FFFF
    return (first >> 64, first & word), (last >> 64, last & word)
