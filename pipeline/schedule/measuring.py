"""Every search of a run: open the cluster, plan, drive, collect."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernels.warm import compile_cpu
from pipeline.collect import Collector
from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.model.measurement import Measurement
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.schedule.calibration_file import load as load_costs
from pipeline.schedule.cluster import Cluster, open_cluster
from pipeline.schedule.costs import Costs
from pipeline.schedule.driver import SCHEDULES, drive
from pipeline.schedule.policy import Plan, plan, smaller
from pipeline.schedule.tasks import JoinTask, parts_folder, run_join, run_search
from pipeline.schedule.watch import Limits
from pipeline.store import Snapshot

PROGRESS_S = 0.1  # at most this often
KEEP_S = 24 * 3600.0  # the report may be made by another process, later


def measure(
    snapshot: Snapshot, config: AnalyzeConfig, progress: ProgressCallback | None = None
) -> Measurement:
    """Search from every ingress of every AS asked for.

    Parameters
    ----------
    snapshot : Snapshot
    config : AnalyzeConfig
        ``asns``, ``device``, ``pack``, ``schedule``, ``workers``, ``scheduler``, ``distances``
        (written beside ``out/<snapshot>``, which the
        report takes in), ``verify``, ``dashboard``.
    progress : callable or None
        Called with Progress at most ten times a second, from this thread.

    Returns
    -------
    Measurement
        An AS whose searches failed is in ``failed``, the rest is done.

    Raises
    ------
    UsageError
        No cluster can be had as ``config`` asks for it.
    StoreError
        The snapshot is broken.
    """
    if config.pack is not None and config.pack < 1:
        raise UsageError(f"--pack {config.pack}: give auto, or 1 or more ingresses a task")
    progress = progress or no_progress
    rows, source_ptr, sources = _sources(snapshot, config.asns)
    collector = Collector(snapshot.asn)
    if not len(sources):
        return collector.finish(rows, rows, source_ptr, sources, cluster=_asked(config))
    distances_dir = _distances_dir(snapshot, config)
    costs = _costs(config)
    if config.scheduler is None:
        compile_cpu()  # once, not in every worker at the same moment
    with _removed_on_error(distances_dir), open_cluster(config, snapshot.path) as cluster:
        tasks = plan(
            rows,
            snapshot.asn[rows],
            snapshot.n_nodes[rows],
            snapshot.n_arcs[rows],
            [snapshot.graph_hash[row] for row in rows.tolist()],
            source_ptr,
            sources,
            n_workers=max(1, sum(cluster.n_threads().values())),
            devices=cluster.devices,
            pack=config.pack,
            costs=costs,
            snapshot=str(Path(snapshot.path).resolve()),
            distances_dir=str(distances_dir) if distances_dir else "",
            verify=config.verify,
        )
        _search(cluster, tasks, config, collector, progress)
        n_threads = cluster.n_threads()
        measurement = collector.finish(
            rows,
            tasks.owner,
            source_ptr,
            sources,
            cluster=cluster.describe() | _asked(config) | _counts(tasks) | {"costs": asdict(costs)},
            n_threads=n_threads,
        )
        if distances_dir is not None:
            _join_distances(cluster, distances_dir, snapshot, measurement, tasks.owner)
            measurement = replace(measurement, distances_dir=str(distances_dir))
    return measurement


def _sources(
    snapshot: Snapshot, asns: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows asked for, and the ingresses of each; what is only a candidate is no source."""
    rows = np.arange(len(snapshot.asn), dtype=np.int64)
    if asns:
        rows = np.array(sorted({snapshot.row_of(asn) for asn in asns}), np.int64)
    ingresses = snapshot.ingresses(rows)
    counted = ~ingresses.candidate
    row, node = ingresses.row[counted], ingresses.node[counted]
    source_ptr = np.append(np.searchsorted(row, rows), len(row)).astype(np.int64)
    return rows, source_ptr, node.astype(np.int32)


