"""All sweeps of one graph: memory, groups of sources, and steps that threads share."""

from __future__ import annotations

import itertools
import time

import numpy as np

from kernels._cpu.memory import SMALL, check_fits
from kernels._cpu.threads import Team
from kernels.breadth_first import search_scratch
from kernels.breadth_first.cpu import search, smallest
from kernels.multi_source.cpu import levels as cpu_levels
from kernels.multi_source.cpu import steps as cpu_steps
from kernels.multi_source.cpu import sweep as cpu_sweep
from kernels.multi_source.cpu.costs import MOST_ASKED, rest_ns
from kernels.multi_source.cpu.footprint import CHUNKS_EACH
from kernels.multi_source.cpu.graphs import cut
from kernels.multi_source.cpu.sizes import (
    BLOCK,
    LANES,
    LEAST_WITHIN,
    N_LOGS_APART,
    N_NARROW,
    ROW_BYTES,
    WORDS,
    logs_within,
)
from kernels.multi_source.cpu.state import (
    BOTTOM_UP,
    GROW,
    LONG,
    RECORD,
    UNWRITTEN,
    WRITE,
    WRITTEN,
    sweep_scratch,
)
from kernels.types import N_FARTHEST, NODE

LARGE = 1 << 16  # nodes and arcs from which threads share a graph: a step then takes over 0.2 ms

Raw = tuple[np.ndarray, ...]  # hop_ptr, hop_counts, eccentricity, n_reached, farthest


class Found:
    """Outcome of some searches, one row per source."""

    def __init__(self, n_sources: int):
        self.eccentricity = np.zeros(n_sources, np.int32)
        self.n_reached = np.zeros(n_sources, np.int64)
        self.farthest = np.full((n_sources, N_FARTHEST), -1, NODE)
        self.hop_counts: dict[int, np.ndarray] = {}  # of the rows from the key on, end to end
        self._bytes, self._look_at = 0, SMALL

    def keep(self, row: int, hop_counts: np.ndarray) -> None:
        """Keep the hop counts of one source.

        Raises
        ------
        HostMemoryError
            If those of all sources will not fit, going by the sources so far: how long a graph
            is shows only while it is searched.
        """
        self.hop_counts[row] = hop_counts
        self._bytes += hop_counts.nbytes
        if self._bytes >= self._look_at:
            self._look_at = 2 * self._bytes
            n_sources, n_kept = len(self.eccentricity), len(self.hop_counts)
            each = self._bytes // n_kept
            # Once apart, and once end to end or in a matrix.
            more = 2 * each * n_sources - self._bytes
            what = f"hop counts of {n_sources} sources, about {each // 8} levels each,"
            check_fits(more, what)

    def raw(self) -> Raw:
        hop_ptr = np.zeros(len(self.eccentricity) + 1, np.int64)
        np.cumsum(self.eccentricity + np.int64(1), out=hop_ptr[1:])
        parts = [self.hop_counts[row] for row in sorted(self.hop_counts)]
        hop_counts = np.concatenate([np.empty(0, np.int64), *parts])
        if not len(self.eccentricity):
            hop_ptr[:] = 0
        return hop_ptr, hop_counts, self.eccentricity, self.n_reached, self.farthest


