"""Bit-parallel searches on one GPU: launches the kernels of ``multi_source.cu``.

A group is up to 128 lanes of every graph, and one launch runs all of its levels; groups run one
after another, so memory does not grow with the number of sources.
"""

from __future__ import annotations

import functools
from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.constants import COOPERATIVE_BLOCK, WARP
from kernels._cuda.launch import cooperative_grid, on_device_of
from kernels._cuda.loader import load_kernel
from kernels._cuda.memory import check_fits, fits
from kernels.csr import CSRGraph, Shard
from kernels.errors import GraphError
from kernels.multi_source.cpu.sizes import LANES
from kernels.multi_source.gpu.constants import AT_DEPTH, AT_IS_ENDED, CONTROL
from kernels.multi_source.gpu.counts import BlockCounts
from kernels.multi_source.gpu.footprint import (
    gpu_levels_bytes,
    gpu_results_words,
    gpu_shard_bytes,
    gpu_state_bytes,
    unit_shift,
)
from kernels.multi_source.gpu.levels import LevelMatrix
from kernels.types import N_FARTHEST, NODE

# Four words per node, where there are sources for more than two: a gather moves 32 bytes anyway.
MOST_LANES = 256
# A level is top-down while the arcs of its frontier are less than this share of nodes and arcs.
TOP_DOWN_FACTOR = 20
# ... and never on a graph so small that a second barrier costs more than looking at every node.
TOP_DOWN_MIN = 1 << 16
NEVER = 1 << 30  # as a factor: times all arcs of a graph that small it fits int64
CHUNK_MIN, CHUNK_MAX = 32, 128  # nodes that a warp takes at once, multiples of 32
CHUNKS_A_WARP = 4  # so that warps end together
ROWS = 64  # levels counted before the host copies them; later there may be thousands
MORE_ROWS = 4096
ROWS_AT_ONCE = 24  # copied with the rest; most graphs have fewer levels
COUNT_CELLS = 1 << 26  # counts (level, slot) of a shard on the device

Raw = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def sweep_graph(
    graph: CSRGraph, sources: np.ndarray, levels: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Any]:
    """Fields of MSBFSResult: hop_counts, eccentricity, n_reached, farthest and level."""
    n_sources = len(sources)
    matrix = LevelMatrix(graph, n_sources) if levels else None
    groups = _sweep_groups(graph, sources, matrix)
    if len(groups) == 1:
        hop_counts, farthest = groups[0]
    else:
        n_levels = max((counts.shape[1] for counts, _ in groups), default=0)
        padded = [np.pad(c, ((0, 0), (0, n_levels - c.shape[1]))) for c, _ in groups]
        hop_counts = np.concatenate([np.zeros((0, n_levels), np.int64), *padded])
        farthest = _farthest_of(groups)
    # A search finds nodes at every level until it ends.
    eccentricity = np.count_nonzero(hop_counts, axis=1).astype(np.int32) - np.int32(1)
    level = None if matrix is None else matrix.array[:, :n_sources].T
    return hop_counts, eccentricity, hop_counts.sum(axis=1), farthest, level


