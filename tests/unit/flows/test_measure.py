"""What follows from a measuring task that failed, and what is in the log of its run."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

import numpy as np
import pytest
from prefect.states import Failed

import flows.measure
from flows.measure import measured
from flows.runs.handover import write_measurement
from flows.runs.retries import CLUSTER_LOST
from pipeline.config import AnalyzeConfig
from pipeline.model.columns import empty
from pipeline.model.search.results import Measurement, SearchResults

WHOLE = Measurement(
    rows=np.array([0]),
    results=empty(SearchResults),
    failed={},
    n_tasks=np.array([1]),
    n_retries=np.array([0]),
    wall_s=np.array([1.0]),
    device=["cpu"],
    tasks={},
)


@pytest.fixture
def warned(monkeypatch) -> list[str]:
    """Warnings in the log of the run."""
    told: list[str] = []

    class Log:
        def warning(self, text, *values):
            told.append(text % values)

    monkeypatch.setattr(flows.measure, "get_run_logger", Log)
    return told


@pytest.mark.parametrize("name", ["Failed", CLUSTER_LOST])
@pytest.mark.parametrize("lost", ["", "the scheduler is gone"])
def test_only_results_from_before_a_lost_cluster_are_continued_with(
    tmp_path, monkeypatch, warned, lost, name
):
    def stage(config, handover, return_state):
        write_measurement(handover, replace(WHOLE, lost=lost), 0.0)
        return Failed(name=name, message="m.npz: No space left on device")

    monkeypatch.setattr(flows.measure, "measure_stage", stage)
    _, failure = measured(AnalyzeConfig(store=tmp_path / "store", out=tmp_path / "out"))
    if lost:
        assert failure is None
        assert warned == ["m.npz: No space left on device; continuing with the results so far"]
    else:
        assert failure.message == "m.npz: No space left on device"
        assert warned == []


def test_warnings_of_stages_appear_in_the_log_of_the_run(monkeypatch, caplog):
    monkeypatch.setattr(flows.measure, "get_run_logger", lambda: logging.getLogger("the.run"))
    lost = logging.getLogger("pipeline.schedule.cluster.losses")
    with flows.measure.warnings_in_run_log():
        thread = threading.Thread(target=lost.warning, args=("worker %s was lost", "100%s"))
        thread.start()
        thread.join()
        lost.info("not this")
    lost.warning("of nobody's run")
    reported = [entry for entry in caplog.record_tuples if entry[0] == "the.run"]
    assert reported == [("the.run", logging.WARNING, "worker 100%s was lost")]
