"""Graphs that the benchmarks search, all seeded: the same on every machine.

Node ids of the attachment graphs are shuffled, as addresses shuffle routers: in order of age the
hubs would lie side by side, which no measured network does.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit

from kernels import CSRGraph, Shard
from pipeline.generate.barabasi_albert import attach_all, barabasi_albert_graph
from pipeline.generate.csr import csr_from_links
from pipeline.generate.grid import grid_graph
from pipeline.generate.threads import call_each
from pipeline.model.random_words import stream_start, word_at

# Of an RMAT graph, as in Graph500: the chances that both ends, only the first or only the second
# are in the first half of the nodes; 2 ** 32 is certainty.
RMAT_CHANCES = tuple(np.int64(share * 2**32) for share in (0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19))
_LINKS_AT_ONCE = 1 << 20  # that a thread draws


def attachment(n_nodes: int, seed: int = 1, m: int = 2) -> CSRGraph:
    """One AS of preferential attachment, ``m`` links of each new router."""
    return barabasi_albert_graph(n_nodes, m=m, seed=seed, shuffled=True)


def cut_grid(side: int, seed: int = 1) -> CSRGraph:
    """A grid of side x side nodes without a tenth of its links: a long graph."""
    return grid_graph(side, side, cut=0.1, seed=seed)


def with_weights(graph: CSRGraph, seed: int = 1, most: int = 1000) -> CSRGraph:
    """Whole numbers from 1 to ``most``, the same for both arcs of an edge."""
    tails = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    ahead = tails < graph.indices
    of_edge = np.random.default_rng(seed).integers(1, most + 1, graph.n_edges)
    weights = np.empty(graph.n_arcs, np.float32)
    weights[ahead] = of_edge
    # Arcs in the order of heads, then of tails: the k-th is arc k in reverse.
    back = np.argsort(graph.indices, kind="stable")
    weights[back[ahead]] = of_edge
    return CSRGraph(graph.indptr, graph.indices, weights, trusted=True)


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


def rmat(scale: int, factor: int, seed: int = 1) -> CSRGraph:
    """An RMAT graph of 2 ** scale nodes and ``factor`` links each, without loops and duplicates.

    Chakrabarti, Zhan, Faloutsos: R-MAT: a recursive model for graph mining, SDM 2004. Half of the
    nodes or more have no link; ids are as drawn, hubs first.
    """
    n_nodes = 1 << scale
    near, far = (np.empty(factor * n_nodes, np.int32) for _ in range(2))
    start = np.uint64(stream_start(np.uint64(seed), np.uint64(scale)))
    cuts = [*range(0, len(near), _LINKS_AT_ONCE), len(near)]
    call_each(_draw_rmat, [(start, scale, *cut, near, far) for cut in itertools.pairwise(cuts)])
    is_link = near != far
    drawn = csr_from_links(n_nodes, near[is_link], far[is_link])
    indptr = np.empty_like(drawn.indptr)
    return CSRGraph(indptr, _once(drawn.indptr, drawn.indices, indptr), trusted=True)


@njit(cache=True, nogil=True)
def _draw_rmat(start, scale, first, stop, near, far):
    """Both ends of links first .. stop - 1; a word of 64 bits is two steps."""
    words = (scale + 1) // 2
    for i in range(first, stop):
        a = b = 0
        for k in range(scale):
            word = word_at(start, i * words + k // 2)
            chance = np.int64((word >> np.uint64(32 * (k % 2))) & np.uint64(0xFFFFFFFF))
            a, b = 2 * a + (chance >= RMAT_CHANCES[1]), 2 * b
            b += (RMAT_CHANCES[0] <= chance < RMAT_CHANCES[1]) or chance >= RMAT_CHANCES[2]
        near[i], far[i] = a, b


@njit(cache=True, nogil=True)
def _once(indptr, indices, kept_ptr):
    """Heads of sorted rows, each once; their offsets go to ``kept_ptr``."""
    n = 0
    for v in range(indptr.size - 1):
        kept_ptr[v] = n
        for arc in range(indptr[v], indptr[v + 1]):
            if arc == indptr[v] or indices[arc] != indices[arc - 1]:
                n += 1
    kept_ptr[indptr.size - 1] = n
    kept = np.empty(n, np.int32)
    n = 0
    for v in range(indptr.size - 1):
        for arc in range(indptr[v], indptr[v + 1]):
            if arc == indptr[v] or indices[arc] != indices[arc - 1]:
                kept[n] = indices[arc]
                n += 1
    return kept
