"""Bounds of weighted eccentricities: which source next, what finished searches prove.

It does not search and does not depend on a device. Let d(s, v) be the distance that ``sssp`` finds
from s, a sum rounded from s on, and e(s) the largest finite one. The answers are extremes of e **as
found by searches, to the bit**; but d(s, v) and d(v, s) are sums of the same weights in opposite
order, and may differ by rounding. So the bounds of the triangle inequality are widened.

*Margin.* Let L(s, v) be the length of a shortest path without rounding, u = 2**-53, and n the nodes
of the component. A simple path has at most n - 1 arcs, the first is added to 0 without an error, so
at most k = n - 2 sums of a path are rounded, each by a factor between 1 - u and 1 + u. The path
that is shortest without rounding is found at no more than (1 + u)**k times its length, and any path
is at no less than (1 - u)**k times its own, so (1 - u)**k L <= d <= (1 + u)**k L. With
r = ((1 + u) / (1 - u))**k and L symmetric, for any node v of the component of s:

    e(v) >= d(v, s)                               >= d(s, v) / r
    e(v) >= d(v, f), f farthest from s            >= e(s) / r - d(s, v)
    e(v) <= (1 + u)**k (L(v, s) + max L(s, .))    <= r (d(s, v) + e(s))

As k u < 2**-21, r <= 1 + 2 k u (1 + 2**-20). With the margin m = n 2**-51 = 4 n u, that is
4 k u + 8 u, the bounds are computed as

    max(d(s, v) (1 - m), e(s) (1 - m) - d(s, v)) <= e(v) <= (e(s) + d(s, v)) (1 + m)

where 1 - m and 1 + m are exact, and the two roundings of each bound (at most 2 u in all, relative
to e(s) in the second one) are less than the amount by which m exceeds 2 k u. At a million nodes m
is 4.4e-10. A widened lower and upper bound do not meet, so only a search gives an eccentricity
itself.

*Exact sums.* If all weights are multiples of a power of two q, so are all sums that are not
rounded, and every multiple of q up to 2**53 q is a float64. If 2 e(s) <= 2**53 q then no two nodes
of the component are farther apart than that, so every shortest path of it is added without
rounding, d = L is symmetric, e(s) + d(s, v) is exact, and the margin is 0. This holds for whole
numbers (microseconds, length units), and for round-trip times in ms as they are: from 0.01 ms on
float32 are multiples of 2**-30, and 2**52 of those are 70 minutes.

*Winnowing* (see ``eccentricity.bounds.bounds``), for a diameter and where d is symmetric: of two
nodes farther apart than the largest lower bound, one is farther than half of it from any centre c,
so nodes within that ball need no search. So the largest lower bound and the upper bounds outside
the ball bound the diameter. The ball moves as searches find a better centre, even after the
diameter is answered, and then other nodes may lie outside; so the least bound of all balls is kept.

*Trees* (see ``eccentricity.bounds.trees``), where sums are exact: searches from both ends of a
longest path leave nothing open.
"""

from __future__ import annotations

import numpy as np

from kernels.eccentricity.bounds.trees import ends_of_trees
from kernels.eccentricity.questions import QUESTIONS, Question
from kernels.eccentricity.weighted import steps
from kernels.errors import GraphError
from kernels.types import NODE


