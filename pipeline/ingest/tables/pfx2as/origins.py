"""Prefixes of all files, and which origin counts where several announce one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pipeline.ingest.tables.pfx2as.v4_prefixes import V4Prefixes
from pipeline.model.tables.intervals import (
    IntervalTable,
    Network,
    prefix_range,
    table_of,
)


@dataclass
class _V6Prefixes:
    """IPv6 prefixes: columns per chunk."""

    start: list[np.ndarray] = field(default_factory=list)
    end: list[np.ndarray] = field(default_factory=list)
    origin: list[np.ndarray] = field(default_factory=list)

    def add(self, networks: list[Network], origins: list[int]) -> None:
        ranges = [prefix_range(network) for network in networks]
        words = np.array(ranges, np.uint64).reshape(len(ranges), 2, 2)
        self.start.append(words[:, 0])
        self.end.append(words[:, 1])
        self.origin.append(np.array(origins, np.int64))

    def space_of(self, asns: np.ndarray) -> list[int]:
        """Addresses in the prefixes of each AS; of nested prefixes of one AS the widest counts."""
        none = np.empty((0, 2), np.uint64)
        start, end = np.concatenate([none, *self.start]), np.concatenate([none, *self.end])
        origin = np.concatenate([np.empty(0, np.int64), *self.origin])
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
        start = np.concatenate([np.empty((0, 2), np.uint64), *self.start])
        end = np.concatenate([np.empty((0, 2), np.uint64), *self.end])
        origin = np.concatenate([np.empty(0, np.int64), *self.origin])
        # Wider prefixes first at the same start: a later end; then the smaller AS number.
        order = np.lexsort((origin, ~end[:, 1], ~end[:, 0], start[:, 1], start[:, 0]))
        start, end, origin = start[order], end[order], origin[order]
        again = np.zeros(len(start), bool)
        again[1:] = (start[1:] == start[:-1]).all(axis=1) & (end[1:] == end[:-1]).all(axis=1)
        n_changed = int(np.count_nonzero(again[1:] & (origin[1:] != origin[:-1])))
        table = table_of(start[~again], end[~again], origin[~again])
        return table, int(np.count_nonzero(~again)), n_changed


@dataclass
class Prefixes:
    """Prefixes of all files; ``shared`` are those of several origins."""

    v4: V4Prefixes = field(default_factory=V4Prefixes)
    v6: _V6Prefixes = field(default_factory=_V6Prefixes)
    shared: set[tuple[Network, tuple[int, ...]]] = field(default_factory=set)

    def add(self, networks: list[Network], origins: list[int]) -> None:
        """Append prefixes of one origin each."""
        v4 = [(n, asn) for n, asn in zip(networks, origins, strict=True) if n.version == 4]
        v6 = [(n, asn) for n, asn in zip(networks, origins, strict=True) if n.version == 6]
        if v4:
            self.v4.add(
                np.array([int(network.network_address) for network, _ in v4], np.int64),
                np.array([network.prefixlen for network, _ in v4], np.int64),
                np.array([asn for _, asn in v4], np.int64),
            )
        if v6:
            self.v6.add([network for network, _ in v6], [asn for _, asn in v6])

    def choose_origins(self) -> None:
        """Append the shared prefixes, each with the origin of least space of its own."""
        if not self.shared:
            return
        asns = np.unique([asn for _, origins in self.shared for asn in origins])
        v4, v6 = self.v4.space_of(asns).tolist(), self.v6.space_of(asns)
        space = {  # by family of a prefix; that of the other family decides between equal ones
            4: dict(zip(asns.tolist(), zip(v4, v6, strict=True), strict=True)),
            6: dict(zip(asns.tolist(), zip(v6, v4, strict=True), strict=True)),
        }
        shared = sorted(self.shared, key=lambda one: (one[0].version, *one))
        networks = [network for network, _ in shared]
        self.add(networks, [min(asns, key=space[n.version].__getitem__) for n, asns in shared])