def _search(
    cluster: Cluster,
    tasks: Plan,
    config: AnalyzeConfig,
    collector: Collector,
    progress: ProgressCallback,
) -> None:
    todo = [iter(tasks)]
    beside: dict[str, Any] = {}
    if config.schedule == "free" and len(cluster.gpu_workers) < len(cluster.facts):
        # Where only some workers have a GPU, its tasks may not stand in front of the others'.
        todo = [tasks.on(device) for device in cluster.devices]
        beside = {"beside": [_next_of(queue) for queue in todo[1:]]}
    fall_back = config.device == "auto"
    limits = Limits(task_s=max(Limits.task_s, 100 * float(tasks.cost_s.max(initial=0))))
    outcomes = SCHEDULES[config.schedule](
        cluster.client,
        run_search,
        _next_of(todo[0]),
        name=_name_of,
        smaller=lambda task: smaller(task, fall_back),
        limits=limits,
        allowed=cluster.allowed,
        **beside,
    )
    n_sources = tasks.n_sources
    where = f"{len(cluster.facts)} workers"
    where += f", {cluster.dashboard}" if cluster.dashboard else ""
    progress(Progress("search", 0, n_sources, "ingresses", where))
    told = 0.0
    with contextlib.closing(outcomes):
        for outcome in outcomes:
            collector.add(outcome)
            now = time.monotonic()
            if now - told >= PROGRESS_S:
                told = now
                detail = f"{outcome.task.name}, {collector.n_done} of {tasks.n_tasks} tasks"
                progress(Progress("search", collector.n_sources, n_sources, "ingresses", detail))
    detail = f"{collector.n_done} tasks on {where}"
    progress(Progress("search", collector.n_sources, n_sources, "ingresses", detail))


def _next_of(tasks: Iterator[Any]) -> Callable[[], Any | None]:
    return lambda: next(tasks, None)


def _name_of(task: Any) -> str:
    return task.name


def _costs(config: AnalyzeConfig) -> Costs:
    """This machine's, for a cluster of others too: what is of a GPU there may be of another."""
    costs = load_costs()
    if config.scheduler is None:
        return costs
    return replace(costs, source=f"{costs.source}, of the client's machine, not of its workers'")


def _asked(config: AnalyzeConfig) -> dict:
    return {"schedule": config.schedule, "pack": config.pack or "auto", "device": config.device}


def _counts(tasks: Plan) -> dict:
    kinds = np.bincount(tasks.kind, minlength=3).tolist()
    return {
        "n_tasks": tasks.n_tasks,
        "n_search_tasks": kinds[0],
        "n_pack_tasks": kinds[1],
        "n_shard_tasks": kinds[2],
        "n_searches": tasks.n_sources,
    }


def _distances_dir(snapshot: Snapshot, config: AnalyzeConfig) -> Path | None:
    if not config.distances:
        return None
    # Beside the report that may be there: it stays whole until this run's takes its place.
    run = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    folder = (config.out / f".{snapshot.name}.distances-{run}").resolve()
    try:
        _remove_leftovers(folder, run)
        parts_folder(folder).mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"--out {config.out}: cannot be written: {error.strerror}") from None
    return folder


@contextlib.contextmanager
def _removed_on_error(folder: Path | None) -> Iterator[None]:
    """A run that ends before its report leaves no matrices."""
    try:
        yield
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _remove_leftovers(folder: Path, run: str) -> None:
    """What runs of this host left that were killed; their process id tells."""
    if not folder.parent.is_dir():
        return
    host = run.rsplit("-", 2)[0]
    prefix = folder.name.removesuffix(run) + host + "-"
    for path in folder.parent.iterdir():
        process = path.name.removeprefix(prefix).split("-")[0]
        if not path.name.startswith(prefix) or not process.isdigit():
            continue
        try:
            if time.time() - path.stat().st_mtime > KEEP_S:
                os.kill(int(process), 0)
        except ProcessLookupError:
            shutil.rmtree(path, ignore_errors=True)
        except OSError:  # somebody else's, at work
            continue


def _join_distances(
    cluster: Cluster,
    folder: Path,
    snapshot: Snapshot,
    measurement: Measurement,
    owner: np.ndarray,
) -> None:
    """One file an AS out of what its tasks wrote; an AS that failed has none."""
    parts: dict[int, list[str]] = {}
    for part in sorted(parts_folder(folder).glob("*.parquet")):
        parts.setdefault(int(part.name.split("-")[0]), []).append(str(part))
    shared = np.bincount(owner, minlength=len(snapshot.asn)) > 1
    results = measurement.results
    joins = []
    for row, owned_by in zip(measurement.rows.tolist(), owner.tolist(), strict=True):
        path = folder / f"{int(snapshot.asn[row])}.parquet"
        first, last = np.searchsorted(results.row, [row, row + 1])
        if row in measurement.failed or first == last:
            path.unlink(missing_ok=True)  # of an earlier run
        elif owned_by in parts:
            own = results.source[first:last] if shared[owned_by] else None
            name = f"distances_AS{int(snapshot.asn[row])}"
            joins.append(JoinTask(name, row, str(path), tuple(parts[owned_by]), own))
    todo = iter(joins)
    for outcome in drive(cluster.client, run_join, lambda: next(todo, None), name=_name_of):
        if outcome.error is not None:
            reason = f"its distances could not be joined: {outcome.error}"
            measurement.failed.setdefault(outcome.task.row, reason)
    shutil.rmtree(parts_folder(folder), ignore_errors=True)
