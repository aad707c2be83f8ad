"""SciPy: ``breadth_first_order`` gives an order and predecessors, not levels; one core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from kernels import CSRGraph


class SciPy:
    threads = 1

    def __init__(self, graph: CSRGraph):
        from scipy.sparse import csr_array

        # float64 and int32: what SciPy would otherwise copy the graph to in each call.
        narrow = graph.n_arcs <= np.iinfo(np.int32).max
        indptr = graph.indptr.astype(np.int32) if narrow else graph.indptr
        parts = (np.ones(graph.n_arcs), graph.indices, indptr)
        self.matrix = csr_array(parts, shape=(graph.n_nodes, graph.n_nodes))

    @staticmethod
    def check() -> None:
        import scipy.sparse.csgraph  # noqa: F401

    def bfs(self, source: int) -> Any:
        from scipy.sparse.csgraph import breadth_first_order

        return breadth_first_order(self.matrix, source, directed=True)

    def levels_of(self, answer: Any, source: int) -> np.ndarray:
        return _levels(*answer)

    def components(self) -> Any:
        from scipy.sparse.csgraph import connected_components

        return connected_components(self.matrix, directed=False)

    def components_of(self, answer: Any) -> np.ndarray:
        return answer[1]


@njit
def _levels(order: np.ndarray, predecessor: np.ndarray) -> np.ndarray:
    level = np.full(predecessor.size, -1, np.int32)
    level[order[0]] = 0
    for node in order[1:]:
        level[node] = level[predecessor[node]] + 1
    return level
