"""Programs of papers beside ours, on the same graphs, one after the other on one machine.

Command: python benchmarks/bench_research.py [--blest FOLDER] [--f-diam FOLDER] [--ecl-mst FOLDER]
[--graphs rmat:22,attachment:1000000,grid:1000] [--as-drawn rmat:24] [--diameters KIND:SIZE,...]
[--forests KIND:SIZE,...] [--sources N] [--prepare-s SECONDS] [--results FOLDER]

BLEST: medians over the same sources; all must reach as many nodes in as many levels. ``blest_ms``
is what it prints, of launch and wait: its levels are filled and its counters cleared before, and
its graph is in its own order and form, which took it ``prepared_s``. ``kernel_ms`` is ours by the
same clock, all that a search does but counts on their way to the host; ``call_ms`` the whole call.
Graphs of --as-drawn keep their order; what is not prepared after --prepare-s is left out.
F-Diam: with one thread and with all; ours on cores, and of a graph on a GPU. ECL-MST: medians of
five calls.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.graphs import with_weights
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import time_calls
from benchmarks.partition.constants import RMAT
from benchmarks.partition.drawn import drawn_part, graph_named, host_graph, split_of
from benchmarks.peers import research
from kernels import CSRGraph, bfs, msbfs
from kernels.eccentricity import diameter
from kernels.host import n_cores
from kernels.spanning_tree import mst

FACTOR = 16  # links per node of RMAT graphs
MOST_S = 20.0  # for F-Diam


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--blest", type=Path, help="a clone of delbek/blest")
    parser.add_argument("--f-diam", type=Path, help="a clone of burtscher/F-Diam")
    parser.add_argument("--ecl-mst", type=Path, help="a clone of burtscher/ECL-MST")
    parser.add_argument("--graphs", default="", help="searched: KIND:SIZE, comma-separated")
    parser.add_argument("--as-drawn", default="", help="likewise; BLEST keeps their order")
    parser.add_argument("--diameters", default="", help="graphs whose diameter is searched")
    parser.add_argument("--forests", default="", help="graphs whose spanning forest is searched")
    parser.add_argument("--sources", type=int, default=64)
    parser.add_argument("--prepare-s", type=float, default=600.0, help="most seconds to prepare")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    versions = {}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if given.blest:
            versions["blest"] = research.commit_of(given.blest)
            rows += searches(given, research.build_blest(given.blest, work), work)
        if given.f_diam:
            versions["f_diam"] = research.commit_of(given.f_diam)
            program = research.build_f_diam(given.f_diam, work)
            rows += [diameters(name, program, work) for name in _names(given.diameters)]
        if given.ecl_mst:
            versions["ecl_mst"] = research.commit_of(given.ecl_mst)
            program = research.build_ecl_mst(given.ecl_mst, work)
            rows += [forests(name, program, work) for name in _names(given.forests)]
    record("research", rows, given.results, programs=versions)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def on_gpu(name: str) -> CSRGraph:
    """RMAT graphs are made there."""
    drawn = graph_named(name, FACTOR)
    if drawn.kind != RMAT:
        return host_graph(drawn).to("gpu")
    import cupy as cp

    whole, n_arcs = split_of(drawn, 1)
    part = drawn_part(drawn, whole, n_arcs, 0)
    cp.get_default_memory_pool().free_all_blocks()
    return CSRGraph(part.indptr[: drawn.n_nodes + 1], part.indices, trusted=True)


def searches(given: argparse.Namespace, program: Path, work: Path) -> list[dict[str, Any]]:
    """Rows of BLEST and ours, each graph prepared while others are."""
    started = []
    asked = [(name, True) for name in _names(given.graphs)]
    for name, is_reordered in asked + [(name, False) for name in _names(given.as_drawn)]:
        graph = on_gpu(name)
        indptr, indices = graph.indptr.get(), graph.indices.get()
        some = np.flatnonzero(np.diff(indptr))
        sources = np.random.default_rng(1).choice(some, given.sources, replace=False)
        own = work / str(len(started))
        own.mkdir()
        blest = research.Blest(program, own, "graph", is_reordered, n_cores())
        blest.start(indptr, indices, sources)
        started.append((name, blest, sources))
        del graph, indptr, indices
    begin = time.perf_counter()
    while time.perf_counter() - begin < given.prepare_s:
        if all(blest.is_ready() for _, blest, _ in started):
            break
        time.sleep(0.5)
    rows = []
    for name, blest, _ in started:
        if not blest.is_ready():
            blest.process.kill()
            print(f"{name}: not prepared in {given.prepare_s:.0f} s", file=sys.stderr)
    for name, blest, sources in started:
        if blest.is_ready():
            rows.append(_searched(name, blest, sources))
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def _searched(name: str, blest: research.Blest, sources: np.ndarray) -> dict[str, Any]:
    about, reached, levels = _of_ours(name, sources)
    _free()
    times, theirs, their_levels, reorder_s = blest.search()
    if theirs != reached or their_levels != levels:
        raise AssertionError(f"{name}: BLEST and ours differ")
    return about | {
        "is_reordered": blest.is_reordered,
        "blest_ms": round(statistics.median(times[1:]), 4),
        "blest_mean_ms": round(statistics.mean(times[1:]), 4),
        "reorder_s": reorder_s,
        "prepared_s": round(blest.prepared_s, 1),
    }


def _of_ours(name: str, sources: np.ndarray) -> tuple[dict[str, Any], list[int], list[int]]:
    """Figures, and nodes reached and levels of each source."""
    graph = on_gpu(name)
    kernel_s, call_s, reached, levels = [], [], [], []
    for source in [int(sources[0]), *sources.tolist()]:  # the first one compiles
        begin = time.perf_counter()
        result = bfs(graph, source)
        call_s.append(time.perf_counter() - begin)
        reached.append(result.n_reached)
        levels.append(result.eccentricity + 1)
        kernel_s.append(_kernel_s(graph, source))
    swept = time_calls(lambda: msbfs(graph, sources[:64]))
    about = {
        "graph": name,
        "n_nodes": graph.n_nodes,
        "n_arcs": graph.n_arcs,
        "n_sources": len(sources),
        "call_ms": round(1e3 * statistics.median(call_s[1:]), 4),
        "kernel_ms": round(1e3 * statistics.median(kernel_s[1:]), 4),
        "sweep_ms": round(swept.median_ms, 4),
        "n_swept": min(64, len(sources)),
    }
    return about, reached[1:], levels[1:]


def _kernel_s(graph: CSRGraph, source: int) -> float:
    """Launch and wait of one search."""
    import cupy as cp

    from kernels.breadth_first import gpu

    loaded, times = gpu.load_kernel, []

    def timed(*given: Any, **options: Any) -> Any:
        kernel = loaded(*given, **options)

        class Timed:
            def __getattr__(self, name: str) -> Any:
                return getattr(kernel, name)

            def __call__(self, *launched: Any) -> None:
                cp.cuda.Device().synchronize()
                begin = time.perf_counter()
                kernel(*launched)
                cp.cuda.Device().synchronize()
                times.append(time.perf_counter() - begin)

        return Timed()

    gpu.load_kernel = timed
    try:
        bfs(graph, source)
    finally:
        gpu.load_kernel = loaded
    return sum(times)  # of a long search several launches


def _free() -> None:
    import cupy as cp

    cp.get_default_memory_pool().free_all_blocks()


def diameters(name: str, program: Path, work: Path) -> dict[str, Any]:
    """A row of F-Diam and ours."""
    graph = host_graph(graph_named(name, FACTOR))
    path = research.write_ecl(work / "graph.egr", graph)
    ours = time_calls(lambda: diameter(graph))
    row = {"graph": name, "diameter": ours.last.diameter, "cpu_ms": round(ours.median_ms, 4)}
    if _has_gpu():
        moved = graph.to("gpu")
        found = time_calls(lambda: diameter(moved))
        row["gpu_ms"] = round(found.median_ms, 4)
        if found.last.diameter != ours.last.diameter:
            raise AssertionError(f"{name}: core and GPU differ")
    for n_threads in dict.fromkeys((1, n_cores())):
        runs = [research.run_f_diam(program, path, n_threads, MOST_S)]
        while len(runs) < 3 and runs[0][1] < MOST_S / 4:
            runs.append(research.run_f_diam(program, path, n_threads, MOST_S))
        if {value for value, _ in runs} - {ours.last.diameter, -1}:
            raise AssertionError(f"{name}: F-Diam finds {runs}")
        row[f"f_diam_{n_threads}_ms"] = round(1e3 * statistics.median(s for _, s in runs), 2)
    print(row, file=sys.stderr, flush=True)
    return row


def _has_gpu() -> bool:
    try:
        import cupy as cp

        return bool(cp.cuda.is_available())
    except ImportError:
        return False


def forests(name: str, program: Path, work: Path) -> dict[str, Any]:
    """A row of ECL-MST and ours."""
    graph = with_weights(host_graph(graph_named(name, FACTOR)))
    path = research.write_ecl(work / "weighted.egr", graph, graph.weights)
    weight, times = research.run_ecl_mst(program, path)
    moved = graph.to("gpu")
    ours = time_calls(lambda: mst(moved))
    if int(ours.last.total) != weight:
        raise AssertionError(f"{name}: ECL-MST finds {weight}, ours {ours.last.total}")
    row = {"graph": name, "n_arcs": graph.n_arcs, "weight": weight}
    row |= {"call_ms": round(ours.median_ms, 4), "min_ms": ours.columns()["min_ms"]}
    row |= {"ecl_mst_ms": round(1e3 * statistics.median(times), 4)}
    print(row, file=sys.stderr, flush=True)
    return row


if __name__ == "__main__":
    main()
