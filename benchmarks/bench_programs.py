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
All programs are compiled at once, before the first is measured. One that cannot be compiled, fails
or does not end in time is said on stderr, and the others go on; so is a Gunrock that finds other
levels than ours, which are proved.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

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

Result = TypeVar("Result")


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
    clones = ("wasp", "ecl_suite", "gunrock", "moderngpu")
    folders = {name: getattr(given, name) for name in clones if getattr(given, name)}
    versions = {name: commit_of(folder) for name, folder in folders.items()}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        built = _built(given, work)
        try:
            for name in filter(None, given.weighted.split(",")):
                rows += [paths(name, built, work, given.sources)]
            for name in filter(None, given.graphs.split(",")):
                rows += gpu_rows(name, built, work, given.sources)
        finally:  # what was measured until then, where it is interrupted
            record("programs", rows, given.results, programs=versions)


def _built(given: argparse.Namespace, work: Path) -> dict[str, Path]:
    """The programs that could be compiled."""
    builds: dict[str, Callable[[], Path]] = {}
    if given.wasp:
        builds["wasp"] = lambda: programs.build_wasp(given.wasp, work)
    if given.ecl_suite:
        builds["ecl_cc"] = lambda: programs.build_ecl_cc(given.ecl_suite, work)
    if given.gunrock:
        builds["gunrock"] = lambda: programs.build_gunrock(given.gunrock, given.moderngpu, work)
    with ThreadPoolExecutor(max(1, len(builds))) as pool:
        running = {name: pool.submit(_tried, name, build) for name, build in builds.items()}
    found = {name: each.result() for name, each in running.items()}
    return {name: program for name, program in found.items() if program is not None}


def _tried(what: str, call: Callable[[], Result]) -> Result | None:
    """What ``call`` returns; None, and the reason on stderr, if a program of it fails or hangs."""
    began, reason, result = time.perf_counter(), "", None
    try:
        result = call()
    except subprocess.SubprocessError as error:
        said = getattr(error, "stderr", None) or b""
        said = said.decode(errors="replace") if isinstance(said, bytes) else said
        reason = f": {type(error).__name__} {said[-500:]}"
    print(f"{what}: {time.perf_counter() - began:.1f} s{reason}", file=sys.stderr, flush=True)
    return result


def _sources(graph: CSRGraph, indptr: np.ndarray, n: int) -> list[int]:
    some = np.flatnonzero(np.diff(indptr))
    return np.random.default_rng(1).choice(some, min(n, len(some)), replace=False).tolist()


def paths(name: str, built: dict[str, Path], work: Path, n_sources: int) -> dict[str, Any]:
    """A row of Wasp and ours on cores."""
    graph = with_weights(host_graph(graph_named(name, FACTOR)))
    sources = _sources(graph, graph.indptr, n_sources)
    reached: dict[int, tuple[int, int]] = {}
    row = {"graph": name, "what": "shortest paths", "n_nodes": graph.n_nodes}
    row |= {"n_arcs": graph.n_arcs, "n_sources": len(sources), "n_threads": n_cores()}

    def search(source: int) -> None:
        result = sssp(graph, source)
        found = result.n_reached, int(result.eccentricity)
        if reached.setdefault(source, found) != found:
            raise AssertionError(f"{name}: threads and one core differ")

    def median_ms(call: Callable[[int], Any]) -> float:
        calls = [(source,) for source in sources]
        return round(time_calls(call, calls, budget_s=0, at_least=len(sources)).median_ms, 3)

    search(sources[0])
    row["call_ms"] = median_ms(search)
    use_threads(1)
    row["one_core_ms"] = median_ms(search)
    use_threads(None)
    stepping = DeltaStepping(graph, n_cores())
    row |= {"delta_ms": median_ms(stepping.sssp), "delta_width": stepping.width}
    if "wasp" in built:
        path = programs.write_wsg(work / "graph.wsg", graph)

        def run_wasp() -> dict[str, Any]:
            wasp = programs.Wasp(built["wasp"], path, n_cores())
            found = wasp.search([sources[0], *sources])[1:]  # the first one starts the threads
            if [each[1:] for each in found] != [reached[source] for source in sources]:
                raise AssertionError(f"{name}: Wasp and ours differ")
            took_s = statistics.median(took for took, _, _ in found)
            return {"wasp_ms": round(1e3 * took_s, 3), "wasp_width": wasp.width}

        row |= _tried(f"{name}: wasp", run_wasp) or {}
        path.unlink()
    print(row, file=sys.stderr, flush=True)
    return row


def gpu_rows(name: str, built: dict[str, Path], work: Path, n_sources: int) -> list[dict[str, Any]]:
    """Rows of ECL-CC and Gunrock beside ours."""
    graph = on_gpu(name)
    path = write_ecl(work / "graph.egr", graph.to("cpu"))
    sources = _sources(graph, graph.indptr.get(), n_sources)
    about = {"graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs}
    rows = []
    found = None
    if "ecl_cc" in built:
        found = _tried(f"{name}: ECL-CC", lambda: programs.run_ecl_cc(built["ecl_cc"], path))
    if found is not None:
        n_components, times = found
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
    levels = None
    if "gunrock" in built:
        twice = [sources[0], *sources]
        levels = _tried(
            f"{name}: Gunrock", lambda: programs.run_gunrock(built["gunrock"], path, twice)
        )
    if levels is not None:
        results = [bfs(graph, source) for source in sources]
        for each in results:
            each.check()
        expected = [(each.n_reached, each.eccentricity) for each in results]
        theirs = [each[:2] for each in levels[1:]]
        if theirs != expected:  # ours is proved: Gunrock has no time
            print(f"{name}: Gunrock finds {theirs}, not {expected}", file=sys.stderr, flush=True)
            levels = None
    if levels is not None:
        calls = [(graph, source) for source in sources]
        ours = time_calls(bfs, calls, at_least=len(sources))
        rows.append(
            about
            | {"what": "search", "n_sources": len(sources), "call_ms": round(ours.median_ms, 4)}
            | {"gunrock_ms": round(statistics.median(took for _, _, took in levels[1:]), 4)}
        )
        print(rows[-1], file=sys.stderr, flush=True)
    path.unlink()
    return rows


if __name__ == "__main__":
    main()
