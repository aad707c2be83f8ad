"""Schedules compared, as in earlier work: time, speed-up, gain of each GPU, busy share.

``python benchmarks/bench_schedule.py [--parts tables,long,...] [--workers 1,2,4] [--device gpu]
[--scale 0.02] [--seconds 330] [--breakdown]``

Parts, each on 1, 2, 4, ... workers (a GPU each, or a core each):

- ``tasks``: cost of an empty task;
- ``tables``: 50 and 100 ingresses of ASes of 4.6, 4.8 and 6.7 M routers, ``--pack 1`` by the
  schedules barrier, striding and free, and ``--pack auto``;
- ``long``: searches of 20 ms or more: those of the published original with two kernels (on GPUs),
  and ours repeated up to 20 ms;
- ``many``: 100, 1,000 and 4,000 ingresses of one AS, and of many ASes, as sweeps;
- ``uneven``: ASes of very different sizes, largest first and in random order; and one GPU kept
  busy by another process (on cores: one worker stopped half of the time);
- ``degrees``: mean degrees of 6, 8 and 10, and an AS of 20 M routers.

``wall_s`` is that of plan, drive and collect on a running cluster that has read the graphs. The
sequential baseline is a plain queue search on one core, ingress after ingress: measured for
``N_SEQUENTIAL`` of them and scaled. ``gain`` is the time on the fewest workers over the time on
these, ``gain_of_last`` that on the count before. Results are compared: among all runs of the same
ingresses, and with the baseline's.

Each row is printed as soon as it is measured. The last one names the parts for which there was no
time.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import record
from benchmarks.schedule.parts import PARTS, Part, Run, parts_of, sizes_of
from benchmarks.schedule.store import Size, make_snapshot
from benchmarks.schedule.task_breakdown import breakdown, task_cost
from benchmarks.schedule.work import LONG_S, search_long
from kernels._cpu.threads import n_cores
from kernels.breadth_first import bfs_queue
from kernels.host import compile_cpu
from pipeline.collect import Collector
from pipeline.config import AnalyzeConfig
from pipeline.model.search.results import Measurement
from pipeline.schedule.calibrate.file import load as load_costs
from pipeline.schedule.cluster.executors import DaskExecutor
from pipeline.schedule.cluster.gpus import visible_gpus
from pipeline.schedule.cluster.open import open_cluster
from pipeline.schedule.plan.batches import plan
from pipeline.schedule.plan.costs import Costs
from pipeline.schedule.transport.drive import SCHEDULES
from pipeline.store import Snapshot

N_SEQUENTIAL = 2  # searches of the baseline that are measured
ENOUGH_S = 1.0  # seconds of repeats of one run; at most the requested number
HALF_S = 10e-3  # seconds that a slowed worker alternately runs and is stopped
PAYS = 1.1  # gain at which the last added workers pay off


@dataclass
class Bench:
    """Shared by all runs: the time left, and the measured times."""

    device: str
    seconds: float
    repeats: int
    costs: Costs
    rows: dict[Size, int] = field(default_factory=dict)  # AS rows of the snapshot
    started: float = field(default_factory=time.monotonic)
    walls: dict[tuple, dict[int, float]] = field(default_factory=dict)
    found: dict[tuple, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    search_s: dict[int, float] = field(default_factory=dict)  # of one search, by AS number
    sequential_s: dict[Size, float] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def has_time(self, what: str) -> bool:
        """Whether to begin something; what is not begun is listed at the end."""
        if time.monotonic() - self.started < self.seconds:
            return True
        self.left_out.append(what)
        return False


def sources_of(snapshot: Snapshot, rows: list[int], n_sources: int) -> tuple[np.ndarray, ...]:
    """The same distinct nodes of each AS in every run: source_ptr, sources."""
    drawn = [
        np.random.default_rng(row).permutation(int(snapshot.n_nodes[row]))[:n_sources]
        for row in rows
    ]
    source_ptr = np.append(0, np.cumsum([len(nodes) for nodes in drawn]))
    return source_ptr, np.concatenate([np.sort(nodes) for nodes in drawn]).astype(np.int32)


def measure_sequential(bench: Bench, snapshot: Snapshot, size: Size) -> float:
    """Seconds of one search by the baseline."""
    if size not in bench.sequential_s:
        graph = snapshot.graph(bench.rows[size])
        _, sources = sources_of(snapshot, [bench.rows[size]], N_SEQUENTIAL + 1)
        times = []
        for source in sources.tolist():  # the first one touches the memory
            started = time.perf_counter()
            bfs_queue(graph, source)
            times.append(time.perf_counter() - started)
        bench.sequential_s[size] = float(np.mean(times[1:]))
    return bench.sequential_s[size]


def run_once(bench: Bench, cluster: DaskExecutor, snapshot: Snapshot, run: Run) -> Measurement:
    """Plan, drive and collect, as ``measure`` does."""
    rows = np.array(sorted(bench.rows[size] for size in run.ases))
    source_ptr, sources = sources_of(snapshot, rows.tolist(), run.n_ingresses)
    tasks = plan(
        rows,
        snapshot.asn[rows],
        snapshot.n_nodes[rows],
        snapshot.n_arcs[rows],
        [snapshot.graph_hash[row] for row in rows.tolist()],
        source_ptr,
        sources,
        n_workers=max(1, sum(cluster.n_threads().values())),
        devices=(bench.device,),  # type: ignore[arg-type]
        pack=run.pack,
        costs=bench.costs,
        snapshot=str(Path(snapshot.path).resolve()),
    )
    order = np.arange(tasks.n_tasks)
    if run.order == "random":
        order = np.random.default_rng(0).permutation(order)
    todo = (tasks.task(i) for i in order.tolist())
    work = run.work
    if work is search_long:
        search_s = min(bench.search_s[int(asn)] for asn in snapshot.asn[rows])
        work = partial(search_long, n_repeats=math.ceil(LONG_S / search_s))
    collector = Collector(snapshot.asn)
    outcomes = SCHEDULES[run.schedule](
        cluster.client, work, lambda: next(todo, None), name=lambda task: task.name
    )
    for outcome in outcomes:
        collector.add(outcome)
    measurement = collector.finish(
        rows, tasks.owner, source_ptr, sources, n_threads=cluster.n_threads()
    )
    if measurement.failed:
        raise RuntimeError(f"{run}: {measurement.failed}")
    return measurement


def check(bench: Bench, snapshot: Snapshot, run: Run, measurement: Measurement) -> None:
    """Raise unless the results are those of every other run, and of the baseline."""
    results = measurement.results
    mine = (results.n_reached, results.eccentricity)
    key = (run.ases, run.n_ingresses)
    if key not in bench.found:
        bench.found[key] = mine
        at = len(results.source) - 1
        wanted = bfs_queue(snapshot.graph(int(results.row[at])), int(results.source[at]))
        if (wanted.n_reached, wanted.eccentricity) != (mine[0][at], mine[1][at]):
            raise RuntimeError(f"{run}: another result than the baseline's")
    for ours, theirs in zip(mine, bench.found[key], strict=True):
        if not np.array_equal(ours, theirs):
            raise RuntimeError(f"{run}: another result than that of an earlier run")


def timed(
    bench: Bench, cluster: DaskExecutor, snapshot: Snapshot, part: Part, run: Run
) -> dict[str, Any]:
    """One row: the median of some repeats."""
    walls: list[float] = []
    busy: list[float] = []
    while len(walls) < bench.repeats and sum(walls) < ENOUGH_S:
        started = time.perf_counter()
        measurement = run_once(bench, cluster, snapshot, run)
        walls.append(time.perf_counter() - started)
        busy.append(float(np.mean(list(measurement.busy_share.values()))))
    check(bench, snapshot, run, measurement)
    wall_s, n_workers = float(np.median(walls)), len(cluster.facts)
    by_workers = bench.walls.setdefault((part.name, *run.key), {})
    by_workers[n_workers] = wall_s
    row = {
        "part": part.name,
        "workers": n_workers,
        "device": bench.device,
        "ases": run.text,
        "n_ingresses": run.n_ingresses,
        "searches": run.work_name,
        "schedule": run.schedule,
        "pack": run.pack or "auto",
        "order": run.order,
        "n_tasks": len(measurement.tasks["task"]),
        "wall_s": wall_s,
        "busy_share": float(np.median(busy)),
        "repeats": len(walls),
    }
    if part.has_baseline and run.work is not search_long:
        one_s = [measure_sequential(bench, snapshot, size) for size in run.ases]
        row["sequential_s"] = run.n_ingresses * sum(one_s)
        row["speed_up"] = row["sequential_s"] / wall_s
    fewer = sorted(n for n in by_workers if n < n_workers)
    if fewer:
        row["gain"] = by_workers[fewer[0]] / wall_s
        row["gain_of_last"] = by_workers[fewer[-1]] / wall_s
    return row


@contextlib.contextmanager
def disturbed(bench: Bench, cluster: DaskExecutor) -> Iterator[None]:
    """Slow the last worker: its GPU is kept busy by another process, or it gets half of a core."""
    if bench.device == "gpu":
        command = [sys.executable, str(Path(__file__).with_name("schedule") / "work.py")]
        gpu = {"CUDA_VISIBLE_DEVICES": visible_gpus()[len(cluster.facts) - 1]}
        environment = os.environ | gpu
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            try:
                assert process.stdout is not None
                if process.stdout.readline().strip() != "ready":
                    raise RuntimeError("the process that is to disturb did not start")
                yield
            finally:
                process.kill()
        return
    worker = cluster.facts[sorted(cluster.facts)[-1]]["pid"]
    ended = threading.Event()

    def interrupt() -> None:
        while not ended.wait(HALF_S):
            os.kill(worker, signal.SIGSTOP)
            time.sleep(HALF_S)
            os.kill(worker, signal.SIGCONT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def note_searches(bench: Bench, measurement: Measurement) -> None:
    """Keep the least that a search of each AS took, on the fewest workers."""
    least: dict[int, float] = {}
    columns = (measurement.tasks[name] for name in ("asns", "started", "ended"))
    for asns, started, ended in zip(*columns, strict=True):
        asn = int(asns[0])
        least[asn] = min(least.get(asn, math.inf), max(ended - started, 1e-6))
    for asn, seconds in least.items():
        bench.search_s.setdefault(asn, seconds)


def rows_on(bench: Bench, cluster: DaskExecutor, parts: list[Part], snapshot: Snapshot) -> Iterator:
    """All rows of one cluster."""
    n_workers = len(cluster.facts)
    base = {"workers": n_workers, "device": bench.device}
    for part in parts:
        if not part.runs:
            yield base | {"part": part.name, "what": "task without work", **task_cost(cluster)}
            continue
        ases = tuple(sizes_of([part]))
        if not bench.has_time(f"{part.name} on {n_workers}"):
            continue
        started = time.perf_counter()
        # Striding: each worker searches each AS, so it has read its graph.
        warm = run_once(bench, cluster, snapshot, Run(ases, "", 2 * n_workers, "striding", 1))
        wall_s = time.perf_counter() - started
        note_searches(bench, warm)
        yield base | {"part": part.name, "what": "graphs read by all", "wall_s": wall_s}
        for run in part.runs:
            if bench.has_time(f"{part.name} on {n_workers}: {run.text}, {run.schedule}"):
                yield timed(bench, cluster, snapshot, part, run)
        if part.disturb and n_workers > 1 and bench.has_time(f"{part.name} disturbed"):
            slowed = Part(f"{part.name}, one slowed")
            with disturbed(bench, cluster):
                for run in part.disturb:
                    yield timed(bench, cluster, snapshot, slowed, run)


def all_rows(bench: Bench, arguments: argparse.Namespace, scratch: Path) -> Iterator[dict]:
    yield {"what": "costs that plans go by", "source": bench.costs.source}
    parts = parts_of(arguments.parts, arguments.scale, bench.device)
    sizes = sizes_of(parts) or [Size(100)]
    bench.rows = {size: row for row, size in enumerate(sizes)}
    started = time.perf_counter()
    snapshot = make_snapshot(scratch / "store", "bench", sizes)
    n_nodes, wall_s = int(snapshot.n_nodes.sum()), time.perf_counter() - started
    yield {"what": "ASes made and stored", "n_nodes": n_nodes, "wall_s": wall_s}
    for n_workers in arguments.workers:
        if not bench.has_time(f"{n_workers} workers"):
            continue
        config = AnalyzeConfig(
            store=scratch,
            out=scratch,
            device=bench.device,  # type: ignore[arg-type]
            workers=n_workers,
            dashboard="127.0.0.1:0",
        )
        started = time.perf_counter()
        with open_cluster(config) as cluster:
            start_s = time.perf_counter() - started
            yield {"what": "cluster start", "workers": n_workers, "wall_s": start_s}
            yield from rows_on(bench, cluster, parts, snapshot)
            if arguments.breakdown:
                yield from ({"workers": n_workers} | row for row in breakdown(cluster))
    paying = {" | ".join(map(str, key)): n for key, n in pays(bench.walls).items()}
    if paying:
        yield {"what": "most workers that pay: the last still gains a tenth", "runs": paying}
    if bench.left_out:
        yield {"what": f"left out: no time in {bench.seconds:.0f} s", "runs": bench.left_out}


def pays(walls: dict[tuple, dict[int, float]]) -> dict[tuple, int]:
    """The most workers whose last addition still gained a tenth, of runs on several counts."""
    found = {}
    for key, by_workers in walls.items():
        counts = sorted(by_workers)
        if len(counts) < 2:
            continue
        found[key] = counts[0]
        for fewer, more in itertools.pairwise(counts):
            if by_workers[fewer] / by_workers[more] < PAYS:
                break
            found[key] = more
    return found


def listed(of: Any) -> Any:
    return lambda text: [of(part) for part in text.split(",")]


def stop(signal_number: int, frame: Any) -> None:
    raise SystemExit(f"stopped by signal {signal_number}; what was measured is kept")


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", type=listed(str), default=list(PARTS))
    parser.add_argument(
        "--workers", type=listed(int), help="numbers of workers; default: 1,2,4 as far as available"
    )
    parser.add_argument("--device", choices=("cpu", "gpu"), help="default: gpu if there is one")
    parser.add_argument(
        "--scale",
        type=float,
        help="factor for the sizes of ASes; default: 1 on GPUs, 0.02 on cores",
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--seconds", type=float, default=330.0, help="seconds after which nothing new is started"
    )
    parser.add_argument(
        "--breakdown", action="store_true", help="also show how the time of a task is spent"
    )
    parser.add_argument("--subject", help="name of the results file")
    parser.add_argument("--folder", type=Path, help="folder of the results file")
    arguments = parser.parse_args(given)
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    device = arguments.device or ("gpu" if visible_gpus() else "cpu")
    n_most = len(visible_gpus()) if device == "gpu" else n_cores()
    arguments.workers = sorted(arguments.workers or [n for n in (1, 2, 4) if n <= n_most])
    arguments.scale = arguments.scale or (1.0 if device == "gpu" else 0.02)
    subject = arguments.subject or f"schedule_{n_most}_{'gpus' if device == 'gpu' else 'cores'}"
    signal.signal(signal.SIGTERM, stop)
    compile_cpu()
    bench = Bench(device, arguments.seconds, arguments.repeats, load_costs())
    rows: list[dict] = []
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for row in all_rows(bench, arguments, Path(scratch)):
                print(json.dumps(row), flush=True)
                rows.append(row)
        finally:  # a part that was cut short keeps its measurements
            with contextlib.redirect_stdout(io.StringIO()):  # rows have been printed
                path = record(subject, rows, arguments.folder, scale=arguments.scale)
    print(path)


if __name__ == "__main__":
    main()
