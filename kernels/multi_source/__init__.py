"""Searches from many sources at once, over one graph or over every graph of a shard.

Public functions validate and dispatch; ``cpu`` and ``gpu`` hold the two implementations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels._cpu.memory import check_fits
from kernels._cpu.threads import n_threads
from kernels.arguments import check_graph, flag, integer_row
from kernels.csr import MAX_NODES, CSRGraph, Shard, to_host
from kernels.errors import GraphError
from kernels.multi_source.cpu.footprint import host_bytes
from kernels.multi_source.cpu.sizes import LANES
from kernels.multi_source.rows import SourceRows
from kernels.printed import Printed
from kernels.types import NODE, OFFSET
from kernels.words import number

__all__ = ["LANES", "MSBFSResult", "ShardResult", "msbfs", "msbfs_shard"]


@dataclass(frozen=True, eq=False, repr=False)
class MSBFSResult(Printed):
    """Outcome of searches on one graph, one row per source; on the host, except ``level``.

    Attributes
    ----------
    hop_counts : (n_sources, n_levels) int64
        Nodes at each number of hops; n_levels is the largest eccentricity + 1 (0 without
        sources), and rows that end earlier are filled with 0.
    eccentricity : (n_sources,) int32, hops
    n_reached : (n_sources,) int64
        The source included.
    farthest : (n_sources, 10) int32
        The 10 smallest node ids of the last level, ascending, -1 where it has fewer.
    level : (n_sources, n_nodes) uint8, uint16 or int32, or None
        The narrowest dtype whose maximum no level reaches; the maximum means unreached. In any
        memory order. On the graph's device.
    sources : (n_sources,) int32
    """

    hop_counts: np.ndarray
    eccentricity: np.ndarray
    n_reached: np.ndarray
    farthest: np.ndarray
    level: Any = None
    sources: np.ndarray = field(kw_only=True)
    graph: CSRGraph = field(kw_only=True, repr=False)

    def check(self) -> None:
        """Raise CheckError unless every row is right; O(n_arcs * n_sources), on the host."""
        from kernels.multi_source.check import check_msbfs

        check_msbfs(self.graph, self.sources, self)


@dataclass(frozen=True, eq=False, repr=False)
class ShardResult(SourceRows):
    """Outcome of searches on a shard.

    Attributes
    ----------
    sources : (n_sources,) int32; source_ptr : (n_graphs + 1,) int64
        As given.
    """

    sources: np.ndarray
    source_ptr: np.ndarray
    shard: Shard = field(repr=False)

    def check(self) -> None:
        """Raise CheckError unless every row is right; O(n_arcs * n_sources), on the host."""
        from kernels.multi_source.check import check_shard

        check_shard(self.shard, self.sources, self.source_ptr, self)


def msbfs(graph: CSRGraph, sources: Any, levels: bool = False) -> MSBFSResult:
    """Search breadth-first from many nodes, up to 128 in one sweep, on a GPU up to 256.

    Parameters
    ----------
    graph : CSRGraph
        Runs on ``graph.device``.
    sources : (n_sources,) integers
        0 <= source < graph.n_nodes, any number of them, repeated ones allowed.
    levels : bool
        Also give the level of every node from every source: n_sources * n_nodes bytes, more if
        a level reaches 255.

    Returns
    -------
    MSBFSResult

    Raises
    ------
    GraphError
        If a source is not a node.
    DeviceError
        If the graph is on a GPU and the kernel cannot be built or has no memory there.
    HostMemoryError
        If the graph is on the host and there is too little free, with the numbers.

    Notes
    -----
    Memory is computed before it is taken (``footprint``): without ``levels`` 53 bytes per node on
    cores, 45, 78 or 143 on a GPU (64, 128 or 256 sources at a time), and 16 bytes per source and
    level for the hop counts. O(n_arcs * levels) work for 128 sources at worst, mostly far less
    [1]_: bit l of a word is the l-th source. On cores a few sources, and sources of long graphs,
    are searched one after another instead: faster there, and the results are the same. Without
    sources, or without nodes, the result has no rows. An isolated source reaches itself alone.
    The result does not depend on the device.

    References
    ----------
    .. [1] M. Then et al., "The more the merrier: efficient multi-source graph traversal",
       VLDB 2014.

    Examples
    --------
    >>> path = CSRGraph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
    >>> msbfs(path, [0, 1]).hop_counts
    array([[1, 1, 1],
           [1, 2, 0]])
    """
    check_graph(graph, CSRGraph)
    sources, levels = sources_of(graph, sources), flag("levels", levels)
    if graph.device == "gpu":
        from kernels.multi_source.gpu import search as gpu

        return MSBFSResult(*gpu.sweep_graph(graph, sources, levels), sources=sources, graph=graph)
    from kernels.multi_source.cpu import search as cpu

    check_fits(*_host_needs(graph.n_nodes, graph.n_arcs, len(sources), levels))
    raw, level = cpu.search_graph(graph.indptr, graph.indices, sources, levels)
    hop_ptr, flat, eccentricity, n_reached, farthest = raw
    n_levels = int(eccentricity.max()) + 1 if len(sources) else 0
    # A number each and, while they are placed, a mark.
    what = f"a matrix of hop counts of {len(sources)} sources at up to {n_levels - 1} hops"
    check_fits(9 * len(sources) * n_levels, f"{what} (msbfs_shard keeps them end to end)")
    hop_counts = np.zeros((len(sources), n_levels), np.int64)
    hop_counts[np.arange(n_levels) < np.diff(hop_ptr)[:, None]] = flat
    summary = hop_counts, eccentricity, n_reached, farthest
    return MSBFSResult(*summary, level, sources=sources, graph=graph)


def msbfs_shard(shard: Shard, sources: Any, source_ptr: Any) -> ShardResult:
    """Search every graph of a shard from its own sources.

    Parameters
    ----------
    shard : Shard
        Runs on ``shard.device``.
    sources : (n_sources,) integers
        Node ids *within their graph*: graph i is searched from
        sources[source_ptr[i]:source_ptr[i + 1]], any number, repeated ones allowed.
    source_ptr : (n_graphs + 1,) integers

    Returns
    -------
    ShardResult

    Raises
    ------
    GraphError
        If ``source_ptr`` does not fit, or a source is not a node of its graph.
    DeviceError
        As ``msbfs``.

    Notes
    -----
    GPU: bit l of a sweep is the l-th source of *every* graph, since no search leaves its graph.
    So thousands of small graphs cost what their arcs cost. CPU: graph after graph within one
    call, each in the cache for all of its sources.
    """
    check_graph(shard, Shard)
    sources = _sources_of(sources)
    source_ptr = np.array(integer_row("source_ptr", to_host(source_ptr)), OFFSET)
    if source_ptr.shape != (shard.n_graphs + 1,):
        raise GraphError(
            f"source_ptr has shape {source_ptr.shape}; {shard.n_graphs} graphs need "
            f"({shard.n_graphs + 1},)"
        )
    if source_ptr[0] != 0 or source_ptr[-1] != len(sources) or (np.diff(source_ptr) < 0).any():
        raise GraphError(
            f"source_ptr runs from {source_ptr[0]} to {source_ptr[-1]}; it must rise from 0 to the "
            f"number of sources, {len(sources)}"
        )
    node_ptr = to_host(shard.node_ptr)
    graph_of = np.repeat(np.arange(shard.n_graphs), np.diff(source_ptr))
    _check_sources(sources, graph_of, np.diff(node_ptr), source_ptr)
    if shard.device == "cpu":
        from kernels.multi_source.cpu import search as cpu

        # Graph after graph: the largest needs most; results of all are kept.
        largest = int(np.diff(node_ptr).max(initial=0))
        check_fits(*_host_needs(largest, shard.n_arcs, len(sources), False))
        raw = cpu.search_shard(shard.indptr, shard.indices, node_ptr, source_ptr, sources)
    else:
        from kernels.multi_source.gpu import search as gpu

        raw = gpu.sweep_shard(shard, source_ptr, sources)
    hop_ptr, hop_counts, eccentricity, n_reached, farthest = raw
    used = farthest >= 0
    farthest_ptr = np.zeros(len(sources) + 1, np.int64)
    np.cumsum(used.sum(axis=1), out=farthest_ptr[1:])
    summary = hop_ptr, hop_counts, eccentricity, n_reached, farthest_ptr, farthest[used]
    return ShardResult(*summary, sources, source_ptr, shard)


def sources_of(graph: CSRGraph, given: Any) -> np.ndarray:
    """(n_sources,) int32 on the host; GraphError unless all are nodes of the graph."""
    sources = _sources_of(given)
    if len(sources) and sources.max() >= graph.n_nodes:
        _check_sources(sources, np.zeros(len(sources), np.int64), np.array([graph.n_nodes]), None)
    return sources


def _host_needs(n_nodes: int, n_arcs: int, n_sources: int, levels: bool) -> tuple[int, str]:
    """Bytes that searches on cores allocate, and what they are, for a message."""
    needed = host_bytes(n_nodes, n_sources, levels=levels, n_threads=n_threads())
    what = f"a search from {n_sources} sources of {n_nodes} nodes and {n_arcs} arcs"
    if levels:
        without = host_bytes(n_nodes, n_sources, n_threads=n_threads())
        what += f" with all levels ({without:,} bytes without them)"
    return needed, what


def _sources_of(sources: Any) -> np.ndarray:
    """(n_sources,) int32 on the host, not the caller's own; GraphError if they are no integers."""
    array = integer_row("sources", to_host(sources))
    if array.size and (array.max() >= MAX_NODES or array.min() < 0):
        worst = array.max() if array.min() >= 0 else array.min()
        raise GraphError(f"source {worst} is not a node; node ids are 0 to 2**31 - 2")
    return np.array(array, NODE)


def _check_sources(
    sources: np.ndarray, graph_of: np.ndarray, n_nodes: np.ndarray, source_ptr: Any
) -> None:
    """GraphError that names the first source that is not a node of its graph."""
    if not len(sources):
        return
    wrong = np.flatnonzero(sources >= n_nodes[graph_of])
    if len(wrong):
        i = int(wrong[0])
        which = "the graph" if source_ptr is None else f"graph {graph_of[i]}"
        held = number(n_nodes[graph_of[i]], "node")
        raise GraphError(f"source {sources[i]} is not a node; {which} has {held}")
