"""The diameter of a small connected graph: distance rows first, then sweeps or general solver."""

from __future__ import annotations

import numpy as np

from kernels.breadth_first.cpu_bytes import search_levels
from kernels.csr import CSRGraph
from kernels.eccentricity.reductions.distance_rows import Kept, search_keeping
from kernels.eccentricity.reductions.row_searches import FEW_LANES, MANY_PAIRS, walk
from kernels.eccentricity.results import Diameter, Proof
from kernels.eccentricity.searches.every_node import swept_eccentricities
from kernels.eccentricity.strategy import Strategy
from kernels.types import NODE


def quick_diameter(graph: CSRGraph, strategy: Strategy) -> Diameter | None:
    """Find the diameter; None if ``distance_rows`` does not suit the graph.

    The general solver takes at least half a millisecond even for tiny graphs; this does not.
    """
    kept = search_keeping(graph, strategy.sweeps)
    if kept is None:
        return None
    if kept.is_answered:
        is_source = np.zeros(graph.n_nodes, bool)  # an end may have been searched again
        is_source[kept.sources] = is_source[kept.ends] = True
        sources = np.flatnonzero(is_source).astype(NODE)
        proof = Proof(sources, kept.sources[[kept.centre]], kept.sources, by_trees=False)
        return _diameter_result(graph, len(sources), kept.path, proof)
    if kept.is_to_sweep:
        return _sweep_all(graph, kept)
    return _solve_generally(graph, kept, strategy)


def _sweep_all(graph: CSRGraph, kept: Kept) -> Diameter:
    """Search from every node by sweeps; the path is found by one more search if rows missed it."""
    every, path = swept_eccentricities(graph), kept.path
    end = int(np.argmax(every))
    if every[end] >= len(path):
        level, queue = np.empty(graph.n_nodes, np.uint16), np.empty(graph.n_nodes + 1, np.int32)
        search_levels(graph.indptr, graph.indices, end, level, queue)
        path = walk(graph.indptr, graph.indices, level)
    none, nodes = np.empty(0, NODE), np.arange(graph.n_nodes, dtype=NODE)
    return _diameter_result(graph, graph.n_nodes, path, Proof(nodes, none, none, by_trees=False))


def _diameter_result(graph: CSRGraph, n_searches: int, path: np.ndarray, proof: Proof) -> Diameter:
    value = len(path) - 1
    values = np.array([value], np.int32)
    names = np.zeros(1, NODE)
    return Diameter(
        component=0,
        n_searches=n_searches,
        exact=True,
        lower=value,
        upper=value,
        components=names,
        lowers=values,
        uppers=values.copy(),
        diameter=value,
        path=path,
        proof=proof,
        graph=graph,
    )


def _solve_generally(graph: CSRGraph, kept: Kept, strategy: Strategy) -> Diameter:
    """Continue with the general solver from the results of distance rows."""
    from kernels.eccentricity.bounds.bounds import EccentricityBounds
    from kernels.eccentricity.solver import EccentricitySolver

    component = np.zeros(graph.n_nodes, np.int32)
    degree = np.diff(graph.indptr).astype(np.int32)
    bounds = EccentricityBounds("diameter", component, degree, None, strategy.winnow)
    others = np.delete(kept.sources, kept.centre)
    bounds.update(others, kept.lower, kept.upper)
    centre = kept.sources[kept.centre : kept.centre + 1]
    level = kept.level.astype(np.int32)
    bounds.update(centre, np.zeros_like(level), level + level.max(), alone=True)
    solver = EccentricitySolver(graph, "diameter", strategy, known=(bounds, np.zeros(1, NODE)))
    solver.sources.append(kept.sources)
    solver.n_searched[0] = len(kept.sources)
    solver.finishing.spent_ns = kept.spent_ns
    if kept.pairs is not None and kept.apart is not None:
        if kept.pairs.shape[1] <= MANY_PAIRS:
            solver.landmarks = kept.sources
            bounds.restrict(0, kept.pairs, kept.apart)
        elif len(bounds.pending()) <= FEW_LANES:
            solver.sweep()  # all of them at once
    solver.run()
    path = kept.path if bounds.most[0] == len(kept.path) - 1 else solver.path()
    sources = np.concatenate(solver.sources)
    proof = Proof(sources, bounds.centre, solver.known_by, by_trees=False)
    return _diameter_result(graph, bounds.n_searches, path, proof)
