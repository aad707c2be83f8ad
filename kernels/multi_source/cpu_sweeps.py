"""All sweeps of one graph: memory, groups of sources, and steps that threads share."""

from __future__ import annotations

import itertools

import numpy as np

from kernels.multi_source import cpu_sweep
from kernels.multi_source.cpu_graphs import cut, sweep_scratch
from kernels.multi_source.cpu_sweep import (
    DEPTH,
    LANES,
    LISTED,
    N_LANES,
    PLANE_BYTES,
    PLANES,
    WORDS,
    lane_of,
)
from kernels.threads import Team
from kernels.types import N_FARTHEST, NODE

LARGE = 1 << 18  # nodes and arcs from which all threads share a graph: a step then takes over 1 ms
CHUNKS_EACH = 8  # ranges of nodes a thread: they end together though hubs differ
N_NARROW = 255  # levels that uint8 holds: 0 to 254, 255 means unreached

Raw = tuple[np.ndarray, ...]  # hop_ptr, hop_counts, eccentricity, n_reached, farthest


class Found:
    """Outcome of some searches, a row a source."""

    def __init__(self, n_sources: int):
        self.eccentricity = np.zeros(n_sources, np.int32)
        self.n_reached = np.zeros(n_sources, np.int64)
        self.farthest = np.full((n_sources, N_FARTHEST), -1, NODE)
        self.hop_counts: dict[int, np.ndarray] = {}  # of the rows from the key on, end to end

    def raw(self) -> Raw:
        hop_ptr = np.zeros(len(self.eccentricity) + 1, np.int64)
        np.cumsum(self.eccentricity + np.int64(1), out=hop_ptr[1:])
        parts = [self.hop_counts[row] for row in sorted(self.hop_counts)]
        hop_counts = np.concatenate([np.empty(0, np.int64), *parts])
        if not len(self.eccentricity):
            hop_ptr[:] = 0
        return hop_ptr, hop_counts, self.eccentricity, self.n_reached, self.farthest


