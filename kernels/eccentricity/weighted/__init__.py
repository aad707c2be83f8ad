"""Exact weighted diameter, radius, center, periphery and eccentricities, of every component.

As ``kernels.eccentricity`` does for hops, with distances by ``sssp`` and ``WeightedBounds``. An
eccentricity is that which ``sssp`` finds from the node, to the bit; see ``bounds`` for how rounding
is dealt with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.connected import components
from kernels.csr import CSRGraph, to_host
from kernels.eccentricity.results import (
    CenterResult,
    DiameterResult,
    PeripheryResult,
    RadiusResult,
    ShardWidths,
    checked_limit,
)
from kernels.shortest_paths import checked_mean, sssp
from kernels.types import NODE

if TYPE_CHECKING:
    from kernels.eccentricity.questions import Question
    from kernels.eccentricity.weighted.bounds import WeightedBounds

__all__ = [
    "weighted_center",
    "weighted_diameter",
    "weighted_eccentricities",
    "weighted_periphery",
    "weighted_radius",
    "weighted_widths",
]


class WeightedDiameter(DiameterResult[float]):
    """The largest eccentricity by weight.

    The weights of the path, added in its order, are the diameter to the bit. It is empty without a
    search, too.
    """


class WeightedRadius(RadiusResult[float]):
    """The smallest eccentricity by weight."""


class WeightedCenter(CenterResult[float]):
    """The nodes of smallest eccentricity by weight."""


class WeightedPeriphery(PeripheryResult[float]):
    """The nodes of largest eccentricity by weight."""


def weighted_diameter(graph: CSRGraph, max_searches: int | None = None) -> WeightedDiameter:
    """Find the largest distance by weight between two nodes that a path joins, and such a path.

    Parameters
    ----------
    graph : CSRGraph
        With weights. Searches run on ``graph.device``, bounds on the host.
    max_searches : int or None
        Stop after this many searched sources; then the answer may be an interval only.

    Returns
    -------
    WeightedDiameter
        Of the largest component, and its value for each component. An isolated node has
        diameter 0 and itself as path; a graph without nodes diameter 0, no path, no component.

    Raises
    ------
    GraphError
        As ``sssp``: without weights, or with one that is negative or not finite; and if
        ``max_searches`` is negative.
    DeviceError
        If the graph is on a GPU that cannot be used or has too little memory.

    Notes
    -----
    O(n_nodes + n_arcs) per search; no method is known that needs fewer than one per node in the
    worst case. Components are searched together, one source in each.
    """
    found = _Results(graph, "diameter", max_searches)
    if found.bounds is None:
        return WeightedDiameter(**found.common, diameter=0.0, path=np.empty(0, NODE))
    path = _path(graph, found.bounds, found.largest)
    return WeightedDiameter(**found.common, diameter=found.common["lower"], path=path)


def weighted_radius(graph: CSRGraph, max_searches: int | None = None) -> WeightedRadius:
    """Find the smallest eccentricity, and a node that attains it; as ``weighted_diameter``."""
    found = _Results(graph, "radius", max_searches)
    if found.bounds is None:
        return WeightedRadius(**found.common, radius=0.0, center=-1)
    own = found.bounds.component == found.largest
    node = int(np.flatnonzero(own & (found.bounds.upper == found.common["upper"]))[0])
    return WeightedRadius(**found.common, radius=found.common["upper"], center=node)


def weighted_center(graph: CSRGraph, max_searches: int | None = None) -> WeightedCenter:
    """Find all nodes of smallest eccentricity; as ``weighted_diameter`` otherwise."""
    found = _Results(graph, "center", max_searches)
    is_center, nodes = np.empty(0, bool), np.empty(0, NODE)
    if found.bounds is not None:
        is_center = found.bounds.in_center()
        nodes = found.own(is_center)
    radius = found.common["upper"]
    return WeightedCenter(**found.common, radius=radius, nodes=nodes, is_center=is_center)


def weighted_periphery(graph: CSRGraph, max_searches: int | None = None) -> WeightedPeriphery:
    """Find all nodes of largest eccentricity; as ``weighted_diameter`` otherwise."""
    found = _Results(graph, "periphery", max_searches)
    is_periphery, nodes = np.empty(0, bool), np.empty(0, NODE)
    if found.bounds is not None:
        is_periphery = found.bounds.in_periphery()
        nodes = found.own(is_periphery)
    diameter = found.common["lower"]
    return WeightedPeriphery(
        **found.common, diameter=diameter, nodes=nodes, is_periphery=is_periphery
    )


def weighted_eccentricities(graph: CSRGraph) -> np.ndarray:
    """Find the eccentricity by weight of every node, each within its component.

    Returns
    -------
    (n_nodes,) float64
        In the unit of the weights; 0 for an isolated node.

    Notes
    -----
    Bounds spare searches only where sums are exact (see ``bounds``): whole numbers, round-trip
    times. In a graph whose sums are rounded every node is searched.
    """
    found = _Results(graph, "eccentricities", None)
    return np.empty(0) if found.bounds is None else found.bounds.lower


def weighted_widths(
    graph: CSRGraph, questions: Iterable[Question], max_searches: int | None = None
) -> ShardWidths:
    """Answer several questions about every component, each search counting for all of them.

    Parameters
    ----------
    graph : CSRGraph
        With weights. Searches run on ``graph.device``, bounds on the host.
    questions : iterable of str
        Of ``diameter``, ``radius``, ``center``, ``periphery``, ``eccentricities``.
    max_searches : int or None
        Sources that may be searched in each component, for all questions together; then its
        answers may be intervals. The search that a path takes is not counted.

    Returns
    -------
    ShardWidths
        Of one graph, float64 in the unit of the weights. It has bounds of diameter and radius
        whatever was requested.

    Raises
    ------
    GraphError
        As ``sssp``; and if a question is unknown, or none is asked, or ``max_searches`` is
        negative.
    DeviceError
        If the graph is on a GPU that cannot be used or has too little memory.
    """
    from kernels.eccentricity.questions import checked_questions
    from kernels.eccentricity.shard import plan_questions
    from kernels.eccentricity.weighted.answering import answer

    asked = checked_questions(questions)
    max_searches = checked_limit(max_searches)
    mean = checked_mean(graph)
    found = components(graph)
    component = np.searchsorted(found.ids, to_host(found.component)).astype(np.int32)
    bounds = _bounds(graph, component)
    for question in plan_questions(asked):
        bounds.ask(question)
        answer(graph, bounds, mean, most_each=max_searches)
    return _widths(graph, bounds, found.ids, asked, max_searches)


class _Results:
    """Results of one question about a graph, answered or cut short.

    Attributes
    ----------
    bounds : WeightedBounds or None
        None for a graph without nodes.
    largest : int
        Number of the largest component; of two equally large ones the first.
    common : dict
        Fields of every result.
    """

    def __init__(self, graph: CSRGraph, question: Question, max_searches: int | None):
        max_searches = checked_limit(max_searches)
        mean = checked_mean(graph)
        names, component, self.bounds = np.empty(0, NODE), np.empty(0, NODE), None
        self.largest, n_searches, exact = -1, 0, True
        lowers, uppers = np.empty(0), np.empty(0)
        if graph.n_nodes:
            from kernels.eccentricity.weighted.answering import answer

            found = components(graph)
            names = found.ids
            component = np.searchsorted(names, to_host(found.component)).astype(np.int32)
            self.bounds = _bounds(graph, component, question)
            answer(graph, self.bounds, mean, most=max_searches)
            self.largest = int(np.argmax(self.bounds.size))
            n_searches, exact = self.bounds.n_searches, self.bounds.done
            lowers, uppers = self.bounds.interval()
        self.common: dict[str, Any] = {
            "component": int(names[self.largest]) if graph.n_nodes else -1,
            "n_searches": n_searches,
            "exact": exact,
            "lower": float(lowers[self.largest]) if graph.n_nodes else 0.0,
            "upper": float(uppers[self.largest]) if graph.n_nodes else 0.0,
            "components": names,
            "lowers": lowers,
            "uppers": uppers,
            "graph": graph,
            "max_searches": max_searches,
        }

    def own(self, chosen: np.ndarray) -> np.ndarray:
        """Chosen nodes of the largest component, ascending."""
        assert self.bounds is not None
        return np.flatnonzero(chosen & (self.bounds.component == self.largest)).astype(NODE)


def _bounds(
    graph: CSRGraph, component: np.ndarray, question: Question = "diameter"
) -> WeightedBounds:
    from kernels.eccentricity.weighted.bounds import WeightedBounds
    from kernels.eccentricity.weighted.steps import unit_of

    degree = np.diff(to_host(graph.indptr)).astype(np.int32)
    return WeightedBounds(question, component, degree, unit_of(to_host(graph.weights)))


def _widths(
    graph: CSRGraph,
    bounds: WeightedBounds,
    names: np.ndarray,
    questions: tuple[Question, ...],
    max_searches: int | None,
) -> ShardWidths:
    """Answers to the questions from the bounds, in any order."""
    exact = np.ones(len(names), bool)
    for question in questions:
        bounds.ask(question)
        exact &= bounds.answered
    bounds.ask("diameter")
    diameter_lower, diameter_upper = bounds.interval()
    bounds.ask("radius")
    radius_lower, radius_upper = bounds.interval()
    path_ptr = path = None
    if "diameter" in questions:
        path = np.empty(0, NODE)
        if graph.n_nodes:
            path = _path(graph, bounds, int(np.argmax(bounds.size)))
        path_ptr = np.array([0, len(path)], np.int64)
    return ShardWidths(
        questions=questions,
        exact=exact,
        component=bounds.component,
        names=names,
        size=bounds.size.astype(np.int32),
        n_searches=bounds.searched,
        diameter_lower=diameter_lower,
        diameter_upper=diameter_upper,
        radius_lower=radius_lower,
        radius_upper=radius_upper,
        eccentricity=bounds.lower if "eccentricities" in questions else None,
        is_center=bounds.in_center() if "center" in questions else None,
        is_periphery=bounds.in_periphery() if "periphery" in questions else None,
        path_ptr=path_ptr,
        path=path,
        shard=graph,
        max_searches=max_searches,
    )


def _path(graph: CSRGraph, bounds: WeightedBounds, component: int) -> np.ndarray:
    """A shortest path as long as the largest known eccentricity of a component."""
    node = int(bounds.farthest[component])
    if node < 0:  # an isolated node, which needs no search; or no search was allowed
        nodes = np.flatnonzero(bounds.component == component)
        return nodes.astype(NODE) if len(nodes) == 1 else np.empty(0, NODE)
    from kernels.shortest_paths.cpu import path_to

    found = sssp(graph, node, parents=True)
    distance, parent = to_host(found.distance), to_host(found.parent)
    node = int(np.flatnonzero(distance == found.eccentricity)[0])
    return path_to(parent, node)
