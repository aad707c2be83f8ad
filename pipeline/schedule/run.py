"""Everything that a run measures: open the cluster, plan, run tasks, collect."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.collect import Collector
from pipeline.collect.known import Known
from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.metrics import tasks_of
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.progress import ProgressCallback, no_progress
from pipeline.model.search.exact import ExactJob, ExactTask
from pipeline.model.search.results import Measurement
from pipeline.model.search.tasks import Outcome, SearchTask, WidthKind, WidthResults
from pipeline.schedule.calibrate.file import load as load_costs
from pipeline.schedule.counts import RunCounts
from pipeline.schedule.dispatch import run_task, smaller_task
from pipeline.schedule.distances import distances_folder, join_parts, removed_on_error
from pipeline.schedule.executor import Executor
from pipeline.schedule.gang.phase import GangPhase
from pipeline.schedule.opening import open_executor
from pipeline.schedule.plan.costs import Costs
from pipeline.schedule.plan.stream import Stream
from pipeline.schedule.planning import Planning, counts_of, width_collector
from pipeline.schedule.progress import RunProgress
from pipeline.schedule.transport.drive import SCHEDULES
from pipeline.schedule.transport.limits import Limits
from pipeline.store import Snapshot

if TYPE_CHECKING:
    from pipeline.schedule.exact_search.stream import ExactStream


def measure(
    snapshot: Snapshot,
    config: AnalyzeConfig,
    progress: ProgressCallback | None = None,
    known: Known | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Measurement:
    """Search from every ingress of every requested AS, and find the widths of the ASes.

    Parameters
    ----------
    snapshot : Snapshot
    config : AnalyzeConfig
        ``asns``, ``metrics``, ``max_searches``, ``device``, ``pack``, ``schedule``, ``workers``,
        ``scheduler``, ``distances`` (written next to ``out/<snapshot>``, which the report takes
        in), ``verify``, ``dashboard``.
    progress : callable or None
        Called with Progress at most ten times a second, from this thread.
    known : Known or None
        Results of earlier runs, which are not measured again; takes those of this run as they
        arrive. None: nothing is known or kept.
    meanwhile : callable
        Called once workers are there, before they search: what it begins costs them no time.

    Returns
    -------
    Measurement
        An AS is in ``failed`` if something of it failed; all the rest is done.

    Raises
    ------
    UsageError
        No cluster can be started as ``config`` asks for it.
    StoreError
        The snapshot is broken.
    """
    if config.pack is not None and config.pack < 1:
        raise UsageError(f"--pack {config.pack}: give auto, or 1 or more ingresses per task")
    if config.partition is not None and config.distances:
        raise UsageError(
            "--partition and --distances: ranks keep no hop matrices; give one of them"
        )
    if config.max_searches is not None and config.max_searches < 0:
        raise UsageError(f"--max-searches {config.max_searches}: give 0 or more")
    kinds = tasks_of(config.metrics)
    is_searched = kinds.pop("search", None) is not None
    rows = snapshot.rows_of(config.asns)
    source_ptr, sources = _sources(snapshot, rows, is_searched)
    known = known or Known(rows)
    if known_whole(snapshot, config.metrics, known).all():
        return measured_before(snapshot, config, known)
    collector = Collector(snapshot.asn)
    if (searched := known.found("search")) is not None:
        collector.know(searched)
    run = _Run(snapshot, config, collector, known, progress or no_progress)
    try:
        return run.measure(rows, source_ptr, sources, kinds, meanwhile)
    finally:
        known.flush()


def known_whole(snapshot: Snapshot, metrics: Sequence[str], known: Known) -> np.ndarray:
    """(n_rows,) bool: of which rows of ``known`` earlier runs found everything."""
    kinds = tasks_of(metrics)
    source_ptr, sources = _sources(snapshot, known.rows, kinds.pop("search", None) is not None)
    is_whole = np.ones(len(known.rows), bool)
    is_whole[row_of_value(source_ptr)[~known.is_searched(source_ptr, sources)]] = False
    for kind in kinds:
        is_whole &= known.is_measured(kind)
    return is_whole


def measured_before(snapshot: Snapshot, config: AnalyzeConfig, known: Known) -> Measurement:
    """What earlier runs found of some ASes, all of which are ``known_whole``."""
    kinds = tasks_of(config.metrics)
    source_ptr, sources = _sources(snapshot, known.rows, kinds.pop("search", None) is not None)
    collector = Collector(snapshot.asn)
    if (searched := known.found("search")) is not None:
        collector.know(searched)
    for kind, metrics in kinds.items():
        collector.widths[kind] = width_collector(kind, metrics, known.owner(kind), known)
    owner = known.owner("search")
    return collector.finish(known.rows, owner, source_ptr, sources, cluster=_asked(config))


def _sources(
    snapshot: Snapshot, rows: np.ndarray, is_searched: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Ingresses of each requested row, as offsets and nodes; candidates are not sources."""
    if not is_searched:
        return np.zeros(len(rows) + 1, np.int64), np.empty(0, np.int32)
    ingresses = snapshot.ingresses(rows)
    counted = ~ingresses.candidate
    row, node = ingresses.row[counted], ingresses.node[counted]
    source_ptr = np.append(np.searchsorted(row, rows), len(row)).astype(np.int64)
    return source_ptr, node.astype(np.int32)


