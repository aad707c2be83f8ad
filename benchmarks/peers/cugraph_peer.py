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
        import cupy
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
            weight_array=cupy.ones(graph.n_arcs, cupy.float32),
            store_transposed=False,
            renumber=False,
            do_expensive_check=False,
            input_array_format="CSR",
        )

    @staticmethod
    def check() -> None:
        import pylibcugraph  # noqa: F401

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
