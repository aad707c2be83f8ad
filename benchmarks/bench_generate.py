"""Synthetic topologies: seconds and memory to arrays, to a BRITE file and to a store.

Command: python benchmarks/bench_generate.py [--models | --store | --brite] [--only NAME ...]
             [--routers N] [--internet-routers N] [--ases N] [--name NAME]
Writes benchmarks/results/<name>_<cores>_cores.json; the name is generate, generate_models,
generate_store or generate_brite. `--store` makes `ba` of --routers into a snapshot, as the command
does it: `make_s`, `build_s` and `write_s` of `wall_s`. `cpu_s` is processor time of all threads,
`write_cpu_s` that of writing.
Each subject runs in its own process: `first_s` is its first call, which compiles where nothing is
cached yet, `wall_s` the median of the `n_runs` after it (of one where it is long), `peak_rss_mib`
the process's. Before anything is timed, graphs of 400,000 routers are made on 1, 2 and 3 threads,
validated and compared by their hash. `copy_s` is the time to write the same number of bytes with an
fsync, to compare with `write_s`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import record
from benchmarks.lib.timing import time_calls
from pipeline.config import GenerateConfig
from pipeline.generate import Parameters, generate
from pipeline.generate.barabasi_albert import barabasi_albert_graph, generate_barabasi_albert
from pipeline.generate.files.brite_file import write_brite
from pipeline.generate.grid import grid_graph
from pipeline.generate.internet import generate_internet
from pipeline.model.progress import Progress
from pipeline.stages.generate import generate_topology
from pipeline.store import write_snapshot

MODELS: tuple[tuple[str, dict], ...] = (
    ("ba", {}),
    ("waxman", {}),
    ("waxman", {"preferential": True}),
    ("ba2", {}),
    ("glp", {}),
    ("top-down", {"n_ases": 1000}),
    ("bottom-up", {"n_ases": 1000}),
    ("waxman", {"growth": "all"}),
)


def timed(call: Callable[[], Any], n_runs: int = 3) -> tuple[float, Any]:
    """Median seconds of some calls, and what the last returned."""
    timing = time_calls(call, budget_s=0, at_least=n_runs, at_most=n_runs)
    return round(timing.median_ms / 1e3, 3), timing.last


def graph_row(make: Callable[..., Any], small: dict, large: dict) -> dict:
    """Time one graph; ``small`` is made first."""
    first_s, _ = timed(lambda: make(**small), 1)
    wall_s, graph = timed(lambda: make(**large))
    return {
        "first_s": first_s,
        "wall_s": wall_s,
        "n_runs": 3,
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "graph_hash": graph.graph_hash()[:16],
    }


def attached(n_routers: int, n_threads: int, shuffled: bool) -> dict:
    """Barabasi-Albert, straight to CSR."""
    given = {"shuffled": shuffled, "n_threads": n_threads}
    row = graph_row(
        barabasi_albert_graph, given | {"n_nodes": 1000}, given | {"n_nodes": n_routers}
    )
    return {"subject": "ba_csr", **given, **row}


def cut_grid(side: int) -> dict:
    """A square grid with a tenth of its links cut, to CSR."""
    small, large = ({"n_rows": n, "n_columns": n} for n in (10, side))
    return {"subject": "grid_csr", "cut": 0.1, **graph_row(grid_graph, small, large)}


def brite_file(n_routers: int, folder: str) -> dict:
    """Barabasi-Albert with places, lengths, delays and bandwidths, to a BRITE file."""
    path = Path(folder) / "a.brite"
    write_brite(generate_barabasi_albert(1000), path)
    generate_s, topology = timed(lambda: generate_barabasi_albert(n_routers), 1)
    write_brite(generate_barabasi_albert(100_000), path)  # what writes many rows is compiled
    before = time.process_time()
    write_s, _ = timed(lambda: write_brite(topology, path), 1)
    write_cpu_s = time.process_time() - before
    size = path.stat().st_size
    path.unlink()
    return {
        "subject": "ba_brite",
        "wall_s": round(generate_s + write_s, 3),
        "n_runs": 1,
        "generate_s": generate_s,
        "write_s": write_s,
        "write_cpu_s": round(write_cpu_s, 3),
        "copy_s": timed(lambda: write_zeros(path, size), 1)[0],
        "n_nodes": topology.n_nodes,
        "n_edges": topology.n_links,
        "size_mb": round(size / 1e6, 1),
    }


def model(name: str, n_routers: int, changes: dict) -> dict:
    """A topology of a model with places, lengths, delays and bandwidths; not written."""
    generate(name, Parameters(10_000, **changes))
    before = time.process_time()
    wall_s, topology = timed(lambda: generate(name, Parameters(n_routers, **changes)), 1)
    return {
        "subject": name,
        **changes,
        "wall_s": wall_s,
        "cpu_s": round(time.process_time() - before, 3),
        "n_runs": 1,
        "n_nodes": topology.n_nodes,
        "n_edges": topology.n_links,
    }


def stored(n_routers: int, folder: str) -> dict:
    """`ba` with every column, to a store, as `hopscope generate --store` makes it."""
    at: dict[str, float] = {}

    def on(event: Progress) -> None:
        at.setdefault(event.stage, time.perf_counter())

    def save(routers: int) -> None:
        given = {"model": "ba", "routers": routers, "asn": 64512, "snapshot": "a"}
        generate_topology(GenerateConfig(**given, store=Path(folder) / str(routers)), on)

    save(1000)
    at.clear()
    before = time.process_time()
    wall_s, _ = timed(lambda: save(n_routers), 1)
    ended = time.perf_counter()
    cpu_s = time.process_time() - before
    size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    return {
        "subject": "ba_store",
        "wall_s": wall_s,
        "cpu_s": round(cpu_s, 3),
        "n_runs": 1,
        "make_s": round(at["build"] - at["generate"], 3),
        "build_s": round(at["write"] - at["build"], 3),
        "write_s": round(ended - at["write"], 3),
        "copy_s": timed(lambda: write_zeros(Path(folder) / "zeros", size), 1)[0],
        "n_nodes": n_routers,
        "size_mb": round(size / 1e6, 1),
    }


def internet(n_ases: int, n_routers: int, folder: str) -> dict:
    """An Internet to a store."""
    nothing: dict = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    generate_internet(50, 5000)
    generate_s, graphs = timed(lambda: generate_internet(n_ases, n_routers), 1)
    write_s, path = timed(lambda: write_snapshot(Path(folder), "a", graphs, **nothing), 1)
    sizes, n_each = np.diff(graphs.node_ptr), np.diff(graphs.ingress_ptr)
    return {
        "subject": "internet_store",
        "wall_s": round(generate_s + write_s, 3),
        "n_runs": 1,
        "generate_s": generate_s,
        "write_s": write_s,
        "n_ases": n_ases,
        "n_nodes": n_routers,
        "n_edges": len(graphs.indices) // 2 + len(graphs.border_near),
        "n_border_links": len(graphs.border_near),
        "largest": sizes.max(),
        "smallest": sizes.min(),
        "n_ingresses": len(graphs.ingress_node),
        "most_ingresses": n_each.max(),
        "mean_ingresses_of_larger": round(n_each[sizes >= 6500].mean(), 1),
        "size_mb": round(sum(file.stat().st_size for file in path.iterdir()) / 1e6, 1),
    }


def write_zeros(path: Path, size: int) -> None:
    """A file of that size, on disk."""
    block = bytes(1 << 20)
    with path.open("wb") as file:
        for _ in range(size >> 20):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def with_memory(subject: Callable[..., dict], *given: Any) -> dict:
    """What a subject reports, with the peak memory of this process."""
    row = subject(*given)
    # Not getrusage: its peak is inherited from the process that started this one.
    status = Path("/proc/self/status").read_text().split()
    return row | {"peak_rss_mib": int(status[status.index("VmHWM:") + 1]) // 1024}


def check() -> None:
    """Make the same on 1, 2 and 3 threads, or stop."""
    for shuffled in (False, True):
        made = [
            barabasi_albert_graph(400_000, shuffled=shuffled, n_threads=n_threads)
            for n_threads in (1, 2, 3)
        ]
        made[0].validate()
        assert len({graph.graph_hash() for graph in made}) == 1
    graph = grid_graph(1000, 1000)
    graph.validate()
    hashes = [generate_internet(50, 400_000, n_threads=n).graph_hash for n in (1, 2, 3)]
    assert hashes[0] == hashes[1] == hashes[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--routers", type=int, default=6_800_000)
    parser.add_argument("--internet-routers", type=int, default=50_000_000)
    parser.add_argument("--ases", type=int, default=47_000)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--models", action="store_true", help="only BRITE's models")
    which.add_argument("--store", action="store_true", help="only `ba` to a store")
    which.add_argument("--brite", action="store_true", help="only `ba` to a BRITE file")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="of the models, only these")
    parser.add_argument("--name", help="of the results")
    arguments = parser.parse_args()
    check()
    n_cores = len(os.sched_getaffinity(0))
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
    ):
        subjects: list[tuple] = [
            (attached, arguments.routers, n_threads, shuffled)
            for shuffled in (False, True)
            for n_threads in sorted({1, n_cores})
        ]
        subjects += [
            (cut_grid, 1000),
            (brite_file, arguments.routers, folder),
            (internet, arguments.ases, arguments.internet_routers, folder),
        ]
        models: list[tuple] = [
            (model, name, arguments.routers, changes)
            for name, changes in MODELS
            if arguments.only is None or name in arguments.only
        ]
        what = "generate"
        if arguments.models:
            what, subjects = "generate_models", models
        elif arguments.store:
            what, subjects = "generate_store", [(stored, arguments.routers, folder)]
        elif arguments.brite:
            what, subjects = "generate_brite", [(brite_file, arguments.routers, folder)]
        else:
            subjects += models
        rows: list[dict] = []
        try:
            rows.extend(pool.apply(with_memory, subject) for subject in subjects)
        finally:  # stopped or failed: what was measured is kept
            what = arguments.name or what
            record(f"{what}_{n_cores}_cores", rows, load_average=os.getloadavg()[0])


if __name__ == "__main__":
    main()
