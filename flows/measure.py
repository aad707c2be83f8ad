"""Flow around the measuring stage: one Prefect task; each search is a Dask task."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger
from prefect.states import Completed, Failed, State

from flows.artifacts import show_dashboard
from flows.children import without_main_module
from flows.handover import FOLDER, remove_old, write_measurement
from flows.options import configs
from flows.outcome import EXPECTED, one_line, result_or_failure
from flows.progress import progress_artifact
from flows.runs import DASHBOARD_LINK
from pipeline.config import AnalyzeConfig
from pipeline.model.progress import Progress, ProgressCallback


def new_handover(config: AnalyzeConfig) -> Path:
    """A fresh name for what the measuring task hands to the reporting task."""
    return config.out / FOLDER / f"{uuid.uuid4().hex}.npz"


# One more try, for a cluster that was lost; an expected error is returned, so not tried again.
@task(
    name="measure", cache_policy=NO_CACHE, persist_result=False, retries=1, retry_delay_seconds=10
)
def measure_stage(config: AnalyzeConfig, handover: Path) -> Path | State:
    """Measure the ASes and write what was found to ``handover``."""
    from pipeline import stages

    started = time.time()
    remove_old(handover.parent, started)
    try:
        with progress_artifact("search-progress", "Searches") as progress, without_main_module():
            measurement = stages.measure_stage(config, _Dashboard(progress))
        write_measurement(handover, measurement, started)
    except EXPECTED as error:
        return Failed(message=one_line(error))
    return handover


class _Dashboard:
    """Passes progress on, and shows the link to the Dask dashboard as soon as one is told."""

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
def measure(
    store: str | None = None,
    out: str | None = None,
    snapshot: str | None = None,
    scheduler: str | None = None,
    metrics: str | None = None,
    options: dict[str, Any] | None = None,
) -> State:
    """Measure the ASes of a snapshot; the path of what was found is for ``report``.

    Parameters are those of ``hopscope analyze``; further ones go into ``options`` by long name.
    What is not given comes from ``HOPSCOPE_*``.
    """
    given = dict(locals()) | {"inputs": ["unused"]}
    try:
        _, config = configs(given)
    except EXPECTED as error:
        return Failed(message=one_line(error))
    handover, failure = result_or_failure(
        measure_stage(config, new_handover(config), return_state=True)
    )
    if failure is not None:
        return failure
    get_run_logger().info("measured: %s", handover)
    return Completed(message=f"measured: {handover}", data=handover)
