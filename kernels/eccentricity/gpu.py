"""Questions about eccentricities answered on one GPU; searches, bounds and choices all lie there.

The theory is that of ``bounds``: upper and lower bounds by the triangle inequality, and winnowing.
Sweeps of up to 256 lanes are so cheap here that landmarks and hanging trees do not pay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import cupy as cp
import numpy as np

from kernels._cuda.launch import on_device_of
from kernels._cuda.memory import check_fits, fits
from kernels.breadth_first.gpu import bfs
from kernels.connected import components
from kernels.csr import CSRGraph, Shard
from kernels.eccentricity.bounds import QUESTIONS, Question
from kernels.eccentricity.gpu_bounds import BYTES_A_NODE, FAR, DeviceBounds, reordered, tighten
from kernels.eccentricity.results import ShardWidths
from kernels.eccentricity.searching import Implied
from kernels.multi_source.on_device import DeviceSweeps, sweep_bytes
from kernels.types import NODE

FEW = 4  # candidates that are searched one after another without more ado
N_FIRST = 4  # searches before anything else is tried
SWEEP_SEARCHES = 6  # searches that a sweep costs: 3 on a million nodes, 6 on 7 million, 6 on grids
PATIENCE = 2  # searches after which they must have saved as much as they cost
MOST_WORDS = 4  # of a sweep, of one component; of many, ...
MOST_WORDS_EACH = 2
INT_MOST = np.iinfo(np.int32).max
BATCH = 8  # sweeps for which sources are chosen at once while very many nodes are open


class Saving:
    """Whether single searches still save, in sweeps that are left, what they cost."""

    def __init__(self) -> None:
        self._left: list[int] = []
        self._is_spent = False

    def is_spent(self, n_sweeps: int) -> bool:
        """Asked before each step; once they do not, sweeps do the rest."""
        self._left.append(n_sweeps)
        if n_sweeps == 1:
            self._is_spent = True
        elif len(self._left) > PATIENCE:
            saved = SWEEP_SEARCHES * (self._left[-1 - PATIENCE] - n_sweeps)
            self._is_spent = self._is_spent or saved < PATIENCE
        return self._is_spent


class Answering:
    """Questions about the components of a shard, one after the other on the same bounds.

    Parameters
    ----------
    shard : Shard
        On the current GPU.
    max_searches : int or None
        Sources to search, over all components.

    Attributes
    ----------
    names, size : (n_components,) int32
        Smallest node of each component, ascending, in the shard's node ids; nodes. On the host.
    order : (n_nodes,) int32 or None
        The shard's node that is node i of ``bounds``; None: itself. On the device.
    bounds : DeviceBounds
    exact : (n_components,) bool
        Whether all questions so far are answered. On the device.
    sources : list of (n,) int32
        What was searched, nodes of ``bounds``. On the device.
    centre : (n_components,) int32
        Around which no candidate for a diameter lies; -1: none. On the device.
    """

    def __init__(self, shard: Shard, max_searches: int | None = None):
        self.max_searches, self.n_searches = max_searches, 0
        n_nodes, n_arcs = shard.n_nodes, shard.n_arcs
        what = f"the widths of {shard.n_graphs} graphs of {n_nodes} nodes and {n_arcs} arcs"
        check_fits(BYTES_A_NODE * n_nodes + sweep_bytes(n_nodes, n_arcs, 1, levels=True), what)
        self.order: Any = None
        first = None
        if shard.n_graphs == 1 and max_searches != 0:
            hub = int(cp.argmax(cp.diff(shard.indptr)))
            first = hub, *bfs(shard.indptr, shard.indices, hub, -1)
            if first[3] == n_nodes:
                self._set_parts(shard, np.zeros(1, NODE), np.array([n_nodes], NODE))
            else:
                first = None
        if first is None:
            self._cut_into_components(shard)
        self.bounds = DeviceBounds(self.parts)
        self.exact = cp.ones(self.bounds.n_components, np.bool_)
        self.sources: list[Any] = []
        self.centre = cp.full(self.bounds.n_components, -1, NODE)
        self._ball: Any = None
        self._open: Any = None
        self._sweeps = DeviceSweeps(self.parts, self._node_ptr)
        self._is_upper_next = False
        if first is not None:
            hub, level, eccentricity, _ = first
            self._use_search(cp.array([hub], NODE), level, cp.array([eccentricity], np.int32))

    def _set_parts(self, shard: Shard, names: np.ndarray, size: np.ndarray) -> None:
        self.names, self.size = names, size
        self._node_ptr = np.zeros(len(size) + 1, np.int64)
        np.cumsum(size, out=self._node_ptr[1:])
        self.parts = Shard(shard.indptr, shard.indices, cp.asarray(self._node_ptr), trusted=True)

    def _cut_into_components(self, shard: Shard) -> None:
        """Give every component its run of nodes."""
        found = components(shard)
        if found.n_components > 1 and not bool((cp.diff(found.component) >= 0).all()):
            # Unique keys: nodes stay ascending within their component.
            keys = found.component.astype(np.int64) << 32
            self.order = cp.argsort(keys | cp.arange(shard.n_nodes)).astype(NODE)
            shard = reordered(shard, self.order)
        self._set_parts(shard, found.ids, found.sizes.astype(NODE))

    def answer(self, question: Question) -> None:
        """Search until nothing is open, or the searches are used up."""
        self._open = None
        saved = Saving()
        while True:
            ball = self._ball if question == "diameter" else None
            found = self.bounds.open_nodes(question, self._open, ball)
            self._open, candidates, count, n_candidates, n_most = found
            if not n_candidates or self._n_left() == 0:
                break
            sweeps = math.ceil(n_most / self._most_lanes())
            if n_most > FEW and len(self.sources) >= N_FIRST and saved.is_spent(sweeps):
                self._sweep(question, candidates, count, n_most)
            else:
                by_upper = self._is_upper_next or n_most <= FEW
                self._is_upper_next = not by_upper
                self._search(question, by_upper, candidates, count)
        self.exact &= count == 0
        self.bounds.check()

    def _most_lanes(self) -> int:
        return 64 * (MOST_WORDS if self.bounds.n_components == 1 else MOST_WORDS_EACH)

    def _n_left(self) -> float:
        return math.inf if self.max_searches is None else self.max_searches - self.n_searches

    def _within_limit(self, sources: Any) -> Any:
        return sources[: int(min(self._n_left(), sources.size))]

    def _search(self, question: Question, by_upper: bool, candidates: Any, count: Any) -> None:
        """Search one node of each open component."""
        bounds = self.bounds
        nodes = candidates
        if not by_upper and question in ("diameter", "periphery"):
            nodes = None  # central nodes bound many others, though none of them matters
        sources = bounds.best(by_upper, nodes, count)
        if not sources.size:  # nothing central is left
            sources = bounds.best(True, candidates, count)
        sources = self._within_limit(sources)
        if bounds.n_components == 1:
            part = self.parts
            level, eccentricity, _ = bfs(part.indptr, part.indices, int(sources[0]), -1)
            self._use_search(sources, level, cp.array([eccentricity], np.int32))
        else:
            self._use_search(sources, *self._levels(sources))

    def _levels(self, sources: Any) -> tuple[Any, Any]:
        """Levels and the eccentricity of each component, -1 where none was searched."""
        bounds = self.bounds
        swept = self._sweeps.sweep(sources, bounds.slots_of(sources), 1, levels=True)
        eccentricity = cp.full(bounds.n_components, -1, np.int32)
        eccentricity[bounds.of(sources)] = swept.eccentricity
        return bounds.lane_levels(swept), eccentricity

    def _use_search(self, sources: Any, level: Any, eccentricity: Any) -> None:
        bounds = self.bounds
        self.sources.append(sources)
        self.n_searches += sources.size
        bounds.after_search(sources, level, eccentricity)
        if self._ball is None:
            self._ball = cp.full(bounds.n_nodes, FAR, np.int32)
        nodes = cp.arange(bounds.n_nodes, dtype=NODE) if self._open is None else self._open
        is_better = bounds.move_balls(self._ball, nodes, level, eccentricity)
        own = bounds.of(sources)
        self.centre[own] = cp.where(is_better[own], sources, self.centre[own])

    def _sweep(self, question: Question, candidates: Any, count: Any, n_most: int) -> None:
        """Search many nodes of each open component at once."""
        most_lanes = self._most_lanes()
        is_alone = self.bounds.n_components == 1
        if question == "diameter":
            sources = self.bounds.first_of_each(True, candidates, most_lanes)
            self._sweep_each(sources, levels=False)
            return
        n_sweeps = BATCH if is_alone and n_most > 2 * BATCH * most_lanes else 1
        n_each = n_sweeps * most_lanes
        if n_most <= n_each:
            sources = self.bounds.first_of_each(True, candidates, n_each)
        else:
            halves = [
                self.bounds.first_of_each(by_upper, candidates, n_each // 2)
                for by_upper in (True, False)
            ]
            sources = cp.unique(cp.concatenate(halves))
        for i in range(n_sweeps):  # interleaved: each sweep has some of either kind
            part = sources[i::n_sweeps]
            if i:
                part = part[self.bounds.lower[part] < self.bounds.upper[part]]
            if part.size:
                self._sweep_each(part, levels=True)

    def _sweep_each(self, sources: Any, levels: bool) -> None:
        bounds = self.bounds
        sources = self._within_limit(sources)
        while sources.size:
            slot_ptr = bounds.slots_of(sources)
            n_most = int(cp.diff(slot_ptr).max())
            n_words = self._words_for(n_most, levels)
            part = sources
            if n_most > 64 * n_words:
                rank = cp.arange(sources.size) - slot_ptr[bounds.of(sources)]
                is_first = rank < 64 * n_words
                part, sources = sources[is_first], sources[~is_first]
                slot_ptr = bounds.slots_of(part)
            else:
                sources = sources[:0]
            swept = self._sweeps.sweep(part, slot_ptr, n_words, levels)
            self.sources.append(part)
            self.n_searches += part.size
            bounds.after_sweep(part, swept)

    def _words_for(self, n_lanes: int, levels: bool) -> int:
        """Words of the widest sweep that is of use and has memory."""
        most = MOST_WORDS if self.bounds.n_components == 1 else MOST_WORDS_EACH
        n_words = 1 if n_lanes <= 64 else 2 if n_lanes <= 128 else most
        n_nodes, n_arcs = self.parts.n_nodes, self.parts.n_arcs
        while n_words > 1 and not fits(sweep_bytes(n_nodes, n_arcs, n_words, levels)):
            n_words //= 2
        return n_words

    def longest_paths(self, wanted: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """A path in some components as long as their largest lower bound.

        Parameters
        ----------
        wanted : (n_components,) bool, on the device

        Returns
        -------
        (n_wanted,) int32 on the device, (n_wanted + 1,) int64, int32
            Components, ascending; offsets; nodes in the shard's ids.
        """
        bounds = self.bounds
        ends = self.first_where(bounds.lower == self.of_each(bounds.most), wanted)
        if bounds.n_components == 1:
            level = bfs(self.parts.indptr, self.parts.indices, int(ends[0]), -1)[0]
        else:
            level = self._levels(ends)[0]
        tails = self.first_where(level == self.of_each(bounds.most), wanted)
        path_ptr, path = bounds.paths(level, tails)
        return bounds.of(tails), path_ptr, self.named(path)

    def of_each(self, values: Any) -> Any:
        """A component's value at each of its nodes."""
        return values if self.bounds.component is None else values[self.bounds.component]

    def first_where(self, is_one: Any, wanted: Any) -> Any:
        """The first node of each wanted component where something holds."""
        nodes = cp.flatnonzero(is_one & self.of_each(wanted)).astype(NODE)
        if self.bounds.component is None:
            return nodes[:1]
        own = self.bounds.of(nodes)
        is_first = cp.ones(nodes.size, np.bool_)
        is_first[1:] = own[1:] != own[:-1]
        return nodes[is_first]

    def named(self, nodes: np.ndarray) -> np.ndarray:
        """Nodes of ``bounds``, on the host, in the shard's ids."""
        return nodes if self.order is None else self.order.get()[nodes]

    def in_given_order(self, values: Any) -> np.ndarray:
        """Values of the nodes of ``bounds`` in the order of the shard's nodes, on the host."""
        if self.order is None:
            return values.get()
        given = cp.empty_like(values)
        given[self.order] = values
        return given.get()


