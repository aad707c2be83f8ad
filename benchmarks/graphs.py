"""Graphs that the benchmarks search, all seeded: the same on every machine.

Node ids of the attachment graphs are shuffled, as addresses shuffle routers: in order of age the
hubs would lie side by side, which no measured network does.
"""

from __future__ import annotations

import numpy as np

from kernels import CSRGraph, Shard
from pipeline.generate.barabasi_albert import attach_all, barabasi_albert_graph
from pipeline.generate.csr import csr_from_links
from pipeline.generate.grid import grid_graph


def attachment(n_nodes: int, seed: int = 1, m: int = 2) -> CSRGraph:
    """One AS of preferential attachment, ``m`` links of each new router."""
    return barabasi_albert_graph(n_nodes, m=m, seed=seed, shuffled=True)


def cut_grid(side: int, seed: int = 1) -> CSRGraph:
    """A grid of side x side nodes without a tenth of its links: a long graph."""
    return grid_graph(side, side, cut=0.1, seed=seed)


def many_ases(n_graphs: int, seed: int = 7) -> tuple[Shard, np.ndarray, np.ndarray]:
    """A shard of attachment graphs with sizes by a Pareto law, and sources that grow with size.

    Returns
    -------
    Shard, (n_sources,) int64, (n_graphs + 1,) int64
        Graphs of 2 to 20,000 nodes; sources in their graph's numbering; sources of graph i are
        those from source_ptr[i] to source_ptr[i + 1].
    """
    rng = np.random.default_rng(seed)
    sizes = np.minimum((20 * rng.pareto(1.2, n_graphs) + 2).astype(np.int64), 20_000)
    node_ptr = np.append(0, np.cumsum(sizes))
    near, far = attach_all(node_ptr, 2, seed)
    graph = csr_from_links(int(node_ptr[-1]), near, far)
    n_sources = np.minimum(rng.integers(1, 8, n_graphs) * (1 + sizes // 500), 100)
    source_ptr = np.append(0, np.cumsum(n_sources))
    sources = (rng.random(source_ptr[-1]) * np.repeat(sizes, n_sources)).astype(np.int64)
    return Shard(graph.indptr, graph.indices, node_ptr, trusted=True), sources, source_ptr
