"""Certificate of a shortest path: its links and its length, and that no path is shorter."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from kernels.breadth_first import bfs_queue
from kernels.breadth_first.check import check_levels
from kernels.errors import CheckError
from kernels.shortest_paths import dijkstra, weighted_arrays
from kernels.shortest_paths.check import check_distances
from kernels.stated import stated_array, stated_node, stated_one
from kernels.types import DISTANCE, MARK, NODE

if TYPE_CHECKING:
    from kernels.bidirectional import ShortestPath
    from kernels.csr import CSRGraph


def check_shortest_path(found: ShortestPath) -> None:
    """Raise CheckError unless ``found`` is a shortest path of its graph, or none leads there.

    Notes
    -----
    The least length is found again from the source, by the plain queue or by Dijkstra's algorithm,
    and certified. By weight the length may exceed it by rounding: by the factor n * 2^-51, n nodes.
    O(n_nodes + n_arcs) in hops, O((n_nodes + n_arcs) log n_nodes) by weight, on the host.
    """
    graph = found.graph.to("cpu")
    nodes = stated_array("nodes", found.nodes, NODE, (None,)).tolist()
    source = stated_node("source", found.source, graph.n_nodes)
    target = stated_node("target", found.target, graph.n_nodes)
    weighted = stated_one("weighted", found.weighted, MARK)
    stated_length = stated_one("length", found.length, DISTANCE)
    least = _least(graph, source, target, weighted)
    if not nodes or least == np.inf:
        if nodes or least < np.inf or stated_length != np.inf:  # NaN is not inf
            raise CheckError(
                f"a path of {len(nodes)} nodes, of length {stated_length}; the shortest has {least}"
            )
        return
    if (nodes[0], nodes[-1]) != (source, target):
        raise CheckError(
            f"the path leads from {nodes[0]} to {nodes[-1]}, not from {source} to {target}"
        )
    length, weights = np.float64(0), weighted_arrays(graph)[2] if weighted else None
    for u, v in pairwise(nodes):
        begin, end = int(graph.indptr[u]), int(graph.indptr[u + 1])
        arc = begin + int(np.searchsorted(graph.indices[begin:end], v))
        if arc == end or graph.indices[arc] != v:
            raise CheckError(f"the path goes from {u} to {v}, which are not linked")
        length += np.float64(1 if weights is None else weights[arc])
    if stated_length != length:
        raise CheckError(f"the length is {stated_length:.17g}; the path has {length:.17g}")
    rounding = graph.n_nodes * 2.0**-51 if weighted else 0
    if length > least * (1 + rounding):
        raise CheckError(f"the path has length {length}; the shortest has {least}")


def _least(graph: CSRGraph, source: int, target: int, weighted: bool) -> float:
    """The certified length of a shortest path; inf without one."""
    if not weighted:
        level = bfs_queue(graph, source).level
        check_levels(graph.indptr, graph.indices, source, level)
        return float(level[target]) if level[target] >= 0 else np.inf
    arrays = weighted_arrays(graph)
    distance = np.empty(graph.n_nodes, np.float64)
    dijkstra(arrays, np.array([source], NODE), distance)
    check_distances(*arrays, source, distance)
    return float(distance[target])
