"""The program itself, on cores and graphs so small that they take no time."""

from __future__ import annotations

import json
import sys

from benchmarks import bench_closeness


def test_each_graph_is_searched_whole_and_compared(monkeypatch, tmp_path):
    words = ["bench_closeness.py", "--nodes", "50,200", "--peers", "100"]
    monkeypatch.setattr(sys, "argv", [*words, "--results", str(tmp_path)])
    bench_closeness.main()
    rows = json.loads((tmp_path / "closeness.json").read_text())["rows"]
    assert [(row["n_nodes"], row["program"]) for row in rows] == [
        (50, "hopscope"),
        (50, "networkx"),
        (200, "hopscope"),
    ]
    assert all(row["wall_s"] > 0 for row in rows)
