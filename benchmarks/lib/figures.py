"""Figures that any state of this project can measure: only names that users call.

As a program (``figures.py FIGURE INPUTS DEVICE STATE CLOCK``) it measures one figure with the
packages of the state on PYTHONPATH and prints its median as JSON. It imports nothing of this
folder, so that states are not mixed; inputs were made before, by ``make_inputs``.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

Clock = Callable[[], float]  # seconds

LEAST_CALLS, MOST_CALLS, BUDGET_S = 5, 51, 0.5  # of one process
N_SOURCES = 100
INTERNET = {"small": (5_000, 5_000_000), "whole": (47_000, 50_000_000)}  # ASes and routers

# Name -> (call, graph): what is called, and with which graph.
FIGURES: dict[str, tuple[str, str]] = {
    "search-1m": ("bfs", "attachment 1000000"),
    "sweep-10k": ("msbfs", "attachment 10000"),
    "sweep-1m": ("msbfs", "attachment 1000000"),
    "sweep-6m8": ("msbfs", "attachment 6800000"),
    "sweep-grid": ("msbfs", "grid 300"),
    "weighted-search-1m": ("sssp", "attachment 1000000"),
    "components-1m": ("components", "attachment 1000000"),
    "components-6m8": ("components", "attachment 6800000"),
    "components-path": ("components", "path 1000000"),
    "components-pieces": ("components", "pieces 1000000"),
    "diameter-10k": ("diameter", "attachment 10000"),
    "diameter-100k": ("diameter", "attachment 100000"),
    "diameter-1m": ("diameter", "attachment 1000000"),
    "diameter-6m8": ("diameter", "attachment 6800000"),
    "diameter-top-down": ("diameter", "top-down 100000"),
    "diameter-grid": ("diameter", "grid 300"),
    "radius-top-down": ("radius", "top-down 100000"),
    "eccentricities-100k": ("eccentricities", "attachment 100000"),
    "eccentricities-1m": ("eccentricities", "attachment 1000000"),
    "ingest-warts": ("ingest", "warts"),
    "ingest-json": ("ingest", "json"),
    "ingest-atlas": ("ingest", "atlas"),
    "ingest-edges": ("ingest", "edges"),
    "store": ("fetch", "internet small"),
    "analyze-5k": ("analyze", "internet small"),
    "analyze-47k": ("analyze", "internet whole"),
}
ENDINGS = {"warts": "*.warts.gz", "json": "*.json.gz"}
REPEATED_BYTES = 4 << 20  # of a file of traces, as stored


def make_inputs(figures: Iterable[str], folder: Path, atlas: Path | None = None) -> None:
    """Write what some figures need to a folder: graphs, files of traces, stores.

    ``atlas``: a file of RIPE Atlas results, which the samples lack.
    """
    for kind in sorted({FIGURES[name][1] for name in figures}):
        what, _, size = kind.partition(" ")
        if what == "internet":
            _write_store(folder / kind, *INTERNET[size])
        elif what == "edges":
            _write_edges(folder / "edges.txt")
        elif what == "atlas":
            if atlas is None:
                raise SystemExit("ingest-atlas: give a file of results (--atlas)")
            _repeat(atlas, folder / f"atlas{''.join(atlas.suffixes)}")
        elif what in ENDINGS:
            lab = Path(__file__).resolve().parents[2] / "data" / "samples" / "lab"
            sample = max(lab.glob(ENDINGS[what]), key=lambda path: path.stat().st_size)
            _repeat(sample, folder / f"{what}.gz")
        else:
            graph = _graph(what, int(size))
            np.savez(folder / f"{kind}.npz", indptr=graph.indptr, indices=graph.indices)


def _graph(what: str, size: int) -> Any:
    from benchmarks.bench_components import pieces
    from benchmarks.diameter.graphs import top_down
    from benchmarks.lib.graphs import attachment, cut_grid

    makers: dict[str, Callable[[int], Any]] = {
        "attachment": attachment,
        "grid": cut_grid,
        "path": lambda n_nodes: pieces(n_nodes, n_nodes),
        "pieces": lambda n_nodes: pieces(n_nodes, 5),
        "top-down": top_down,
    }
    return makers[what](size)


def _write_store(store: Path, n_ases: int, n_routers: int) -> None:
    from pipeline.generate.internet import generate_internet
    from pipeline.store import write_snapshot

    nothing: dict[str, Any] = {
        "as_names": {},
        "inputs": [],
        "options": {},
        "counts": {},
        "rejects": [],
    }
    graphs = generate_internet(n_ases, n_routers, seed=1)
    write_snapshot(store, "internet", graphs, **nothing)


def _write_edges(path: Path) -> None:
    from benchmarks.lib.graph_files import write_edge_list
    from benchmarks.lib.graphs import attachment

    write_edge_list(attachment(500_000), path, "attachment")


def _repeat(sample: Path, path: Path) -> None:
    """A file repeated: gzip members, or lines, one after another."""
    stored = sample.read_bytes()
    path.write_bytes(stored * max(1, REPEATED_BYTES // len(stored)))


def processor_s() -> float:
    """Seconds that all cores worked for this process and those that it waited for."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "processor": processor_s}


