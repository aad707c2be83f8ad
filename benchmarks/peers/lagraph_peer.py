"""LAGraph's delta-stepping on all cores, in the version that the package ``lagraph`` of PyPI has.

The package holds shared libraries without a Python interface: they are called by ctypes.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.delta_stepping import WIDTHS, fastest_width, whole_weights
from kernels import CSRGraph


@functools.cache
def _libraries() -> tuple[Any, Any]:
    """LAGraph and GraphBLAS, ready; ImportError where they are not installed."""
    import lagraph

    folder = Path(lagraph.get_library_dir())
    found = {path.name.split(".")[0]: path for path in folder.glob("*.so*")}
    graphblas = ctypes.CDLL(str(found["libgraphblas"]), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(found["liblagraph"]))
    _succeed(library.LAGraph_init())
    return library, graphblas


def _succeed(status: int) -> None:
    if status:
        raise RuntimeError(f"LAGraph reports status {status}")


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class LAGraph:
    """A graph whose weights are whole numbers; ``width`` of a bucket, chosen by trial."""

    def __init__(self, graph: CSRGraph):
        self._library, self._graphblas = _libraries()
        self.n_nodes = graph.n_nodes
        tails = np.repeat(np.arange(graph.n_nodes, dtype=np.uint64), np.diff(graph.indptr))
        heads, weights = graph.indices.astype(np.uint64), whole_weights(graph)
        self._matrix, size = ctypes.c_void_p(), ctypes.c_uint64(graph.n_nodes)
        kind, plus = self._named("GrB_INT32"), self._named("GrB_PLUS_INT32")
        _succeed(self._graphblas.GrB_Matrix_new(ctypes.byref(self._matrix), kind, size, size))
        arrays = _pointer(tails), _pointer(heads), _pointer(weights)
        n_arcs = ctypes.c_uint64(graph.n_arcs)
        _succeed(self._graphblas.GrB_Matrix_build_INT32(self._matrix, *arrays, n_arcs, plus))
        self.width = fastest_width(self, WIDTHS[::2])

    def _named(self, name: str) -> ctypes.c_void_p:
        return ctypes.c_void_p.in_dll(self._graphblas, name)

    def sssp(self, source: int) -> ctypes.c_void_p:
        """A vector of GraphBLAS, which ``distances_of`` reads and frees."""
        found = ctypes.c_void_p()
        given = ctypes.c_uint64(source), ctypes.c_int32(self.width)
        # The fastest of its versions; number 12 prints its vectors in this package.
        _succeed(self._library.LAGraph_sssp1(ctypes.byref(found), self._matrix, *given))
        return found

    def distances_of(self, found: ctypes.c_void_p) -> np.ndarray:
        """(n_nodes,) distances, the greatest int32 where no path leads."""
        nodes = np.empty(self.n_nodes, np.uint64)
        distances = np.empty(self.n_nodes, np.int32)
        n = ctypes.c_uint64(self.n_nodes)
        arrays = _pointer(nodes), _pointer(distances), ctypes.byref(n)
        _succeed(self._graphblas.GrB_Vector_extractTuples_INT32(*arrays, found))
        self.free(found)
        whole = np.full(self.n_nodes, np.iinfo(np.int32).max, np.int32)
        whole[nodes[: n.value].astype(np.int64)] = distances[: n.value]
        return whole

    def free(self, found: ctypes.c_void_p) -> None:
        self._graphblas.GrB_Vector_free(ctypes.byref(found))
