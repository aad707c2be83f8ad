"""Single questions about one graph on a GPU, in the form of ``kernels.diameter`` and its like."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import on_device_of
from kernels.csr import CSRGraph, Shard
from kernels.eccentricity.bounds.bounds import Question
from kernels.eccentricity.gpu.paths import first_where, longest_paths
from kernels.eccentricity.gpu.shard import periphery_of, questions_for
from kernels.eccentricity.gpu.solver import Answering
from kernels.eccentricity.results import Center, Diameter, Periphery, Proof, Radius
from kernels.types import NODE

Answer = Diameter | Radius | Center | Periphery


def answer(graph: CSRGraph, question: Question, max_searches: int | None) -> Answer | np.ndarray:
    """What ``kernels.eccentricity`` promises of a graph with nodes; eccentricities as an array."""
    with on_device_of(graph.indptr):
        node_ptr = cp.array([0, graph.n_nodes], np.int64)
        shard = Shard(graph.indptr, graph.indices, node_ptr, trusted=True)
        answering = Answering.of(shard, max_searches)
        for step in questions_for((question,)):
            answering.answer(step)
        if question == "eccentricities":
            return answering.in_given_order(answering.bounds.lower)
        common = _common(answering, question)
        if question == "diameter":
            return _diameter(answering, common)
        if question == "radius":
            return _radius(answering, common)
        return _nodes(answering, common, question)


def _common(answering: Answering, question: Question) -> dict[str, Any]:
    bounds, exact = answering.bounds, answering.exact
    lowest, highest = bounds.loosest()
    if question in ("radius", "center"):
        uppers = bounds.least
        lowers = cp.where(exact, uppers, cp.minimum(lowest, uppers))
    else:
        lowers = bounds.most
        uppers = cp.where(exact, lowers, highest)
    largest = _largest(answering)
    return {
        "component": int(answering.parts.names[largest]),
        "n_searches": answering.n_searches,
        "exact": bool(exact.all()),
        "lower": int(lowers[largest]),
        "upper": int(uppers[largest]),
        "components": answering.parts.names.get(),
        "lowers": lowers.get(),
        "uppers": uppers.get(),
    }


def _largest(answering: Answering) -> int:
    return int(cp.argmax(answering.parts.size))


def _diameter(answering: Answering, common: dict[str, Any]) -> Diameter:
    wanted = cp.zeros(answering.bounds.n_components, np.bool_)
    wanted[_largest(answering)] = True
    _, _, path = longest_paths(answering, wanted)
    none = cp.empty(0, NODE)
    sources = answering.parts.named(cp.concatenate([none, *answering.sources])).get()
    centres = answering.parts.named(answering.centre).get()
    proof = Proof(sources, centres, np.empty(0, NODE), by_trees=False)
    return Diameter(**common, diameter=common["lower"], path=path, proof=proof)


def _radius(answering: Answering, common: dict[str, Any]) -> Radius:
    bounds, largest = answering.bounds, _largest(answering)
    wanted = cp.zeros(bounds.n_components, np.bool_)
    wanted[largest] = True
    node = first_where(answering, bounds.upper == answering.of_each(bounds.least), wanted)
    center = int(answering.parts.named(node)[0])
    return Radius(**common, radius=common["upper"], center=center)


def _nodes(answering: Answering, common: dict[str, Any], question: Question) -> Center | Periphery:
    bounds = answering.bounds
    if question == "center":
        is_one = bounds.lower <= answering.of_each(bounds.least)
    else:
        is_one = periphery_of(answering)
    is_own = answering.of_each(cp.arange(bounds.n_components) == _largest(answering))
    nodes = np.flatnonzero(answering.in_given_order(is_one & is_own)).astype(NODE)
    marks = answering.in_given_order(is_one)
    if question == "center":
        return Center(**common, radius=common["upper"], nodes=nodes, is_center=marks)
    return Periphery(**common, diameter=common["lower"], nodes=nodes, is_periphery=marks)
