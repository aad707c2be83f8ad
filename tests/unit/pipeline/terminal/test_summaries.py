"""Output of ``analyze`` at its end: every search counted, nothing unknown reported as known."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.ingest import FORMATS, Format, warts
from pipeline.model.measured.reading import ReadReport
from pipeline.report import write_reports
from pipeline.stages.analyze import AnalyzeSummary, widths_known
from pipeline.stages.ingest import IngestSummary
from pipeline.terminal.summaries import analyze_facts, print_analyze, print_ingest
from tests.unit.pipeline.report.memory import MemorySnapshot, measured
from tests.unit.pipeline.report.width_data import effective_of, widths_of

# AS 10: a path of four. AS 20: a link.
SNAPSHOT = MemorySnapshot(
    {10: [(0, 1), (1, 2), (2, 3)], 20: [(0, 1)]}, {10: 4, 20: 2}, [(10, 0, [20], 3, 0, False)]
)


def summary_of(out: Path, **given) -> AnalyzeSummary:
    measurement = replace(measured(SNAPSHOT), **given)
    report = write_reports(
        SNAPSHOT, measurement, out, options={}, warnings=[], started=0.0, pages=False
    )
    n_searches = len(measurement.results.source)
    failed = {int(SNAPSHOT.asn[row]): why for row, why in measurement.failed.items()}
    return AnalyzeSummary(
        "x",
        report.path,
        report.index,
        report,
        n_searches,
        failed,
        wall_s=30.2,
        n_width_searches=report.totals.get("n_width_searches", 0),
        widths_known=widths_known(measurement, measurement),
        n_figure_searches={"effective": report.totals.get("n_effective_searches", 0)},
    )


def last_lines(summary: AnalyzeSummary, capsys: pytest.CaptureFixture[str]) -> str:
    print_analyze(summary, is_verbose=True)
    shown = capsys.readouterr()
    return " ".join((shown.out + shown.err).split())


def test_a_run_of_only_widths_counts_its_searches(tmp_path, capsys):
    no_search = measured(SNAPSHOT, without={(0, 0)}).results
    summary = summary_of(tmp_path, widths=widths_of(SNAPSHOT), results=no_search)
    reported = last_lines(summary, capsys)
    assert "6 searches for widths, widths of 2 ASes Report:" in reported
    assert "0 searches" not in reported
    facts = analyze_facts(summary)
    assert (facts["n_searches"], facts["n_width_searches"]) == (0, 6)
    found = facts["widths"]
    assert (found["n_exact"], found["n_not_exact"], found["n_unknown"]) == (2, 0, 0)
    assert (found["largest_diameter"], found["largest_diameter_asn"]) == (3, 10)
    assert facts["weighted_widths"] is None


def test_searches_are_named_by_what_they_were_for(tmp_path, capsys):
    given = {"widths": widths_of(SNAPSHOT), "figures": {"effective": effective_of(SNAPSHOT, 1.5)}}
    reported = last_lines(summary_of(tmp_path, **given), capsys)
    assert "1 search, 6 searches for widths, 6 searches for effective diameters, widths" in reported
    reported = last_lines(summary_of(tmp_path), capsys)
    assert " 1 search Report:" in reported


def test_ases_of_other_runs_in_the_report_are_not_counted(tmp_path, capsys):
    summary = summary_of(tmp_path, widths=widths_of(SNAPSHOT, rows=[1]))
    one = replace(
        measured(SNAPSHOT), widths=widths_of(SNAPSHOT, rows=[1]), rows=np.array([1], np.int64)
    )
    summary = replace(summary, widths_known=widths_known(one, one))
    assert "widths of 1 AS Report:" in last_lines(summary, capsys)
    both = replace(measured(SNAPSHOT), widths=widths_of(SNAPSHOT))
    summary = replace(summary, widths_known=widths_known(one, both))
    assert "widths of 1 AS Report:" in last_lines(summary, capsys)
    summary = replace(summary, widths_known=widths_known(measured(SNAPSHOT), both))
    assert "widths of" not in last_lines(summary, capsys)


def test_ases_that_failed_are_reported_and_leave_the_largest_diameter_open(tmp_path, capsys):
    given = {"widths": widths_of(SNAPSHOT, rows=[1]), "failed": {0: "killed"}}
    summary = summary_of(tmp_path, **given)
    assert "widths of 1 AS (1 unknown) Report:" in last_lines(summary, capsys)
    found = analyze_facts(summary)["widths"]
    assert (found["largest_diameter"], found["largest_diameter_lower"]) == (None, 1)
    assert found["n_unknown"] == 1


def test_the_confidence_of_ingresses_is_told_where_any_is_known(tmp_path, capsys, monkeypatch):
    plain = summary_of(tmp_path / "plain")
    assert analyze_facts(plain)["mean_confidence"] is None
    assert "Ingress confidence" not in last_lines(plain, capsys)
    table = replace(SNAPSHOT.ingresses(), confidence=np.array([0.375], np.float32))
    monkeypatch.setattr(SNAPSHOT, "ingresses", lambda rows=None: table)
    rated = summary_of(tmp_path / "rated")
    facts = analyze_facts(rated)
    assert (facts["mean_confidence"], facts["n_low_confidence"]) == (0.375, 1)
    assert "Ingress confidence: 0.37 on average, 1 below 0.7" in last_lines(rated, capsys)


def ingested(**given) -> IngestSummary:
    known = {"n_ases": 1, "n_nodes": 3, "n_edges": 2, "n_ingresses": 0, "n_candidates": 0}
    known |= {"node_kind": "router", "n_traces": 0}
    place = {"store": Path("s"), "snapshot": "x", "path": Path("s/x")}
    return IngestSummary(**(place | known | given))


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [("as", "1 graph of ASes, 3 ASes as nodes, 2 links"), ("router", "1 AS, 3 routers, 2 links")],
)
def test_ases_that_are_nodes_are_told_from_those_that_have_some(kind, sizes, capsys):
    print_ingest(ingested(node_kind=kind))
    assert f"Snapshot x: {sizes}, 0 ingresses" in capsys.readouterr().out


def test_skipped_records_are_one_line_without_those_that_frame_others(capsys):
    skipped = [Counter(ping=2, address=7, http=1), Counter({"ping": 1, "cycle-start": 1})]
    formats = ("warts", "scamper_json")
    reports = [
        ReadReport("a", format, skipped=each) for format, each in zip(formats, skipped, strict=True)
    ]
    reports.append(ReadReport("a", "iffinder", skipped=Counter({"no alias": 5})))
    print_ingest(ingested(reports=reports))
    assert capsys.readouterr().out.splitlines()[1:] == [
        "Skipped records that are not traceroutes: ping (3), http (1)"
    ]
    print_ingest(ingested(reports=[ReadReport("a", "warts", skipped=Counter(list=1))]))
    assert "Skipped" not in capsys.readouterr().out


def test_a_row_of_formats_says_what_frames_its_records(monkeypatch, capsys):
    monkeypatch.setitem(FORMATS, "toy", Format("toy", "traces", (), "toys", frames=("box",)))
    print_ingest(ingested(reports=[ReadReport("a", "toy", skipped=Counter(box=1, ping=2))]))
    assert "that are not traceroutes: ping (2)\n" in capsys.readouterr().out
    assert {*FORMATS["warts"].frames} < {*warts.TYPE_NAMES.values()}


def test_searches_of_earlier_runs_are_told_as_a_part_of_all(tmp_path, capsys):
    reused = {"n_searches": 1, "n_ases": 2, "n_ases_from": {"monday": 2}}
    summary = replace(summary_of(tmp_path), reused=reused)
    told = "Reused: 1 of 1 search from ingresses; results of 2 ASes from "
    told += "equal graphs in monday"
    assert told in last_lines(summary, capsys)
    print_analyze(summary, is_verbose=True)
    assert "\nMade now or by earlier runs: 1 search" in capsys.readouterr().out
    summary = replace(summary, reused=reused | {"n_searches": 0})
    told = "Reused: results of 2 ASes from equal graphs in monday"
    assert f"{told} (--full measures all)" in last_lines(summary, capsys)
    summary = replace(summary, gone=("monday",))
    reported = last_lines(summary, capsys)
    assert f"{told} (monday is no longer in the store; --full measures all)" in reported
    several = {f"2026-11-0{i}": 1 for i in range(1, 6)}
    gone = tuple(several)[:4]
    summary = replace(summary, reused=reused | {"n_ases_from": several}, gone=gone)
    assert (
        "in 2026-11-03, 2026-11-04, 2026-11-05 and earlier (2026-11-03 and 2026-11-04 are no "
        "longer in the store; --full measures all)"
    ) in last_lines(summary, capsys)


def test_what_most_do_not_need_is_said_only_when_asked_for(tmp_path, capsys):
    summary = replace(summary_of(tmp_path), busy_share={"tcp://127.0.0.1:1": 0.5})
    print_analyze(summary)
    shown = capsys.readouterr()
    after = (shown.out + shown.err).partition("Total:")[2].splitlines()
    assert after[-1].startswith("Report: ")
    assert len(after) <= 4
    assert after[0].endswith("(30.2 s)")
    assert "tcp://" not in shown.out
    assert "search" not in "".join(after[:-1])
    reported = last_lines(summary, capsys)
    assert "Busy share by worker: tcp://127.0.0.1:1 50%" in reported


def test_widths_that_are_not_exact_are_always_said(tmp_path, capsys):
    given = {"widths": widths_of(SNAPSHOT, rows=[1]), "failed": {0: "killed"}}
    print_analyze(summary_of(tmp_path, **given))
    assert "Widths of 1 as (1 unknown)" not in (said := capsys.readouterr().out)
    assert "Widths of 1 AS (1 unknown)" in said