def widths_on_gpu(
    shard: Shard, questions: Sequence[Question], max_searches: int | None = None
) -> ShardWidths:
    """Answer questions about every component of a shard on the GPU that it lies on.

    Parameters
    ----------
    shard : Shard
    questions : sequence of str
        Of ``bounds.QUESTIONS``.
    max_searches : int or None
        Over all components; None: until all is exact.

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
    26 bytes a node, 45 to 180 a node for a sweep with its levels, and the same again as the graph
    where components do not lie together yet.
    """
    asked = tuple(question for question in QUESTIONS if question in questions)
    if shard.n_nodes == 0:
        return _of_nothing(shard, asked)
    with on_device_of(shard.indptr):
        answering = Answering(shard, max_searches)
        # Where all eccentricities are wanted, everything else follows from them.
        for question in asked if "eccentricities" not in asked else ("eccentricities",):
            answering.answer(question)
        return _told(shard, answering, asked)


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
    )


def _told(shard: Shard, answering: Answering, asked: tuple[Question, ...]) -> ShardWidths:
    """What is known once the questions are answered, on the host."""
    bounds = answering.bounds
    lowest, highest = bounds.loosest()
    most, least = bounds.most.get(), bounds.least.get()
    exact = answering.exact.get()
    all_known = "eccentricities" in asked
    path_ptr = path = None
    if "diameter" in asked:
        path_ptr, path = _paths_of_graphs(shard, answering)
    is_center = bounds.lower <= answering.of_each(bounds.least)
    is_periphery = bounds.upper >= answering.of_each(bounds.most)
    knows_most = exact & (all_known or bool({"diameter", "periphery"} & set(asked)))
    knows_least = exact & (all_known or bool({"radius", "center"} & set(asked)))
    return ShardWidths(
        questions=asked,
        exact=exact,
        component=_numbers(answering),
        names=answering.names,
        size=answering.size,
        n_searches=bounds.n_searched.get().astype(np.int64),
        diameter_lower=most,
        diameter_upper=np.where(knows_most, most, highest.get()),
        radius_lower=np.where(knows_least, least, np.minimum(lowest.get(), least)),
        radius_upper=least,
        eccentricity=_narrow(answering) if all_known else None,
        is_center=answering.in_given_order(is_center) if "center" in asked else None,
        is_periphery=answering.in_given_order(is_periphery) if "periphery" in asked else None,
        path_ptr=path_ptr,
        path=path,
    )


