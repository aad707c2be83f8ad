"""A night without new measurements is reported, by their age and by what was read before."""

from __future__ import annotations

import time
from types import SimpleNamespace

import orjson
import pytest

from pipeline.config import AnalyzeConfig, StatusConfig
from pipeline.errors import UsageError
from pipeline.report.folder import newest_s_of, report_of
from pipeline.report.nights.rows import night_rows
from pipeline.stages import freshness
from pipeline.stages.contents.status import lateness, staleness
from pipeline.stages.freshness import data_warnings

HOUR = 3600.0
NOW = 1_000_000 * HOUR


@pytest.fixture(autouse=True)
def now(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: NOW)


def inputs(*digests: str, age_h: float = 1.0, holds: str = "traces") -> list[dict]:
    newest_s = NOW - age_h * HOUR
    rows = [{"path": d, "sha256": d, "holds": holds, "newest_s": newest_s} for d in digests]
    return [*rows, {"sha256": "table", "holds": "table", "newest_s": 0.0}]


def report(
    out, name: str, rows: list[dict], written_h_ago: float = 24.0, version: str = "before"
) -> None:
    (out / name).mkdir(parents=True)
    facts = {"versions": {"hopscope": "1"}, "schema_version": 1, "snapshot": name, "inputs": rows}
    facts["snapshot_version"] = version
    facts["times"] = {"ended": NOW - written_h_ago * HOUR}
    (out / name / "report.json").write_bytes(orjson.dumps(facts))


def warned(tmp_path, rows: list[dict], hours: int | None = 48) -> list[str]:
    config = AnalyzeConfig(store=tmp_path, out=tmp_path, max_data_age=hours)
    return data_warnings(config, SimpleNamespace(manifest={"inputs": rows}, version="now"))


def test_old_traces_are_told_of_with_their_age(tmp_path):
    assert warned(tmp_path, inputs("a", age_h=47.9)) == []
    (line,) = warned(tmp_path, inputs("a", age_h=72))
    assert line.startswith("the newest trace is 3.0 days old (")
    assert "more than 48 hours: do measurements still arrive?" in line
    assert warned(tmp_path, inputs("a", age_h=72), hours=None) == []  # an archive
    assert warned(tmp_path, inputs("a", age_h=72, holds="topology")) == []
    assert warned(tmp_path, [{"sha256": "a", "holds": "traces", "newest_s": 0.0}]) == []


def test_inputs_of_an_earlier_night_are_told_of(tmp_path):
    report(tmp_path, "2026-01-01", inputs("a", "b"))
    report(tmp_path, "2026-01-02", inputs("c"))
    (line,) = warned(tmp_path, inputs("b", "a"))
    assert line == (
        "no new measurements: the 2 files of traces are the same as for the report that was "
        "written 24.0 h ago"
    )
    for other in (("a",), ("a", "b", "c"), ("a", "d")):
        assert warned(tmp_path, inputs(*other)) == []
    (line,) = warned(tmp_path, inputs("c"))
    assert "the 1 file of traces is the same" in line


def test_a_former_report_of_the_same_version_is_no_earlier_night(tmp_path):
    report(tmp_path, "night", inputs("a"), written_h_ago=0.1, version="now")
    assert warned(tmp_path, inputs("a")) == []
    report(tmp_path, "before", inputs("a"))
    (line,) = warned(tmp_path, inputs("a"))
    assert line.endswith("written 24.0 h ago")


def test_one_dead_collector_of_some_is_told_of_with_its_share(tmp_path):
    report(tmp_path, "2026-01-01", inputs("a", "b", "c"))
    rows = inputs("a", "b", "c")
    rows[0]["sha256"] = "new"
    (line,) = warned(tmp_path, rows)
    assert line == (
        "not all are new measurements: 2 of 3 files of traces are the same as for the report that "
        "was written 24.0 h ago"
    )
    rows[0]["path"] = "another"  # of a folder that all nights share, or of a window
    assert warned(tmp_path, rows) == []


@pytest.mark.parametrize("newest_s", [-1e300, 1e300, 10**400, -1e12], ids="abcd")
def test_a_time_that_no_calendar_has_is_not_known(tmp_path, newest_s):
    rows = [{"path": "a", "sha256": "a", "holds": "traces", "newest_s": newest_s}]
    report(tmp_path, "a", [rows[0] | {"newest_s": 0.5}])
    path = tmp_path / "a" / "report.json"
    path.write_text(path.read_text().replace("0.5", str(newest_s)))
    stale = staleness(StatusConfig(store=tmp_path, out=tmp_path, max_data_age=48))
    assert "no report has traces with a time" in stale
    assert warned(tmp_path, [rows[0] | {"sha256": "b"}]) == []
    assert [row.newest_s for row in night_rows(tmp_path)] == [0.0]
    assert newest_s_of(report_of(tmp_path / "a")) == 0.0


def test_a_folder_of_reports_that_is_not_there_is_told_of(tmp_path):
    missing = tmp_path / "out"
    for config in (
        StatusConfig(store=tmp_path, out=missing, max_data_age=48),
        StatusConfig(store=tmp_path, out=missing, max_age=48),
    ):
        said = staleness(config) or lateness(config)
        assert said == f"{missing}: there is no such folder of reports, so their age is not known"


def test_damaged_reports_say_nothing(tmp_path):
    report(tmp_path, "a", [{"sha256": "a", "holds": "traces", "newest_s": "never"}, None])
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "report.json").write_text("{")
    assert freshness.newest_of_reports(tmp_path) == 0.0
    assert warned(tmp_path, inputs("b")) == []


@pytest.mark.parametrize(
    ("ages_h", "said"),
    [
        ({"a": 30.0, "b": 47.0}, ""),
        ({"a": 50.0, "b": 49.5}, "the newest trace is 49.5 h old"),
        ({"a": -2.0}, "the newest trace is 2.0 h in the future"),
        ({}, "no report has traces with a time"),
    ],
)
def test_status_alarms_by_the_newest_trace_in_any_report(tmp_path, ages_h, said):
    for name, age_h in ages_h.items():  # written just now, whatever they hold
        report(tmp_path, name, inputs(name, age_h=age_h), written_h_ago=0.0)
    stale = staleness(StatusConfig(store=tmp_path, out=tmp_path, max_data_age=48))
    assert said in stale
    assert bool(stale) == bool(said)
    assert staleness(StatusConfig(store=tmp_path)) == ""
    with pytest.raises(UsageError, match="--max-data-age: give --out"):
        staleness(StatusConfig(store=tmp_path, max_data_age=48))
