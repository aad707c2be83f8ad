"""igraph from Python: distances are lists, and making these is part of each call; one core."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import links_of
from kernels import CSRGraph


class Igraph:
    threads = 1

    def __init__(self, graph: CSRGraph):
        import igraph

        self.graph = igraph.Graph(n=graph.n_nodes, edges=np.column_stack(links_of(graph)))

    @staticmethod
    def check() -> None:
        import igraph  # noqa: F401

    def bfs(self, source: int) -> Any:
        return self.graph.distances(source=source)

    def levels_of(self, answer: Any, source: int) -> np.ndarray:
        level = np.array(answer[0])
        return np.where(np.isfinite(level), level, -1).astype(np.int32)

    def components(self) -> Any:
        return self.graph.connected_components()

    def components_of(self, answer: Any) -> np.ndarray:
        return np.array(answer.membership)

    def diameter(self) -> int:
        return int(self.graph.diameter(directed=False))

    def radius(self) -> int:
        return int(self.graph.radius())

    def eccentricities(self) -> int:
        return int(max(self.graph.eccentricity()))
