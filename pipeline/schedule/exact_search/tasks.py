"""A worker's part of exact searches: examine a graph, search, find a path."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

import numpy as np

from kernels import CSRGraph
from kernels.breadth_first import bfs_queue
from kernels.certificates import check_levels
from kernels.csr import to_host
from kernels.errors import CheckError
from kernels.exact_search import CoreSearches, Implied, find_tips, merge, numbered_components
from kernels.types import NODE
from pipeline.model.search.exact import (
    NO_BOUND,
    ExactBounds,
    ExactPath,
    ExactTask,
    OpenedGraph,
)
from pipeline.schedule.plan.steps import MOST_LANES
from pipeline.schedule.work.errors import errors_of
from pipeline.schedule.work.resident import resident_graph

N_HELD = 2  # graphs whose scratch a thread keeps: 27 bytes per node each
_KNOWN = 3  # components of up to this many nodes are known without a search
_LOCAL = threading.local()


def run_exact(task: ExactTask) -> OpenedGraph | ExactBounds | ExactPath:
    """Run one step of a job on this worker; which one, ``task.kind`` says.

    Raises
    ------
    OutOfMemoryError
        The device had too little memory; a smaller task may fit.
    RetryableError
        The snapshot could not be read just now, or not here; the device is missing on this worker.
    StoreError, PipelineError
        The snapshot is broken; a search failed, or its certificate refuses it.
    """
    with errors_of(task.name, task.device, task.job.snapshot):
        try:
            if task.kind == "opening":
                return _open(task)
            if task.kind == "path":
                return _find_path(task)
            return _search(task)
        except MemoryError:
            _LOCAL.__dict__.clear()
            raise


class _Held:
    """Scratch of one graph, and the bounds from this thread's searches of it in one run.

    The latter halves the time of sweeps: bounds that are as tight already are not followed. A
    result then includes them; bounds may be sent any number of times.
    """

    run: str

    def __init__(self, graph: CSRGraph, component: np.ndarray | None, n_components: int):
        if component is None:
            component = np.zeros(graph.n_nodes, np.int32)
        self.graph = graph
        self.searches = CoreSearches(graph, component, n_components)
        self._n_components = n_components
        self.begin("")

    def begin(self, run: str) -> None:
        """Forget bounds from another run."""
        self.run = run
        n_nodes, n_components = self.graph.n_nodes, self._n_components
        self._lower, self._upper = np.zeros(n_nodes, np.int32), np.full(n_nodes, NO_BOUND, np.int32)
        self._extremes = (
            np.zeros(n_components, np.int32),
            np.full(n_components, NO_BOUND, np.int32),
        )

    def search(self, sources: np.ndarray, alone: bool) -> Implied:
        """One search per component, or a sweep."""
        if alone:
            found = self.searches.search(sources)
        else:
            found = self.searches.sweep(sources, self._lower, self._upper)
        none = np.iinfo(found.upper.dtype).max
        known = (self.searches.component, self._lower, self._upper, *self._extremes)
        merge(found.lower, found.upper, none, *known)
        return found


def _held(graph: CSRGraph, is_connected: bool, run: str) -> _Held:
    """Scratch of this thread, since it may not be shared. The graph is the resident one."""
    held: OrderedDict[int, _Held] = _LOCAL.__dict__.setdefault("held", OrderedDict())
    key = id(graph)  # what is held keeps the graph, so no other has its id
    if key not in held:
        while len(held) >= N_HELD:
            held.popitem(last=False)
        if is_connected:
            held[key] = _Held(graph, None, 1)
        else:
            names, component = numbered_components(graph)
            held[key] = _Held(graph, component, len(names))
    held.move_to_end(key)
    if held[key].run != run:
        held[key].begin(run)
    return held[key]


def _search(task: ExactTask) -> ExactBounds:
    started = time.perf_counter()
    graph = resident_graph(task.job.snapshot, task.job.row, task.device)
    read_s = time.perf_counter() - started
    if task.device == "gpu":
        found = _implied_on_gpu(graph, task.sources)
    else:
        found = _held(graph, task.is_connected, task.run).search(task.sources, task.alone)
    return _narrowed(found, read_s)


def _implied_on_gpu(graph: CSRGraph, sources: np.ndarray) -> Implied:
    """Bounds are made on the GPU. With many components there may be more sources than lanes."""
    from kernels.exact_search import implied_on_gpu

    n_parts = max(1, -(-len(sources) // MOST_LANES["gpu"]))
    parts = [implied_on_gpu(graph, part) for part in np.array_split(sources, n_parts)]
    if n_parts == 1:
        return parts[0]
    lower, upper = np.zeros(graph.n_nodes, np.int32), np.full(graph.n_nodes, NO_BOUND, np.int32)
    for part in parts:
        none = np.iinfo(part.upper.dtype).max
        known = np.where(part.upper == none, NO_BOUND, part.upper.astype(np.int32))
        np.maximum(lower, part.lower, out=lower)
        np.minimum(upper, known, out=upper)
    eccentricity = np.concatenate([part.eccentricity for part in parts])
    return Implied(sources, eccentricity, lower, upper)


def _narrowed(found: Implied, read_s: float) -> ExactBounds:
    lower, upper = to_host(found.lower), to_host(found.upper)
    if upper.dtype == np.int32 and upper.size:
        is_none = upper == NO_BOUND
        longest = int(np.where(is_none, 0, upper).max())
        # One less than the type's maximum, which means that there is no bound.
        kind = np.uint8 if longest < 255 else np.uint16 if longest < 65535 else np.int32
        if kind != np.int32:
            lower, upper = lower.astype(kind), upper.astype(kind)
            upper[is_none] = np.iinfo(kind).max
    eccentricity = to_host(found.eccentricity).astype(np.int32)
    return ExactBounds(to_host(found.sources), eccentricity, lower, upper, read_s)


def _open(task: ExactTask) -> OpenedGraph:
    """Components, degrees, pendant trees, and one first search per component: of its hub."""
    started = time.perf_counter()
    graph = resident_graph(task.job.snapshot, task.job.row, "cpu")
    read_s = time.perf_counter() - started
    degree = np.diff(graph.indptr).astype(np.int32)
    names, component, bounds = np.zeros(1, NODE), None, None
    may_search = task.max_searches is None or task.max_searches > 0
    if graph.n_nodes and may_search:
        # One search shows whether the graph is connected.
        held = _held(graph, True, task.run)
        found = held.search(np.array([np.argmax(degree)], NODE), alone=True)
        if held.searches.n_reached == graph.n_nodes:
            bounds = _narrowed(found, 0.0)
    if bounds is None:
        _LOCAL.__dict__.get("held", {}).pop(id(graph), None)
        names, component = numbered_components(graph)
        hubs = _hubs(component, len(names), degree)
        if len(hubs) and may_search:
            bounds = _narrowed(_held(graph, False, task.run).search(hubs, alone=True), 0.0)
        if len(names) == 1:
            component = None
    is_tip, tip, tip_lower = None, np.empty(0, NODE), np.empty(0, np.int32)
    if "diameter" in task.job.metrics and (degree == 1).any():
        relevant, lower = find_tips(graph.indptr, graph.indices, degree)
        is_tip, tip = np.packbits(relevant), np.flatnonzero(lower).astype(NODE)
        tip_lower = lower[tip]
    return OpenedGraph(
        names=names,
        component=component,
        # Exact, never capped: the degree shows whether a node is linked to all others.
        degree=degree.astype(np.uint16) if degree.max(initial=0) < 1 << 16 else degree,
        is_tip=is_tip,
        tip=tip,
        tip_lower=tip_lower,
        bounds=bounds,
        read_s=read_s,
    )


def _hubs(component: np.ndarray, n_components: int, degree: np.ndarray) -> np.ndarray:
    """A node of highest degree of each component that needs a search."""
    highest = np.zeros(n_components, np.int32)
    np.maximum.at(highest, component, degree)
    nodes = np.flatnonzero(degree == highest[component])
    own, first = np.unique(component[nodes], return_index=True)
    size = np.bincount(component, minlength=n_components)[own]
    return nodes[first[size > _KNOWN]].astype(NODE)


def _find_path(task: ExactTask) -> ExactPath:
    """A shortest path of ``length`` hops from the source, by levels that are certified."""
    started = time.perf_counter()
    graph = resident_graph(task.job.snapshot, task.job.row, "cpu")
    read_s = time.perf_counter() - started
    source = int(task.sources[0])
    level = bfs_queue(graph, source).level
    check_levels(graph.indptr, graph.indices, source, level)
    ends = np.flatnonzero(level == task.length)
    if not len(ends):
        raise CheckError(
            f"no node is {task.length} hops from node {source}, although a bound proves that one is"
        )
    path = [int(ends[0])]
    while path[-1] != source:
        neighbours = graph.indices[graph.indptr[path[-1]] : graph.indptr[path[-1] + 1]]
        path.append(int(neighbours[level[neighbours] == level[path[-1]] - 1][0]))
    return ExactPath(np.array(path[::-1], NODE), read_s)
