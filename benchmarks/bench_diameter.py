"""Exact diameters of files and of generated graphs, compared with other programs, and the effect of
each reduction.

Command: python benchmarks/bench_diameter.py [FILE...] [--nodes N,N] [--top-down N,N] [--grid S,S]
[--rmat SCALE:FACTOR,SCALE:FACTOR] [--question diameter,eccentricities,radius] [--device cpu,gpu]
[--programs NAME,NAME] [--ablation] [--subject RESULT]

FILE is what ``benchmarks/lib/graph_files.py`` reads; its largest weakly connected component is
taken.
On the host each program has one thread, all on one core. Ours is certified before it is timed
(where that takes few searches, else its path is), others must agree. Each other program runs in a
process of its own; a call over ``--cutoff`` seconds is ended there and reported as ``> N s``. The
time is that of one call on a graph in the program's own form.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.diameter.graphs import describe, graphs, verified
from benchmarks.diameter.peers import PROGRAMS, time_program
from benchmarks.diameter.profile import timed_parts
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import OtherWork, Timing, time_calls, waiter
from kernels import CSRGraph, Shard, bfs, diameter, eccentricities, radius
from kernels.csr import to_host
from kernels.distance_distribution import effective_diameters
from kernels.eccentricity import Strategy
from kernels.eccentricity.check import check_path
from kernels.host import compile_cpu

OURS = "hopscope"
QUESTIONS: dict[str, Callable[..., Any]] = {
    "diameter": diameter,
    "radius": radius,
    "eccentricities": eccentricities,
}
Row = dict[str, Any]


class Bench:
    """The rows of one run."""

    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.rows: list[Row] = []

    def add(self, row: Row) -> None:
        self.rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)

    def graph(self, name: str, make: Callable[[int], CSRGraph]) -> None:
        """All rows of one graph."""
        arguments = self.arguments
        graph = make(1)
        about = {"graph": name, "n_nodes": graph.n_nodes, "n_edges": graph.n_edges}
        found = verified(graph)
        more = describe(graph) | {"diameter": found.diameter}
        if arguments.effective:
            more |= effective(graph, found.diameter)
        self.add({"what": "graph"} | about | more)
        for question in arguments.question:
            row = {"what": question} | about
            for device in arguments.device if OURS in arguments.programs else []:
                self.ours(row | {"device": device}, graph, make, found)
            if "cpu" in arguments.device:
                self.others(row | {"device": "cpu"}, graph, make, found)

    def ours(self, row: Row, graph: CSRGraph, make: Callable[[int], CSRGraph], found: Any) -> None:
        device, question = row["device"], row["what"]
        ask = QUESTIONS[question]
        here = graph.to(device)
        check(question, graph, ask(here), found)
        timed = self.timed(ask, here, device)
        more = {"by": OURS, "threads": 1 if device == "cpu" else 0}
        if question == "diameter":
            more |= {"value": found.diameter, "n_searches": int(timed.last.n_searches)}
        if question != "radius":
            more["shares"] = shares(ask, here, timed)
        seeds = [
            self.timed(ask, make(seed).to(device), device).median_ms for seed in self.seeds(row)
        ]
        if seeds:
            more["seeds_ms"] = [round(timed.median_ms, 4), *(round(ms, 4) for ms in seeds)]
        self.add(row | more | timed.columns())
        if self.arguments.ablation and device == "cpu":
            for name in reductions(question):
                without = Strategy(**{name: False})
                check(question, graph, ask(graph, strategy=without), found)
                timed = self.timed(partial(ask, strategy=without), graph, device)
                more = {"by": OURS, "without": name, "threads": 1}
                if question == "diameter":
                    more["n_searches"] = int(timed.last.n_searches)
                if name == "keep":  # whose parts are one compiled call
                    more["shares"] = shares(partial(ask, strategy=without), graph, timed)
                self.add(row | more | timed.columns())

    def timed(self, ask: Callable[..., Any], graph: CSRGraph, device: str) -> Timing:
        budget_s = self.arguments.budget
        return time_calls(ask, [(graph,)], wait=waiter(device), budget_s=budget_s, at_least=3)

    def seeds(self, row: Row) -> range:
        """Further seeds of generated graphs."""
        is_file = any(path.name.startswith(row["graph"]) for path in self.arguments.files)
        return range(2, 2 if is_file else self.arguments.seeds + 1)

    def others(
        self, row: Row, graph: CSRGraph, make: Callable[[int], CSRGraph], found: Any
    ) -> None:
        question, cutoff_s = row["what"], self.arguments.cutoff
        names = [name for name in self.arguments.programs if name != OURS]
        several = [(graph, found)]
        if names:
            several += [(other, verified(other)) for other in map(make, self.seeds(row))]
        for name in names:
            timed = []
            for other, right in several:
                value = right.diameter if question != "radius" else None  # others report no radius
                timed.append(time_program(name, other, question, cutoff_s, value))
                if not {"median_ms", "cutoff_s"} & timed[-1].keys():
                    break
            self.add(row | {"by": name} | of_seeds(timed))


def of_seeds(rows: list[Row]) -> Row:
    """The first seed's columns and all medians, None where cut off; or what went wrong in any."""
    cut: Row = {}
    for row in rows:
        if not {"median_ms", "cutoff_s"} & row.keys():
            return row
        cut |= {"cutoff_s": row["cutoff_s"]} if "cutoff_s" in row else {}
    several = {"seeds_ms": [row.get("median_ms") for row in rows]} if len(rows) > 1 else {}
    return cut | rows[0] | several


