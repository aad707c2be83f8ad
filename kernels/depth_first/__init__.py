"""Depth-first search from one node, or of a whole graph.

Public functions validate and dispatch; ``cpu`` and ``gpu`` hold the implementations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from kernels.arguments import check_graph, one_word
from kernels.breadth_first import node_of
from kernels.csr import CSRGraph, mover, to_host
from kernels.errors import GraphError
from kernels.printed import Printed
from kernels.types import NODE, OFFSET, UNREACHED

__all__ = ["DFSResult", "Method", "dfs"]

Method = Literal["auto", "core", "euler-tour", "warp"]
# Nodes from which on a forest is searched on its GPU: the walk takes 3.5 ms however few there are,
# a core with both copies 0.5 ms for 10,000 and 70 ms for a million.
MANY_NODES = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class DFSResult(Printed):
    """A depth-first search; arrays live on the graph's device.

    One clock, which begins at 0, counts discoveries and finishes together. So node u is above v,
    or is v, if and only if discovery[u] <= discovery[v] and finish[v] <= finish[u]; else their
    intervals do not overlap. Below u, and at it, are (finish[u] - discovery[u] + 1) / 2 nodes.

    Attributes
    ----------
    source : int or None
    discovery, finish : (n_nodes,) int64
        When the node was found, and when all below it was done; -1 where unreached.
    parent : (n_nodes,) int32
        The node from which it was found; a root itself; -1 where unreached.
    order : (n_reached,) int32
        Nodes in the order of discovery.
    method : str
        ``core``, ``euler-tour`` or ``warp``: what found it.
    """

    source: int | None
    discovery: Any
    finish: Any
    parent: Any
    order: Any
    method: str
    graph: CSRGraph = field(repr=False)

    @property
    def n_reached(self) -> int:
        return len(self.order)

    def check(self) -> None:
        """Raise CheckError unless this is what ``dfs`` defines; O(n_nodes + n_arcs), on a core."""
        from kernels.depth_first.check import check_dfs

        arrays = self.discovery, self.finish, self.parent, self.order
        check_dfs(self.graph.indptr, self.graph.indices, self.source, *arrays)


def dfs(graph: CSRGraph, source: int | None = None, method: Method = "auto") -> DFSResult:
    """Search depth-first, the arcs of a node in their order.

    Parameters
    ----------
    graph : CSRGraph
    source : int or None
        Start node. None: the whole graph, each component from its smallest node, in ascending
        order.
    method : str
        ``auto``: ``core`` for a graph on the host; for one on a GPU ``euler-tour`` if it is a
        large forest, else ``core``. The result is the same, to the bit.

    Returns
    -------
    DFSResult
        An isolated source finds itself. No nodes: nothing is found.

    Raises
    ------
    GraphError
        If ``source`` is not a node; if ``method`` is none of these, needs a GPU and the graph
        is on the host, or needs a forest and the graph has a cycle.
    DeviceError
        If the graph is on a GPU and the kernel cannot be built or has too little memory there.

    Notes
    -----
    The search is unique: at each node, the first neighbour that was not found yet comes next.

    *Core*: a stack; O(n_nodes + n_arcs), 20 bytes per node on the longest path and 1 bit per node
    besides the result. A graph on a GPU is copied to the host for it, and the result back.

    *What a GPU can gain.* Deciding which of two nodes this search finds first is P-complete [1]_:
    no algorithm is known whose steps do not follow one another along paths as long as the graph.
    Only without cycles does the order follow from sums over all nodes at once: on directed acyclic
    graphs by comparing paths, or by sizes of subtrees on trees [2]_. Graphs here are undirected, so
    those are forests. *Euler tour* [3]_: the walk around each tree, by pointer jumping; O(n_nodes
    log n_nodes) work in few steps, whatever the depth; 60 bytes per node and per arc. *Warp*: one
    warp of the GPU takes the steps of a core, one after another, and waits longer for memory: it is
    there for comparison. A valid tree that need not follow the order of arcs could be found in
    fewer steps in theory (Aggarwal, Anderson, 1988), by matchings that cost far more than the
    search on a core.

    References
    ----------
    .. [1] J. H. Reif, "Depth-first search is inherently sequential", Information Processing
       Letters 20, 1985.
    .. [2] M. Naumov, A. Vrielink, M. Garland, "Parallel depth-first search for directed acyclic
       graphs", IA^3 2017.
    .. [3] R. E. Tarjan, U. Vishkin, "An efficient parallel biconnectivity algorithm", SIAM Journal
       on Computing 14, 1985.

    Examples
    --------
    >>> triangle = CSRGraph(np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1], np.int32))
    >>> found = dfs(triangle, 0)
    >>> found.parent.tolist(), found.discovery.tolist(), found.finish.tolist()
    ([0, 0, 1], [0, 1, 2], [5, 4, 3])
    """
    check_graph(graph, CSRGraph)
    one_word("method", method, get_args(Method))
    start = None if source is None else node_of(graph, source, "source")
    if method in ("euler-tour", "warp") and graph.device == "cpu":
        raise GraphError(f"method {method!r} runs on a GPU, and the graph is on the host")
    is_small = graph.n_nodes < MANY_NODES if method == "auto" else graph.n_nodes == 0
    if graph.device == "gpu" and not is_small and method != "core":
        from kernels.depth_first import gpu

        arrays = graph.indptr, graph.indices, start
        found = gpu.by_warp(*arrays) if method == "warp" else gpu.by_euler_tour(*arrays)
        if found is not None:
            return DFSResult(start, *found, "warp" if method == "warp" else "euler-tour", graph)
        if method == "euler-tour":
            raise GraphError("method 'euler-tour' needs a forest, and the graph has a cycle")
    return DFSResult(start, *_on_core(graph, start), "core", graph)


def _on_core(graph: CSRGraph, source: int | None) -> tuple[Any, Any, Any, Any]:
    from kernels.depth_first import cpu

    n_nodes = graph.n_nodes
    make = np.empty if source is None else _unreached  # a search of everything fills all
    discovery, finish = make(n_nodes, OFFSET), make(n_nodes, OFFSET)
    parent = make(n_nodes, NODE)
    start = UNREACHED if source is None else source
    arrays = to_host(graph.indptr), to_host(graph.indices)
    order = cpu.search(*arrays, start, discovery, finish, parent)
    if graph.device == "cpu":
        return discovery, finish, parent, order
    with graph.indptr.device:
        move = mover("gpu")
        return move(discovery), move(finish), move(parent), move(order)


def _unreached(n_nodes: int, dtype: np.dtype) -> np.ndarray:
    return np.full(n_nodes, UNREACHED, dtype)
