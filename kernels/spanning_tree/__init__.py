"""Minimum spanning forests.

Public functions validate and dispatch; ``cpu`` and ``gpu`` hold the implementations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from kernels.arguments import check_graph, one_word
from kernels.csr import CSRGraph, to_host
from kernels.errors import GraphError
from kernels.printed import Printed

__all__ = ["Method", "SpanningForest", "mst"]

Method = Literal["auto", "boruvka", "filter-kruskal", "kruskal", "prim"]


@dataclass(frozen=True, eq=False, repr=False)
class SpanningForest(Printed):
    """A minimum spanning forest: a tree of each component; arrays live on the graph's device.

    Edges ascend by their smaller end, then by the larger one.

    Attributes
    ----------
    tails, heads : (n_edges,) int32
        The smaller and the larger end of each edge.
    weights : (n_edges,) float32
        In the unit of the graph's weights.
    n_components : int
        Trees, those of isolated nodes included: n_nodes - n_edges.
    """

    tails: Any
    heads: Any
    weights: Any
    n_components: int
    graph: CSRGraph = field(repr=False)

    @property
    def n_edges(self) -> int:
        return len(self.tails)

    @property
    def total(self) -> float:
        """Sum of the weights, added up on the host, so that it depends on no device."""
        return float(to_host(self.weights).sum(dtype=np.float64))

    def check(self) -> None:
        """Raise CheckError unless this is what ``mst`` defines; O(n_arcs log n_nodes)."""
        from kernels.spanning_tree.check import check_mst

        check_mst(self)


def mst(graph: CSRGraph, method: Method = "auto") -> SpanningForest:
    """Find the minimum spanning forest.

    Parameters
    ----------
    graph : CSRGraph
        With weights. Runs on ``graph.device``.
    method : str
        ``auto``: ``boruvka``. The others are there for comparison: ``kruskal``, ``prim``, and
        ``filter-kruskal`` on cores only. The result is the same, to the edge.

    Returns
    -------
    SpanningForest
        No nodes: no edges and no components.

    Raises
    ------
    GraphError
        If the graph has no weights, if one is negative or not finite (the first such arc is
        named), if ``method`` is none of these or does not run on the graph's device, or if there
        are 2**32 arcs or more.
    DeviceError
        If the graph is on a GPU and the kernel cannot be built or has too little memory there.

    Notes
    -----
    Edges are ordered by weight, equal ones by the smaller end, then by the larger one. No two are
    equal, so the minimum spanning forest is unique, whatever the method and the device.

    *Boruvka* [2]_: in each round every tree takes its lightest edge outwards; a list holds the
    edges between different trees. Where there are many per node, those lighter than a sampled
    weight come first. O(m log n); on cores, all of them, 24 bytes per node and 9 per arc besides
    the graph, below 2**18 arcs, on one core, 12 and 13; on a GPU, in one launch for all rounds, 20
    and 25.
    *Filter-Kruskal* [1]_, on one core: edges are divided by weight; before the heavier part is
    sorted, edges whose ends are connected already are left out. O(m + n log n log(m / n)) for
    random weights, O(m log n) at worst; 4 bytes per node and 20 per arc. *Kruskal* sorts all edges
    first. *Prim*: one tree grows at a time, by an indexed heap of the nodes beside it; O(m log n),
    16 bytes per node and 1 per arc.
    *Kruskal* and *Prim* on a GPU gain little, since each step depends on the one before: edges are
    sorted by all threads, but united by one; the least of all nodes beside the tree is found by all
    threads, once for each node, O(n**2 + m). 4 bytes per node and 36 per arc; 9 and 5.

    References
    ----------
    .. [1] V. Osipov, P. Sanders, J. Singler, "The filter-Kruskal minimum spanning tree algorithm",
       ALENEX 2009.
    .. [2] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A high-performance MST implementation for
       GPUs", SC 2023.

    Examples
    --------
    >>> arcs = np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1], np.int32)
    >>> triangle = CSRGraph(*arcs, np.array([3, 1, 3, 2, 1, 2], np.float32))
    >>> forest = mst(triangle)
    >>> forest.tails.tolist(), forest.heads.tolist(), forest.total
    ([0, 1], [2, 2], 3.0)
    """
    check_graph(graph, CSRGraph)
    one_word("method", method, get_args(Method))
    if graph.weights is None:
        raise GraphError("the graph has no weights; a minimum spanning forest needs one per arc")
    if graph.n_arcs >= 2**32:
        raise GraphError(f"{graph.n_arcs:,} arcs; spanning forests take fewer than 2**32")
    arrays = graph.indptr, graph.indices, graph.weights
    method = "boruvka" if method == "auto" else method
    if graph.device == "cpu":
        from kernels.spanning_tree import cpu

        found = cpu.spanning_forest(*arrays, method)
    else:
        from kernels.spanning_tree import gpu

        if method == "filter-kruskal":
            raise GraphError(f"method {method!r} runs on cores, and the graph is on a GPU")
        found = gpu.spanning_forest(*arrays, method)
    if found is None:  # a weight is negative or not finite
        graph.validate()
        raise GraphError("a weight is negative or not finite")
    tails, heads, weights = found
    return SpanningForest(tails, heads, weights, graph.n_nodes - len(tails), graph)