class Sweeps:
    """The sweeps of one graph from all of its sources.

    ``may_leave``: ``run`` may find that single searches are faster.
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        base: int,
        n_nodes: int,
        sources: np.ndarray,
        levels: bool,
        team: Team,
        may_leave: bool,
    ):
        self.indptr, self.indices = indptr, indices
        self.base, self.n_nodes, self.sources = base, n_nodes, sources
        self.team, self.may_leave = team, may_leave
        n_arcs = int(indptr[base + n_nodes] - indptr[base])
        is_shared = team.size > 1 and n_nodes + n_arcs >= LARGE
        borders = np.empty((CHUNKS_EACH * team.size if is_shared else 1) + 1, np.int64)
        cut(indptr, base, n_nodes, borders)
        self.ranges = [(i, *pair) for i, pair in enumerate(itertools.pairwise(borders.tolist()))]
        scratch = sweep_scratch(n_nodes, len(self.ranges))
        self.words, self.every, self.state, self.nodes, self.lanes, self.counts = scratch[:6]
        self.counting, self.by_lane = scratch[6:12], scratch[12:]
        self.level = np.zeros((n_nodes, len(sources)), np.uint8) if levels else None
        self.late: list[tuple[int, int, int, np.ndarray, np.ndarray]] = []

    def run(self, found: Found, row: int) -> bool:
        """Fill rows from ``row`` on; False: make single searches instead."""
        n_sources = len(self.sources)
        n_groups = -(-n_sources // LANES)
        bounds = [n_sources * i // n_groups for i in range(n_groups + 1)]  # like sizes
        for first, last in itertools.pairwise(bounds):
            if not self._sweep(first, last):
                return False
            self._take(first, last, found, row)
        return True

    def levels_of_all(self) -> np.ndarray | None:
        """(n_sources, n_nodes), once all is run; None if levels were not asked for."""
        if self.level is None:
            return None
        if self.late:
            self._widen()
        return self.level.T

    def _sweep(self, first: int, last: int) -> bool:
        """Sweep from sources first .. last - 1; False if that is not worth while."""
        state, eccentricity, farthest = self.state, *self.by_lane
        planes = np.empty(0, np.uint8)
        state[cpu_sweep.MAY_LEAVE] = self.may_leave
        state[PLANES] = 0
        if self.level is not None:
            state[PLANES] = 1
            if last - first >= PLANE_BYTES:  # planes lie where the levels will be
                planes, place = self.level.reshape(-1), (len(self.sources), first)
            else:
                planes, place = np.zeros(self.n_nodes * PLANE_BYTES, np.uint8), (PLANE_BYTES, 0)
            state[cpu_sweep.PLANE_STRIDE], state[cpu_sweep.PLANE_AT] = place
        table = (self.words, self.every, state, self.nodes, self.lanes)
        cpu_sweep.start(
            self.indptr,
            self.sources[first:last],
            self.base,
            self.n_nodes,
            *table,
            self.counts,
            self.counting[2],
            eccentricity,
            farthest,
            first == 0,
        )
        while True:
            todo = cpu_sweep.advance(
                self.indptr,
                self.indices,
                *table,
                self.counts,
                *self.counting,
                planes,
                eccentricity,
                farthest,
            )
            if todo == cpu_sweep.BOTTOM_UP:
                self._bottom_up(planes)
            elif todo == cpu_sweep.GROW:
                self.counts = np.concatenate([self.counts, np.empty_like(self.counts)])
            elif todo == cpu_sweep.TO_BYTES:
                self._make_bytes(planes, first)
                state[PLANES] = 2
            elif todo == cpu_sweep.RECORD:
                self._record(first)
            elif todo == cpu_sweep.LONG:
                return False
            else:
                break
        if state[PLANES] == 1:
            self._make_bytes(planes, first)
        return True

    def _bottom_up(self, planes: np.ndarray) -> None:
        def step(chunk_range: tuple[int, int, int]) -> None:
            chunk, lo, hi = chunk_range
            arrays = (self.indptr, self.indices, self.words, self.every, self.state)
            cpu_sweep.bottom_up(*arrays, lo, hi, chunk, *self.counting, planes)

        self.team.run(step, self.ranges)

    def _make_bytes(self, planes: np.ndarray, first: int) -> None:
        assert self.level is not None
        level = self.level.reshape(-1)

        def step(chunk_range: tuple[int, int, int]) -> None:
            _, lo, hi = chunk_range
            place = (level, len(self.sources), first, np.empty(LANES, np.uint8))
            cpu_sweep.make_bytes(self.words, self.state, lo, hi, planes, *place)

        self.team.run(step, self.ranges)

    def _record(self, first: int) -> None:
        """Write the level just complete; one that uint8 cannot hold is kept until all are known."""
        assert self.level is not None
        state, level = self.state, self.level.reshape(-1)
        depth, n_lanes = int(state[DEPTH]), int(state[N_LANES])
        if depth < N_NARROW:
            table = (self.words, state, self.nodes, self.lanes)
            cpu_sweep.record(*table, 0, self.n_nodes, level, len(self.sources), first)
            return
        if state[LISTED]:
            begin = int(state[cpu_sweep.SIDE]) * (len(self.nodes) // 2)
            listed = slice(begin, begin + int(state[cpu_sweep.N_FRONTIER]))
            nodes, lanes = self.nodes[listed].copy(), self.lanes.reshape(-1, WORDS)[listed].copy()
        else:
            tables = self.words.reshape(2, self.n_nodes, WORDS)
            now = int(state[cpu_sweep.CURRENT])
            lanes = tables[now] & ~tables[1 - now]
            nodes = np.flatnonzero(lanes.any(axis=1))
            lanes = lanes[nodes]
        self.late.append((first, n_lanes, depth, nodes, lanes))

    def _widen(self) -> None:
        assert self.level is not None
        deepest = max(depth for _, _, depth, _, _ in self.late)
        dtype = level_dtype(deepest)
        wide = self.level.astype(dtype)
        wide[self.level == N_NARROW] = np.iinfo(dtype).max
        for first, n_lanes, depth, nodes, lanes in self.late:
            bits = np.unpackbits(lanes.astype("<u8").view(np.uint8), axis=1, bitorder="little")
            at, lane = np.nonzero(bits)
            source = np.where((lane < LANES - 64) | (n_lanes < 64), lane, lane - (LANES - n_lanes))
            wide[nodes[at], first + source] = depth
        self.level = wide

    def _take(self, first: int, last: int, found: Found, row: int) -> None:
        """Results of a sweep, from lanes to rows."""
        eccentricity, farthest = self.by_lane
        n_lanes = last - first
        by_depth = self.counts.reshape(-1, LANES)
        for i in range(n_lanes):
            lane = lane_of(i, n_lanes)
            counts = by_depth[: eccentricity[lane] + 1, lane].copy()
            at = row + first + i
            found.eccentricity[at] = eccentricity[lane]
            found.n_reached[at] = counts.sum()
            found.farthest[at] = farthest[lane]
            found.hop_counts[at] = counts


def level_dtype(eccentricity: int) -> np.dtype:
    """The narrowest dtype of levels whose maximum is left for unreached nodes."""
    return np.dtype(
        np.uint8 if eccentricity < 255 else np.uint16 if eccentricity < 65535 else np.int32
    )
