"""Breadth-first search from one source.

Public functions validate and dispatch; ``cpu`` and ``gpu`` hold the two implementations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.arguments import check_graph, flag, one_of
from kernels.csr import CSRGraph
from kernels.errors import DeviceError
from kernels.printed import Printed
from kernels.types import LEVEL, NODE, UNREACHED

__all__ = ["BFSResult", "bfs", "bfs_queue"]


@dataclass(frozen=True, eq=False, repr=False)
class BFSResult(Printed):
    """Outcome of one search; arrays live on the graph's device."""

    source: int
    level: Any  # (n_nodes,) int32, hops, UNREACHED where no path leads
    eccentricity: int  # largest level given, in hops
    n_reached: int  # nodes that have a level, the source included
    target: int | None = None
    parent: Any = None  # (n_nodes,) int32 or None
    graph: CSRGraph = field(kw_only=True, repr=False)

    def check(self) -> None:
        """Raise CheckError unless this is what ``bfs`` defines; O(n_nodes + n_arcs), on a core."""
        from kernels.breadth_first.check import check_bfs

        check_bfs(self)


def bfs(
    graph: CSRGraph, source: int, target: int | None = None, parents: bool = False
) -> BFSResult:
    """Search breadth-first from one node.

    Parameters
    ----------
    graph : CSRGraph
        Runs on ``graph.device``.
    source : int
        Start node, 0 <= source < graph.n_nodes.
    target : int or None
        Stop once this node's level is complete. Then ``level`` is right for every node no farther
        than the target and UNREACHED for all others, ``eccentricity`` is the target's level, and
        ``n_reached`` counts the nodes no farther than it. A target that no path reaches does not
        stop the search: the whole component gets levels.
    parents : bool
        Also give ``parent``.

    Returns
    -------
    BFSResult
        ``level`` (n_nodes,) int32, in hops, -1 where unreached. ``parent`` (n_nodes,) int32:
        the *smallest* neighbour one level up, the source itself at the source, -1 where
        unreached. Many trees are shortest-path trees; this rule picks one, on every device.

    Raises
    ------
    GraphError
        If ``source`` or ``target`` is not a node; a graph without nodes has none to start from.
    DeviceError
        If the graph is on a GPU and the kernel cannot be built or has no memory there.

    Notes
    -----
    O(n_nodes + n_arcs) work, 8 bytes per node besides the graph (up to 12 where it has very many
    levels). An isolated source reaches
    itself: level 0, eccentricity 0, n_reached 1. The result does not depend on the device.
    Direction-optimising [1]_; top-down levels on a GPU divide the arcs of the queue among threads
    [2]_.

    References
    ----------
    .. [1] S. Beamer, K. Asanovic, D. Patterson, "Direction-optimizing breadth-first search",
       SC 2012.
    .. [2] D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012.

    Examples
    --------
    >>> path = CSRGraph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
    >>> bfs(path, 0, parents=True).parent
    array([0, 0, 1], dtype=int32)
    """
    source = node_of(graph, source, "source")
    goal = -1 if target is None else node_of(graph, target, "target")
    parents = flag("parents", parents)
    if graph.device == "cpu":
        from kernels.breadth_first import cpu

        level = np.full(graph.n_nodes, UNREACHED, LEVEL)
        queue, ends, bits = search_scratch(graph.n_nodes)
        arrays = (graph.indptr, graph.indices, 0, graph.n_nodes)
        n_levels = cpu.search(*arrays, source, goal, queue, ends, bits)
        cpu.fill_levels(queue, ends, n_levels, level)
        eccentricity, n_reached = n_levels - 1, int(ends[n_levels - 1])
        parent = np.empty(graph.n_nodes, NODE) if parents else None
        if parents:
            cpu.parents(graph.indptr, graph.indices, level, parent)
    else:
        from kernels.breadth_first import gpu

        level, eccentricity, n_reached = gpu.bfs(graph.indptr, graph.indices, source, goal)
        parent = gpu.parents(graph.indptr, graph.indices, source, level) if parents else None
    end = None if target is None else goal
    return BFSResult(source, level, eccentricity, n_reached, end, parent, graph=graph)


def bfs_queue(graph: CSRGraph, source: int) -> BFSResult:
    """The plain queue search on one core, on which certificates rely; results as ``bfs``.

    Raises
    ------
    GraphError
        If ``source`` is not a node.
    DeviceError
        If the graph is on a GPU.
    """
    source = node_of(graph, source, "source")
    if graph.device != "cpu":
        raise DeviceError("bfs_queue runs on a core; give it graph.to('cpu')")
    from kernels.breadth_first import cpu

    level = np.full(graph.n_nodes, UNREACHED, LEVEL)
    eccentricity, n_reached = cpu.bfs_queue(graph.indptr, graph.indices, source, level)
    return BFSResult(source, level, eccentricity, n_reached, graph=graph)


def search_scratch(n_nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """queue, ends and bits for ``cpu.search`` on graphs of up to ``n_nodes`` nodes."""
    queue, ends = np.empty(n_nodes + 1, NODE), np.empty(n_nodes + 1, NODE)
    return queue, ends, np.empty(2 * ((n_nodes + 63) // 64), np.uint64)


def node_of(graph: CSRGraph, node: int, role: str) -> int:
    """``node`` as an int; GraphError, naming its role, if it is not a node of the graph."""
    check_graph(graph, CSRGraph)
    return one_of(role, node, graph.n_nodes, "node", "graph")
