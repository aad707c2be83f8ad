"""Bit-parallel searches on one GPU: launches the kernels of ``multi_source.cu``.

A group is up to 128 lanes of every graph; groups run one after another, so memory does not grow
with the number of sources. Graphs that have no source left take no part in a group.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import BLOCK, WARP, grid_for, n_multiprocessors, on_device_of
from kernels._cuda.loader import load_kernel
from kernels.breadth_first.gpu import bfs_in_order
from kernels.csr import CSRGraph, Shard
from kernels.errors import GraphError
from kernels.types import N_FARTHEST, NODE, OFFSET

LANES = 128  # two words: one 16-byte gather an arc
# Nodes and arcs of a chunk: the work of a warp. Few, and warps end together; many, and a warp's
# counts cost fewer atomics. Wanted: CHUNKS_EACH chunks a multiprocessor, within these bounds.
CHUNK_MIN, CHUNK_MAX = 256, 16384
CHUNKS_EACH = 128
# Sources up to which single searches beat a sweep: at 1 M nodes one takes 1.0 ms, a sweep from one
# 3.7 and from 100 sources 4.6 ms (benchmarks/bench_searches.py on one H200).
MAX_SINGLE = 3
COUNT_CELLS = 1 << 20  # counts (level, slot) kept on the device before they are taken off

Raw = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass
class _Level:
    """The level matrix, (n_nodes, n_columns), widened as levels grow."""

    array: Any  # None: no levels asked for

    def fit(self, depth: int) -> None:
        """Make room for ``depth``: no level may reach the dtype's maximum."""
        if self.array is None or depth < np.iinfo(self.array.dtype).max:
            return
        old = np.iinfo(self.array.dtype).max
        wider = np.dtype(np.uint16 if old == 255 else np.int32)
        self._become(wider)

    def trim(self, eccentricity: int) -> None:
        """Undo a widening for a level that no node turned out to have."""
        if self.array is None:
            return
        narrowest = np.uint8 if eccentricity < 255 else np.uint16
        if eccentricity < 65535 and self.array.dtype != narrowest:
            self._become(np.dtype(narrowest))

    def _become(self, dtype: np.dtype) -> None:
        unreached = self.array == np.iinfo(self.array.dtype).max
        self.array = self.array.astype(dtype)
        self.array[unreached] = np.iinfo(dtype).max


@dataclass
class _Counts:
    """Counts taken off the device: (source row, level, nodes), each above 0."""

    rows: list[np.ndarray] = field(default_factory=list)
    depths: list[np.ndarray] = field(default_factory=list)
    counts: list[np.ndarray] = field(default_factory=list)

    def add(self, block: Any, first_depth: int, row_of_slot: np.ndarray) -> None:
        depth, slot = cp.nonzero(block)
        self.counts.append(block[depth, slot].get())
        self.depths.append(depth.get() + first_depth)
        self.rows.append(row_of_slot[slot.get()])

    def ragged(self, n_sources: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """hop_ptr, hop_counts and n_reached; levels 0 .. eccentricity of a source have nodes."""
        row = np.concatenate([np.empty(0, np.int64), *self.rows]).astype(np.int64)
        depth = np.concatenate([np.empty(0, np.int64), *self.depths])
        count = np.concatenate([np.empty(0, np.int32), *self.counts]).astype(np.int64)
        order = np.lexsort((depth, row))
        hop_ptr = np.zeros(n_sources + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=n_sources), out=hop_ptr[1:])
        # Not bincount with weights: those are float64.
        n_reached = np.zeros(n_sources, np.int64)
        np.add.at(n_reached, row, count)
        return hop_ptr, count[order], n_reached


def sweep_graph(graph: CSRGraph, sources: np.ndarray, levels: bool) -> tuple[Raw, Any]:
    """Outputs of ``_sweep``, and levels (n_sources, n_nodes) on the device or None."""
    if not levels and 0 < len(sources) <= MAX_SINGLE:
        return _single_searches(graph, sources), None
    node_ptr = np.array([0, graph.n_nodes], OFFSET)
    source_ptr = np.array([0, len(sources)], OFFSET)
    with on_device_of(graph.indptr):
        level = _Level(None)
        if levels:
            level.array = cp.full((graph.n_nodes, len(sources)), 255, np.uint8)
        raw = _sweep(graph.indptr, graph.indices, node_ptr, source_ptr, sources, level)
        level.trim(int(raw[2].max(initial=0)))
        return raw, None if level.array is None else level.array.T


