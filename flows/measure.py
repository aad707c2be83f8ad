"""Flow around the measuring stage: one Prefect task; each search is a Dask task."""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import Path

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger
from prefect.states import Failed, State

from flows.options import with_config
from flows.pages.artifacts import show_dashboard
from flows.pages.progress import progress_artifact
from flows.processes.main_module import without_main_module
from flows.runs.handover import (
    hold,
    leave,
    new_handover,
    read_measurement,
    write_measurement,
)
from flows.runs.outcome import EXPECTED, ended, result_or_failure
from flows.runs.retries import CLUSTER_LOST, ONCE_MORE, failed
from kernels.compiled import FIRST_RUN, has_compiled
from pipeline.config import AnalyzeConfig
from pipeline.errors import ClusterLostError
from pipeline.model.progress import DASHBOARD_LINK, Progress, ProgressCallback
from pipeline.model.search.results import Measurement
from pipeline.places import in_one_line
from pipeline.terminal.lines import modules_handled_by


@task(name="measure", cache_policy=NO_CACHE, persist_result=False, **ONCE_MORE)
def measure_stage(config: AnalyzeConfig, handover: Path) -> Path | State:
    """Measure the ASes and write the results to ``handover``.

    If the cluster was lost, what was found before is still written, and the state is Failed,
    with the name ``CLUSTER_LOST``.
    """
    from pipeline.stages import analyze

    started = time.time()
    if not has_compiled("kernels"):
        get_run_logger().info("Searches: %s", FIRST_RUN)
    try:
        with (
            progress_artifact("search-progress", "Searches") as progress,
            without_main_module(),
            warnings_in_run_log(),
        ):
            measurement = analyze.measure_stage(config, _Dashboard(progress))
        if not measurement.lost or _is_fuller(measurement, handover):
            hold(handover)
            write_measurement(handover, measurement, started)
    except ClusterLostError as error:
        return Failed(name=CLUSTER_LOST, message=in_one_line(error))
    except EXPECTED as error:
        return failed(error)
    return Failed(name=CLUSTER_LOST, message=measurement.lost) if measurement.lost else handover


def _is_fuller(measurement: Measurement, handover: Path) -> bool:
    """Whether an earlier try left nothing, or no more than this one."""
    if not handover.exists():
        return True
    before, _ = read_measurement(handover)
    return len(measurement.failed) <= len(before.failed)


def measured(config: AnalyzeConfig) -> tuple[Path, State | None]:
    """Run the task: the file with the results and None, or the state to end the flow with.

    Results from before a cluster was lost for good are kept, whatever ended the try after it.
    """
    handover = new_handover(config.out)
    _, failure = result_or_failure(measure_stage(config, handover, return_state=True))
    if failure is not None and handover.exists() and read_measurement(handover)[0].lost:
        get_run_logger().warning("%s; continuing with the results so far", failure.message)
        failure = None
    return handover, failure


class _ToRun(logging.Handler):
    """Prefect keeps only its own loggers' lines."""

    def __init__(self, run: logging.Logger | logging.LoggerAdapter):
        super().__init__(logging.WARNING)
        self._run = run

    def emit(self, record: logging.LogRecord) -> None:
        self._run.log(record.levelno, "%s", record.getMessage())


def warnings_in_run_log() -> contextlib.AbstractContextManager[None]:
    """Within a task run: warnings of a stage, from any thread, go to the run's log."""
    return modules_handled_by(_ToRun(get_run_logger()))


class _Dashboard:
    """Passes progress on, and shows the link to the Dask dashboard as soon as it is known."""

    def __init__(self, progress: ProgressCallback):
        self._progress = progress
        self._shown = False

    def __call__(self, progress: Progress) -> None:
        self._progress(progress)
        if not self._shown and (link := DASHBOARD_LINK.search(progress.detail)):
            self._shown = True
            get_run_logger().info("Dask dashboard: %s", link.group())
            show_dashboard(link.group())


@flow(name="measure", persist_result=False)
@with_config(AnalyzeConfig)
def measure(config: AnalyzeConfig) -> State:
    """Measure the ASes of a snapshot; returns the path of the results, for ``report``.

    Parameters are those of ``hopscope analyze``. Missing ones come from ``HOPSCOPE_*``.
    """
    handover, failure = measured(config)
    if failure is not None:
        return failure
    try:
        found = leave(handover)
    except EXPECTED as error:
        return failed(error)
    get_run_logger().info("measured: %s", handover)
    return ended(f"measured: {handover}", handover, complete=not found.failed)
