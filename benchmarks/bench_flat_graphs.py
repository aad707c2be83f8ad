"""Widths of graphs whose eccentricities are nearly equal, compared with a sweep from every node.

Command: python benchmarks/bench_flat_graphs.py [--families NAME,NAME] [--repeats N]
[--subject RESULT] [--results FOLDER]

On circulants, tori, rings, Watts-Strogatz and random regular graphs bounds help little; attachment
graphs, trees and cut grids, where bounds help much, are measured too. A round calls each question
and the sweep from every node in each of its forms, so that other work of the machine affects all of
them; in random order, since a call is slower after one that used much memory. Times are processor
time of one thread, medians over rounds. ``ratio`` is the question's time divided by that of the
fastest form: sweeps that note eccentricities, sweeps that count pairs, and (scaled from 64 sources)
a search from each node. Answers are compared with the sweep's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.diameter.flat_graphs import FAMILIES
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import OtherWork
from kernels import (
    CSRGraph,
    Shard,
    center,
    diameter,
    eccentricities,
    periphery,
    radius,
)
from kernels._cpu.threads import use_threads
from kernels.breadth_first.cpu_bytes import search_levels
from kernels.distance_distribution.counts import count_pairs
from kernels.eccentricity.searches.every_node import EveryNode
from kernels.host import compile_cpu

QUESTIONS: dict[str, Callable[[CSRGraph], Any]] = {
    "diameter": diameter,
    "radius": radius,
    "center": center,
    "periphery": periphery,
    "eccentricities": eccentricities,
}
N_SINGLE = 64  # searches whose time is scaled to that of one per node


def sweep_every_node(graph: CSRGraph) -> np.ndarray:
    """Every eccentricity of a graph in one piece, without bounds."""
    n = graph.n_nodes
    every = EveryNode(graph, np.zeros(n, np.int32), np.array([n]), np.zeros(1, np.int64))
    nothing = np.zeros(n, np.int32), np.full(n, n, np.int32)
    return every.sweep(np.ones(n, bool), *nothing, n).lower


def count_all_pairs(graph: CSRGraph) -> None:
    """Pairs of nodes by hops, as effective diameters need them."""
    shard = Shard(graph.indptr, graph.indices, np.array([0, graph.n_nodes]), trusted=True)
    count_pairs(shard, np.ones(1, bool))


def search_some(graph: CSRGraph) -> None:
    """Single searches from N_SINGLE nodes."""
    level = np.empty(graph.n_nodes, np.uint16)
    queue = np.empty(graph.n_nodes + 1, np.int32)
    for source in np.linspace(0, graph.n_nodes - 1, N_SINGLE).astype(int).tolist():
        search_levels(graph.indptr, graph.indices, source, level, queue)


def check(question: str, answer: Any, truth: np.ndarray) -> None:
    """Raise unless an answer is that of all eccentricities."""
    right = {
        "diameter": lambda: answer.diameter == truth.max(),
        "radius": lambda: answer.radius == truth.min() == truth[answer.center],
        "center": lambda: (answer.is_center == (truth == truth.min())).all(),
        "periphery": lambda: (answer.is_periphery == (truth == truth.max())).all(),
        "eccentricities": lambda: (answer == truth).all(),
    }
    if not right[question]():
        raise AssertionError(f"{question} is not that of the sweep from every node")


def rows_of_graph(name: str, graph: CSRGraph, repeats: int) -> list[dict[str, Any]]:
    """One row per question."""
    forms = {"sweep": sweep_every_node, "pairs": count_all_pairs, "single": search_some}
    truth = sweep_every_node(graph)
    for question, ask in QUESTIONS.items():
        check(question, ask(graph), truth)
    times: dict[str, list[float]] = {what: [] for what in [*QUESTIONS, *forms]}
    calls = list((QUESTIONS | forms).items())
    rng = np.random.default_rng(0)
    for _ in range(repeats):
        for what, call in (calls[i] for i in rng.permutation(len(calls))):
            started = time.process_time()
            call(graph)
            times[what].append(time.process_time() - started)
    ms = {what: 1e3 * statistics.median(each) for what, each in times.items()}
    ms["single"] *= graph.n_nodes / N_SINGLE
    fastest = min(forms, key=lambda form: ms[form])
    about = {"graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs}
    about |= {"diameter": int(truth.max()), "radius": int(truth.min())}
    about |= {f"{form}_ms": round(ms[form], 3) for form in forms} | {"fastest": fastest}
    return [
        about | {"what": q, "ms": round(ms[q], 3), "ratio": round(ms[q] / ms[fastest], 3)}
        for q in QUESTIONS
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--families", default=",".join(FAMILIES), help="families to measure, comma-separated"
    )
    parser.add_argument("--repeats", type=int, default=9, help="rounds per graph")
    parser.add_argument("--subject", default="flat_graphs", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    use_threads(1)
    compile_cpu()
    others, rows = OtherWork(), []
    for name in arguments.families.split(","):
        rows += rows_of_graph(name, FAMILIES[name](), arguments.repeats)
        print(name, [row["ratio"] for row in rows[-len(QUESTIONS) :]], file=sys.stderr, flush=True)
    record(arguments.subject, rows, arguments.results, cores_of_others=others.n_cores())


if __name__ == "__main__":
    main()
