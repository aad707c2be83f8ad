"""Graph after graph in one compiled call: small graphs of a shard, each while in the cache."""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_I64, OUT_U64
from kernels.breadth_first.cpu import search, smallest
from kernels.multi_source.cpu.sizes import BLOCK, LANES
from kernels.multi_source.cpu.state import BOTTOM_UP, GROW, LONG, SCRATCH
from kernels.multi_source.cpu.steps import bottom_up
from kernels.multi_source.cpu.sweep import advance, lane_of, start
from kernels.types import N_FARTHEST

MAX_SINGLE = 8  # sources up to which single searches beat a sweep: see bench_cpu_sweeps.py


@njit(cache=True, nogil=True)
def _longer(array, size):
    """A copy of twice ``size`` at least."""
    longer = np.empty(max(2 * array.size, size), array.dtype)
    for i in range(array.size):
        longer[i] = array[i]
    return longer


@njit(
    [
        OUT_I64(
            *(I64, I32, I64, I64, I32, types.int64, types.int64),  # the shard
            *(SCRATCH, OUT_I64),  # of a sweep
            *(OUT_I32, OUT_I32, OUT_U64),  # of a single search
            *(OUT_I32, OUT_I64, types.int32[:, ::1]),  # results
        )
    ],
    cache=True,
    nogil=True,
)
def search_graphs(
    indptr,
    indices,
    node_ptr,
    source_ptr,
    sources,
    first_graph,
    last_graph,
    scratch,
    by_level,
    queue,
    ends,
    bits,
    eccentricity,
    n_reached,
    farthest,
):
    """Search graphs first_graph .. last_graph - 1 of a shard; returns their hop counts.

    Fills the rows of their sources in ``eccentricity``, ``n_reached`` ((n_sources,)) and
    ``farthest`` ((n_sources, N_FARTHEST), -1 on entry; local ids, as ``sources`` are). The hop
    counts of a row are its eccentricity + 1 numbers, rows end to end.
    """
    state, no_logs = scratch.state[0], np.empty(0, np.uint8)
    hop_counts = np.empty(8 * (source_ptr[last_graph] - source_ptr[first_graph]) + 8, np.int64)
    end = np.int64(0)
    for graph in range(first_graph, last_graph):
        base = node_ptr[graph]
        n_nodes = node_ptr[graph + 1] - base
        begin_row, end_row = source_ptr[graph], source_ptr[graph + 1]
        n_sources = end_row - begin_row
        is_single = n_sources <= MAX_SINGLE
        start_of_graph = end
        n_groups = (n_sources + LANES - 1) // LANES
        for group in range(n_groups):
            if is_single:
                break
            row = begin_row + n_sources * group // n_groups
            n_lanes = begin_row + n_sources * (group + 1) // n_groups - row
            own = sources[row : row + n_lanes]
            start(indptr, own, base, n_nodes, 1, -1, 0, False, scratch, by_level)
            while True:
                todo = advance(indptr, indices, scratch, by_level)
                if todo == BOTTOM_UP:
                    bottom_up(indptr, indices, scratch, 0, n_nodes, 0, no_logs)
                elif todo == GROW:
                    by_level = _longer(by_level, np.int64(0))
                else:
                    break
            if todo == LONG:
                is_single = True
                break
            for i in range(n_lanes):
                lane = lane_of(i, n_lanes)
                n_levels = np.int64(state.eccentricity[lane]) + 1
                if end + n_levels > hop_counts.size:
                    hop_counts = _longer(hop_counts, end + n_levels)
                n_all = np.int64(0)
                for depth in range(n_levels):
                    n_here = by_level[depth * LANES + lane]
                    hop_counts[end + depth] = n_here
                    n_all += n_here
                end += n_levels
                eccentricity[row + i] = n_levels - 1
                n_reached[row + i] = n_all
                for k in range(N_FARTHEST):
                    farthest[row + i, k] = state.farthest[lane, k]
        if not is_single:
            continue
        end = start_of_graph
        for row in range(begin_row, end_row):
            n_levels = search(
                indptr, indices, base, n_nodes, np.int64(sources[row]), -1, queue, ends, bits
            )
            if end + n_levels > hop_counts.size:
                hop_counts = _longer(hop_counts, end + n_levels)
            begin = np.int64(0)
            for depth in range(n_levels):
                hop_counts[end + depth] = ends[depth] - begin
                begin = np.int64(ends[depth])
            end += n_levels
            eccentricity[row] = n_levels - 1
            n_reached[row] = begin
            last = np.int64(ends[n_levels - 2]) if n_levels > 1 else np.int64(0)
            smallest(queue, last, begin, farthest[row])
    return hop_counts[:end]


@njit([types.void(I64, types.int64, types.int64, OUT_I64)], cache=True, nogil=True)
def cut(indptr, base, n_nodes, borders):
    """Fill ``borders`` so that the ranges of nodes between them have similar numbers of arcs."""
    n_ranges = borders.size - 1
    whole = indptr[base + n_nodes] - indptr[base] + n_nodes
    borders[0] = 0
    for i in range(1, n_ranges):
        lo, hi = borders[i - 1], n_nodes
        while lo < hi:
            middle = (lo + hi) // 2
            if indptr[base + middle] - indptr[base] + middle < whole * i // n_ranges:
                lo = middle + 1
            else:
                hi = middle
        borders[i] = lo // BLOCK * BLOCK  # so that bytes of a range begin at a multiple of 64
    borders[n_ranges] = n_nodes
