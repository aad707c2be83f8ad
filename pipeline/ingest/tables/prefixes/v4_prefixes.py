"""IPv4 prefixes in few bytes each.

A full table of IPv4 has a million prefixes, many tables together a hundred million; so they are
kept as numbers of 8 bytes with origins of 4, in columns that grow in place, and become intervals of
8 bytes each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kernels.host import check_fits
from pipeline.model.tables.prefixes import NO_ORIGIN

# A key is start, length, source: it sorts by start, wider prefixes first, files given first first.
_LENGTH_BITS, _SOURCE_BITS = 6, 8
_BELOW_START = _LENGTH_BITS + _SOURCE_BITS
_MOST_SOURCES = (1 << _SOURCE_BITS) - 1  # further files count like the last of these
_LEAST_ROWS = 1 << 16
_GROWTH = 1.25


class V4Prefixes:
    """IPv4 prefixes that come a few at a time; 12 bytes each.

    Attributes
    ----------
    n : int
    """

    def __init__(self) -> None:
        self.n = 0
        self._key = np.empty(_LEAST_ROWS, np.uint64)
        self._origin = np.empty(_LEAST_ROWS, np.uint32)

    def add(
        self, start: np.ndarray, length: np.ndarray, origin: np.ndarray, source: int = 0
    ) -> None:
        """Append prefixes: first address, length 1 to 32 and AS of each, whole numbers.

        ``source`` is the number of their file, in the order in which files were given.

        Raises
        ------
        HostMemoryError
            If there is no room for them.
        """
        n = self.n + len(start)
        if n > len(self._key):
            n_rows = int(_GROWTH * n)
            check_fits(12 * (n_rows - len(self._key)), f"a table of {n:,} prefixes and more")
            self._key.resize(n_rows, refcheck=False)
            self._origin.resize(n_rows, refcheck=False)
        below = (length << _SOURCE_BITS) | min(source, _MOST_SOURCES)
        self._key[self.n : n] = (start << _BELOW_START) | below
        self._origin[self.n : n] = origin
        self.n = n

    @property
    def starts(self) -> np.ndarray:
        """(n,) uint64: first address of each, in no order."""
        return self._key[: self.n] >> np.uint64(_BELOW_START)

    def space_of(self, asns: np.ndarray) -> np.ndarray:
        """(n,) int64: addresses in the prefixes of each of (n,) sorted AS numbers.

        An address counts once for an AS, however many of its prefixes hold it.

        Raises
        ------
        HostMemoryError
            If there is no room to sort the prefixes of these ASes.
        """
        key, origin = self._key[: self.n], self._origin[: self.n]
        check_fits(36 * self.n, f"the address space of {len(asns):,} ASes")
        wanted = np.flatnonzero(np.isin(origin, asns.astype(np.uint32)))
        key, origin = key[wanted], origin[wanted]
        order = np.lexsort((key, origin))
        space = np.zeros(len(asns), np.int64)
        _add_space(key[order], np.searchsorted(asns, origin[order]), space)
        return space

    def intervals(self) -> tuple[np.ndarray, np.ndarray, int, int]:
        """Disjoint intervals of all prefixes; the added prefixes are dropped.

        Returns
        -------
        first, asn : (n_intervals,) uint32
        n_prefixes : int
            Distinct ones.
        n_changed : int
            Origins of prefixes that were listed with another one too, which is used: that of the
            file given first, and in one file the smaller one.

        Raises
        ------
        HostMemoryError
            If there is no room for them.
        """
        key, origin = self._key[: self.n], self._origin[: self.n]
        del self._key, self._origin
        n_changed = 0
        if not bool((key[1:] > key[:-1]).all()):  # tables mostly come sorted
            check_fits(24 * len(key), f"sorting {len(key):,} prefixes")
            order = np.argsort(key, kind="stable")
            key, origin = key[order], origin[order]
            del order
        key, origin, n_changed = _without_repeats(key, origin)
        n_intervals = _flatten_v4(key, origin, np.empty(0, np.uint32), np.empty(0, np.uint32))
        check_fits(8 * n_intervals, f"a table of {n_intervals:,} intervals")
        first, asn = np.empty(n_intervals, np.uint32), np.empty(n_intervals, np.uint32)
        _flatten_v4(key, origin, first, asn)
        return first, asn, len(key), n_changed


def _without_repeats(key: np.ndarray, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Sorted prefixes once each, with the origin that counts; how many other ones there were."""
    first = np.ones(len(key), bool)
    place = key >> np.uint64(_SOURCE_BITS)
    first[1:] = place[1:] != place[:-1]
    if first.all():
        return key, origin, 0
    again = ~first
    again[:-1] |= again[1:]  # the first of each run of repeats too
    rows = np.flatnonzero(again)
    rows = rows[np.lexsort((origin[rows], key[rows]))]
    same = place[rows[1:]] == place[rows[:-1]]
    n_changed = int(np.count_nonzero(same & (origin[rows[1:]] != origin[rows[:-1]])))
    origin = origin.copy()
    origin[np.flatnonzero(again)] = origin[rows]  # of equal files, the smallest comes first
    return key[first], origin[first], n_changed