class WeightedBounds:
    """Bounds of every weighted eccentricity, tightened search by search.

    Parameters
    ----------
    question : str
        The question, asked of each component by itself, as in ``EccentricityBounds``. Another one
        may be asked later (``ask``).
    component : (n_nodes,) int32
        Components by number, 0, 1, ...
    degree : (n_nodes,) int32
    unit : float
        Largest power of two that divides all weights; inf if all are 0.

    Attributes
    ----------
    lower, upper : (n_nodes,) float64
        Equal where the eccentricity is known.
    most, least : (n_components,) float64
        Largest lower and smallest upper bound of each component.
    farthest : (n_components,) int32
        The searched node of largest eccentricity of each component, -1 before the first.
    n_searches : int
    searched : (n_components,) int64
        The same by component.
    widest : (n_components,) float64
        What the diameter of each component cannot exceed, whatever was requested; never rises.

    Notes
    -----
    29 bytes per node. ``take`` and ``update`` are passes over all nodes; ``part`` leaves out those
    of components that are answered.
    """

    def __init__(self, question: Question, component: np.ndarray, degree: np.ndarray, unit: float):
        n_nodes = len(component)
        self.component = np.ascontiguousarray(component, np.int32)
        self.degree = np.ascontiguousarray(degree, np.int32)
        self.size = np.bincount(self.component)
        n_components = len(self.size)
        self._margin = self.size * 2.0**-51
        self._most_exact = 2.0**52 * unit
        self.lower, self.upper = np.zeros(n_nodes), np.full(n_nodes, np.inf)
        self.upper[self.size[self.component] == 1] = 0.0
        self.most, self.least = np.zeros(n_components), np.full(n_components, np.inf)
        self.least[self.size == 1] = 0.0
        self.widest = np.full(n_components, np.inf)
        self.farthest = np.full(n_components, -1, NODE)
        self._reach = np.full(n_components, -1.0)  # eccentricity of ``farthest``
        self._centre_reach = np.full(n_components, np.inf)
        self._from_centre = np.full(n_nodes, np.inf)
        self._open = np.empty(n_nodes, np.uint8)
        self._by_upper = False
        self._trees = ends_of_trees(self.component, self.degree, self.size)
        self.n_searches, self.searched = 0, np.zeros(n_components, np.int64)
        self.ask(question)

    def ask(self, question: Question) -> None:
        """Ask this from now on. What is known stays known, and an answer that was found stays."""
        if question not in QUESTIONS:
            raise GraphError(f"unknown question {question!r}; use one of {QUESTIONS}")
        self.question = question
        self._code = QUESTIONS.index(question)
        self._refresh()

    @property
    def done(self) -> bool:
        """Whether the question is answered."""
        return not self._has_open.any()

    @property
    def answered(self) -> np.ndarray:
        """(n_components,) bool: whether it is, of each component."""
        return self._has_open == 0

    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the radius (if it or the center was requested), else of the diameter.

        Returns
        -------
        (n_components,) float64, (n_components,) float64
            Equal where the value is known.
        """
        if self.question in ("radius", "center"):
            nodes = np.flatnonzero(self._open)
            lowest = self.least.copy()
            np.minimum.at(lowest, self.component[nodes], self.lower[nodes])
            return lowest, self.least.copy()
        return self.most.copy(), self.widest.copy()

    def in_center(self) -> np.ndarray:
        """(n_nodes,) bool: nodes that may attain the radius of their component."""
        return self.lower <= self.least[self.component]

    def in_periphery(self) -> np.ndarray:
        """(n_nodes,) bool: nodes that may attain the diameter of their component."""
        return self.upper >= self.most[self.component]

    def take(self) -> np.ndarray:
        """Sources to search next, (n_sources,) int32: one of each component not yet answered.

        By lowest lower and highest upper bounds in turn. Nodes in the middle lower the upper
        bounds of all others, nodes far out raise the lower ones: so both kinds are taken, though
        for a diameter none in the middle is open, and for a radius none far out.
        """
        best = np.empty(len(self.size), NODE)
        among_open = self._by_upper and self.question not in ("radius", "center")
        bounds = (self.component, self.lower, self.upper, self.degree, self._open, self._has_open)
        steps.choose(self._by_upper, among_open, *bounds, best)
        self._by_upper = not self._by_upper
        sources = best[best >= 0]
        if self._trees is not None:
            sources = self._trees.lead(sources)
        return sources

    def update(self, sources: np.ndarray, distance: np.ndarray) -> None:
        """Tighten by distances from at most one source in each component.

        Parameters
        ----------
        sources : (n_sources,) int32
        distance : (n_nodes,) float64
            From the source of each node's component; inf where there is none.

        Raises
        ------
        GraphError
            If bounds cross: then some search was wrong, or of another graph.
        """
        reach = np.empty(len(self.size))
        steps.eccentricities_of(distance, self.component, reach)
        margin = np.where(reach <= self._most_exact, 0.0, self._margin)
        arrays = (self.lower, self.upper, self.most, self.least)
        crossed = steps.tighten(distance, self.component, reach, margin, *arrays)
        searched = self.component[sources]
        known = reach[searched]
        if crossed < 0 and not np.all(
            (self.lower[sources] <= known) & (known <= self.upper[sources])
        ):
            crossed = int(sources[0])
        if crossed >= 0:
            raise GraphError(
                f"bounds of node {crossed} cross: at least {self.lower[crossed]} and at most "
                f"{self.upper[crossed]}; a search was wrong or of another graph"
            )
        self.lower[sources] = self.upper[sources] = known
        self.most[searched] = np.maximum(self.most[searched], known)
        self.least[searched] = np.minimum(self.least[searched], known)
        rises = known > self._reach[searched]
        self.farthest[searched[rises]] = sources[rises]
        self._reach = np.maximum(self._reach, reach)
        self.n_searches += len(sources)
        self.searched[searched] += 1  # at most one source each
        self._try_centres(distance, reach, margin)
        if self._trees is not None:
            self._trees.is_left[searched[margin[searched] > 0]] = False
            bounds = (self.lower, self.upper, self.least)
            self._trees.close(sources, known, distance, bounds)
        self._refresh()

    def part(self, nodes: np.ndarray, component: np.ndarray, numbers: np.ndarray) -> WeightedBounds:
        """The bounds of some components alone, which take the sources that they would take here.

        Parameters
        ----------
        nodes : (n_nodes,) int32
            All nodes of these components, ascending in each; node i of the part is nodes[i].
        component : (n_nodes,) int32
            Their components, renumbered.
        numbers : (n_components,) int64
            Components of the part, by their old numbers; ascending.
        """
        part = WeightedBounds(self.question, component, self.degree[nodes], 1.0)
        part._most_exact, part._by_upper = self._most_exact, self._by_upper
        part.n_searches = self.n_searches
        for own, whole in zip(part._of_nodes(), self._of_nodes(), strict=True):
            own[:] = whole[nodes]
        for own, whole in zip(part._of_components(), self._of_components(), strict=True):
            own[:] = whole[numbers]
        part._trees = None
        if self._trees is not None:
            part._trees = self._trees.part(nodes, part.component, numbers)
        part._refresh()
        return part

    def take_back(self, part: WeightedBounds, nodes: np.ndarray, numbers: np.ndarray) -> None:
        """Replace the bounds of the components of a part; what is open is known after ``ask``."""
        self.n_searches, self._by_upper = part.n_searches, part._by_upper
        for own, whole in zip(part._of_nodes(), self._of_nodes(), strict=True):
            whole[nodes] = own
        for own, whole in zip(part._of_components(), self._of_components(), strict=True):
            whole[numbers] = own
        rises = part.farthest >= 0
        self.farthest[numbers[rises]] = nodes[part.farthest[rises]]
        if self._trees is not None and part._trees is not None:
            self._trees.take_back(part._trees, nodes, numbers)

    def _of_nodes(self) -> tuple[np.ndarray, ...]:
        """What is known of each node."""
        return self.lower, self.upper, self._from_centre

    def _of_components(self) -> tuple[np.ndarray, ...]:
        """What is known of each component, besides its farthest node."""
        most_and_least = (self.most, self.least, self.widest)
        return (*most_and_least, self._reach, self._centre_reach, self.searched)

    def _try_centres(self, distance: np.ndarray, reach: np.ndarray, margin: np.ndarray) -> None:
        """Put the ball around a source of smaller eccentricity, where sums are exact."""
        better = (reach >= 0) & (margin == 0) & (reach < self._centre_reach)
        self._centre_reach[better] = reach[better]
        moved = better[self.component]
        self._from_centre[moved] = distance[moved]

    def _refresh(self) -> None:
        bounds = (self.component, self.lower, self.upper, self.most, self.least)
        outside = np.empty(len(self.size))
        steps.mark_open(self._code, *bounds, self._from_centre, self._open, outside)
        np.minimum(self.widest, np.maximum(self.most, outside), out=self.widest)
        self._has_open = np.zeros(len(self.size), np.uint8)
        self._has_open[self.component[self._open != 0]] = 1
        if self.question == "diameter":
            self._has_open[self.widest <= self.most] = 0
