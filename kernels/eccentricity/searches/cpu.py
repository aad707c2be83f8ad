"""Searches on cores for eccentricities, and the bounds that they imply."""

from __future__ import annotations

import numpy as np

from kernels._cpu.memory import check_fits
from kernels._cpu.near_steps import LANES, Rows, rows_of
from kernels.breadth_first import search_scratch
from kernels.breadth_first.cpu import fill_levels, search_from
from kernels.breadth_first.cpu_bytes import CACHED_NODES, search_levels
from kernels.csr import CSRGraph
from kernels.eccentricity.bounds import imply as cpu_steps
from kernels.eccentricity.searches import Implied
from kernels.eccentricity.searches.near_sweep import NODE_BYTES, sweep_components
from kernels.eccentricity.searches.sweep import FEW_LANES, Sweep, Tables, lanes_of
from kernels.eccentricity.searches.sweep_steps import relax
from kernels.types import NODE


class CoreSearches:
    """Searches of a graph on one core.

    Parameters
    ----------
    graph : CSRGraph
        On the host.
    component : (n_nodes,) int32
        Components by number, 0, 1, ...
    n_components : int

    Attributes
    ----------
    n_reached : int
        Nodes that the last search reached.
    work : float
        Of the last sweep, as ``near_sweep`` counts it.
    """

    def __init__(self, graph: CSRGraph, component: np.ndarray, n_components: int):
        self.graph, self.component, self.n_components = graph, component, n_components
        self.n_reached, self.work = 0, 0.0
        self._is_long = False  # its bounds do not fit into bytes
        self._tables = Tables()
        self._rows: Rows | None = None
        self._queue, self._ends, self._bits = search_scratch(graph.n_nodes)

    def search(self, sources: np.ndarray) -> Implied:
        """Search from at most one node of each component, all of them in one pass."""
        return self.implied(sources, *self.levels(sources))

    def implied(self, sources: np.ndarray, level: np.ndarray, eccentricity: np.ndarray) -> Implied:
        """Bounds of all nodes from what ``levels`` returns."""
        lower, upper = np.empty_like(level), np.empty_like(level)
        none = np.iinfo(level.dtype).max
        cpu_steps.imply(level, self.component, eccentricity, none, lower, upper)
        return Implied(sources, eccentricity[self.component[sources]], lower, upper)

    def sweep(self, sources: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Implied:
        """Search from many nodes at once, at most MANY_LANES of each component.

        ``lower``, ``upper``: what is known already; the result holds it too.
        """
        if self.n_components > 1 or len(sources) <= FEW_LANES:
            return self._sweep(sources, lower, upper, np.empty(0, NODE))[0]
        lower, upper = lower.copy(), upper.copy()
        eccentricity = np.empty(len(sources), np.int32)
        arrays = (self.graph.indptr, self.graph.indices)
        all_nodes, all_sources = np.array([0, self.graph.n_nodes]), np.array([0, len(sources)])
        given = (all_nodes, all_sources, sources, lower, eccentricity)
        self.work = sweep_components(*arrays, *given, self.rows(self.graph.n_nodes))
        return self._implied(sources, eccentricity, lower, upper)

    def rows(self, n_nodes: int) -> Rows:
        """``near_steps.rows_of`` at least that many nodes, kept for the next sweep.

        Raises
        ------
        HostMemoryError
            If there is too little free for them.
        """
        if self._rows is None or len(self._rows.nodes) < n_nodes:
            what = f"a sweep of {LANES} sources in a graph of {n_nodes} nodes"
            check_fits(NODE_BYTES * n_nodes, what)
            self._rows = rows_of(n_nodes)
        return self._rows

    def near(
        self, sources: np.ndarray, lower: np.ndarray, upper: np.ndarray, nodes: np.ndarray
    ) -> tuple[Implied, np.ndarray]:
        """As ``sweep``, and which of up to FEW_LANES sources are near some nodes, by distance.

        Returns
        -------
        Implied, (n_levels, n_nodes) uint64
            Bit l of [j, i]: the l-th source of the component of nodes[i] is within j hops of it.
        """
        return self._sweep(sources, lower, upper, nodes)

    def _sweep(
        self, sources: np.ndarray, lower: np.ndarray, upper: np.ndarray, nodes: np.ndarray
    ) -> tuple[Implied, np.ndarray]:
        lower, upper = lower.copy(), upper.copy()
        lanes = lanes_of(sources, self.component)
        components = (self.component, self.n_components)
        run = Sweep(self.graph, *components, sources, lanes, lower, self._tables)
        rows = [run.now[nodes]]
        while run.advance():
            rows.append(run.now[nodes])
        self.work = run.work
        return self._implied(sources, run.eccentricity, lower, upper), np.array(rows)

    def _implied(
        self, sources: np.ndarray, eccentricity: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> Implied:
        """Bounds of all nodes from eccentricities; fills ``lower`` and ``upper``."""
        arrays = (self.graph.indptr, self.graph.indices)
        relax(*arrays, lower, sources, eccentricity, -1)
        relax(*arrays, upper, sources, eccentricity, 1)
        return Implied(sources, eccentricity, lower, upper)

    def levels(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Levels, the dtype's maximum where unreached, and the eccentricity by component."""
        n_nodes = self.graph.n_nodes
        if self.n_components == 1 and n_nodes <= CACHED_NODES and not self._is_long:
            level = np.empty(n_nodes, np.uint8)
            arrays = (self.graph.indptr, self.graph.indices)
            deepest, n_reached = search_levels(*arrays, int(sources[0]), level, self._queue)
            if deepest >= 0:
                self.n_reached = n_reached
                return level, np.array([deepest], np.int32)
            self._is_long = True
        self._queue[: len(sources)] = sources
        scratch = (self._queue, self._ends, self._bits)
        arrays = (self.graph.indptr, self.graph.indices)
        n_levels = search_from(*arrays, 0, n_nodes, len(sources), -1, *scratch)
        deepest = n_levels - 1
        self.n_reached = int(self._ends[deepest])
        kind = np.uint8 if deepest < 127 else np.uint16 if deepest < 32767 else np.int32
        level = np.full(n_nodes, np.iinfo(kind).max, kind)
        fill_levels(self._queue, self._ends, n_levels, level)
        eccentricity = np.full(self.n_components, -1, np.int32)
        if self.n_components == 1:
            eccentricity[0] = deepest
        else:
            found = (self._queue, self._ends, n_levels, self.component)
            cpu_steps.eccentricities_of(*found, eccentricity)
        return level, eccentricity
