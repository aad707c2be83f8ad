"""Closeness of every node: small graphs whole, a large one from a share of its nodes, projected.

Command: python benchmarks/bench_closeness.py [--nodes N,N] [--peers NODES] [--device cpu|gpu]
[--large attachment:65608704] [--factor N] [--sources N] [--threads N] [--subject RESULT]
[--results FOLDER]

``wall_s`` is one call of ``closenesses``, all nodes searched; NetworkX is compared on graphs of at
most ``--peers`` nodes. ``--large``: exact closeness and harmonic centrality of that many random
nodes with links, in sweeps of 256, each from its hop counts; ``hours`` is what all nodes with
links take at that rate, and ``hours_of_all`` what as many searches as there are nodes do. The
values of a few of them are checked against ``bfs``.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.graphs import attachment
from benchmarks.lib.record import RESULTS, record
from benchmarks.partition.constants import ATTACHMENT
from benchmarks.partition.drawn import Drawn, drawn_part, graph_named, split_of
from kernels import CSRGraph, Shard, bfs, msbfs
from kernels._cpu.threads import n_threads, use_threads
from kernels.closeness import closeness_of_sources, closenesses
from kernels.host import compile_cpu

AT_ONCE = 256
N_CHECKED = 3


def whole(n_nodes: int, device: str, peers: int) -> list[dict[str, Any]]:
    """Rows of one attachment graph."""
    graph = attachment(n_nodes)
    shard = Shard.from_graphs([graph]).to("gpu" if device == "gpu" else "cpu")
    about = {"graph": f"attachment:{n_nodes}", "n_nodes": n_nodes, "device": device}
    about |= {"n_threads": n_threads()} if device == "cpu" else {}
    if device == "gpu":
        closenesses(shard)  # compiles
    begin = time.perf_counter()
    found = closenesses(shard)
    rows = [about | {"program": "hopscope", "wall_s": round(time.perf_counter() - begin, 4)}]
    if n_nodes <= peers:
        import networkx as nx

        theirs = nx.Graph()
        tails = np.repeat(np.arange(n_nodes), np.diff(graph.indptr))
        theirs.add_edges_from(zip(tails.tolist(), graph.indices.tolist(), strict=True))
        begin = time.perf_counter()
        values = nx.closeness_centrality(theirs)
        wall_s = time.perf_counter() - begin
        rows.append(about | {"program": "networkx", "device": "cpu", "wall_s": round(wall_s, 3)})
        np.testing.assert_allclose([values[v] for v in range(n_nodes)], found.closeness, rtol=1e-13)
    return rows


def projected(name: str, factor: int, n_sources: int) -> dict[str, Any]:
    """A row of a large graph on the current GPU."""
    import cupy as cp

    drawn = graph_named(name, factor)
    if drawn.kind == ATTACHMENT:
        n = drawn.n_nodes
        drawn = Drawn(name, ATTACHMENT, factor, n, factor * (n - 1))
    dealt, n_arcs = split_of(drawn, 1)
    part = drawn_part(drawn, dealt, n_arcs, 0)
    cp.get_default_memory_pool().free_all_blocks()
    graph = CSRGraph(part.indptr[: drawn.n_nodes + 1], part.indices, trusted=True)
    linked = cp.flatnonzero(cp.diff(graph.indptr))
    picked = np.random.default_rng(1).choice(linked.size, n_sources, replace=False)
    sources = linked[cp.asarray(picked)].get()
    n_linked = int(linked.size)
    del linked
    msbfs(graph, sources[:AT_ONCE])  # compiles
    times_s, means = [], []
    for first in range(0, n_sources, AT_ONCE):
        begin = time.perf_counter()
        counts = msbfs(graph, sources[first : first + AT_ONCE]).hop_counts
        n_levels = counts.shape[1]
        ptr = np.arange(len(counts) + 1) * n_levels
        sizes = np.full(len(counts), graph.n_nodes)
        closeness, _ = closeness_of_sources(ptr, counts.reshape(-1), sizes)
        times_s.append(time.perf_counter() - begin)
        means.append(float(closeness.mean()))
        for i in range(N_CHECKED if first == 0 else 0):
            level = bfs(graph, int(sources[i])).level
            reached = level[level > 0]
            far, others = int(reached.sum(dtype=np.int64)), int(reached.size)
            expected = others / far * others / (graph.n_nodes - 1)
            np.testing.assert_allclose(closeness[i], expected, rtol=1e-13)
            del level, reached
    each_s = sum(times_s) / n_sources
    return {
        "graph": name,
        "factor": factor,
        "n_nodes": graph.n_nodes,
        "n_linked": n_linked,
        "n_arcs": graph.n_arcs,
        "n_sources": n_sources,
        "sweep_ms": round(1e3 * float(np.median(times_s)), 3),
        "source_ms": round(1e3 * each_s, 4),
        "n_levels": n_levels,
        "mean_closeness": round(float(np.mean(means)), 6),
        "hours": round(n_linked * each_s / 3600, 2),
        "hours_of_all": round(graph.n_nodes * each_s / 3600, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--nodes", default="", help="of attachment graphs, comma-separated")
    parser.add_argument("--peers", type=int, default=0, help="largest graph of NetworkX")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--large", default="", help="KIND:SIZE, comma-separated; on a GPU")
    parser.add_argument("--factor", type=int, default=27, help="links per node of large graphs")
    parser.add_argument("--sources", type=int, default=4096)
    parser.add_argument("--threads", type=int, help="of each call; default: every core")
    parser.add_argument("--subject", default="closeness", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    given = parser.parse_args()
    use_threads(given.threads)
    rows = []
    if given.nodes:
        compile_cpu(["searches", "widths"])
    for n_nodes in map(int, filter(None, given.nodes.split(","))):
        rows += whole(n_nodes, given.device, given.peers)
        print(rows[-1], file=sys.stderr, flush=True)
    for name in filter(None, given.large.split(",")):
        rows.append(projected(name, given.factor, given.sources))
        print(rows[-1], file=sys.stderr, flush=True)
    record(given.subject, rows, given.results)


if __name__ == "__main__":
    main()
