"""Widths of every component of every graph of a shard, tens of thousands of them at once.

Components are taken out of the shard, those of similar size together until they have some
CHUNK_NODES nodes, larger ones by themselves. One search of such a chunk carries a source of each of
its components, one sweep up to 512 of each. Components that are answered leave the chunk as soon as
they are half of it; so the whole costs about as much as its components by themselves, apart from
the interpreter's overhead. Questions are asked one after another; each begins with the bounds that
the earlier ones left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, OUT_I32
from kernels.arguments import check_graph
from kernels.csr import CSRGraph, Shard
from kernels.eccentricity.bounds import steps
from kernels.eccentricity.bounds.bounds import EccentricityBounds
from kernels.eccentricity.bounds.components import (
    Cutter,
    Subgraph,
    largest_of_each,
    numbered_components,
)
from kernels.eccentricity.questions import Question, checked_questions
from kernels.eccentricity.reductions.pendant_trees import find_tips
from kernels.eccentricity.results import ShardWidths, checked_limit
from kernels.eccentricity.searches.cpu import CoreSearches
from kernels.eccentricity.solver import EccentricitySolver
from kernels.eccentricity.strategy import Strategy, checked_strategy, take_next
from kernels.types import NODE

CHUNK_NODES = 1 << 17  # two tables of 512 lanes are 16 MB; the interpreter takes 10 ms per chunk
SMALL_NODES = 1 << 13  # cutting a part out of one smaller than this takes as long as searching it


def widths(
    shard: Shard,
    questions: Iterable[Question],
    max_searches: int | None = None,
    strategy: Strategy | None = None,
) -> ShardWidths:
    """Answer several questions about every component of every graph.

    Parameters
    ----------
    shard : Shard
        Where its arrays are decides where it is searched.
    questions : iterable of str
        Of ``diameter``, ``radius``, ``center``, ``periphery``, ``eccentricities``.
    max_searches : int or None
        Sources that may be searched in each component, for all questions together; then its
        answers may be intervals. The search that a path takes is not counted.
    strategy : Strategy or None
        Reductions to use on cores; None: all.

    Returns
    -------
    ShardWidths

    Raises
    ------
    GraphError
        If a question is unknown, or none is asked, or ``max_searches`` is negative.
    DeviceError
        If the shard is on a GPU that cannot be used or has too little memory.

    Notes
    -----
    Exact answers do not depend on what else is in the shard, intervals may.
    """
    check_graph(shard, Shard)
    asked = checked_questions(questions)
    max_searches, strategy = checked_limit(max_searches), checked_strategy(strategy)
    if shard.device == "gpu":
        from kernels.eccentricity.gpu.shard import widths_on_gpu

        return widths_on_gpu(shard, asked, max_searches)
    graph = CSRGraph(shard.indptr, shard.indices, trusted=True)
    found = _ComponentResults(graph)
    for part in found.chunks():
        _QuestionsOfPart(part, found, max_searches, strategy).ask(plan_questions(asked))
    path_ptr = path = None
    if "diameter" in asked:
        path_ptr, path = _paths(found, shard.node_ptr)
    return found.result(asked, path_ptr, path, shard, max_searches)


def plan_questions(questions: Iterable[Question]) -> tuple[Question, ...]:
    """The questions to ask, in this order, so that all answers follow."""
    asked = checked_questions(questions)
    if "eccentricities" in asked:
        return ("eccentricities",)
    plan: list[Question] = []
    if "periphery" in asked or "diameter" in asked:
        plan.append("periphery" if "periphery" in asked else "diameter")
    if "center" in asked or "radius" in asked:
        plan.append("center" if "center" in asked else "radius")
    return tuple(plan)


class _ComponentResults:
    """Bounds and results of all components of a shard.

    Attributes
    ----------
    component, lower, upper : (n_nodes,) int32
    names, size : (n_components,) int32
    n_searches : (n_components,) int64; exact : (n_components,) bool
    diameter_lower, diameter_upper, radius_lower, radius_upper : (n_components,) int32
    """

    def __init__(self, graph: CSRGraph):
        self.graph = graph
        self.names, self.component = numbered_components(graph)
        n_components = len(self.names)
        self.size = np.bincount(self.component, minlength=n_components).astype(np.int32)
        degree = np.diff(graph.indptr).astype(np.int32)
        self.lower, self.upper = np.empty((2, graph.n_nodes), np.int32)
        steps.start(self.component, self.size, degree, self.lower, self.upper)
        self.n_searches = np.zeros(n_components, np.int64)
        self.exact = np.ones(n_components, bool)
        # Right for one node and for two: one eccentricity is all there is.
        value = (self.size - 1).clip(0, 1).astype(np.int32)
        self.diameter_lower, self.diameter_upper = value.copy(), value.copy()
        self.radius_lower, self.radius_upper = value.copy(), value.copy()

    def chunks(self) -> Iterator[Subgraph]:
        """Components of three nodes and more, the largest first, as parts to be answered alone."""
        numbers = np.flatnonzero(self.size > 2)
        numbers = numbers[np.argsort(-self.size[numbers], kind="stable")]
        if len(self.names) == 1 and len(numbers):
            nodes = np.arange(self.graph.n_nodes, dtype=NODE)
            yield Subgraph(self.graph, nodes, self.component, numbers)
            return
        size = self.size[numbers].astype(np.int64)
        before = (np.cumsum(size) - size) // CHUNK_NODES
        cutter = Cutter(self.graph, self.component, self.size)
        for chunk in np.split(numbers, np.flatnonzero(np.diff(before)) + 1):
            if len(chunk):
                yield cutter.cut(chunk)

    def result(
        self,
        asked: tuple[Question, ...],
        path_ptr: np.ndarray | None,
        path: np.ndarray | None,
        shard: Shard,
        max_searches: int | None,
    ) -> ShardWidths:
        """The results in their public form."""
        is_center = is_periphery = eccentricity = None
        if "center" in asked:
            is_center = self.lower <= self.radius_upper[self.component]
        if "periphery" in asked:
            is_periphery = self.upper >= self.diameter_lower[self.component]
        if "eccentricities" in asked:
            longest = int(self.lower.max(initial=0))
            kind = np.uint8 if longest < 255 else np.uint16 if longest < 65535 else np.int32
            eccentricity = self.lower.astype(kind)
        return ShardWidths(
            questions=asked,
            exact=self.exact,
            component=self.component,
            names=self.names,
            size=self.size,
            n_searches=self.n_searches,
            diameter_lower=self.diameter_lower,
            diameter_upper=self.diameter_upper,
            radius_lower=self.radius_lower,
            radius_upper=self.radius_upper,
            eccentricity=eccentricity,
            is_center=is_center,
            is_periphery=is_periphery,
            path_ptr=path_ptr,
            path=path,
            shard=shard,
            max_searches=max_searches,
        )


@dataclass(frozen=True, eq=False)
class _Intervals:
    """Intervals of one question, one per component of a part, and whether each is answered."""

    low: np.ndarray
    high: np.ndarray
    is_answered: np.ndarray


class _QuestionsOfPart:
    """Questions about one part, one after another on the same bounds."""

    def __init__(
        self, part: Subgraph, found: _ComponentResults, max_searches: int | None, strategy: Strategy
    ):
        self._part, self._found = part, found
        self._max_searches, self._strategy = max_searches, strategy
        self._degree = np.diff(part.graph.indptr).astype(np.int32)
        self._begin = np.flatnonzero(np.diff(part.component, prepend=-1))
        self._known = np.stack([found.lower[part.nodes], found.upper[part.nodes]])
        self._n_searched = np.zeros(len(part.numbers), np.int64)

    def ask(self, questions: Sequence[Question]) -> None:
        """Answer them, and record the results."""
        part, found = self._part, self._found
        exact = np.ones(len(part.numbers), bool)
        for question in questions:
            intervals = self._ask(question)
            exact &= intervals.is_answered
            self._tighten(question, intervals)
        lower, upper = self._known
        numbers = part.numbers
        found.lower[part.nodes], found.upper[part.nodes] = lower, upper
        found.exact[numbers], found.n_searches[numbers] = exact, self._n_searched
        found.diameter_lower[numbers] = np.maximum.reduceat(lower, self._begin)
        found.diameter_upper[numbers] = np.maximum.reduceat(upper, self._begin)
        found.radius_lower[numbers] = np.minimum.reduceat(lower, self._begin)
        found.radius_upper[numbers] = np.minimum.reduceat(upper, self._begin)

    def _ask(self, question: Question) -> _Intervals:
        part, relevant = self._part, None
        if question == "diameter" and self._strategy.trees and (self._degree == 1).any():
            relevant, lower = find_tips(part.graph.indptr, part.graph.indices, self._degree)
            np.maximum(self._known[0], lower, out=self._known[0])
        given = (part.component, self._degree, relevant, self._strategy.winnow, self._known)
        bounds = EccentricityBounds(question, *given)
        intervals = self._run(part, bounds, self._n_searched)
        self._known = np.stack([bounds.lower, bounds.upper])
        return intervals

    def _tighten(self, question: Question, intervals: _Intervals) -> None:
        """Eccentricities are at most the diameter, and at least half of it."""
        at = self._part.component
        lower, upper = self._known
        if question in ("radius", "center"):
            np.maximum(lower, intervals.low[at], out=lower)
            most = 2 * intervals.high.astype(np.int64)
        else:
            np.maximum(lower, ((intervals.low + 1) // 2)[at], out=lower)
            most = intervals.high.astype(np.int64)
        np.minimum(upper, np.minimum(most, np.iinfo(np.int32).max).astype(np.int32)[at], out=upper)

    def _run(
        self, part: Subgraph, bounds: EccentricityBounds, n_searched: np.ndarray
    ) -> _Intervals:
        """Search until all is answered; bounds and numbers of searches are changed in place."""
        solver = EccentricitySolver(
            part.graph,
            bounds.question,
            self._strategy,
            max_each=self._max_searches,
            known=(bounds, part.numbers),
        )
        solver.n_searched = n_searched
        n_nodes = part.graph.n_nodes
        left = bounds.open_components()
        while not solver.is_over:
            if n_nodes > SMALL_NODES and not len(solver.landmarks):
                left = bounds.open_components()
                if 2 * int(bounds.size[left].sum()) < n_nodes:
                    return self._run_rest(part, bounds, n_searched, left)
            take_next(solver)
        is_answered = np.ones(len(part.numbers), bool)
        is_answered[bounds.open_components()] = False
        return _Intervals(*bounds.interval(), is_answered)

    def _run_rest(
        self, part: Subgraph, bounds: EccentricityBounds, n_searched: np.ndarray, left: np.ndarray
    ) -> _Intervals:
        """Answer the last few components, cut out."""
        low, high = bounds.interval()
        is_answered = np.ones(len(part.numbers), bool)
        rest = Cutter(part.graph, part.component, bounds.size).cut(left)
        own = bounds.part(rest.nodes, rest.component, left)
        n_own = n_searched[left]
        intervals = self._run(rest, own, n_own)
        n_searched[left] = n_own
        bounds.lower[rest.nodes], bounds.upper[rest.nodes] = own.lower, own.upper
        low[left], high[left] = intervals.low, intervals.high
        is_answered[left] = intervals.is_answered
        return _Intervals(low, high, is_answered)


def _paths(found: _ComponentResults, node_ptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A longest known shortest path in the largest component of each graph, by one search.

    A search that finds a node farther than was known raises the bound of its component.
    """
    n_graphs = len(node_ptr) - 1
    with_nodes, chosen = largest_of_each(found.names, found.size, node_ptr)
    ends = np.full(len(found.names), -1, NODE)
    find_nodes(found.component, found.lower, found.diameter_lower, ends)
    if not len(chosen):
        return np.zeros(n_graphs + 1, np.int64), np.empty(0, NODE)
    searches = CoreSearches(found.graph, found.component, len(found.names))
    implied = searches.search(ends[chosen])
    length = np.zeros(len(found.names), np.int32)
    length[found.component[implied.sources]] = implied.eccentricity
    found.diameter_lower[chosen] = np.maximum(found.diameter_lower[chosen], length[chosen])
    path_ptr = np.zeros(n_graphs + 1, np.int64)
    path_ptr[with_nodes + 1] = length[chosen] + 1
    np.cumsum(path_ptr, out=path_ptr)
    # Upper bounds are eccentricity and level, twice the eccentricity at the far end.
    upper = implied.upper.astype(np.int32)
    far = np.full(len(found.names), -1, NODE)
    find_nodes(
        found.component,
        upper,
        2 * length,
        far,
    )
    path = np.empty(int(path_ptr[-1]), NODE)
    arrays = (found.graph.indptr, found.graph.indices, upper)
    steps.trace_back(*arrays, far[chosen], path_ptr[with_nodes], path_ptr[with_nodes + 1], path)
    return path_ptr, path


@njit([types.void(I32, I32, I32, OUT_I32)], cache=True, nogil=True)
def find_nodes(component, value, wanted, found):
    """The first node of each component that has the wanted value; -1 on entry."""
    for v in range(component.size):
        c = component[v]
        if found[c] < 0 and value[v] == wanted[c]:
            found[c] = v
