"""How near likenesses come to their originals, figure by figure, and what they cost by size.

Command: python benchmarks/bench_likeness.py --store DIR [SNAPSHOT ...] [--seeds N]
[--factors F ...] [--sizes N ...] [--name NAME]. Each snapshot is made again at each factor of its
routers (of several ASes: and of its ASes) with each seed; then Barabasi-Albert graphs of --sizes
routers are, in a process each, for time and memory. Writes benchmarks/results/NAME.json
(likeness.json). Rows of snapshots: `figure`, `original`, `asked`; `mean`, `least` and `most` of the
seeds; `off_percent`, of the mean from what was asked; before them `made_s` and `cpu_s` of the last
seed. Figures that end in "apart" or "elsewhere" are distances of two samples.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lib.record import record
from kernels.csr import Shard
from pipeline.generate.barabasi_albert import barabasi_albert_graph
from pipeline.generate.likeness.figures import as_original, compared, figures_of
from pipeline.generate.likeness.making import make_likeness
from pipeline.generate.likeness.original import Original
from pipeline.stages.likeness import read_original
from pipeline.store import open_snapshot, snapshot_names

NOTHING = np.zeros(0, np.int64)


def near(name: str, original: Original, factor: float, n_seeds: int) -> Iterator[dict[str, Any]]:
    """A row for each figure."""
    n_ases = max(round(original.n_ases * factor), 1) if original.n_ases > 1 else None
    n_routers = max(round(original.n_nodes * factor), n_ases or 1)
    was, tables, costs = figures_of(original), [], []
    for seed in range(1, n_seeds + 1):
        began, began_cpu = time.monotonic(), time.process_time()
        made = make_likeness(original, n_routers=n_routers, n_ases=n_ases, seed=seed)
        costs.append((time.monotonic() - began, time.process_time() - began_cpu))
        now = figures_of(as_original(made))
        tables.append({row["figure"]: row for row in compared(was, now, now)})
    yield {
        "snapshot": name,
        "factor": factor,
        "ases": original.n_ases,
        "routers": original.n_nodes,
        "made_routers": n_routers,
        "made_s": round(costs[-1][0], 2),
        "cpu_s": round(costs[-1][1], 2),
    }
    for figure, row in tables[0].items():
        found = [table[figure]["likeness"] for table in tables if figure in table]
        values = [value for value in found if value is not None]
        if not values:
            continue
        mean = float(np.mean(values))
        asked = row["asked"]
        yield {
            "snapshot": name,
            "factor": factor,
            "figure": figure,
            "law": row["law"],
            "original": row["original"],
            "asked": asked,
            "mean": round(mean, 5),
            "least": round(min(values), 5),
            "most": round(max(values), 5),
            "off_percent": round(100 * (mean / asked - 1), 2) if asked else None,
        }


def cost(n_routers: int) -> dict[str, Any]:
    graph = barabasi_albert_graph(n_routers, m=2, seed=1, shuffled=True)
    shard = Shard(graph.indptr, graph.indices, np.array([0, n_routers]), trusted=True)
    original = Original(
        asn=np.array([1]),
        shard=shard,
        weights=None,
        weight_unit="",
        ingress=np.arange(0, n_routers, max(n_routers // 1000, 1)),
        border_near=NOTHING,
        border_far=NOTHING,
    )
    small = barabasi_albert_graph(300, m=2, seed=1)
    warm = Shard(small.indptr, small.indices, np.array([0, 300]), trusted=True)
    one = Original(np.array([1]), warm, None, "", np.array([0]), NOTHING, NOTHING)
    make_likeness(one)  # so that nothing compiles while it is timed
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, began_cpu = time.monotonic(), time.process_time()
    made = make_likeness(original)
    return {
        "made": "Barabasi-Albert, m=2",
        "routers": n_routers,
        "links": len(made.indices) // 2,
        "wall_s": round(time.monotonic() - began, 1),
        "cpu_s": round(time.process_time() - began_cpu, 1),
        "before_gib": round(before / 2**20, 2),
        "peak_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("snapshots", nargs="*", help="of the store; default: all")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--factors", type=float, nargs="*", default=[1, 10, 0.1])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--name", default="likeness", help="of the file of results")
    parser.add_argument("--cost", type=int, help="print one row of a size")
    given = parser.parse_args()
    if given.cost:
        print(json.dumps(cost(given.cost)))
        return
    rows: list[dict[str, Any]] = []
    if given.store is not None:
        every = snapshot_names(given.store)
        for name in given.snapshots or every:
            with open_snapshot(given.store, name) as snapshot:
                original = read_original(snapshot, None)
            for factor in given.factors:
                rows += near(name, original, factor, given.seeds)
    for size in given.sizes:
        command = [sys.executable, __file__, "--cost", str(size)]
        made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows.append(json.loads(made.splitlines()[-1]))
    record(given.name, rows)


if __name__ == "__main__":
    main()
