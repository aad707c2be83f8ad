"""Widths of a shard, as kernels find them, to columns with one row per AS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernels.exact_search import ShardWidths, largest_of_each
from pipeline.metrics import WidthMetric
from pipeline.model.columns.ragged import offsets
from pipeline.model.search.results import Widths


def widths_of_shard(
    found: ShardWidths,
    node_ptr: np.ndarray,
    rows: np.ndarray,
    metrics: Sequence[WidthMetric],
    is_weighted: bool = False,
    read_s: float = 0.0,
) -> Widths:
    """Give each graph of a shard the results of its components, in its own node ids.

    Parameters
    ----------
    found : ShardWidths
    node_ptr : (n_graphs + 1,) int64
        Nodes of graph i are node_ptr[i] .. node_ptr[i + 1] - 1, on the host.
    rows : (n_graphs,) int64
        AS row of each graph.
    metrics : sequence of str
        What was requested; bounds of the rest are reported as far as they are known.
    """
    return _Columns(found, node_ptr, tuple(metrics), is_weighted).widths(rows, read_s)


class _Columns:
    """The columns, one kind at a time."""

    def __init__(
        self,
        found: ShardWidths,
        node_ptr: np.ndarray,
        metrics: tuple[WidthMetric, ...],
        is_weighted: bool,
    ):
        self._found, self._node_ptr, self._metrics = found, node_ptr, metrics
        self._is_weighted = is_weighted
        self._n_graphs = len(node_ptr) - 1
        self._kind = np.dtype(np.float64 if is_weighted else np.int64)
        self._graph_of = np.searchsorted(node_ptr, found.names, side="right") - 1
        self._graphs, self._chosen = largest_of_each(found.names, found.size, node_ptr)
        inexact = np.bincount(self._graph_of[~found.exact], minlength=self._n_graphs)
        self._exact = inexact == 0

    def widths(self, rows: np.ndarray, read_s: float) -> Widths:
        """All of them."""
        found, graphs = self._found, self._graphs
        component = np.full(self._n_graphs, -1, np.int64)
        component[graphs] = found.names[self._chosen] - self._node_ptr[graphs]
        n_searches = np.zeros(self._n_graphs, np.int64)
        np.add.at(n_searches, self._graph_of, found.n_searches)
        eccentricity_ptr, eccentricity = self._eccentricities()
        count_ptr, counts = self._counts()
        path_ptr, path = self._path()
        center_ptr, center = self._members(found.is_center)
        periphery_ptr, periphery = self._members(found.is_periphery)
        return Widths(
            row=np.asarray(rows, np.int64),
            metrics=self._metrics,
            is_weighted=self._is_weighted,
            n_searches=n_searches,
            component=component,
            diameter_lower=self._of_largest(found.diameter_lower),
            diameter_upper=self._of_largest(found.diameter_upper),
            radius_lower=self._of_largest(found.radius_lower),
            radius_upper=self._of_largest(found.radius_upper),
            exact=self._exact,
            path_ptr=path_ptr,
            path=path,
            center_ptr=center_ptr,
            center=center,
            periphery_ptr=periphery_ptr,
            periphery=periphery,
            count_ptr=count_ptr,
            counts=counts,
            eccentricity_ptr=eccentricity_ptr,
            eccentricity=eccentricity,
            read_s=read_s,
            **self._components(),
        )

    def _of_largest(self, values: np.ndarray) -> np.ndarray:
        """Values of the largest component of each graph; -1 without nodes, and for no bound.

        Kernels give inf as an upper bound by weight if nothing was searched.
        """
        column = np.full(self._n_graphs, -1, self._kind)
        known = values[self._chosen]
        column[self._graphs] = np.where(np.isfinite(known), known, -1)
        return column

    def _path(self) -> tuple[np.ndarray, np.ndarray]:
        if self._found.path is None or self._found.path_ptr is None:
            return np.zeros(self._n_graphs + 1, np.int64), np.empty(0, np.int32)
        ptr = self._found.path_ptr
        first = np.repeat(self._node_ptr[:-1], np.diff(ptr))
        return ptr, (self._found.path - first).astype(np.int32)

    def _members(self, is_member: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Those of the largest component of each graph, where they are known exactly."""
        if is_member is None:
            return np.zeros(self._n_graphs + 1, np.int64), np.empty(0, np.int32)
        nodes = np.flatnonzero(is_member & self._in_largest())
        graph = self._graph_of_node(nodes)
        return self._ptr(graph), (nodes - self._node_ptr[graph]).astype(np.int32)

    def _in_largest(self) -> np.ndarray:
        """Whether a node is in the largest component of its graph, and that one is exact."""
        wanted = np.zeros(len(self._found.names), bool)
        wanted[self._chosen] = self._found.exact[self._chosen]
        return wanted[self._found.component]

    def _graph_of_node(self, nodes: np.ndarray) -> np.ndarray:
        return self._graph_of[self._found.component[nodes]]

    def _ptr(self, graph: np.ndarray) -> np.ndarray:
        count = np.bincount(graph, minlength=self._n_graphs)
        return offsets(count)

    def _eccentricities(self) -> tuple[np.ndarray, np.ndarray]:
        eccentricity = self._found.eccentricity
        if eccentricity is None:
            kind = np.float64 if self._is_weighted else np.uint8
            return np.zeros(self._n_graphs + 1, np.int64), np.empty(0, kind)
        size = np.where(self._exact, np.diff(self._node_ptr), 0)
        ptr = offsets(size)
        if self._exact.all():
            return ptr, eccentricity
        return ptr, eccentricity[np.repeat(self._exact, np.diff(self._node_ptr))]

    def _counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes by eccentricity: hops only, distances by weight are hardly ever equal."""
        eccentricity = self._found.eccentricity
        if eccentricity is None or self._is_weighted:
            return np.zeros(self._n_graphs + 1, np.int64), np.empty(0, np.int64)
        n_levels = np.zeros(self._n_graphs, np.int64)
        known = self._found.exact[self._chosen]
        longest = self._found.diameter_lower[self._chosen[known]]
        n_levels[self._graphs[known]] = longest.astype(np.int64) + 1
        ptr = offsets(n_levels)
        nodes = np.flatnonzero(self._in_largest())
        at = ptr[self._graph_of_node(nodes)] + eccentricity[nodes]
        return ptr, np.bincount(at, minlength=int(ptr[-1])).astype(np.int64)

    def _components(self) -> dict[str, np.ndarray]:
        """Every component of two nodes or more."""
        found = self._found
        at = np.flatnonzero(found.size > 1)
        graph = self._graph_of[at]

        def value(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
            return np.where(lower[at] == upper[at], lower[at], -1).astype(self._kind)

        return {
            "component_ptr": self._ptr(graph),
            "component_id": (found.names[at] - self._node_ptr[graph]).astype(np.int32),
            "component_size": found.size[at].astype(np.int32),
            "component_diameter": value(found.diameter_lower, found.diameter_upper),
            "component_radius": value(found.radius_lower, found.radius_upper),
        }
