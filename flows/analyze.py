"""Flow that measures a snapshot and writes its report, without ingesting anything."""

from __future__ import annotations

import dataclasses
from typing import Any

from prefect import flow
from prefect.states import Failed, State

from flows.measure import measured
from flows.options import with_config
from flows.pages.artifacts import show_warnings
from flows.report import reported
from flows.runs.outcome import EXPECTED, ended
from flows.runs.turns import in_turn
from pipeline.config import AnalyzeConfig
from pipeline.places import in_one_line


def analyzed(config: AnalyzeConfig) -> tuple[Any, State | None]:
    """Measure and report one version of a snapshot, which is not removed in the meantime.

    Old nights stay, so that the caller can compare before they go.

    Returns
    -------
    AnalyzeSummary, None
    None, State
        If there is no report: the state to end the flow with.
    """
    from pipeline.stages.analyze import open_for  # imports that take seconds, not needed to deploy
    from pipeline.stages.run_metrics import stages_of_a_run

    try:
        held = open_for(config)
    except EXPECTED as error:
        return None, Failed(message=in_one_line(error))
    with held, stages_of_a_run(config.store, config.out):
        config = dataclasses.replace(config, snapshot=held.name, version=held.version)
        handover, failure = measured(config)
        if failure is not None:
            return None, failure
        return reported(config, handover)


@flow(name="analyze", persist_result=False)
@with_config(AnalyzeConfig)
def analyze(config: AnalyzeConfig) -> State:
    """Measure the ASes of a snapshot and write their report.

    Parameters are those of ``hopscope analyze``. Missing ones come from ``HOPSCOPE_*``.
    """
    return in_turn(config.store, lambda: _analyze(config), makes_store=False)


def _analyze(config: AnalyzeConfig) -> State:
    summary, failure = analyzed(config)
    if failure is not None:
        return failure
    from pipeline.stages.analyze import without_old_nights  # not needed to deploy

    summary = without_old_nights(config, summary)
    show_warnings(summary.warnings, complete=summary.complete)
    return ended(f"report of {summary.snapshot}", summary, complete=summary.complete)