def _single_searches(graph: CSRGraph, sources: np.ndarray) -> Raw:
    """Outputs of ``_sweep`` from one search after another."""
    hop_counts, last_nodes = [], []
    for source in sources:
        _, queue, ends = bfs_in_order(graph.indptr, graph.indices, int(source))
        hop_counts.append(np.diff([0, *ends]))
        with on_device_of(queue):
            last = queue[ends[-2] if len(ends) > 1 else 0 : ends[-1]]
            nodes = cp.sort(last)[:N_FARTHEST].get()
        last_nodes.append(np.pad(nodes, (0, N_FARTHEST - len(nodes)), constant_values=-1))
    n_levels = np.array([len(counts) for counts in hop_counts])
    hop_ptr = np.concatenate([[0], np.cumsum(n_levels)])
    n_reached = np.array([counts.sum() for counts in hop_counts])
    eccentricity = (n_levels - 1).astype(np.int32)
    return hop_ptr, np.concatenate(hop_counts), eccentricity, n_reached, np.array(last_nodes)


def sweep_shard(shard: Shard, source_ptr: np.ndarray, sources: np.ndarray) -> Raw:
    """Outputs of ``_sweep``."""
    with on_device_of(shard.indptr):
        node_ptr = shard.node_ptr.get()
        return _sweep(shard.indptr, shard.indices, node_ptr, source_ptr, sources, _Level(None))


def _sweep(
    indptr: Any,
    indices: Any,
    node_ptr: np.ndarray,
    source_ptr: np.ndarray,
    sources: np.ndarray,
    level: _Level,
) -> Raw:
    """hop_ptr, hop_counts, eccentricity, n_reached, farthest of every source, on the host."""
    n_sources = len(sources)
    farthest = np.full((n_sources, N_FARTHEST), -1, NODE)
    counts = _Counts()
    if n_sources:
        chunks = _chunks(indptr, node_ptr)
        n_words = 1 if np.diff(source_ptr).max() <= 64 else 2
        shape = (len(indptr) - 1, n_words)
        # frontier, found, seen, last: the one large allocation
        words = [cp.empty(shape, cp.uint64) for _ in range(4)]
        for first_lane in range(0, int(np.diff(source_ptr).max()), LANES):
            _sweep_group(
                (indptr, indices),
                node_ptr,
                source_ptr,
                sources,
                first_lane,
                chunks,
                words,
                level,
                counts,
                farthest,
            )
    hop_ptr, hop_counts, n_reached = counts.ragged(n_sources)
    eccentricity = (np.diff(hop_ptr) - 1).astype(np.int32)
    return hop_ptr, hop_counts, eccentricity, n_reached, farthest


