"""Exact search of one large AS: without and with a barrier, packs, and everything in one task.

``python benchmarks/bench_exact_search.py [--graph attachment|grid] [--nodes 1000000]
[--links 2] [--metrics diameter,radius] [--most 0] [--workers 1,2] [--packs auto,1,64]
[--device gpu]``

Each run is one AS on a running cluster, whose workers have read the graph before. ``whole`` is the
same question inside one task (``kernels.eccentricity.shard``), which may use reductions that an
exact search does not: landmarks, pendant trees of all questions, bounds of its own process.

``wall_s`` is from the first task to the answer, ``rest_s`` from then until nothing is in flight (of
the last repeat), ``busy_share`` the share of ``wall_s`` in which workers computed, ``waited_ms``
the median time from the end of a search until the client has its result. The row ``what the client
does`` is the rest: merging a result, choosing the next source; for searches of this process, one
after another. ``--most`` limits the searches (0: no limit), for questions that need too many: then
rates can be compared, and answers are intervals.
Answers of all runs are compared.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.graphs import attachment, cut_grid
from benchmarks.lib.record import record
from benchmarks.schedule.exact import search_exactly
from benchmarks.schedule.store import make_snapshot_of
from benchmarks.schedule.work import answer_whole
from kernels._cpu.threads import n_cores
from kernels.host import compile_cpu
from pipeline.config import AnalyzeConfig
from pipeline.metrics import WIDTH_METRICS
from pipeline.model.search.exact import ExactJob, ExactResult, ExactTask
from pipeline.model.search.tasks import Outcome
from pipeline.schedule.calibrate.file import load as load_costs
from pipeline.schedule.cluster.executors import DaskExecutor
from pipeline.schedule.cluster.gpus import visible_gpus
from pipeline.schedule.cluster.open import open_cluster
from pipeline.schedule.exact_search.state import ExactOptions, ExactState
from pipeline.schedule.exact_search.tasks import run_exact
from pipeline.schedule.plan.costs import Costs
from pipeline.schedule.plan.steps import by_exact_search
from pipeline.schedule.transport.drive import drive
from pipeline.schedule.work.resident import resident_graph
from pipeline.store import Snapshot

N_USED = 12  # results from which the client's part is measured
ENOUGH_S = 20.0  # seconds of repeats of one run; at most the requested number
SCHEDULES = ("free", "barrier")


class Reported:
    """Outcomes of one run."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.waits_s: list[float] = []
        self.rest_s = 0.0

    def __call__(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if outcome.task.kind == "candidate" and outcome.run is not None:
            self.waits_s.append(time.time() - outcome.run.ended)

    def columns(self, wall_s: float, n_workers: int) -> dict[str, Any]:
        runs = [outcome.run for outcome in self.outcomes if outcome.run is not None]
        used = [o for o in self.outcomes if o.task.kind == "candidate" and o.result is not None]
        n_bytes = [o.result.lower.nbytes + o.result.upper.nbytes for o in used]
        searched_s = [o.run.ended - o.run.started for o in used if o.run is not None]
        return {
            "n_tasks": len(self.outcomes),
            "rest_s": self.rest_s,
            "busy_share": sum(run.ended - run.started for run in runs) / wall_s / n_workers,
            "task_ms": 1e3 * statistics.median(searched_s) if searched_s else None,
            "waited_ms": 1e3 * statistics.median(self.waits_s) if self.waits_s else None,
            "mb_a_result": statistics.median(n_bytes) / 1e6 if n_bytes else None,
        }


def answer_of(
    cluster: DaskExecutor, job: ExactJob, costs: Costs, **options: Any
) -> tuple[float, ExactResult, Reported]:
    """Seconds until the answer, the answer, and the reported outcomes."""
    reported = Reported()
    started = time.perf_counter()
    answers = search_exactly(cluster, [job], costs=costs, on_outcome=reported, **options)
    answer = next(answers)
    wall_s = time.perf_counter() - started
    for _ in answers:  # tasks that still run
        raise AssertionError("one job has one answer")
    reported.rest_s = time.perf_counter() - started - wall_s
    return wall_s, answer, reported


def whole_of(cluster: DaskExecutor, job: ExactJob) -> tuple[float, Any]:
    """Seconds of one task for everything, and its result."""
    tasks = iter([ExactTask("opening", job, np.empty(0, np.int32), job.device)])
    started = time.perf_counter()
    (outcome,) = drive(cluster.client, answer_whole, lambda: next(tasks, None), name="whole")
    wall_s = time.perf_counter() - started
    if outcome.error is not None:
        raise outcome.error
    return wall_s, outcome.result


def interval(widths: Any) -> tuple[int, int, int, int]:
    """Of diameter and radius, in the only or the largest component."""
    lower = np.argmax(widths.size) if hasattr(widths, "size") else 0
    names = ("diameter_lower", "diameter_upper", "radius_lower", "radius_upper")
    low, high, radius_low, radius = (int(getattr(widths, name)[lower]) for name in names)
    return low, high, radius_low, radius


def check(found: list[tuple[int, int, int, int]], metrics: tuple[str, ...], exact: bool) -> None:
    """Intervals of all runs meet; values that were requested are the same."""
    lows, highs, radius_lows, radii = zip(*found, strict=True)
    if max(lows) > min(highs) or max(radius_lows) > min(radii):
        raise AssertionError(f"runs contradict one another: {found}")
    asked = {"diameter": lows, "radius": radii}
    for metric, values in asked.items():
        if exact and metric in metrics and len(set(values)) > 1:
            raise AssertionError(f"runs found a {metric} of {sorted(set(values))}")


def rows_on(
    cluster: DaskExecutor, job: ExactJob, costs: Costs, given: argparse.Namespace, found: list
) -> Iterator[dict]:
    """All rows of one cluster."""
    n_workers = len(cluster.facts)
    base = {"workers": n_workers, "device": job.device, "graph": given.graph}
    base |= {"n_nodes": job.n_nodes, "n_arcs": job.n_arcs, "metrics": ",".join(job.metrics)}
    for device in {"cpu", job.device}:
        cluster.client.run(_read, job.snapshot, job.row, device)
    for pack in given.packs:
        for schedule in SCHEDULES:
            options = {"pack": pack, "schedule": schedule, "max_searches": given.most or None}
            walls: list[float] = []
            while len(walls) < given.repeats and sum(walls) < ENOUGH_S:
                # The first searches of a worker load code: they are in no row.
                if not walls:
                    answer_of(cluster, job, costs, **options | {"max_searches": 2 * n_workers + 2})
                wall_s, answer, reported = answer_of(cluster, job, costs, **options)
                walls.append(wall_s)
            found.append(interval(answer.widths))
            check(found, job.metrics, not given.most)
            if not (answer.widths.exact[0] or given.most):
                raise AssertionError(answer.reason)
            yield base | {
                "schedule": schedule,
                "pack": pack or "auto",
                "wall_s": statistics.median(walls),
                "n_searches": int(answer.widths.n_searches[0]),
                "exact": bool(answer.widths.exact[0]),
                "diameter": list(found[-1][:2]),
                "radius": list(found[-1][2:]),
                **reported.columns(walls[-1], n_workers),
                "repeats": len(walls),
            }
    if not given.most:
        whole_of(cluster, job)
        walls = []
        while len(walls) < given.repeats and sum(walls) < ENOUGH_S:
            wall_s, whole = whole_of(cluster, job)
            walls.append(wall_s)
        found.append(interval(whole))
        check(found, job.metrics, True)
        yield base | {
            "schedule": "whole",
            "wall_s": statistics.median(walls),
            "n_searches": int(whole.n_searches.sum()),
            "repeats": len(walls),
        }


def _read(snapshot: str, row: int, device: Any) -> int:
    return resident_graph(snapshot, row, device).n_nodes


def all_rows(given: argparse.Namespace, scratch: Path) -> Iterator[dict]:
    costs = load_costs()
    yield {"what": "costs that packs go by", "source": costs.source}
    is_grid = given.graph == "grid"
    graph = cut_grid(math.isqrt(given.nodes)) if is_grid else attachment(given.nodes, m=given.links)
    snapshot: Snapshot = make_snapshot_of(scratch / "store", "bench", [graph])
    job = ExactJob(
        row=0,
        asn=int(snapshot.asn[0]),
        n_nodes=graph.n_nodes,
        n_arcs=graph.n_arcs,
        snapshot=str(snapshot.path),
        metrics=tuple(given.metrics),
        device=given.device,
    )
    yield client_row(job, costs)
    found: list[tuple[int, int, int, int]] = []
    for n_workers in given.workers:
        sizes = (job.n_nodes, job.n_arcs, n_workers, costs, None, job.device)
        yield {"what": "by exact search", "workers": n_workers, "chosen": by_exact_search(*sizes)}
        config = AnalyzeConfig(
            store=scratch,
            out=scratch,
            device=given.device,
            workers=n_workers,
            dashboard="127.0.0.1:0",
        )
        with open_cluster(config) as cluster:
            yield from rows_on(cluster, job, costs, given, found)


def client_row(job: ExactJob, costs: Costs) -> dict:
    """Time of the job's state alone, per result; its first searches cost most."""
    state = ExactState(replace(job, device="cpu"), ExactOptions(costs, n_threads=2, pack=1))
    use_s, next_s, waiting = [], [], []
    while state.answer is None and len(use_s) <= N_USED:
        started = time.perf_counter()
        while len(waiting) < 4 and (task := state.next_task()) is not None:
            waiting.append(task)
        next_s.append(time.perf_counter() - started)
        task = waiting.pop(0)
        outcome = Outcome(task, 1, 0.0, result=run_exact(task))
        started = time.perf_counter()
        state.use(outcome)
        use_s.append(time.perf_counter() - started)
    columns = {"merge_ms": use_s, "choose_ms": next_s}
    # The opening, and the four tasks that follow it, are not like the rest.
    medians = {name: 1e3 * statistics.median(each[1:] or each) for name, each in columns.items()}
    n_results = len(use_s) - 1
    return {"what": "what the client does with a result", "n_results": n_results, **medians}


def listed(of: Any) -> Any:
    return lambda text: [of(part) for part in text.split(",")]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", choices=("attachment", "grid"), default="attachment")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument(
        "--links", type=int, default=2, help="links of each new node of an attachment graph"
    )
    parser.add_argument("--metrics", type=listed(str), default=["diameter", "radius"])
    parser.add_argument("--most", type=int, default=0, help="limit of searches; 0: none")
    parser.add_argument(
        "--workers", type=listed(int), help="numbers of workers; default: 1,2 as far as available"
    )
    pack = listed(lambda text: None if text == "auto" else int(text))
    parser.add_argument("--packs", type=pack, default=[None, 1])
    parser.add_argument("--device", choices=("cpu", "gpu"), help="default: gpu if there is one")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--subject", help="name of the results file")
    parser.add_argument("--folder", type=Path, help="folder of the results file")
    given = parser.parse_args(arguments)
    if unknown := set(given.metrics) - set(WIDTH_METRICS):
        parser.error(f"no metric {', '.join(sorted(unknown))}; there are {WIDTH_METRICS}")
    given.device = given.device or ("gpu" if visible_gpus() else "cpu")
    n_most = len(visible_gpus()) if given.device == "gpu" else n_cores()
    given.workers = sorted(given.workers or [n for n in (1, 2) if n <= n_most])
    unit = "gpus" if given.device == "gpu" else "cores"
    subject = given.subject or f"exact_search_{given.graph}_{n_most}_{unit}"
    compile_cpu()
    rows: list[dict] = []
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for row in all_rows(given, Path(scratch)):
                print(json.dumps(row), flush=True)
                rows.append(row)
        finally:  # a part that was cut short keeps its measurements
            with contextlib.redirect_stdout(io.StringIO()):  # rows have been printed
                path = record(subject, rows, given.folder)
    print(path)


if __name__ == "__main__":
    main()
