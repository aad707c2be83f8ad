"""Weighted shortest paths from one source.

Public functions validate and dispatch; ``cpu`` and ``gpu`` hold the implementations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.arguments import check_graph, flag
from kernels.breadth_first import node_of
from kernels.csr import CSRGraph, to_host
from kernels.errors import GraphError
from kernels.printed import Printed
from kernels.types import NODE, UNREACHED

__all__ = ["SSSPResult", "sssp"]


@dataclass(frozen=True, eq=False, repr=False)
class SSSPResult(Printed):
    """Outcome of one search; arrays live on the graph's device."""

    source: int
    distance: Any  # (n_nodes,) float64, in the unit of the weights, inf where no path leads
    eccentricity: float  # largest finite distance
    n_reached: int  # nodes that have a finite distance, the source included
    target: int | None = None
    parent: Any = None  # (n_nodes,) int32 or None
    graph: CSRGraph = field(kw_only=True, repr=False)

    def check(self) -> None:
        """Raise CheckError unless this is what ``sssp`` defines; O(n_nodes + n_arcs), on a core."""
        from kernels.shortest_paths.check import check_sssp

        check_sssp(self)


def sssp(
    graph: CSRGraph, source: int, target: int | None = None, parents: bool = False
) -> SSSPResult:
    """Shortest paths by weight from one node.

    Parameters
    ----------
    graph : CSRGraph
        With weights; float32 that hold whole numbers are exact up to 2**24. Runs on
        ``graph.device``.
    source : int
        Start node, 0 <= source < graph.n_nodes.
    target : int or None
        Stop once this node's distance is known. Then ``distance`` is right for every node no
        farther than the target and inf for all others, ``eccentricity`` is the target's distance,
        and ``n_reached`` counts the nodes no farther than it. A target that no path reaches does
        not stop the search.
    parents : bool
        Also give ``parent``.

    Returns
    -------
    SSSPResult
        ``distance`` (n_nodes,) float64, inf where unreached. ``parent`` (n_nodes,) int32, a tree
        of shortest paths: the source itself at the source, -1 where unreached; see Notes.

    Raises
    ------
    GraphError
        If ``source`` or ``target`` is not a node (always the case in a graph without nodes), if the
        graph has no weights, or if one is negative or not finite: the first such arc is named.
        Weights that differ between the two arcs of an edge are refused by ``CSRGraph``, not again
        here.
    DeviceError
        If the graph is on a GPU and the kernel cannot be built or has no memory there.

    Notes
    -----
    *Distance.* The length of a path is the sum of its weights in float64, added from the source
    on, each sum rounded to nearest; the distance of a node is the least length of its paths. The
    rounded sum x -> fl(x + w) with w >= 0 is never below x and never reverses an order. So leaving
    out a cycle lengthens no path, the least length is that of one of finitely many simple paths,
    and it is unique. Every search here only ever writes lengths of paths, each lower than what it
    replaces, and ends when no arc can lower its head: then distance[v] <= fl(distance[u] + w) on
    all arcs, hence, along any path and by induction, at most its length. So what is written at the
    end is the least length **to the bit**, whatever the algorithm, the order of the threads, or the
    device. float64 cannot overflow here: 2**31 float32 sum to less than 1e48.

    *Parent.* An arc u -> v is tight if distance[v] = fl(distance[u] + w). The parent is the
    smallest tight neighbour that is strictly nearer to the source. Where there is none (all tight
    arcs have weight 0, or so little that rounding absorbs it) it is the smallest tight neighbour,
    at the same distance, with one arc fewer to the nearest node of that distance that has a
    strictly nearer one, or to the source. Distances fall towards the source, and among equal ones
    these counts of arcs do: a tree, the same on every device.

    Near-far [1]_: nodes nearer than a threshold are relaxed until none is left, then it rises; the
    sequential form has one queue, and changes to Dijkstra's algorithm with a heap if it relaxes
    arcs too often. All threads share the search of a graph with 2**20 arcs or more, by
    delta-stepping [2]_. O(n_nodes + n_arcs) in practice, O((n_nodes + n_arcs) log n_nodes) at worst
    on a core. At most 13 bytes per node besides the graph and the distances there (17, and 17 KB
    per thread, where they share; 16 after that change). An isolated source reaches itself: distance
    0, eccentricity 0, n_reached 1.

    References
    ----------
    .. [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-efficient parallel GPU methods
       for single-source shortest paths", IPDPS 2014.
    .. [2] U. Meyer, P. Sanders, "Delta-stepping: a parallelizable shortest path algorithm",
       J. Algorithms 49 (2003).

    Examples
    --------
    >>> arcs = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> path = CSRGraph(*arcs, np.array([1.5, 1.5, 2, 2], np.float32))
    >>> sssp(path, 0).distance
    array([0. , 1.5, 3.5])
    """
    source = node_of(graph, source, "source")
    goal = UNREACHED if target is None else node_of(graph, target, "target")
    parents = flag("parents", parents)
    parent = None
    if graph.device == "cpu":
        from kernels.shortest_paths import cpu

        arrays = weighted_arrays(graph)
        distance, eccentricity, n_reached = _on_cores(graph, arrays, source, goal)
        if parents:
            parent = np.empty(graph.n_nodes, NODE)
            cpu.parents(*arrays, source, distance, parent)
    else:
        from kernels.shortest_paths import gpu

        arrays = weighted_arrays(graph)
        sources = np.array([source], NODE)
        distance, eccentricity, n_reached, are_valid = gpu.sssp(*arrays, sources, goal)
        if not are_valid:
            graph.validate()
        if parents:
            parent = gpu.parents(*arrays, source, distance)
    end = None if target is None else goal
    return SSSPResult(source, distance, eccentricity, n_reached, end, parent, graph=graph)


