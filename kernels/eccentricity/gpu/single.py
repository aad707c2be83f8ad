"""Single questions about one graph on a GPU, with results as ``kernels.diameter`` has them."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import on_device_of
from kernels.csr import CSRGraph, Shard
from kernels.eccentricity.gpu.paths import first_where, longest_paths
from kernels.eccentricity.gpu.shard import periphery_of, questions_for
from kernels.eccentricity.gpu.solver import DeviceSolver
from kernels.eccentricity.questions import Question
from kernels.eccentricity.results import Center, Diameter, Periphery, Proof, Radius
from kernels.types import NODE

Answer = Diameter | Radius | Center | Periphery


def answer(graph: CSRGraph, question: Question, max_searches: int | None) -> Answer | np.ndarray:
    """The answer of ``kernels.eccentricity`` for a graph with nodes; eccentricities as an array."""
    with on_device_of(graph.indptr):
        node_ptr = cp.array([0, graph.n_nodes], np.int64)
        shard = Shard(graph.indptr, graph.indices, node_ptr, trusted=True)
        solver = DeviceSolver.of(shard, max_searches)
        for step in questions_for((question,)):
            solver.answer(step)
        if question == "eccentricities":
            return solver.in_given_order(solver.bounds.lower)
        common = _common(solver, question, graph)
        if question == "diameter":
            return _diameter(solver, common)
        if question == "radius":
            return _radius(solver, common)
        return _nodes(solver, common, question)


def _common(solver: DeviceSolver, question: Question, graph: CSRGraph) -> dict[str, Any]:
    bounds, exact = solver.bounds, solver.exact
    lowest, highest = bounds.loosest()
    if question in ("radius", "center"):
        uppers = bounds.least
        lowers = cp.where(exact, uppers, cp.minimum(lowest, uppers))
    else:
        lowers = bounds.most
        uppers = cp.where(exact, lowers, highest)
    largest = _largest(solver)
    return {
        "component": int(solver.parts.names[largest]),
        "n_searches": solver.n_searches,
        "exact": bool(exact.all()),
        "lower": int(lowers[largest]),
        "upper": int(uppers[largest]),
        "components": solver.parts.names.get(),
        "lowers": lowers.get(),
        "uppers": uppers.get(),
        "graph": graph,
        "max_searches": solver.max_searches,
    }


def _largest(solver: DeviceSolver) -> int:
    return int(cp.argmax(solver.parts.size))


def _diameter(solver: DeviceSolver, common: dict[str, Any]) -> Diameter:
    wanted = cp.zeros(solver.bounds.n_components, np.bool_)
    wanted[_largest(solver)] = True
    _, _, path = longest_paths(solver, wanted)
    none = cp.empty(0, NODE)
    sources = solver.parts.named(cp.concatenate([none, *solver.sources])).get()
    centres = solver.parts.named(solver.centre).get()
    proof = Proof(sources, centres, np.empty(0, NODE), by_trees=False)
    return Diameter(**common, diameter=common["lower"], path=path, proof=proof)


def _radius(solver: DeviceSolver, common: dict[str, Any]) -> Radius:
    bounds, largest = solver.bounds, _largest(solver)
    wanted = cp.zeros(bounds.n_components, np.bool_)
    wanted[largest] = True
    node = first_where(solver, bounds.upper == solver.of_each(bounds.least), wanted)
    center = int(solver.parts.named(node)[0])
    return Radius(**common, radius=common["upper"], center=center)


def _nodes(solver: DeviceSolver, common: dict[str, Any], question: Question) -> Center | Periphery:
    bounds = solver.bounds
    if question == "center":
        is_one = bounds.lower <= solver.of_each(bounds.least)
    else:
        is_one = periphery_of(solver)
    is_own = solver.of_each(cp.arange(bounds.n_components) == _largest(solver))
    nodes = np.flatnonzero(solver.in_given_order(is_one & is_own)).astype(NODE)
    marks = solver.in_given_order(is_one)
    if question == "center":
        return Center(**common, radius=common["upper"], nodes=nodes, is_center=marks)
    return Periphery(**common, diameter=common["lower"], nodes=nodes, is_periphery=marks)
