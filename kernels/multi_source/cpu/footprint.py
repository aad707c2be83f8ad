"""Bytes that a search from many sources allocates on cores, by the size of its graph. Pure.

``docs/algorithms.md`` states the sums per node; the tests compare them with what is allocated.
"""

from __future__ import annotations

from kernels.multi_source.cpu.sizes import (
    BLOCK,
    LANES,
    LEAST_WITHIN,
    N_LOGS_APART,
    ROW_BYTES,
    list_capacity,
)
from kernels.types import N_FARTHEST

CHUNKS_EACH = 8  # ranges of nodes per thread, so that threads end together though hubs differ
_NODE_BYTES = 4


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
        The level matrix too: ``level_itemsize`` bytes per node and source. With itemsize 1 the
        logs of a sweep lie within it; deeper levels keep a byte matrix beside the wide one.
    level_itemsize : int
        1, 2 or 4: levels up to 254, 65,534, and more.
    n_threads : int
        Threads that share the searches.
    eccentricity : int
        Largest number of hops expected; each takes a hop count of 8 bytes per source, twice.

    Notes
    -----
    A node costs a sweep 53 bytes, however many sources: two rows of 16 bytes, 12 in a list of
    half of the nodes, and 8.25 for one search that a long sweep is compared with. With levels and
    fewer than 64 or more than 128 sources it costs 64 bytes more, for logs that do not fit in the
    matrix. Single searches cost 8.25 bytes per node and thread; all of them are never run beside a
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
