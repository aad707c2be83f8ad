"""Other programs' minimum spanning forests, depth-first searches and searches by weight.

Each holds a weighted graph in its own form, made before the clock runs, and is called as its users
would call it. ``total_of`` reads the weight of a forest, ``order_of`` the nodes of a search in the
order of discovery; neither is timed. What a program cannot do, or only by a call of Python per
node, it does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.peers import links_of
from kernels import CSRGraph

MOST_TUPLES = 4_000_000  # edges that a program may be given as Python tuples
FAR = 2048.0  # above all weights


class SciPy:
    name, device = "SciPy", "cpu"

    def __init__(self, graph: CSRGraph):
        from scipy.sparse import csr_array

        # The form that SciPy computes on: given any other, it would copy the graph in each call.
        parts = graph.weights.astype(np.float64), graph.indices, graph.indptr.astype(np.int32)
        self.matrix = csr_array(parts, shape=(graph.n_nodes, graph.n_nodes))

    def mst(self) -> Any:
        from scipy.sparse.csgraph import minimum_spanning_tree

        return minimum_spanning_tree(self.matrix)

    @staticmethod
    def total_of(answer: Any) -> float:
        return float(answer.sum())

    def dfs(self, source: int) -> Any:
        from scipy.sparse.csgraph import depth_first_order

        return depth_first_order(self.matrix, source, directed=True)

    @staticmethod
    def order_of(answer: Any) -> np.ndarray:
        return answer[0]

    def sssp(self, source: int) -> Any:
        from scipy.sparse.csgraph import dijkstra

        return dijkstra(self.matrix, indices=source)


class Igraph:
    name, device, is_two_ended = "igraph", "cpu", False

    def __init__(self, graph: CSRGraph):
        import igraph

        links = links_of(graph)
        self.graph = igraph.Graph(n=graph.n_nodes, edges=np.column_stack(links))
        self.weights = weights_of(graph).tolist()
        self.graph.es["weight"] = self.weights

    def mst(self) -> Any:
        return self.graph.spanning_tree(weights="weight", return_tree=False)

    def total_of(self, answer: Any) -> float:
        return float(sum(self.weights[edge] for edge in answer))

    def path(self, source: int, target: int) -> Any:
        return self.graph.get_shortest_path(source, target)

    def path_by_weight(self, source: int, target: int) -> Any:
        return self.graph.get_shortest_path(source, target, weights="weight")


class NetworKit:
    name, device, is_two_ended = "NetworKit", "cpu", True

    def __init__(self, graph: CSRGraph):
        import networkit

        ends = tuple(end.astype(np.uint64) for end in links_of(graph))
        # It has maximum spanning forests only.
        coo = (FAR - weights_of(graph), ends)
        self.reversed = networkit.GraphFromCoo(coo, n=graph.n_nodes, weighted=True)
        coo = (weights_of(graph), ends)
        self.graph = networkit.GraphFromCoo(coo, n=graph.n_nodes, weighted=True)
        self.plain = networkit.GraphFromCoo(ends, n=graph.n_nodes)

    def mst(self) -> Any:
        from networkit.graph import RandomMaximumSpanningForest

        search = RandomMaximumSpanningForest(self.reversed)
        search.run()
        return search.getMSF(True)

    @staticmethod
    def total_of(answer: Any) -> float:
        return FAR * answer.numberOfEdges() - answer.totalEdgeWeight()

    def path(self, source: int, target: int) -> Any:
        from networkit.distance import BidirectionalBFS

        search = BidirectionalBFS(self.plain, source, target)
        search.run()
        return search.getPath()

    def path_by_weight(self, source: int, target: int) -> Any:
        from networkit.distance import BidirectionalDijkstra

        search = BidirectionalDijkstra(self.graph, source, target)
        search.run()
        return search.getPath()


class Rustworkx:
    name, device = "rustworkx", "cpu"

    def __init__(self, graph: CSRGraph):
        import rustworkx

        if graph.n_edges > MOST_TUPLES:
            raise ImportError(f"edges are Python tuples: left out above {MOST_TUPLES:,}")
        near, far = links_of(graph)
        self.graph = rustworkx.PyGraph(multigraph=False)
        self.graph.add_nodes_from(range(graph.n_nodes))
        links = zip(near.tolist(), far.tolist(), weights_of(graph).tolist(), strict=True)
        self.graph.add_edges_from(list(links))

    def mst(self) -> Any:
        import rustworkx

        return rustworkx.minimum_spanning_edges(self.graph, weight_fn=float)

    @staticmethod
    def total_of(answer: Any) -> float:
        return float(sum(edge[2] for edge in answer))


class CuGraph:
    name, device = "cuGraph", "gpu"

    def __init__(self, graph: CSRGraph):
        import pylibcugraph

        self.handle = pylibcugraph.ResourceHandle()
        self.graph = pylibcugraph.SGGraph(
            resource_handle=self.handle,
            graph_properties=pylibcugraph.GraphProperties(is_symmetric=True, is_multigraph=False),
            src_or_offset_array=graph.indptr.astype(np.int32),
            dst_or_index_array=graph.indices,
            weight_array=graph.weights,
            store_transposed=False,
            renumber=False,
            do_expensive_check=False,
            input_array_format="CSR",
        )

    def mst(self) -> Any:
        import pylibcugraph

        return pylibcugraph.minimum_spanning_tree(self.handle, self.graph, False)

    @staticmethod
    def total_of(answer: Any) -> float:
        """Of each edge once, as some versions give both directions."""
        near, far, weights = (array.get() for array in answer[:3])
        once = near < far if (near < far).any() and (near > far).any() else slice(None)
        return float(weights[once].sum(dtype=np.float64))

    def bfs(self, source: int) -> Any:
        import cupy
        import pylibcugraph

        sources = cupy.array([source], np.int32)
        return pylibcugraph.bfs(self.handle, self.graph, sources, True, -1, False, False)

    def sssp(self, source: int) -> Any:
        import pylibcugraph

        return pylibcugraph.sssp(self.handle, self.graph, source, np.inf, False, False)


PROGRAMS = (SciPy, Igraph, NetworKit, Rustworkx, CuGraph)


def weights_of(graph: CSRGraph) -> np.ndarray:
    """Of each link, in the order of ``links_of``, as float64."""
    assert graph.weights is not None
    tails = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    return graph.weights[tails < graph.indices].astype(np.float64)


def able_to(task: str, graph: CSRGraph, names: list[str]) -> Iterator[tuple[str, Any, str]]:
    """Yield (name, program with the graph or None, why it is not there) of those that can."""
    for kind in PROGRAMS:
        if kind.device != graph.device or kind.name not in names or not hasattr(kind, task):
            continue
        make: Callable[[CSRGraph], Any] = kind
        try:
            yield kind.name, make(graph), ""
        except ImportError as error:
            yield kind.name, None, str(error)
