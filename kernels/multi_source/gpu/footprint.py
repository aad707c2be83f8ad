"""Bytes that a search from many sources allocates on a GPU, by the size of its graph. Pure.

Every launcher asks here before it allocates. ``docs/algorithms.md`` states the sums per node and
per arc; the tests compare them with what is allocated.
"""

from __future__ import annotations

import functools

from kernels._cuda.constants import SEGMENT
from kernels.multi_source.gpu.constants import CONTROL, N_FARTHEST

N_PLANES = 4  # bit planes of levels that a sweep begins with: levels 0 to 15


def unit_shift(n_nodes: int) -> int:
    """Binary logarithm of the nodes of a unit: some thousands of units, 64 to 512 nodes each."""
    return min(max((n_nodes >> 12).bit_length(), 6), 9)


@functools.lru_cache(maxsize=256)
def gpu_state_bytes(
    n_nodes: int, n_arcs: int, n_words: int, n_graphs: int = 1, n_chunks: int | None = None
) -> int:
    """State of a sweep of ``64 * n_words`` lanes on a GPU; mirrors ``place_state`` of state.cuh.

    About 32 * n_words + 12.5 bytes per node, and (40 + 8 * n_words) / 256 bytes per arc at most, of
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
    """int32 words of the inputs and outputs of a sweep of one graph, from control to counts."""
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
    """A sweep of a shard: its state, its tables, and its counts while they are copied.

    A slot is a search: counts of ``n_rows`` levels, once more in the order of the searches with
    a mask, and once more without what is 0; the farthest nodes; source, graph.
    """
    state = gpu_state_bytes(n_nodes, n_arcs, n_words, n_graphs, n_chunks)
    return state + n_slots * (13 * n_rows + 4 * N_FARTHEST + 16) + 24 * (n_graphs + 1) + 4 * CONTROL
