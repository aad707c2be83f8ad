"""Hop counts from all ingresses by the degree of routers: is a GPU still ahead at six to ten links?

Command: python benchmarks/bench_degrees.py [--sizes N ...] [--ingresses K ...] [--ways WAY ...]
Plot:    python benchmarks/bench_degrees.py --plot

Writes benchmarks/results/degrees.json, docs/images/degrees.svg and the table in docs/benchmarks.md.
A way that was measured again replaces its rows, those of others stay with the machine that they
were measured on: so a machine with GPUs adds what one without them could not measure.

Graphs are random ones of 3 to 4 and of 6 to 10 links per router (the model ``degrees``), connected.
Ways: ``one core`` is one search after the other on one core (``kernels.bfs``), as a program
without sweeps does it; ``one core, sweeps``, ``all cores``, ``one GPU`` and ``two GPUs`` are what
``analyze`` does (``kernels.msbfs``), on two GPUs each with half of the ingresses. ``cpu_s`` is
processor time, ``wall_s`` the clock's; where others use the machine (``load_average``), only the
first compares, and the table and the plot leave the second out. Searches of ``one core`` are
``n_searched`` of K, scaled.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.charts import Line, line_chart
from benchmarks.lib.record import REPOSITORY, RESULTS, machine, record
from kernels import CSRGraph, bfs, msbfs
from pipeline.generate.laws.degrees import degrees_graph

SIZES = (1_100, 11_000, 110_000, 1_100_000, 6_800_000, 20_000_000)
DEGREES = ((3, 4), (6, 10))
INGRESSES = (50, 100)
WAYS = ("one core", "one core, sweeps", "all cores", "one GPU", "two GPUs")
BUDGET_S = 2.0  # of one way on one graph; one call at least
NAME = "degrees"
SEED = 1


def graph_of(n_routers: int, degrees: tuple[int, int]) -> tuple[CSRGraph, np.ndarray]:
    """A connected graph, and routers to search from."""
    graph = degrees_graph(n_routers, *degrees, connected=True, seed=SEED)
    rng = np.random.default_rng(SEED)
    return graph, rng.choice(n_routers, max(INGRESSES), replace=False).astype(np.int64)


def one_by_one(graph: CSRGraph, sources: np.ndarray) -> int:
    """Search from each in turn for at most the budget; how many were searched."""
    started = time.process_time()
    for done, source in enumerate(sources.tolist(), start=1):
        bfs(graph, source)
        if time.process_time() - started > BUDGET_S:
            return done
    return len(sources)


def on_gpus(graph: CSRGraph, n_gpus: int) -> Callable[[np.ndarray], Any]:
    """A call that searches from sources on GPUs, each with the graph and a share of them."""
    import cupy

    graphs = []
    for gpu in range(n_gpus):
        with cupy.cuda.Device(gpu):
            graphs.append(graph.to("gpu"))

    def search(gpu: int, sources: np.ndarray) -> Any:
        with cupy.cuda.Device(gpu):
            found = msbfs(graphs[gpu], sources)
            cupy.cuda.Device(gpu).synchronize()
            return found

    pool = ThreadPoolExecutor(n_gpus)
    return lambda sources: list(
        pool.map(search, range(n_gpus), np.array_split(sources, n_gpus), chunksize=1)
    )


def n_gpus_here() -> int:
    """GPUs that can be used; 0 without CuPy."""
    try:
        import cupy

        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # no CuPy, or no driver
        return 0


def measure(n_routers: int, degrees: tuple[int, int], way: str, ingresses: list[int]) -> list[dict]:
    """Rows of one graph and way, one for each number of ingresses."""
    if way.startswith("one core"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    graph, sources = graph_of(n_routers, degrees)
    call: Callable[[np.ndarray], Any] = lambda some: msbfs(graph, some)  # noqa: E731
    if way.endswith(("GPU", "GPUs")):
        call = on_gpus(graph, 2 if way == "two GPUs" else 1)
    elif way == "one core":
        call = lambda some: one_by_one(graph, some)  # noqa: E731
    rows = []
    for k in ingresses:
        some = sources[:k]
        call(some[:2])  # compiles, or loads what was compiled
        walls, cpus = [], []
        while not walls or (sum(walls) < BUDGET_S and len(walls) < 101):
            wall, cpu = time.perf_counter(), time.process_time()
            found = call(some)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        n_searched = found if way == "one core" else k
        scale = k / n_searched
        rows.append(
            {
                "n_routers": n_routers,
                "n_links": graph.n_edges,
                "degrees": list(degrees),
                "ingresses": k,
                "way": way,
                "wall_s": float(f"{np.median(walls) * scale:.4g}"),
                "cpu_s": float(f"{np.median(cpus) * scale:.4g}"),
                "n_calls": len(walls),
                "n_searched": n_searched,
                "load_average": round(os.getloadavg()[0], 1),
                "machine": machine() | {"host": platform.machine()},
            }
        )
    return rows


def key_of(row: dict) -> tuple:
    """What a row measured."""
    return row["n_routers"], tuple(row["degrees"]), row["ingresses"], row["way"]


def seconds(row: dict) -> float:
    """Of processor time on one core, else of the clock."""
    return row["cpu_s"] if row["way"].startswith("one core") else row["wall_s"]


def is_honest(row: dict) -> bool:
    """Whether nothing else took the cores: processor time, or the clock's on a quiet machine."""
    is_quiet = row["load_average"] <= row["machine"]["cores"] + 0.5
    return is_quiet or row["way"].startswith("one core")


