"""Prefixes of some files, and which origin counts where several announce one."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.ingest.tables.prefixes.v4_prefixes import V4Prefixes
from pipeline.model.addresses import V4_HIGH, V4_PREFIX
from pipeline.model.columns.ragged import run_starts
from pipeline.model.tables.intervals import IntervalTable, Network, prefix_range, table_of
from pipeline.model.tables.prefixes import PrefixTable

_V4_BITS = 96  # of a mapped address before those of IPv4
_U1 = np.uint64(1)
_ZERO, _ONES = np.uint64(0), np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@dataclass
class _V6Prefixes:
    """IPv6 prefixes: columns per chunk."""

    start: list[np.ndarray] = field(default_factory=list)
    bits: list[np.ndarray] = field(default_factory=list)
    origin: list[np.ndarray] = field(default_factory=list)
    source: list[np.ndarray] = field(default_factory=list)

    def add(self, start: np.ndarray, bits: np.ndarray, origin: np.ndarray, source: int) -> None:
        if len(start):
            self.start.append(start)
            self.bits.append(bits.astype(np.uint8))
            self.origin.append(origin.astype(np.uint32))
            self.source.append(np.full(len(start), min(source, 255), np.uint8))

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """start, end, origin, source of all."""
        start = np.concatenate([np.empty((0, 2), np.uint64), *self.start])
        bits = np.concatenate([np.empty(0, np.uint8), *self.bits])
        origin = np.concatenate([np.empty(0, np.uint32), *self.origin]).astype(np.int64)
        source = np.concatenate([np.empty(0, np.uint8), *self.source])
        return start, _ends(start, bits), origin, source

    def space_of(self, asns: np.ndarray) -> list[int]:
        """Addresses in the prefixes of each AS; of nested prefixes of one AS the widest counts."""
        start, end, origin, _ = self.columns()
        wanted = np.flatnonzero(np.isin(origin, asns))
        start, end, origin = start[wanted], end[wanted], origin[wanted]
        order = np.lexsort((~end[:, 1], ~end[:, 0], start[:, 1], start[:, 0], origin))
        space = dict.fromkeys(asns.tolist(), 0)
        reached = (-1, -1)  # AS and last address of the last prefix that counted
        for asn, first, last in zip(
            origin[order].tolist(), start[order].tolist(), end[order].tolist(), strict=True
        ):
            begin, stop = (first[0] << 64) + first[1], (last[0] << 64) + last[1]
            if (asn, begin) > reached:  # else it is inside that one
                space[asn] += stop - begin + 1
                reached = asn, stop
        return list(space.values())

    def intervals(self) -> tuple[IntervalTable, int, int]:
        """The table, how many distinct prefixes and how many other origins there were."""
        start, end, origin, source = self.columns()
        # Wider prefixes first at the same start: a later end; then the file given first.
        order = np.lexsort((origin, source, ~end[:, 1], ~end[:, 0], start[:, 1], start[:, 0]))
        start, end, origin = start[order], end[order], origin[order]
        again = np.zeros(len(start), bool)
        again[1:] = (start[1:] == start[:-1]).all(axis=1) & (end[1:] == end[:-1]).all(axis=1)
        n_changed = int(np.count_nonzero(again[1:] & (origin[1:] != origin[:-1])))
        table = table_of(start[~again], end[~again], origin[~again])
        return table, int(np.count_nonzero(~again)), n_changed


class _Shared(NamedTuple):
    """A prefix of several origins; of which file."""

    network: Network
    origins: tuple[int, ...]
    source: int


class Made(NamedTuple):
    """A table, and how many other origins its prefixes were listed with."""

    table: PrefixTable
    n_changed: int


@dataclass
class Prefixes:
    """Prefixes of all files of a layer; ``shared`` are those of several origins.

    ``source`` is the number of the file that is read, in the order in which they were given.
    """

    source: int = 0
    v4: V4Prefixes = field(default_factory=V4Prefixes)
    v6: _V6Prefixes = field(default_factory=_V6Prefixes)
    shared: set[_Shared] = field(default_factory=set)
    _votes: list[tuple[np.ndarray, ...]] = field(default_factory=list)
    _source_of_votes: int = 0

    def add(self, start: np.ndarray, bits: np.ndarray, origin: np.ndarray) -> None:
        """Append prefixes of one origin each: (n, 2) words, length among 128 bits, AS."""
        self._add(start, bits, origin, self.source)

    def _add(self, start: np.ndarray, bits: np.ndarray, origin: np.ndarray, source: int) -> None:
        v4 = _are_v4(start)
        v4_start = (start[v4, 1] ^ V4_PREFIX).astype(np.int64)
        self.v4.add(v4_start, bits[v4] - _V4_BITS, origin[v4], source)
        self.v6.add(start[~v4], bits[~v4], origin[~v4], source)

    def add_ranges(self, first: np.ndarray, last: np.ndarray, origin: np.ndarray) -> None:
        """Append ranges, each as the prefixes that it consists of."""
        row, start, bits = prefixes_of(first, last)
        self.add(start, bits, origin[row])

    def add_votes(
        self, start: np.ndarray, bits: np.ndarray, origin: np.ndarray, votes: np.ndarray
    ) -> None:
        """Append prefixes, each with how many peers see this origin; a prefix may come again."""
        if len(start):
            if not self._votes:
                self._source_of_votes = self.source
            row = (start, bits.astype(np.uint8), origin.astype(np.uint32), votes.astype(np.int32))
            self._votes.append(row)

    def add_network(self, network: Network, origins: tuple[int, ...]) -> None:
        """Append one prefix."""
        if len(origins) > 1:
            self.shared.add(_Shared(network, origins, self.source))
        else:
            self._add_networks([network], [origins[0]], self.source)

    def _add_networks(self, networks: list[Network], origins: list[int], source: int) -> None:
        starts = [prefix_range(network)[0] for network in networks]
        bits = [n.prefixlen + (_V4_BITS if n.version == 4 else 0) for n in networks]
        start = np.array(starts, np.uint64).reshape(-1, 2)
        self._add(start, np.array(bits, np.int64), np.array(origins, np.int64), source)

    @property
    def starts(self) -> np.ndarray:
        """(n, 2) uint64: first address of each prefix of one origin, in no order."""
        v4 = self.v4.starts.astype(np.uint64) | V4_PREFIX
        mapped = np.column_stack([np.full(len(v4), V4_HIGH, np.uint64), v4])
        return np.concatenate([mapped, *self.v6.start])

    def table(self, roas: PrefixTable | None) -> Made:
        """Longest match of all prefixes; ``roas`` decide between several origins where they can."""
        self._count_votes()
        self._choose_origins(roas)
        v6_table, n_v6, n_changed = self.v6.intervals()
        first, asn, n_v4, n_v4_changed = self.v4.intervals()
        return Made(PrefixTable(first, asn, v6_table, n_v4 + n_v6), n_changed + n_v4_changed)

    def _count_votes(self) -> None:
        """Append the prefixes with votes; those of equal votes are shared ones."""
        if not self._votes:
            return
        start, bits, origin, votes = map(np.concatenate, zip(*self._votes, strict=True))
        self._votes.clear()
        order = np.lexsort((origin, bits, start[:, 1], start[:, 0]))
        start, bits, origin, votes = start[order], bits[order], origin[order], votes[order]
        each = run_starts(start[:, 0], start[:, 1], bits, origin)
        votes = np.add.reduceat(votes.astype(np.int64), each)
        start, bits, origin = start[each], bits[each].astype(np.int64), origin[each]
        first = run_starts(start[:, 0], start[:, 1], bits)
        most = np.maximum.reduceat(votes, first)
        group = np.repeat(np.arange(len(first)), np.diff(first, append=len(votes)))
        is_most = votes == most[group]
        n_most = np.bincount(group[is_most], minlength=len(first))
        alone = is_most & (n_most[group] == 1)
        self._add(start[alone], bits[alone], origin[alone], self._source_of_votes)
        equal = np.flatnonzero(is_most & ~alone)
        bounds = run_starts(group[equal])
        for part in np.split(equal, bounds[1:]) if len(equal) else ():
            high, low = start[part[0]].tolist()
            network = _network(high, low, int(bits[part[0]]))
            origins = tuple(origin[part].tolist())
            self.shared.add(_Shared(network, origins, self._source_of_votes))

    def _choose_origins(self, roas: PrefixTable | None) -> None:
        """Append the shared prefixes, each with the origin that ROAs name, or of least space."""
        if not self.shared:
            return
        asns = np.unique([asn for each in self.shared for asn in each.origins])
        v4, v6 = self.v4.space_of(asns).tolist(), self.v6.space_of(asns)
        space = {  # by family of a prefix; that of the other family decides between equal ones
            4: dict(zip(asns.tolist(), zip(v4, v6, strict=True), strict=True)),
            6: dict(zip(asns.tolist(), zip(v6, v4, strict=True), strict=True)),
        }
        shared = sorted(self.shared, key=lambda one: (one.source, one.network.version, *one[:2]))
        starts = np.array([prefix_range(each.network)[0] for each in shared], np.uint64)
        named = [0] * len(shared) if roas is None else roas.lookup(starts).tolist()
        for each, asn in zip(shared, named, strict=True):
            if asn not in each.origins:
                asn = min(each.origins, key=space[each.network.version].__getitem__)
            self._add_networks([each.network], [asn], each.source)


def _are_v4(start: np.ndarray) -> np.ndarray:
    return (start[:, 0] == V4_HIGH) & (start[:, 1] >> np.uint64(32) == np.uint64(0xFFFF))


def _network(high: int, low: int, bits: int) -> Network:
    if high == 0 and low >> 32 == 0xFFFF:
        return ipaddress.IPv4Network((low & 0xFFFF_FFFF, bits - _V4_BITS))
    return ipaddress.IPv6Network(((high << 64) | low, bits))


def _ends(start: np.ndarray, bits: np.ndarray) -> np.ndarray:
    """(n, 2) uint64: last address of each prefix."""
    free = np.int64(128) - bits.astype(np.int64)
    return start | np.column_stack([_low_ones(free - 64), _low_ones(np.minimum(free, 64))])


def _low_ones(n: np.ndarray) -> np.ndarray:
    """Words whose ``n`` lowest bits are 1; none if ``n`` is below 1."""
    inside = np.clip(n, 1, 64)
    return np.where(n < 1, _ZERO, _ONES >> (64 - inside).astype(np.uint64))


def prefixes_of(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The fewest prefixes that make up each range: row of the range, first address, length."""
    none = np.empty(0, np.int64)
    n = _cut(first, last, none, np.empty((0, 2), np.uint64), none)
    row, bits = np.empty((2, n), np.int64)
    start = np.empty((n, 2), np.uint64)
    _cut(first, last, row, start, bits)
    return row, start, bits


@njit(cache=True, nogil=True)
def _cut(first, last, row, start, bits):
    """Write the prefixes of each range; with empty outputs they are only counted."""
    n = 0
    for i in range(len(first)):
        high, low = first[i, 0], first[i, 1]
        while True:
            free = 0  # bits of the largest prefix that begins here and ends within the range
            end_high, end_low = high, low
            while free < 127:
                if free < 64:
                    bit = _U1 << np.uint64(free)
                    if low & bit != _ZERO:
                        break
                    next_high, next_low = end_high, end_low | bit
                else:
                    bit = _U1 << np.uint64(free - 64)
                    if high & bit != _ZERO:
                        break
                    next_high, next_low = end_high | bit, end_low
                if next_high > last[i, 0] or (next_high == last[i, 0] and next_low > last[i, 1]):
                    break
                end_high, end_low = next_high, next_low
                free += 1
            if len(row):
                row[n], bits[n] = i, 128 - free
                start[n, 0], start[n, 1] = high, low
            n += 1
            if end_high == last[i, 0] and end_low == last[i, 1]:
                break
            low = end_low + _U1
            high = end_high + _U1 if low == _ZERO else end_high
    return n
