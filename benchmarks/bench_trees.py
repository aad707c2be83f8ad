"""Minimum spanning forests and depth-first searches, compared with other programs in one run.

Command: python benchmarks/bench_trees.py [--graphs NAME,NAME] [--tasks mst,dfs] [--device cpu,gpu]
[--programs NAME,NAME] [--rounds N] [--subject RESULT]

Weights are seeded: whole numbers from 1 to 1,024. Each round calls one program after another, on
arrays that lie on the device already, so that other work of the machine affects all of them. Ours
is certified before it is timed; forests of others weigh as much as ours, searches of others find
nodes in the same order. ``ratio`` is the median of a program's time over ours in the same round;
``cpu_ms`` is processor time of all threads, ``cpu_ratio`` that over ours, likewise.
A program that is not installed, or fails, has a row that says so. Interrupted, the benchmark writes
what it has.
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

from benchmarks.lib.graphs import attachment, cut_grid, rmat, with_weights
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import OtherWork, Timing, time_once, waiter
from benchmarks.peers.trees import PROGRAMS, able_to
from kernels import CSRGraph, dfs, mst
from kernels.host import compile_cpu
from pipeline.generate.csr import csr_from_links

OURS = "hopscope"
LONGEST_S = 60.0  # of a first call, above which a program takes no part in the rounds
WEIGHTS = 1024
Row = dict[str, Any]


def random_tree(n_nodes: int, seed: int = 1) -> CSRGraph:
    """Each node linked to a random earlier one, ids shuffled."""
    rng = np.random.default_rng(seed)
    later = np.arange(1, n_nodes)
    new_id = rng.permutation(n_nodes)
    return csr_from_links(
        n_nodes, new_id[later], new_id[(rng.random(n_nodes - 1) * later).astype(int)]
    )


GRAPHS: dict[str, Callable[[], CSRGraph]] = {
    "attachment 10000": lambda: attachment(10_000),
    "attachment 1000000": lambda: attachment(1_000_000),
    "cut grid 1000": lambda: cut_grid(1000),
    "tree 1000000": lambda: random_tree(1_000_000),
    "rmat 17": lambda: rmat(17, 16),
    "attachment 6800000": lambda: attachment(6_800_000),
}


def our_ways(task: str, device: str, largest: bool) -> dict[str, Callable[[CSRGraph], Any]]:
    """Calls of ours by name; the first one is what ``ratio`` compares with."""
    if task == "mst":
        ways: dict[str, Any] = {OURS: mst}
        methods = ["filter-kruskal", "kruskal", *([] if largest else ["prim"])]
        if device == "cpu":
            ways |= {f"{OURS}, {name}": lambda g, name=name: mst(g, name) for name in methods}
        return ways
    ways = {OURS: lambda g: dfs(g, 0)}
    if device == "gpu" and not largest:
        ways[f"{OURS}, warp"] = lambda g: dfs(g, 0, "warp")
    return ways


def rows_of(
    task: str, name: str, graph: CSRGraph, programs: list[str], rounds: int
) -> Iterator[Row]:
    """One row per program, ours first."""
    row = {"task": task, "graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs}
    row["device"] = graph.device
    calls: dict[str, Callable[[], Any]] = {}
    notes: dict[str, Row] = {}
    for by, way in our_ways(task, graph.device, graph.n_nodes > 2_000_000).items():
        found = way(graph)
        found.check()
        calls[by] = lambda way=way: way(graph)
        notes[by] = {"method": found.method} if task == "dfs" else {}
    ours = calls[OURS]()
    for by, peer, why in able_to(task, graph, programs):
        if peer is None:
            yield row | {"by": by, "note": why}
            continue
        try:
            call = peer.mst if task == "mst" else lambda peer=peer: peer.dfs(0)
            first_s, answer = time_once(call)
            is_same = (
                peer.total_of(answer) == ours.total
                if task == "mst"
                else np.array_equal(peer.order_of(answer), ours.order)
            )
        except Exception as error:  # another program's failure must not end the run
            yield row | {"by": by, "note": f"{type(error).__name__}: {error}"}
            continue
        notes[by] = {} if is_same else {"note": "the result differs from ours"}
        if first_s > LONGEST_S:
            yield row | {"by": by, "median_ms": round(1e3 * first_s), "repeats": 1, **notes[by]}
        else:
            calls[by] = call
    times_s: dict[str, list[float]] = {by: [] for by in calls}
    cpu_s: dict[str, list[float]] = {by: [] for by in calls}
    wait = waiter(graph.device)
    answer = None  # what the last program gave is freed before the clock runs
    for _ in range(rounds):
        for by, call in calls.items():
            wait()
            started, busy = time.perf_counter(), time.process_time()
            answer = call()
            wait()
            times_s[by].append(time.perf_counter() - started)
            cpu_s[by].append(time.process_time() - busy)
            del answer
    for by, each in times_s.items():
        timed = Timing(tuple(each)).columns() | {"ratio": ratio(each, times_s[OURS])}
        timed["cpu_ms"] = round(1e3 * statistics.median(cpu_s[by]), 3)
        timed["cpu_ratio"] = ratio(cpu_s[by], cpu_s[OURS])
        yield row | {"by": by} | timed | notes[by]


def ratio(theirs_s: list[float], ours_s: list[float]) -> float:
    """Median of the quotients of a round."""
    quotients = [theirs / ours for theirs, ours in zip(theirs_s, ours_s, strict=True)]
    return round(statistics.median(quotients), 3)


def main() -> None:
    def names(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--graphs", type=names, default=list(GRAPHS), help="comma-separated")
    parser.add_argument("--tasks", type=names, default=["mst", "dfs"], help="mst,dfs")
    parser.add_argument("--device", type=names, default=["cpu"], help="cpu,gpu")
    parser.add_argument("--programs", type=names, default=[kind.name for kind in PROGRAMS])
    parser.add_argument("--rounds", type=int, default=7, help="calls of each program")
    parser.add_argument("--subject", default="trees", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    compile_cpu(["searches", "forests"])
    others, rows = OtherWork(), []
    try:
        for name in arguments.graphs:
            graph = with_weights(GRAPHS[name](), most=WEIGHTS)
            for device in arguments.device:
                here = graph.to(device)
                for task in arguments.tasks:
                    for row in rows_of(task, name, here, arguments.programs, arguments.rounds):
                        rows.append(row)
                        print(json.dumps(row), file=sys.stderr, flush=True)
    finally:
        record(arguments.subject, rows, arguments.results, cores_of_others=others.n_cores())


if __name__ == "__main__":
    main()