def _sweep_group(
    arcs: tuple[Any, Any],
    node_ptr: np.ndarray,
    source_ptr: np.ndarray,
    sources: np.ndarray,
    first_lane: int,
    chunks: tuple[np.ndarray, np.ndarray, np.ndarray],
    words: list[Any],
    level: _Level,
    counts: _Counts,
    farthest: np.ndarray,
) -> None:
    """Search from sources first_lane .. first_lane + 127 of every graph."""
    n_words = words[0].shape[1]
    n_lanes = np.clip(np.diff(source_ptr) - first_lane, 0, 64 * n_words)
    slot_ptr = np.zeros(len(n_lanes) + 1, np.int64)
    np.cumsum(n_lanes, out=slot_ptr[1:])
    n_slots = int(slot_ptr[-1])
    if n_slots > 2**31 - 1:
        raise GraphError(f"{n_slots} searches in one sweep; give smaller shards")
    graph_of_slot = np.repeat(np.arange(len(n_lanes)), n_lanes)
    lane_of_slot = np.arange(n_slots) - slot_ptr[graph_of_slot]
    row_of_slot = source_ptr[graph_of_slot] + first_lane + lane_of_slot
    node_of_slot = node_ptr[graph_of_slot] + sources[row_of_slot]

    takes_part = n_lanes[chunks[2]] > 0
    begin, end, graph = (cp.asarray(column[takes_part]) for column in chunks)
    n_chunks = len(begin)
    grid = ((grid_for(n_chunks * WARP),), (BLOCK,))
    slot_ptr_gpu = cp.asarray(slot_ptr, cp.int32)
    for array in words:
        array.fill(0)
    frontier, found, seen, last = words
    load_kernel(__file__, "msbfs_seed")(
        (grid_for(n_slots),),
        (BLOCK,),
        (
            cp.asarray(node_of_slot, NODE),
            cp.asarray(lane_of_slot, cp.int32),
            cp.int64(n_slots),
            cp.int32(n_words),
            frontier,
            seen,
        ),
    )
    if level.array is not None:  # one graph: a slot is a column
        level.array[cp.asarray(node_of_slot), cp.asarray(row_of_slot)] = 0

    n_rows = max(8, min(1024, COUNT_CELLS // n_slots))
    block = cp.zeros((n_rows, n_slots), cp.int32)
    block[0] = 1  # level 0: the source itself
    block_depth = 0  # level of the block's first row
    before, now = cp.zeros(n_slots, cp.int32), block[0]  # level -1 has nothing
    deepest = cp.zeros(1, cp.int32)
    depth, is_ended = 0, False
    while True:
        depth += 1
        if depth - block_depth == n_rows:
            counts.add(block, block_depth, row_of_slot)
            block, block_depth = cp.zeros_like(block), depth
        level.fit(depth)
        after = block[depth - block_depth]
        step = "" if level.array is None else f"_{level.array.dtype}"
        load_kernel(__file__, f"msbfs_step_{n_words}{step}")(
            *grid,
            (
                *arcs,
                begin,
                end,
                graph,
                cp.int32(n_chunks),
                slot_ptr_gpu,
                frontier,
                found,
                seen,
                last,
                before,
                now,
                after,
                deepest,
                cp.int32(depth),
                np.uintp(0) if level.array is None else level.array[:, first_lane:],
                cp.int64(0 if level.array is None else level.array.shape[1]),
            ),
        )
        before, now = now, after
        frontier, found = found, frontier
        if is_ended:
            break
        # The one synchronisation of each level. A lane's last level is known one step after it
        # has ended and written down by the step after that, hence one step more.
        is_ended = int(deepest[0]) < depth
    counts.add(block, block_depth, row_of_slot)
    farthest[row_of_slot] = _farthest((begin, end, graph), slot_ptr_gpu, n_slots, node_ptr, last)


def _farthest(
    chunks: tuple[Any, Any, Any], slot_ptr: Any, n_slots: int, node_ptr: np.ndarray, last: Any
) -> np.ndarray:
    """The smallest nodes of each slot's last level, (n_slots, N_FARTHEST), on the host."""
    begin, end, graph = chunks
    n_chunks, n_words = len(begin), last.shape[1]
    grid = ((grid_for(n_chunks * WARP),), (BLOCK,))
    numbers = (cp.int32(n_chunks), cp.int32(n_words))
    n_last = cp.empty((n_chunks, 64 * n_words), cp.int32)
    load_kernel(__file__, "msbfs_count_last")(*grid, (begin, end, *numbers, last, n_last))
    n_before = cp.cumsum(n_last, axis=0, dtype=cp.int32) - n_last
    n_before -= n_before[cp.searchsorted(graph, graph, side="left")]  # from the graph's first
    farthest = cp.full((n_slots, N_FARTHEST), -1, NODE)
    load_kernel(__file__, "msbfs_list_last")(
        *grid,
        (
            begin,
            end,
            graph,
            numbers[0],
            slot_ptr,
            cp.asarray(node_ptr),
            numbers[1],
            last,
            cp.ascontiguousarray(n_before),
            cp.int32(N_FARTHEST),
            farthest,
        ),
    )
    return farthest.get()


def _chunks(indptr: Any, node_ptr: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First node, one past the last, and graph of each chunk: (n_chunks,) int32 each."""
    n_nodes = len(indptr) - 1
    work = indptr + cp.arange(n_nodes + 1)  # nodes and arcs before each node
    total = int(work[-1])
    n_wanted = CHUNKS_EACH * n_multiprocessors(cp.cuda.Device().id)
    size = min(max(total // n_wanted, CHUNK_MIN), CHUNK_MAX)
    cuts = cp.searchsorted(work, cp.arange(0, total, size)).get()
    borders = np.unique(np.concatenate([node_ptr, cuts]))
    begin, end = borders[:-1], borders[1:]
    graph = np.searchsorted(node_ptr, begin, side="right") - 1
    return begin.astype(NODE), end.astype(NODE), graph.astype(np.int32)
