"""From store to results: what a Dask task costs, and how packs, schedules and workers compare.

``python -m benchmarks.bench_schedule [--nodes N] [--ingresses N,N] [--packs 1,auto]
[--schedules free,striding,barrier] [--workers N,N] [--device cpu] [--repeats N]``

One AS of preferential attachment with two links a router is written to a store; each row is a whole
``measure`` (plan, drive, collect) on a cluster that is up, so that its start, told apart, does not
blur the comparison. The first run of each cluster, in which workers read the graph, is a row of
its own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.record import record
from kernels.warm import compile_cpu
from pipeline.build import build_graphs
from pipeline.config import AnalyzeConfig
from pipeline.generate.barabasi_albert import generate_barabasi_albert
from pipeline.infer.declared import declare
from pipeline.schedule import measure
from pipeline.schedule.cluster import open_cluster
from pipeline.schedule.driver import drive
from pipeline.store import Snapshot, open_snapshot, write_snapshot

ASN = 64512
N_EMPTY = 1000  # tasks without work


def snapshot_of(store: Path, n_nodes: int, n_ingresses: int) -> Snapshot:
    topology = generate_barabasi_albert(n_nodes, m=2, seed=1, asn=ASN)
    graphs = build_graphs([declare(topology, asn=ASN, ingresses=n_ingresses)])
    more: dict[str, Any] = {"as_names": {}, "inputs": [], "options": {}, "counts": {}}
    write_snapshot(store, f"{n_nodes}-{n_ingresses}", graphs, rejects=[], **more)
    return open_snapshot(store, f"{n_nodes}-{n_ingresses}")


def task_cost(client: Any) -> list[dict]:
    """Milliseconds that a task without work costs, by tasks in flight."""
    rows = []
    for window in (None, 8, 16):
        todo = iter(range(N_EMPTY))
        started = time.perf_counter()
        for _ in drive(client, abs, partial(next, todo, None), name="empty", window=window):
            pass
        task_ms = (time.perf_counter() - started) / N_EMPTY * 1e3
        rows.append({"what": "empty task", "window": window or "default", "task_ms": task_ms})
    return rows


def run_once(snapshot: Snapshot, config: AnalyzeConfig) -> tuple[float, Any]:
    started = time.perf_counter()
    measurement = measure(snapshot, config)
    wall_s = time.perf_counter() - started
    assert not measurement.failed, measurement.failed
    return wall_s, measurement


def same(a: Any, b: Any) -> bool:
    """Whether two runs agree in every result."""
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("row", "source", "n_reached", "eccentricity", "hop_counts", "farthest")
    )


def rows_of(arguments: argparse.Namespace, scratch: Path) -> Iterator[dict]:
    snapshots = [snapshot_of(scratch / "store", arguments.nodes, n) for n in arguments.ingresses]
    expected: dict[str, Any] = {}
    for workers in arguments.workers:
        config = AnalyzeConfig(
            store=scratch / "store",
            out=scratch / "out",
            device=arguments.device,
            workers=workers,
            dashboard="127.0.0.1:0",
        )
        started = time.perf_counter()
        with open_cluster(config) as cluster:
            start_s = time.perf_counter() - started
            yield {"what": "cluster start", "workers": workers, "wall_s": start_s}
            yield from ({"workers": workers} | row for row in task_cost(cluster.client))
            there = replace(config, scheduler=cluster.address, workers=None)
            for snapshot in snapshots:
                first_s, measurement = run_once(snapshot, replace(there, pack=1))
                expected.setdefault(snapshot.name, measurement.results)
                base = {"n_nodes": arguments.nodes, "workers": workers, "device": arguments.device}
                base["n_ingresses"] = int(snapshot.n_ingresses[0])
                yield base | {"what": "first run, pack 1, graph read", "wall_s": first_s}
                for pack in arguments.packs:
                    for schedule in arguments.schedules:
                        told = replace(there, pack=pack, schedule=schedule)
                        runs = [run_once(snapshot, told) for _ in range(arguments.repeats)]
                        measurement = runs[-1][1]
                        assert same(measurement.results, expected[snapshot.name])
                        busy = measurement.busy_share.values()
                        yield base | {
                            "what": "measure",
                            "pack": pack or "auto",
                            "schedule": schedule,
                            "wall_s": statistics.median(wall_s for wall_s, _ in runs),
                            "n_tasks": len(measurement.tasks["task"]),
                            "busy_share": sum(busy) / len(busy),
                            "repeats": arguments.repeats,
                        }


def main() -> None:
    def listed(of: Any) -> Any:
        return lambda text: [of(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--ingresses", type=listed(int), default=[100])
    packs = listed(lambda text: None if text == "auto" else int(text))
    parser.add_argument("--packs", type=packs, default=[1, None])
    parser.add_argument("--schedules", type=listed(str), default=["free", "striding", "barrier"])
    parser.add_argument("--workers", type=listed(int), default=[1, 2])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--subject", default="schedule")
    arguments = parser.parse_args()
    compile_cpu()
    with tempfile.TemporaryDirectory() as scratch:
        rows = []
        for row in rows_of(arguments, Path(scratch)):
            print(json.dumps(row), file=sys.stderr, flush=True)
            rows.append(row)
        record(arguments.subject, rows)


if __name__ == "__main__":
    main()
