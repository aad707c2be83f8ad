"""Widths of shards, and the bounds implied by searches, on one GPU; see ``solver``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import on_device_of
from kernels.csr import CSRGraph, Shard
from kernels.eccentricity.gpu.bounds import tighten
from kernels.eccentricity.gpu.paths import longest_paths
from kernels.eccentricity.gpu.solver import DeviceSolver
from kernels.eccentricity.questions import QUESTIONS, Question
from kernels.eccentricity.results import ShardWidths
from kernels.eccentricity.searches import Implied
from kernels.eccentricity.thresholds import GPU
from kernels.multi_source.gpu.sweeps import DeviceSweeps
from kernels.types import NODE

INT_MOST = np.iinfo(np.int32).max


def widths_on_gpu(
    shard: Shard, questions: Sequence[Question], max_searches: int | None = None
) -> ShardWidths:
    """Answer questions about every component of a shard on the GPU that it lies on.

    Parameters
    ----------
    shard : Shard
    questions : sequence of str
        Of ``questions.QUESTIONS``.
    max_searches : int or None
        Sources to search in each component, for all questions together; then its answers may be
        intervals. The search that a path takes is not counted.

    Returns
    -------
    ShardWidths

    Raises
    ------
    DeviceMemoryError
        The GPU has too little free memory, with the numbers.
    DeviceError
        The kernels cannot be built or run there.

    Notes
    -----
    37 bytes per node, 45 to 180 per node for a sweep with its levels, and once or twice the size of
    the graph if components are not contiguous yet.
    """
    asked = tuple(question for question in QUESTIONS if question in questions)
    if shard.n_nodes == 0:
        return _of_nothing(shard, asked)
    with on_device_of(shard.indptr):
        solver = DeviceSolver.of(shard, max_each=max_searches)
        for question in questions_for(asked):
            solver.answer(question)
        return _shard_widths(shard, solver, asked)


def questions_for(asked: Sequence[Question]) -> tuple[Question, ...]:
    """Questions in order: everything follows from eccentricities; others begin with the value.

    Nodes are dropped from the center or the periphery sooner once radius or diameter is known.
    """
    if "eccentricities" in asked:
        return ("eccentricities",)
    first: dict[Question, Question] = {"periphery": "diameter", "center": "radius"}
    wanted = {*asked, *(first[question] for question in asked if question in first)}
    return tuple(question for question in QUESTIONS if question in wanted)


def _of_nothing(shard: Shard, asked: tuple[Question, ...]) -> ShardWidths:
    none = np.empty(0, np.int32)
    is_path = "diameter" in asked
    return ShardWidths(
        questions=asked,
        exact=np.empty(0, bool),
        component=none,
        names=none,
        size=none,
        n_searches=np.empty(0, np.int64),
        diameter_lower=none,
        diameter_upper=none,
        radius_lower=none,
        radius_upper=none,
        eccentricity=np.empty(0, np.uint8) if "eccentricities" in asked else None,
        is_center=np.empty(0, bool) if "center" in asked else None,
        is_periphery=np.empty(0, bool) if "periphery" in asked else None,
        path_ptr=np.zeros(shard.n_graphs + 1, np.int64) if is_path else None,
        path=none if is_path else None,
        shard=shard,
    )


def _shard_widths(shard: Shard, solver: DeviceSolver, asked: tuple[Question, ...]) -> ShardWidths:
    """The results once the questions are answered, on the host."""
    bounds = solver.bounds
    lowest, highest = bounds.loosest()
    most, least = bounds.most.get(), bounds.least.get()
    exact = solver.exact.get()
    all_known = "eccentricities" in asked
    path_ptr = path = None
    if "diameter" in asked:
        path_ptr, path = _paths_of_graphs(shard, solver)
    is_center = bounds.lower <= solver.of_each(bounds.least)
    is_periphery = periphery_of(solver)
    knows_most = exact & (all_known or bool({"diameter", "periphery"} & set(asked)))
    knows_least = exact & (all_known or bool({"radius", "center"} & set(asked)))
    return ShardWidths(
        questions=asked,
        exact=exact,
        component=_numbers(solver),
        names=solver.parts.names.get(),
        size=solver.parts.size.get(),
        n_searches=bounds.n_searched.get().astype(np.int64),
        diameter_lower=most,
        diameter_upper=np.where(knows_most, most, highest.get()),
        radius_lower=np.where(knows_least, least, np.minimum(lowest.get(), least)),
        radius_upper=least,
        eccentricity=_narrow(solver) if all_known else None,
        is_center=solver.in_given_order(is_center) if "center" in asked else None,
        is_periphery=solver.in_given_order(is_periphery) if "periphery" in asked else None,
        path_ptr=path_ptr,
        path=path,
        shard=shard,
        max_searches=solver.max_each,
    )


def periphery_of(solver: DeviceSolver) -> Any:
    """Nodes of ``bounds`` that are in the periphery, or may be where that is not exact."""
    bounds = solver.bounds
    bound = cp.where(solver.of_each(solver.exact), bounds.lower, bounds.upper)
    return bound >= solver.of_each(bounds.most)


def _numbers(solver: DeviceSolver) -> np.ndarray:
    component = solver.bounds.component
    if component is None:
        return np.zeros(solver.bounds.n_nodes, np.int32)
    return solver.in_given_order(component)


def _narrow(solver: DeviceSolver) -> np.ndarray:
    """Eccentricities in the narrowest type that holds them."""
    highest = int(solver.bounds.most.max())
    kind = np.uint8 if highest < 256 else np.uint16 if highest < 65536 else np.int32
    return solver.in_given_order(solver.bounds.lower.astype(kind))


def _paths_of_graphs(shard: Shard, solver: DeviceSolver) -> tuple[np.ndarray, np.ndarray]:
    """For each graph a longest known path of its largest component."""
    node_ptr = shard.node_ptr.get()
    names, size = solver.parts.names.get(), solver.parts.size.get()
    graph = np.searchsorted(node_ptr, names, side="right") - 1
    order = np.lexsort((names, -size.astype(np.int64), graph))
    is_first = np.append(True, np.diff(graph[order]) > 0)
    wanted = np.zeros(len(names), bool)
    wanted[order[is_first]] = True
    own, ptr, nodes = longest_paths(solver, cp.asarray(wanted))
    length = np.zeros(shard.n_graphs, np.int64)
    length[graph[own.get()]] = np.diff(ptr)
    path_ptr = np.zeros(shard.n_graphs + 1, np.int64)
    np.cumsum(length, out=path_ptr[1:])
    return path_ptr, nodes


def implied_on_gpu(graph: CSRGraph, sources: np.ndarray) -> Implied:
    """Bounds of all nodes of one graph, implied by searches from some of them.

    Parameters
    ----------
    graph : CSRGraph
        On a GPU; any number of components.
    sources : (n_sources,) integers
        Distinct nodes, at most 256.

    Returns
    -------
    Implied
        On the host; ``lower`` is 0 and ``upper`` the dtype's maximum where nothing is implied.
    """
    nodes = np.asarray(sources, NODE)
    with on_device_of(graph.indptr):
        n_nodes, node_ptr = graph.n_nodes, cp.array([0, graph.n_nodes], np.int64)
        shard = Shard(graph.indptr, graph.indices, node_ptr, trusted=True)
        n_words = 1 if len(nodes) <= 64 else 2 if len(nodes) <= 128 else GPU.many_lanes // 64
        slot_ptr = cp.array([0, len(nodes)], np.int32)
        swept = DeviceSweeps(shard).sweep(cp.asarray(nodes), slot_ptr, n_words, True)
        lower, upper = cp.zeros(n_nodes, np.int32), cp.full(n_nodes, INT_MOST, np.int32)
        tighten(swept, n_nodes, 1, None, lower, upper)
        eccentricity = swept.eccentricity
        lower[nodes] = upper[nodes] = eccentricity
        # Upper bounds are below twice the largest eccentricity, and the type's largest is none.
        kind = np.uint8 if swept.depth < 127 else np.uint16 if swept.depth < 32767 else np.int32
        upper = cp.minimum(upper, np.iinfo(kind).max).astype(kind)
        return Implied(nodes, eccentricity.get(), lower.astype(kind).get(), upper.get())
