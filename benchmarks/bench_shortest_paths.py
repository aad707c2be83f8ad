"""Shortest paths by weight from one source, and weighted widths, compared with other programs.

Command: python benchmarks/bench_shortest_paths.py [--nodes N,N] [--grid SIDE] [--device cpu,gpu]
[--brute NODES] [--only-searches] [--subject RESULT]

Weights are seeded: whole numbers from 1 to 1,000. Each row of a search is the wall time of a call
on arrays that lie on the device already, from one source after another, the device idle before and
after; ours is certified before it is timed, others agree with it. Each row of a width is one call.
No other program here bounds weighted eccentricities, so theirs are a search from each node
(``--brute``: on graphs of at most that many nodes), cut off at ``--cutoff`` seconds.
All programs use one core, but delta-stepping all (one of them also one), with the width of a bucket
that is fastest for the graph; what is not installed is left out. ``cpu_ms`` is the mean processor
time of a call, of all its threads.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.baselines import dijkstra
from benchmarks.lib.graphs import attachment, cut_grid, with_weights
from benchmarks.lib.record import RESULTS, record
from benchmarks.lib.timing import OtherWork, time_calls, time_once, waiter
from benchmarks.peers.cugraph_peer import CuGraph
from benchmarks.peers.delta_stepping import DeltaStepping
from benchmarks.peers.lagraph_peer import LAGraph
from kernels import (
    CSRGraph,
    sssp,
    weighted_center,
    weighted_diameter,
    weighted_radius,
    weighted_widths,
)
from kernels.csr import to_host
from kernels.host import compile_cpu, n_cores
from kernels.shortest_paths.check import check_distances, check_parents

NODES = (10_000, 100_000, 1_000_000)
N_SOURCES = 5
Row = dict[str, Any]


def peers(graph: CSRGraph) -> dict[str, Callable[[int], Any]]:
    """Searches by programs that are installed: source -> distances."""
    found: dict[str, Callable[[int], Any]] = {}
    assert graph.weights is not None
    weights = graph.weights.astype(np.float64)
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    ahead = tails < graph.indices
    ends = tails[ahead], graph.indices[ahead]
    try:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

        parts = (weights, graph.indices, graph.indptr.astype(np.int32))
        matrix = csr_array(parts, shape=(graph.n_nodes, graph.n_nodes))
        found["scipy"] = lambda source: scipy_dijkstra(matrix, indices=source)
    except ImportError:
        pass
    try:
        import networkit

        coo = (weights[ahead], tuple(end.astype(np.uint64) for end in ends))
        theirs = networkit.GraphFromCoo(coo, n=graph.n_nodes, weighted=True)

        def by_networkit(source: int) -> np.ndarray:
            search = networkit.distance.Dijkstra(theirs, source, storePaths=False)
            search.run()
            return search.getDistances(asarray=True)

        found["networkit"] = by_networkit
    except ImportError:
        pass
    try:
        import igraph

        other = igraph.Graph(n=graph.n_nodes, edges=np.column_stack(ends))
        other.es["weight"] = weights[ahead]
        found["igraph"] = lambda source: other.distances(source=source, weights="weight")[0]
    except ImportError:
        pass
    return found


def delta_steppers(graph: CSRGraph) -> Iterator[tuple[str, Any]]:
    """(name, program) of searches on all cores; those that cannot be had are named on stderr."""
    makes: dict[str, Callable[[], Any]] = {
        "delta-stepping after GAP": lambda: DeltaStepping(graph, n_cores()),
        "delta-stepping after GAP, one thread": lambda: DeltaStepping(graph, 1),
        "LAGraph, delta-stepping": lambda: LAGraph(graph),
    }
    for name, make in makes.items():
        try:
            yield name, make()
        except ImportError as error:
            print(f"{name}: {error}", file=sys.stderr)


def as_distances(found: Any) -> np.ndarray:
    """Of any program, float64, inf where no path leads."""
    found = np.asarray(found)
    far = np.iinfo(np.int32).max if found.dtype == np.int32 else 1e300
    return np.where(found >= far, np.inf, found)


def time_searches(name: str, graph: CSRGraph, device: str) -> list[Row]:
    """One row per program."""
    here = graph.to("gpu" if device == "gpu" else "cpu")
    sources = [(int(source),) for source in np.linspace(0, graph.n_nodes - 1, N_SOURCES)]
    expected = sssp(here, sources[0][0], parents=True)
    arrays = (graph.indptr, graph.indices, graph.weights, expected.source)
    check_distances(*arrays, expected.distance)
    check_parents(*arrays, expected.distance, expected.parent)
    calls: dict[str, Callable[[int], Any]] = {
        "hopscope": lambda source: sssp(here, source),
        "hopscope, with parents": lambda source: sssp(here, source, parents=True),
    }
    reads: dict[str, Callable[[Any], np.ndarray]] = {}
    widths: dict[str, int] = {}
    if device == "cpu":
        calls["hopscope, Dijkstra with a heap"] = lambda source: dijkstra(here, source)
        calls |= peers(graph)
        for by, other in delta_steppers(graph):
            calls[by], widths[by] = other.sssp, other.width
            reads[by] = getattr(other, "distances_of", np.asarray)
    else:
        with contextlib.suppress(ImportError):
            CuGraph.check()
            other = CuGraph(here)
            calls["cuGraph"], reads["cuGraph"] = other.sssp, other.distances_of
    rows = []
    for program, call in calls.items():
        if not program.startswith("hopscope"):
            theirs = reads.get(program, np.asarray)(call(expected.source))
            np.testing.assert_allclose(as_distances(theirs), to_host(expected.distance))
        others, busy = OtherWork(), time.process_time()
        timing = time_calls(call, sources, wait=waiter(device), budget_s=0.5)
        busy = time.process_time() - busy
        row = {"graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs, "device": device}
        row |= {"task": "one source", "program": program, **timing.columns()}
        row |= {"cpu_ms": round(1e3 * busy / len(timing.times_s), 3)}
        row |= {"bucket": widths[program]} if program in widths else {}
        rows.append(row | {"other_cores_busy": others.n_cores()})
    return rows


def time_widths(name: str, graph: CSRGraph, device: str, most: int) -> list[Row]:
    """One row per question; an interval where it takes over ``most`` searches."""
    here = graph.to("gpu" if device == "gpu" else "cpu")
    rows = []
    for question in (weighted_diameter, weighted_radius, weighted_center):
        wall_s, found = time_once(question, here, most)
        row = {"graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs, "device": device}
        row |= {"task": question.__name__, "program": "hopscope", "wall_s": round(wall_s, 4)}
        row |= {"n_searches": found.n_searches, "exact": found.exact}
        rows.append(row | {"lower": found.lower, "upper": found.upper})
    return rows


def time_brute(name: str, graph: CSRGraph, cutoff_s: float) -> list[Row]:
    """One row per program: all eccentricities; the others by a search from each node.

    ``cpu_s`` is more reliable than ``wall_s`` if other work shares the cores.
    """
    busy = time.process_time()
    wall_s, ours = time_once(weighted_widths, graph, ["eccentricities"])
    busy = time.process_time() - busy
    eccentricity = ours.eccentricity
    assert eccentricity is not None
    common = {"graph": name, "n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs, "device": "cpu"}
    common |= {"task": "all eccentricities"}
    row = {"program": "hopscope", "wall_s": round(wall_s, 4), "cpu_s": round(busy, 4)}
    rows = [common | row | {"n_searches": int(ours.n_searches.sum()), "exact": True}]
    for program, search in peers(graph).items():
        found, started, others = [], time.perf_counter(), OtherWork()
        busy = time.process_time()
        while len(found) < graph.n_nodes and time.perf_counter() - started < cutoff_s:
            distance = np.asarray(search(len(found)))
            found.append(distance[distance < 1e300].max())
        row = {"program": program, "wall_s": round(time.perf_counter() - started, 2)}
        row["cpu_s"] = round(time.process_time() - busy, 2)
        row |= {"n_searches": len(found), "exact": len(found) == graph.n_nodes}
        np.testing.assert_allclose(found, eccentricity[: len(found)])
        rows.append(common | row | {"other_cores_busy": others.n_cores()})
    return rows


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--nodes", type=numbers, default=list(NODES))
    parser.add_argument("--grid", type=int, default=1000, help="side of the cut grid; 0: none")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--most", type=int, default=200, help="limit of searches for a width")
    parser.add_argument(
        "--brute",
        type=int,
        default=10_000,
        help="largest graph, in nodes, searched from each node by other programs",
    )
    parser.add_argument(
        "--cutoff", type=float, default=600, help="seconds after which such a program is ended"
    )
    parser.add_argument("--only-searches", action="store_true", help="no widths")
    parser.add_argument("--subject", default="shortest_paths")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results file")
    arguments = parser.parse_args()
    compile_cpu()
    graphs = [(f"attachment {n:,}", lambda n=n: attachment(n)) for n in arguments.nodes]
    if arguments.grid:
        graphs.append((f"cut grid {arguments.grid}", lambda: cut_grid(arguments.grid)))
    rows = []
    for name, make in graphs:
        graph = with_weights(make())
        for device in arguments.device.split(","):
            rows += time_searches(name, graph, device)
            if not arguments.only_searches:
                rows += time_widths(name, graph, device, arguments.most)
        if arguments.only_searches:
            continue
        if "cpu" in arguments.device.split(",") and graph.n_nodes <= arguments.brute:
            rows += time_brute(name, graph, arguments.cutoff)
    record(arguments.subject, rows, arguments.results)


if __name__ == "__main__":
    main()
