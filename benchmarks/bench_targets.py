"""Kernels compiled for x86-64-v3, as they come along, and for this processor, in alternation.

``python benchmarks/bench_targets.py``; two processes, each of which runs all searches once when it
is its turn. Milliseconds are those of the processor, the least of all rounds. Results must be
equal; a ratio above 1 says that x86-64-v3 takes longer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import REPOSITORY, record

RUN = """
import hashlib, json, sys, time
import numpy as np
import kernels
from benchmarks.lib.graphs import attachment, cut_grid, with_weights
from kernels.host import compile_cpu

n = int(sys.argv[1])
compile_cpu(["searches", "widths", "weights", "forests"])
made = {"attachment": attachment(n), "cut grid": cut_grid(int(n**0.5))}
graphs = {name: with_weights(graph) for name, graph in made.items()}

def sweeps(graph):
    return kernels.msbfs(graph, np.arange(512) * (graph.n_nodes // 512)).eccentricity

tasks = {
    "bfs": lambda graph: kernels.bfs(graph, 0).level,
    "msbfs": sweeps,
    "components": lambda graph: kernels.components(graph).component,
    "sssp": lambda graph: kernels.sssp(graph, 0).distance,
    "mst": lambda graph: np.sort(kernels.mst(graph).weights),
    "diameter": lambda graph: np.array(kernels.diameter(graph).diameter),
}
print("ready", flush=True)
for _ in sys.stdin:
    said = {}
    for name, graph in graphs.items():
        for task, run in tasks.items():
            began = time.process_time()
            answer = run(graph)
            took = time.process_time() - began
            digest = hashlib.sha256(np.ascontiguousarray(answer).tobytes()).hexdigest()
            said[f"{task}, {name}"] = [took * 1000, digest]
    print(json.dumps(said), flush=True)
"""


def variables(target: str) -> dict[str, str]:
    """Variables by which numba compiles for a processor."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_CPU")}
    if target == "native":
        from llvmlite import binding

        kept["NUMBA_CPU_NAME"] = binding.get_host_cpu_name()
        kept["NUMBA_CPU_FEATURES"] = binding.get_host_cpu_features().flatten()
    return kept | {"PYTHONPATH": str(REPOSITORY)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--subject", default="targets_2_cores")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    words = [sys.executable, "-c", RUN, str(given.nodes)]
    processes = {}
    for target in ("x86-64-v3", "native"):
        processes[target] = subprocess.Popen(
            words, env=variables(target), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert _line(processes[target].stdout) == "ready\n"
    rounds: dict[str, list[dict]] = {target: [] for target in processes}
    for number in range(given.rounds + 1):  # the first one warms up
        for target in sorted(processes, reverse=bool(number % 2)):
            stdin = processes[target].stdin
            assert stdin is not None
            stdin.write("go\n")
            stdin.flush()
            rounds[target].append(json.loads(_line(processes[target].stdout)))
    rows = []
    for name in rounds["native"][0]:
        digests = {said[name][1] for each in rounds.values() for said in each}
        if len(digests) > 1:
            raise SystemExit(f"{name}: the answers differ")
        row = {target: min(said[name][0] for said in each[1:]) for target, each in rounds.items()}
        ratio = round(row["x86-64-v3"] / row["native"], 3)
        rows.append({"task": name, "portable_ms": row["x86-64-v3"], "native_ms": row["native"]})
        rows[-1] |= {"ratio": ratio, "rounds": given.rounds}
    record(given.subject, rows, given.results, load=os.getloadavg()[0], nodes=given.nodes)
    for process in processes.values():
        process.communicate()


def _line(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline()


if __name__ == "__main__":
    main()
