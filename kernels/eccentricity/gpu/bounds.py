"""Bounds of every eccentricity on a GPU: the arrays, and the kernels that work on them."""

from __future__ import annotations

from typing import Any, Literal

import cupy as cp
import numpy as np

from kernels._cuda.launch import BLOCK, grid_for
from kernels._cuda.loader import load_kernel
from kernels.csr import Shard
from kernels.eccentricity.gpu.constants import RUN, SEARCHED
from kernels.eccentricity.questions import QUESTIONS, Question
from kernels.errors import GraphError
from kernels.multi_source.gpu.sweeps import Swept
from kernels.types import NODE

FAR = np.int32(1 << 30)  # level of nodes around which there is no ball yet
BYTES_A_NODE = 37  # arrays of DeviceBounds, balls, two lists of nodes, levels, an order


class DeviceBounds:
    """Bounds of the nodes of a shard whose graphs are its components.

    Parameters
    ----------
    shard : Shard
        On the current GPU; each of its graphs is connected and has a node.

    Attributes
    ----------
    component : (n_nodes,) int32 or None
        Number of each node's component; None where there is only one.
    lower, upper : (n_nodes,) int32
        Hops.
    most, least : (n_components,) int32
        Largest lower and smallest upper bound of each component.
    state : (n_nodes,) uint8
        1 for nodes from which a search gave bounds to all, 2 where only to themselves, else 0.
    n_searched : (n_components,) int32
        Nodes searched, of each component.
    """

    def __init__(self, shard: Shard):
        self.shard = shard
        self.n_nodes, self.n_components = shard.n_nodes, shard.n_graphs
        self.component = None
        if self.n_components > 1:
            begins = cp.zeros(self.n_nodes, NODE)
            begins[shard.node_ptr[1:-1]] = 1
            self.component = cp.cumsum(begins, dtype=NODE)
        self.lower, self.upper = (cp.empty(self.n_nodes, np.int32) for _ in range(2))
        self.state = cp.zeros(self.n_nodes, np.uint8)
        self.n_searched = cp.zeros(self.n_components, np.int32)
        self._crossed = cp.full(1, -1, np.int32)
        ends = (_or_null(self.component), shard.node_ptr, self.lower, self.upper)
        self._each_node("start", shard.indptr, cp.int64(self.n_nodes), *ends)
        self.find_extremes()

    def of(self, nodes: Any) -> Any:
        """Components of some nodes."""
        return cp.zeros(nodes.size, NODE) if self.component is None else self.component[nodes]

    def slots_of(self, sources: Any) -> Any:
        """Where the sources of each component begin, if they are sorted by component."""
        if self.component is None:
            return cp.array([0, sources.size], np.int32)
        components = cp.arange(self.n_components + 1, dtype=NODE)
        return cp.searchsorted(self.of(sources), components).astype(np.int32)

    def find_extremes(self) -> None:
        """Bring ``most`` and ``least`` up to date.

        Raises
        ------
        GraphError
            If bounds cross: then some search was wrong.
        """
        self.most, self.least = self._extremes(self.lower, self.upper, self._crossed)

    def check(self) -> None:
        """Raise GraphError if any bounds have crossed: then some search was wrong."""
        v = int(self._crossed[0])
        if v >= 0:
            raise GraphError(
                f"bounds of a node cross: at least {int(self.lower[v])} and at most "
                f"{int(self.upper[v])} hops; a search was wrong"
            )

    def loosest(self) -> tuple[Any, Any]:
        """Smallest lower and largest upper bound of each component."""
        highest, lowest = self._extremes(self.upper, self.lower, cp.full(1, -1, np.int32))
        return lowest, highest

    def _extremes(self, lower: Any, upper: Any, crossed: Any) -> tuple[Any, Any]:
        most = cp.zeros(self.n_components, np.int32)
        least = cp.full(self.n_components, np.iinfo(np.int32).max, np.int32)
        arrays = (lower, upper, cp.int64(self.n_nodes), most, least, crossed)
        self._in_runs("extremes", self.n_nodes, _or_null(self.component), *arrays)
        return most, least

    def after_search(self, sources: Any, level: Any, eccentricity: Any) -> None:
        """Tighten by a search of at most one source per component.

        Parameters
        ----------
        sources : (n_sources,) int32
        level : (n_nodes,) int32
            -1: unreached.
        eccentricity : (n_components,) int32
            Of the sources; -1 where there is none.
        """
        bounds = (_or_null(self.component), eccentricity, self.lower, self.upper)
        self._each_node("after_search", level, cp.int64(self.n_nodes), *bounds)
        self.n_searched += eccentricity >= 0
        self.state[sources] = SEARCHED
        self.find_extremes()

    def after_sweep(self, sources: Any, swept: Swept) -> None:
        """Tighten by a sweep: all nodes where it kept planes, else the sources alone.

        ``most`` and ``least`` stay what they were until ``find_extremes``.
        """
        if swept.planes is not None:
            tighten(swept, self.n_nodes, self.n_components, self.component, self.lower, self.upper)
        is_alone = cp.int32(swept.planes is None)
        found = (swept.eccentricity, cp.int64(sources.size), is_alone)
        launch("set", sources.size, sources, *found, self.lower, self.upper, self.state)
        self.n_searched += cp.diff(swept.slot_ptr)

    def lane_levels(self, swept: Swept) -> Any:
        """Levels of a sweep of one lane, (n_nodes,) int32."""
        level = cp.empty(self.n_nodes, np.int32)
        planes = (swept.seen, swept.planes, cp.int32(len(swept.planes)))
        self._each_node("lane_levels", *planes, cp.int64(self.n_nodes), level)
        return level

    def open_nodes(
        self, question: Question | Literal["ends"], nodes: Any, ball: Any
    ) -> tuple[Any, Any, Any, int, int]:
        """Which of some nodes still matter to a question.

        Parameters
        ----------
        question : str
            ``ends``: which may be ends of longest paths, and have not been searched.
        nodes : (n,) int32 or None
            None: all.
        ball : (n_nodes,) int32 or None
            Levels from the centres of the components: nodes near them are not pending.

        Returns
        -------
        (n_open,) int32, (n_pending,) int32, (n_components,) int32, int, int
            Nodes, in no order; pending ones of each component, in all, and the most of any.
        """
        n = self.n_nodes if nodes is None else nodes.size
        count = cp.zeros(self.n_components, np.int32)
        kept = cp.empty(n, NODE)
        outside = kept if ball is None else cp.empty(n, NODE)
        n_listed = cp.zeros(3, np.int32)  # kept, pending, most pending of a component
        launch(
            "open",
            n,
            cp.int32((*QUESTIONS, "ends").index(question)),
            _or_null(nodes),
            cp.int64(n),
            _or_null(self.component),
            self.lower,
            self.upper,
            self.most,
            self.least,
            self.state,
            _or_null(ball),
            kept,
            outside,
            n_listed,
            count,
        )
        n_listed[2] = count.max()
        n_open, n_outside, n_most = (int(x) for x in n_listed.get())
        n_pending = n_open if ball is None else n_outside
        return kept[:n_open], outside[:n_pending], count, n_pending, n_most

    def move_balls(self, ball: Any, nodes: Any, level: Any, eccentricity: Any) -> Any:
        """Put each component's ball around its new source where that leaves fewer nodes outside.

        Returns
        -------
        (n_components,) bool
            Whether it did.
        """
        before, after = cp.zeros((2, self.n_components), np.int32)
        component = _or_null(self.component)
        arrays = (cp.int64(nodes.size), component, self.most, ball, level, before, after)
        launch("outside", nodes.size, nodes, *arrays)
        is_better = (eccentricity >= 0) & (after < before)
        moved = (component, is_better.view(np.uint8), level, ball)
        self._each_node("move", cp.int64(self.n_nodes), *moved)
        return is_better

    def best(self, by_upper: bool, nodes: Any, count: Any) -> Any:
        """The node of each component to be searched first, ascending; for components that have one.

        Parameters
        ----------
        nodes : (n,) int32 or None
            Nodes to choose from; None: all.
        count : (n_components,) int32
            0 for components that are answered.
        """
        n = self.n_nodes if nodes is None else nodes.size
        keys = cp.zeros(self.n_components, np.uint64)
        given = (cp.int32(by_upper), _or_null(nodes), cp.int64(n))
        self._in_runs("best", n, *given, *self._key_arrays(), count, keys)
        return _node_of(keys[keys > 0])

    def first_of_each(self, by_upper: bool, nodes: Any, n_each: int) -> Any:
        """Up to ``n_each`` nodes of each component that are to be searched first; sorted."""
        keys = cp.empty(nodes.size, np.uint64)
        given = (cp.int32(by_upper), nodes, cp.int64(nodes.size))
        launch("keys", nodes.size, *given, *self._key_arrays(), keys)
        keys = keys[keys > 0]
        chosen = _node_of(keys)
        if self.component is None:
            if keys.size > n_each:
                chosen = chosen[cp.argsort(keys)[keys.size - n_each :]]
            return cp.sort(chosen)
        own = self.of(chosen)
        order = cp.lexsort(cp.stack([~keys, own.astype(np.uint64)]))
        ranked = own[order]
        rank = cp.arange(order.size) - cp.searchsorted(ranked, ranked)
        return cp.sort(chosen[order[rank < n_each]])

    def _key_arrays(self) -> tuple[Any, ...]:
        arrays = (self.shard.indptr, self.lower, self.upper, self.most, self.state)
        return (_or_null(self.component), *arrays)

    def paths(self, level: Any, ends: Any) -> tuple[np.ndarray, Any]:
        """Shortest paths from the node at level 0 to some nodes: offsets on the host, and nodes."""
        path_ptr = np.zeros(ends.size + 1, np.int64)
        np.cumsum(level[ends].get() + np.int64(1), out=path_ptr[1:])
        path = cp.empty(int(path_ptr[-1]), NODE)
        arrays = (level, ends, cp.int64(ends.size), cp.asarray(path_ptr), path)
        launch("paths", 32 * ends.size, self.shard.indptr, self.shard.indices, *arrays)
        return path_ptr, path

    def _each_node(self, name: str, *args: Any) -> None:
        launch(name, self.n_nodes, *args)

    def _in_runs(self, name: str, n: int, *args: Any) -> None:
        launch(name, -(-n // RUN), *args)


def tighten(
    swept: Swept, n_nodes: int, n_components: int, component: Any, lower: Any, upper: Any
) -> None:
    """Tighten the bounds of all nodes by a sweep that kept its planes.

    Parameters
    ----------
    component : (n_nodes,) int32 or None
        Number of each node's graph, of the ``n_components`` of the sweep; None: there is one.
    lower, upper : (n_nodes,) int32
    """
    n_bits = max(1, swept.depth.bit_length())
    bits = cp.empty((n_components, n_bits, swept.n_words), np.uint64)
    numbers = (cp.int64(n_components), cp.int32(swept.n_words), cp.int32(n_bits))
    n_threads = n_components * swept.n_words
    launch("bits", n_threads, swept.slot_ptr, swept.eccentricity, *numbers, bits)
    planes = (swept.seen, swept.planes, cp.int32(len(swept.planes)), cp.int64(n_nodes))
    bounds = (_or_null(component), bits, cp.int32(n_bits), lower, upper)
    launch(f"after_sweep_{swept.n_words}", n_nodes, *planes, *bounds)


def _or_null(array: Any) -> Any:
    return np.uintp(0) if array is None else array


def launch(name: str, n_threads: int, *args: Any) -> None:
    """Run a kernel of the .cu file with that many threads, or enough to fill the GPU."""
    if n_threads:
        kernel = load_kernel(__file__, f"eccentricity_{name}")
        kernel((grid_for(n_threads),), (BLOCK,), args)


def _node_of(keys: Any) -> Any:
    """Nodes that keys, all above 0, stand for."""
    return (np.uint64(0x7FFFFFFF) - ((keys - np.uint64(1)) & np.uint64(0x7FFFFFFF))).astype(NODE)


def reordered(shard: Shard, order: Any) -> Shard:
    """The shard with node order[i] as its node i, as one graph.

    Parameters
    ----------
    order : (n,) int32, on the device
        All nodes of some components, ascending within each, so that neighbours stay sorted.
    """
    degree = cp.diff(shard.indptr)[order]
    indptr = cp.zeros(order.size + 1, np.int64)
    cp.cumsum(degree, out=indptr[1:])
    place = cp.empty(shard.n_nodes, NODE)
    place[order] = cp.arange(order.size, dtype=NODE)
    indices = cp.empty(int(indptr[-1]), NODE)
    args = (shard.indptr, shard.indices, cp.int64(order.size), order, place, indptr, indices)
    load_kernel(__file__, "eccentricity_reorder")((grid_for(32 * order.size),), (BLOCK,), args)
    return Shard(indptr, indices, cp.asarray(np.array([0, order.size], np.int64)), trusted=True)