def shares(ask: Callable[..., Any], graph: CSRGraph, timed: Timing) -> dict[str, float]:
    """Share of each part of some further calls."""
    n_calls = max(1, min(len(timed.times_s), int(300 / max(timed.median_ms, 1))))
    with timed_parts(graph.device) as parts:
        for _ in range(n_calls):
            ask(graph)
    return parts.shares()


def check(question: str, graph: CSRGraph, answer: Any, found: Any) -> None:
    """Raise unless an answer agrees with the verified diameter and with searches of some nodes."""
    if question == "diameter":
        ends = found.diameter == answer.diameter == len(answer.path) - 1
        if not ends or not answer.exact:
            raise AssertionError(f"diameter {answer.diameter}, not {found.diameter}")
        check_path(graph, to_host(answer.path))
    elif question == "radius":
        if bfs(graph, answer.center).eccentricity != answer.radius:
            raise AssertionError(f"node {answer.center} is not at radius {answer.radius}")
    else:
        each = to_host(answer)
        for node in np.linspace(0, graph.n_nodes - 1, 8).astype(int).tolist():
            if bfs(graph, node).eccentricity != each[node]:
                raise AssertionError(f"node {node} has another eccentricity than {each[node]}")
        if each.max() != found.diameter:
            raise AssertionError(f"largest eccentricity {each.max()}, not {found.diameter}")


def effective(graph: CSRGraph, longest: int) -> Row:
    """The 90-percentile effective diameter, and its ratio to the diameter."""
    shard = Shard(graph.indptr, graph.indices, np.array([0, graph.n_nodes]), trusted=True)
    found = effective_diameters(shard, seed=1)
    value = float(found.value[0])
    row = {"effective_diameter": round(value, 4), "effective_error": round(found.error[0], 4)}
    row["effective_estimated"] = bool(found.is_estimated[0])
    return row | {"effective_share": round(value / longest, 4) if longest else None}


def reductions(question: str) -> Iterator[str]:
    """Names of reductions that can be switched off and matter for the question."""
    of_all = ("sweeps", "territories") if question == "eccentricities" else ("sweeps",)
    for field in fields(Strategy):
        is_used = field.name != "territories" if question == "diameter" else field.name in of_all
        if field.default is True and is_used:
            yield field.name


def main() -> None:
    def words(text: str) -> list[str]:
        return [word for word in text.split(",") if word]

    def numbers(text: str) -> list[int]:
        return [int(word) for word in words(text)]

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument(
        "--nodes", type=numbers, default=[], help="sizes of preferential-attachment graphs"
    )
    parser.add_argument(
        "--top-down", type=numbers, default=[], help="routers of top-down topologies of 50 ASes"
    )
    parser.add_argument("--grid", type=numbers, default=[], help="sides of cut grids")
    parser.add_argument(
        "--rmat", type=words, default=[], help="RMAT graphs, SCALE:FACTOR (links per node)"
    )
    parser.add_argument("--question", type=words, default=["diameter"], help=",".join(QUESTIONS))
    parser.add_argument("--device", type=words, default=["cpu"], help="cpu,gpu")
    every = [OURS, *PROGRAMS]
    parser.add_argument("--programs", type=words, default=every, help="some of " + ", ".join(every))
    parser.add_argument(
        "--ablation", action="store_true", help="also measure without each reduction"
    )
    parser.add_argument("--effective", action="store_true", help="also measure effective diameters")
    parser.add_argument(
        "--seeds", type=int, default=1, help="number of graphs of each generated kind"
    )
    parser.add_argument(
        "--cutoff",
        type=float,
        default=600.0,
        help="seconds after which a call of another program is ended",
    )
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each row of ours")
    parser.add_argument(
        "--cores", type=int, default=1, help="number of cores that all programs share"
    )
    parser.add_argument("--subject", default="diameter", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    kinds = ("files", "nodes", "top_down", "grid", "rmat")
    if not any(getattr(arguments, kind) for kind in kinds):
        arguments.nodes, arguments.top_down, arguments.grid = [10_000, 100_000], [100_000], [300]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-arguments.cores :])
    compile_cpu()
    bench, others = Bench(arguments), OtherWork()
    scales = [(int(scale), int(factor)) for scale, factor in (w.split(":") for w in arguments.rmat)]
    made = (arguments.files, arguments.nodes, arguments.top_down, arguments.grid, scales)
    try:
        for name, make in graphs(*made):
            bench.graph(name, make)
    finally:  # a stopped run keeps what it measured
        reported = others.n_cores()
        record(arguments.subject, bench.rows, arguments.results, cores_of_others=reported)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
