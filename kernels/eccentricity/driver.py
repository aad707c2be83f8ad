"""Answers questions about eccentricities in this process: takes candidates, searches, updates."""

from __future__ import annotations

import numpy as np

from kernels.connected import components
from kernels.csr import CSRGraph
from kernels.eccentricity.bounds import EccentricityBounds, Question
from kernels.eccentricity.cpu import CoreSearches
from kernels.eccentricity.searching import Implied
from kernels.eccentricity.strategy import Strategy
from kernels.types import NODE


class Answering:
    """One question about one graph, until it is answered or the searches are used up.

    Attributes
    ----------
    names : (n_components,) int32
        Components by their smallest nodes, ascending: component i of ``bounds`` is names[i].
    """

    def __init__(
        self,
        graph: CSRGraph,
        question: Question,
        strategy: Strategy,
        max_searches: int | None = None,
    ):
        self.graph, self.strategy, self.max_searches = graph, strategy, max_searches
        degree = np.diff(graph.indptr).astype(np.int32)
        hub = np.array([np.argmax(degree)], NODE)
        # One search tells whether the graph hangs together, and is the first to give bounds.
        component = np.zeros(graph.n_nodes, np.int32)
        self.names = np.zeros(1, NODE)
        self.searches = CoreSearches(graph, component, 1)
        first = self.searches.search(hub) if self._may_search(0) else None
        if first is None or self.searches.n_reached < graph.n_nodes:
            found = components(graph)
            self.names = found.ids
            component = np.searchsorted(found.ids, found.component).astype(np.int32)
            self.searches = CoreSearches(graph, component, len(found.ids))
            first = None
        self.sources = [np.empty(0, NODE)]
        self.bounds = EccentricityBounds(question, component, degree, is_winnowing=strategy.winnow)
        if first is not None:
            self._finish(first)

    def run(self) -> EccentricityBounds:
        """Search until nothing is open; the bounds."""
        bounds = self.bounds
        while not bounds.done and self._may_search(bounds.n_searches):
            sources = bounds.take()
            if self.max_searches is not None:
                left = self.max_searches - bounds.n_searches
                bounds.release(sources[left:])
                sources = sources[:left]
            self._finish(self.searches.search(sources))
        return bounds

    def _may_search(self, n_searches: int) -> bool:
        return self.max_searches is None or n_searches < self.max_searches

    def _finish(self, found: Implied) -> None:
        self.sources.append(found.sources)
        self.bounds.update(found.sources, found.lower, found.upper, alone=True)

    def path(self, component: int) -> np.ndarray:
        """A shortest path as long as the largest lower bound of a component."""
        bounds = self.bounds
        length = int(bounds.most[component])
        ends = np.flatnonzero((bounds.component == component) & (bounds.lower == length))
        level, eccentricity = self.searches.levels(ends[:1].astype(NODE))
        node = int(np.flatnonzero(level == eccentricity[component])[0])
        path = [node]
        while level[node] > 0:
            neighbours = self.graph.indices[self.graph.indptr[node] : self.graph.indptr[node + 1]]
            node = int(neighbours[level[neighbours] == level[node] - 1][0])
            path.append(node)
        return np.array(path[::-1], NODE)
