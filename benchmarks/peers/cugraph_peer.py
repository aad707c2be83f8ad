"""cuGraph, by its array interface pylibcugraph: direction-optimising, without predecessors.

Its search takes several sources as one frontier, not as searches of their own: many sources are
one search after another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels import CSRGraph


class CuGraph:
    threads = 0

    def __init__(self, graph: CSRGraph):
        import pylibcugraph

        # Offsets as wide as node ids, which it asks for.
        narrow = graph.n_arcs <= np.iinfo(np.int32).max
        dtype = np.int32 if narrow else np.int64
        self.dtype = dtype
        self.handle = pylibcugraph.ResourceHandle()
        self.graph = pylibcugraph.SGGraph(
            resource_handle=self.handle,
            graph_properties=pylibcugraph.GraphProperties(is_symmetric=True, is_multigraph=False),
            src_or_offset_array=graph.indptr.astype(dtype),
            dst_or_index_array=graph.indices.astype(dtype, copy=False),
            weight_array=_weights_of(graph),
            store_transposed=False,
            renumber=False,
            do_expensive_check=False,
            input_array_format="CSR",
        )

    @staticmethod
    def check() -> None:
        import pylibcugraph  # noqa: F401

    def sssp(self, source: int) -> Any:
        """Distances by weight, and predecessors: it does not search without."""
        import pylibcugraph

        # Handle, graph, source, cutoff, predecessors, expensive check.
        return pylibcugraph.sssp(self.handle, self.graph, source, np.inf, True, False)

    def distances_of(self, answer: Any) -> np.ndarray:
        """(n_nodes,) float64 on the host, inf unreached; not timed."""
        nodes, distances, _ = answer
        found, node = distances.get().astype(np.float64), nodes.get()
        distance = np.full(len(found), np.inf)
        distance[node] = np.where(found < np.finfo(np.float32).max, found, np.inf)
        return distance

    def components(self) -> Any:
        import pylibcugraph

        # The resource handle, a graph or None, then arrays where there is no graph.
        return pylibcugraph.weakly_connected_components(
            self.handle, self.graph, None, None, None, None, False
        )

    def components_of(self, answer: Any) -> np.ndarray:
        nodes, labels = (part.get() for part in answer)
        found = np.empty(len(labels), labels.dtype)
        found[nodes] = labels
        return found

    def bfs(self, source: int) -> Any:
        import cupy
        import pylibcugraph

        sources = cupy.array([source], self.dtype)
        # Handle, graph, sources, direction-optimising, depth limit, predecessors, expensive check.
        return pylibcugraph.bfs(self.handle, self.graph, sources, True, -1, False, False)

    def levels_of(self, answer: Any, source: int) -> np.ndarray:
        distances, _, nodes = answer
        found, node = distances.get(), nodes.get()
        level = np.full(len(found), -1, np.int32)
        level[node] = np.where(found < np.iinfo(found.dtype).max, found, -1)
        return level


def _weights_of(graph: CSRGraph) -> Any:
    import cupy

    return cupy.ones(graph.n_arcs, cupy.float32) if graph.weights is None else graph.weights
