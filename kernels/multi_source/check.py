"""Certificate of many searches: the levels of every source are certified, and the rest counted
from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels.breadth_first.check import check_levels
from kernels.csr import CSRGraph, Shard, to_host
from kernels.errors import CheckError
from kernels.multi_source import MSBFSResult, ShardResult, msbfs
from kernels.stated import stated_array, stated_nodes, stated_rows
from kernels.types import LEVEL, N_FARTHEST, NODE, OFFSET, UNREACHED

LEVELS = np.uint8, np.uint16, LEVEL
BLOCK_BYTES = 256 << 20  # levels made at a time for a result that has none


def check_msbfs(graph: CSRGraph, sources: Any, result: MSBFSResult) -> None:
    """Raise CheckError unless every row of ``result`` is right.

    Parameters
    ----------
    graph : CSRGraph
        On any device; checked on the host.
    sources : (n_sources,) integers
    result : MSBFSResult
        If it has no levels they are searched again, a block of sources at a time, and certified;
        the summary is then checked against them.

    Notes
    -----
    O(n_arcs * n_sources): one certificate per source (``breadth_first.check``).
    """
    host = graph.to("cpu")
    sources = stated_array("sources", sources, NODE, (None,))
    n_sources = len(sources)
    hop_counts = stated_array("hop_counts", result.hop_counts, OFFSET, (n_sources, None))
    eccentricity = stated_array("eccentricity", result.eccentricity, LEVEL, (n_sources,))
    n_reached = stated_array("n_reached", result.n_reached, OFFSET, (n_sources,))
    farthest = stated_array("farthest", result.farthest, NODE, (n_sources, N_FARTHEST))
    # Not copied as a whole: it may be on a GPU, and larger than all else.
    shape, expected = getattr(result.level, "shape", None), (n_sources, graph.n_nodes)
    if result.level is not None and shape != expected:
        raise CheckError(f"level has shape {shape}, not {expected}")
    stated_nodes("sources", sources, host.n_nodes)
    size = max(1, BLOCK_BYTES // max(1, host.n_nodes))
    for first in range(0, n_sources, size):
        block = slice(first, first + size)
        if result.level is None:
            level = msbfs(host, sources[block], levels=True).level
        else:
            level = to_host(result.level[block])
        for row, source in enumerate(sources[block], start=first):
            check_source(
                host,
                int(source),
                level[row - first],
                hop_counts[row],
                eccentricity[row],
                n_reached[row],
                farthest[row],
            )


def check_shard(shard: Shard, sources: Any, source_ptr: Any, result: ShardResult) -> None:
    """Raise CheckError unless every row of ``result`` is right; parameters as ``msbfs_shard``."""
    host = shard.to("cpu")
    sources = stated_array("sources", sources, NODE, (None,))
    n_sources = len(sources)
    hop_counts = stated_array("hop_counts", result.hop_counts, OFFSET, (None,))
    eccentricity = stated_array("eccentricity", result.eccentricity, LEVEL, (n_sources,))
    n_reached = stated_array("n_reached", result.n_reached, OFFSET, (n_sources,))
    farthest = stated_array("farthest", result.farthest, NODE, (None,))
    source_ptr = stated_rows("source_ptr", source_ptr, host.n_graphs, n_sources)
    hop_ptr = stated_rows("hop_ptr", result.hop_ptr, n_sources, len(hop_counts))
    last_ptr = stated_rows("farthest_ptr", result.farthest_ptr, n_sources, len(farthest))
    for i in range(host.n_graphs):
        rows = range(int(source_ptr[i]), int(source_ptr[i + 1]))
        graph = host.graph(i)
        stated_nodes(f"sources of graph {i}", sources[rows.start : rows.stop], graph.n_nodes)
        size = max(1, BLOCK_BYTES // max(1, graph.n_nodes))
        for first in range(rows.start, rows.stop, size):
            own = range(first, min(first + size, rows.stop))
            level = msbfs(graph, sources[own.start : own.stop], levels=True).level
            for row in own:
                hops = slice(int(hop_ptr[row]), int(hop_ptr[row + 1]))
                nodes = slice(int(last_ptr[row]), int(last_ptr[row + 1]))
                check_source(
                    graph,
                    int(sources[row]),
                    level[row - first],
                    hop_counts[hops],
                    eccentricity[row],
                    n_reached[row],
                    farthest[nodes],
                )


def check_source(
    graph: CSRGraph,
    source: int,
    level: np.ndarray,
    hop_counts: np.ndarray,
    eccentricity: int,
    n_reached: int,
    farthest: np.ndarray,
) -> None:
    """Raise CheckError unless a search's levels are certified and its summary follows from them.

    Parameters
    ----------
    graph : CSRGraph
        On the host.
    level : (n_nodes,) int32 with -1 unreached, or any dtype of ``MSBFSResult.level``
    hop_counts : zeros beyond the last level are allowed
    farthest : up to N_FARTHEST nodes, -1 after the last
    """
    if level.dtype not in LEVELS:
        raise CheckError(f"level has dtype {level.dtype}, not uint8, uint16 or int32")
    if level.dtype != LEVEL or (level.size and level.max() == np.iinfo(LEVEL).max):
        unreached = level == np.iinfo(level.dtype).max
        level = level.astype(LEVEL)
        level[unreached] = UNREACHED
    check_levels(graph.indptr, graph.indices, source, level)
    counts = np.bincount(level + 1)[1:]  # unreached nodes fall into the first bin
    found = np.asarray(hop_counts)
    if (
        len(found) < len(counts)
        or (found[: len(counts)] != counts).any()
        or (found[len(counts) :] != 0).any()
    ):
        raise CheckError(f"source {source}: hop counts {found.tolist()}, not {counts.tolist()}")
    if eccentricity != len(counts) - 1:
        raise CheckError(f"source {source}: eccentricity {eccentricity}, not {len(counts) - 1}")
    if n_reached != counts.sum():
        raise CheckError(f"source {source}: {n_reached} nodes reached, not {counts.sum()}")
    last = np.flatnonzero(level == len(counts) - 1)[:N_FARTHEST].tolist()
    nodes = np.asarray(farthest).tolist()
    if nodes != last + [-1] * (len(nodes) - len(last)) or len(nodes) < len(last):
        raise CheckError(f"source {source}: farthest nodes {nodes}, not {last}")