def _numbers(answering: Answering) -> np.ndarray:
    component = answering.bounds.component
    if component is None:
        return np.zeros(answering.bounds.n_nodes, np.int32)
    return answering.in_given_order(component)


def _narrow(answering: Answering) -> np.ndarray:
    """Eccentricities in the narrowest type that holds them."""
    highest = int(answering.bounds.most.max())
    kind = np.uint8 if highest < 256 else np.uint16 if highest < 65536 else np.int32
    return answering.in_given_order(answering.bounds.lower.astype(kind))


def _paths_of_graphs(shard: Shard, answering: Answering) -> tuple[np.ndarray, np.ndarray]:
    """For each graph a longest known path of its largest component."""
    node_ptr = shard.node_ptr.get()
    graph = np.searchsorted(node_ptr, answering.names, side="right") - 1
    order = np.lexsort((answering.names, -answering.size.astype(np.int64), graph))
    is_first = np.append(True, np.diff(graph[order]) > 0)
    wanted = np.zeros(len(answering.names), bool)
    wanted[order[is_first]] = True
    own, ptr, nodes = answering.longest_paths(cp.asarray(wanted))
    length = np.zeros(shard.n_graphs, np.int64)
    length[graph[own.get()]] = np.diff(ptr)
    path_ptr = np.zeros(shard.n_graphs + 1, np.int64)
    np.cumsum(length, out=path_ptr[1:])
    return path_ptr, nodes


