"""Delta-stepping on cores, our own program after the GAP benchmark suite, compiled by ``c++``.

Whole numbers as weights; the width of a bucket is the best of WIDTHS.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lib.timing import time_calls
from kernels import CSRGraph

SOURCE = Path(__file__).with_suffix(".cpp")
OPTIONS = ("-O3", "-march=native", "-std=c++17", "-fopenmp", "-shared", "-fPIC")
WIDTHS = (32, 64, 128, 256, 512, 1024, 2048)


@functools.cache
def _library() -> Any:
    """The compiled program; ImportError where none can be made."""
    compiler = shutil.which("c++")
    if compiler is None:
        raise ImportError("no c++ compiler")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "delta_stepping.so")
        command = [compiler, *OPTIONS, str(SOURCE), "-o", str(path)]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            raise ImportError(f"{SOURCE.name} does not compile: {made.stderr[:200]}")
        return ctypes.CDLL(str(path))  # stays open without its file


def whole_weights(graph: CSRGraph) -> np.ndarray:
    """(n_arcs,) int32; ImportError if a weight is not a whole number."""
    assert graph.weights is not None
    whole = graph.weights.astype(np.int32)
    if not np.array_equal(whole, graph.weights):
        raise ImportError("weights are not whole numbers")
    return whole


def fastest_width(program: Any, widths: Sequence[int]) -> int:
    """The width of a bucket with which a search from node 0 takes least time, of two each."""
    took_s = {}
    for program.width in widths:
        timing = time_calls(program.sssp, [(0,)], budget_s=0, at_least=2, at_most=2)
        took_s[program.width] = min(timing.times_s)
    return min(took_s, key=took_s.__getitem__)


class DeltaStepping:
    """A graph whose weights are whole numbers; ``width`` of a bucket, chosen by trial."""

    def __init__(self, graph: CSRGraph, threads: int):
        self._call = _library().delta_stepping
        self.threads, self.n_nodes = threads, graph.n_nodes
        self._graph = graph.indptr, graph.indices, whole_weights(graph)
        self._queue = np.empty(graph.n_arcs + 1, np.int32)
        self.width = fastest_width(self, WIDTHS)

    def sssp(self, source: int) -> np.ndarray:
        """(n_nodes,) distances, the greatest int32 where no path leads."""
        distance = np.empty(self.n_nodes, np.int32)
        arrays = [ctypes.c_void_p(array.ctypes.data) for array in self._graph]
        self._call(
            ctypes.c_int64(self.n_nodes),
            *arrays,
            *(ctypes.c_int32(number) for number in (source, self.width, self.threads)),
            *(ctypes.c_void_p(array.ctypes.data) for array in (distance, self._queue)),
        )
        return distance
