"""Eccentricities by whole searches and the triangle inequality alone, for checks of widths.

It shares with the solvers nothing but the inequality: searches are Dijkstra's, with weights of 1
for hops, and bounds are those of Takes and Kosters (2011), without any reduction.
"""

from __future__ import annotations

import numpy as np

from kernels.connected import components
from kernels.connected.check import check_components
from kernels.csr import CSRGraph
from kernels.eccentricity.questions import Question
from kernels.shortest_paths import dijkstra, weighted_arrays
from kernels.types import NODE


class PlainBounds:
    """Bounds of the eccentricity of every node, each within its component.

    Parameters
    ----------
    graph : CSRGraph
        On the host, with at least one node.
    weighted : bool
        By weight; sums are rounded, so that bounds by other nodes' searches are widened.

    Attributes
    ----------
    names, size : (n_components,) int32 and int64
    component : (n_nodes,) int64
        By number, in the order of ``names``.
    lower, upper : (n_nodes,) float64
    """

    def __init__(self, graph: CSRGraph, weighted: bool):
        found = components(graph)
        check_components(graph.indptr, graph.indices, found.component)
        self.names, self.size = found.ids, found.sizes
        self.component = np.searchsorted(found.ids, found.component)
        ones = np.ones(graph.n_arcs, np.float32)
        self._arrays = weighted_arrays(graph) if weighted else (graph.indptr, graph.indices, ones)
        self._slack = graph.n_nodes * 2.0**-51 if weighted else 0.0
        self._order = np.argsort(self.component, kind="stable")
        self._first = np.cumsum(self.size) - self.size  # of each component in that order
        self.lower = np.zeros(graph.n_nodes)
        self.upper = np.where(self.size[self.component] > 1, np.inf, 0.0)
        self._by_lower = False

    @property
    def most(self) -> np.ndarray:
        """(n_components,) float64: the largest lower bound."""
        return np.maximum.reduceat(self.lower[self._order], self._first)

    @property
    def least(self) -> np.ndarray:
        """(n_components,) float64: the smallest upper bound."""
        return np.minimum.reduceat(self.upper[self._order], self._first)

    def answer(self, question: Question, wanted: np.ndarray) -> None:
        """Search until the question is answered in the components that are marked."""
        while True:
            is_open = self._is_open(question) & wanted[self.component]
            if not is_open.any():
                return
            self._search(np.flatnonzero(is_open))

    def distances(self, sources: np.ndarray) -> np.ndarray:
        """(n_nodes,) float64: from the source in each node's component; inf without one."""
        distance = np.empty(len(self.component))
        dijkstra(self._arrays, np.ascontiguousarray(sources, NODE), distance)
        return distance

    def _is_open(self, question: Question) -> np.ndarray:
        unknown = self.lower < self.upper
        if question == "diameter":
            return self.upper > self.most[self.component]
        if question == "radius":
            return self.lower < self.least[self.component]
        if question == "center":
            return unknown & (self.lower <= self.least[self.component])
        if question == "periphery":
            return unknown & (self.upper >= self.most[self.component])
        return unknown

    def _search(self, nodes: np.ndarray) -> None:
        """Search from one of some open nodes of each component, and lower or raise bounds."""
        bound = self.lower[nodes] if self._by_lower else -self.upper[nodes]
        self._by_lower = not self._by_lower
        nodes = nodes[np.lexsort((bound, self.component[nodes]))]
        _, first = np.unique(self.component[nodes], return_index=True)
        sources = nodes[first]
        distance = self.distances(sources)
        farthest = np.maximum.reduceat(distance[self._order], self._first)[self.component]
        reached = np.isfinite(distance)
        near, far = distance[reached], farthest[reached]
        less, more = 1 - self._slack, 1 + self._slack
        low = np.maximum(near, far - near) * less
        self.lower[reached] = np.maximum(self.lower[reached], low)
        self.upper[reached] = np.minimum(self.upper[reached], (far + near) * more)
        self.lower[sources] = self.upper[sources] = farthest[sources]
