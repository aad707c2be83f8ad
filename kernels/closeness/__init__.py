"""Closeness and harmonic centrality of every node of graphs: how near all others are.

With d(u, v) the hops between two nodes that a path joins, n the nodes of the graph and r those of
the component of v:

    closeness(v) = (r - 1) / (n - 1) * (r - 1) / sum of d(u, v) over the other nodes u of it
    harmonic(v)  = sum of 1 / d(u, v) over them / (n - 1)

Both are 0 of a node without links, and 1 of one that is linked to all others. The first factor
makes nodes of several components comparable (Wasserman, Faust: Social Network Analysis, 1994); it
is that of NetworkX, whose harmonic centrality is not divided by n - 1.

Links have no direction, so sums of the distances *to* all nodes from some sources are those *from*
these nodes: sweeps from every node give all sums, and sweeps from some nodes an estimate of each.

*Estimates.* From k sources, drawn without replacement, of which h others are in the component of
v: the mean of their distances, and of the inverses, stands for that over the r - 1 nodes (Eppstein,
Wang: Fast approximation of centrality, SODA 2001).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kernels._cpu.sweep_constants import FAR, HITS, NEAR, UNIT
from kernels.arguments import check_graph, whole_number
from kernels.closeness.sums import add_all, of_hop_counts, sums_from
from kernels.connected import components
from kernels.csr import CSRGraph, Shard, to_host
from kernels.distance_distribution import MAX_EXACT, N_SOURCES
from kernels.errors import GraphError
from kernels.multi_source import msbfs
from kernels.types import NODE

__all__ = ["ShardCloseness", "closeness_of_sources", "closenesses"]

MOST_EXACT = 1 << 23  # nodes: as many inverses of 1 hop fit in 63 bits


@dataclass(frozen=True, eq=False)
class ShardCloseness:
    """Closeness of all nodes of the graphs of a shard; on the host.

    Attributes
    ----------
    closeness, harmonic : (n_nodes,) float64
        Of every node of the shard, 0 to 1. NaN in an estimate of which no source is in the
        component of the node.
    max_closeness : (n_graphs,) float64
        The largest of each graph; NaN without nodes.
    node : (n_graphs,) int32
        The smallest node, counted within its graph, that has it; -1 without nodes.
    is_estimated : (n_graphs,) bool
        Whether from some sources only.
    error : (n_graphs,) float64
        Standard error of ``max_closeness`` of an estimate; 0 of exact ones, NaN without nodes.
    n_searches : (n_graphs,) int64
        Sources searched: all nodes, or those of the estimate.
    """

    closeness: np.ndarray
    harmonic: np.ndarray
    max_closeness: np.ndarray
    node: np.ndarray
    is_estimated: np.ndarray
    error: np.ndarray
    n_searches: np.ndarray


def closenesses(
    shard: Shard,
    seed: int = 1,
    max_exact: int = MAX_EXACT,
    n_sources: int = N_SOURCES,
) -> ShardCloseness:
    """Find the closeness of every node of every graph of a shard.

    Parameters
    ----------
    shard : Shard
        Runs on ``shard.device``.
    seed : int
        Seed of the sources of estimates, the same for each graph.
    max_exact : int
        Largest graph, in nodes, that is searched from every node; at most 2**23.
    n_sources : int
        Sources of an estimate, 2 or more; a graph of no more nodes is never estimated.

    Returns
    -------
    ShardCloseness
        The same to the bit on any device, whatever other graphs the shard has: sums are of whole
        numbers, inverses exact up to 20 hops, and to within h * 2**-40 of them at h hops.

    Raises
    ------
    GraphError
        If ``seed``, ``max_exact`` or ``n_sources`` is out of range, or not a number.
    DeviceError
        If the shard is on a GPU and kernels cannot be built or have no memory there.
    HostMemoryError
        If it is on the host and there is too little free, with the numbers.

    Notes
    -----
    Exact: O(n_nodes * n_arcs) of each graph at worst, in sweeps of 512 sources on cores, about
    what ``effective_diameters`` takes.

    Examples
    --------
    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> closenesses(Shard(*path, np.array([0, 3]))).harmonic
    array([0.75, 1.  , 0.75])
    """
    check_graph(shard, Shard)
    seed, max_exact = whole_number("seed", seed, 0), whole_number("max_exact", max_exact)
    n_sources = whole_number("n_sources", n_sources)
    if n_sources < 2:
        raise GraphError(f"{n_sources} sources give no error estimate; give at least 2")
    if max_exact > MOST_EXACT:
        raise GraphError(f"max_exact {max_exact} is above {MOST_EXACT}: sums would not fit 64 bits")
    node_ptr = to_host(shard.node_ptr)
    n_nodes = np.diff(node_ptr)
    is_estimated = (n_nodes > max_exact) & (n_nodes > n_sources)
    sums = add_all(shard, ~is_estimated)
    reached = sums[:, HITS] + 1
    for i in np.flatnonzero(is_estimated).tolist():
        nodes = slice(int(node_ptr[i]), int(node_ptr[i + 1]))
        graph = shard.graph(i)
        rng = np.random.default_rng(seed)
        sources = rng.choice(graph.n_nodes, n_sources, replace=False).astype(NODE)
        sums[nodes] = sums_from(graph, sources)
        found = components(graph)
        reached[nodes] = found.sizes[np.searchsorted(found.ids, to_host(found.component))]
    closeness, harmonic = _values(sums, reached, np.repeat(n_nodes, n_nodes))
    most, node = _largest(closeness, node_ptr)
    error = np.where(np.isnan(most), np.nan, 0.0)
    for i in np.flatnonzero(is_estimated).tolist():
        hits = int(sums[node_ptr[i] + node[i], HITS])
        error[i] = most[i] * _relative_error(shard.graph(i), int(node[i]), hits)
    n_searches = np.where(is_estimated, n_sources, n_nodes)
    return ShardCloseness(closeness, harmonic, most, node, is_estimated, error, n_searches)


def closeness_of_sources(
    hop_ptr: np.ndarray, hop_counts: np.ndarray, n_nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Closeness and harmonic centrality of nodes that were searched from.

    Parameters
    ----------
    hop_ptr : (n_sources + 1,) int64; hop_counts : (hop_ptr[-1],) int64
        hop_counts[hop_ptr[i] + h] nodes lie at h hops of source i, itself at 0.
    n_nodes : (n_sources,) int64
        Nodes of its graph.

    Returns
    -------
    (n_sources,) float64, (n_sources,) float64
        As ``closenesses`` gives them, to the bit, unless it estimates.
    """
    sums = of_hop_counts(hop_ptr, hop_counts)
    return _values(sums, sums[:, HITS] + 1, n_nodes)


