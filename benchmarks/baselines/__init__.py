"""Our own implementations of the searches that the fast ones are compared with.

One more, the plain queue, is ``kernels.breadth_first.bfs_queue``, on which certificates rely.
"""

from __future__ import annotations

import numpy as np

from kernels import BFSResult, CSRGraph, DeviceError, SSSPResult
from kernels.breadth_first import node_of
from kernels.shortest_paths import checked_mean, weighted_arrays
from kernels.shortest_paths import dijkstra as fill_distances

__all__ = ["bfs_thread_per_node", "bfs_two_kernel", "dijkstra"]


def bfs_thread_per_node(graph: CSRGraph, source: int) -> BFSResult:
    """One GPU thread per node, every node looked at on every level: the parallel baseline [1]_.

    Results as ``bfs``. O(n_nodes * levels + n_arcs) work.

    Raises
    ------
    GraphError
        If ``source`` is not a node.
    DeviceError
        If the graph does not lie on a GPU.

    References
    ----------
    .. [1] P. Harish, P. J. Narayanan, "Accelerating large graph algorithms on the GPU using
       CUDA", HiPC 2007.
    """
    return _gpu_baseline(graph, source, "bfs_thread_per_node")


def bfs_two_kernel(graph: CSRGraph, source: int) -> BFSResult:
    """Two kernels per level, as in the first published GPU searches [1]_: a baseline.

    One kernel relaxes the arcs of the masked nodes, one makes the next mask; between levels the
    host reads a flag. Results as ``bfs``. O(n_nodes * levels + n_arcs) work.

    Raises
    ------
    GraphError
        If ``source`` is not a node.
    DeviceError
        If the graph does not lie on a GPU.

    References
    ----------
    .. [1] P. Harish, P. J. Narayanan, "Accelerating large graph algorithms on the GPU using
       CUDA", HiPC 2007.
    """
    return _gpu_baseline(graph, source, "bfs_two_kernel")


def _gpu_baseline(graph: CSRGraph, source: int, name: str) -> BFSResult:
    source = node_of(graph, source, "source")
    if graph.device != "gpu":
        raise DeviceError(f"{name} runs on a GPU; give it graph.to('gpu')")
    from benchmarks.baselines import gpu

    level, eccentricity, n_reached = getattr(gpu, name)(graph.indptr, graph.indices, source)
    return BFSResult(source, level, eccentricity, n_reached, graph=graph)


def dijkstra(graph: CSRGraph, source: int) -> SSSPResult:
    """Dijkstra's algorithm [1]_ with an indexed heap on one core: the sequential baseline.

    Results as ``sssp``. O((n_nodes + n_arcs) log n_nodes), 24 bytes per node.

    Raises
    ------
    GraphError
        As ``sssp``.
    DeviceError
        If the graph is on a GPU.

    References
    ----------
    .. [1] E. W. Dijkstra, "A note on two problems in connexion with graphs", Numerische
       Mathematik 1, 1959.
    """
    source = node_of(graph, source, "source")
    if graph.device != "cpu":
        raise DeviceError("dijkstra runs on a core; give it graph.to('cpu')")
    from kernels.shortest_paths import cpu

    checked_mean(graph)
    distance = np.empty(graph.n_nodes, np.float64)
    fill_distances(weighted_arrays(graph), np.array([source], np.int32), distance)
    return SSSPResult(source, distance, *cpu.summarise(distance), graph=graph)
