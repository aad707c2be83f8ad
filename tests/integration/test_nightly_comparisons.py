"""With which night the nightly flow compares, and what it removes only after that."""

from __future__ import annotations

import datetime
import json
import os
import re

import pytest

from flows.backfill import NO_DATA, THERE, backfill
from flows.nightly import nightly
from flows.runs.api import Api
from pipeline.config import AnalyzeConfig, IngestConfig, StatusConfig
from pipeline.report.compared import compared_in
from pipeline.report.nights import NIGHTS_PAGE
from pipeline.stages.analyze import analyze
from pipeline.stages.contents.status import lateness, staleness
from pipeline.stages.ingest import ingest
from pipeline.store import open_snapshot, snapshot_names
from tests.unit.pipeline.stages.test_mapped_share import atlas

# Distributed and Prefect leave sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

FIRST, SECOND, THIRD, FOURTH = (f"2026-11-0{day}" for day in (1, 2, 3, 4))


def traces(tmp_path, night):
    """A file of a trace that was taken at noon."""
    noon = datetime.datetime.fromisoformat(f"{night}T12:00Z")
    path = atlas(tmp_path / f"{night}.jsonl", [f"20.{asn}.0.{i}" for asn in (1, 2) for i in (1, 2)])
    path.write_text(path.read_text().replace("1700000000", str(int(noon.timestamp()))))
    return path


def options(tmp_path):
    table = tmp_path / "prefixes"
    table.write_text("20.1.0.0\t16\t1\n20.2.0.0\t16\t2\n")
    return tmp_path / "store", tmp_path / "out", table


def by_command(tmp_path, *nights):
    """Nights of ``hopscope run``, which compares nothing."""
    store, out, table = options(tmp_path)
    for night in nights:
        ingest(IngestConfig((traces(tmp_path, night),), store, ip2as=(table,), workers=1))
        analyze(AnalyzeConfig(store, out, snapshot=night, workers=1))


def by_flow(tmp_path, night, **more):
    """The state that a nightly run ends with, and its summary."""
    store, out, table = options(tmp_path)
    state = nightly(
        inputs=[str(traces(tmp_path, night))],
        store=str(store),
        out=str(out),
        ip2as=[str(table)],
        options={"workers": 1, "device": "cpu"} | more,
        return_state=True,
    )
    assert state.is_completed(), state.message
    return state.name, state.result()


def test_a_late_night_is_compared_before_the_night_before_it_is_removed(server, tmp_path):
    by_command(tmp_path, FIRST, SECOND, FOURTH)
    name, summary = by_flow(tmp_path, THIRD, keep_nights=2)
    assert (name, summary.compared.old) == ("Completed", SECOND)
    assert summary.analyzed.removed.snapshots == summary.analyzed.removed.reports == (FIRST, SECOND)
    store, out, _ = options(tmp_path)
    assert sorted(snapshot_names(store)) == [THIRD, FOURTH]
    assert sorted(path.name for path in out.glob("2*")) == [THIRD, FOURTH]
    assert (out / THIRD / "changes.html").is_file()
    page = (out / NIGHTS_PAGE).read_text()
    linked = [night for night in (FIRST, SECOND, THIRD, FOURTH) if f'href="{night}/' in page]
    assert linked == [THIRD, FOURTH]


def compared(out, *nights):
    return [compared_in(out / night).old for night in nights]


def test_a_night_that_came_late_is_put_between_those_around_it(server, tmp_path):
    by_flow(tmp_path, FIRST)
    by_flow(tmp_path, THIRD)
    by_flow(tmp_path, FOURTH)
    _, out, _ = options(tmp_path)
    assert compared(out, THIRD, FOURTH) == [FIRST, THIRD]
    by_flow(tmp_path, SECOND)
    assert compared(out, SECOND, THIRD, FOURTH) == [FIRST, SECOND, THIRD]
    before = (out / FOURTH / "events.parquet").stat().st_mtime_ns
    by_flow(tmp_path, SECOND)  # the same measurements again: what is there stays right
    assert compared(out, SECOND, THIRD) == [FIRST, SECOND]
    assert (out / FOURTH / "events.parquet").stat().st_mtime_ns == before


def test_a_run_is_named_after_the_night_that_its_data_are_of(server, tmp_path):
    by_flow(tmp_path, FIRST)
    newest = {"sort": "START_TIME_DESC", "limit": 1}
    (run,) = Api(server.api_url).patient().post("/flow_runs/filter", newest)
    assert run["name"] == FIRST
    state = nightly(
        inputs=[str(tmp_path / "none")],
        store=str(tmp_path),
        out=str(tmp_path / "o"),
        return_state=True,
    )
    assert state.is_failed()
    (run,) = Api(server.api_url).patient().post("/flow_runs/filter", newest)
    assert re.fullmatch(r"night of \d{4}-\d\d-\d\d \d\d:\d\d", run["name"])


