"""Exact diameter, radius, center, periphery and eccentricities, in hops, of every component."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.arguments import check_graph
from kernels.csr import CSRGraph
from kernels.eccentricity.results import Center, Diameter, Periphery, Proof, Radius, checked_limit
from kernels.eccentricity.strategy import Facts, Step, Strategy, checked_strategy, choose_step
from kernels.eccentricity.thresholds import CLUSTER, CORE, GPU, Thresholds
from kernels.types import NODE

if TYPE_CHECKING:
    from kernels.eccentricity.questions import Question
    from kernels.eccentricity.searches.every_node import FirstSearch
    from kernels.eccentricity.solver import EccentricitySolver

__all__ = [
    "CLUSTER",
    "CORE",
    "GPU",
    "Center",
    "Diameter",
    "Facts",
    "Periphery",
    "Proof",
    "Radius",
    "Step",
    "Strategy",
    "Thresholds",
    "center",
    "choose_step",
    "diameter",
    "eccentricities",
    "periphery",
    "radius",
]


# Nodes and arcs up to which a core finds a diameter sooner than a GPU, the copy included: a GPU
# takes some ten milliseconds even for ten thousand routers.
FEW = 1 << 18


def diameter(
    graph: CSRGraph, max_searches: int | None = None, strategy: Strategy | None = None
) -> Diameter:
    """Find the largest distance between two nodes that a path joins, and such a path.

    Parameters
    ----------
    graph : CSRGraph
        All runs on ``graph.device``, but on a core if the graph is small; answers are on the
        host.
    max_searches : int or None
        Stop after that many sources; then the answer may be an interval only.
    strategy : Strategy or None
        Reductions to use on the host; None: all.

    Returns
    -------
    Diameter
        Of the largest component, and its value for each component. An isolated node has
        diameter 0 and itself as path; a graph without nodes diameter 0, no path and no component.

    Raises
    ------
    GraphError
        If ``max_searches`` is negative.
    DeviceError
        If the graph is on a GPU that cannot be used or has too little free memory.
    HostMemoryError
        If it is on the host and there is too little free for a sweep, with the numbers.

    Notes
    -----
    ``n_searches`` counts landmarks too, but not the additional search that the path may take.
    O(n_nodes + n_arcs) per search; measured graphs need few, the worst need one per
    node. ``bounds``, ``landmarks`` and ``pendant_trees`` say why the answer is exact.
    """
    check_graph(graph, CSRGraph)
    strategy = checked_strategy(strategy)
    if graph.device != "cpu" and graph.n_nodes:
        if max_searches is None and graph.n_nodes + graph.n_arcs <= FEW:
            return replace(diameter(graph.to("cpu"), None, strategy), graph=graph)
        return _on_gpu(graph, "diameter", max_searches)
    if max_searches is None and strategy.keep:
        from kernels.eccentricity.small import quick_diameter

        found = quick_diameter(graph, strategy)
        if found is not None:
            return found
    solver = _answer(graph, "diameter", max_searches, strategy)
    if solver is None:
        none = np.empty(0, NODE)
        nothing = Proof(none, none, none, by_trees=False)
        return Diameter(**_common(None, graph), diameter=0, path=np.empty(0, NODE), proof=nothing)
    common = _common(solver, graph)
    sources = np.concatenate(solver.sources)
    used = (solver.bounds.centre, solver.known_by, solver.uses_trees)
    proof = Proof(sources, *used)
    path = solver.path()
    return Diameter(**common, diameter=common["lower"], path=path, proof=proof)


def radius(
    graph: CSRGraph, max_searches: int | None = None, strategy: Strategy | None = None
) -> Radius:
    """Find the smallest eccentricity, and a node that attains it; as ``diameter`` otherwise."""
    check_graph(graph, CSRGraph)
    strategy = checked_strategy(strategy)
    if graph.device != "cpu" and graph.n_nodes:
        return _on_gpu(graph, "radius", max_searches)
    every, first = _every(graph, "radius", max_searches, strategy)
    if every is not None:
        node = int(np.argmin(every))
        least = int(every[node])
        return Radius(**_all_searched(every, least, graph), radius=least, center=node)
    solver = _answer(graph, "radius", max_searches, strategy, first)
    common = _common(solver, graph)
    if solver is None:
        return Radius(**common, radius=0, center=-1)
    bounds = solver.bounds
    own = bounds.component == solver.largest
    node = int(np.flatnonzero(own & (bounds.upper == common["upper"]))[0])
    return Radius(**common, radius=common["upper"], center=node)


def center(
    graph: CSRGraph, max_searches: int | None = None, strategy: Strategy | None = None
) -> Center:
    """Find all nodes of smallest eccentricity; as ``diameter`` otherwise."""
    check_graph(graph, CSRGraph)
    strategy = checked_strategy(strategy)
    if graph.device != "cpu" and graph.n_nodes:
        return _on_gpu(graph, "center", max_searches)
    every, first = _every(graph, "center", max_searches, strategy)
    if every is not None:
        least = int(every.min())
        is_center = every == least
        nodes = np.flatnonzero(is_center).astype(NODE)
        common = _all_searched(every, least, graph)
        return Center(**common, radius=least, nodes=nodes, is_center=is_center)
    solver = _answer(graph, "center", max_searches, strategy, first)
    common = _common(solver, graph)
    if solver is None:
        return Center(**common, radius=0, nodes=np.empty(0, NODE), is_center=np.empty(0, bool))
    bounds = solver.bounds
    is_center = bounds.lower <= bounds.least[bounds.component]
    own = is_center & (bounds.component == solver.largest)
    nodes = np.flatnonzero(own).astype(NODE)
    return Center(**common, radius=common["upper"], nodes=nodes, is_center=is_center)


def periphery(
    graph: CSRGraph, max_searches: int | None = None, strategy: Strategy | None = None
) -> Periphery:
    """Find all nodes of largest eccentricity; as ``diameter`` otherwise."""
    check_graph(graph, CSRGraph)
    strategy = checked_strategy(strategy)
    if graph.device != "cpu" and graph.n_nodes:
        return _on_gpu(graph, "periphery", max_searches)
    every, first = _every(graph, "periphery", max_searches, strategy)
    if every is not None:
        most = int(every.max())
        is_periphery = every == most
        nodes = np.flatnonzero(is_periphery).astype(NODE)
        common = _all_searched(every, most, graph)
        return Periphery(**common, diameter=most, nodes=nodes, is_periphery=is_periphery)
    solver = _answer(graph, "periphery", max_searches, strategy, first)
    common = _common(solver, graph)
    if solver is None:
        none = np.empty(0, bool)
        return Periphery(**common, diameter=0, nodes=np.empty(0, NODE), is_periphery=none)
    bounds = solver.bounds
    is_periphery = bounds.upper >= bounds.most[bounds.component]
    own = is_periphery & (bounds.component == solver.largest)
    nodes = np.flatnonzero(own).astype(NODE)
    return Periphery(**common, diameter=common["lower"], nodes=nodes, is_periphery=is_periphery)


def eccentricities(graph: CSRGraph, strategy: Strategy | None = None) -> np.ndarray:
    """Find the eccentricity of every node, each within its component.

    Returns
    -------
    (n_nodes,) int32
        Hops; 0 for an isolated node.
    """
    check_graph(graph, CSRGraph)
    strategy = checked_strategy(strategy)
    if graph.device != "cpu" and graph.n_nodes:
        return _on_gpu(graph, "eccentricities", None)
    every, first = _every(graph, "eccentricities", None, strategy)
    if every is not None:
        return every
    solver = _answer(graph, "eccentricities", None, strategy, first)
    return np.empty(0, np.int32) if solver is None else solver.bounds.lower


def _on_gpu(graph: CSRGraph, question: Question, max_searches: int | None) -> Any:
    from kernels.eccentricity.gpu.single import answer

    return answer(graph, question, checked_limit(max_searches))


def _every(
    graph: CSRGraph, question: Question, max_searches: int | None, strategy: Strategy
) -> tuple[np.ndarray | None, FirstSearch | None]:
    """All eccentricities, if sweeping from every node is the fastest way to any answer."""
    if max_searches is not None or not strategy.sweeps:
        return None, None
    from kernels.eccentricity.searches.every_node import quick_eccentricities

    return quick_eccentricities(graph, question)


def _all_searched(every: np.ndarray, value: int, graph: CSRGraph) -> dict[str, Any]:
    """The common part of all answers, for a connected graph all of whose nodes were searched."""
    values = np.array([value], np.int32)
    return {
        "component": 0,
        "n_searches": len(every),
        "exact": True,
        "lower": value,
        "upper": value,
        "components": np.zeros(1, NODE),
        "lowers": values,
        "uppers": values.copy(),
        "graph": graph,
    }


def _answer(
    graph: CSRGraph,
    question: Question,
    max_searches: int | None,
    strategy: Strategy,
    first: FirstSearch | None = None,
) -> EccentricitySolver | None:
    """The finished state of a question; None for a graph without nodes."""
    max_searches = checked_limit(max_searches)
    if graph.n_nodes == 0:
        return None
    from kernels.eccentricity.solver import EccentricitySolver

    solver = EccentricitySolver(graph, question, strategy, max_searches, first=first)
    solver.run()
    return solver


def _common(solver: EccentricitySolver | None, graph: CSRGraph) -> dict[str, Any]:
    """The common part of all answers."""
    if solver is None:
        none = np.empty(0, np.int32)
        return {
            "component": -1,
            "n_searches": 0,
            "exact": True,
            "lower": 0,
            "upper": 0,
            "components": none,
            "lowers": none,
            "uppers": none,
            "graph": graph,
        }
    bounds = solver.bounds
    lowers, uppers = bounds.interval()
    largest = solver.largest
    return {
        "component": int(solver.names[largest]),
        "n_searches": bounds.n_searches,
        "exact": bounds.done,
        "lower": int(lowers[largest]),
        "upper": int(uppers[largest]),
        "components": solver.names,
        "lowers": lowers,
        "uppers": uppers,
        "graph": graph,
        "max_searches": solver.max_searches,
    }
