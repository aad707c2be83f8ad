"""One search over the parts of an RMAT graph on several GPUs, compared with one GPU.

Command: python benchmarks/bench_partition.py [--scales 22,24] [--factor N] [--ranks 1,2]
[--sources N] [--sweep N] [--subject RESULT] [--results FOLDER]

Each rank is a process with a GPU of its own and makes its part there; no process holds the whole.
Sources are random nodes with a neighbour. GTEPS count undirected edges of the reached component,
by the harmonic mean over sources. Every search is certified: each rank checks its own rows. With
--ranks 1 the graph is one part on one GPU; ``bfs_ms`` beside it is the search for graphs on one
GPU, of the same sources, and with --sweep ``sweep_ms`` one sweep from N of them on one GPU: its
rate counts the arcs that each source reaches. ``waited`` is the share of time that rank 0's host
spent in exchanges, work of its GPU that was still in progress included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import RESULTS, record


def run_rank(
    rank: int,
    n_ranks: int,
    name: Any,
    scale: int,
    factor: int,
    n_sources: int,
    n_swept: int,
    pipe: Any,
):
    """One rank: make the part, search from each source, check, report."""
    import cupy as cp

    from benchmarks.partition.rmat_parts import rmat_part, rmat_split
    from kernels import CSRGraph, bfs
    from kernels.partition import search
    from kernels.partition.check import check_part
    from kernels.partition.gpu import GpuSteps
    from kernels.partition.nccl import NcclCollective

    cp.cuda.Device(rank).use()
    collective = NcclCollective(n_ranks, name, rank)
    begin = time.perf_counter()
    whole, n_drawn = rmat_split(scale, factor, n_ranks)
    part = rmat_part(whole, n_drawn, scale, factor, rank)
    cp.cuda.Device().synchronize()
    made_s = time.perf_counter() - begin
    steps = GpuSteps(part)
    degree = cp.diff(part.indptr)
    n_arcs = collective.gather(np.array([part.indices.size], np.int64))[:, 0]
    # The same sources on every rank: of random nodes, those that their owners know to have arcs.
    nodes = np.random.default_rng(1).integers(0, whole.n_nodes, 64 * (n_sources + n_swept))
    numbers = whole.renumber(nodes)
    has_arcs = np.zeros(len(nodes), np.int64)
    first, last = whole.first[rank : rank + 2]
    is_own = (numbers >= first) & (numbers < last)
    has_arcs[is_own] = (degree[cp.asarray(numbers[is_own] - first)] > 0).get()
    nodes = nodes[collective.gather(has_arcs).any(axis=0)]
    sources = nodes[:n_sources]
    graph = CSRGraph(part.indptr, part.indices, trusted=True) if n_ranks == 1 else None
    rows = []
    for source in [int(sources[0]), *sources.tolist()]:  # the first one twice: it compiles
        collective.gather(np.zeros(1, np.int64))
        begin = time.perf_counter()
        result = search(steps, part, source, collective)
        wall_s = time.perf_counter() - begin
        check_part(part, source, result, collective)
        reached = steps.level >= 0
        n_edges = collective.gather((degree * reached).sum(dtype=np.int64).reshape(1)).sum() // 2
        row = {"wall_s": wall_s, "n_edges": int(n_edges), "waited_s": result.waited_s}
        row |= {"n_levels": result.eccentricity + 1, "n_bottom_up": result.n_bottom_up}
        row |= {"sent_bytes": result.sent_bytes, "n_reached": result.n_reached}
        if graph is not None:
            number = int(whole.renumber(np.array([source]))[0])
            cp.cuda.Device().synchronize()
            begin = time.perf_counter()
            alone = bfs(graph, number)
            row["bfs_s"] = time.perf_counter() - begin
            if alone.n_reached != result.n_reached:
                raise AssertionError("parts and whole reach different numbers of nodes")
            if not bool((alone.level == steps.level).all()):
                raise AssertionError("parts and whole differ in levels")
        rows.append(row)
    used = cp.get_default_memory_pool().total_bytes()
    end = {"rows": rows[1:], "made_s": made_s, "n_arcs": n_arcs.tolist(), "pool_bytes": used}
    if graph is not None and n_swept:
        end["sweep"] = time_sweep(graph, whole.renumber(nodes[:n_swept]), rows[1:])
    pipe.send(end)


def time_sweep(graph: Any, sources: np.ndarray, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One sweep on one GPU, compared with the searches of its first sources."""
    from kernels import msbfs

    times_s = []
    for _ in range(4):  # the first one compiles
        begin = time.perf_counter()
        found = msbfs(graph, sources)
        times_s.append(time.perf_counter() - begin)
    for i, row in enumerate(rows):
        if (found.eccentricity[i] + 1, found.n_reached[i]) != (row["n_levels"], row["n_reached"]):
            raise AssertionError(f"the sweep differs from the search of source {i}")
    wall_s = statistics.median(times_s[1:])
    # The sources of searches stand for all: nearly all arcs lie in one component.
    n_arcs = 2 * statistics.mean(row["n_edges"] for row in rows)
    rate = len(sources) * n_arcs / wall_s
    return {
        "n_swept": len(sources),
        "sweep_ms": round(1e3 * wall_s, 3),
        "source_arcs_per_s": float(f"{rate:.4g}"),
    }


