"""Our own baselines: the searches that the fast ones are compared with, on the same arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernels
from kernels import CSRGraph
from kernels.csr import to_host


class _Baseline:
    function: str
    threads = 0

    def __init__(self, graph: CSRGraph):
        self.graph = graph

    @classmethod
    def check(cls) -> None:
        if not hasattr(kernels, cls.function):
            raise ImportError(f"kernels has no {cls.function}")

    def bfs(self, source: int) -> Any:
        return getattr(kernels, self.function)(self.graph, source)

    def levels_of(self, answer: Any, source: int) -> np.ndarray:
        return to_host(answer.level)


class PlainQueue(_Baseline):
    """The textbook queue on one core."""

    function, threads = "bfs_queue", 1


class ThreadPerNode(_Baseline):
    """A GPU thread a node, every node looked at on every level."""

    function = "bfs_thread_per_node"


class TwoKernels(_Baseline):
    """Two kernels and a read-back a level (Harish, Narayanan 2007)."""

    function = "bfs_two_kernel"
