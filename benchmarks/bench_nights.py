"""A night in which few ASes changed: what it costs, next to a night that measures all of them.

Command: python benchmarks/bench_nights.py [--scale S] [--changed SHARE] [--metrics NAME,...]
Writes benchmarks/results/nights_<cores or GPUs>.json. Two snapshots of a synthetic Internet (47,000
ASes, 50 million routers by default) are written to a store; between them ASes drawn evenly,
never the largest, has two links that swapped ends. Steps, each timed as a process of its own
(`hopscope analyze`, from its start to its end, with pages):

- `first`: the first snapshot, nothing is known;
- `changed`: the second one, after the first, into the same folder of reports;
- `again`: the second one once more, which is what a run costs that was killed at its very end;
- `full`: the second one with `--full`, into another folder.

`search_s` is from the first submission of a task to the end of the last. `search_share` and
`wall_share` compare `changed` with `full`. Verified: every table and page of `changed` and `full`
agree. With `--folder` what was made is kept, and `--steps` does some steps only; the others
keep their earlier figures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow.parquet as pq

from benchmarks.bench_internet import N_ASES, N_ROUTERS, megabytes
from benchmarks.lib.record import machine, record
from kernels import CSRGraph
from kernels.connected import components
from pipeline.generate.internet import generate_internet
from pipeline.model.graphs import GraphSet
from pipeline.store import write_snapshot
from pipeline.store.results.table import RESULTS

REPOSITORY = Path(__file__).resolve().parents[1]
FIRST, SECOND = "night-1", "night-2"
STEPS = {
    "first": (FIRST, "out", ()),
    "changed": (SECOND, "out", ()),
    "again": (SECOND, "out", ()),
    "full": (SECOND, "full", ("--full",)),
}
OF_RUNS = ["device", "n_tasks", "n_retries", "wall_s", "n_reused", "reused_from"]
TRIES = 50  # to swap links of an AS and keep it connected; small ones may not allow it


def swapped(graph: CSRGraph, rng: np.random.Generator) -> CSRGraph | None:
    """The graph with two links that exchanged an end, still connected; None: none was found."""
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    for _ in range(TRIES):
        one, other = rng.integers(0, graph.n_arcs, 2)
        a, b, c, d = tails[one], graph.indices[one], tails[other], graph.indices[other]
        if len({a, b, c, d}) < 4:
            continue
        indices = graph.indices.copy()
        lists = [indices[graph.indptr[v] : graph.indptr[v + 1]] for v in (a, b, c, d)]
        if d in lists[0] or b in lists[2]:
            continue
        for row, old, new in zip(lists, (b, a, d, c), (d, c, b, a), strict=True):
            row[row == old] = new
            row.sort()
        made = CSRGraph(graph.indptr, indices)
        if components(made).n_components == 1:
            return made
    return None


def changed(graphs: GraphSet, share: float, seed: int) -> GraphSet:
    """The same Internet with evenly drawn ASes changed, never the largest."""
    rng = np.random.default_rng(seed)
    n_nodes = np.diff(graphs.node_ptr)
    wanted = round(share * graphs.n_ases)
    indices, hashes = graphs.indices.copy(), list(graphs.graph_hash)
    for i in rng.permutation(np.flatnonzero(n_nodes < n_nodes.max())).tolist():
        if wanted == 0:
            break
        degree = graphs.degree[graphs.node_ptr[i] : graphs.node_ptr[i + 1]]
        indptr = np.append(0, np.cumsum(degree, dtype=np.int64))
        arcs = slice(int(graphs.arc_ptr[i]), int(graphs.arc_ptr[i + 1]))
        made = swapped(CSRGraph(indptr, indices[arcs].copy(), trusted=True), rng)
        if made is not None:
            indices[arcs], hashes[i] = made.indices, made.graph_hash()
            wanted -= 1
    return replace(graphs, indices=indices, graph_hash=hashes)


def make_store(store: Path, given: argparse.Namespace) -> None:
    """Write both snapshots."""
    n_ases, n_routers = round(N_ASES * given.scale), round(N_ROUTERS * given.scale)
    graphs = generate_internet(n_ases, n_routers, seed=given.seed)
    nothing = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, FIRST, graphs, **nothing)
    write_snapshot(store, SECOND, changed(graphs, given.changed, given.seed), **nothing)


def analyze(folder: Path, step: str, given: argparse.Namespace) -> dict:
    """One timed step."""
    snapshot, out, more = STEPS[step]
    words = ["--store", folder / "store", "--snapshot", snapshot, "--out", folder / out]
    words += ["--device", given.device, "--metrics", given.metrics, "--json", *more]
    command = [sys.executable, "-m", "pipeline.cli", "analyze", *map(str, words)]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    wall_s = time.perf_counter() - started
    facts = json.loads(done.stdout)
    report = folder / out / snapshot
    tasks = pq.read_table(report / "tasks.parquet")
    submitted, ended = (tasks[name].to_pylist() for name in ("submitted", "ended"))
    document = json.loads((report / "report.json").read_text())
    return {
        "step": step,
        "wall_s": round(wall_s, 2),
        "search_s": round(max(ended) - min(submitted), 2) if ended else 0.0,
        "report_s": round(document["times"]["report_wall_s"], 2),
        "n_tasks": tasks.num_rows,
        "n_searches": facts["n_searches"],
        "n_searches_reused": facts["reused"]["n_searches"],
        "n_ases": facts["n_ases"],
        "n_ases_reused": facts["reused"]["n_ases"],
        "n_pages_kept": document["reused"]["n_pages_kept"],
        "results_mb": round(megabytes(folder / "store" / RESULTS), 2),
        "load": os.getloadavg()[0],
    }


def verify(folder: Path) -> int:
    """Compare the reports of the second night; files compared. Raises if anything differs."""
    one, other = folder / "out" / SECOND, folder / "full" / SECOND
    for name in ("ases.parquet", "ingresses.parquet"):
        tables = [pq.read_table(at / name) for at in (one, other)]
        tables = [t.drop_columns([c for c in OF_RUNS if c in t.column_names]) for t in tables]
        if not tables[0].equals(tables[1]):
            raise AssertionError(f"{name} differs")
    pages = sorted(path.name for path in (other / "as").iterdir())
    if pages != sorted(path.name for path in (one / "as").iterdir()):
        raise AssertionError("not the same pages")
    for name in pages:
        if (one / "as" / name).read_bytes() != (other / "as" / name).read_bytes():
            raise AssertionError(f"as/{name} differs")
    return len(pages) + 2


def measure(folder: Path, given: argparse.Namespace) -> list[dict]:
    """All steps, and how they compare."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "store" / "snapshots").is_dir():
        make_store(folder / "store", given)
    for step in given.steps.split(","):
        if step:
            (folder / f"{step}.json").write_text(json.dumps(analyze(folder, step, given)))
    rows = [json.loads(p.read_text()) for s in STEPS if (p := folder / f"{s}.json").exists()]
    by_step = {row["step"]: row for row in rows}
    if {"changed", "full"} <= by_step.keys():
        few, full = by_step["changed"], by_step["full"]
        few["search_share"] = round(few["search_s"] / full["search_s"], 4)
        few["wall_share"] = round(few["wall_s"] / full["wall_s"], 4)
        few["n_files_verified"] = verify(folder)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--scale", type=float, default=1.0, help="factor for ASes and routers")
    parser.add_argument("--changed", type=float, default=0.01, help="share of ASes that changed")
    parser.add_argument("--metrics", default="hops")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--steps", default=",".join(STEPS), help="which; the others: as before")
    parser.add_argument("--folder", type=Path, help="where store and reports are kept")
    parser.add_argument("--name", help="name of the results file")
    parser.add_argument("--results", type=Path, help="folder of the results file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hopscope-nights-") as scratch:
        rows = measure(given.folder or Path(scratch), given)
    here = machine()
    gpus = f"{len(here['gpus'])}_gpu_" if here["gpus"] else ""
    name = given.name or f"nights_{gpus}{len(os.sched_getaffinity(0))}_cores"
    record(name, rows, folder=given.results, scale=given.scale, changed=given.changed)


if __name__ == "__main__":
    main()
