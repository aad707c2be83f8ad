"""A synthetic Internet from Parquet store to finished tables: time and memory of each part.

Command: python benchmarks/bench_internet.py [--scale S] [--device auto|cpu|gpu] [--no-pages]
Writes benchmarks/results/internet_<cores or GPUs>.json. The Internet (47,000 ASes, 50 million
routers, 100 million links) is made by ``pipeline.generate`` and written to a store beforehand, or
found there (--store). A small one is analyzed first, so that all code is compiled.

What is timed is what `hopscope analyze --no-pages` does, in a process of its own that imports what
the command does (`lib/analyzed.py`), from its start to its end:
it opens a cluster, reads graphs, searches from every ingress and writes the tables. The store is in
the page cache, as after a night's ingest. Then pages are written, timed apart.

Parts of `wall_s`: `start_s` until the first task begins (Python, snapshot, cluster, plan),
`search_s` until the last has ended, `collect_s` until all is collected and the cluster is closed,
`write_s` for tables, and `end_s`. `outside_share` is the part of the wall time in which no worker
was reading or searching and no table was being written. `peak_gib` is that of the whole tree of
processes; `memory` says by which measure.

Verified before anything is recorded: ASes of all sizes, the largest too, against SciPy.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow.parquet as pq

from benchmarks.lib.made_internet import SNAPSHOT
from benchmarks.lib.process_memory import MemorySampler
from benchmarks.lib.record import REPOSITORY, machine, record
from pipeline.store import Snapshot, open_snapshot

N_ASES, N_ROUTERS = 47_000, 50_000_000
VERIFIED = 8  # ASes, the largest and the smallest among them
VERIFIED_INGRESSES = 3  # of each
SMALL = (50, 20_000)  # ASes and routers of what is analyzed first
MADE = "benchmarks.lib.made_internet"


def in_process(module: str, *given: object) -> tuple[float, float, MemorySampler]:
    """Run a module in a fresh process: when it began and ended, and what it used."""
    began = time.time()
    words = [sys.executable, "-m", module, *map(str, given)]
    with subprocess.Popen(words, cwd=REPOSITORY) as process, MemorySampler(process.pid) as used:
        process.wait()
        ended = time.time()
    if process.returncode:
        raise SystemExit(f"{module} ended with status {process.returncode}")
    return began, ended, used


def seconds_in(starts: np.ndarray, ends: np.ndarray) -> float:
    """Seconds that at least one of some intervals covers."""
    order = np.argsort(starts)
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    begins = np.append(-np.inf, ends[:-1])
    return float(np.maximum(ends - np.maximum(starts, begins), 0).sum())


def phases(began: float, ended: float, reported: dict, memory: MemorySampler) -> dict:
    """Where wall time and memory went."""
    tasks = reported["tasks"]
    starts, ends, read_s = (np.array(tasks[n], float) for n in ("started", "ended", "read_s"))
    # The process ends once the tables are there; what comes after them is timed apart.
    end_s = ended - max(reported["written"], reported.get("pages", 0.0))
    wall_s = reported["written"] - began + end_s
    write_s = reported["written"] - reported["measured"]
    computing_s = seconds_in(starts, ends)
    n_workers = max(1, reported["cluster"]["n_workers"])  # 0: a short run, in its process
    busy_s = float((ends - starts).sum())
    outside_s = wall_s - computing_s - write_s
    at, each = memory.peak(until=reported["written"])
    row = {
        "wall_s": wall_s,
        "peak_gib": sum(each) / 2**30,
        "start_s": starts.min() - began,
        "search_s": ends.max() - starts.min(),
        "collect_s": reported["measured"] - ends.max(),
        "write_s": write_s,
        "end_s": end_s,
        "outside_s": outside_s,
        "outside_share": outside_s / wall_s,
        "n_workers": n_workers,
        "worker_read_s": float(read_s.sum()),
        "worker_search_s": busy_s - float(read_s.sum()),
        "worker_idle_share": 1 - busy_s / (n_workers * (ends.max() - starts.min())),
        "n_tasks": len(starts),
        "n_shard_tasks": tasks["kind"].count("shard"),
        "n_gpu_tasks": tasks["device"].count("gpu"),
        "peak_at_s": at - began,
        "peak_processes_gib": [round(n / 2**30, 2) for n in each if n > 2**24],
        "memory": memory.measure,
    }
    if "pages" in reported:
        row["pages_s"] = reported["pages"] - reported["again"] - write_s
        row["peak_with_pages_gib"] = sum(memory.peak()[1]) / 2**30
    return {n: round(v, 3) if isinstance(v, float) else v for n, v in row.items()}


def verify(snapshot: Snapshot, folder: Path) -> list[int]:
    """Compare tables with levels by SciPy; the ASes compared. Raises if anything differs."""
    from scipy.sparse import csr_array  # imported here, so that the timed part runs without it

    by_size = np.argsort(snapshot.n_nodes, kind="stable")
    picked = by_size[np.linspace(0, len(by_size) - 1, VERIFIED).astype(int)]
    columns = ["asn", "ingress", "n_reached", "eccentricity", "hop_counts", "farthest"]
    for row in sorted(set(picked.tolist())):
        asn = int(snapshot.asn[row])
        of_as = [("asn", "==", asn)]
        found = pq.read_table(folder / "ingresses.parquet", columns=columns, filters=of_as)
        reported = pq.read_table(folder / "ases.parquet", filters=of_as).to_pylist()
        nodes = found["ingress"].to_numpy()
        wanted = snapshot.ingresses(np.array([row]))
        if not np.array_equal(nodes, wanted.node) or reported[0]["status"] != "ok":
            raise AssertionError(f"AS{asn}: not all of its ingresses are there")
        if reported[0]["n_ingresses"] != len(nodes):
            raise AssertionError(
                f"AS{asn}: {reported[0]['n_ingresses']} ingresses, not {len(nodes)}"
            )
        graph = snapshot.graph(row, check=True)
        matrix = csr_array(
            (np.ones(graph.n_arcs, np.int32), graph.indices, graph.indptr),
            shape=(graph.n_nodes, graph.n_nodes),
        )
        some = np.linspace(0, len(nodes) - 1, min(VERIFIED_INGRESSES, len(nodes))).astype(int)
        for one in found.take(some).to_pylist():
            level = levels(matrix, one["ingress"])
            hop_counts = np.bincount(level[level >= 0])
            farthest = np.flatnonzero(level == level.max())[:10]
            if (one["hop_counts"], one["farthest"], one["eccentricity"], one["n_reached"]) != (
                hop_counts.tolist(),
                farthest.tolist(),
                len(hop_counts) - 1,
                int(hop_counts.sum()),
            ):
                raise AssertionError(f"AS{asn}, ingress {one['ingress']}: SciPy finds another")
    return sorted(snapshot.asn[picked].tolist())


def levels(matrix: Any, source: int) -> np.ndarray:
    """(n_nodes,) hops, -1 unreached: products of the matrix with the last level."""
    level = np.full(matrix.shape[0], -1)
    at = np.zeros(matrix.shape[0], np.int32)
    at[source] = 1
    hops = 0
    while at.any():
        level[at > 0] = hops
        at = ((matrix @ at > 0) & (level < 0)).astype(np.int32)
        hops += 1
    return level


def megabytes(folder: Path) -> float:
    """MB (10**6 bytes) of the files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def measure(store: Path, out: Path, given: argparse.Namespace, workers: int | None) -> dict:
    """One timed analysis of the store's Internet, verified."""
    options = {"store": str(store.resolve()), "out": str(out.resolve()), "full": True}
    options |= {"device": given.device, "workers": workers, "pages": given.pages}
    reported = out.resolve() / "reported.json"
    out.mkdir(parents=True, exist_ok=True)
    times = in_process("benchmarks.lib.analyzed", json.dumps(options), reported)
    row = phases(*times[:2], json.loads(reported.read_text()), times[2])
    with open_snapshot(store) as snapshot:
        row = {
            "n_ases": snapshot.n_ases,
            "n_routers": int(snapshot.n_nodes.sum()),
            "n_links": int(snapshot.n_edges.sum()),
            "n_ingresses": int(snapshot.n_ingresses.sum()),
            "largest_as_routers": int(snapshot.n_nodes.max()),
        } | row
        row["verified_asns"] = verify(snapshot, out / SNAPSHOT)
    row["tables_mb"] = round(megabytes(out / SNAPSHOT), 1)
    if given.pages:
        row["pages_mb"] = round(megabytes(out / "pages" / SNAPSHOT) - row["tables_mb"], 1)
    return row


