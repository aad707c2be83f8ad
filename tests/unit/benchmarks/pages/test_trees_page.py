from __future__ import annotations

import json
import sys

from benchmarks.lib.record import RESULTS
from benchmarks.pages import trees_page
from tests.real_data import REPOSITORY

ROWS = [
    {"task": "mst", "graph": "attachment 10000", "by": "hopscope", "median_ms": 0.5, "ratio": 1.0},
    {"task": "mst", "graph": "attachment 10000", "by": "SciPy", "median_ms": 2.0, "ratio": 4.123},
    {"task": "mst", "graph": "attachment 10000", "by": "igraph", "note": "not installed"},
    {"task": "mst", "graph": "rmat 17", "by": "hopscope", "median_ms": 24.05, "ratio": 1.0},
    {"task": "dfs", "graph": "rmat 17", "by": "SciPy", "median_ms": 9.0, "ratio": 9.0},
]


def run(date: str) -> str:
    about = {"date": date, "commit": "abcdef012345", "cores_of_others": 0.0}
    return json.dumps(about | {"machine": {"cores": 2}, "rows": ROWS})


def test_the_table_has_our_time_and_the_ratios_of_others():
    forests = [row for row in ROWS if row["task"] == "mst"]
    assert list(trees_page.table(forests)) == [
        "| | attachment 10,000 | RMAT 17 |",
        "| --- | --- | --- |",
        "| ours, ms | 0.5 | 24.1 |",
        "| SciPy | 4.12 |  |",
    ]


def test_the_table_says_when_and_of_which_state_it_is(monkeypatch, tmp_path):
    (tmp_path / f"{trees_page.SUBJECT}.json").write_text(run("2026-01-02T00:00:00+00:00"))
    page = tmp_path / "benchmarks.md"
    page.write_text("before\n<!-- made: forests -->\nold\n<!-- end: forests -->\nafter\n")
    words = ["trees_page.py", "--results", str(tmp_path), "--docs", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    trees_page.main()
    text = page.read_text()
    assert "2026-01-02, commit abcdef0" in text
    assert "| SciPy | 4.12 |  |" in text
    assert "old" not in text
    assert text.endswith("after\n")


def test_docs_show_what_the_committed_results_say(monkeypatch, tmp_path):
    """Else: python benchmarks/pages/trees_page.py."""
    text = (REPOSITORY / "docs" / "benchmarks.md").read_text()
    (tmp_path / "benchmarks.md").write_text(text)
    words = ["trees_page.py", "--results", str(RESULTS), "--docs", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    trees_page.main()
    assert (tmp_path / "benchmarks.md").read_text() == text
