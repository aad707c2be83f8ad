"""Searches on one GPU of a graph whose arcs are in host memory, as one larger than the card needs.

Command: python benchmarks/bench_host_arcs.py [--graphs rmat:26,graph500:26] [--factor N]
[--sources N] [--sweep N] [--alone] [--subject RESULT] [--results FOLDER]

``copy_gb_s``: a copy of 1 GiB of the arcs to the GPU; ``all_ms``: all arcs at that rate, which is
the least that reading each arc once takes. ``bfs_ms`` is the median over random roots with links of
one search, ``share_of_all`` that by all_ms. The first trees are validated as in ``bench_graph500``,
against the list of links, drawn again; where the graph fits on the card too (--alone: do not try)
levels are also compared with those of a search of arcs there, ``on_card_ms``. ``sweep_ms``: from
that many roots at once. ``kept_s``: to make the memory one that the GPU can read.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import RESULTS, record
from benchmarks.partition.drawn import drawn_part, graph_named, split_of
from kernels import CSRGraph, bfs, msbfs
from kernels._cuda.host_arrays import readable_by_gpu

N_CHECKED = 2
COPIED = 1 << 28  # arcs


def measure(name: str, factor: int, n_sources: int, n_swept: int, alone: bool) -> dict[str, Any]:
    """A row of one graph."""
    import cupy as cp

    from benchmarks.partition.trees import Checker

    drawn = graph_named(name, factor)
    wait = cp.cuda.Device().synchronize
    begin = time.perf_counter()
    whole, n_arcs = split_of(drawn, 1)
    part = drawn_part(drawn, whole, n_arcs, 0, on_host=True)
    cp.get_default_memory_pool().free_all_blocks()
    made_s, begin = time.perf_counter() - begin, time.perf_counter()
    arcs = readable_by_gpu(part.indices)
    kept_s = time.perf_counter() - begin
    graph = CSRGraph(part.indptr[: drawn.n_nodes + 1], arcs, trusted=True)
    room = cp.empty(min(COPIED, arcs.size), np.int32)
    copies_s = []
    for _ in range(4):
        begin = time.perf_counter()
        room.set(part.indices[: room.size])
        wait()
        copies_s.append(time.perf_counter() - begin)
    copy_gb_s = room.nbytes / float(np.median(copies_s[1:])) / 1e9
    del room
    tried = np.random.default_rng(2).integers(0, drawn.n_nodes, 64 * (n_sources + n_swept))
    roots = np.unique(tried[cp.diff(graph.indptr)[cp.asarray(tried)].get() > 0])
    roots = np.random.default_rng(3).permutation(roots)
    checker = Checker(drawn, whole.order)
    times_s, levels = [], []
    for i, root in enumerate([int(roots[0]), *roots[:n_sources].tolist()]):
        begin = time.perf_counter()
        found = bfs(graph, root)
        wait()
        times_s.append(time.perf_counter() - begin)
        if 0 < i <= N_CHECKED:
            tree = bfs(graph, root, parents=True)
            checker.n_links(root, tree.parent, found.level)
            levels.append((root, found.level.get()))
            del tree
    bfs_s = float(np.median(times_s[1:]))
    row = {
        "graph": name,
        "factor": factor,
        "n_arcs": int(arcs.size),
        "arcs_gib": round(arcs.nbytes / 2**30, 2),
        "card_gib": round(cp.cuda.Device().mem_info[1] / 2**30, 1),
        "made_s": round(made_s, 2),
        "kept_s": round(kept_s, 2),
        "copy_gb_s": round(copy_gb_s, 2),
        "all_ms": round(arcs.nbytes / copy_gb_s / 1e6, 2),
        "n_sources": n_sources,
        "bfs_ms": round(1e3 * bfs_s, 2),
        "share_of_all": round(bfs_s * copy_gb_s * 1e9 / arcs.nbytes, 3),
        "n_reached": found.n_reached,
    }
    if n_swept:
        begin = time.perf_counter()
        swept = msbfs(graph, roots[:n_swept])
        row |= {"n_swept": n_swept, "sweep_ms": round(1e3 * (time.perf_counter() - begin), 2)}
        row |= {"sweep_levels": swept.hop_counts.shape[1]}
        for i, (_, level) in enumerate(levels):
            if int((level >= 0).sum()) != int(swept.n_reached[i]):
                raise AssertionError(f"a sweep differs from the search of root {i}")
    if not alone:
        there = CSRGraph(graph.indptr, cp.asarray(part.indices), trusted=True)
        times_s = []
        for root, level in levels:
            begin = time.perf_counter()
            found = bfs(there, root)
            wait()
            times_s.append(time.perf_counter() - begin)
            if not bool((found.level == cp.asarray(level)).all()):
                raise AssertionError(f"root {root}: levels differ with arcs on the card")
        row |= {"on_card_ms": round(1e3 * times_s[-1], 2)}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--graphs", default="rmat:26", help="KIND:SIZE, comma-separated")
    parser.add_argument("--factor", type=int, default=16, help="links per node")
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--sweep", type=int, default=0, help="sources of one sweep; 0: none")
    parser.add_argument("--alone", action="store_true", help="no search of arcs on the card")
    parser.add_argument("--subject", default="host_arcs", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    given = parser.parse_args()
    import cupy as cp

    rows = []
    for name in given.graphs.split(","):
        rows.append(measure(name, given.factor, given.sources, given.sweep, given.alone))
        print(rows[-1], file=sys.stderr, flush=True)
        cp.get_default_memory_pool().free_all_blocks()
    record(given.subject, rows, given.results)


if __name__ == "__main__":
    main()
