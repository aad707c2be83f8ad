"""Connected components of large graphs on cores, compared with other programs in the same process.

Command: python benchmarks/bench_components.py [--graphs NAME,NAME] [--programs NAME,NAME]
[--repeats N] [--subject RESULT] [--results FOLDER]

Each round calls one program after another, so that other work of the machine affects all of them;
labels and sizes, or the other's membership, are part of each call. Labels are checked by the
certificate and against each other before anything is timed. ``ratio`` is the median of a program's
time over ours in the same round; ``cpu_ms`` is processor time of all threads, which other work on
the machine lengthens less. A program that is not installed has a row that says so.
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

from benchmarks.lib.graphs import attachment, cut_grid
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import OtherWork, Timing, time_once
from benchmarks.peers import open_peers, smallest_labels
from kernels import CSRGraph, components
from kernels._cpu.threads import n_threads
from kernels.connected.check import check_components
from kernels.host import compile_cpu
from pipeline.generate.csr import csr_from_links

OURS = "hopscope"


def pieces(n_nodes: int, n_each: int, seed: int = 1) -> CSRGraph:
    """Paths of ``n_each`` nodes, ids shuffled: no component is large."""
    near = np.arange(n_nodes - 1)
    near = near[(near + 1) % n_each != 0]
    new_id = np.random.default_rng(seed).permutation(n_nodes)
    return csr_from_links(n_nodes, new_id[near], new_id[near + 1])


def equal_parts(n_nodes: int, n_parts: int, seed: int = 1) -> CSRGraph:
    """Random graphs of four links per node, node i in part i modulo ``n_parts``."""
    rng = np.random.default_rng(seed)
    near = np.tile(np.arange(n_nodes), 2)
    far = rng.integers(0, n_nodes // n_parts, len(near)) * n_parts + near % n_parts
    is_link = near != far
    return csr_from_links(n_nodes, near[is_link], far[is_link])


def star(n_nodes: int) -> CSRGraph:
    hub = n_nodes // 2
    return csr_from_links(n_nodes, np.full(n_nodes - 1, hub), np.delete(np.arange(n_nodes), hub))


GRAPHS: dict[str, Callable[[], CSRGraph]] = {
    "attachment 6800000": lambda: attachment(6_800_000),
    "attachment 1000000": lambda: attachment(1_000_000),
    "cut grid 1000": lambda: cut_grid(1000),
    "pieces of 5 1000000": lambda: pieces(1_000_000, 5),
    "10 equal parts 1000000": lambda: equal_parts(1_000_000, 10),
    "star 1000000": lambda: star(1_000_000),
}


def rows_of_graph(
    name: str, graph: CSRGraph, programs: list[str], repeats: int
) -> Iterator[dict[str, Any]]:
    """One row per program, ours first."""
    row = {"graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs}
    found = components(graph)
    check_components(graph.indptr, graph.indices, found.component)
    row["n_components"] = found.n_components
    calls: dict[str, Callable[[], Any]] = {OURS: lambda: components(graph)}
    threads = {OURS: n_threads()}
    for by, make, why in open_peers("cpu"):
        if by not in programs:
            continue
        if make is None:
            yield row | {"by": by, "note": why}
            continue
        peer: Any = make(graph)
        theirs = smallest_labels(peer.components_of(peer.components()))
        if not np.array_equal(theirs, found.component):
            raise AssertionError(f"{name}: components differ from those of {by}")
        calls[by], threads[by] = peer.components, peer.threads
    times_s: dict[str, list[float]] = {by: [] for by in calls}
    cpu_s: dict[str, list[float]] = {by: [] for by in calls}
    for _ in range(repeats):
        for by, call in calls.items():
            started = time.process_time()
            times_s[by].append(time_once(call)[0])
            cpu_s[by].append(time.process_time() - started)
    for by, each in times_s.items():
        ratios = [theirs / ours for ours, theirs in zip(times_s[OURS], each, strict=True)]
        ratio = round(statistics.median(ratios), 3)
        timed = Timing(tuple(each)).columns()
        timed["cpu_ms"] = round(1e3 * statistics.median(cpu_s[by]), 2)
        yield row | {"by": by, "threads": threads[by], **timed, "ratio": ratio}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--graphs", default=",".join(GRAPHS), help="graphs to measure, comma-separated"
    )
    parser.add_argument(
        "--programs", default="igraph", help="programs to compare with, comma-separated"
    )
    parser.add_argument("--repeats", type=int, default=11, help="rounds per graph")
    parser.add_argument("--subject", default="components_2_cores", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    programs = arguments.programs.split(",")
    compile_cpu(["searches"])
    others, rows = OtherWork(), []
    for name in arguments.graphs.split(","):
        for row in rows_of_graph(name, GRAPHS[name](), programs, arguments.repeats):
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    record(arguments.subject, rows, arguments.results, cores_of_others=others.n_cores())


if __name__ == "__main__":
    main()
