"""Exits on pages: the rows of exits.parquet, most traces first."""

from __future__ import annotations

import re

import pyarrow.parquet as pq

from pipeline.report import write_reports
from pipeline.report.pages.ases.exit_rows import MAX_EXITS, exit_rows, exits_of
from pipeline.report.tables.summarise import summarise
from tests.unit.pipeline.report.memory import MemorySnapshot, measured


def snapshot(exits) -> MemorySnapshot:
    line = [(i, i + 1) for i in range(59)]
    return MemorySnapshot(
        {10: line, 20: [(0, 1)], 30: [(0, 1)]},
        {10: 60, 20: 2, 30: 2},
        [(10, 0, [20], 5, 0, False)],
        addrs={
            10: [f"198.51.100.{i}" for i in range(60)],
            20: ["203.0.113.1", "203.0.113.2"],
            30: ["203.0.113.3", "203.0.113.4"],
        },
        exits=exits,
    )


def test_rows_are_those_of_the_file(tmp_path):
    night = snapshot([(10, 3, 20, 2), (10, 7, 20, 1), (10, 7, 99, 6), (30, 1, 10, 4)])
    made = write_reports(night, measured(night), tmp_path, options={}, warnings=[], started=0.0)
    text = (made.path / "as" / "10.html").read_text()
    section = text.partition("id=exits")[2].partition("</section>")[0]
    rows = re.findall(r"<tr><td>([^<]+)<td>([\d,]+)<td>(.+)", section)
    assert rows == [
        ("198.51.100.7", "7", "99 (6), <a href=20.html>20</a> (1)"),
        ("198.51.100.3", "2", "<a href=20.html>20</a> (2)"),
    ]
    table = pq.read_table(made.files["exits"], filters=[("asn", "==", 10)])
    assert sorted((addr, str(n)) for addr, n in [r[:2] for r in rows]) == sorted(
        zip(table["addr"].to_pylist(), map(str, table["n_direct"].to_pylist()), strict=True)
    )
    assert "id=exits" not in (made.path / "as" / "20.html").read_text()
    assert "id=exits" in (made.path / "as" / "30.html").read_text()


def test_of_many_exits_those_with_the_most_traces_are_shown():
    night = snapshot([(10, i, 20, 1 + i) for i in range(60)])
    found = exits_of(*exit_rows(summarise(night, measured(night)), night.asn), 0)
    counts = [int(n) for n in re.findall(r"<td>(\d+)<td>", found["rows"])]
    assert counts == list(range(60, 60 - MAX_EXITS, -1))
    assert (found["n"], found["n_shown"]) == (60, MAX_EXITS)