def default_name() -> str:
    """internet_2_cores, internet_1_gpu_16_cores: what the run had."""
    here = machine()
    gpus = f"{len(here['gpus'])}_gpu_" if here["gpus"] else ""
    return f"internet_{gpus}{len(os.sched_getaffinity(0))}_cores"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--ases", type=int, default=N_ASES)
    parser.add_argument("--routers", type=int, default=N_ROUTERS)
    parser.add_argument(
        "--scale", type=float, default=1.0, help="factor for the numbers of ASes and routers"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--workers", type=int, help="number of processes [one per GPU or core]")
    parser.add_argument("--pages", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument(
        "--store", type=Path, help="store of the Internet; used again if it exists, and kept"
    )
    parser.add_argument("--folder", type=Path, help="folder for temporary files")
    parser.add_argument("--name", help="name of the results file")
    parser.add_argument("--results", type=Path, help="folder of the results file")
    given = parser.parse_args()
    n_ases, n_routers = round(given.ases * given.scale), round(given.routers * given.scale)
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="hopscope-internet-") as folder:
        scratch = Path(folder)
        small, reported = scratch / "small", scratch / "made.json"
        in_process(MADE, small, *SMALL, 1, reported)
        measure(small, scratch / "small-out", given, given.workers or 1)  # not a short run
        store = given.store or scratch / "store"
        made: dict[str, float] = {}
        if not (store / "snapshots").is_dir():
            _, _, memory = in_process(
                MADE, store.resolve(), n_ases, n_routers, given.seed, reported
            )
            made = {n: round(s, 2) for n, s in json.loads(reported.read_text()).items()}
            made["generate_peak_gib"] = round(sum(memory.peak()[1]) / 2**30, 2)
        row = measure(store, scratch / "out", given, given.workers) | made
        row |= {"device": given.device, "store_mb": round(megabytes(store), 1)}
    record(given.name or default_name(), [row], folder=given.results, load=os.getloadavg()[0])


if __name__ == "__main__":
    main()
