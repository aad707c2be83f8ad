"""Searches on the cores of the host: sweeps compared with SciPy, and sweeps with single searches.

Command: python benchmarks/bench_cpu_sweeps.py [--nodes N,N] [--size N] [--part scipy,ways,single]
[--sources K,K] [--repeats N] [--clock wall|processor] [--subject RESULT]

scipy: 100 random sources on a preferential-attachment AS, with and without the level matrix, and
SciPy's ``breadth_first_order`` from the same sources, in turn with ours (``scipy_s`` is its median
times 100: ``n_timed`` searches are timed). ways: on graphs of several families sweeps and single
searches are both forced, from each number of ``--sources``, and the choice of ``msbfs`` is compared
with the better one (least of the repeats; ``chosen_to_best``); ``--clock processor`` times all
threads of this process, which other work lengthens less. single: one search compared with SciPy's,
a queue, and a direction-optimising search as published, from the same sources. Every result is
verified before anything is timed. ``others_busy``: share of the cores that other processes took in
the meantime; with over 0.05 figures by the clock are too high.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import psutil
from numba import njit
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order

from benchmarks.lib.figures import CLOCKS, Clock
from benchmarks.lib.graphs import attachment, cut_grid
from benchmarks.lib.record import record
from kernels import CSRGraph, bfs, msbfs
from kernels._cpu.threads import n_threads
from kernels.breadth_first import bfs_queue
from kernels.breadth_first.check import check_levels
from kernels.host import compile_cpu
from kernels.multi_source.check import check_msbfs
from kernels.multi_source.cpu import search as cpu
from pipeline.generate.csr import csr_from_links
from pipeline.generate.top_down import generate_top_down

N_SOURCES = 100
N_SCIPY = 15  # searches of SciPy in a run
Row = dict[str, Any]


@njit
def direction_optimising(indptr, indices, source, level):
    """Top-down and bottom-up steps on the level array, as published; -1 on entry."""
    n_nodes = indptr.size - 1
    queue = np.empty(n_nodes, np.int32)
    level[source] = 0
    queue[0] = source
    begin, end, depth = 0, 1, 0
    frontier_arcs = indptr[source + 1] - indptr[source]
    open_arcs = indptr[n_nodes] - frontier_arcs
    bottom_up = False
    while begin < end:
        depth += 1
        is_wide = (end - begin) * 18 > n_nodes
        bottom_up = is_wide and (bottom_up or frontier_arcs * 15 > open_arcs)
        tail, frontier_arcs = end, 0
        if bottom_up:
            for v in range(n_nodes):
                if level[v] == -1:
                    for arc in range(indptr[v], indptr[v + 1]):
                        if level[np.uintp(indices[arc])] == depth - 1:
                            level[v] = depth
                            queue[tail] = v
                            tail += 1
                            frontier_arcs += indptr[v + 1] - indptr[v]
                            break
        else:
            for i in range(begin, end):
                u = np.int64(queue[i])
                for arc in range(indptr[u], indptr[u + 1]):
                    head = np.uintp(indices[arc])
                    if level[head] == -1:
                        level[head] = depth
                        queue[tail] = indices[arc]
                        tail += 1
                        frontier_arcs += indptr[head + np.uintp(1)] - indptr[head]
        open_arcs -= frontier_arcs
        begin, end = end, tail


def families(n_nodes: int) -> Iterator[tuple[str, CSRGraph]]:
    """Graphs of about ``n_nodes`` nodes, from short to long."""
    node = np.arange(n_nodes, dtype=np.int64)
    rng = np.random.default_rng(1)
    yield "attachment", attachment(n_nodes)
    topology = generate_top_down(max(2, n_nodes // 2000), n_nodes)
    yield "top-down", csr_from_links(n_nodes, topology.near, topology.far)
    yield "star", csr_from_links(n_nodes, node[:-1] * 0, node[1:])
    for each in (10, 100):
        ends = rng.integers(0, n_nodes, (2, n_nodes // each))
        near = np.concatenate([node, ends[0]])
        far = np.concatenate([(node + 1) % n_nodes, ends[1]])
        links = np.unique(np.sort(np.stack([near, far])[:, near != far], axis=0), axis=1)
        yield f"ring, a shortcut for {each} nodes", csr_from_links(n_nodes, links[0], links[1])
    grid = cut_grid(int(n_nodes**0.5))
    yield "cut grid", grid
    order = rng.permutation(grid.n_nodes)
    tails = np.repeat(np.arange(grid.n_nodes), np.diff(grid.indptr))
    once = tails < grid.indices
    yield (
        "cut grid, shuffled",
        csr_from_links(grid.n_nodes, order[tails[once]], order[grid.indices[once]]),
    )
    yield "path", csr_from_links(n_nodes, node[:-1], node[1:])


class Others:
    """Share of the cores that other processes have taken since this was made."""

    def __init__(self) -> None:
        self._started, self._before = time.perf_counter(), self._busy_s()

    @staticmethod
    def _busy_s() -> float:
        whole, own = psutil.cpu_times(), psutil.Process().cpu_times()
        return whole.user + whole.nice + whole.system - own.user - own.system

    def share(self) -> float:
        wall_s = time.perf_counter() - self._started
        return round((self._busy_s() - self._before) / wall_s / psutil.cpu_count(), 2)


def seconds(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def beside_scipy(n_nodes: int) -> Iterator[Row]:
    graph = attachment(n_nodes)
    sources = np.random.default_rng(0).integers(0, n_nodes, N_SOURCES)
    found = msbfs(graph, sources, levels=True)
    for i in (0, N_SOURCES - 1):
        narrow = found.level[i]
        level = np.where(narrow == np.iinfo(narrow.dtype).max, -1, narrow.astype(np.int32))
        check_levels(graph.indptr, graph.indices, int(sources[i]), level)
        if not np.array_equal(np.bincount(level[level >= 0]), np.trim_zeros(found.hop_counts[i])):
            raise AssertionError(f"hop counts of source {sources[i]} differ from its levels")
    plain = msbfs(graph, sources)
    for name in ("hop_counts", "eccentricity", "n_reached", "farthest"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(found, name))
    check_msbfs(graph, sources[:1], msbfs(graph, sources[:1], levels=True))
    del plain, found
    index = np.int32 if graph.n_arcs < 2**31 else np.int64
    arrays = (np.ones(graph.n_arcs), graph.indices.astype(index), graph.indptr.astype(index))
    matrix = csr_matrix(arrays, shape=(n_nodes, n_nodes))
    scipy_s, hops_s, levels_s = [], [], []
    others = Others()
    for source in sources[:N_SCIPY].tolist():  # in turn, so that all run under the same conditions
        scipy_s.append(
            seconds(
                lambda source=source: breadth_first_order(
                    matrix, source, directed=True, return_predecessors=False
                )
            )
        )
        hops_s.append(seconds(lambda: msbfs(graph, sources)))
        levels_s.append(seconds(lambda: msbfs(graph, sources, levels=True)))
    theirs, others_busy = statistics.median(scipy_s) * N_SOURCES, others.share()
    for what, times in (("hop counts", hops_s), ("level matrix", levels_s)):
        yield {
            "part": "scipy",
            "graph": "attachment",
            "n_nodes": n_nodes,
            "n_sources": N_SOURCES,
            "n_timed": N_SCIPY,
            "what": what,
            "ours_s": round(statistics.median(times), 4),
            "ours_min_s": round(min(times), 4),
            "scipy_s": round(theirs, 2),
            "times_faster": round(theirs / statistics.median(times), 1),
            "others_busy": others_busy,
        }


def both_ways(n_nodes: int, sources_each: list[int], repeats: int, clock: Clock) -> Iterator[Row]:
    for name, graph in families(n_nodes):
        for n_sources in sources_each:
            rng = np.random.default_rng(0)
            sources = rng.integers(0, graph.n_nodes, n_sources).astype(np.int32)
            least: dict[str, float] = {}
            others = Others()
            answers = {}
            for way in ("single", "sweep", "auto") * repeats:
                started = clock()
                answers[way] = cpu.search_graph(graph.indptr, graph.indices, sources, False, way)[0]
                took = clock() - started
                least[way] = min(least.get(way, took), took)
            for way in ("sweep", "auto"):
                for ours, single in zip(answers[way], answers["single"], strict=True):
                    np.testing.assert_array_equal(ours, single)
            best = min(least["single"], least["sweep"])
            yield {
                "part": "ways",
                "graph": name,
                "n_nodes": graph.n_nodes,
                "n_sources": n_sources,
                "largest_eccentricity": int(answers["auto"][2].max()),
                **{f"{way}_ms": round(1e3 * took, 2) for way, took in least.items()},
                "chosen_to_best": round(least["auto"] / best, 2),
                "others_busy": others.share(),
            }


def single_searches(n_nodes: int, n_sources: int = 9) -> Iterator[Row]:
    for name, graph in families(n_nodes):
        sources = np.random.default_rng(0).integers(0, graph.n_nodes, n_sources).tolist()
        matrix = csr_matrix(
            (np.ones(graph.n_arcs), graph.indices, graph.indptr.astype(np.int32)),
            shape=(graph.n_nodes, graph.n_nodes),
        )

        def published(source: int, graph: CSRGraph = graph) -> np.ndarray:
            level = np.full(graph.n_nodes, -1, np.int32)
            direction_optimising(graph.indptr, graph.indices, source, level)
            return level

        def scipy(source: int, matrix: csr_matrix = matrix) -> None:
            breadth_first_order(matrix, source, directed=True, return_predecessors=False)

        calls: dict[str, Callable[[int], Any]] = {
            "bfs": lambda source, graph=graph: bfs(graph, source),
            "queue": lambda source, graph=graph: bfs_queue(graph, source),
            "direction_optimising": published,
            "scipy": scipy,
        }
        level = bfs(graph, sources[0]).level
        check_levels(graph.indptr, graph.indices, sources[0], level)
        np.testing.assert_array_equal(level, published(sources[0]))
        times: dict[str, list[float]] = {what: [] for what in calls}
        busy = Others()
        for source in sources:
            for what, call in calls.items():
                times[what].append(seconds(lambda call=call, source=source: call(source)))
        medians = {what: 1e3 * statistics.median(each) for what, each in times.items()}
        others = min(ms for what, ms in medians.items() if what != "bfs")
        yield {
            "part": "single",
            "graph": name,
            "n_nodes": graph.n_nodes,
            **{f"{what}_ms": round(ms, 3) for what, ms in medians.items()},
            "to_best_other": round(medians["bfs"] / others, 2),
            "others_busy": busy.share(),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", default="1000000,6800000")
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--part", default="scipy,ways,single")
    parser.add_argument("--sources", default=f"16,{N_SOURCES}", help="of ways")
    parser.add_argument("--repeats", type=int, default=5, help="of ways")
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall", help="of ways")
    parser.add_argument("--subject", default="cpu_sweeps_2_cores")
    arguments = parser.parse_args()
    compile_s = compile_cpu()
    rows: list[Row] = []

    def take(some: Iterator[Row]) -> None:
        for row in some:
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)

    parts = arguments.part.split(",")
    if "scipy" in parts:
        for n_nodes in map(int, arguments.nodes.split(",")):
            take(beside_scipy(n_nodes))
    if "ways" in parts:
        sources_each = [int(n) for n in arguments.sources.split(",")]
        how = arguments.repeats, CLOCKS[arguments.clock]
        take(both_ways(arguments.size, sources_each, *how))
    if "single" in parts:
        take(single_searches(10 * arguments.size))
    facts = {"threads": n_threads(), "compile_s": round(compile_s, 2), "clock": arguments.clock}
    record(arguments.subject, rows, **facts)


if __name__ == "__main__":
    main()
