"""What a batch adds to its report: clocks are believed only within limits."""

from __future__ import annotations

import time

import numpy as np
import pytest

from pipeline.ingest.columns import (
    CLOCK_LEAD_S,
    NEWEST_START_S,
    TraceColumns,
    count_batch,
)
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch

NOW = 1_750_000_000.0


def batch(*start_s: float) -> TraceBatch:
    """Traces without replies."""
    columns = TraceColumns(len(start_s), 0)
    columns.start_s[:] = start_s
    columns.count["n_traces"] = len(start_s)
    columns.reply_ptr[:] = 0
    taken = columns.take()
    assert taken is not None
    return taken


@pytest.fixture
def _today(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: NOW)


@pytest.mark.usefixtures("_today")
def test_a_clock_that_runs_ahead_does_not_count_as_newest_and_is_noted():
    report = ReadReport("x")
    ahead = NOW + CLOCK_LEAD_S + 1
    given = batch(NOW - 10, ahead, 5.0, NEWEST_START_S - 1)
    count_batch(given, report)
    assert report.newest_s == NOW - 10
    assert report.notes == {"start time in the future": 2}
    assert given.start_s.tolist() == [NOW - 10, ahead, 5.0, NEWEST_START_S - 1]


@pytest.mark.usefixtures("_today")
def test_a_clock_within_two_days_of_ours_is_believed():
    report = ReadReport("x")
    count_batch(batch(NOW + CLOCK_LEAD_S), report)
    assert report.newest_s == NOW + CLOCK_LEAD_S
    assert not report.notes


@pytest.mark.usefixtures("_today")
def test_only_clocks_that_run_ahead_leave_the_newest_unknown():
    report = ReadReport("x")
    count_batch(batch(NOW * 2), report)
    assert report.newest_s == 0


@pytest.mark.usefixtures("_today")
def test_unusable_start_times_become_unknown_and_are_noted():
    report = ReadReport("x")
    given = batch(np.nan, np.inf, -np.inf, -1e-9, NEWEST_START_S, 1e300, 7.0, 0.0)
    count_batch(given, report)
    assert given.start_s.tolist() == [0, 0, 0, 0, 0, 0, 7.0, 0]
    assert report.notes == {"unusable start time": 6}
    assert report.n_records == 8
    assert report.newest_s == 7.0
