"""Sums of distances to each node of graphs, from every node or from some.

On cores by sweeps that keep nothing but these sums (``cpu``); on a GPU from every node by the hop
counts of each source, and from some by levels of all nodes.
"""

from __future__ import annotations

import threading

import numpy as np

from kernels._cpu.memory import check_fits
from kernels._cpu.sweep_constants import FAR, HITS, N_SUMS, NEAR, UNIT
from kernels._cpu.threads import Team, n_threads
from kernels.csr import CSRGraph, Shard, to_host
from kernels.distance_distribution.counts import (
    ITEMS_EACH,
    LARGE,
    WIDE,
    counts_by_source,
    runs_of,
    searched_together,
)
from kernels.types import NODE


def inverses(n_levels: int) -> np.ndarray:
    """(n_levels,) int64: 1 / h, to the nearest in UNIT; 0 of h = 0, a node itself."""
    hops = np.arange(1, max(n_levels, 1), dtype=np.int64)
    return np.append(0, (2 * UNIT + hops) // (2 * hops))[:n_levels]


def add_all(shard: Shard, chosen: np.ndarray) -> np.ndarray:
    """(n_nodes, N_SUMS) uint64, of all nodes of the graphs ``chosen``; 0 of the others."""
    node_ptr = to_host(shard.node_ptr)
    total = np.zeros((shard.n_nodes, N_SUMS), np.uint64)
    graphs = np.flatnonzero(chosen & (np.diff(node_ptr) > 0))
    if shard.device == "cpu":
        from kernels._cpu import near_steps

        order = np.empty(shard.n_nodes, NODE)
        near_steps.place_sources(shard.indptr, shard.indices, node_ptr, graphs, order)
        _sweep(shard, graphs, order, node_ptr, total)
        return total
    is_alone = (np.diff(node_ptr)[graphs] >= LARGE) | (shard.n_graphs == 1)
    for i in graphs[is_alone].tolist():
        at = int(node_ptr[i])
        n_nodes = int(node_ptr[i + 1]) - at
        for counts in counts_by_source(shard.graph(i), np.arange(n_nodes, dtype=NODE), WIDE):
            n_levels = counts.shape[1]
            ptr = np.arange(len(counts) + 1) * n_levels
            total[at : at + len(counts)] = of_hop_counts(ptr, counts.reshape(-1))
            at += len(counts)
    for names, n_sources, first, found in searched_together(shard, graphs[~is_alone]):
        begin = np.cumsum(n_sources) - n_sources
        node = np.arange(len(found.sources)) + np.repeat(node_ptr[names] + first - begin, n_sources)
        total[node] = of_hop_counts(found.hop_ptr, found.hop_counts)
    return total


def of_hop_counts(hop_ptr: np.ndarray, hop_counts: np.ndarray) -> np.ndarray:
    """(n_sources, N_SUMS) uint64 of sources, from the nodes at each number of hops of each."""
    begins = hop_ptr[:-1]
    sums = np.zeros((len(begins), N_SUMS), np.uint64)
    if len(begins):
        hops = np.arange(len(hop_counts)) - np.repeat(begins, np.diff(hop_ptr))
        each = inverses(int(hops.max()) + 1)[hops]
        sums[:, FAR] = np.add.reduceat(hop_counts * hops, begins)
        sums[:, NEAR] = np.add.reduceat(hop_counts * each, begins)
        sums[:, HITS] = np.add.reduceat(hop_counts, begins) - 1
    return sums


def sums_from(graph: CSRGraph, sources: np.ndarray) -> np.ndarray:
    """(n_nodes, N_SUMS) uint64, of distances from different sources, int32."""
    if graph.device == "gpu":
        from kernels.closeness import gpu

        return gpu.sums_from(graph, sources, inverses)
    total = np.zeros((graph.n_nodes, N_SUMS), np.uint64)
    ptr = np.array([0, graph.n_nodes])
    shard = Shard(graph.indptr, graph.indices, ptr, trusted=True)
    _sweep(shard, np.array([0]), sources, np.array([0, len(sources)]), total)
    return total


def _sweep(
    shard: Shard,
    graphs: np.ndarray,
    sources: np.ndarray,
    source_ptr: np.ndarray,
    total: np.ndarray,
) -> None:
    """Sweeps on cores, given to threads in runs of similar cost; adds to ``total``.

    Those of graph i are from sources[source_ptr[i]:source_ptr[i + 1]], nodes of it.
    """
    from kernels._cpu import near_steps
    from kernels.closeness import cpu

    if not len(graphs):
        return
    node_ptr = np.asarray(shard.node_ptr)
    n_nodes = np.diff(node_ptr)[graphs]
    n_arcs = np.diff(shard.indptr[node_ptr])[graphs]
    group_ptr = np.zeros(len(graphs) + 1, np.int64)
    np.cumsum(-(-np.diff(source_ptr)[graphs] // near_steps.LANES), out=group_ptr[1:])
    arrays = (shard.indptr, shard.indices, node_ptr, graphs)
    adding = threading.Lock()
    with Team(n_threads()) as team:
        what = f"sums of distances of a graph of {n_nodes.max()} nodes by {team.size} threads"
        check_fits(team.size * int(n_nodes.max()) * cpu.NODE_BYTES, what)

        def run(groups: tuple[int, int]) -> None:
            first = int(np.searchsorted(group_ptr, groups[0], side="right")) - 1
            last = int(np.searchsorted(group_ptr, groups[1]))
            here = graphs[first:last]
            sums = np.zeros((int(n_nodes[first:last].sum()), N_SUMS), np.uint64)
            rows = near_steps.rows_of(int(n_nodes[first:last].max()))
            ends = (sources, source_ptr, group_ptr, *groups)
            cpu.add_groups(*arrays, *ends, rows, sums.reshape(-1))
            at = 0
            with adding:
                for begin, end in zip(node_ptr[here], node_ptr[here + 1], strict=True):
                    total[begin:end] += sums[at : at + end - begin]
                    at += end - begin

        costs = np.repeat(n_nodes + n_arcs, np.diff(group_ptr))
        team.run(run, runs_of(costs, ITEMS_EACH * team.size))
