"""Degrees: how many links nodes have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.arguments import check_graph
from kernels.csr import Shard, to_host
from kernels.types import NODE

__all__ = ["ShardMaxDegrees", "max_degrees"]


@dataclass(frozen=True, eq=False)
class ShardMaxDegrees:
    """Largest degrees of the graphs of a shard, one row per graph; on the host.

    Attributes
    ----------
    max_degree : (n_graphs,) int64
        Links of the node with most; 0 without nodes.
    node : (n_graphs,) int32
        The smallest such node, counted within its graph; -1 without nodes.
    n_nodes : (n_graphs,) int64
        How many nodes have as many.
    """

    max_degree: np.ndarray
    node: np.ndarray
    n_nodes: np.ndarray


def max_degrees(shard: Shard) -> ShardMaxDegrees:
    """Find the nodes with most links in each graph of a shard.

    Parameters
    ----------
    shard : Shard
        On any device; its offsets are counted on the host.

    Returns
    -------
    ShardMaxDegrees
    """
    check_graph(shard, Shard)
    ptr = to_host(shard.node_ptr)
    degree = np.diff(to_host(shard.indptr))
    size = np.diff(ptr)
    most, node, n_nodes = np.zeros(len(size), np.int64), np.full(len(size), -1, NODE), size * 0
    held = np.flatnonzero(size)  # graphs without nodes have no place in the column
    if len(held):
        most[held] = np.maximum.reduceat(degree, ptr[held])
        has_most = degree == np.repeat(most, size)
        n_nodes[held] = np.add.reduceat(has_most, ptr[held], dtype=np.int64)
        first = np.flatnonzero(has_most)
        graph = np.searchsorted(ptr, first, side="right") - 1
        graph, at = np.unique(graph, return_index=True)
        node[graph] = first[at] - ptr[graph]
    return ShardMaxDegrees(most, node, n_nodes)
