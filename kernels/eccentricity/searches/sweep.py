"""Sweeps from many sources at once, for eccentricities: 64 or 512 lanes, on one core.

Lane l carries at most one source of each component, so one sweep answers for all components at
once. Steps go top-down while few nodes change, else bottom-up (Beamer et al.: Direction-optimizing
breadth-first search, SC 2012; Then et al.: The more the merrier, VLDB 2014).
"""

from __future__ import annotations

import numpy as np

from kernels._cpu.sweep_constants import BOTTOM_UP_ARC, BOTTOM_UP_NODE, DENSE, TOP_DOWN_ARC
from kernels.csr import CSRGraph
from kernels.eccentricity.searches.sweep_steps import FEW_WORDS, MANY_WORDS, STEPS, set_lanes
from kernels.types import NODE

FEW_LANES, MANY_LANES = 64 * FEW_WORDS, 64 * MANY_WORDS
_LINE = 64  # bytes of a cache line: rows of MANY_WORDS must not lie across two


def lanes_of(sources: np.ndarray, component: np.ndarray) -> np.ndarray:
    """A lane for each source: the i-th of its component gets lane i."""
    own = component[sources]
    order = np.argsort(own, kind="stable")
    ranked = own[order]
    lanes = np.empty(len(sources), np.int64)
    lanes[order] = np.arange(len(sources)) - np.searchsorted(ranked, ranked)
    return lanes


class Tables:
    """Memory of two tables of rows, kept from sweep to sweep: new pages cost more than a level."""

    def __init__(self) -> None:
        self._words = np.empty(0, np.uint64)

    def rows(self, n_rows: int, words: int) -> tuple[np.ndarray, np.ndarray]:
        """Two tables of zeros, no row of which lies across two lines of the cache."""
        size = n_rows * words
        padded = size + -size % (_LINE // 8)
        if len(self._words) < 2 * padded + _LINE // 8:
            self._words = np.empty(0, np.uint64)  # free the old pages first
            self._words = np.empty(2 * padded + _LINE // 8, np.uint64)
        first = (-self._words.ctypes.data % _LINE) // 8
        both = self._words[first : first + 2 * padded]
        both[:] = 0
        return both[:size], both[padded : padded + size]


class Sweep:
    """One sweep, level by level.

    Parameters
    ----------
    sources, lanes : (n_sources,) integers
        No lane twice in a component; below FEW_LANES, or below MANY_LANES.
    lower : (n_nodes,) int32
        Raised to the last level on which any lane found the node.
    tables : Tables
        Memory, of one sweep at a time.

    Attributes
    ----------
    depth : int
        Last complete level.
    eccentricity : (n_sources,) int32
        Of each source, once ``advance`` has returned False.
    words : int
        Of a row.
    now : (n_nodes * words,) uint64
        Bit l of the row of node v: lane l has reached it in ``depth`` hops.
    work : float
        Arcs looked at bottom-up, and other work in the same unit.
    """

    def __init__(
        self,
        graph: CSRGraph,
        component: np.ndarray,
        n_components: int,
        sources: np.ndarray,
        lanes: np.ndarray,
        lower: np.ndarray,
        tables: Tables,
    ):
        self.words = FEW_WORDS if lanes.max() < FEW_LANES else MANY_WORDS
        self._bottom_up, self._top_down = STEPS[self.words]
        n_nodes = graph.n_nodes
        self.graph, self.component, self.lower = graph, component, lower
        self.now, self._after = tables.rows(n_nodes, self.words)
        self._every, self._unions = Tables().rows(n_components, self.words)
        self._lanes = lanes
        self._own = component[sources].astype(np.int64)
        set_lanes(self.now, self.words, sources, lanes)
        set_lanes(self._every, self.words, self._own.astype(np.int32), lanes)
        self._changed = np.zeros((n_nodes + 63) // 64, np.uint64)
        self._changing = np.zeros_like(self._changed)
        set_lanes(self._changed, 1, sources >> 6, sources.astype(np.int64) & 63)
        self._nodes, self._n_nodes = np.arange(n_nodes, dtype=NODE), n_nodes
        self._n_changed = len(sources)
        degree = graph.indptr[sources + np.int64(1)] - graph.indptr[sources]
        self._n_arcs = int(degree.sum())
        self.depth, self.work = 0, 0.0
        self.eccentricity = np.zeros(len(sources), np.int32)

    def advance(self) -> bool:
        """Complete one more level; False if it has no nodes, and the sweep is over."""
        graph = self.graph
        self._unions[:] = 0
        self._changing[:] = 0
        tables = (graph.indptr, graph.indices, self.component, self._every, self.now, self._after)
        level = (self._changed, self._changing, self.depth + 1, self.lower, self._unions)
        share = self._n_nodes / graph.n_nodes
        cost = BOTTOM_UP_ARC * graph.n_arcs * share + BOTTOM_UP_NODE * self._n_nodes
        if self._n_nodes == 0:
            return False
        self.work += min(cost, TOP_DOWN_ARC * self._n_arcs)
        if TOP_DOWN_ARC * self._n_arcs < cost:
            self._n_changed, self._n_arcs = self._top_down(*tables, *level)
        else:
            is_dense = DENSE * self._n_changed > graph.n_nodes
            self._n_nodes, self._n_changed, self._n_arcs = self._bottom_up(
                *tables, self._nodes, self._n_nodes, *level, is_dense
            )
        if self._n_changed == 0:
            return False
        self.depth += 1
        word = self._unions[self._own * self.words + (self._lanes >> 6)]
        found = (word >> (self._lanes & 63).astype(np.uint64)) & np.uint64(1)
        self.eccentricity[found > 0] = self.depth
        self.now, self._after = self._after, self.now
        self._changed, self._changing = self._changing, self._changed
        return True
