"""Searches until a question about weighted eccentricities is answered.

A search, and the bounds that follow from it, take a pass over all nodes of the graph that is
searched. So once the components that are still open hold fewer than half of them, these are cut out
and answered as a graph of their own. A cut takes about as long as the next search of what it cut,
which no longer pays for the components that are answered.
"""

from __future__ import annotations

import numpy as np

from kernels.csr import CSRGraph, to_host
from kernels.eccentricity.bounds.components import Cutter, Subgraph
from kernels.eccentricity.weighted.bounds import WeightedBounds
from kernels.eccentricity.weighted.steps import copy_weights
from kernels.shortest_paths import checked_mean, search
from kernels.shortest_paths.footprint import gpu_bytes
from kernels.types import WEIGHT

SMALL_NODES = 1 << 11  # cutting a part out of a smaller graph takes as long as some ten passes


def answer(
    graph: CSRGraph,
    bounds: WeightedBounds,
    mean: float,
    most: int | None = None,
    most_each: int | None = None,
) -> None:
    """Search until the question of the bounds is answered or the searches are used up.

    Parameters
    ----------
    graph : CSRGraph
        With weights; searches run on its device.
    bounds : WeightedBounds
    mean : float
        Mean weight.
    most, most_each : int or None
        Limits: of sources in all components together, and in each.
    """
    rest = _Rest(graph, bounds, mean)
    while not rest.bounds.done:
        rest.shrink(most_each)
        sources = rest.bounds.take()
        if most is not None:
            sources = sources[: most - rest.bounds.n_searches]
        if most_each is not None:
            searched = rest.bounds.searched[rest.bounds.component[sources]]
            sources = sources[searched < most_each]
        if not len(sources):
            break
        rest.bounds.update(sources, _distances(rest.graph, sources, rest.mean))
    if rest.bounds is not bounds:
        rest.take_back()
        bounds.ask(bounds.question)


class _Rest:
    """The components to search: at first all, later those still open, cut out of the graph.

    Attributes
    ----------
    graph : CSRGraph
        Where to search, on the device of the whole.
    bounds : WeightedBounds
        Of that graph.
    mean : float
        Its mean weight.
    """

    def __init__(self, graph: CSRGraph, bounds: WeightedBounds, mean: float):
        self._whole, self._whole_bounds = graph, bounds
        self.graph, self.bounds, self.mean = graph, bounds, mean
        self._part: Subgraph | None = None
        self._host = graph
        self._cutter: Cutter | None = None

    def shrink(self, most_each: int | None) -> None:
        """Go on with those components only that may still be searched, if they are few."""
        if len(self.bounds.size) == 1 or len(self.bounds.component) <= SMALL_NODES:
            return
        is_left = ~self.bounds.answered
        if most_each is not None:
            is_left &= self.bounds.searched < most_each
        n_left = int(self.bounds.size[is_left].sum())
        if 0 < 2 * n_left < len(self.bounds.component) and self._fits(is_left, n_left):
            numbers = np.flatnonzero(is_left)
            self._cut(numbers if self._part is None else self._part.numbers[numbers])

    def take_back(self) -> None:
        """Bring what searches of the part found to the bounds of the whole."""
        if self._part is not None:
            self._whole_bounds.take_back(self.bounds, self._part.nodes, self._part.numbers)

    def _fits(self, is_left: np.ndarray, n_left: int) -> bool:
        """Whether a GPU never needs more memory than for a search of the whole."""
        if self._whole.device == "cpu":
            return True
        degree = self.bounds.degree[is_left[self.bounds.component]]
        n_arcs = int(degree.sum(dtype=np.int64))
        copy = 8 * (n_left + 1) + 8 * n_arcs
        most = gpu_bytes(self._whole.n_nodes, self._whole.n_arcs)
        return copy + gpu_bytes(n_left, n_arcs) <= most

    def _cut(self, numbers: np.ndarray) -> None:
        """Go on with the components of these numbers in the whole."""
        self.take_back()
        if self._cutter is None:
            whole = self._whole_bounds
            self._host = self._whole.to("cpu")
            self._cutter = Cutter(self._host, whole.component, whole.size)
        self.graph = self._whole  # gives back the memory of the part before
        part = self._part = self._cutter.cut(numbers)
        shape = part.graph
        weights = np.empty(shape.n_arcs, WEIGHT)
        copy_weights(self._host.indptr, self._host.weights, part.nodes, shape.indptr, weights)
        graph = CSRGraph(shape.indptr, shape.indices, weights, trusted=True)
        self.mean = checked_mean(graph)
        self.graph = _beside(self._whole, graph)
        self.bounds = self._whole_bounds.part(part.nodes, part.component, numbers)


def _beside(whole: CSRGraph, part: CSRGraph) -> CSRGraph:
    """The part on the device of the whole, which need not be the current GPU."""
    if whole.device == "cpu":
        return part
    from kernels._cuda.launch import on_device_of

    with on_device_of(whole.indptr):
        return part.to("gpu")


def _distances(graph: CSRGraph, sources: np.ndarray, mean: float) -> np.ndarray:
    """Distances from the source of each component, on the host."""
    arrays = (graph.indptr, graph.indices, graph.weights)
    if graph.device == "cpu":
        return search(arrays, sources, mean)
    from kernels.shortest_paths import gpu

    return to_host(gpu.sssp(*arrays, sources)[0])
