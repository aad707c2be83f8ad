"""Our own baselines: the searches that the fast ones are compared with, on the same arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

import kernels
from kernels import CSRGraph
from kernels.csr import to_host
from kernels.eccentricity import Strategy


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


class PlainBounds:
    """Bounds of all eccentricities, one search a candidate, no reduction: Takes, Kosters 2011."""

    threads = 1

    def __init__(self, graph: CSRGraph):
        self.graph = graph
        self.n_searches = 0
        reductions = [field.name for field in fields(Strategy) if field.default is True]
        self.strategy = Strategy(**dict.fromkeys(reductions, False))

    @staticmethod
    def check() -> None:
        pass

    def diameter(self) -> int:
        found = kernels.diameter(self.graph, strategy=self.strategy)
        self.n_searches = found.n_searches
        return found.diameter

    def radius(self) -> int:
        return kernels.radius(self.graph, strategy=self.strategy).radius

    def eccentricities(self) -> int:
        return int(kernels.eccentricities(self.graph, strategy=self.strategy).max())
