"""How long a run may still take, and what the command says of it."""

from __future__ import annotations

import time

import orjson
import pytest

from pipeline.cli import main
from pipeline.config import StatusConfig
from pipeline.errors import StoreError, UsageError
from pipeline.model.progress import Progress, no_progress
from pipeline.places import folder_of, objects
from pipeline.report.folder import report_turn
from pipeline.stages.contents import status as module
from pipeline.stages.contents.status import lateness, status
from pipeline.store.running import running
from pipeline.terminal.contents import print_status
from tests.s3 import BUCKET

TOLD = {
    "command": "analyze",
    "snapshot": "monday",
    "step": "search",
    "done": 25,
    "total": 100,
    "unit": "ASes",
    "share": None,
    "detail": "AS7",
    "dashboard": None,
    "pid": 12,
    "host": "here",
    "started_s": 1000.0,
    "step_began_s": 1010.0,
    "told_s": 1040.0,
    "is_alive": True,
}


@pytest.mark.parametrize(
    ("given", "left_s"),
    [
        ({}, 90.0),  # 30 s for a quarter
        ({"share": 0.5}, 30.0),
        ({"share": 0.0}, None),
        ({"share": 0.99}, None),  # a task takes longer than expected
        ({"total": 0}, None),
        ({"is_alive": False}, None),
        ({"is_timed": True}, 90.0),
        ({"is_timed": False}, None),  # nobody knows how many searches are needed
    ],
)
def test_the_time_left_follows_the_share_of_the_step(tmp_path, monkeypatch, given, left_s):
    monkeypatch.setattr(module, "runs_on", lambda _: [TOLD | given])
    monkeypatch.setattr(time, "time", lambda: 1042.0)
    (found,) = status(StatusConfig(store=tmp_path))
    assert found["left_s"] == left_s
    assert (found["running_s"], found["told_s_ago"]) == (42.0, 2.0)
    assert found["title"] == "Searching"


def test_a_run_and_none_are_printed(tmp_path, capsys):
    print_status(status(StatusConfig(store=tmp_path)))
    assert capsys.readouterr().out == "No run in progress.\n"
    with running(tmp_path, "analyze", "monday", no_progress) as told:
        told(Progress("search", 25, 100, "ASes", "AS7, http://127.0.0.1:8787/status"))
        print_status(status(StatusConfig(store=tmp_path)))
    said = capsys.readouterr().out
    assert "analyze of monday, process" in said
    assert "Searching, 25 of 100 ASes, 25%, running for 0 s" in said
    assert "Dask dashboard: http://127.0.0.1:8787/status" in said


def test_a_killed_run_is_said_to_be_killed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(module, "runs_on", lambda _: [TOLD | {"is_alive": False, "detail": ""}])
    monkeypatch.setattr(time, "time", lambda: 1042.0)
    print_status(status(StatusConfig(store=tmp_path)))
    assert "  was killed; its last step, 2 s ago: Searching\n" in capsys.readouterr().out


def test_without_a_store_the_folder_is_named(tmp_path):
    with pytest.raises(StoreError, match="no store here"):
        status(StatusConfig(store=tmp_path / "none"))


PROM = """# TYPE hopscope_last_success_timestamp_seconds gauge
hopscope_last_success_timestamp_seconds {}
"""


@pytest.mark.parametrize(
    ("text", "late"),
    [
        (PROM.format(1000.0), ""),
        (PROM.format(1000.0 - 2 * 3600 - 1), "was written 2.0 h ago, more than 2 hours"),
        (PROM.format(1030.0), ""),
        (
            PROM.format(1000.0 + 2 * 86400),
            "was written 48.0 h in the future, so its age is not known: a clock was wrong then, "
            "or is now; the next such report puts hopscope.prom right",
        ),
        (PROM.format(0), "no report without a failed AS is known to hopscope.prom"),
        (None, "no report without a failed AS is known to hopscope.prom"),
    ],
)
def test_a_night_that_did_not_happen_is_told(tmp_path, monkeypatch, text, late):
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    if text is not None:
        (tmp_path / "hopscope.prom").write_text(text)
    said = lateness(StatusConfig(store=tmp_path, out=tmp_path, max_age=2))
    assert said.endswith(late)
    assert bool(said) == bool(late)
    assert lateness(StatusConfig(store=tmp_path)) == ""


@pytest.mark.parametrize(
    ("ended", "late"),
    [
        ({"a": (1000.0, 0), "b": (500.0, 0)}, ""),
        ({"a": (1000.0 - 3 * 3600, 0), "b": (1000.0, 1)}, "was written 3.0 h ago"),
        ({"a": (1000.0 - 3 * 3600, 0), "b": (99999.0, 0)}, "was written 3.0 h ago"),
        ({"a": (1000.0 + 86400, 0)}, "the next such report puts that right"),
        ({"a": (1000.0, 1)}, "no report without a failed AS is published there"),
        ({}, "no report without a failed AS is published there"),
    ],
)
def test_the_age_of_reports_at_a_url_is_that_of_what_any_machine_published(
    machine, monkeypatch, ended, late
):
    url = f"s3://{BUCKET}/reports"
    for name, (at, n_failed) in ended.items():
        out = folder_of(url)
        with report_turn(out, name):
            (out / name).mkdir()
            totals = {"n_failed": n_failed, "n_partial": 0}
            report = {"totals": totals, "times": {"ended": at}}
            (out / name / "report.json").write_bytes(orjson.dumps(report))
            (out / "hopscope.prom").write_text(PROM.format(1.0))  # of this machine
    machine("second")
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    out = folder_of(url)
    said = lateness(StatusConfig(store=out, out=out, max_age=2))
    assert late in said
    assert bool(said) == bool(late)
    assert not out.exists()  # no table was fetched


def test_a_store_at_a_url_is_one_on_a_machine_that_has_no_mirror_of_it(machine):
    objects.write(f"s3://{BUCKET}/store/snapshots/a.json", b"{}")
    assert status(StatusConfig(store=folder_of(f"s3://{BUCKET}/store"))) == []
    with pytest.raises(StoreError, match="no store here"):
        status(StatusConfig(store=folder_of(f"s3://{BUCKET}/stroe")))


def test_the_age_of_reports_needs_their_folder(tmp_path):
    with pytest.raises(UsageError, match="--max-age: give --out"):
        lateness(StatusConfig(store=tmp_path, max_age=2))


def test_the_command_ends_with_1_if_no_night_was_complete(tmp_path, capsys):
    words = ["status", "--store", str(tmp_path), "--out", str(tmp_path), "--max-age", "26"]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert said.out == "No run in progress.\n"
    assert said.err.startswith(f"hopscope: {tmp_path}: no report without a failed AS")


@pytest.mark.parametrize("given", ["0", "-1", "1.5", "AS26", ""])
def test_an_age_is_a_whole_number_of_hours(tmp_path, capsys, given):
    with pytest.raises(SystemExit) as ended:
        main(["status", "--store", str(tmp_path), "--out", str(tmp_path), f"--max-age={given}"])
    said = capsys.readouterr().err.strip()
    assert ended.value.code == 2
    assert said == f"hopscope: --max-age takes a whole number from 1, not {given!r}"