def _sweep_groups(
    graph: CSRGraph, sources: np.ndarray, levels: LevelMatrix | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """hop_counts and farthest, in sweeps of the number of sources that one carries."""
    with on_device_of(graph.indptr):
        n_words = _words_that_fit(graph, len(sources), levels is not None)
        if levels is not None:
            levels.allocate()
        step = 64 * n_words
        return [
            _sweep_group(graph, sources[first : first + step], first, levels)
            for first in range(0, len(sources), step)
        ]


def _farthest_of(groups: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    none = np.empty((0, N_FARTHEST), NODE)
    return np.concatenate([none, *(farthest for _, farthest in groups)])


def _words_for(n_sources: int, most_lanes: int) -> int:
    """Words per node of a sweep that carries all sources, or ``most_lanes`` of them."""
    return 1 if n_sources <= 64 else 2 if n_sources <= LANES else most_lanes // 64


def _words_that_fit(graph: CSRGraph, n_sources: int, levels: bool) -> int:
    """Words per node of the widest sweep that fits in memory: 4, 2 or 1.

    Raises
    ------
    DeviceMemoryError
        One word does not fit, with the numbers; with levels, also what it takes without them.
    """
    n_nodes, n_arcs = graph.n_nodes, graph.n_arcs

    def needed(n_words: int, levels: bool) -> int:
        n_lanes = min(n_sources, 64 * n_words)
        n_bytes = gpu_state_bytes(n_nodes, n_arcs, n_words)
        n_bytes += 4 * gpu_results_words(n_lanes, ROWS + 2)
        return n_bytes + (gpu_levels_bytes(n_nodes, n_sources, n_words) if levels else 0)

    if n_sources == 0 or n_nodes == 0:
        return 1
    n_words = _words_for(n_sources, MOST_LANES)
    while n_words:
        if fits(needed(n_words, levels)):
            return n_words
        n_words //= 2
    what = f"a search from {n_sources} sources of {n_nodes} nodes and {n_arcs} arcs"
    if levels:
        what += f" with all levels ({needed(1, False):,} bytes without them)"
    check_fits(needed(1, levels), what)
    return 1  # memory became free in between


def _sweep_group(
    graph: CSRGraph, sources: np.ndarray, first_lane: int, levels: LevelMatrix | None
) -> tuple[np.ndarray, np.ndarray]:
    """Search one graph from up to MOST_LANES sources: hop_counts and farthest."""
    n_nodes, n_arcs, n_slots = graph.n_nodes, graph.n_arcs, len(sources)
    n_words = _words_for(n_slots, MOST_LANES)
    kernel = load_kernel(__file__, f"msbfs_graph_{n_words}", cooperative=True)
    grid, chunk_size, n_chunks = cut(kernel, n_nodes, n_slots, cp.cuda.Device().id)
    state = cp.empty(gpu_state_bytes(n_nodes, n_arcs, n_words), np.uint8)
    # One buffer, so that one copy brings the sources there and one the results back.
    n_before = CONTROL + n_slots + N_FARTHEST * n_slots
    n_rows, first_depth = ROWS + 2, 1
    out = cp.empty(gpu_results_words(n_slots, n_rows), np.int32)
    given = np.zeros(CONTROL + n_slots, np.int32)
    given[CONTROL:] = sources
    out.data.copy_from_host(given.ctypes.data, given.nbytes)
    if levels is not None:
        levels.start(n_words)
    blocks = []
    while True:
        if levels is not None:
            levels.fit(first_depth)
            n_rows = min(n_rows, levels.end - first_depth + 2)
        at = out.data.ptr
        kernel(
            (grid,),
            (COOPERATIVE_BLOCK,),
            (
                graph.indptr,
                graph.indices,
                np.int64(n_nodes),
                np.int64(n_arcs),
                np.int32(n_chunks),
                np.int32(chunk_size),
                np.uintp(at + 4 * CONTROL),
                np.int32(n_slots),
                np.uintp(at + 4 * n_before),
                np.int32(n_rows),
                np.int32(first_depth),
                np.uintp(at + 4 * (CONTROL + n_slots)),
                np.uintp(0) if levels is None else levels.planes,
                np.int64(TOP_DOWN_FACTOR if n_nodes >= TOP_DOWN_MIN else NEVER),
                np.int32(unit_shift(n_nodes)),
                out,
                state,
            ),
        )
        host = out[: n_before + min(n_rows, ROWS_AT_ONCE) * n_slots].get()  # waits for the GPU
        depth, is_ended = int(host[AT_DEPTH]), bool(host[AT_IS_ENDED])
        n_used = depth - first_depth + 3
        if n_used > ROWS_AT_ONCE:
            host = out[: n_before + n_used * n_slots].get()
        # Row 1 is the level before first_depth: level 0 on the first launch, else known already.
        block = host[n_before : n_before + n_used * n_slots].reshape(n_used, n_slots)
        blocks.append(block[1 if first_depth == 1 else 2 :])
        if is_ended:
            break
        last_two = block[-2:]
        n_rows, first_depth = MORE_ROWS + 2, depth + 1
        longer = cp.empty(gpu_results_words(n_slots, n_rows), np.int32)
        longer[:n_before] = out[:n_before]
        longer[n_before : n_before + 2 * n_slots] = cp.asarray(last_two.ravel())
        out = longer
    if levels is not None:
        levels.write(state, first_lane, n_slots, depth - 1)
    # The last level is empty, which ended the sweep.
    by_level = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    farthest = host[CONTROL + n_slots : n_before].reshape(n_slots, N_FARTHEST)
    return by_level[:-1].T.astype(np.int64, order="C"), farthest


@functools.lru_cache(maxsize=256)
def cut(kernel: Any, n_nodes: int, n_slots: int, device_id: int) -> tuple[int, int, int]:
    """Grid, nodes of a chunk, chunks."""
    n_warps = cooperative_grid(kernel, n_nodes) * COOPERATIVE_BLOCK // WARP
    size = n_nodes // (n_warps * CHUNKS_A_WARP) // WARP * WARP
    size = min(max(size, CHUNK_MIN), CHUNK_MAX)
    n_chunks = -(-n_nodes // size)
    # Of one graph, a block lists the farthest nodes of a search.
    n_busy = max(n_chunks, min(n_slots, MOST_LANES) * COOPERATIVE_BLOCK // WARP)
    return cooperative_grid(kernel, n_busy), size, n_chunks


def sweep_shard(shard: Shard, source_ptr: np.ndarray, sources: np.ndarray) -> Raw:
    """hop_ptr, hop_counts, eccentricity, n_reached, farthest of every source, on the host."""
    n_sources = len(sources)
    if shard.n_graphs == 1:
        return _sweep_only_graph(shard, sources)
    farthest = np.full((n_sources, N_FARTHEST), -1, NODE)
    counts = BlockCounts()
    with on_device_of(shard.indptr):
        node_ptr = shard.node_ptr.get()
        most, first_lane = int(np.diff(source_ptr).max(initial=0)), 0
        while first_lane < most:
            # At first every graph takes part, mostly with few sources; later only those with many.
            n_words = _words_for(most - first_lane, LANES if first_lane == 0 else MOST_LANES)
            group = _ShardGroup(shard, node_ptr, source_ptr, first_lane, n_words)
            while not fits(group.n_bytes):
                if group.n_words == 1:
                    check_fits(group.n_bytes, group.name)
                    break  # memory became free in between
                group = _ShardGroup(shard, node_ptr, source_ptr, first_lane, group.n_words // 2)
            farthest[group.row_of_slot] = _sweep_shard_group(shard, sources, group, counts)
            first_lane += 64 * group.n_words
    hop_ptr, hop_counts, n_reached = counts.ragged(n_sources)
    eccentricity = (np.diff(hop_ptr) - 1).astype(np.int32)
    return hop_ptr, hop_counts, eccentricity, n_reached, farthest


def _sweep_only_graph(shard: Shard, sources: np.ndarray) -> Raw:
    """The same for a shard of one graph, by the sweeps of one graph, which have two directions."""
    counts, first = BlockCounts(), 0
    groups = _sweep_groups(CSRGraph(shard.indptr, shard.indices, trusted=True), sources, None)
    for hop_counts, _ in groups:
        is_level = hop_counts > 0
        rows = np.arange(first, first + len(hop_counts))
        counts.add(rows, np.count_nonzero(is_level, axis=1), hop_counts[is_level])
        first += len(hop_counts)
    hop_ptr, flat, n_reached = counts.ragged(len(sources))
    eccentricity = (np.diff(hop_ptr) - 1).astype(np.int32)
    return hop_ptr, flat, eccentricity, n_reached, _farthest_of(groups)


class _ShardGroup:
    """Sources first_lane .. first_lane + 64 * n_words - 1 of every graph, and what they take."""

    def __init__(
        self,
        shard: Shard,
        node_ptr: np.ndarray,
        source_ptr: np.ndarray,
        first_lane: int,
        n_words: int,
    ):
        n_graphs = shard.n_graphs
        n_lanes = np.clip(np.diff(source_ptr) - first_lane, 0, 64 * n_words)
        self.n_words = n_words
        self.slot_ptr = np.zeros(n_graphs + 1, np.int64)
        np.cumsum(n_lanes, out=self.slot_ptr[1:])
        self.n_slots = int(self.slot_ptr[-1])
        self.name = (
            f"a sweep from {self.n_slots} sources of {n_graphs} graphs, {shard.n_nodes} nodes and "
            f"{shard.n_arcs} arcs"
        )
        if self.n_slots > 2**31 - 1:
            raise GraphError(f"{self.name}: more sources than int32 counts; give smaller shards")
        self.slot_graph = np.repeat(np.arange(n_graphs, dtype=np.int32), n_lanes)
        first = source_ptr[:-1] + first_lane - self.slot_ptr[:-1]
        self.row_of_slot = np.arange(self.n_slots) + first[self.slot_graph]
        self.node_of_slot = node_ptr[self.slot_graph]  # of each slot's graph, its first
        self.kernel = load_kernel(__file__, f"msbfs_shard_{n_words}", cooperative=True)
        self.grid, self.chunk_size, _ = cut(
            self.kernel, shard.n_nodes, self.n_slots, cp.cuda.Device().id
        )
        self.chunk_ptr = np.zeros(n_graphs + 1, np.int32)
        np.cumsum(-(-np.diff(node_ptr) // self.chunk_size), out=self.chunk_ptr[1:])
        self.n_chunks = int(self.chunk_ptr[-1])
        self.n_rows = 2 + max(16, min(ROWS, COUNT_CELLS // self.n_slots))
        self.n_bytes = gpu_shard_bytes(
            shard.n_nodes,
            shard.n_arcs,
            n_words,
            n_graphs,
            self.n_chunks,
            self.n_slots,
            self.n_rows,
        )


def _sweep_shard_group(
    shard: Shard, sources: np.ndarray, group: _ShardGroup, counts: BlockCounts
) -> np.ndarray:
    """Search every graph from its sources of the group; the farthest of each slot."""
    n_nodes, n_arcs, n_slots, n_rows = shard.n_nodes, shard.n_arcs, group.n_slots, group.n_rows
    state_bytes = gpu_state_bytes(n_nodes, n_arcs, group.n_words, shard.n_graphs, group.n_chunks)
    state = cp.empty(state_bytes, np.uint8)
    table = cp.empty((n_rows, n_slots), np.int32)
    control = cp.zeros(CONTROL, np.int32)
    farthest = cp.empty((n_slots, N_FARTHEST), NODE)
    nodes = (group.node_of_slot + sources[group.row_of_slot]).astype(NODE)
    columns = (group.chunk_ptr, group.slot_ptr.astype(np.int32), group.slot_graph, nodes)
    tables = [cp.asarray(column) for column in columns]
    first_depth = 1
    while True:
        group.kernel(
            (group.grid,),
            (COOPERATIVE_BLOCK,),
            (
                shard.indptr,
                shard.indices,
                np.int64(n_nodes),
                np.int64(n_arcs),
                np.int32(group.n_chunks),
                np.int32(group.chunk_size),
                np.int32(shard.n_graphs),
                shard.node_ptr,
                *tables,
                np.int32(n_slots),
                table,
                np.int32(n_rows),
                np.int32(first_depth),
                farthest,
                np.uintp(0),
                np.int32(unit_shift(n_nodes)),
                control,
                state,
            ),
        )
        host = control.get()  # the one synchronisation
        depth, is_ended = int(host[AT_DEPTH]), bool(host[AT_IS_ENDED])
        first_row = 1 if first_depth == 1 else 2
        block = table[first_row : depth - first_depth + 3]
        by_slot = cp.ascontiguousarray(block.T)
        is_level = by_slot > 0
        n_levels = cp.count_nonzero(is_level, axis=1).get()
        alive = np.flatnonzero(n_levels)
        counts.add(group.row_of_slot[alive], n_levels[alive], by_slot[is_level].get())
        if is_ended:
            return farthest.get()
        table[:2] = table[n_rows - 2 :].copy()
        first_depth = depth + 1
