"""Sequential algorithms and their twins on a GPU: time, peak memory, and where they cross.

Command: python benchmarks/bench_twins.py [--nodes N,N] [--device cpu,gpu] [--algorithms NAME,NAME]
[--longest SECONDS] [--after RESULT] [--clock wall|processor] [--subject RESULT]

Breadth-first and depth-first search, Prim, Kruskal and Dijkstra in their textbook forms on one
core, each beside what takes its place on a GPU, and the fastest of ours for the same question
beside both (spanning forests by it take all cores). Connected random graphs in which each node has
12 to 14 neighbours, weights from 1 to 1,024, all seeded. Each result is certified on graphs of up
to ``--certified`` nodes. Arrays lie on the device already; ``peak_mb`` is what a call allocates at
the same time besides the graph, its result included (on a core what NumPy allocates). A call that
would take over ``--longest`` seconds, by the sizes before it, is left out and has a row that says
so; ``--after`` names results of another run that hold the sizes before. Calls of more than two
seconds are timed once, the first time (on a GPU memory is counted then, too). ``--clock processor``
takes the time that all cores worked, which other programs on the machine change less. Interrupted,
it writes what it has.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.baselines import dijkstra
from benchmarks.lib.figures import CLOCKS, Clock
from benchmarks.lib.graphs import with_weights
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import OtherWork, Timing, time_calls, waiter
from kernels import CSRGraph, bfs, dfs, mst, sssp
from kernels.breadth_first import bfs_queue
from kernels.host import compile_cpu
from pipeline.generate.csr import csr_from_links

NODES = (1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000, 6_800_000)
LEAST_DEGREE, N_CYCLES, N_PAIRINGS = 12, 6, 2
WEIGHTS = 1024
LONG_S = 2.0  # a first call that is not repeated
Row = dict[str, Any]
Call = Callable[[CSRGraph], Any]

# Algorithm -> on a core as in textbooks, its twin on a GPU, and a name of that where it is another.
TWINS: dict[str, tuple[Call, Call, str]] = {
    "bfs": (lambda g: bfs_queue(g, 0), lambda g: bfs(g, 0), ""),
    "dfs": (lambda g: dfs(g, 0, "core"), lambda g: dfs(g, 0, "warp"), "one warp"),
    "prim": (lambda g: mst(g, "prim"), lambda g: mst(g, "prim"), ""),
    "kruskal": (lambda g: mst(g, "kruskal"), lambda g: mst(g, "kruskal"), ""),
    "dijkstra": (lambda g: dijkstra(g, 0), lambda g: sssp(g, 0), "near-far"),
}
# The fastest of ours for the same question, where it is none of these.
FASTEST: dict[str, dict[str, Call]] = {
    "bfs": {"cpu": lambda g: bfs(g, 0)},
    "prim": {"cpu": mst, "gpu": mst},
    "dijkstra": {"cpu": lambda g: sssp(g, 0)},
}


def between_degrees(n_nodes: int, seed: int = 1) -> CSRGraph:
    """A connected graph of nodes with 12 to 14 neighbours: random cycles and pairings, together."""
    while True:
        rng = np.random.default_rng((seed, n_nodes))
        rows = [rng.permutation(n_nodes) for _ in range(N_CYCLES + N_PAIRINGS)]
        near = [*rows[:N_CYCLES], *(row[: n_nodes // 2] for row in rows[N_CYCLES:])]
        far = [np.roll(row, 1) for row in rows[:N_CYCLES]]
        far += [row[-(n_nodes // 2) :] for row in rows[N_CYCLES:]]
        ends = np.sort(np.stack([np.concatenate(near), np.concatenate(far)]), axis=0)
        low, high = np.divmod(np.unique(ends[0] * n_nodes + ends[1]), n_nodes)
        graph = csr_from_links(n_nodes, low, high)
        if np.diff(graph.indptr).min() >= LEAST_DEGREE:
            return graph
        seed += 1


def peak_bytes(call: Callable[[], Any], device: str) -> int:
    """Most bytes that a call has allocated at the same time, its result included."""
    if device == "gpu":
        with counting() as counted:
            call()
        return counted.peak
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def counting() -> Any:
    """A context that counts what CuPy allocates within it: the most at a time in ``peak``."""
    import cupy

    class Counting(cupy.cuda.MemoryHook):
        name = "Counting"
        used = peak = 0

        def malloc_postprocess(self, **given: Any) -> None:
            self.used += given["mem_size"]
            self.peak = max(self.peak, self.used)

        def free_postprocess(self, **given: Any) -> None:
            self.used -= given["mem_size"]

    return Counting()


class Bench:
    """The rows of one run."""

    def __init__(
        self,
        longest_s: float,
        n_certified: int,
        clock: Clock,
        algorithms: Sequence[str] = tuple(TWINS),
    ):
        self.rows: list[Row] = []
        self.longest_s, self.n_certified, self.clock = longest_s, n_certified, clock
        self.algorithms = algorithms
        self.last: dict[tuple[str, str, str], tuple[int, float]] = {}  # nodes and seconds

    def go_on_after(self, rows: list[Row]) -> None:
        """Leave calls out by what those of another run took."""
        for row in sorted(rows, key=lambda row: row["n_nodes"]):
            if "median_ms" in row:
                key = (row["algorithm"], row["way"], row["device"])
                self.last[key] = (row["n_nodes"], row["median_ms"] / 1e3)

    def add(self, row: Row) -> None:
        self.rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)

    def measure(self, graph: CSRGraph, algorithm: str, way: str, name: str, call: Call) -> None:
        row = {"algorithm": algorithm, "way": way, "name": name, "device": graph.device}
        row |= {"n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs}
        key = (algorithm, way, graph.device)
        n_before, before_s = self.last.get(key, (graph.n_nodes, 0.0))
        # Prim on a GPU looks at all nodes once for each node; for small graphs steps are as long.
        growth = (graph.n_nodes / n_before) ** (1.5 if algorithm == "prim" else 1.1)
        if before_s * growth > self.longest_s:
            some_s = round(before_s * growth)
            self.add(row | {"note": f"left out: some {some_s} s", "estimate_ms": 1000 * some_s})
            return
        wait = waiter(graph.device)
        one: dict[str, Any] = {"budget_s": 0, "at_least": 1, "at_most": 1}
        watched: Any = counting() if graph.device == "gpu" else contextlib.nullcontext()
        with watched:
            timing = time_calls(call, [(graph,)], wait=wait, clock=self.clock, **one)
        if graph.n_nodes <= self.n_certified:
            timing.last.check()
        is_long, timing = timing.times_s[0] > LONG_S, Timing(timing.times_s)  # the result is freed
        if is_long and graph.device == "gpu":
            peak = watched.peak
        else:
            peak = peak_bytes(lambda: call(graph), graph.device)
        if not is_long:
            more: dict[str, Any] = {"budget_s": 0.5, "at_most": 51}
            timing = time_calls(call, [(graph,)], wait=wait, clock=self.clock, **more)
        self.last[key] = (graph.n_nodes, timing.median_ms / 1e3)
        self.add(row | timing.columns() | {"peak_mb": round(peak / 1e6, 3)})

    def graph(self, graph: CSRGraph, devices: list[str]) -> None:
        for device in devices:
            here = graph.to("gpu" if device == "gpu" else "cpu")
            for algorithm in self.algorithms:
                sequential, twin, name = TWINS[algorithm]
                call, own = (sequential, "") if device == "cpu" else (twin, name)
                self.measure(here, algorithm, "twin", own, call)
                if device in FASTEST.get(algorithm, {}):
                    fastest = FASTEST[algorithm][device]
                    self.measure(here, algorithm, "fastest", "", fastest)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--nodes", type=lambda text: [int(n) for n in text.split(",")], default=list(NODES)
    )
    parser.add_argument(
        "--device", type=lambda text: text.split(","), default=["cpu"], help="cpu,gpu"
    )
    parser.add_argument(
        "--algorithms",
        type=lambda text: text.split(","),
        default=list(TWINS),
        help=",".join(TWINS),
    )
    parser.add_argument("--longest", type=float, default=30.0, help="seconds of a call")
    parser.add_argument("--certified", type=int, default=100_000, help="nodes")
    parser.add_argument("--after", help="name of a results file with smaller graphs")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--subject", default="twins", help="name of the results file")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    if arguments.clock == "processor" and "gpu" in arguments.device:
        parser.error("--clock processor: cores alone")
    compile_cpu(["searches", "weights", "forests"])
    if unknown := set(arguments.algorithms) - set(TWINS):
        parser.error(f"--algorithms {','.join(sorted(unknown))}: known are {','.join(TWINS)}")
    given = arguments.longest, arguments.certified, CLOCKS[arguments.clock], arguments.algorithms
    others, bench = OtherWork(), Bench(*given)
    if arguments.after:
        text = (arguments.results / f"{arguments.after}.json").read_text()
        bench.go_on_after(json.loads(text)["rows"])
    if "gpu" in arguments.device:  # all device code is made
        warm_up = Bench(*given)
        warm_up.graph(with_weights(between_degrees(500), most=WEIGHTS), ["gpu"])
    try:
        for n_nodes in arguments.nodes:
            bench.graph(with_weights(between_degrees(n_nodes), most=WEIGHTS), arguments.device)
    finally:  # interrupted, it has measured what it has
        record(arguments.subject, bench.rows, arguments.results, cores_of_others=others.n_cores())


if __name__ == "__main__":
    main()
