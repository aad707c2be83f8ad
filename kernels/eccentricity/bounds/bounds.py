"""The next source to search, and what finished searches prove; independent of search and device.

The caller takes sources, searches them anywhere, and passes in what each finished search implies:
two arrays of bounds. Bounds only tighten, by max and min, so results may come in any order, twice
or never; the same code serves a loop in one process and a scheduler with many searches in flight.

Let d be hops and e(v) the eccentricity of node v, within its component. After a search from s,

    max(d(s, v), e(s) - d(s, v)) <= e(v) <= e(s) + d(s, v)

by the triangle inequality (Takes, Kosters: Determining the diameter of small world networks, CIKM
2011; Computing the eccentricity distribution of large graphs, Algorithms 6, 2013).

Winnowing (Crescenzi et al.: On computing the diameter of real-world undirected graphs, TCS 514,
2013; Bradley et al.: F-Diam, ICPP 2025): let L be the largest lower bound of a component and c any
node. Two nodes x, y with d(x, y) > L have d(c, x) + d(c, y) > L, so one of them is farther than
L/2 from c. Searching all nodes outside that ball finds every distance above L. It holds for any c
and for L as it grows, so the centre may change at any time.
In a tree, searches from both ends of a longest path leave nothing open (``trees``).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from kernels.eccentricity.bounds import steps
from kernels.eccentricity.bounds.components import first_of_each, levels_of
from kernels.eccentricity.bounds.pairs import RemainingPairs
from kernels.eccentricity.bounds.trees import ends_of_trees
from kernels.eccentricity.questions import QUESTIONS, Question
from kernels.errors import GraphError
from kernels.types import NODE

POOL = 256  # nodes that are reconsidered while bounds change little
STEADY = 16  # by less than a STEADY-th of the open nodes


class EccentricityBounds:
    """Bounds of every eccentricity, tightened search by search until a question is answered.

    Parameters
    ----------
    question : str
        Asked for each component separately: a node is dropped once it cannot matter.

        - ``diameter``: its upper bound is at most the largest lower bound, or winnowing.
        - ``radius``: its lower bound is at least the smallest upper bound.
        - ``center``, ``periphery``: as these two, but nodes that attain the value must be known.
        - ``eccentricities``: its two bounds are equal.
    component : (n_nodes,) int32
        Components by number, 0, 1, ...
    degree : (n_nodes,) int32
    relevant : (n_nodes,) bool or None
        Nodes among which there is a pair at the largest distance, unless the known bounds reach it
        already (``pendant_trees``); only for ``diameter``.
    is_winnowing : bool
    known : (2, n_nodes) int32 or None
        Lower and upper bounds known already, for example from another question's searches.

    Attributes
    ----------
    lower, upper : (n_nodes,) int32
        Hops.
    most, least : (n_components,) int32
        Largest lower and smallest upper bound of each component.
    n_searches : int
        Sources whose searches have come back.
    centre : (n_components,) int32
        Centre of the ball of each component; -1: none yet.
    centres : list of (n,) int32
        All former ones too: a pair that one of them keeps near is dropped permanently.
    is_paired : (n_components,) bool
        Whether the remaining pairs are known; see ``restrict``.

    Notes
    -----
    25 bytes per node. ``update`` is one pass over all nodes. ``take`` is a pass over those that
    still matter (over all for central nodes), but while bounds change little it looks only at the
    few that were best.
    """

    def __init__(
        self,
        question: Question,
        component: np.ndarray,
        degree: np.ndarray,
        relevant: np.ndarray | None = None,
        is_winnowing: bool = True,
        known: np.ndarray | None = None,
    ):
        if question not in QUESTIONS:
            raise GraphError(f"unknown question {question!r}; use one of {QUESTIONS}")
        self.question = question
        self._code = QUESTIONS.index(question)
        n_nodes = len(component)
        self.component = np.ascontiguousarray(component, np.int32)
        self.degree = np.ascontiguousarray(degree, np.int32)
        self.size = np.bincount(self.component).astype(np.int32)
        self.lower, self.upper = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32)
        steps.start(self.component, self.size, self.degree, self.lower, self.upper)
        if known is not None:
            np.maximum(self.lower, known[0], out=self.lower)
            np.minimum(self.upper, known[1], out=self.upper)
        n_components = len(self.size)
        self.most, self.least = np.empty(n_components, np.int32), np.empty(n_components, np.int32)
        steps.extremes(self.component, self.lower, self.upper, self.most, self.least)
        self.n_searches = 0
        self._state = np.full(n_nodes, steps.FREE, np.uint8)
        self._all = np.arange(n_nodes, dtype=NODE)
        self._open = self._all.copy() if relevant is None else np.flatnonzero(relevant).astype(NODE)
        self._n_open = len(self._open)
        self._is_winnowing = is_winnowing and question == "diameter"
        self._level: np.ndarray | None = None  # from the centre of each component
        self.centre = np.full(n_components, -1, NODE)
        self.centres: list[np.ndarray] = []
        self._of_centre = np.full(n_components, np.inf)  # its eccentricity
        self.is_paired = np.zeros(n_components, bool)
        self._pairs = RemainingPairs()
        # Of a diameter there is nothing to gain: one tip of a tree is all that matters.
        of_trees = (self.component, self.degree, self.size)
        self._trees = None if question == "diameter" else ends_of_trees(*of_trees)
        self._pending = self._open
        self._is_open = np.ones(n_components, np.int32)  # components with pending nodes
        self._is_fresh = False
        self._take_highest = True
        # By upper or lower bounds: number of open nodes, the best, takes until renewal.
        self._pools: dict[bool, tuple[int, np.ndarray | None, int]] = {}

    @property
    def done(self) -> bool:
        """Whether the question is answered."""
        return not len(self.pending())

    def open_components(self) -> np.ndarray:
        """Components whose question is not answered yet, ascending."""
        self._refresh()
        return np.flatnonzero(self._is_open)

    def open_nodes(self) -> np.ndarray:
        """Nodes whose bounds still matter, ascending."""
        self._refresh()
        return self._open[: self._n_open]

    def pending(self) -> np.ndarray:
        """Nodes one of which must still be searched or bounded, in flight or not."""
        self._refresh()
        return self._pending

    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the radius (if it or the center was requested), else of the diameter.

        Returns
        -------
        (n_components,) int32, (n_components,) int32
            Equal where the value is known.
        """
        if self.question in ("radius", "center"):
            lowest = np.full(len(self.size), np.iinfo(np.int32).max, np.int32)
            np.minimum.at(lowest, self.component, self.lower)
            return np.minimum(lowest, self.least), self.least.copy()
        highest = self.most.copy()
        nodes = self.pending() if self.question == "diameter" else self._all
        np.maximum.at(highest, self.component[nodes], self.upper[nodes])
        return self.most.copy(), highest

    def take(self, n_each: int = 1, by: Literal["upper", "lower"] | None = None) -> np.ndarray:
        """Sources to search next, marked as in flight.

        Parameters
        ----------
        n_each : int
            How many of each component that is not answered yet, at most.
        by : str or None
            ``upper``: those that may have the largest eccentricity; ``lower``: the smallest; None:
            the two in turn, beginning with ``upper``.

        Returns
        -------
        (n_sources,) int32
            Empty while all that matter are in flight.
        """
        nodes, is_open = self.pending(), self._is_open
        if by is None:
            by = "upper" if self._take_highest else "lower"
            self._take_highest = not self._take_highest
        if by == "lower" and self.question in ("diameter", "periphery"):
            nodes = self._all  # central nodes bound many others, though none of them matters
        by_upper = by == "upper"
        if by_upper and self.is_paired.any():
            chosen = self._pairs.cover(self._state, n_each * len(self.size))
            nodes = nodes[~self.is_paired[self.component[nodes]]]
            others = self._best(by_upper, nodes, is_open, len(nodes))
            sources = first_of_each(np.concatenate([chosen, others]), self.component, n_each)
        elif len(self.size) == 1:
            sources = self._best_of_one(by_upper, nodes, is_open, n_each)
        elif n_each == 1:
            best, key = np.empty(len(self.size), NODE), np.empty(len(self.size), np.int64)
            steps.best_of_each(by_upper, nodes, *self._arrays(), is_open, key, best)
            sources = best[best >= 0]
        else:
            sources = self._best(by_upper, nodes, is_open, len(nodes))
            sources = first_of_each(sources, self.component, n_each)
        if not len(sources) and nodes is self._all:  # no central node is left
            return self.take(n_each, "upper")
        if self._trees is not None and n_each == 1:
            sources = self._trees.lead(sources, self._state)
        self._state[sources] = steps.IN_FLIGHT
        return sources

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self._state, self.component, self.lower, self.upper, self.degree

    def _best(
        self, by_upper: bool, nodes: np.ndarray, is_open: np.ndarray, n_best: int
    ) -> np.ndarray:
        """The free nodes to be searched first, over all open components."""
        best = np.empty(max(1, n_best), NODE)
        return best[: steps.best_of_all(by_upper, nodes, *self._arrays(), is_open, best)]

    def _best_of_one(
        self, by_upper: bool, nodes: np.ndarray, is_open: np.ndarray, n_each: int
    ) -> np.ndarray:
        """The same for a graph in one piece: while little changes, from a pool of the best ones."""
        if n_each > 1:
            return self._best(by_upper, nodes, is_open, n_each)
        n_open, pool, n_left = self._pools.get(by_upper, (0, None, 0))
        n_now = len(nodes) if by_upper else self._n_open
        is_steady = STEADY * abs(n_open - n_now) <= n_open
        if is_steady and (pool is None or n_left == 0):
            pool, n_left = self._best(by_upper, nodes, is_open, POOL), POOL // 4
        elif not is_steady:
            pool, n_left = None, 0
        self._pools[by_upper] = (n_open if is_steady else n_now, pool, max(0, n_left - 1))
        if pool is not None:
            if by_upper:
                pool = pool.copy()
                bounds = (self.component, self.lower, self.upper, self.most, self.least)
                pool = self._outside(pool[: steps.keep_open(self._code, pool, len(pool), *bounds)])
            best = self._best(by_upper, pool, is_open, 1)
            if len(best):
                return best
        return self._best(by_upper, nodes, is_open, 1)

    def update(
        self, sources: Any, lower: np.ndarray, upper: np.ndarray, alone: bool = False
    ) -> None:
        """Tighten by what finished searches imply.

        Parameters
        ----------
        sources : (n_sources,) integers
            What was searched; in flight or not, once or more often.
        lower, upper : (n_nodes,) uint8, uint16 or int32
            Bounds that the searches imply, equal at the sources; 0 and the dtype's maximum where
            they imply none.
        alone : bool
            At most one source in each component, ``lower`` is at least the levels, and ``upper``
            is its eccentricity plus levels: then levels follow, and the source may become the
            centre for winnowing, or an end of a tree.

        Raises
        ------
        GraphError
            If bounds cross: then some search was wrong, or of another graph.
        """
        sources = np.asarray(sources, NODE)
        arrays = (self.component, self.lower, self.upper, self.most, self.least)
        crossed = steps.merge(lower, upper, np.iinfo(upper.dtype).max, *arrays)
        if crossed >= 0:
            raise GraphError(
                f"bounds of node {crossed} cross: at least {self.lower[crossed]} and at most "
                f"{self.upper[crossed]} hops; a search was wrong or of another graph"
            )
        self.n_searches += len(sources)
        self._state[sources] = steps.SEARCHED
        self._is_fresh = False
        if self._is_winnowing and alone:
            self._try_centres(sources, upper)
        if self._trees is not None and alone:
            bounds = (self.lower, self.upper, self.least)
            self._trees.close(sources, self.lower[sources], upper, bounds)

    def release(self, sources: Any) -> None:
        """Release sources that were not searched: they can be taken again."""
        sources = np.asarray(sources, NODE)
        waiting = sources[self._state[sources] != steps.SEARCHED]
        self._state[waiting] = steps.FREE

    def _refresh(self) -> None:
        """Drop what no longer matters; nothing that was dropped comes back."""
        if self._is_fresh:
            return
        arrays = (self.component, self.lower, self.upper, self.most, self.least)
        self._n_open = steps.keep_open(self._code, self._open, self._n_open, *arrays)
        nodes = self._outside(self._open[: self._n_open])
        if self.is_paired.any():
            self._pairs.drop_near(self.component, self.upper, self.most, self._level)
            alone = nodes[~self.is_paired[self.component[nodes]]]
            nodes = np.union1d(alone, self._pairs.nodes).astype(NODE)
        self._pending = nodes
        steps.mark(nodes, self.component, self._is_open)
        self._is_fresh = True

    def _outside(self, nodes: np.ndarray) -> np.ndarray:
        """Those of ``nodes`` outside the balls, if there are any balls."""
        if self._level is None:
            return nodes
        found = np.empty(len(nodes), NODE)
        return found[: steps.outside(nodes, self.component, self._level, self.most, found)]

    def part(
        self, nodes: np.ndarray, component: np.ndarray, numbers: np.ndarray
    ) -> EccentricityBounds:
        """The bounds of some components alone, before pairs are known and with nothing in flight.

        Parameters
        ----------
        nodes : (n_nodes,) int32
            All nodes of these components; node i of the part is nodes[i].
        component : (n_nodes,) int32
            Their components, renumbered.
        numbers : (n_components,) int64
            Components of the part, by their old numbers.
        """
        is_open = np.zeros(len(self.component), bool)
        is_open[self.open_nodes()] = True
        known = np.stack([self.lower[nodes], self.upper[nodes]])
        given = (component, self.degree[nodes], is_open[nodes], self._is_winnowing, known)
        part = EccentricityBounds(self.question, *given)
        part._take_highest = self._take_highest
        if self._level is not None:
            part._level = self._level[nodes]
            part._of_centre = self._of_centre[numbers]
            place = np.full(len(self.component) + 1, -1, NODE)
            place[nodes] = np.arange(len(nodes), dtype=NODE)
            part.centre = place[self.centre[numbers]]  # -1 is the last entry: none
        return part

    def restrict(self, component: int, pairs: np.ndarray, apart: np.ndarray) -> None:
        """Set the pairs of a component that may be farther apart than its largest lower bound.

        Parameters
        ----------
        component : int
        pairs : (2, n_pairs) int32
            Every such pair of nodes, except those that bounds and winnowing exclude.
        apart : (n_pairs,) int32
            Upper bounds of their distances, hops.
        """
        self._pairs.replace(self.component, component, pairs, apart)
        self.is_paired[component] = True
        self._is_fresh = False

    def _try_centres(self, sources: np.ndarray, upper: np.ndarray) -> None:
        """Move the ball to a source whose ball leaves fewer nodes outside.

        A source of much larger eccentricity than the centre hardly ever does, and is not tried.
        """
        own = self.component[sources]
        likely = upper[sources] <= 1.25 * self._of_centre[own]
        sources, own = sources[likely], own[likely]
        if not len(sources):
            return
        eccentricity = np.full(len(self.size), -1, np.int32)
        eccentricity[own] = upper[sources]
        level = levels_of(upper, eccentricity, self.component)
        nodes = self.open_nodes()
        count, before = (np.empty(len(self.size), np.int32) for _ in range(2))
        steps.count_outside(nodes, self.component, level, self.most, count)
        if self._level is None:
            self._level = np.full(len(level), np.iinfo(np.int32).max, np.int32)
        steps.count_outside(nodes, self.component, self._level, self.most, before)
        better = (eccentricity >= 0) & ((count < before) | (self.centre < 0))
        if better.all():
            self._level = level
        elif better.any():
            moved = better[self.component]
            self._level[moved] = level[moved]
        chosen = sources[better[own]]
        self.centres.append(chosen)
        self.centre[self.component[chosen]] = chosen
        self._of_centre[self.component[chosen]] = eccentricity[self.component[chosen]]
        self._is_fresh = False
