"""Progress if stderr is not a terminal: few lines, with numbers in JSON."""

from __future__ import annotations

import logging

import pytest

from pipeline.model.progress import Progress
from pipeline.terminal import log, progress_lines
from pipeline.terminal.progress_lines import ProgressLines


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress_lines.time, "monotonic", lambda: now[0])
    return now


def test_a_step_has_a_line_now_and_then_and_one_at_its_end(clock, capsys):
    lines = ProgressLines()
    for done in range(11):
        lines(Progress("search", done, 10, "ASes", "bfs_AS1\x1b"))
        clock[0] += 0.5
    lines(Progress("search", 10, 10, "ASes", "bfs_AS1\x1b"))  # the same
    said = capsys.readouterr().err.splitlines()
    assert [line.split(" of ")[0] for line in said] == [f"Searching: {n}" for n in (0, 4, 8, 10)]
    assert said[0] == "Searching: 0 of 10 ASes, bfs_AS1\N{REPLACEMENT CHARACTER}"


def test_a_step_of_one_thing_is_not_counted(clock, capsys):
    lines = ProgressLines()
    lines(Progress("build", 0, 1, "graphs"))
    lines(Progress("build", 1, 1, "graphs", "1 AS"))
    lines(Progress("infer", 0, 1, "topology", "borders elected"))
    lines(Progress("report", 1, 1, "ASes"))
    lines(Progress("search", 2000, 2000, "ASes"))
    assert capsys.readouterr().err.splitlines() == [
        "Building AS graphs",
        "Building AS graphs: done, 1 AS",
        "Inferring links and borders: borders elected",
        "Writing report: done",
        "Searching: 2,000 of 2,000 ASes",
    ]


def test_in_json_the_numbers_are_fields(clock, caplog, monkeypatch):
    monkeypatch.setattr(log, "is_json", lambda: True)
    lines = ProgressLines()
    with caplog.at_level(logging.INFO, log.OWN):
        lines(Progress("search", 3, 10, "ASes", "", 0.25))
        lines(Progress("start", 0, 0, "workers"))
    assert [record.progress for record in caplog.records] == [
        {"done": 3, "total": 10, "unit": "ASes", "share": 0.25},
        {"done": 0, "unit": "workers"},
    ]
    assert caplog.records[1].getMessage() == "Starting workers"
