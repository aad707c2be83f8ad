"""Flow around the reporting stage: measurements to files and pages, and links to them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger
from prefect.states import State

from flows.options import with_config
from flows.pages.artifacts import report_link, show_ases, show_report, show_warnings
from flows.pages.progress import progress_artifact
from flows.processes.main_module import without_main_module
from flows.runs.assets import SNAPSHOTS, asset_of, materializing, note_materialized
from flows.runs.handover import leave, read_measurement, remove
from flows.runs.outcome import EXPECTED, ended, result_or_failure
from flows.runs.retries import ONCE_MORE, failed
from pipeline.config import AnalyzeConfig

if TYPE_CHECKING:
    from pipeline.stages.analyze import AnalyzeSummary


@task(name="report", cache_policy=NO_CACHE, persist_result=False, **ONCE_MORE)
def report_stage(config: AnalyzeConfig, handover: Path) -> AnalyzeSummary | State:
    """Write the report of the measurement in ``handover``, then remove that file."""
    from pipeline.stages import analyze

    try:
        measurement, started = read_measurement(handover)
        with progress_artifact("report-progress", "Report") as progress, without_main_module():
            summary = analyze.report_stage(config, measurement, started, progress)
    except EXPECTED as error:
        return failed(error, _kept(handover))
    remove(handover)
    report = summary.report
    show_ases(report.table_columns, report.table, report.totals["n_ases"])
    link = report_link(summary.index, config.out)
    show_report(link, summary.snapshot)
    get_run_logger().info("Report: %s", link)
    note_materialized(snapshot=summary.snapshot, report=link)
    return summary


def reported(config: AnalyzeConfig, handover: Path) -> tuple[Any, State | None]:
    """The summary of a report, and None; or None, and the state to end the flow with."""
    made_of = [asset_of(config.store, SNAPSHOTS)]
    stage = materializing(report_stage, asset_of(config.out), made_of)
    return result_or_failure(stage(config, handover, return_state=True))


def _kept(handover: Path) -> str:
    """Keep a measurement without a report for a day; where it is, for the message."""
    try:
        leave(handover)
    except EXPECTED:  # it is gone, or broken: the error says so
        return ""
    return f"; the measurements are kept in {handover}"


@flow(name="report", persist_result=False)
@with_config(AnalyzeConfig, measured=str)
def report(config: AnalyzeConfig, measured: str) -> State:
    """Write the report of a measurement by the ``measure`` flow.

    Other parameters are those of ``hopscope analyze``, and the same as for ``measure``.

    Args:
        measured: The path that ``measure`` returned.
    """
    summary, failure = reported(config, Path(measured))
    if failure is not None:
        return failure
    from pipeline.stages.analyze import without_old_nights  # not needed to deploy

    summary = without_old_nights(config, summary)
    show_warnings(summary.warnings, complete=summary.complete)
    return ended(f"report: {summary.index}", summary, complete=summary.complete)
