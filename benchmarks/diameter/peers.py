"""Diameters by other programs, each in its own process, whose calls are cut off.

The child (``python -m benchmarks.diameter.peers``) takes a graph from a file, makes it the
program's own, and prints one line per call. An alarm that nothing catches ends it when a call takes
too long, also in the middle of another program's compiled code.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lib.record import REPOSITORY
from benchmarks.lib.timing import Timing
from kernels import CSRGraph

PROGRAMS = {  # module and class
    "NetworKit": ("benchmarks.peers.networkit_peer", "NetworKit"),
    "igraph": ("benchmarks.peers.igraph_peer", "Igraph"),
    "F-Diam": ("benchmarks.peers.f_diam", "FDiam"),
    "plain bounds": ("benchmarks.peers.baselines", "PlainBounds"),
    "one search per node": ("benchmarks.peers.f_diam", "BruteForce"),
}
ONE_THREAD = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS")
BUDGET_S = 1.0  # of calls
NO_CALL = "no call"  # of this program for that question
Row = dict[str, Any]


def time_program(
    name: str, graph: CSRGraph, question: str, cutoff_s: float, expected: int | None = None
) -> Row:
    """The columns of a row: medians and what was found, or why there is none.

    ``note`` says ``> N s`` where a call was cut off, or what went wrong; so is a value other than
    ``expected``. Where only ``n_timed`` sources were searched, times are scaled to all.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.npz"
        np.savez(file, indptr=graph.indptr, indices=graph.indices)
        words = [sys.executable, "-m", "benchmarks.diameter.peers", name, question, str(file)]
        words += ["--cutoff", str(cutoff_s)]
        environment = dict(os.environ, **dict.fromkeys(ONE_THREAD, "1"))
        done = subprocess.run(
            words, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
        )
    calls = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not calls:
        if done.returncode == -signal.SIGALRM:
            return {"note": f"> {cutoff_s:g} s", "cutoff_s": cutoff_s}
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return {"note": NO_CALL if last == NO_CALL else f"failed: {last[:200]}"}
    about = calls[-1]
    row = Timing(tuple(call["wall_s"] for call in calls)).columns()
    n_timed = about.get("n_timed", graph.n_nodes)
    if n_timed < graph.n_nodes:
        scale = graph.n_nodes / n_timed
        times = {key: value * scale for key, value in row.items() if key.endswith("_ms")}
        return row | times | {"n_timed": n_timed, "threads": 1}
    if expected is not None and about["value"] != expected:
        return {"note": f"wrong: {about['value']}, not {expected}"}
    if about.get("n_searches"):
        row["n_searches"] = about["n_searches"]
    return row | {"value": about["value"], "threads": 1}


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=PROGRAMS)
    parser.add_argument("question")
    parser.add_argument("file", type=Path)
    parser.add_argument("--cutoff", type=float, default=600.0)
    arguments = parser.parse_args()
    module, kind = PROGRAMS[arguments.name]
    peer_kind = getattr(importlib.import_module(module), kind)
    if arguments.name == "NetworKit":
        import networkit

        networkit.setNumberOfThreads(1)
    stored = np.load(arguments.file)
    graph = CSRGraph(stored["indptr"], stored["indices"], trusted=True)
    if not hasattr(peer_kind, arguments.question):
        raise SystemExit(NO_CALL)
    # Code is compiled, or loaded from its cache, before the clock starts.
    tiny = CSRGraph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
    getattr(peer_kind(tiny), arguments.question)()
    peer = peer_kind(graph)
    times: list[float] = []
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    while True:
        signal.setitimer(signal.ITIMER_REAL, arguments.cutoff)
        started = time.perf_counter()
        value = getattr(peer, arguments.question)()
        times.append(time.perf_counter() - started)
        signal.setitimer(signal.ITIMER_REAL, 0)
        call = {"wall_s": times[-1], "value": value}
        for name in ("n_searches", "n_timed"):
            if hasattr(peer, name):
                call[name] = getattr(peer, name)
        print(json.dumps(call), flush=True)
        enough = 1 if statistics.median(times) > BUDGET_S else 3
        is_enough = len(times) >= enough and sum(times) >= BUDGET_S
        if is_enough or len(times) >= 101:
            break


if __name__ == "__main__":
    _main()
