"""NetworKit: a search on one core; many sources (SPSP) and components on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers import links_of
from kernels import CSRGraph


class NetworKit:
    threads = 1
    bytes_a_source = 16  # a node: float64, held by the algorithm and again by the array

    def __init__(self, graph: CSRGraph):
        import networkit

        ends = tuple(end.astype(np.uint64) for end in links_of(graph))
        self.graph = networkit.GraphFromCoo(ends, n=graph.n_nodes)
        self.many_threads = networkit.getMaxNumberOfThreads()

    @staticmethod
    def check() -> None:
        import networkit  # noqa: F401

    def bfs(self, source: int) -> Any:
        from networkit.distance import BFS

        search = BFS(self.graph, source, storePaths=False)
        search.run()
        return search.getDistances(asarray=True)

    def levels_of(self, answer: Any, source: int) -> np.ndarray:
        level = np.asarray(answer)
        return np.where(level < np.iinfo(np.int32).max, level, -1).astype(np.int32)

    def bfs_many(self, sources: Sequence[int]) -> Any:
        from networkit.distance import SPSP

        searches = SPSP(self.graph, [int(source) for source in sources])
        searches.run()
        return searches.getDistances(asarray=True)

    def levels_of_many(self, answer: Any, sources: Sequence[int]) -> np.ndarray:
        return self.levels_of(answer, -1)

    def components(self) -> Any:
        from networkit.components import ConnectedComponents

        found = ConnectedComponents(self.graph)
        found.run()
        return found.getPartition()

    def components_of(self, answer: Any) -> np.ndarray:
        return np.array(answer.getVector())

    def diameter(self) -> int:
        from networkit.distance import Diameter, DiameterAlgo

        search = Diameter(self.graph, algo=DiameterAlgo.EXACT)
        search.run()
        return int(search.getDiameter()[0])
