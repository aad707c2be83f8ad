"""Bytes that a search from many sources allocates, by the size of its graph. Pure.

Every launcher asks here before it allocates. ``docs/algorithms.md`` states the sums a node and an
arc; the tests hold them against what allocators hand out.
"""

from __future__ import annotations

import functools

from kernels.multi_source.cpu.state import (
    BLOCK,
    LANES,
    LEAST_WITHIN,
    N_LOGS_APART,
    ROW_BYTES,
    list_capacity,
)
from kernels.types import N_FARTHEST

CHUNKS_EACH = 8  # ranges of nodes a thread of the host: they end together though hubs differ
_NODE_BYTES = 4

SEGMENT = 256  # arcs; as in common.cuh
CONTROL = 32  # int32 words of struct Control
N_PLANES = 4  # bit planes of levels that a sweep begins with: levels 0 to 15


def unit_shift(n_nodes: int) -> int:
    """Binary logarithm of the nodes of a unit: some thousands of units, 64 to 512 nodes each."""
    return min(max((n_nodes >> 12).bit_length(), 6), 9)


@functools.lru_cache(maxsize=256)
def gpu_state_bytes(
    n_nodes: int, n_arcs: int, n_words: int, n_graphs: int = 1, n_chunks: int | None = None
) -> int:
    """State of a sweep of ``64 * n_words`` lanes on a GPU; mirrors ``place_state`` of state.cuh.

    About 32 * n_words + 12.5 bytes a node, and (40 + 8 * n_words) / 256 bytes an arc at most, of
    one graph. With ``n_chunks`` that of a shard, which has no lists of nodes.
    """
    n_units = ((n_nodes - 1) >> unit_shift(n_nodes)) + 1
    n_hubs = n_arcs // SEGMENT
    parts = [8 * n_nodes * n_words, 24 * n_nodes * n_words, 32 * n_units * n_words]
    parts += [8 * n_hubs * n_words, 16 * ((n_nodes + 31) // 32 + 1)]
    parts += [4 * n_hubs, 4 * n_hubs, 8 * n_hubs, 8 * n_hubs]
    if n_chunks is None:
        parts += [12 * n_nodes]
    else:
        parts += [4 * n_hubs, 4 * n_chunks, 4 * n_graphs]
    return sum(-(-part // 16) * 16 for part in parts)


def gpu_results_words(n_slots: int, n_rows: int) -> int:
    """int32 words of what a sweep of one graph is given and gives: control to counts."""
    return CONTROL + n_slots + N_FARTHEST * n_slots + n_rows * n_slots


def gpu_levels_bytes(n_nodes: int, n_sources: int, n_words: int) -> int:
    """The level matrix of all sources, a byte each, and the bit planes of one sweep."""
    return n_nodes * (-(-n_sources // 4) * 4) + 8 * N_PLANES * n_nodes * n_words


def gpu_shard_bytes(
    n_nodes: int,
    n_arcs: int,
    n_words: int,
    n_graphs: int,
    n_chunks: int,
    n_slots: int,
    n_rows: int,
) -> int:
    """A sweep of a shard: its state, its tables, and its counts while they are taken off.

    A slot is a search: counts of ``n_rows`` levels, once more in the order of the searches with
    a mask, and once more without what is 0; the farthest nodes; source, graph.
    """
    state = gpu_state_bytes(n_nodes, n_arcs, n_words, n_graphs, n_chunks)
    return state + n_slots * (13 * n_rows + 4 * N_FARTHEST + 16) + 24 * (n_graphs + 1) + 4 * CONTROL


def host_bytes(
    n_nodes: int,
    n_sources: int,
    *,
    levels: bool = False,
    level_itemsize: int = 1,
    n_threads: int = 1,
    eccentricity: int = 64,
) -> int:
    """Peak bytes that one ``msbfs`` on cores allocates besides the graph, results included.

    Parameters
    ----------
    n_nodes, n_sources : int
    levels : bool
        The level matrix too: ``level_itemsize`` bytes a node and source. With itemsize 1 the
        logs of a sweep lie within it; deeper levels keep a byte matrix beside the wide one.
    level_itemsize : int
        1, 2 or 4: levels up to 254, 65,534, and more.
    n_threads : int
        Threads that share the searches.
    eccentricity : int
        Largest number of hops expected; a hop count of 8 bytes a source each, twice.

    Notes
    -----
    A node costs a sweep 53 bytes, however many sources: two rows of 16 bytes, 12 in a list of
    half of the nodes, and 8.25 for one search that a long sweep is held against. With levels
    from less than 64 or more than 128 sources 64 bytes more, for logs that do not lie within the
    matrix. Single searches cost 8.25 bytes a node and thread; all of them are never run beside a
    sweep: the larger of the two counts. Arcs cost nothing: no call copies them.
    """
    if n_sources == 0 or n_nodes == 0:
        return 0
    n_chunks = CHUNKS_EACH * n_threads
    rows = 2 * ROW_BYTES * n_nodes
    listed = list_capacity(n_nodes) * (2 * _NODE_BYTES + ROW_BYTES)
    counting = n_chunks * LANES * (2 * N_FARTHEST * 4 + 2 * 4 + 8 + 1) + n_chunks * BLOCK * 8
    by_level = 2 * 8 * LANES * 2 * max(32, eccentricity + 2)
    sweep = rows + listed + counting + by_level
    if levels and not LEAST_WITHIN <= n_sources <= LANES:
        sweep += N_LOGS_APART * ROW_BYTES * n_nodes
    one_search = 2 * _NODE_BYTES * (n_nodes + 1) + 16 * (-(-n_nodes // 64))
    sweep += one_search
    single = n_threads * one_search
    results = n_sources * (2 * 8 * (eccentricity + 1) + 64 + 4 * N_FARTHEST)
    matrix = 0
    if levels:
        matrix = n_nodes * n_sources * level_itemsize
        if level_itemsize > 1:  # made of the byte matrix, which is still there
            matrix += n_nodes * n_sources * (1 + level_itemsize // 2)
    # One source is never swept.
    return max(sweep if n_sources > 1 else 0, single) + results + matrix