def search_one(
    indptr: np.ndarray,
    indices: np.ndarray,
    base: int,
    n_nodes: int,
    source: int,
    scratch: tuple[np.ndarray, ...],
    found: Found,
    at: int,
) -> np.ndarray:
    """Search from one node of a graph and fill row ``at``; its hop counts.

    ``scratch`` (``search_scratch``) then holds the queue and where its levels end.
    """
    queue, ends, bits = scratch
    n_levels = search(indptr, indices, base, n_nodes, source, -1, queue, ends, bits)
    borders = np.append(0, ends[:n_levels]).astype(np.int64)
    hop_counts = np.diff(borders)
    found.keep(at, hop_counts)
    found.eccentricity[at] = n_levels - 1
    found.n_reached[at] = borders[-1]
    smallest(queue, int(borders[-2]), int(borders[-1]), found.farthest[at])
    return hop_counts


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
        self._n_arcs = int(indptr[base + n_nodes] - indptr[base])
        is_shared = team.size > 1 and n_nodes + self._n_arcs >= LARGE
        borders = np.empty((CHUNKS_EACH * team.size if is_shared else 1) + 1, np.int64)
        cut(indptr, base, n_nodes, borders)
        self.ranges = [(i, *pair) for i, pair in enumerate(itertools.pairwise(borders.tolist()))]
        self.scratch, self.by_level = sweep_scratch(n_nodes, len(self.ranges))
        self.state = self.scratch.state[0]
        self.level = np.empty((n_nodes, len(sources)), np.uint8) if levels else None
        # Logs lie where the levels will be, unless they would overwrite other groups' levels.
        self.n_logs, self.log_stride, self.logs = -1, 0, np.empty(0, np.uint8)
        if self.level is not None:
            self.n_logs, self.log_stride = logs_within(len(sources)), len(sources)
            self.logs = self.level.reshape(-1)
            if not LEAST_WITHIN <= len(sources) <= LANES:
                self.n_logs, self.log_stride = N_LOGS_APART, 0
                self.logs = np.empty(n_nodes * ROW_BYTES * N_LOGS_APART, np.uint8)
        self.late: list[tuple[int, int, int, np.ndarray, np.ndarray]] = []

    def run(self, found: Found, row: int) -> bool:
        """Fill rows from ``row`` on; False: make single searches instead."""
        n_sources = len(self.sources)
        n_groups = -(-n_sources // LANES)
        bounds = [n_sources * i // n_groups for i in range(n_groups + 1)]  # like sizes
        for first, last in itertools.pairwise(bounds):
            if not self._sweep(first, last, found, row):
                return False
            self._take(first, last, found, row)
        return True

    def levels_of_all(self) -> np.ndarray | None:
        """(n_sources, n_nodes), once all is run; None if levels were not requested."""
        if self.level is None:
            return None
        if self.late:
            self._widen()
        return self.level.T

    def _sweep(self, first: int, last: int, found: Found, row: int) -> bool:
        """Sweep from sources first .. last - 1; False if single searches are faster."""
        started = time.perf_counter()
        cpu_sweep.start(
            self.indptr,
            self.sources[first:last],
            self.base,
            self.n_nodes,
            self.team.size if self.may_leave else 0,
            self.n_logs,
            self.log_stride,
            first == 0,
            self.scratch,
            self.by_level,
        )
        while True:
            todo = cpu_sweep.advance(self.indptr, self.indices, self.scratch, self.by_level)
            if todo == BOTTOM_UP:
                self.team.run(self._bottom_up, self.ranges)
            elif todo == GROW:
                self.by_level = np.concatenate([self.by_level, np.empty_like(self.by_level)])
            elif todo == WRITE:
                self._write(first)
            elif todo == RECORD:
                self._record(first)
            elif todo == LONG:
                if self._is_long(first, last, time.perf_counter() - started, found, row):
                    return False
                self.state["n_asked"] = MOST_ASKED  # not again
                if self.state["levels"] == WRITTEN:  # the level after which it was asked
                    self._record(first)
            else:
                break
        if self.state["levels"] == UNWRITTEN:
            self._write(first)
        return True

    def _is_long(self, first: int, last: int, spent_s: float, found: Found, row: int) -> bool:
        """Whether single searches are faster, by one of them, whose result is then kept.

        What a search costs depends on where neighbours lie in memory: on some graphs it is three
        times what the sweep expects; and its levels show what is left for the sweep.
        """
        state = self.state
        n_sources, which = len(self.sources), (first + last) // 2
        scratch = search_scratch(self.n_nodes)
        graph = (self.indptr, self.indices, self.base, self.n_nodes)
        started = time.perf_counter()
        hop_counts = search_one(*graph, int(self.sources[which]), scratch, found, row + which)
        searches_s = (time.perf_counter() - started) * n_sources / self.team.size
        n_threads = self.team.size if len(self.ranges) > 1 else 1
        left_ns = rest_ns(state, self._n_arcs, self.by_level, n_threads, hop_counts)
        groups = n_sources / (last - first)
        spent_ns = int(state["spent"])
        per_ns = spent_s / max(1, spent_ns)
        return searches_s < per_ns * (groups * left_ns + (groups - 1) * spent_ns)

    def _bottom_up(self, chunk_range: tuple[int, int, int]) -> None:
        chunk, lo, hi = chunk_range
        cpu_steps.bottom_up(self.indptr, self.indices, self.scratch, lo, hi, chunk, self.logs)

    def _write(self, first: int) -> None:
        """Convert all that is logged and listed to bytes."""
        assert self.level is not None
        place = (self.level.reshape(-1), len(self.sources), first)

        def step(chunk_range: tuple[int, int, int]) -> None:
            _, lo, hi = chunk_range
            spare = np.empty((BLOCK + 1) * LANES, np.uint8)
            cpu_levels.write_logs(self.scratch, lo, hi, self.logs, *place, spare)

        self.team.run(step, self.ranges)
        cpu_levels.write_listed(self.scratch, 0, int(self.state["end"]), *place)
        self.state["levels"] = WRITTEN

    def _record(self, first: int) -> None:
        """Write the level just complete; one that a byte cannot hold waits until all are known."""
        assert self.level is not None
        state = self.state
        begin, end, depth = int(state["begin"]), int(state["end"]), int(state["depth"])
        place = (self.level.reshape(-1), len(self.sources), first)
        if depth < N_NARROW and state["is_listed"]:
            cpu_levels.write_listed(self.scratch, begin, end, *place)
        elif depth < N_NARROW:

            def step(chunk_range: tuple[int, int, int]) -> None:
                _, lo, hi = chunk_range
                cpu_levels.write_found(self.scratch, lo, hi, *place)

            self.team.run(step, self.ranges)
        else:
            if state["is_listed"]:
                nodes = self.scratch.nodes[begin:end].copy()
                lanes = self.scratch.lanes.reshape(-1, WORDS)[begin:end].copy()
            else:
                tables = self.scratch.words.reshape(2, self.n_nodes, WORDS)
                now = int(state["current"])
                lanes = tables[now] & ~tables[1 - now]
                nodes = np.flatnonzero(lanes.any(axis=1))
                lanes = lanes[nodes]
            self.late.append((first, int(state["n_lanes"]), depth, nodes, lanes))

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
        eccentricity, farthest = self.state["eccentricity"], self.state["farthest"]
        n_lanes = last - first
        by_depth = self.by_level.reshape(-1, LANES)
        for i in range(n_lanes):
            lane = cpu_sweep.lane_of(i, n_lanes)
            counts = by_depth[: eccentricity[lane] + 1, lane].copy()
            at = row + first + i
            found.eccentricity[at] = eccentricity[lane]
            found.n_reached[at] = counts.sum()
            found.farthest[at] = farthest[lane]
            found.keep(at, counts)


def level_dtype(eccentricity: int) -> np.dtype:
    """The narrowest dtype of levels whose maximum is left for unreached nodes."""
    return np.dtype(
        np.uint8 if eccentricity < 255 else np.uint16 if eccentricity < 65535 else np.int32
    )
