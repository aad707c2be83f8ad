"""Answers questions about eccentricities on one GPU: searches, bounds and choices stay there.

The theory is that of ``bounds``: upper and lower bounds by the triangle inequality, and winnowing,
here for the periphery too (see the .cu file).
Sweeps of up to 256 lanes are so cheap here that landmarks and pendant trees do not pay; where all
eccentricities or the center are requested, reference nodes do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.memory import check_fits, fits
from kernels.breadth_first.gpu import bfs
from kernels.csr import Shard
from kernels.eccentricity.gpu.bounds import BYTES_A_NODE, FAR, DeviceBounds, reordered
from kernels.eccentricity.gpu.components import Parts, components_of, parts_of
from kernels.eccentricity.gpu.constants import MOST_HOPS
from kernels.eccentricity.gpu.references import DeviceReferences
from kernels.eccentricity.questions import Question
from kernels.eccentricity.reductions.references import MANY_OPEN, N_REFERENCES
from kernels.eccentricity.strategy import Facts, Step, drive
from kernels.eccentricity.thresholds import GPU, Thresholds
from kernels.multi_source.gpu.sweeps import DeviceSweeps, sweep_bytes
from kernels.types import NODE

WINNOWED = ("diameter", "periphery")  # questions that only nodes outside a ball can decide
REFERRED = ("center", "eccentricities")  # those for which reference nodes pay
MOST_WORDS = GPU.many_lanes // 64  # of a sweep, of one component; of many, ...
MOST_WORDS_EACH = 2
# Components are answered separately if they, or their nodes, are at most one in APART of a shard of
# at least LEAST_APART nodes.
APART, LEAST_APART = 4, 1 << 18
BATCH = 8  # sweeps for which sources are chosen at once while very many nodes are open, ...
REFERENCE_BATCH = 4  # and if reference nodes choose them
FIRST_SEARCHES = 512  # that make lower bounds tight enough for reference nodes


@dataclass(eq=False)
class _CurrentQuestion:
    """The current question, and what is known about its pending nodes.

    ``left`` and ``has_swept`` as in ``Facts``, the others as in ``DeviceSolver._pending``.
    """

    question: Question
    left: list[tuple[int, int]] = field(default_factory=list)
    has_swept: bool = False
    pending: Any = None
    n_open: Any = None
    count: Any = None
    n_most: int = 0


class DeviceSolver:
    """Questions about the components of a shard, one after the other on the same bounds.

    Parameters
    ----------
    parts : Parts
    max_searches, max_each : int or None
        Sources to search, over all components and of each.
    thresholds : Thresholds or None
        None: those of GPUs.

    Attributes
    ----------
    bounds : DeviceBounds
    exact : (n_components,) bool
        Whether all questions so far are answered. On the device.
    n_searches : int
    sources : list of (n,) int32
        What was searched, nodes of ``parts.shard``. On the device.
    centre : (n_components,) int32
        Centre of a ball without pending nodes for a diameter; -1: none. On the device.
    """

    def __init__(
        self,
        parts: Parts,
        max_searches: int | None = None,
        max_each: int | None = None,
        thresholds: Thresholds | None = None,
    ):
        self.parts, self.n_searches = parts, 0
        self.thresholds = thresholds or GPU
        self.max_searches, self.max_each = max_searches, max_each
        self.bounds = DeviceBounds(parts.shard)
        self.exact = cp.ones(self.bounds.n_components, np.bool_)
        self.sources: list[Any] = []
        self.centre = cp.full(self.bounds.n_components, -1, NODE)
        self._ball = cp.full(self.bounds.n_nodes, FAR, np.int32)
        self._open: Any = None  # nodes that still matter; None: not known yet
        self._ends: Any = None
        self._sweeps = DeviceSweeps(parts.shard)
        self._is_upper_next = False
        self._references: DeviceReferences | None = None
        self._asked: _CurrentQuestion | None = None

    @classmethod
    def of(
        cls, shard: Shard, max_searches: int | None = None, max_each: int | None = None
    ) -> DeviceSolver:
        """Begin with a shard on the current GPU.

        Raises
        ------
        DeviceMemoryError
            It has too little free memory, with the numbers.
        """
        n_nodes, n_arcs = shard.n_nodes, shard.n_arcs
        what = f"the widths of {shard.n_graphs} graphs of {n_nodes} nodes and {n_arcs} arcs"
        check_fits(BYTES_A_NODE * n_nodes + sweep_bytes(n_nodes, n_arcs, 1, levels=True), what)
        if shard.n_graphs != 1 or 0 in (max_searches, max_each):
            return cls(components_of(shard), max_searches, max_each)
        # One search shows whether the graph is connected, and gives the first bounds.
        hub = cp.argmax(cp.diff(shard.indptr))
        level, eccentricity, n_reached = bfs(shard.indptr, shard.indices, int(hub), -1)
        if n_reached == n_nodes:
            parts = parts_of(shard, cp.zeros(1, NODE), cp.full(1, n_nodes, NODE), None)
        else:
            parts = components_of(shard, level)
            if parts.order is not None:
                level = level[parts.order]
                hub = cp.argmax(level == 0)
        solver = cls(parts, max_searches, max_each)
        found = cp.full(solver.bounds.n_components, -1, np.int32)
        sources = hub.reshape(1).astype(NODE)
        found[solver.bounds.of(sources)] = eccentricity
        solver._use_search(sources, level, found)
        return solver

    def answer(self, question: Question) -> None:
        """Search until nothing is open, or the searches are used up."""
        self._open = self._ends = None
        self._asked = asked = _CurrentQuestion(question)
        drive(self)
        self._asked = None
        self.exact &= asked.n_open == 0
        self.bounds.check()

    def facts(self) -> Facts | None:
        """See ``strategy.drive``; the last few components are answered separately on the way."""
        asked = self._asked
        assert asked is not None
        question = asked.question
        while True:
            pending, n_open, n_pending, n_most = self._pending(question)
            count = n_open
            if self.max_each is not None:
                count = cp.where(self.bounds.n_searched < self.max_each, n_open, 0)
                pending = pending[count[self.bounds.of(pending)] > 0]
                n_pending, n_most = pending.size, int(count.max())
            asked.n_open = n_open
            if not n_pending or self._n_left() == 0:
                return None
            if not self._answer_apart(question, count):
                break
        asked.pending, asked.count, asked.n_most = pending, count, n_most
        n_steps, n_sweeps = len(self.sources), math.ceil(n_most / self._most_lanes())
        asked.left.append((n_steps, n_sweeps))
        is_diameter = question == "diameter"
        return Facts(is_diameter, n_steps, 0, n_most, left=asked.left, has_swept=asked.has_swept)

    def take(self, step: Step) -> None:
        """Make the searches of a step; see ``strategy.drive``."""
        asked = self._asked
        assert asked is not None
        if step == "sweep":
            asked.has_swept = True
            self._sweep(asked.question, asked.pending, asked.n_most)
        else:
            by_upper = self._is_upper_next or step == "far"
            self._is_upper_next = not by_upper
            self._search(asked.question, by_upper, asked.pending, asked.count)

    def _pending(self, question: Question) -> tuple[Any, Any, int, int]:
        """Pending nodes; how many by component, in all, and at most in one."""
        bounds, ball = self.bounds, self._ball if question == "diameter" else None
        self._open, loose, *counts = bounds.open_nodes(question, self._open, ball)
        if question != "periphery" or counts[1] == 0:
            return loose, *counts
        # Of two ways to find the periphery, the one with fewer searches, in each component.
        self._ends, ends, *others = bounds.open_nodes("ends", self._ends, self._ball)
        is_loose = counts[0] <= others[0]
        pending = [loose[is_loose[bounds.of(loose)]], ends[~is_loose[bounds.of(ends)]]]
        count = cp.minimum(counts[0], others[0])
        nodes = cp.concatenate(pending)
        return nodes, count, nodes.size, int(count.max())

    def _answer_apart(self, question: Question, count: Any) -> bool:
        """Answer the last few components separately: a sweep costs its whole shard.

        That is worth it if they hold few of the nodes, or are few of very many: then most nodes
        need no search, and kernels for one graph or for few do the rest.
        """
        bounds = self.bounds
        if bounds.n_components == 1 or bounds.n_nodes < LEAST_APART:
            return False
        marks = count > 0
        size = self.parts.size[marks]
        n_nodes, is_few = int(size.sum(dtype=np.int64)), APART * size.size <= bounds.n_components
        if APART * n_nodes > bounds.n_nodes and not (is_few and self._has_room_apart(n_nodes)):
            return False
        order = cp.flatnonzero(self.of_each(marks)).astype(NODE)
        names = order[cp.cumsum(size, dtype=np.int64) - size]
        parts = parts_of(reordered(self.parts.shard, order), names, size, order)
        n_left = None if self.max_searches is None else self.max_searches - self.n_searches
        apart = DeviceSolver(parts, n_left, self.max_each, self.thresholds)
        apart._copy_from(self, order, marks)
        apart.answer(question)
        self._copy_back(apart, marks)
        return True

    def _has_room_apart(self, n_nodes: int) -> bool:
        """Whether that many nodes, which may have all arcs, can be copied and swept as well."""
        n_arcs = self.parts.shard.n_arcs
        sweep = sweep_bytes(n_nodes, n_arcs, 1, levels=True)
        return fits((BYTES_A_NODE + 8) * n_nodes + 4 * n_arcs + sweep)

    def _copy_from(self, whole: DeviceSolver, order: Any, is_ours: Any) -> None:
        """Copy the bounds of the nodes of this part."""
        bounds = self.bounds
        bounds.lower, bounds.upper = whole.bounds.lower[order], whole.bounds.upper[order]
        bounds.state, self._ball = whole.bounds.state[order], whole._ball[order]
        bounds.n_searched = whole.bounds.n_searched[is_ours]
        bounds.find_extremes()
        self.sources = [order[:0]] * len(whole.sources)  # one per search already done
        self._is_upper_next = whole._is_upper_next

    def _copy_back(self, apart: DeviceSolver, is_theirs: Any) -> None:
        """Copy back the results of a part."""
        bounds, order = self.bounds, apart.parts.order
        bounds.lower[order], bounds.upper[order] = apart.bounds.lower, apart.bounds.upper
        bounds.state[order], self._ball[order] = apart.bounds.state, apart._ball
        bounds.n_searched[is_theirs] = apart.bounds.n_searched
        bounds.find_extremes()
        own = self.centre[is_theirs]
        self.centre[is_theirs] = cp.where(apart.centre >= 0, order[apart.centre], own)
        self.sources += [order[some] for some in apart.sources if some.size]
        self.n_searches += apart.n_searches

    def _most_lanes(self) -> int:
        return 64 * (MOST_WORDS if self.bounds.n_components == 1 else MOST_WORDS_EACH)

    def _n_left(self) -> float:
        return math.inf if self.max_searches is None else self.max_searches - self.n_searches

    def _within_limit(self, sources: Any) -> Any:
        return sources[: int(min(self._n_left(), sources.size))]

    def _search(self, question: Question, by_upper: bool, pending: Any, count: Any) -> None:
        """Search one node of each open component."""
        bounds = self.bounds
        nodes = pending
        if not by_upper and question in WINNOWED:
            nodes = None  # central nodes bound many others, though none of them matters
        sources = bounds.best(by_upper, nodes, count)
        if not sources.size:  # no central node is left
            sources = bounds.best(True, pending, count)
        sources = self._within_limit(sources)
        self._use_search(sources, *self.levels_of(sources))

    def levels_of(self, sources: Any) -> tuple[Any, Any]:
        """Levels of at most one source per component, and the eccentricity of each, -1: none."""
        bounds = self.bounds
        eccentricity = cp.full(bounds.n_components, -1, np.int32)
        own = bounds.of(sources)
        if sources.size == 1:  # an arc of a search costs less than one of a sweep
            shard = self.parts.shard
            level, eccentricity[own], _ = bfs(shard.indptr, shard.indices, int(sources[0]), -1)
            return level, eccentricity
        swept = self._sweeps.sweep(sources, bounds.slots_of(sources), 1, levels=True)
        eccentricity[own] = swept.eccentricity
        return bounds.lane_levels(swept), eccentricity

    def _use_search(self, sources: Any, level: Any, eccentricity: Any) -> None:
        bounds = self.bounds
        self.sources.append(sources)
        self.n_searches += sources.size
        bounds.after_search(sources, level, eccentricity)
        nodes = cp.arange(bounds.n_nodes, dtype=NODE) if self._open is None else self._open
        is_better = bounds.move_balls(self._ball, nodes, level, eccentricity)
        own = bounds.of(sources)
        self.centre[own] = cp.where(is_better[own], sources, self.centre[own])

    def _sweep(self, question: Question, pending: Any, n_most: int) -> None:
        """Search many nodes of each open component at once."""
        bounds, most_lanes = self.bounds, self._most_lanes()
        if question in WINNOWED:
            sources = bounds.first_of_each(True, pending, most_lanes)
            self._sweep_each(sources, levels=question == "periphery")
            bounds.find_extremes()
            return
        is_alone = bounds.n_components == 1
        n_sweeps = BATCH if is_alone and n_most > 2 * BATCH * most_lanes else 1
        chosen = cp.empty(0, NODE)
        references = self._references_for(question, n_most)
        if references is not None:
            references.close(question)
            pending, _, _, n_most = self._pending(question)
            if not n_most:
                return
            n_sweeps = REFERENCE_BATCH
            chosen = references.choose(question, n_sweeps * most_lanes)
        elif self._may_have_references(question, n_most):
            n_sweeps = min(n_sweeps, REFERENCE_BATCH)
        n_each = n_sweeps * most_lanes - chosen.size
        if n_most <= n_each:  # all that are open, so none is left to block them
            references = None
            sources = bounds.first_of_each(True, pending, n_each)
        else:
            halves = [
                bounds.first_of_each(by_upper, pending, n_each // 2) for by_upper in (True, False)
            ]
            sources = cp.unique(cp.concatenate([chosen, *halves]))
        if is_alone:  # no more sweeps than are full
            n_sweeps = -(-sources.size // most_lanes)
        for i in range(n_sweeps):  # interleaved: each sweep has some of either kind
            part = cp.ascontiguousarray(sources[i::n_sweeps])  # kernels do not take strides
            if i:  # nodes that earlier sweeps have made exact need no search
                is_useful = bounds.lower[part] < bounds.upper[part]
                if references is not None:
                    is_useful |= references.are_blocking(part)
                part = part[is_useful]
            self._sweep_each(part, levels=True)
        bounds.find_extremes()

    def _may_have_references(self, question: Question, n_open: int) -> bool:
        """Whether references pay: of a short graph in one piece, without a limit."""
        bounds = self.bounds
        is_limited = self.max_searches is not None or self.max_each is not None
        is_asked = question in REFERRED and n_open > MANY_OPEN
        if is_limited or bounds.n_components > 1 or not is_asked:
            return False
        fits = DeviceReferences.fits(bounds.n_nodes, self.parts.shard.n_arcs)
        return int(bounds.most[0]) < MOST_HOPS and fits

    def _references_for(self, question: Question, n_open: int) -> DeviceReferences | None:
        """The reference nodes, searched once they pay; None: not now."""
        if self._references is not None:
            is_right = question in REFERRED and int(self.bounds.most[0]) < MOST_HOPS
            return self._references if is_right else None
        is_early = self.n_searches < FIRST_SEARCHES
        if is_early or not self._may_have_references(question, n_open):
            return None
        hubs = cp.argsort(cp.diff(self.parts.shard.indptr))[-N_REFERENCES:].astype(NODE)
        levels = cp.empty((hubs.size, self.bounds.n_nodes), np.uint8)
        for i in range(hubs.size):
            level, eccentricity = self.levels_of(hubs[i : i + 1])
            self._use_search(hubs[i : i + 1], level, eccentricity)
            levels[i] = level
        self._references = DeviceReferences(self.bounds, levels)
        return self._references if int(self.bounds.most[0]) < MOST_HOPS else None

    def _sweep_each(self, sources: Any, levels: bool) -> None:
        """Search some nodes, sorted, in all sweeps that they take; extremes stay as they are."""
        bounds = self.bounds
        sources = self._within_limit(sources)
        while sources.size:
            slot_ptr = bounds.slots_of(sources)
            is_alone = bounds.n_components == 1
            n_most = sources.size if is_alone else int(cp.diff(slot_ptr).max())
            n_words = self._sweeps.n_words(n_most, self._most_lanes() // 64, levels)
            part, sources = sources, sources[:0]
            if n_most > 64 * n_words or self.max_each is not None:
                own = bounds.of(part)
                rank, most = cp.arange(part.size) - slot_ptr[own], 64 * n_words
                if self.max_each is not None:
                    part = part[rank < (self.max_each - bounds.n_searched)[own]]
                    own = bounds.of(part)
                    rank = cp.arange(part.size) - bounds.slots_of(part)[own]
                is_first = rank < most
                part, sources = part[is_first], part[~is_first]
                if not part.size:
                    return
                slot_ptr = bounds.slots_of(part)
            swept = self._sweeps.sweep(part, slot_ptr, n_words, levels)
            self.sources.append(part)
            self.n_searches += part.size
            bounds.after_sweep(part, swept)

    def of_each(self, values: Any) -> Any:
        """A component's value at each of its nodes."""
        return values if self.bounds.component is None else values[self.bounds.component]

    def in_given_order(self, values: Any) -> np.ndarray:
        """Values of the nodes of ``bounds`` in the order of the shard's nodes, on the host."""
        if self.parts.order is None:
            return values.get()
        given = cp.empty_like(values)
        given[self.parts.order] = values
        return given.get()
