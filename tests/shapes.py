"""Graphs of known shape, and graphs made from lists of edges; small helpers to move them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kernels import CSRGraph
from kernels.types import NODE, OFFSET, WEIGHT


def csr_arrays(n_nodes: int, edges: Iterable[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """indptr and indices of some edges, in any order, with repeats and loops left out."""
    given = edges if isinstance(edges, np.ndarray) else list(edges)
    pairs = np.array(given, np.int64).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    # One number per arc: pairs are sorted ten times slower.
    keys = np.sort(np.concatenate([pairs, pairs[:, ::-1]]) @ [n_nodes, 1])
    keys = keys[np.diff(keys, prepend=-1) > 0]
    tails, heads = np.divmod(keys, max(n_nodes, 1))
    indptr = np.zeros(n_nodes + 1, OFFSET)
    np.cumsum(np.bincount(tails, minlength=n_nodes), out=indptr[1:])
    return indptr, heads.astype(NODE)


def graph_of(n_nodes: int, edges: Iterable[tuple[int, int]]) -> CSRGraph:
    return CSRGraph(*csr_arrays(n_nodes, edges))


def weighted(graph: CSRGraph, weight_of_edge) -> CSRGraph:
    """The same graph; ``weight_of_edge`` are the weights of its arcs u -> v, u < v, in order."""
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    weights = np.empty(graph.n_arcs, WEIGHT)
    weights[tails < graph.indices] = weight_of_edge
    back = np.lexsort((tails, graph.indices))  # the k-th arc reversed is arc back[k]
    weights[back[tails < graph.indices]] = weight_of_edge
    return CSRGraph(graph.indptr, graph.indices, weights)


def path(n_nodes: int) -> CSRGraph:
    nodes = np.arange(n_nodes - 1)
    return graph_of(n_nodes, np.stack([nodes, nodes + 1], axis=1))


def star(n_leaves: int, hub: int = 0) -> CSRGraph:
    leaves = np.delete(np.arange(n_leaves + 1), hub)
    return graph_of(n_leaves + 1, np.stack([np.full(n_leaves, hub), leaves], axis=1))


def grid(height: int, width: int) -> CSRGraph:
    node = np.arange(height * width).reshape(height, width)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    return graph_of(height * width, np.concatenate([across, down]))


def tree_with_hubs(n_nodes: int, seed: int) -> CSRGraph:
    """Two edges from each new node to ends of random earlier edges: a few nodes get very many."""
    rng = np.random.default_rng(seed)
    ends = np.zeros(4 * n_nodes, np.int64)
    picks = rng.random(2 * n_nodes)
    for i in range(2 * n_nodes):
        ends[2 * i] = i // 2
        ends[2 * i + 1] = ends[int(picks[i] * (2 * i + 1))]
    return graph_of(n_nodes, ends.reshape(-1, 2))


def relabelled(graph: CSRGraph, new_id: np.ndarray) -> CSRGraph:
    """The same graph in which node v is called new_id[v]."""
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    return graph_of(graph.n_nodes, np.stack([new_id[tails], new_id[graph.indices]], axis=1))


def host(array):
    return array.get() if hasattr(array, "get") else array