class _Run:
    """One run on one snapshot."""

    def __init__(
        self,
        snapshot: Snapshot,
        config: AnalyzeConfig,
        collector: Collector,
        known: Known,
        progress: ProgressCallback,
    ):
        self._snapshot, self._config = snapshot, config
        self._collector, self._known, self._progress = collector, known, progress
        self._costs = _costs(config)
        self._folder = distances_folder(snapshot, config)

    def measure(
        self,
        rows: np.ndarray,
        source_ptr: np.ndarray,
        sources: np.ndarray,
        kinds: dict[WidthKind, tuple[str, ...]],
        meanwhile: Callable[[], None],
    ) -> Measurement:
        """Measure everything; ``kinds``: tasks about widths, and the metrics of each."""
        config, snapshot, folder = self._config, self._snapshot, self._folder
        planning = Planning(snapshot, config, self._known, rows, self._costs, folder)
        is_short = planning.is_short(source_ptr, sources, kinds)
        opened = open_executor(
            config,
            snapshot.path,
            self._progress,
            is_short=is_short,
            n_gpus=lambda n_there: planning.n_gpus(source_ptr, sources, kinds, n_there),
        )
        with removed_on_error(folder), opened as cluster:
            phase = GangPhase(snapshot, config, cluster, self._known, rows, kinds, self._costs)
            unknown = planning.unknown(source_ptr, sources)
            searches = planning.searches(cluster, *phase.without(*unknown))
            plans = []
            for kind, metrics in kinds.items():
                tasks, collector = planning.widths(cluster, kind, metrics, phase.is_chosen)
                self._collector.widths[kind] = collector
                plans.append(tasks)
            jobs = [job for tasks in plans for job in tasks.jobs]
            run_counts = RunCounts(cluster, len(snapshot.asn), rows)
            run_counts.expect_searches(searches.owner, *unknown)
            for kind, tasks in zip(kinds, plans, strict=True):
                # Else they are known, or cannot be.
                if len(tasks.owner) or (kind == "widths" and phase.is_chosen.any()):
                    owner = self._collector.widths[kind].owner
                    run_counts.expect(kind, owner, ~self._known.is_measured(kind))
            for outcome in phase.outcomes(*unknown, self._progress):
                self._collector.add(outcome)
                run_counts.note(outcome)
                self._keep(outcome)
                self._known.flush()  # the next gang may be at work for long
            if not is_short:
                meanwhile()
            stream = Stream([searches, *plans], len(jobs))
            run_counts.expect_tasks(stream.n_tasks)
            self._drive(cluster, stream, jobs, run_counts)
            described = cluster.describe() | _asked(config) | counts_of(searches, plans)
            measurement = self._collector.finish(
                rows,
                searches.owner,
                source_ptr,
                sources,
                cluster=described | phase.described() | {"costs": asdict(self._costs)},
                n_threads=cluster.n_threads(),
            )
            if folder is not None:
                join_parts(cluster, folder, snapshot, measurement, searches.owner, source_ptr)
                measurement = replace(measurement, distances_dir=str(folder))
        return measurement

    def _large(
        self, cluster: Executor, jobs: Sequence[ExactJob]
    ) -> tuple[ExactStream | None, dict[str, Any]]:
        """Exact searches of large ASes, and the arguments of ``drive`` for them."""
        if not jobs:
            return None, {}
        from pipeline.schedule.exact_search.state import ExactOptions  # these compile at once
        from pipeline.schedule.exact_search.stream import ExactStream

        config = self._config
        options = ExactOptions(self._costs, pack=config.pack, max_searches=config.max_searches)
        large = ExactStream(cluster, jobs, options, fall_back=config.device == "auto")
        return large, {"urgent": large.next_task}

    def _outcomes(
        self, cluster: Executor, tasks: Stream, large: ExactStream | None, more: dict[str, Any]
    ) -> Generator[Outcome, None, None]:
        """Run tasks of all kinds as one stream: none waits for those of another kind."""
        config = self._config
        fall_back = config.device == "auto"
        todo = [_next_of(iter(tasks))]
        if config.schedule != "free":
            if large is not None:  # these schedules have only one queue
                todo = [_one_after_other(large.next_task, todo[0])]
            more = {"beat": more["beat"]}
        elif len(cluster.gpu_workers) < len(cluster.facts):
            # If only some workers have a GPU, its tasks must not hold up the others.
            todo = [_next_of(tasks.on(device)) for device in cluster.devices]
            more = more | {"beside": todo[1:]}

        def smaller(task: Any) -> Sequence[Any]:
            if large is not None and isinstance(task, ExactTask):
                return large.smaller(task)
            return smaller_task(task, fall_back)

        def cost(task: Any) -> float | None:
            if large is not None and isinstance(task, ExactTask):
                return large.cost_of(task)
            return tasks.cost_of(task)

        return SCHEDULES[config.schedule](
            cluster.client,
            run_task,
            todo[0],
            name=_name_of,
            smaller=smaller,
            limits=Limits(task_s=max(Limits.task_s, 100 * tasks.longest_s)),
            allowed=cluster.allowed,
            cost=cost,
            **more,
        )

    def _drive(
        self, cluster: Executor, tasks: Stream, jobs: Sequence[ExactJob], run_counts: RunCounts
    ) -> None:
        """Run all tasks, and collect their outcomes."""
        collector = self._collector
        n_threads = sum(cluster.n_threads().values())
        large: ExactStream | None = None

        def n_open() -> int:
            return len(jobs) if large is None else large.n_open

        run_progress = RunProgress(
            self._progress, tasks, n_threads, cluster.where, run_counts.now, n_open
        )
        run_progress.begin()
        n_before = collector.n_units  # of gangs, which these tasks leave out
        large, more = self._large(cluster, jobs)
        self._take_answers(large, run_counts)  # of graphs without nodes

        def beat() -> None:
            run_progress.beat()
            run_counts.beat()
            self._known.beat()

        more = more | {"beat": beat}
        with contextlib.closing(self._outcomes(cluster, tasks, large, more)) as outcomes:
            for outcome in outcomes:
                is_exact = isinstance(outcome.task, ExactTask)
                run_counts.note(outcome)
                if large is not None and is_exact:
                    collector.note(outcome, outcome.task.n_sources)
                    large.use(outcome)
                    self._take_answers(large, run_counts)
                else:
                    collector.add(outcome)
                    self._keep(outcome)
                run_progress.ended(outcome.task, collector.n_units - n_before, is_exact)
        run_progress.end()
        run_counts.end()

    def _keep(self, outcome: Outcome) -> None:
        """Keep what a task found for later runs."""
        if outcome.error is None and outcome.result is not None:
            if isinstance(outcome.task, SearchTask):
                self._known.add("search", outcome.result)
            else:
                self._known.add(outcome.task.kind, outcome.result.found)

    def _take_answers(self, large: ExactStream | None, run_counts: RunCounts) -> None:
        """Collect the widths of large ASes that have been answered by now."""
        collector = self._collector
        for answer in large.answers() if large is not None else ():
            widths = collector.widths["widths"]
            widths.add(WidthResults(answer.widths, {}, int(answer.widths.n_searches.sum())))
            self._known.add("widths", answer.widths)
            run_counts.answered("widths", answer.widths.row)
            if answer.is_failed:
                widths.fail(answer.widths.row, answer.reason)
            collector.n_units += 1


def _one_after_other(*queues: Callable[[], Any | None]) -> Callable[[], Any | None]:
    """The next task of the first queue that has one now."""
    return lambda: next((task for queue in queues if (task := queue()) is not None), None)


def _next_of(tasks: Iterator[Any]) -> Callable[[], Any | None]:
    return lambda: next(tasks, None)


def _name_of(task: Any) -> str:
    return task.name


def _costs(config: AnalyzeConfig) -> Costs:
    """Costs of this machine, also used for a remote cluster, whose GPUs may differ."""
    costs = load_costs()
    if config.scheduler is None:
        return costs
    return replace(
        costs, source=f"{costs.source}, measured on the client's machine, not on its workers"
    )


def _asked(config: AnalyzeConfig) -> dict:
    return {"schedule": config.schedule, "pack": config.pack or "auto", "device": config.device}
