"""More programs of papers beside ours, on the same graphs, one after the other on one machine.

Command: python benchmarks/bench_programs.py [--wasp FOLDER] [--ecl-suite FOLDER]
[--gunrock FOLDER --moderngpu FOLDER] [--weighted KIND:SIZE,...] [--graphs KIND:SIZE,...]
[--sources N] [--results FOLDER]

Medians over the same sources; what is reached, and how far, must be equal. Wasp: shortest paths on
all cores, weights 1 to 1,000, as it times itself, from what it allocates to the last distance, with
the bucket that is best; ``delta_ms`` is our own delta-stepping in C++ likewise; ``call_ms`` the
whole call of ours, ``one_core_ms`` that of one thread. ECL-CC: components, the kernels between two
events, medians of five; Gunrock: searches, as it times itself. Their graphs lie on the GPU before
the clock starts.
All programs are compiled at once, before the first is measured.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bench_research import FACTOR, on_gpu
from benchmarks.lib.graphs import with_weights
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import time_calls
from benchmarks.partition.drawn import graph_named, host_graph
from benchmarks.peers import programs
from benchmarks.peers.delta_stepping import DeltaStepping
from benchmarks.peers.research import commit_of, write_ecl
from kernels import CSRGraph, bfs, components, sssp
from kernels._cpu.threads import use_threads
from kernels.host import n_cores


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--wasp", type=Path, help="a clone of DIPSA-QUB/wasp")
    parser.add_argument("--ecl-suite", type=Path, help="a clone of burtscher/ECL-Suite")
    parser.add_argument("--gunrock", type=Path, help="a clone of gunrock/gunrock")
    parser.add_argument("--moderngpu", type=Path, help="a clone of moderngpu/moderngpu")
    parser.add_argument("--weighted", default="", help="graphs whose shortest paths are searched")
    parser.add_argument("--graphs", default="", help="graphs whose components and levels are")
    parser.add_argument("--sources", type=int, default=16)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    given = parser.parse_args()
    if given.gunrock and not given.moderngpu:
        parser.error("Gunrock is compiled with moderngpu: give its folder")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        built = _built(given, work)
        weighted = filter(None, given.weighted.split(","))
        rows += [paths(name, built["wasp"], work, given.sources) for name in weighted]
        for name in filter(None, given.graphs.split(",")):
            rows += gpu_rows(name, built, work, given.sources)
    clones = ("wasp", "ecl_suite", "gunrock", "moderngpu")
    folders = {name: getattr(given, name) for name in clones if getattr(given, name)}
    versions = {name: commit_of(folder) for name, folder in folders.items()}
    record("programs", rows, given.results, programs=versions)


def _built(given: argparse.Namespace, work: Path) -> dict[str, Path]:
    builds: dict[str, Callable[[], Path]] = {}
    if given.wasp:
        builds["wasp"] = lambda: programs.build_wasp(given.wasp, work)
    if given.ecl_suite:
        builds["ecl_cc"] = lambda: programs.build_ecl_cc(given.ecl_suite, work)
    if given.gunrock:
        builds["gunrock"] = lambda: programs.build_gunrock(given.gunrock, given.moderngpu, work)
    with ThreadPoolExecutor(max(1, len(builds))) as pool:
        running = {name: pool.submit(build) for name, build in builds.items()}
        return {name: each.result() for name, each in running.items()}


def _sources(graph: CSRGraph, indptr: np.ndarray, n: int) -> list[int]:
    some = np.flatnonzero(np.diff(indptr))
    return np.random.default_rng(1).choice(some, min(n, len(some)), replace=False).tolist()


def paths(name: str, program: Path, work: Path, n_sources: int) -> dict[str, Any]:
    """A row of Wasp and ours on cores."""
    graph = with_weights(host_graph(graph_named(name, FACTOR)))
    path = programs.write_wsg(work / "graph.wsg", graph)
    sources = _sources(graph, graph.indptr, n_sources)
    once = {"at_least": len(sources), "at_most": len(sources)}
    reached: dict[int, tuple[int, int]] = {}

    def search(source: int) -> None:
        result = sssp(graph, source)
        found = result.n_reached, int(result.eccentricity)
        if reached.setdefault(source, found) != found:
            raise AssertionError(f"{name}: threads and one core differ")

    calls = [(source,) for source in sources]
    ours = time_calls(search, calls, **once)
    use_threads(1)
    alone = time_calls(search, calls, **once)
    use_threads(None)
    wasp = programs.Wasp(program, path, n_cores())
    found = wasp.search([sources[0], *sources])[1:]  # the first one starts the threads
    if [each[1:] for each in found] != [reached[source] for source in sources]:
        raise AssertionError(f"{name}: Wasp and ours differ")
    delta = DeltaStepping(graph, n_cores())
    stepped = time_calls(delta.sssp, calls, **once)
    row = {"graph": name, "what": "shortest paths", "n_nodes": graph.n_nodes}
    row |= {"n_arcs": graph.n_arcs, "n_sources": len(sources), "n_threads": n_cores()}
    row |= {"call_ms": round(ours.median_ms, 3), "one_core_ms": round(alone.median_ms, 3)}
    row |= {"wasp_ms": round(1e3 * statistics.median(took for took, _, _ in found), 3)}
    row |= {"wasp_width": wasp.width, "delta_ms": round(stepped.median_ms, 3)}
    print(row, file=sys.stderr, flush=True)
    return row


def gpu_rows(name: str, built: dict[str, Path], work: Path, n_sources: int) -> list[dict[str, Any]]:
    """Rows of ECL-CC and Gunrock beside ours."""
    graph = on_gpu(name)
    path = write_ecl(work / "graph.egr", graph.to("cpu"))
    sources = _sources(graph, graph.indptr.get(), n_sources)
    about = {"graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs}
    rows = []
    if "ecl_cc" in built:
        n_components, times = programs.run_ecl_cc(built["ecl_cc"], path)
        ours = time_calls(lambda: components(graph))
        if ours.last.n_components != n_components:
            raise AssertionError(f"{name}: ECL-CC finds {n_components} components")
        rows.append(
            about
            | {"what": "components", "n_components": n_components}
            | {"ecl_cc_ms": round(1e3 * statistics.median(times), 4)}
            | {"call_ms": round(ours.median_ms, 4), "min_ms": ours.columns()["min_ms"]}
        )
        print(rows[-1], file=sys.stderr, flush=True)
    if "gunrock" in built:
        found = programs.run_gunrock(built["gunrock"], path, [sources[0], *sources])[1:]
        results = [bfs(graph, source) for source in sources]
        expected = [(each.n_reached, each.eccentricity) for each in results]
        if [each[:2] for each in found] != expected:
            raise AssertionError(f"{name}: Gunrock and ours differ")
        calls = [(graph, source) for source in sources]
        ours = time_calls(bfs, calls, at_least=len(sources))
        rows.append(
            about
            | {"what": "search", "n_sources": len(sources), "call_ms": round(ours.median_ms, 4)}
            | {"gunrock_ms": round(statistics.median(took for _, _, took in found), 4)}
        )
        print(rows[-1], file=sys.stderr, flush=True)
    path.unlink()
    return rows


if __name__ == "__main__":
    main()