def median_ms(call: Callable[[], Any], wait: Callable[[], Any], clock: Clock) -> float:
    """Warm a call up, then the median of its time."""
    call()
    wait()
    times: list[float] = []
    while len(times) < LEAST_CALLS or (sum(times) < BUDGET_S and len(times) < MOST_CALLS):
        started = clock()
        call()
        wait()
        times.append(clock() - started)
        if sum(times) > 20 * BUDGET_S and len(times) >= 3:
            break
    return 1e3 * statistics.median(times)


def _search(call: str, path: Path, device: str, clock: Clock) -> float:
    import kernels
    from kernels import CSRGraph

    with np.load(path) as arrays:
        indptr, indices = arrays["indptr"], arrays["indices"]
    graph = CSRGraph(indptr, indices, _weights(indptr, indices) if call == "sssp" else None)
    graph = graph.to(device)
    wait: Callable[[], Any] = lambda: None  # noqa: E731
    if device == "gpu":
        import cupy

        wait = cupy.cuda.Device().synchronize
    rng = np.random.default_rng(1)
    function = getattr(kernels, call)
    if call in ("bfs", "sssp"):
        source = int(rng.integers(graph.n_nodes))
        return median_ms(lambda: function(graph, source), wait, clock)
    if call == "msbfs":
        sources = rng.choice(graph.n_nodes, N_SOURCES, replace=False)
        return median_ms(lambda: function(graph, sources), wait, clock)
    return median_ms(lambda: function(graph), wait, clock)


def _weights(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Whole numbers from 1 to 1024, the same for both arcs of a link."""
    tails = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    of_link = (tails ^ indices).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((of_link >> np.uint64(54)) + np.uint64(1)).astype(np.float32)


def _ingest(inputs: Path, what: str, clock: Clock) -> float:
    import pipeline.ingest

    # By this name in all states, wherever they define it.
    open_reader, ReadReport = pipeline.ingest.open_reader, pipeline.ingest.ReadReport
    (path,) = inputs.glob(f"{what}.*")

    def read() -> None:
        for _ in open_reader(path, ReadReport(str(path)))[1]:
            pass

    return median_ms(read, lambda: None, clock)


def _fetch(store: Path, clock: Clock) -> float:
    """One AS among thousands, of each size: a hundred of them per call."""
    from pipeline.store import open_snapshot

    snapshot = open_snapshot(store)
    rows = np.random.default_rng(2).integers(0, 5_000, 100).tolist()

    def fetch() -> None:
        for row in rows:
            snapshot.graph(row)

    return median_ms(fetch, lambda: None, clock) / len(rows)


def _analyze(store: Path, device: str, state: Path, clock: Clock) -> float:
    """The command as its own process, from its start to its end, pages left out."""
    out = store.parent / "reports"
    command = [sys.executable, "-m", "pipeline.cli", "analyze", "--store", str(store)]
    started = clock()
    subprocess.run(
        [*command, "--out", str(out), "--no-pages", "--device", device],
        cwd=state,
        env=os.environ | {"HOPSCOPE_FULL": "1"},  # states that do not know it ignore it
        check=True,
        capture_output=True,
    )
    return 1e3 * (clock() - started)


def main() -> None:
    figure, inputs, device, state = sys.argv[1], Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    clock = CLOCKS[sys.argv[5]]
    sys.path.pop(0)  # this folder
    import pipeline  # first of all: it says where compiled functions are kept

    if not Path(pipeline.__file__ or "").is_relative_to(state):
        raise SystemExit(f"{pipeline.__file__} is not of {state}")
    call, what = FIGURES[figure]
    if call == "ingest":
        ms = _ingest(inputs, what, clock)
    elif call == "fetch":
        ms = _fetch(inputs / what, clock)
    elif call == "analyze":
        ms = _analyze(inputs / what, device, state, clock)
    else:
        ms = _search(call, inputs / f"{what}.npz", device, clock)
    print(json.dumps({"ms": ms}))


if __name__ == "__main__":
    main()