def measure(scale: int, factor: int, n_ranks: int, n_sources: int, n_swept: int) -> dict[str, Any]:
    """A row of results: all ranks as processes, from the figures of rank 0."""
    context = multiprocessing.get_context("spawn")
    from kernels.partition.nccl import unique_name

    name, pipes, ranks = unique_name(), [], []
    for rank in range(n_ranks):
        ours, theirs = context.Pipe(duplex=False)
        arguments = (rank, n_ranks, name, scale, factor, n_sources, n_swept, theirs)
        ranks.append(context.Process(target=run_rank, args=arguments))
        ranks[-1].start()
        theirs.close()
        pipes.append(ours)
    ends = [pipe.recv() for pipe in pipes]
    for each in ranks:
        each.join()
    rows = ends[0]["rows"]
    wall_s = [max(end["rows"][i]["wall_s"] for end in ends) for i in range(len(rows))]
    rates = [row["n_edges"] / wall for row, wall in zip(rows, wall_s, strict=True)]
    about = {"scale": scale, "factor": factor, "n_ranks": n_ranks, "n_sources": len(rows)}
    about |= {"n_arcs": sum(ends[0]["n_arcs"]), "n_arcs_by_rank": ends[0]["n_arcs"]}
    about |= {"made_s": round(ends[0]["made_s"], 2)}
    about |= {"median_ms": round(1e3 * statistics.median(wall_s), 3)}
    about |= {"gteps": round(len(rates) / sum(1e9 / rate for rate in rates), 2)}
    about |= {"n_levels": max(row["n_levels"] for row in rows)}
    waited = [row["waited_s"] / row["wall_s"] for row in rows]
    about |= {"waited": round(statistics.median(waited), 3)}
    about |= {"sent_mb": round(statistics.median(row["sent_bytes"] for row in rows) / 1e6, 3)}
    about |= {"gib_by_rank": [round(end["pool_bytes"] / 2**30, 2) for end in ends]}
    if "bfs_s" in rows[0]:
        about |= {"bfs_ms": round(1e3 * statistics.median(row["bfs_s"] for row in rows), 3)}
        alone = [row["n_edges"] / row["bfs_s"] for row in rows]
        about |= {"bfs_gteps": round(len(alone) / sum(1e9 / rate for rate in alone), 2)}
    return about | ends[0].get("sweep", {})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--scales", default="22,24", help="RMAT scales, comma-separated")
    parser.add_argument("--factor", type=int, default=16, help="links per node")
    parser.add_argument("--ranks", default="1,2", help="numbers of GPUs, comma-separated")
    parser.add_argument("--sources", type=int, default=16, help="searches per graph")
    parser.add_argument("--sweep", type=int, default=0, help="sources of one sweep; 0: none")
    parser.add_argument("--subject", default="partition", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    rows = []
    for scale in map(int, arguments.scales.split(",")):
        for n_ranks in map(int, arguments.ranks.split(",")):
            rows.append(
                measure(scale, arguments.factor, n_ranks, arguments.sources, arguments.sweep)
            )
            print(rows[-1], file=sys.stderr, flush=True)
    record(arguments.subject, rows, arguments.results)


if __name__ == "__main__":
    main()
