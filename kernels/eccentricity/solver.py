"""Eccentricity solver in this process: chooses sources, searches, updates bounds."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from kernels.csr import CSRGraph
from kernels.eccentricity.bounds.bounds import EccentricityBounds
from kernels.eccentricity.bounds.components import numbered_components
from kernels.eccentricity.bounds.flatness import closes_little
from kernels.eccentricity.bounds.steps import trace_back
from kernels.eccentricity.finishing import Finishing
from kernels.eccentricity.questions import QUESTIONS_OF_MANY, Question
from kernels.eccentricity.reductions import references
from kernels.eccentricity.reductions.landmarks import N_LANDMARKS, choose_landmarks, far_pairs
from kernels.eccentricity.reductions.pendant_trees import find_tips
from kernels.eccentricity.reductions.references import ReferenceNodes
from kernels.eccentricity.searches import Implied
from kernels.eccentricity.searches.cpu import CoreSearches
from kernels.eccentricity.searches.every_node import FirstSearch
from kernels.eccentricity.searches.sweep import FEW_LANES, MANY_LANES, lanes_of
from kernels.eccentricity.strategy import (
    PAIR_STEP_NS,
    SEARCH_NS_ARC,
    SEARCH_NS_NODE,
    Facts,
    Step,
    Strategy,
    drive,
)
from kernels.eccentricity.thresholds import CORE, Thresholds
from kernels.types import NODE

FEW_COMPONENTS = 8  # with more, pairs are not checked one by one: sweeps answer all of them at once


class EccentricitySolver:
    """One question about one graph, until it is answered or the searches are used up.

    Parameters
    ----------
    max_searches : int or None
        Limit for all components together.
    max_each : int or None
        Of each component.
    known : (EccentricityBounds, (n_components,) int32) or None
        Bounds to continue from, which know the question, and the names of their components.
    thresholds : Thresholds or None
        None: those of cores.
    first : FirstSearch or None
        Of a connected graph, if that search was made already.

    Attributes
    ----------
    names : (n_components,) int32
        Components by their smallest nodes, ascending: component i of ``bounds`` is names[i].
    largest : int
        Number of the largest component; the first of two equally large ones.
    sources : list of (n,) int32
        What was searched.
    n_searched : (n_components,) int64
        How many of them in each component.
    landmarks : (n_landmarks,) int32
        Landmarks by which pairs were checked.
    search_ns : float
        What one search costs.
    uses_trees : bool
        Whether only tips of trees are asked about.
    is_flat : bool
        Whether the first searches showed that bounds close nothing; as of the last step.
    """

    def __init__(
        self,
        graph: CSRGraph,
        question: Question,
        strategy: Strategy,
        max_searches: int | None = None,
        max_each: int | None = None,
        known: tuple[EccentricityBounds, np.ndarray] | None = None,
        thresholds: Thresholds | None = None,
        first: FirstSearch | None = None,
    ):
        self.graph, self.strategy = graph, strategy
        self.thresholds = thresholds or CORE
        self.max_searches, self.max_each = max_searches, max_each
        self.sources = [np.empty(0, NODE)]
        self.landmarks = np.empty(0, NODE)
        self.uses_trees = self.is_flat = False
        found = None
        if known is not None:
            self.bounds, self.names = known
            self.searches = CoreSearches(graph, self.bounds.component, len(self.names))
        else:
            found = self._begin(question, first)
        self.n_searched = np.zeros(len(self.names), np.int64)
        self.search_ns = float(graph.n_arcs * SEARCH_NS_ARC + graph.n_nodes * SEARCH_NS_NODE)
        self._near = np.empty((0, 0), np.uint64)
        self._nodes = np.empty(0, NODE)  # whose rows are in ``_near``
        self._place = np.empty(0, np.int32)  # of each node there
        self._has_near = np.ones(len(self.names), bool)  # components that landmarks are chosen for
        # Largest lower bound of each component with which landmarks left too many pairs.
        self._tried = np.full(len(self.names), -1, np.int32)
        self.largest = int(np.argmax(self.bounds.size))
        self._longest: Implied | None = None
        self.reference_nodes: ReferenceNodes | None = None
        self.finishing = Finishing(graph, self.thresholds)
        if found is not None:
            self.finish(found)
            self._keep_longest(found)

    def _begin(self, question: Question, known: FirstSearch | None) -> Implied | None:
        """Find components and make bounds; returns the results of a first search, if useful."""
        graph = self.graph
        degree = np.diff(graph.indptr).astype(np.int32)
        hub = np.array([np.argmax(degree)], NODE)
        # One search shows whether the graph is connected, and gives the first bounds.
        component = np.zeros(graph.n_nodes, np.int32)
        self.names = np.zeros(1, NODE)
        self.searches = CoreSearches(graph, component, 1)
        first = None
        if known is not None:
            eccentricity = np.array([known.eccentricity], np.int32)
            first = self.searches.implied(hub, known.level, eccentricity)
            self.searches.n_reached = known.n_reached
        elif self.max_searches != 0 and self.max_each != 0:
            first = self.searches.search(hub)
        if first is None or self.searches.n_reached < graph.n_nodes:
            self.names, component = numbered_components(graph)
            self.searches = CoreSearches(graph, component, len(self.names))
            first = None
        relevant = lower = None
        self.uses_trees = (
            self.strategy.trees and question == "diameter" and bool((degree == 1).any())
        )
        if self.uses_trees:
            relevant, lower = find_tips(graph.indptr, graph.indices, degree)
        self.bounds = EccentricityBounds(
            question, component, degree, relevant, self.strategy.winnow
        )
        if lower is not None:
            nothing = np.full(graph.n_nodes, np.iinfo(np.int32).max, np.int32)
            self.bounds.update(self.sources[0], lower, nothing)
        return first

    @property
    def is_over(self) -> bool:
        """Whether the question is answered or no search is left."""
        if self.bounds.done or self._n_left() <= 0:
            return True
        own = self.n_searched[self.bounds.open_components()]
        return self.max_each is not None and bool((own >= self.max_each).all())

    @property
    def _is_limited(self) -> bool:
        return self.max_searches is not None or self.max_each is not None

    def run(self) -> EccentricityBounds:
        """Search until nothing is open; returns the bounds."""
        drive(self)
        return self.bounds

    @property
    def known_by(self) -> np.ndarray:
        """Nodes whose distances dropped pairs: landmarks, and centres as they moved.

        If pairs are not listed, only bounds drop them permanently.
        """
        if not self.bounds.is_paired.any():
            return self.landmarks
        nodes = np.concatenate([self.landmarks, *self.bounds.centres])
        return np.unique(nodes).astype(NODE)

    def take(self, step: Step) -> None:
        """Make the searches of a step; see ``strategy.drive``."""
        if step == "pairs":
            self._find_pairs()
        elif step == "sweep":
            self.sweep()
        elif step == "every":
            self.finishing.finish(self)
        elif step == "sample":
            self.finishing.sample(self)
        else:
            self._search(self.bounds.take(1, "upper" if step == "far" else None))

    def facts(self) -> Facts | None:
        """Progress of all components together: one search serves all of them."""
        if self.is_over:
            return None
        bounds = self.bounds
        pending = bounds.pending()
        is_diameter = bounds.question == "diameter"
        is_of_many = bounds.question in QUESTIONS_OF_MANY
        self.is_flat = (
            is_of_many
            and not self._is_limited
            and closes_little(bounds, self.sources, self.thresholds)
        )
        return Facts(
            is_diameter,
            int(self.n_searched.max()),
            int(bounds.most.max()),
            self._n_pending_each(),
            self.strategy,
            self._pairs_to_check() if is_diameter else math.inf,
            len(self.landmarks) > 0,
            bool(bounds.is_paired[bounds.component[pending]].all()),
            self.search_ns,
            self.is_flat,
            partial(self.finishing.account, self),
        )

    def _n_pending_each(self) -> int:
        """Pending nodes of a component: the mean over open components, large ones counting more."""
        bounds = self.bounds
        if len(bounds.size) == 1:
            return len(bounds.pending())
        n_each = np.bincount(bounds.component[bounds.pending()], minlength=len(bounds.size))
        size = bounds.size * (n_each > 0).astype(float)
        return math.ceil((size * n_each).sum() / max(1.0, size.sum()))

    def _n_left(self) -> float:
        """Searches that may still be made."""
        return math.inf if self.max_searches is None else self.max_searches - self.bounds.n_searches

    def _within_limit(self, sources: np.ndarray) -> np.ndarray:
        """Those of the taken sources that may still be searched; the others are released."""
        if self.max_each is not None:
            n_before = self.n_searched[self.bounds.component[sources]]
            fits = n_before + lanes_of(sources, self.bounds.component) < self.max_each
            self.bounds.release(sources[~fits])
            sources = sources[fits]
        n_left = min(self._n_left(), len(sources))
        self.bounds.release(sources[int(n_left) :])
        return sources[: int(n_left)]

    def _search(self, sources: np.ndarray) -> None:
        """Search one source per component, all in one pass."""
        sources = self._within_limit(sources)
        if not len(sources):  # all of components that have had their searches
            return
        found = self.searches.search(sources)
        self.finishing.spend(self.search_ns)
        self.finish(found)
        self._keep_longest(found)

    def _keep_longest(self, found: Implied) -> None:
        """Remember a search that found a longest path so far in the largest component."""
        own = found.eccentricity[self.bounds.component[found.sources] == self.largest]
        if len(own) and own[0] == self.bounds.most[self.largest]:
            self._longest = found

    def finish(self, found: Implied, alone: bool = True) -> None:
        """Update with the results of searches; ``alone``: see ``EccentricityBounds.update``."""
        self.sources.append(found.sources)
        np.add.at(self.n_searched, self.bounds.component[found.sources], 1)
        self.bounds.update(found.sources, found.lower, found.upper, alone)
        if self.reference_nodes is not None:
            self.reference_nodes.note(found.sources)

    def sweep(self) -> None:
        """Search many pending nodes of each component at once; a few one after another."""
        bounds = self.bounds
        if bounds.question == "diameter":
            many = self._n_pending_each() > 2 * FEW_LANES
            sources = bounds.take(MANY_LANES if many else FEW_LANES, "upper")
        else:
            chosen = self._blocking_nodes(MANY_LANES)
            half = (MANY_LANES - len(chosen)) // 2
            taken = [bounds.take(half, by) for by in ("upper", "lower")] if half else []
            sources = np.unique(np.concatenate([chosen, *taken])).astype(NODE)
            if not len(sources):
                return
        sources = self._within_limit(sources)
        if len(sources) <= self.thresholds.few:
            bounds.release(sources[1:])
            self._search(sources[:1])
        else:
            found = self.searches.sweep(sources, bounds.lower, bounds.upper)
            self.finishing.spend_sweep(self.searches.work)
            self.finish(found, alone=False)

    def _blocking_nodes(self, n_most: int) -> np.ndarray:
        """Close nodes by the reference nodes; returns blocking nodes that are worth a search.

        Only for questions about many nodes of a connected graph, without a limit, and once
        sweeps have made lower bounds tight. At most ``n_most`` nodes, perhaps none.
        """
        bounds, none = self.bounds, np.empty(0, NODE)
        if self.reference_nodes is None and self._references_pay():
            self.reference_nodes = self._search_references()
        if self.reference_nodes is None:
            return none
        self.finishing.spend(references.pass_ns(len(bounds.lower), len(bounds.open_nodes())))
        lowered = self.reference_nodes.close(bounds.lower, bounds.upper, bounds.open_nodes())
        bounds.update(none, np.zeros_like(lowered), lowered)
        if bounds.done:
            return none
        return self.reference_nodes.choose(bounds.lower, bounds.upper, bounds.open_nodes(), n_most)

    def _references_pay(self) -> bool:
        bounds = self.bounds
        if self._is_limited or not self.strategy.territories or len(bounds.size) > 1:
            return False
        is_asked = bounds.question in QUESTIONS_OF_MANY
        is_asked = is_asked and bounds.n_searches >= references.FIRST_SEARCHES
        is_short = bounds.most[0] <= references.LONGEST // 2
        return is_asked and is_short and len(bounds.open_nodes()) > references.MANY_OPEN

    def _search_references(self) -> ReferenceNodes | None:
        """Search the reference nodes; None if one of them is too far from others."""
        n_references, degree = references.N_REFERENCES, self.bounds.degree
        hubs = np.argpartition(-degree, n_references - 1)[:n_references].astype(NODE)
        levels = np.empty((n_references, len(degree)), np.uint8)
        for i in range(n_references):
            found = self.searches.search(hubs[i : i + 1])
            self.finishing.spend(self.search_ns)
            self.finish(found)
            if found.eccentricity[0] > references.LONGEST:
                return None
            levels[i] = found.upper - found.eccentricity[0]
        nodes = ReferenceNodes(levels)
        nodes.note(np.concatenate(self.sources))
        return nodes

    def _pairs_to_check(self) -> float:
        """Number of pairs to check with landmarks; infinite if that is pointless."""
        seen = self._components_to_check()
        if not 0 < len(seen) <= FEW_COMPONENTS or not self._has_searches_for_landmarks():
            return math.inf
        bounds = self.bounds
        n_rows = np.bincount(bounds.component[bounds.pending()], minlength=len(bounds.size))
        n_columns = np.bincount(bounds.component[bounds.open_nodes()], minlength=len(bounds.size))
        return float(np.sum(n_rows[seen].astype(float) * n_columns[seen]))

    def _has_searches_for_landmarks(self) -> bool:
        if len(self.landmarks):
            return True
        if self.max_each is not None and self.n_searched.max() + N_LANDMARKS > self.max_each:
            return False
        return self._n_left() >= N_LANDMARKS * len(self.names)

    def _components_to_check(self) -> np.ndarray:
        """Components with pending nodes whose pairs are not known."""
        bounds = self.bounds
        n_rows = np.bincount(bounds.component[bounds.pending()], minlength=len(bounds.size))
        is_left = self._has_near & ~bounds.is_paired & (bounds.most > self._tried)
        return np.flatnonzero((n_rows > self.thresholds.few) & is_left)

    def _find_pairs(self) -> None:
        """Find the remaining pairs by landmarks, in every component where they are unknown."""
        bounds = self.bounds
        if not len(self.landmarks):
            is_wanted = np.zeros(len(bounds.size), bool)
            is_wanted[self._components_to_check()] = True
            self._has_near = is_wanted
            nodes = bounds.open_nodes()
            nodes = nodes[is_wanted[bounds.component[nodes]]]
            self.landmarks = choose_landmarks(bounds.component, bounds.degree, is_wanted)
            known = (bounds.lower, bounds.upper)
            found, self._near = self.searches.near(self.landmarks, *known, nodes)
            self._place = np.full(self.graph.n_nodes, -1, np.int32)
            self._place[nodes] = np.arange(len(nodes), dtype=np.int32)
            self._nodes = nodes
            self.finishing.spend_sweep(self.searches.work)
            self.finish(found, alone=False)
        columns, rows = bounds.open_nodes(), bounds.pending()
        for c in self._components_to_check().tolist():
            own_rows = self._place[rows[bounds.component[rows] == c]]
            own_columns = self._place[columns[bounds.component[columns] == c]]
            most_steps = self.finishing.room_ns() / PAIR_STEP_NS
            longest = int(bounds.most[c])
            far, n_steps = far_pairs(self._near, own_rows, own_columns, longest, most_steps)
            self.finishing.spend(n_steps * PAIR_STEP_NS)
            if far is None:
                self._tried[c] = bounds.most[c]
            else:
                pairs, apart = far
                bounds.restrict(c, self._nodes[pairs], apart)

    def path(self) -> np.ndarray:
        """A shortest path in the largest component, as long as its largest lower bound."""
        bounds, own = self.bounds, self.bounds.component == self.largest
        length = int(bounds.most[self.largest])
        found = self._longest
        if found is None or length not in found.eccentricity[own[found.sources]]:
            ends = np.flatnonzero(own & (bounds.lower == length))
            found = self.searches.search(ends[:1].astype(NODE))
        source = int(found.sources[own[found.sources]][0])
        upper = found.upper.astype(np.int32)  # level and eccentricity
        node = int(np.flatnonzero(own & (upper == upper[source] + length))[0])
        path = np.empty(length + 1, NODE)
        arrays = (self.graph.indptr, self.graph.indices, upper)
        trace_back(*arrays, np.array([node], NODE), np.array([0]), np.array([length + 1]), path)
        return path
