"""Measure on this machine what searches, sweeps, transfers and tasks cost.

The measurements are tasks of the same cluster that a run would open: a worker has the cores, the
threads and the GPU that searches will have there, and this process holds no CUDA context. Graphs
are of preferential attachment with two links per router; long graphs have other costs. Workers
measure one after another, so that they do not disturb one another: cores that share memory
bandwidth are slower than one alone.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kernels import CSRGraph
from kernels.host import compile_cpu
from pipeline.config import AnalyzeConfig
from pipeline.errors import PipelineError
from pipeline.model.columns import empty
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.search.results import SearchResults
from pipeline.model.search.tasks import DEVICES, Device, SearchTask
from pipeline.schedule.cluster.executors import DaskExecutor
from pipeline.schedule.cluster.gpus import has_cupy
from pipeline.schedule.cluster.open import open_cluster
from pipeline.schedule.plan.costs import (
    DEFAULTS,
    LANES,
    LEAST_EACH_S,
    LEAST_S,
    Cost,
    Costs,
)
from pipeline.schedule.transport.drive import drive
from pipeline.schedule.work.searches import search_graph

SIZES = (1_000, 10_000, 100_000, 1_000_000)  # routers; the crossover is among them
SAMPLE_S = 0.4  # seconds of repeats per figure, at least MIN_REPEATS
MIN_REPEATS, MAX_REPEATS = 3, 25
N_EMPTY = 600  # empty tasks, 1 to 5 ms each

What = Literal["search", "sweep", "transfer", "task"]


@dataclass(frozen=True)
class Sample:
    """One figure: the median of some repeats."""

    device: Device
    what: What
    n_nodes: int
    n_arcs: int
    seconds: float


@dataclass(frozen=True)
class Calibration:
    """What was measured, and the costs that fit it."""

    date: str  # UTC, ISO 8601
    costs: Costs
    samples: tuple[Sample, ...]
    devices: tuple[Device, ...]
    wall_s: float


@dataclass(frozen=True)
class Probe:
    """A task that measures one size on the devices of its worker."""

    n_nodes: int
    devices: tuple[Device, ...]
    device: Device = "cpu"

    @property
    def name(self) -> str:
        return f"calibrate_{self.n_nodes}"


def calibrate(progress: ProgressCallback = no_progress) -> Calibration:
    """Measure on this machine; half a minute on cores, a little more with a GPU.

    Raises
    ------
    UsageError
        No cluster can be started here.
    PipelineError
        A measurement failed; the message says which and why.
    """
    started = time.perf_counter()
    compile_cpu()  # once, not in every worker at the same moment
    importlib.import_module("pipeline.generate.barabasi_albert")
    config = AnalyzeConfig(
        store=Path(),
        out=Path(),
        device="auto" if has_cupy() else "cpu",
        dashboard="127.0.0.1:0",
    )
    n_steps = len(SIZES) + 1
    with open_cluster(config) as cluster:
        samples: list[Sample] = []
        probes = iter([Probe(n_nodes, cluster.devices) for n_nodes in SIZES])
        outcomes = drive(cluster.client, run_probe, _next_of(probes), name=_name, window=1)
        progress(Progress("calibrate", 0, n_steps, "sizes", ", ".join(cluster.devices)))
        with contextlib.closing(outcomes):
            for i, outcome in enumerate(outcomes, start=1):
                if outcome.error is not None:
                    raise PipelineError(
                        f"calibration with {outcome.task.n_nodes:,} routers: {outcome.error}"
                    )
                samples += outcome.result
                detail = f"{outcome.task.n_nodes:,} routers"
                progress(Progress("calibrate", i, n_steps, "sizes", detail))
        samples.append(Sample("cpu", "task", 0, 0, task_cost(cluster)))
        progress(Progress("calibrate", n_steps, n_steps, "sizes", "empty tasks"))
        devices = cluster.devices
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    costs = fit(samples, source=f"calibration of {date}")
    wall_s = time.perf_counter() - started
    return Calibration(date, costs, tuple(samples), devices, wall_s)


def task_cost(cluster: DaskExecutor) -> float:
    """Seconds per empty task, on average over many in flight."""
    task = empty_task("calibrate_tasks")
    for n in (max(1, N_EMPTY // 10), N_EMPTY):  # the first ones import and connect
        todo = iter([task] * n)
        started = time.perf_counter()
        for outcome in drive(cluster.client, run_empty, _next_of(todo), name=_name):
            if outcome.error is not None:
                raise PipelineError(f"calibration with an empty task: {outcome.error}")
    return (time.perf_counter() - started) / N_EMPTY


def empty_task(name: str) -> SearchTask:
    """A task as small as a search gets, for ``run_empty``."""
    return SearchTask(
        kind="search",
        snapshot="",
        rows=np.zeros(1, np.int64),
        source_ptr=np.array([0, 1]),
        sources=np.zeros(1, np.int32),
        device="cpu",
        name=name,
    )


def run_empty(task: SearchTask) -> SearchResults:
    """An empty task."""
    return empty(SearchResults)


def run_probe(probe: Probe) -> list[Sample]:
    """Measure one size on this worker."""
    # In random order, like routers sorted by address; in order of age hubs would be side by side.
    from pipeline.generate.barabasi_albert import barabasi_albert_graph  # compiles

    graph = barabasi_albert_graph(probe.n_nodes, shuffled=True)
    rng = np.random.default_rng(probe.n_nodes)
    samples = []
    for device in probe.devices:
        if device == "gpu":
            move_s = _median_s(partial(_move, graph))
            samples.append(Sample("gpu", "transfer", graph.n_nodes, graph.n_arcs, move_s))
        here = graph.to(device)
        for what, n_sources in _SEARCHES:
            sources = rng.integers(0, graph.n_nodes, (MAX_REPEATS + 1, n_sources), np.int32)
            seconds = _median_s(partial(_search_next, here, iter(sources)))
            samples.append(Sample(device, what, graph.n_nodes, graph.n_arcs, seconds))
    return samples


_SEARCHES: tuple[tuple[What, int], ...] = (("search", 1), ("sweep", LANES))


def _search_next(graph: CSRGraph, sources: Iterator[np.ndarray]) -> None:
    search_graph(graph, 0, next(sources))


def _move(graph: CSRGraph) -> None:
    """Copy to the GPU and wait for the last byte, by reading it."""
    there = graph.to("gpu")
    there.indices[-1:].get()


def _median_s(call: Callable[[], object]) -> float:
    """Median seconds of a call; one more before, to compile and to warm up."""
    call()
    times: list[float] = []
    while len(times) < MIN_REPEATS or (sum(times) < SAMPLE_S and len(times) < MAX_REPEATS):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def fit(samples: Iterable[Sample], source: str) -> Costs:
    """Costs that fit the samples; defaults for a device without any, which ``source`` then says."""
    samples = list(samples)

    def line(device: Device, what: What) -> tuple[float, float] | None:
        mine = [s for s in samples if (s.device, s.what) == (device, what)]
        return fit_line([s.n_arcs for s in mine], [s.seconds for s in mine]) if mine else None

    costs, missing = {}, []
    for device in DEVICES:
        search, sweep = line(device, "search"), line(device, "sweep")
        if search is None or sweep is None:
            missing.append(device)
            costs[device] = DEFAULTS.of(device)
        else:
            costs[device] = Cost(*search, *sweep)
    transfer = [s for s in samples if s.what == "transfer"]
    transfer_byte_s = DEFAULTS.transfer_byte_s
    if transfer:
        largest = max(transfer, key=lambda sample: sample.n_arcs)
        transfer_byte_s = largest.seconds / (8 * (largest.n_nodes + 1) + 4 * largest.n_arcs)
    tasks = [s.seconds for s in samples if s.what == "task"]
    if missing:
        source += f"; {' and '.join(missing)}: {DEFAULTS.source}"
    return Costs(
        **costs,
        transfer_byte_s=max(LEAST_EACH_S, transfer_byte_s),
        task_s=max(LEAST_S, tasks[0]) if tasks else DEFAULTS.task_s,
        source=source,
    )


def fit_line(x: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """``a + b * x`` of least relative error, neither negative.

    Relative, since times differ by three orders of magnitude and the crossover is among the small
    ones.
    """
    t = np.maximum(np.asarray(seconds, float), LEAST_S)
    columns = np.stack([1 / t, np.asarray(x, float) / t], axis=1)
    ones = np.ones(len(t))
    best, *_ = np.linalg.lstsq(columns, ones, rcond=None)
    if (best < 0).any() or len(t) == 1:
        # If one would be negative it is set to zero; with a single sample there is only a slope.
        alone = columns.T @ ones / np.maximum((columns**2).sum(axis=0), np.finfo(float).tiny)
        error = ((columns * alone - 1) ** 2).sum(axis=0)
        keep = 1 if len(t) == 1 else int(np.argmin(error))
        best = np.where(np.arange(2) == keep, alone, 0.0)
    a, b = np.maximum(best, (LEAST_S, LEAST_EACH_S)).tolist()
    return a, b


def _next_of(tasks: Iterator[Any]) -> Callable[[], Any | None]:
    return lambda: next(tasks, None)


def _name(task: Probe | SearchTask) -> str:
    return task.name