def test_two_nights_of_one_date_follow_each_other(server, tmp_path):
    by_flow(tmp_path, FIRST)
    by_flow(tmp_path, THIRD)
    store, out, table = options(tmp_path)
    evening = tmp_path / "evening.jsonl"
    noon = datetime.datetime.fromisoformat(f"{FIRST}T12:00Z").timestamp()
    text = (tmp_path / f"{FIRST}.jsonl").read_text()
    evening.write_text(text.replace(str(int(noon)), str(int(noon + 6 * 3600))))
    state = nightly(
        inputs=[str(evening)],
        store=str(store),
        out=str(out),
        ip2as=[str(table)],
        options={"workers": 1, "device": "cpu"},
        return_state=True,
    )
    second = state.result().analyzed.snapshot
    assert second.startswith(f"{FIRST}T180000Z")
    assert compared(out, second, THIRD) == [FIRST, second]


def test_a_backfill_makes_what_is_missing_and_says_what_has_no_data(server, tmp_path):
    store, out, table = options(tmp_path)
    for day in (1, 2, 5, 6, 14):
        traces(tmp_path, f"2026-11-{day:02}")
    by_flow(tmp_path, "2026-11-14")
    by_flow(tmp_path, SECOND)
    (tmp_path / "2026-11-06.jsonl").write_text("no traces")

    def run(first, last):
        return backfill(
            first=datetime.date.fromisoformat(first),
            last=datetime.date.fromisoformat(last),
            inputs=[str(tmp_path / "%Y-%m-%d.jsonl")],
            store=str(store),
            out=str(out),
            ip2as=[str(table)],
            options={"workers": 1, "device": "cpu"},
            return_state=True,
        )

    state = run("2026-11-01", "2026-11-07")
    assert state.name == "Partial"
    became = state.result()
    assert [name for name, what in became.items() if what == THERE] == [SECOND]
    assert [name for name, what in became.items() if what == NO_DATA] == [
        THIRD,
        FOURTH,
        "2026-11-07",
    ]
    assert became["2026-11-06"].startswith("Failed: ")
    assert compared(out, SECOND, "2026-11-05", "2026-11-14") == [FIRST, SECOND, "2026-11-05"]
    assert "2 nights of 7 made" in state.message
    assert "failed: 2026-11-06" in state.message
    # A week without a night is said where changes are.
    assert "within 9 days" in (out / "2026-11-14" / "changes.html").read_text()
    assert "within" not in (out / SECOND / "changes.html").read_text()
    (tmp_path / "2026-11-06.jsonl").unlink()
    assert run("2026-11-01", "2026-11-07").name == "Completed"
    assert run("2026-11-08", "2026-11-09").is_failed()


def test_a_broken_night_before_makes_the_run_partial_and_counts_for_nothing(server, tmp_path):
    by_command(tmp_path, FIRST, SECOND)
    store, _, _ = options(tmp_path)
    with open_snapshot(store, SECOND) as snapshot:
        manifest = snapshot.path / "manifest.json"
    os.truncate(manifest, 100)
    name, summary = by_flow(tmp_path, THIRD, keep_nights=2)
    assert (name, summary.complete, summary.compared.old) == ("Partial", False, FIRST)
    told = [line for line in summary.warnings if str(manifest) in line]
    assert [line.partition(": ")[0] for line in told] == [
        f"{SECOND} is not one of the last 2 nights, and stays",
        f"{THIRD} was compared with {FIRST}, not with {SECOND}",
    ]
    assert sorted(snapshot_names(store)) == [FIRST, SECOND, THIRD]
    name, summary = by_flow(tmp_path, FOURTH, keep_nights=2)
    assert (name, summary.compared.old) == ("Completed", THIRD)
    assert summary.analyzed.removed.snapshots == (FIRST,)


def test_a_night_without_a_usable_time_says_so_among_its_warnings(server, tmp_path):
    name, summary = by_flow(tmp_path, "2100-01-01")
    assert name == "Completed"
    (said,) = (line for line in summary.warnings if "no trace has a usable time" in line)
    report = (tmp_path / "out" / summary.analyzed.snapshot / "report.json").read_bytes()
    assert said in json.loads(report)["warnings"]


def test_nights_of_a_collector_that_died_are_completed_with_a_warning_and_an_alarm(
    server, tmp_path
):
    _, first = by_flow(tmp_path, FIRST)  # weeks ago
    name, second = by_flow(tmp_path, FIRST)
    assert name == "Completed"
    (old,) = (line for line in second.warnings if "do measurements still arrive?" in line)
    (same,) = (line for line in second.warnings if line.startswith("no new measurements: "))
    assert not any(line.startswith("no new measurements: ") for line in first.warnings)
    store, out, _ = options(tmp_path)
    assert {old, same} <= set(json.loads((out / FIRST / "report.json").read_bytes())["warnings"])
    noon = datetime.datetime.fromisoformat(f"{FIRST}T12:00Z").timestamp()
    metrics = (out / "hopscope.prom").read_text()
    (line,) = (text for text in metrics.splitlines() if text.startswith("hopscope_newest_record"))
    assert float(line.split()[-1]) == noon
    config = StatusConfig(store, out, max_age=26, max_data_age=48)
    assert lateness(config) == ""
    assert "the newest trace is " in staleness(config)
    # A longer age may be given.
    _, patient = by_flow(tmp_path, FIRST, max_data_age=24 * 365 * 100)
    assert not any("do measurements still arrive?" in line for line in patient.warnings)
