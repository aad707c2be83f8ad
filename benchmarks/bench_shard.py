"""One sweep for a whole Internet: the first ingresses of every AS, all ASes in one shard.

Command: python benchmarks/bench_shard.py [--ases N] [--routers N] [--ingresses K]
[--device cpu|gpu]

The Internet is made by ``pipeline.generate``; lane l of the sweep is the l-th ingress of every AS,
up to ``--ingresses`` of each. Where there is a GPU it is searched there. The times are those of the
call with its results on the host; on a GPU ``kernels_ms`` is that of its kernels alone, by events
on the device. Before anything is recorded, searches of ASes of all sizes are compared with single
ones.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import record
from benchmarks.lib.timing import time_calls, waiter
from kernels import Shard, ShardResult, bfs, msbfs_shard
from kernels.breadth_first.check import check_levels
from kernels.csr import Device
from pipeline.generate.internet import generate_internet
from pipeline.model.graphs import GraphSet
from pipeline.schedule.cluster.gpus import visible_gpus

N_ASES, N_ROUTERS, N_INGRESSES = 47_000, 50_000_000, 100
N_CHECKED = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ases", type=int, default=N_ASES)
    parser.add_argument("--routers", type=int, default=N_ROUTERS)
    parser.add_argument(
        "--ingresses", type=int, default=N_INGRESSES, help="maximum number of ingresses per AS"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "gpu"), help="default: gpu if there is one")
    parser.add_argument("--subject", help="name of the results file")
    parser.add_argument("--folder", type=Path, help="folder of the results file")
    given = parser.parse_args()
    device: Device = given.device or ("gpu" if visible_gpus() else "cpu")
    graphs = generate_internet(given.ases, given.routers, m=2, seed=given.seed)
    shard = shard_of(graphs)
    sources, source_ptr = first_ingresses(graphs, given.ingresses)
    here = shard.to(device)
    found = msbfs_shard(here, sources, source_ptr)
    check(shard, sources, source_ptr, found)
    row: dict[str, Any] = {
        "n_ases": given.ases,
        "n_nodes": shard.n_nodes,
        "n_arcs": shard.n_arcs,
        "n_searches": len(sources),
        "device": device,
    }
    if device == "gpu":
        row["kernels_ms"] = round(kernels_ms(here, sources, source_ptr), 3)
    each = [(here, sources, source_ptr)]
    row |= time_calls(msbfs_shard, each, wait=waiter(device)).columns()
    record(given.subject or f"shard_{device}", [row], given.folder)


def shard_of(graphs: GraphSet) -> Shard:
    """All ASes side by side on the host."""
    indptr = np.zeros(len(graphs.degree) + 1, np.int64)
    np.cumsum(graphs.degree, out=indptr[1:])
    indices = graphs.indices.copy()
    for i in range(graphs.n_ases):
        indices[graphs.arc_ptr[i] : graphs.arc_ptr[i + 1]] += np.int32(graphs.node_ptr[i])
    return Shard(indptr, indices, np.asarray(graphs.node_ptr), trusted=True)


def first_ingresses(graphs: GraphSet, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Local node ids of up to ``most`` ingresses of each AS, and where those of each begin."""
    n_sources = np.minimum(np.diff(graphs.ingress_ptr), most)
    source_ptr = np.zeros(graphs.n_ases + 1, np.int64)
    np.cumsum(n_sources, out=source_ptr[1:])
    skipped = graphs.ingress_ptr[:-1] - source_ptr[:-1]
    return graphs.ingress_node[
        np.arange(source_ptr[-1]) + np.repeat(skipped, n_sources)
    ], source_ptr


def check(shard: Shard, sources: np.ndarray, source_ptr: np.ndarray, found: ShardResult) -> None:
    """Compare some searches, one of the largest AS too, with single ones that are certified."""
    sizes = np.diff(shard.node_ptr)
    with_sources = np.flatnonzero(np.diff(source_ptr))
    rng = np.random.default_rng(5)
    largest = with_sources[np.argmax(sizes[with_sources])]
    chosen = [*rng.choice(with_sources, min(N_CHECKED, len(with_sources))), largest]
    for i in chosen:
        graph = shard.graph(int(i))
        row = int(rng.integers(source_ptr[i], source_ptr[i + 1]))
        level = bfs(graph, int(sources[row])).level
        check_levels(graph.indptr, graph.indices, int(sources[row]), level)
        counts = found.hop_counts[found.hop_ptr[row] : found.hop_ptr[row + 1]]
        if not np.array_equal(np.bincount(level[level >= 0]), counts):
            raise AssertionError(f"AS row {i}: hop counts of source {sources[row]} differ")


def kernels_ms(shard: Shard, sources: np.ndarray, source_ptr: np.ndarray) -> float:
    """Milliseconds that the kernels of one call take on the device; the least of five."""
    import cupy

    from kernels.multi_source.gpu import search as gpu

    spans: list[tuple[Any, Any]] = []
    load = gpu.load_kernel

    class Timed:
        def __init__(self, kernel: Any):
            self.inner = kernel
            self.kernel = kernel.kernel  # what the grid is computed from

        def __call__(self, *arguments: Any) -> None:
            span = cupy.cuda.Event(), cupy.cuda.Event()
            span[0].record()
            self.inner(*arguments)
            span[1].record()
            spans.append(span)

    gpu.load_kernel = lambda *given, **more: Timed(load(*given, **more))
    totals = []
    try:
        for _ in range(5):
            spans.clear()
            msbfs_shard(shard, sources, source_ptr)
            cupy.cuda.Device().synchronize()
            totals.append(sum(cupy.cuda.get_elapsed_time(*span) for span in spans))
    finally:
        gpu.load_kernel = load
    return min(totals)


if __name__ == "__main__":
    main()
