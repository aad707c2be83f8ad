"""Limits of a search: the bytes it moves, and the rate at which this machine copies bytes.

Two counts bracket the truth, both from shapes alone, whatever the code does:

* ``least``: each pass over the graph reads ``indptr`` and ``indices`` once, and what is requested
  is written once. In a sweep that is one bit per node and source, written and read back, and one
  byte each where levels are requested. A pass serves up to LANES sources.
* ``most``: nothing is saved and nothing is found in a cache. Each time a node is newly reached by
  some source of a pass, all its arcs are read, a sector of memory for the head of each, and three
  words (seen, frontier, next frontier). That happens at most once per level, and at most once per
  source. A single search looks at each arc once in all.

Real code skips arcs (a search from below stops at the first neighbour found) and finds hubs in
caches, so it lies below ``most`` and may even fall below ``least`` in a single search.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.lib.timing import time_calls, waiter
from kernels import CSRGraph

LANES = {"cpu": 128, "gpu": 256}  # sources of one pass
SECTOR = {"cpu": 64, "gpu": 32}  # bytes that memory hands out at once
COPY_BYTES = {"cpu": 1 << 28, "gpu": 1 << 30}


def copy_gb_per_s(device: str, n_bytes: int | None = None) -> float:
    """Rate of a large copy within a device's memory, bytes read plus bytes written, GB/s.

    The fastest of several: it stands for what the memory can do. On the host every core that this
    process may use copies its part.
    """
    size = n_bytes or COPY_BYTES[device]
    copy = _host_copy(size) if device == "cpu" else _device_copy(size)
    copy()
    return 2 * size / 1e9 / min(time_calls(copy, wait=waiter(device), budget_s=0.5).times_s)


def _host_copy(n_bytes: int) -> Callable[[], object]:
    n_threads = len(os.sched_getaffinity(0))
    old = np.ones(n_bytes, np.uint8)
    new = np.zeros_like(old)
    parts = list(zip(np.array_split(new, n_threads), np.array_split(old, n_threads), strict=True))
    pool = ThreadPoolExecutor(n_threads)
    return lambda: list(pool.map(lambda part: np.copyto(*part), parts))


def _device_copy(n_bytes: int) -> Callable[[], object]:
    import cupy

    old = cupy.ones(n_bytes, cupy.uint8)
    new = cupy.zeros_like(old)
    return lambda: cupy.copyto(new, old)


def bfs_bytes(graph: CSRGraph, parents: bool = False) -> dict[str, int]:
    """Bytes of one search; with parents, arcs are looked at once more."""
    csr, n, m = _csr_bytes(graph.n_nodes, graph.n_arcs), graph.n_nodes, graph.n_arcs
    passes = 2 if parents else 1
    return {
        "least_bytes": csr + 4 * n * passes,
        "most_bytes": passes * (csr + m * SECTOR[graph.device] + 4 * n) + 8 * n,
    }


def sweep_bytes(
    graph: CSRGraph, n_sources: int, n_levels: int, level_bytes: int = 0
) -> dict[str, int]:
    """Bytes of searches from many sources; level_bytes: of one level written."""
    return shard_bytes(
        graph.device,
        np.array([graph.n_nodes]),
        np.array([graph.n_arcs]),
        np.array([n_sources]),
        n_levels,
        level_bytes,
    )


def shard_bytes(
    device: str,
    n_nodes: np.ndarray,
    n_arcs: np.ndarray,
    n_sources: np.ndarray,
    n_levels: int,
    level_bytes: int = 0,
) -> dict[str, int]:
    """The same of graphs side by side, (n_graphs,) each; a graph without sources moves nothing."""
    passes = -(-n_sources // LANES[device])
    csr = _csr_bytes(n_nodes, n_arcs)
    levels = n_nodes * n_sources * level_bytes
    lanes = np.minimum(n_sources, LANES[device])
    each_time = csr + n_arcs * SECTOR[device] + 3 * n_nodes * lanes / 8
    return {
        "least_bytes": int((passes * csr + 2 * n_nodes * n_sources / 8 + levels).sum()),
        "most_bytes": int((passes * np.minimum(n_levels, lanes) * each_time + levels).sum()),
    }


def _csr_bytes(n_nodes, n_arcs):
    return 8 * (n_nodes + 1) + 4 * n_arcs