def _on_cores(graph: CSRGraph, arrays, source: int, goal: int) -> tuple[np.ndarray, float, int]:
    """Distances, the largest and how many; of a large graph by all threads."""
    from kernels._cpu.threads import Team, n_threads
    from kernels.shortest_paths import cpu

    sources = np.array([source], NODE)
    if n_threads() > 1 and graph.n_arcs >= cpu.LARGE:
        from kernels.shortest_paths import shared

        with Team(n_threads()) as team:
            state, found = shared.delta_stepping(arrays, sources, goal, team)
        if state == shared.IS_DONE:
            return found
    distance = search(arrays, sources, checked_mean(graph), goal)
    return distance, *cpu.summarise(distance)


def weighted_arrays(graph: CSRGraph) -> tuple[Any, Any, Any]:
    """``indptr``, ``indices``, ``weights``; GraphError without weights."""
    check_graph(graph, CSRGraph)
    if graph.weights is None:
        raise GraphError("the graph has no weights; weighted shortest paths need one for each arc")
    return graph.indptr, graph.indices, graph.weights


def checked_mean(graph: CSRGraph) -> float:
    """Mean weight; GraphError, naming the first fault, without weights or with invalid ones."""
    from kernels.shortest_paths import cpu

    mean, are_valid = cpu.scan_weights(to_host(weighted_arrays(graph)[2]))
    if not are_valid:
        graph.validate()
    return mean


def search(arrays, sources: np.ndarray, mean: float, target: int = UNREACHED) -> np.ndarray:
    """(n_nodes,) float64: distance to the nearest of some distinct sources, on one core.

    ``mean`` is the mean weight; weights are not checked. Nodes farther than the target, if there
    is one and a path leads there, have inf.
    """
    from kernels.shortest_paths import cpu

    distance = np.empty(len(arrays[0]) - 1, np.float64)
    if not near_far(arrays, sources, step_of(arrays, mean), cpu.PATIENCE, distance, target):
        dijkstra(arrays, sources, distance, target)
    if target >= 0:
        cpu.forget_beyond(distance, distance[target])
    return distance


def step_of(arrays, mean: float) -> float:
    """By how much the threshold rises: the more arcs a node has, the shorter the least of them."""
    from kernels.shortest_paths import cpu

    n_nodes, n_arcs = len(arrays[0]) - 1, len(arrays[1])
    return mean * min(1.0, cpu.DEGREE * n_nodes / max(1, n_arcs))


def near_far(
    arrays,
    sources: np.ndarray,
    delta: float,
    patience: int,
    distance: np.ndarray,
    target: int = UNREACHED,
) -> bool:
    """Whether ``distance`` could be filled by relaxing each arc ``patience`` times on average.

    With a target, as far as that; what is farther may be too long.
    """
    from kernels.shortest_paths import cpu

    n_nodes = len(distance)
    near = np.empty(1 << n_nodes.bit_length(), NODE)
    far, queued = np.empty(n_nodes, NODE), np.empty(n_nodes, np.uint8)
    return cpu.near_far(*arrays, sources, target, delta, patience, distance, near, far, queued)


def dijkstra(arrays, sources: np.ndarray, distance: np.ndarray, target: int = UNREACHED) -> None:
    """Fill ``distance`` by Dijkstra's algorithm with an indexed heap; 24 bytes per node with it.

    With a target, as far as that; what is farther may be too long.
    """
    from kernels.shortest_paths import cpu

    n_nodes = len(distance)
    heap, place = np.empty(n_nodes, NODE), np.empty(n_nodes, NODE)
    key = np.empty(n_nodes, np.float64)
    cpu.dijkstra(*arrays, sources, target, distance, heap, key, place)