def implied_on_gpu(graph: CSRGraph, sources: np.ndarray) -> Implied:
    """What searches from some nodes of one graph imply for all of its nodes.

    Parameters
    ----------
    graph : CSRGraph
        On a GPU; any number of components.
    sources : (n_sources,) integers
        Distinct nodes, at most 256 of each component.

    Returns
    -------
    Implied
        On the host; ``lower`` is 0 and ``upper`` the dtype's maximum where nothing is implied.
    """
    nodes = np.asarray(sources, NODE)
    with on_device_of(graph.indptr):
        n_nodes, node_ptr = graph.n_nodes, np.array([0, graph.n_nodes], np.int64)
        shard = Shard(graph.indptr, graph.indices, cp.asarray(node_ptr), trusted=True)
        n_words = 1 if len(nodes) <= 64 else 2 if len(nodes) <= 128 else MOST_WORDS
        slot_ptr = cp.array([0, len(nodes)], np.int32)
        swept = DeviceSweeps(shard, node_ptr).sweep(cp.asarray(nodes), slot_ptr, n_words, True)
        lower, upper = cp.zeros(n_nodes, np.int32), cp.full(n_nodes, INT_MOST, np.int32)
        tighten(swept, n_nodes, 1, None, lower, upper)
        eccentricity = swept.eccentricity
        lower[nodes] = upper[nodes] = eccentricity
        # Upper bounds are below twice the largest eccentricity, and the type's largest is none.
        kind = np.uint8 if swept.depth < 127 else np.uint16 if swept.depth < 32767 else np.int32
        upper = cp.minimum(upper, np.iinfo(kind).max).astype(kind)
        return Implied(nodes, eccentricity.get(), lower.astype(kind).get(), upper.get())
