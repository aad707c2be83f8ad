"""Places of nodes in layers by hops: many graphs side by side, without a loop over nodes.

A layer is what lies equally far from the nearest source. Within a layer, nodes are ordered by the
mean place of their neighbours, so that few links cross (Sugiyama, Tagawa, Toda 1981); all layers
of all graphs at the same time. The same graph always gives the same places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.model.columns.ragged import row_of_value, take_rows

_SWEEPS = 12


@dataclass(frozen=True, eq=False)
class Places:
    """Where nodes are drawn.

    Attributes
    ----------
    layer : (n_nodes,) int32
        Hops from the nearest source; what no source reaches is one layer behind the others.
    rank : (n_nodes,) int64
        From 0 in each layer of each graph.
    of_layer : (n_nodes,) int64
        Nodes in the same layer of the same graph.
    """

    layer: np.ndarray
    rank: np.ndarray
    of_layer: np.ndarray


def levels(indptr: np.ndarray, indices: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """(n_nodes,) int32: hops from the nearest of some nodes, -1 unreached."""
    level = np.full(len(indptr) - 1, -1, np.int32)
    front = np.unique(sources)
    level[front] = 0
    hops = 0
    while len(front):
        hops += 1
        far = take_rows(indptr, indices, front)[1]
        front = np.unique(far[level[far] < 0])
        level[front] = hops
    return level


def place(indptr: np.ndarray, indices: np.ndarray, graph: np.ndarray, level: np.ndarray) -> Places:
    """Order the nodes of each layer.

    Parameters
    ----------
    indptr, indices
        Graphs side by side, as in ``kernels.Shard``.
    graph : (n_nodes,) int64
        Graph of each node, ascending.
    level : (n_nodes,) int32
        As ``levels`` gives it; -1 where unreached.
    """
    n_nodes = len(level)
    deepest = np.full(int(graph[-1]) + 1 if n_nodes else 0, -1, np.int64)
    np.maximum.at(deepest, graph, level)
    layer = np.where(level < 0, deepest[graph] + 1, level).astype(np.int64)
    group = np.unique(graph * (n_nodes + 1) + layer, return_inverse=True)[1]
    size = np.bincount(group)
    first = np.cumsum(size) - size
    tail = row_of_value(indptr)
    near = np.abs(layer[tail] - layer[indices]) <= 1
    tail, head = tail[near], indices[near]
    degree = np.bincount(tail, minlength=n_nodes)
    rank = np.empty(n_nodes, np.int64)
    rank[np.argsort(group, kind="stable")] = np.arange(n_nodes)
    rank -= first[group]
    for sweep in range(_SWEEPS):
        at = (rank + 0.5) / size[group]
        # Every other layer in turn: two that follow each other would change places forever.
        moves = (layer % 2 == sweep % 2) & (degree > 0)
        mean = np.where(moves, np.bincount(tail, at[head], n_nodes) / np.maximum(degree, 1), at)
        rank[np.lexsort((rank, mean, group))] = np.arange(n_nodes)
        rank -= first[group]
    return Places(layer.astype(np.int32), rank, size[group])
