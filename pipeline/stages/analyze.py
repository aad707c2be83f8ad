"""A snapshot to searches, and searches to reports."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from pipeline.collect.known import Known, known_results
from pipeline.config import AnalyzeConfig
from pipeline.errors import ClusterLostError, NothingMeasuredError, UsageError
from pipeline.metrics import METRICS
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.search.results import Measurement
from pipeline.model.words import number
from pipeline.places import shown
from pipeline.report import ReportSummary, write_reports
from pipeline.report.folder import report_turn
from pipeline.report.nights import NIGHTS_PAGE, write_nights
from pipeline.report.published import bring_reports
from pipeline.report.tables.summarise import OfSnapshot
from pipeline.report.tables.width.width_bounds import with_searches
from pipeline.schedule.distances import removed_on_error
from pipeline.schedule.run import measure
from pipeline.stages.adding import again_of, with_earlier
from pipeline.stages.ahead import Ahead
from pipeline.stages.contents.snapshots import row_of
from pipeline.stages.freshness import data_warnings, time_of_newest
from pipeline.stages.nights.retention import Removed, gone_of, keep_nights
from pipeline.stages.places import check_not_replaced, check_out
from pipeline.stages.run_metrics import RunMetrics, run_metrics
from pipeline.stages.warnings import (
    commonest_failure,
    failure_warnings,
    loss_warnings,
    lost_warnings,
    low_share_warnings,
    metric_warnings,
    snapshot_warnings,
)
from pipeline.store import Snapshot, open_snapshot, open_version
from pipeline.store.alone import forget_crashed
from pipeline.store.pointers.versions import versions_named
from pipeline.store.running import running
from pipeline.store.versions.held import release_folder

log = logging.getLogger(__name__)

MAX_LOGGED = 1000  # ASes that failed; the warnings count all


@dataclass(frozen=True)
class WidthsKnown:
    """For how many of the ASes that a run measured widths are exact, only bounded, or unknown.

    As ``exact`` of ``ases.parquet``: all that was requested, in every component.
    """

    n_exact: int
    n_not_exact: int
    n_unknown: int


@dataclass(frozen=True)
class AnalyzeSummary:
    """What a run measured and where its report is."""

    snapshot: str
    out: Path
    index: Path
    report: ReportSummary
    n_searches: int  # from ingresses
    failed: dict[int, str] = field(default_factory=dict)  # asn -> reason
    busy_share: dict[str, float] = field(default_factory=dict)
    cluster: dict = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    wall_s: float = 0.0
    n_width_searches: int = 0  # in hops and by weight
    n_figure_searches: dict[str, int] = field(default_factory=dict)  # by kind of task
    widths_known: dict[str, WidthsKnown] = field(default_factory=dict)  # by entry of the totals
    reused: dict = field(default_factory=dict)  # Measurement.reused
    gone: tuple[str, ...] = ()  # nights of ``reused`` whose snapshots are no longer in the store
    removed: Removed = field(default_factory=Removed)

    @property
    def complete(self) -> bool:
        """Whether every AS was measured."""
        return not self.failed


def open_for(config: AnalyzeConfig) -> Snapshot:
    """Open the snapshot of a run: as long as it is open, this version is not removed.

    Raises
    ------
    UsageError
        If a metric is unknown, an AS is not in the snapshot, or a report cannot be written to its
        place (``check_out``).
    StoreError
        If there is no such snapshot, or it is broken.
    """
    unknown = [metric for metric in config.metrics if metric not in METRICS]
    if unknown:
        raise UsageError(f"unknown metric {unknown[0]!r}; known: {', '.join(METRICS)}")
    if config.version is None:
        snapshot = open_snapshot(config.store, config.snapshot)
    else:
        snapshot = open_version(config.store, config.version)
    bring_reports(config.out)
    for asn in sorted(config.asns):
        row_of(snapshot, asn)  # says which ASes there are
    check_out(config, snapshot)
    return snapshot


def measure_stage(config: AnalyzeConfig, progress: ProgressCallback = no_progress) -> Measurement:
    """Search from every ingress of every requested AS.

    The folder of reports is made: results wait there for ``report_stage``.

    Raises
    ------
    ClusterLostError, NothingMeasuredError
        If every AS that had something to measure failed, because the cluster was lost or for
        other reasons.
    UsageError, StoreError
        As ``open_for`` and ``pipeline.schedule.run.measure`` do.
    """
    with open_for(config) as snapshot, _shown("measure", snapshot, config, progress) as shown:
        measurement = _measure(snapshot, config, shown)
        config.out.mkdir(parents=True, exist_ok=True)  # before the metrics, which only it keeps
        return measurement


def report_stage(
    config: AnalyzeConfig,
    measurement: Measurement,
    started: float,
    progress: ProgressCallback = no_progress,
) -> AnalyzeSummary:
    """Write the report of what was measured; ``started`` in seconds since 1970 UTC.

    Old nights stay: ``without_old_nights`` removes them.

    Raises
    ------
    UsageError
        If ``config`` names another snapshot or version than the measured one, or none and the
        snapshot has been ingested again since; or as ``open_for``.
    StoreError
        If the measured version no longer exists.
    """
    with (
        _open_measured(config, measurement) as snapshot,
        _shown("report", snapshot, config, progress) as shown,
    ):
        return _report(snapshot, config, measurement, started, shown)


def analyze(config: AnalyzeConfig, progress: ProgressCallback = no_progress) -> AnalyzeSummary:
    """Measure, then report: one version of the snapshot, even if it is replaced in the meantime.

    Old nights are removed at the end.

    Raises
    ------
    ClusterLostError, NothingMeasuredError, UsageError, StoreError
        As ``measure_stage`` and ``report_stage`` do; an earlier report then stays as it is.
    """
    started = time.time()
    with (
        open_for(config) as snapshot,
        _shown("analyze", snapshot, config, progress) as shown,
        Ahead(snapshot, config) as ahead,
    ):
        measurement = _measure(snapshot, config, shown, ahead.begin)
        made = Path(measurement.distances_dir) if measurement.distances_dir else None
        with removed_on_error(made):
            summary = _report(snapshot, config, measurement, started, shown, ahead.known)
        return without_old_nights(config, summary)


def without_old_nights(config: AnalyzeConfig, summary: AnalyzeSummary) -> AnalyzeSummary:
    """Remove old nights, if that was requested: the last step of a run, whose summary then says so.

    A run that also compares does so before: the night to compare with may be one of those that go.
    """
    if config.keep_nights is None:
        return summary
    removed = keep_nights(config.store, config.out, config.keep_nights, summary.snapshot)
    return replace(
        summary,
        removed=removed,
        gone=gone_of(config.store, summary.reused["n_ases_from"]),
        warnings=[*summary.warnings, *removed.warnings],
    )


@contextlib.contextmanager
def _shown(
    command: str, snapshot: Snapshot, config: AnalyzeConfig, progress: ProgressCallback
) -> Iterator[RunMetrics]:
    """Show a run to others, by ``hopscope status`` and by its metrics."""
    with (
        running(config.store, command, snapshot.name, progress) as shown,
        run_metrics(config.out, shown) as metrics,
    ):
        yield metrics


def _measure(
    snapshot: Snapshot,
    config: AnalyzeConfig,
    progress: RunMetrics,
    meanwhile: Callable[[], None] = lambda: None,
) -> Measurement:
    known = _known(snapshot, config)
    measurement = known.mark(measure(snapshot, config, progress, known, meanwhile))
    progress.measured(measurement)
    known.tidy(config.store)
    if not config.asns and not measurement.failed:
        with contextlib.suppress(OSError):
            forget_crashed(config.store)
    _log_failed(_failed(snapshot, measurement))
    if measurement.failed and measurement.is_empty:
        if measurement.distances_dir:
            release_folder(Path(measurement.distances_dir))
        _list_nights(config)
        failed = _failed(snapshot, measurement)
        kind = ClusterLostError if measurement.lost else NothingMeasuredError
        raise kind(
            f"nothing was measured: {len(failed):,} of {number(len(measurement.rows), 'AS')} "
            f"failed; {commonest_failure(failed)}; an existing report is unchanged"
        )
    return replace(
        measurement,
        snapshot=snapshot.name,
        version=snapshot.version,
        metrics=config.metrics,
        notes=known.warnings,
    )


def _log_failed(failed: dict[int, str]) -> None:
    """A line each, for collected logs; people get the warnings, which sum them up."""
    for asn, reason in list(failed.items())[:MAX_LOGGED]:
        log.info("AS%d was not measured completely: %s", asn, reason, extra={"asn": asn})


def _known(snapshot: Snapshot, config: AnalyzeConfig) -> Known:
    """Results of earlier runs that this one may use."""
    again = again_of(config)
    return known_results(snapshot, config.store, config.asns, config.metrics, again)


def _open_measured(config: AnalyzeConfig, measurement: Measurement) -> Snapshot:
    """The version of the snapshot that was measured, and no other."""
    name = measurement.snapshot
    if config.snapshot not in (None, name):
        raise UsageError(
            f"snapshot {config.snapshot} was requested, but {name} was measured: measure again"
        )
    snapshot = open_for(replace(config, snapshot=name))
    if snapshot.version != measurement.version:
        snapshot.close()
        raise UsageError(
            f"snapshot {name} is version {snapshot.version}, but {measurement.version} was "
            "measured: it has been ingested again since; measure again"
        )
    return snapshot


def _report(
    snapshot: Snapshot,
    config: AnalyzeConfig,
    measurement: Measurement,
    started: float,
    progress: RunMetrics,
    known_ahead: Callable[[], OfSnapshot | None] = lambda: None,
) -> AnalyzeSummary:
    n_ases = len(measurement.rows)
    progress(Progress("report", 0, n_ases, "ASes", "tables"))
    failed = _failed(snapshot, measurement)
    measured = _warnings(snapshot, measurement)
    unused = [*metric_warnings(config), *data_warnings(config, snapshot)]

    def check() -> None:
        check_not_replaced(config, snapshot)

    with report_turn(config.out, snapshot.name, check):
        check_out(config, snapshot)  # it may have been written since the run began
        known, runs = with_earlier(snapshot, measurement, config, started)
        lines = measured if known is measurement else _warnings_of_all(snapshot, known, measurement)
        report = write_reports(
            snapshot,
            known,
            config.out,
            options=_options(config),
            warnings=snapshot_warnings(snapshot.manifest) + lines + unused,
            started=started,
            pages=config.pages,
            runs=runs,
            processes=config.workers,
            # A report that is added to has pages of other ASes too.
            on_progress=lambda n: progress(Progress("report", min(n, n_ases), n_ases, "ASes")),
            check=check,
            versions=versions_named(config.store),
            known=known_ahead,
        )
    progress(Progress("report", n_ases, n_ases, "ASes"))
    unlisted = _list_nights(config, first=config.pages)
    progress.reported(measurement, started, time_of_newest(snapshot.manifest))
    return AnalyzeSummary(
        snapshot=snapshot.name,
        out=report.path,
        index=report.index,
        report=report,
        n_searches=len(measurement.results.source),
        n_width_searches=sum(
            int(found.n_searches.sum())
            for found in (measurement.widths, measurement.weighted_widths)
            if found is not None
        ),
        n_figure_searches={
            task: figures.n_searches for task, figures in measurement.figures.items()
        },
        widths_known=widths_known(measurement, known),
        reused=measurement.reused(),
        gone=gone_of(config.store, measurement.reused()["n_ases_from"]),
        failed=failed,
        busy_share=measurement.busy_share,
        cluster=measurement.cluster,
        warnings=[
            *lost_warnings(snapshot.manifest.get("inputs") or ()),
            *low_share_warnings(snapshot.manifest),
            *measured,
            *unused,
            *filter(None, [report.left_out, unlisted]),
        ],
        wall_s=time.time() - started,
    )


def _list_nights(config: AnalyzeConfig, *, first: bool = False) -> str:
    """Write the page of all nights if there is one, or as the first; why it was not, if so."""
    if not first and not (config.out / NIGHTS_PAGE).exists():
        return ""
    with report_turn(config.out):
        return write_nights(config.out, config.store)


def widths_known(measurement: Measurement, reported: Measurement) -> dict[str, WidthsKnown]:
    """The widths that one run measured, in hops and by weight, whichever were requested.

    They are counted as its report shows them: ``reported`` is this run with those before it, which
    may have found more.
    """
    found = {"widths": reported.widths, "weighted_widths": reported.weighted_widths}
    known = {}
    for name, widths in found.items():
        if widths is not None and getattr(measurement, name) is not None:
            is_own = np.isin(widths.row, measurement.rows)
            exact = with_searches(widths, reported.results).exact[is_own]
            n_exact, n_unknown = int(exact.sum()), len(measurement.rows) - len(exact)
            known[name] = WidthsKnown(n_exact, len(exact) - n_exact, n_unknown)
    return known


def _failed(snapshot: Snapshot, measurement: Measurement) -> dict[int, str]:
    return {int(snapshot.asn[row]): reason for row, reason in measurement.failed.items()}


def _warnings(snapshot: Snapshot, measurement: Measurement) -> list[str]:
    """Lines on what could not be measured; each AS keeps its reason in ases.parquet."""
    lines = failure_warnings(_failed(snapshot, measurement))
    n_no_ingress = int(np.count_nonzero(snapshot.n_ingresses[measurement.rows] == 0))
    if n_no_ingress and "hops" in measurement.metrics:
        verbs = ("has", "it has") if n_no_ingress == 1 else ("have", "they have")
        lines.append(
            f"{number(n_no_ingress, 'AS')} {verbs[0]} no ingress, so {verbs[1]} no hop counts"
        )
    return lines + measurement.notes + loss_warnings(measurement.cluster.get("lost_workers", []))


def _warnings_of_all(snapshot: Snapshot, known: Measurement, last: Measurement) -> list[str]:
    """Lines on what several runs could not measure, and on what only the last of them could not."""
    still, failed = _failed(snapshot, known), _failed(snapshot, last)
    made_good = {asn: why for asn, why in failed.items() if asn not in still}
    kept = [f"{line}; the figures are from an earlier run" for line in failure_warnings(made_good)]
    shown, measured = (
        {int(snapshot.asn[row]) for table in run.found().values() for row in np.unique(table.row)}
        for run in (known, last)
    )
    if partial := sorted((still.keys() & failed.keys() & shown) - measured):
        first = f"AS{partial[0]}"
        which = first if len(partial) == 1 else f"{number(len(partial), 'AS')} ({first} and others)"
        kept.append(
            f"the last run made no new measurements of {which}: figures are from earlier runs"
        )
    return _warnings(snapshot, known) + kept


def _options(config: AnalyzeConfig) -> dict:
    return {
        key: shown(value) if isinstance(value, Path) else value
        for key, value in asdict(config).items()
    }
