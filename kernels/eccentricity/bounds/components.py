"""Components by number, and parts of a graph with only some of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I32, OUT_I64
from kernels.arguments import check_graph
from kernels.connected import components
from kernels.csr import CSRGraph
from kernels.types import NODE, OFFSET


def numbered_components(graph: CSRGraph) -> tuple[np.ndarray, np.ndarray]:
    """Components of a graph on the host.

    Returns
    -------
    (n_components,) int32
        The smallest node of each, ascending.
    (n_nodes,) int32
        For each node the number of its component, 0, 1, ... in that order.
    """
    check_graph(graph, CSRGraph)
    found = components(graph)
    number = np.empty(graph.n_nodes, np.int32)
    number[found.ids] = np.arange(len(found.ids), dtype=np.int32)
    return found.ids, number[found.component]


def largest_of_each(
    names: np.ndarray, size: np.ndarray, node_ptr: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The largest component of each graph of a shard, the first of two equally large ones.

    Parameters
    ----------
    names, size : (n_components,) integers
        Smallest node of each, ascending, and how many it has.
    node_ptr : (n_graphs + 1,) int64

    Returns
    -------
    (n,) int64, (n,) int64
        Graphs that have nodes, ascending, and the number of the largest component of each.
    """
    graph_of = np.searchsorted(node_ptr, names, side="right") - 1
    by_size = np.lexsort((names, -size.astype(np.int64), graph_of))
    graphs, first = np.unique(graph_of[by_size], return_index=True)
    return graphs, by_size[first]


def levels_of(upper: np.ndarray, eccentricity: np.ndarray, component: np.ndarray) -> np.ndarray:
    """(n_nodes,) int32: hops from one source in each component.

    Parameters
    ----------
    upper : (n_nodes,) uint8, uint16 or int32
        Hops from it, and its eccentricity.
    eccentricity : (n_components,) int32
        Of the source; -1: none, and ``upper`` is returned.
    component : (n_nodes,) int32
    """
    level = upper.astype(np.int32)
    level -= eccentricity[0] if len(eccentricity) == 1 else np.maximum(eccentricity, 0)[component]
    return level


def first_of_each(nodes: np.ndarray, component: np.ndarray, n_each: int) -> np.ndarray:
    """The first ``n_each`` of ``nodes`` in each component, in their order."""
    own = component[nodes]
    by_component = np.argsort(own, kind="stable")
    ranked = own[by_component]
    rank = np.arange(len(nodes)) - np.searchsorted(ranked, ranked)
    return nodes[np.sort(by_component[rank < n_each])]


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Some components of a graph as a graph of their own.

    Attributes
    ----------
    graph : CSRGraph
    nodes : (n_nodes,) int32
        Node i of the part is nodes[i] of the whole; ascending within a component, component
        after component.
    component : (n_nodes,) int32
        Components of the part, numbered 0, 1, ...
    numbers : (n_components,) int64
        Their numbers in the whole.
    """

    graph: CSRGraph
    nodes: np.ndarray
    component: np.ndarray
    numbers: np.ndarray


class Cutter:
    """Cuts parts out of one graph.

    Parameters
    ----------
    graph : CSRGraph
        On the host.
    component : (n_nodes,) int32
        Components by number, 0, 1, ...
    size : (n_components,) integers
    """

    def __init__(self, graph: CSRGraph, component: np.ndarray, size: np.ndarray):
        self._graph = graph
        self._ptr = np.zeros(len(size) + 1, np.int64)
        np.cumsum(size, out=self._ptr[1:])
        self._nodes = np.empty(graph.n_nodes, NODE)
        group_nodes(component, self._ptr[:-1].copy(), self._nodes)
        self._place = np.empty(graph.n_nodes, NODE)

    def cut(self, numbers: np.ndarray) -> Subgraph:
        """The components of these numbers, in this order; O(their nodes and arcs)."""
        size = np.diff(self._ptr)[numbers]
        component = np.repeat(np.arange(len(numbers), dtype=np.int32), size)
        begin = np.cumsum(size) - size
        nodes = self._nodes[np.arange(len(component)) + (self._ptr[numbers] - begin)[component]]
        self._place[nodes] = np.arange(len(nodes), dtype=NODE)
        indptr = np.zeros(len(nodes) + 1, OFFSET)
        old = self._graph.indptr
        np.cumsum(old[nodes + np.int64(1)] - old[nodes], out=indptr[1:])
        indices = np.empty(int(indptr[-1]), NODE)
        copy_arcs(old, self._graph.indices, nodes, self._place, indptr, indices)
        return Subgraph(CSRGraph(indptr, indices, trusted=True), nodes, component, numbers)


@njit([types.void(I32, OUT_I64, OUT_I32)], cache=True, nogil=True)
def group_nodes(component, begin, nodes):
    """Sort nodes by component, ascending within each; overwrites ``begin``, where each begins."""
    for v in range(component.size):
        c = component[v]
        nodes[begin[c]] = v
        begin[c] += 1


@njit([types.void(I64, I32, I32, I32, I64, OUT_I32)], cache=True, nogil=True)
def copy_arcs(indptr, indices, nodes, place, new_indptr, new_indices):
    """Arcs of ``nodes``, in the ids that ``place`` gives to their heads."""
    for i in range(nodes.size):
        at = new_indptr[i]
        for arc in range(indptr[nodes[i]], indptr[np.int64(nodes[i]) + 1]):
            new_indices[at] = place[indices[arc]]
            at += 1
