"""Shortest paths from one node to another, searched from both ends.

``shortest_path`` validates and dispatches; ``cpu`` and ``gpu`` hold the implementations.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernels.arguments import flag
from kernels.breadth_first import node_of
from kernels.csr import CSRGraph, to_host
from kernels.printed import Printed
from kernels.shortest_paths import sssp, weighted_arrays

__all__ = ["ShortestPath", "shortest_path"]


@dataclass(frozen=True, eq=False, repr=False)
class ShortestPath(Printed):
    """A shortest path; ``nodes`` are on the host.

    Attributes
    ----------
    source, target : int
    nodes : (n_hops + 1,) int32
        From source to target; empty if no path leads there.
    length : float
        Hops, or the sum of weights in float64, added from the source on; inf without a path.
    weighted : bool
    """

    source: int
    target: int
    nodes: np.ndarray
    length: float
    weighted: bool
    graph: CSRGraph = field(repr=False)

    def check(self) -> None:
        """Raise CheckError unless no path is shorter; by a whole search on a core."""
        from kernels.bidirectional.check import check_shortest_path

        check_shortest_path(self)


def shortest_path(
    graph: CSRGraph, source: int, target: int, weighted: bool = False
) -> ShortestPath:
    """Find a shortest path between two nodes.

    Parameters
    ----------
    graph : CSRGraph
        Runs on ``graph.device``.
    source, target : int
    weighted : bool
        By weight instead of hops.

    Returns
    -------
    ShortestPath
        Any of the shortest ones, which need not be the same on each device.

    Raises
    ------
    GraphError
        If ``source`` or ``target`` is not a node; if weights are needed and the graph has none. A
        weight that is negative or not finite is refused where the search meets it.
    DeviceError
        If the graph is on a GPU and the kernel cannot be built or has no memory there.

    Notes
    -----
    *Hops.* Both searches go level by level, the one with less ahead of it first [1]_. Before they
    meet, the nodes within d hops of the source and those within e hops of the target have none in
    common, so the path is longer than d + e; the first node found by both makes it d + e + 1.
    *Weights.* Dijkstra's algorithm from both ends; it ends when the least distances not yet settled
    add up to no less than the shortest path seen. On a GPU near-far [2]_ from both ends, until both
    thresholds add up to as much. Sums of weights are rounded to float64: where
    they are not exact, the length may exceed the least one by rounding.

    The work depends on what is searched: on attachment graphs a small part of the graph, at worst
    O(n_nodes + n_arcs) for hops and O(n_arcs log n_arcs) by weight. 16 bytes per node searched, by
    weight 24 and 12 per arc, and 2 bits for each node. By weight a GPU passes over all nodes and
    weights once, and takes 49 bytes per node; where weights of 0 hide the way back, it searches
    again from the source alone.

    References
    ----------
    .. [1] I. Pohl, "Bi-directional search", Machine Intelligence 6, 1971.
    .. [2] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-efficient parallel GPU methods
       for single-source shortest paths", IPDPS 2014.

    Examples
    --------
    >>> path = CSRGraph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
    >>> shortest_path(path, 2, 0).nodes
    array([2, 1, 0], dtype=int32)
    """
    source, target = node_of(graph, source, "source"), node_of(graph, target, "target")
    if flag("weighted", weighted):
        return _by_weight(graph, source, target)
    if graph.device == "cpu":
        from kernels.bidirectional import cpu

        nodes = cpu.by_hops(graph.indptr, graph.indices, source, target)
    else:
        from kernels.bidirectional import gpu

        nodes = gpu.by_hops(graph.indptr, graph.indices, source, target)
    length = len(nodes) - 1 if len(nodes) else np.inf
    return ShortestPath(source, target, nodes, length, False, graph)


def _by_weight(graph: CSRGraph, source: int, target: int) -> ShortestPath:
    arrays = weighted_arrays(graph)
    found: tuple[np.ndarray, float] | None
    if graph.device == "cpu":
        from kernels.bidirectional import cpu

        found = cpu.by_weight(*arrays, source, target)
    else:
        from kernels.bidirectional import gpu

        found = gpu.by_weight(*arrays, source, target)
    if found is None:
        found = _from_one_end(graph, source, target)
    nodes, length = found
    if np.isnan(length):
        graph.validate()
    return ShortestPath(source, target, nodes, length, True, graph)


def _from_one_end(graph: CSRGraph, source: int, target: int) -> tuple[np.ndarray, float]:
    """By the tree of shortest paths, which exists whatever the weights."""
    from kernels.shortest_paths.cpu import path_to

    found = sssp(graph, source, target, parents=True)
    return path_to(to_host(found.parent), target), float(found.distance[target])
