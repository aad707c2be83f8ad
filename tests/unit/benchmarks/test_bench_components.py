"""The program itself, on a graph so small that it takes no time."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from benchmarks import bench_components
from benchmarks.lib.graphs import attachment
from benchmarks.peers.scipy_peer import SciPy


def run(monkeypatch, folder) -> list[dict]:
    words = ["bench_components.py", "--graphs", "small", "--programs", "SciPy,igraph"]
    words += ["--repeats", "3", "--results", str(folder)]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(bench_components, "GRAPHS", {"small": lambda: attachment(300)})
    bench_components.main()
    return json.loads((folder / "components_2_cores.json").read_text())["rows"]


def test_each_program_is_timed_or_says_why_not(monkeypatch, tmp_path):
    rows = {row["by"]: row for row in run(monkeypatch, tmp_path)}
    assert set(rows) == {"hopscope", "SciPy", "igraph"}
    for by, row in rows.items():
        assert row["n_components"] == 1
        if "note" in row:
            assert by == "igraph"
            assert row["note"].startswith("not installed")
        else:
            assert 0 < row["min_ms"] <= row["median_ms"]
            assert row["repeats"] == 3
    assert rows["hopscope"]["ratio"] == 1


def test_labels_that_differ_are_not_timed(monkeypatch, tmp_path):
    monkeypatch.setattr(SciPy, "components_of", lambda self, answer: np.arange(300))
    with pytest.raises(AssertionError, match="small: components differ from those of SciPy"):
        run(monkeypatch, tmp_path)