def table(rows: list[dict]) -> str:
    """Markdown: seconds of each way, and how often it is faster than one core."""
    found = {key_of(row): row for row in rows if is_honest(row)}
    rows = list(found.values())
    ways = [way for way in WAYS if any(row["way"] == way for row in rows)]
    head = ["routers", "links of each", "ingresses", *ways]
    lines = [head, ["---"] * len(head)]
    for n, degrees, k in sorted({key[:3] for key in found}):
        base = found.get((n, degrees, k, WAYS[0]))
        line = [f"{n:,}", f"{degrees[0]} to {degrees[1]}", str(k)]
        for way in ways:
            row = found.get((n, degrees, k, way))
            text = "" if row is None else f"{seconds(row):.3g} s"
            if row is not None and base is not None and row is not base:
                text += f" ({seconds(base) / seconds(row):.0f}x)"
            line.append(text)
        lines.append(line)
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def plot(rows: list[dict]) -> None:
    """Draw the speed-ups over one core and write the table."""
    found = {key_of(row): row for row in rows if is_honest(row)}
    most = max(row["ingresses"] for row in rows)
    lines = []
    for color, way in enumerate(WAYS[1:]):
        for degrees in DEGREES:
            points = [
                (n, seconds(base) / seconds(row))
                for n in SIZES
                if (row := found.get((n, degrees, most, way))) is not None
                and (base := found.get((n, degrees, most, WAYS[0]))) is not None
            ]
            if points:
                name = f"{way}, {degrees[0]} to {degrees[1]} links"
                is_dense = degrees == DEGREES[-1]
                lines.append(Line(name, points, color, is_ours=is_dense, dashed=not is_dense))
    title = f"Hop counts from {most} ingresses by the degree of routers"
    y_name = "times as fast as one search after the other on one core"
    svg = line_chart(title, "routers", y_name, lines)
    (REPOSITORY / "docs" / "images" / "degrees.svg").write_text(svg)
    page = REPOSITORY / "docs" / "benchmarks.md"
    text = page.read_text()
    begin, end = "<!-- made: degrees -->\n", "<!-- end: degrees -->"
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    picture = f"![{title}](images/degrees.svg)\n\n"
    page.write_text(before + begin + picture + table(rows) + end + after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--ingresses", type=int, nargs="+", default=INGRESSES)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--plot", action="store_true", help="only draw what is recorded")
    arguments = parser.parse_args()
    path = RESULTS / f"{NAME}.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    if arguments.plot:
        plot(rows)
        return
    n_gpus, skipped = n_gpus_here(), {}
    for n in arguments.sizes:
        for degrees in DEGREES:
            for way in arguments.ways:
                needed = {"one GPU": 1, "two GPUs": 2}.get(way, 0)
                if n_gpus < needed:
                    skipped[way] = f"needs {needed} GPU, {n_gpus} here"
                    continue
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    new = pool.apply(measure, (n, degrees, way, list(arguments.ingresses)))
                known = {key_of(row) for row in new}
                rows = [row for row in rows if key_of(row) not in known] + new
                record(NAME, rows, skipped=skipped)
    plot(rows)


if __name__ == "__main__":
    main()
