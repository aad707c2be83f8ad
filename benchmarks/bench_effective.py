"""Effective diameters: all pairs counted, and estimated from 1,024 sources.

Command: python benchmarks/bench_effective.py [--nodes N,N] [--grid SIDE] [--ases N] [--routers N]
[--peers NODES] [--threads N] [--device cpu|gpu] [--subject RESULT] [--folder FOLDER]

One row per graph: seconds of one call, processor seconds (more reliable if other work
shares the cores), the value, and the estimate's deviation from it with its stated error.
Where igraph is installed its histogram of path lengths, the same sums on one core, is compared and
timed on graphs of at most ``--peers`` nodes. The last row is all ASes of an Internet in one shard.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.bench_shard import shard_of
from benchmarks.lib.graphs import attachment, cut_grid
from benchmarks.lib.record import record
from benchmarks.lib.timing import OtherWork
from kernels import CSRGraph, Shard
from kernels._cpu.threads import n_threads, use_threads
from kernels.distance_distribution import MAX_EXACT, effective_diameters
from kernels.distance_distribution.counts import count_pairs
from kernels.host import compile_cpu
from pipeline.generate.internet import generate_internet

Row = dict[str, Any]


def timed(call: Callable[[], Any]) -> tuple[Row, Any]:
    others, busy, started = OtherWork(), time.process_time(), time.perf_counter()
    found = call()
    row = {"wall_s": round(time.perf_counter() - started, 4)}
    row["cpu_s"] = round(time.process_time() - busy, 4)
    return row | {"other_cores_busy": others.n_cores()}, found


def time_graph(name: str, graph: CSRGraph, device: str, peers: int) -> list[Row]:
    """All pairs, if the graph is not too large; the estimate; the other program."""
    shard = Shard(graph.indptr, graph.indices, np.array([0, graph.n_nodes]), trusted=True)
    here = shard.to("gpu" if device == "gpu" else "cpu")
    common = {"graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs, "device": device}
    rows, exact = [], np.nan
    if graph.n_nodes <= MAX_EXACT:
        row, found = timed(lambda: effective_diameters(here))
        exact = float(found.value[0])
        rows.append(common | {"task": "all pairs", "program": "hopscope", **row, "value": exact})
    row, found = timed(lambda: effective_diameters(here, max_exact=0))
    row |= {"value": float(found.value[0]), "error": float(found.error[0])}
    if np.isfinite(exact):
        row["off_by"] = float(found.value[0]) - exact
    rows.append(common | {"task": "1,024 sources", "program": "hopscope", **row})
    if graph.n_nodes <= peers:
        rows += [common | row for row in time_igraph(graph, shard)]
    return rows


def time_igraph(graph: CSRGraph, shard: Shard) -> list[Row]:
    """Its histogram of path lengths, unordered pairs; AssertionError if it differs from ours."""
    try:
        import igraph
    except ImportError:
        return []
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    ahead = tails < graph.indices
    theirs = igraph.Graph(n=graph.n_nodes, edges=np.column_stack([tails, graph.indices])[ahead])
    row, histogram = timed(lambda: theirs.path_length_hist(directed=False))
    counts = [int(count) for _, _, count in histogram.bins()]
    ours = count_pairs(shard, np.ones(1, bool)).counts[1:]
    np.testing.assert_array_equal(2 * np.array(counts), ours)
    return [{"task": "all pairs", "program": "igraph", **row}]


def time_internet(n_ases: int, n_routers: int, device: str) -> Row:
    """All ASes together."""
    shard = shard_of(generate_internet(n_ases, n_routers, m=2, seed=1))
    here = shard.to("gpu" if device == "gpu" else "cpu")
    row, found = timed(lambda: effective_diameters(here))
    common = {"graph": f"internet of {n_ases:,} ASes", "n_nodes": shard.n_nodes}
    common |= {"n_arcs": shard.n_arcs, "device": device, "task": "all ASes", "program": "hopscope"}
    counts = {"n_graphs": shard.n_graphs, "n_estimated": int(found.is_estimated.sum())}
    return common | row | counts | {"n_searches": int(found.n_searches.sum())}


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--nodes", type=numbers, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--grid", type=int, default=100, help="side of the cut grid; 0: none")
    parser.add_argument("--ases", type=int, default=2000, help="ASes of the Internet; 0: none")
    parser.add_argument("--routers", type=int, default=500_000)
    parser.add_argument("--peers", type=int, default=10_000)
    parser.add_argument("--threads", type=int, help="number of threads; default: one per core")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--subject", default="effective", help="name of the results file")
    parser.add_argument("--folder", type=Path, help="folder of the results file")
    given = parser.parse_args()
    compile_cpu()
    use_threads(given.threads)
    graphs = [(f"attachment {n:,}", lambda n=n: attachment(n)) for n in given.nodes]
    if given.grid:
        graphs.append((f"cut grid {given.grid}", lambda: cut_grid(given.grid)))
    rows = []
    for name, make in graphs:
        rows += time_graph(name, make(), given.device, given.peers)
    if given.ases:
        rows.append(time_internet(given.ases, given.routers, given.device))
    record(given.subject, [row | {"n_threads": n_threads()} for row in rows], given.folder)


if __name__ == "__main__":
    main()
