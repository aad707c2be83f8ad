"""Our own baselines: the searches that the fast ones are compared with, on the same arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

import kernels
from benchmarks.baselines import bfs_thread_per_node, bfs_two_kernel
from kernels import BFSResult, CSRGraph
from kernels.breadth_first import bfs_queue
from kernels.csr import to_host
from kernels.eccentricity import Strategy


class _Baseline:
    search: Callable[[CSRGraph, int], BFSResult]
    threads = 0

    def __init__(self, graph: CSRGraph):
        self.graph = graph

    @staticmethod
    def check() -> None:
        pass

    def bfs(self, source: int) -> BFSResult:
        return self.search(self.graph, source)

    def levels_of(self, answer: Any, source: int) -> np.ndarray:
        return to_host(answer.level)


class PlainQueue(_Baseline):
    """The textbook queue on one core."""

    search, threads = staticmethod(bfs_queue), 1


class ThreadPerNode(_Baseline):
    """One GPU thread per node, every node looked at on every level."""

    search = staticmethod(bfs_thread_per_node)


class TwoKernels(_Baseline):
    """Two kernels and a read-back per level (Harish, Narayanan 2007)."""

    search = staticmethod(bfs_two_kernel)


class PlainBounds:
    """Bounds of all eccentricities, one search per candidate, no reduction: Takes, Kosters 2011."""

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