def _values(
    sums: np.ndarray, reached: np.ndarray, n_nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Closeness and harmonic of nodes whose components have ``reached`` nodes."""
    far, near, hits = (sums[:, at].astype(np.float64) for at in (FAR, NEAR, HITS))
    others = reached.astype(np.float64) - 1
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 where no source is another node
        share = others / (n_nodes - 1)
        closeness, harmonic = share * (hits / far), near / UNIT * (others / hits) / (n_nodes - 1)
    alone = others == 0
    closeness[alone] = harmonic[alone] = 0.0
    return closeness, harmonic


def _largest(values: np.ndarray, node_ptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Largest value of each graph, and the first of its nodes that has it."""
    size = np.diff(node_ptr)
    most, node = np.full(len(size), np.nan), np.full(len(size), -1, NODE)
    held = np.flatnonzero(size)
    if not len(held):
        return most, node
    known = np.where(np.isnan(values), -1.0, values)
    most[held] = np.maximum.reduceat(known, node_ptr[held])
    first = np.flatnonzero(known == np.repeat(most, size))
    graph, at = np.unique(np.searchsorted(node_ptr, first, side="right") - 1, return_index=True)
    node[graph] = first[at] - node_ptr[graph]
    return most, node


def _relative_error(graph: CSRGraph, node: int, hits: int) -> float:
    """Standard error of a mean of ``hits`` distances to a node, drawn from all, by that mean."""
    counts = msbfs(graph, [node]).hop_counts[0, 1:].astype(np.float64)
    total, hops = counts.sum(), np.arange(1, len(counts) + 1)
    if hits == 0 or total < 2:
        return 0.0
    mean = float(counts @ hops) / total
    variance = float(counts @ (hops - mean) ** 2) / (total - 1)
    return math.sqrt(max(0.0, 1 - hits / total) * variance / hits) / mean
