"""When to stop choosing and sweep from all remaining nodes: the account of a question, on cores.

Bounds help little if all eccentricities are nearly equal. So the cost of the work on them is
recorded, by counted work and never by a clock, and compared with that of sweeping from every node
(``strategy.is_beaten``): answers and plans are the same in every run.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from kernels.csr import CSRGraph
from kernels.eccentricity.bounds.bounds import EccentricityBounds
from kernels.eccentricity.reductions.references import ReferenceNodes, pass_ns
from kernels.eccentricity.searches import Implied
from kernels.eccentricity.searches.cpu import CoreSearches
from kernels.eccentricity.searches.every_node import EveryNode
from kernels.eccentricity.searches.sweep import MANY_LANES
from kernels.eccentricity.strategy import (
    SEARCH_NS_ARC,
    STEP_NS,
    STEP_NS_NODE,
    WORK_NS,
    Account,
    Strategy,
)
from kernels.eccentricity.strategy import sweep_work as work_of
from kernels.eccentricity.thresholds import Thresholds

ROUNDS = 8  # the first sweeps are an eighth of the rest; then bounds are considered again
# The next round is this many times larger if the last closed little besides its own sources.
GROWTH = 4
# The same for flat graphs, where one sweep is first: it shows whether they are, and each round
# costs the same as a sweep of some thousand nodes.
FLAT_GROWTH = 16
ALL_THE_REST = 1.25  # of a round: a rest this small joins the round
LITTLE = 1.1
MUCH_LESS = 0.9  # of the rest: bounds still help
LOOKS = 256  # the rest is counted again once 1 / LOOKS of the whole has been spent
# A graph is placed for its sweeps once that costs little compared with what was spent; per arc. Up
# to ``sweep_hops`` the cost is predicted without placing.
PLACE_NS_ARC = 10
# The prediction assumes that all balls are as ragged as the worst: on grids it is up to 1.6 times
# too high, on caterpillars 2. With at least this many sweeps, one is a sample that costs little of
# the whole.
SAMPLED = 16
# And not before this share of the lower bound of the sweeps has been spent; that bound is usually
# far too low.
SAFE = 0.3


class OpenQuestion(Protocol):
    """What the sweeps read from the solver of a question, and where their results go."""

    graph: CSRGraph
    bounds: EccentricityBounds
    searches: CoreSearches
    strategy: Strategy
    max_searches: int | None
    max_each: int | None
    is_flat: bool
    reference_nodes: ReferenceNodes | None

    def finish(self, found: Implied, alone: bool = True) -> None: ...


class Finishing:
    """The cost of a question so far, and the sweeps that can end it.

    Attributes
    ----------
    spent_ns : float
        By counted work.

    Notes
    -----
    It has no reference to the question, which refers to it: with a cycle both would outlive the
    answer, with all their memory, and new pages cost more than a sweep.
    """

    def __init__(self, graph: CSRGraph, thresholds: Thresholds):
        self._graph, self._thresholds = graph, thresholds
        self._step_ns = STEP_NS + STEP_NS_NODE * graph.n_nodes
        self._place_ns = PLACE_NS_ARC * graph.n_arcs + SEARCH_NS_ARC * graph.n_arcs
        self.spent_ns = 0.0
        self._every: EveryNode | None = None
        self._whole_ns = np.empty(0)
        self._sweep_ns = self._lanes_ns = 0.0
        self._is_sampled = False
        self._left_ns, self._looked_ns = 0.0, -1.0
        self._best_ns, self._best_at_ns = 0.0, 0.0

    def spend(self, ns: float) -> None:
        """Record one step with its work and its own cost."""
        self.spent_ns += ns + self._step_ns

    def spend_sweep(self, work: float) -> None:
        """Record a sweep and its spreading of bounds, which reads arcs as sweeps do."""
        self.spend((work + self._graph.n_arcs) * WORK_NS)

    def account(self, solver: OpenQuestion, next_ns: float | None) -> Account | None:
        """The account before a step of ``next_ns``, or (None) before a sweep.

        None while a sweep from every node costs so much more that placing its sources is not worth
        it, or if it must not be used.
        """
        is_limited = solver.max_searches is not None or solver.max_each is not None
        if is_limited or not solver.strategy.sweeps:
            return None
        if self._every is None:
            if self.spent_ns < self._place_ns:
                return None
            next_ns = self._scattered_ns(solver) if next_ns is None else next_ns
            share = self._thresholds.allowance - 1 if self._is_short(solver) else SAFE
            if self.spent_ns + next_ns <= share * self._least_ns(solver):
                return None
            self._expect(solver)
        whole_ns = float(self._whole_ns.sum())
        if self._looked_ns < 0 or self.spent_ns - self._looked_ns > whole_ns / LOOKS:
            self._look(solver)
        return Account(
            self.spent_ns,
            self.spent_ns - self._best_at_ns,
            self._left_ns,
            whole_ns,
            self._next_sweep_ns(solver),
            min(self._left_ns, self._lanes_ns),
            self._is_guess(solver),
        )

    def room_ns(self) -> float:
        """Limit for the cost of looking at pairs, which is hard to predict: the cost so far.

        It must leave room for sweeps from all remaining nodes.
        """
        if self._every is None:
            return self.spent_ns
        allowed_ns = self._thresholds.allowance * float(self._whole_ns.sum())
        return max(0.0, min(self.spent_ns, allowed_ns - self.spent_ns - self._left_ns))

    def finish(self, solver: OpenQuestion) -> None:
        """Sweep from all relevant nodes, until the question is answered."""
        bounds, n_groups = solver.bounds, 0
        growth = GROWTH
        if solver.is_flat:
            is_small = len(bounds.lower) <= FLAT_GROWTH * MANY_LANES
            n_groups, growth = FLAT_GROWTH if is_small else 1, FLAT_GROWTH
        if self._every is None:
            self._expect(solver)
        assert self._every is not None
        while not bounds.done:
            is_open = self._is_open(solver)
            n_open = np.count_nonzero(is_open)
            most = int(np.bincount(bounds.component[is_open]).max())
            if n_groups == 0:
                n_groups = -(-most // (MANY_LANES * ROUNDS))
            if most <= ALL_THE_REST * n_groups * MANY_LANES:
                n_groups = -(-most // MANY_LANES)
            found = self._every.sweep(is_open, bounds.lower, bounds.upper, n_groups)
            self.spend_sweep(self._every.work)
            solver.finish(found, alone=False)
            n_closed = n_open - len(bounds.pending())
            n_groups = n_groups * growth if n_closed < LITTLE * len(found.sources) else 0

    def sample(self, solver: OpenQuestion) -> None:
        """Sweep from one ball of the most expensive component, and price the others like it.

        Balls differ by a quarter at most on grids, tori and trees, except for the very first, which
        is the roundest. Its nodes are answered too: the sample is not lost if all are swept later.
        """
        assert self._every is not None
        bounds, costliest = solver.bounds, int(np.argmax(self._whole_ns))
        ball = self._every.middle_ball(costliest)
        is_source = np.zeros(len(bounds.component), bool)
        is_source[ball] = self._is_open(solver)[ball]
        self._is_sampled = True
        if not is_source.any():
            return
        found = self._every.sweep(is_source, bounds.lower, bounds.upper, 1)
        n_groups = self._n_groups()
        self._whole_ns[costliest] = n_groups[costliest] * self._every.work * WORK_NS
        self._lanes_ns = float((self._whole_ns / n_groups).sum())
        self._best_ns = self._best_at_ns = 0.0
        self.spend_sweep(self._every.work)
        solver.finish(found, alone=False)
        self._look(solver)

    def _n_groups(self) -> np.ndarray:
        """Sweeps from every node of each component that may be swept."""
        assert self._every is not None
        return -(-self._every.n_nodes // MANY_LANES)

    def _is_guess(self, solver: OpenQuestion) -> bool:
        """Whether a sample is due: once the extra allowance is spent, and if cheap enough."""
        if self._is_sampled or self._is_short(solver):
            return False
        if self.spent_ns < (self._thresholds.allowance - 1) * self._whole_ns.sum():
            return False
        return int(self._n_groups()[np.argmax(self._whole_ns)]) >= SAMPLED

    def _is_short(self, solver: OpenQuestion) -> bool:
        return int(solver.bounds.most.max()) <= self._thresholds.sweep_hops

    def _next_sweep_ns(self, solver: OpenQuestion) -> float:
        """A sweep from pending nodes anywhere in the graph, with its overhead."""
        bounds = solver.bounds
        others_ns = self._step_ns + self._graph.n_arcs * WORK_NS
        if solver.reference_nodes is not None:
            others_ns += pass_ns(len(bounds.lower), len(bounds.open_nodes()))
        return self._sweep_ns + others_ns

    def _scattered_ns(self, solver: OpenQuestion) -> float:
        """The lanes of a sweep from pending nodes anywhere in the graph."""
        graph, longest = self._graph, int(solver.bounds.most.max())
        return float(work_of(graph.n_nodes, graph.n_arcs, longest, longest)) * WORK_NS

    def _least_ns(self, solver: OpenQuestion) -> float:
        """Lower bound of the cost of sweeping from every node: equally dense components, strips."""
        bounds, graph = solver.bounds, self._graph
        size: Any = graph.n_nodes
        longest: Any = int(bounds.most[0])
        if len(bounds.size) > 1:
            numbers = bounds.open_components()
            size, longest = bounds.size[numbers], bounds.most[numbers].astype(np.int64)
        n_arcs = size * (graph.n_arcs / graph.n_nodes)
        extent = 1 + MANY_LANES * longest // size
        work = -(-size // MANY_LANES) * work_of(size, n_arcs, longest, extent)
        return float(np.sum(work)) * WORK_NS

    def _look(self, solver: OpenQuestion) -> None:
        """Count the rest, and note when it last was much less than before."""
        assert self._every is not None
        left = self._every.share_left(self._is_open(solver))
        self._left_ns, self._looked_ns = float(left @ self._whole_ns), self.spent_ns
        if self._best_at_ns == 0 or self._left_ns < MUCH_LESS * self._best_ns:
            self._best_ns, self._best_at_ns = self._left_ns, self.spent_ns

    def _is_open(self, solver: OpenQuestion) -> np.ndarray:
        bounds = solver.bounds
        is_open = np.zeros(len(bounds.component), bool)
        is_open[bounds.pending()] = True
        return is_open

    def _expect(self, solver: OpenQuestion) -> None:
        """Place the nodes of unanswered components, and search each once."""
        bounds = solver.bounds
        numbers = bounds.open_components()
        given = (solver.graph, bounds.component, bounds.size, numbers)
        self._every = EveryNode(*given, solver.searches.rows)
        if self._is_short(solver):
            self._whole_ns = self._every.expect_short(bounds.most[numbers].astype(np.int64))
        else:
            level, eccentricity = solver.searches.levels(self._every.first_nodes())
            self._whole_ns = self._every.expect(level, eccentricity[numbers])
            self.spend(self._place_ns)
        self._lanes_ns = float((self._whole_ns / self._n_groups()).sum())
        self._sweep_ns = self._scattered_ns(solver)
