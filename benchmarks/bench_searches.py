"""Times of single and many-source searches on preferential-attachment graphs; a line a row.

``python -m benchmarks.bench_searches [N_NODES ...]``: the host always, a GPU where there is one.
Every timed search is verified first. The graph is built before; times are medians, on a graph
that lies on the device already, results included.
"""

from __future__ import annotations

import functools
import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from numba import njit

from kernels import (
    CSRGraph,
    Shard,
    bfs,
    bfs_queue,
    bfs_thread_per_node,
    compile_cpu,
    components,
    msbfs,
    msbfs_shard,
)
from kernels.breadth_first.check import check_levels
from kernels.multi_source.check import check_msbfs
from kernels.types import NODE, OFFSET

N_SOURCES = 100


@njit
def attachment_ends(n_nodes: int, n_links: int, picks: np.ndarray) -> np.ndarray:
    """Ends of ``n_links`` edges from each new node to ends of random earlier edges.

    V. Batagelj, U. Brandes, "Efficient generation of large random networks", Phys. Rev. E 71, 2005.
    """
    ends = np.empty(2 * n_nodes * n_links, np.int64)
    for edge in range(n_nodes * n_links):
        ends[2 * edge] = edge // n_links
        ends[2 * edge + 1] = ends[int(picks[edge] * (2 * edge + 1))]
    return ends


def csr_of(n_nodes: int, tails: np.ndarray, heads: np.ndarray) -> CSRGraph:
    keep = tails != heads
    tails, heads = tails[keep], heads[keep]
    keys = np.unique(np.concatenate([tails * n_nodes + heads, heads * n_nodes + tails]))
    indptr = np.zeros(n_nodes + 1, OFFSET)
    np.cumsum(np.bincount(keys // n_nodes, minlength=n_nodes), out=indptr[1:])
    return CSRGraph(indptr, (keys % n_nodes).astype(NODE), trusted=True)


def preferential_attachment(n_nodes: int, seed: int = 1) -> CSRGraph:
    """Two edges a node, node ids shuffled, as addresses shuffle routers."""
    rng = np.random.default_rng(seed)
    ends = rng.permutation(n_nodes)[attachment_ends(n_nodes, 2, rng.random(2 * n_nodes))]
    return csr_of(n_nodes, ends[::2], ends[1::2])


def grid(side: int) -> CSRGraph:
    node = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    heads = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    return csr_of(side * side, tails, heads)


def median_ms(call: Callable[[], object], budget_s: float = 2.0, most: int = 21) -> float:
    """Median time of some calls, at least 3, until the budget is spent; one more to warm up."""
    call()
    times: list[float] = []
    while len(times) < 3 or (sum(times) < budget_s and len(times) < most):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return 1e3 * statistics.median(times)


def synced(call: Callable[[], object]) -> Callable[[], object]:
    def wait() -> None:
        import cupy

        call()
        cupy.cuda.Device().synchronize()

    return wait


def report(graph_name: str, device: str, what: str, call: Callable[..., object], *args) -> None:
    bound = functools.partial(call, *args)
    ms = median_ms(bound if device == "cpu" else synced(bound))
    row = {"graph": graph_name, "device": device, "what": what, "median_ms": round(ms, 3)}
    print(json.dumps(row), flush=True)


def bench_graph(name: str, graph: CSRGraph, devices: list[str]) -> None:
    sources = np.random.default_rng(0).integers(0, graph.n_nodes, N_SOURCES)
    source = int(sources[0])
    for device in devices:
        here = graph.to(device)
        baseline = bfs_queue if device == "cpu" else bfs_thread_per_node
        for search in (bfs, baseline):
            level = search(here, source).level
            check_levels(graph.indptr, graph.indices, source, level)
            report(name, device, search.__name__, search, here, source)
        check_msbfs(graph, sources[:5], msbfs(here, sources[:5], levels=True))
        for n in (1, 2, 4, 8, 64, N_SOURCES):
            report(name, device, f"msbfs {n}", msbfs, here, sources[:n])
        if graph.n_nodes * N_SOURCES < 2e9:
            report(name, device, "msbfs 100 levels", msbfs, here, sources, True)
        report(name, device, "components", components, here)
    if len(devices) == 2:
        ours, theirs = msbfs(graph, sources), msbfs(graph.to("gpu"), sources)
        for column in ("hop_counts", "eccentricity", "n_reached", "farthest"):
            if not np.array_equal(getattr(ours, column), getattr(theirs, column)):
                raise AssertionError(f"{name}: {column} differ between devices")


def bench_shard(devices: list[str], n_graphs: int = 10_000) -> None:
    rng = np.random.default_rng(7)
    sizes = np.minimum((20 * rng.pareto(1.2, n_graphs) + 2).astype(int), 20_000)
    shard = Shard.from_graphs([preferential_attachment(int(n), seed=int(n)) for n in sizes])
    n_sources = np.minimum(rng.integers(1, 8, n_graphs) * (1 + sizes // 500), 100)
    source_ptr = np.concatenate([[0], np.cumsum(n_sources)])
    sources = (rng.random(source_ptr[-1]) * np.repeat(sizes, n_sources)).astype(int)
    name = f"shard {n_graphs} graphs {shard.n_nodes} nodes {len(sources)} sources"
    for device in devices:
        here = shard.to(device)
        report(name, device, "msbfs_shard", msbfs_shard, here, sources, source_ptr)


def main() -> None:
    sizes = [int(text) for text in sys.argv[1:]] or [10_000, 1_000_000]
    devices = ["cpu"]
    try:
        import cupy

        devices += ["gpu"] if cupy.cuda.is_available() else []
    except ImportError:
        pass
    print(json.dumps({"compile_cpu_s": round(compile_cpu(), 2), "devices": devices}))
    for n_nodes in sizes:
        graph = preferential_attachment(n_nodes)
        bench_graph(f"attachment {n_nodes}", graph, devices)
    bench_graph("grid 300 x 300", grid(300), devices)
    bench_shard(devices)


if __name__ == "__main__":
    main()
