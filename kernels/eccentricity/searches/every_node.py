"""Sweeps from every relevant node, close ones together; their cost, predicted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kernels._cpu.near_steps import LANES, Rows, place_sources, rows_of
from kernels.breadth_first.cpu_bytes import search_levels
from kernels.csr import CSRGraph
from kernels.eccentricity.bounds.components import Cutter
from kernels.eccentricity.questions import QUESTIONS_OF_MANY, Question
from kernels.eccentricity.searches import Implied
from kernels.eccentricity.searches.near_sweep import sweep_components
from kernels.eccentricity.searches.sweep_steps import relax
from kernels.eccentricity.strategy import EVEN_NS, QUICK_NS, WORK_NS, sweep_work
from kernels.eccentricity.thresholds import CORE
from kernels.types import NODE

# Even graphs: links per node at least, those of one node at most as a multiple of the mean, and the
# eccentricity of a farthest node as a multiple of the hub's. Bounds prove little on them.
EVEN_LEAST, EVEN_MOST, EVEN_SPREAD = 3, 4, 1.5


class EveryNode:
    """Sweeps of components of a graph, one after another, on one core.

    Parameters
    ----------
    graph : CSRGraph
        On the host.
    component : (n_nodes,) int32
        Components by number, 0, 1, ...
    size : (n_components,) integers
    numbers : (n_components,) integers
        The components that may be swept.
    rows : callable
        ``near_steps.rows_of``, or a function that returns the same rows for each call.

    Attributes
    ----------
    work : int
        Of the last sweeps, see ``near_sweep``.
    n_nodes : (n_components,) int64
        Of the components that may be swept.

    Notes
    -----
    12 bytes per node, 141 more during a sweep, and a copy of the components unless they are the
    whole graph.
    """

    def __init__(
        self,
        graph: CSRGraph,
        component: np.ndarray,
        size: np.ndarray,
        numbers: np.ndarray,
        rows: Callable[[int], Rows] = rows_of,
    ):
        self._rows, self.work = rows, 0
        if len(size) == 1:
            self._graph, self._nodes, self._own = graph, None, component
        else:
            part = Cutter(graph, component, size).cut(numbers)
            self._graph, self._nodes, self._own = part.graph, part.nodes, part.component
        self._node_ptr = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(size[numbers], out=self._node_ptr[1:])
        self.n_nodes = np.diff(self._node_ptr)
        self._order = self._place = np.empty(0, NODE)

    def _put_in_order(self) -> None:
        """Find an order in which close nodes are side by side, the first time it is needed."""
        if len(self._order) == self._graph.n_nodes:
            return
        arrays = (self._graph.indptr, self._graph.indices, self._node_ptr)
        self._order = np.empty(self._graph.n_nodes, NODE)
        place_sources(*arrays, np.arange(len(self._node_ptr) - 1), self._order)
        self._place = self._order + self._node_ptr[self._own]  # in the part

    def first_nodes(self) -> np.ndarray:
        """The first node of each component, to be searched for ``expect``."""
        return self._in_whole(self._node_ptr[:-1].astype(NODE))

    def expect_short(self, longest: np.ndarray) -> np.ndarray:
        """As ``expect`` for components so short that nodes change on nearly all levels anyway."""
        n_nodes = np.diff(self._node_ptr)
        n_arcs = np.diff(self._graph.indptr[self._node_ptr])
        work = sweep_work(n_nodes, n_arcs, longest, longest)
        return -(-n_nodes // LANES) * work * WORK_NS

    def expect(self, level: np.ndarray, eccentricity: np.ndarray) -> np.ndarray:
        """Predicted cost of sweeping from all nodes of each component, ns.

        Parameters
        ----------
        level : (n_nodes,) integers
            Of one search in each component.
        eccentricity : (n_components,) int32
            Of its source, in each of the components that may be swept.
        """
        self._put_in_order()
        n_nodes = np.diff(self._node_ptr)
        n_arcs = np.diff(self._graph.indptr[self._node_ptr])
        ordered = self._of_part(level)[self._place].astype(np.int64)
        n_groups = -(-n_nodes // LANES)
        of = np.repeat(np.arange(len(n_nodes)), n_groups)
        rank = np.arange(len(of)) - (np.cumsum(n_groups) - n_groups)[of]
        begin = self._node_ptr[of] + rank * LANES
        extent = np.maximum.reduceat(ordered, begin) - np.minimum.reduceat(ordered, begin)
        work = sweep_work(n_nodes[of], n_arcs[of], eccentricity[of].astype(np.int64), extent)
        return np.bincount(of, work, len(n_nodes)) * WORK_NS

    def middle_ball(self, place: int) -> np.ndarray:
        """The sources of the sweep that is half-way through a component; ``place`` in numbers."""
        begin, end = self._node_ptr[place : place + 2]
        begin += (end - begin) // LANES // 2 * LANES
        return self._in_whole(self._place[begin : min(begin + LANES, end)])

    def share_left(self, is_open: np.ndarray) -> np.ndarray:
        """The remaining part of each component's sweeps, by relevant nodes (n_nodes,)."""
        n_open = np.add.reduceat(self._of_part(is_open).astype(np.int64), self._node_ptr[:-1])
        n_groups = -(-np.diff(self._node_ptr) // LANES)
        return (-(-n_open // LANES)) / n_groups

    def sweep(
        self, is_open: np.ndarray, lower: np.ndarray, upper: np.ndarray, n_groups: int
    ) -> Implied:
        """Search from up to LANES * ``n_groups`` nodes that matter in each component.

        ``lower``, ``upper``: what is known already; the result holds it too.
        """
        if self._nodes is None and np.count_nonzero(is_open) <= LANES and not len(self._order):
            order = place = np.arange(self._graph.n_nodes, dtype=NODE)  # one sweep: any order
        else:
            self._put_in_order()
            order, place = self._order, self._place
        is_source = self._of_part(is_open)[place]
        wanted = self._with_others(is_source)
        rank = np.cumsum(wanted) - wanted
        rank -= rank[self._node_ptr[:-1]][self._own]
        wanted &= rank < n_groups * LANES
        chosen = np.flatnonzero(wanted)
        source_ptr = np.searchsorted(chosen, self._node_ptr)
        own_lower, own_upper = self._of_part(lower).copy(), self._of_part(upper).copy()
        eccentricity = np.empty(len(chosen), np.int32)
        rows = self._rows(int(np.diff(self._node_ptr).max()))
        arrays = (self._graph.indptr, self._graph.indices)
        given = (self._node_ptr, source_ptr, order[chosen])
        self.work = sweep_components(*arrays, *given, own_lower, eccentricity, rows)
        is_source = is_source[chosen]
        sources, eccentricity = place[chosen[is_source]].astype(NODE), eccentricity[is_source]
        own_lower[sources] = eccentricity  # which distances from other sources do not give
        relax(*arrays, own_upper, sources, eccentricity, 1)
        if self._nodes is not None:
            lower, upper = lower.copy(), upper.copy()
            lower[self._nodes], upper[self._nodes] = own_lower, own_upper
            own_lower, own_upper = lower, upper
        return Implied(self._in_whole(sources), eccentricity, own_lower, own_upper)

    def _with_others(self, is_source: np.ndarray) -> np.ndarray:
        """Sources, by place, and others of their balls if that takes no further sweep.

        Sweeps of whole balls have the closest sources: if a few nodes were left out, each sweep
        would reach into the next ball.
        """
        n_nodes = np.diff(self._node_ptr)
        first = self._node_ptr[:-1]
        n_balls = -(-n_nodes // LANES)
        ball_ptr = np.append(0, np.cumsum(n_balls))
        begin = np.repeat(first - ball_ptr[:-1] * LANES, n_balls) + np.arange(ball_ptr[-1]) * LANES
        is_wanted = np.add.reduceat(is_source, begin, dtype=np.int64) > 0
        n_packed = -(-np.add.reduceat(is_source, first, dtype=np.int64) // LANES)
        if np.count_nonzero(is_wanted) > n_packed.sum():
            return is_source.copy()
        return np.repeat(is_wanted, np.diff(np.append(begin, n_nodes.sum())))

    def _of_part(self, values: np.ndarray) -> np.ndarray:
        return values if self._nodes is None else values[self._nodes]

    def _in_whole(self, nodes: np.ndarray) -> np.ndarray:
        return nodes if self._nodes is None else self._nodes[nodes]


class FirstSearch(NamedTuple):
    """A search from the node of most links, the smallest of them."""

    hub: int
    level: np.ndarray  # (n_nodes,) uint8 or uint16
    eccentricity: int  # -1: too large for that
    n_reached: int
    queue: np.ndarray  # (n_nodes + 1,) int32, reached nodes in order


def quick_eccentricities(
    graph: CSRGraph, question: Question
) -> tuple[np.ndarray | None, FirstSearch | None]:
    """Every eccentricity of a small connected graph, (n_nodes,) int32, by sweeping at once.

    None if choosing sources may cost less, or if the graph is not connected or has no nodes; and
    the search that showed it, or None if none was needed.
    """
    n_nodes, n_arcs = graph.n_nodes, graph.n_arcs
    n_groups = -(-n_nodes // LANES)
    least_ns = n_groups * sweep_work(n_nodes, n_arcs, 1, 1) * WORK_NS
    if not 0 < least_ns <= EVEN_NS:
        return None, None
    degree = np.diff(graph.indptr)
    hub = int(np.argmax(degree))
    is_regular = degree.min() == degree[hub]
    is_even = n_arcs >= EVEN_LEAST * n_nodes and degree[hub] * n_nodes <= EVEN_MOST * n_arcs
    is_even = is_even and (question in QUESTIONS_OF_MANY or is_regular)
    if least_ns > QUICK_NS and not is_even:
        return None, None
    first = _first_search(graph, hub)
    longest = first.eccentricity
    if longest < 0 or first.n_reached < n_nodes:
        return None, None
    whole_ns = n_groups * sweep_work(n_nodes, n_arcs, longest, longest) * WORK_NS
    if whole_ns <= QUICK_NS:
        return swept_eccentricities(graph), first
    is_even = is_even and (longest <= CORE.sweep_hops or is_regular)
    if not is_even or whole_ns > EVEN_NS:
        return None, first
    if question not in QUESTIONS_OF_MANY and np.count_nonzero(first.level == longest) > 1:
        return None, first
    farthest = _first_search(graph, int(first.queue[n_nodes - 1]))
    if farthest.eccentricity > EVEN_SPREAD * longest:
        return None, first
    return swept_eccentricities(graph), first


def _first_search(graph: CSRGraph, source: int) -> FirstSearch:
    queue = np.empty(graph.n_nodes + 1, np.int32)
    for kind in (np.uint8, np.uint16):
        level = np.empty(graph.n_nodes, kind)
        found = search_levels(graph.indptr, graph.indices, source, level, queue)
        if found.last_level >= 0:
            break
    return FirstSearch(source, level, found.last_level, found.n_reached, queue)


def swept_eccentricities(graph: CSRGraph) -> np.ndarray:
    """Every eccentricity of a connected graph, (n_nodes,) int32, by sweeps alone."""
    n_nodes = graph.n_nodes
    whole, order = np.array([0, n_nodes]), np.empty(n_nodes, NODE)
    arrays = (graph.indptr, graph.indices, whole)
    place_sources(*arrays, np.zeros(1, np.int64), order)
    found, of_sources = np.zeros(n_nodes, np.int32), np.empty(n_nodes, np.int32)
    sweep_components(*arrays, whole, order, found, of_sources, rows_of(n_nodes))
    return found  # the largest distance from any source, and every node is one