@njit(cache=True, nogil=True)
def _length_of(key):
    return np.int64(key >> np.uint64(_SOURCE_BITS)) & ((1 << _LENGTH_BITS) - 1)


@njit(cache=True, nogil=True)
def _add_space(key, row, space):
    """Add the sizes of prefixes, sorted by row, then key, without those inside another of a row."""
    last, end = np.int64(-1), np.int64(0)
    for i in range(len(key)):
        start = np.int64(key[i] >> np.uint64(_BELOW_START))
        size = np.int64(1) << (32 - _length_of(key[i]))
        if row[i] != last or start >= end:  # wider ones come first, so that it is not inside one
            space[row[i]] += size
            last, end = row[i], start + size


class _Intervals(NamedTuple):
    """Intervals so far: ``n`` are written, and one is pending."""

    n: np.int64
    last_asn: np.int64  # of the last one written
    start: np.int64  # of the pending one; -1: there is none
    asn: np.int64  # its AS


@njit(cache=True, nogil=True)
def _emit_v4(first, asn, so_far, start, value):
    """Begin an interval; the last one at the same place counts.

    What is pending is written once the next one begins elsewhere, unless its AS goes on.
    """
    n, last_asn = so_far.n, so_far.last_asn
    if so_far.start >= 0 and start != so_far.start and so_far.asn != last_asn:
        if len(first):
            first[n], asn[n] = so_far.start, so_far.asn
        n += 1
        last_asn = so_far.asn
    return _Intervals(n, last_asn, start, value)


@njit(cache=True, nogil=True)
def _flatten_v4(key, origin, first, asn):
    """Nested prefixes, sorted by key, to disjoint intervals; with empty outputs only counted."""
    size = np.int64(1) << 32
    ends = np.empty(33, np.int64)  # prefixes around this place; each is longer than the last
    values = np.empty(33, np.int64)
    depth = 0
    so_far = _Intervals(np.int64(0), np.int64(NO_ORIGIN), np.int64(-1), np.int64(NO_ORIGIN))
    for i in range(len(key) + 1):
        start = np.int64(key[i] >> np.uint64(_BELOW_START)) if i < len(key) else size
        while depth > 0 and ends[depth - 1] <= start:
            depth -= 1
            if ends[depth] < size:
                around = values[depth - 1] if depth > 0 else np.int64(NO_ORIGIN)
                so_far = _emit_v4(first, asn, so_far, ends[depth], around)
        if i < len(key):
            length = _length_of(key[i])
            ends[depth] = start + (np.int64(1) << (32 - length))
            values[depth] = np.int64(origin[i])
            so_far = _emit_v4(first, asn, so_far, start, values[depth])
            depth += 1
    return _emit_v4(first, asn, so_far, size, np.int64(NO_ORIGIN)).n
