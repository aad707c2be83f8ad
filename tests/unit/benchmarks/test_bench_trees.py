"""The programs about trees, targets and twins, on graphs so small that they take no time."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pytest

from benchmarks import bench_goal_directed, bench_trees, bench_twins
from benchmarks.lib.graphs import attachment, with_weights
from benchmarks.peers.trees import SciPy
from kernels import CSRGraph, mst


def run(monkeypatch, folder, program, words: list[str]) -> list[dict]:
    words = [program.__name__, *words, "--results", str(folder), "--subject", "small"]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(program, "compile_cpu", lambda work: 0.0)
    if hasattr(program, "GRAPHS"):
        monkeypatch.setattr(program, "GRAPHS", {"small": lambda: attachment(300)})
    program.main()
    return kept(folder)


def kept(folder) -> list[dict]:
    return json.loads((folder / "small.json").read_text())["rows"]


def test_trees_of_each_program_are_timed(monkeypatch, tmp_path):
    rows = run(monkeypatch, tmp_path, bench_trees, ["--programs", "SciPy", "--rounds", "2"])
    names = {(row["task"], row["by"]) for row in rows}
    assert names >= {("mst", "hopscope"), ("mst", "SciPy"), ("dfs", "SciPy")}
    assert all(row["repeats"] == 2 and "note" not in row for row in rows)
    assert {row["ratio"] for row in rows if row["by"] == "hopscope"} == {1}


def test_what_is_measured_before_an_interrupt_is_kept(monkeypatch, tmp_path):
    def interrupted(*given):
        yield {"task": "mst", "by": "hopscope", "median_ms": 1.0}
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_trees, "rows_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, tmp_path, bench_trees, [])
    assert [row["by"] for row in kept(tmp_path)] == ["hopscope"]


def test_forests_that_weigh_something_else_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(SciPy, "total_of", lambda self, answer: 1.0)
    words = ["--programs", "SciPy", "--rounds", "1", "--tasks", "mst"]
    rows = run(monkeypatch, tmp_path, bench_trees, words)
    assert [row["note"] for row in rows if row["by"] == "SciPy"] == ["the result differs from ours"]


def test_searches_for_a_target_are_compared_with_whole_ones(monkeypatch, tmp_path):
    words = ["--programs", "", "--pairs", "6"]
    rows = run(monkeypatch, tmp_path, bench_goal_directed, words)
    ways = {(row["weighted"], row["way"]) for row in rows}
    assert len(ways) == len(rows) == 6
    assert all(row["repeats"] == 6 and row["ratio"] > 0 for row in rows)


def test_twins_are_timed_and_their_memory_is_counted(monkeypatch, tmp_path):
    rows = run(monkeypatch, tmp_path, bench_twins, ["--nodes", "200", "--longest", "1"])
    assert {row["algorithm"] for row in rows} == set(bench_twins.TWINS)
    assert all(row["peak_mb"] > 0 and row["median_ms"] > 0 for row in rows)
    words = ["--nodes", "200", "--algorithms", "prim,bfs"]
    some = run(monkeypatch, tmp_path, bench_twins, words)
    assert {row["algorithm"] for row in some} == {"bfs", "prim"}
    bench = bench_twins.Bench(longest_s=1.0, n_certified=0, clock=time.perf_counter)
    bench.last["bfs", "twin", "cpu"] = (10, 1.0)
    bench.measure(attachment(300), "bfs", "twin", "", lambda graph: None)
    assert bench.rows[-1]["note"].startswith("left out")


def test_degrees_lie_between_12_and_14():
    graph = bench_twins.between_degrees(1001)
    CSRGraph(graph.indptr, graph.indices)  # valid
    degrees = np.diff(graph.indptr)
    assert (degrees.min(), degrees.max()) == (12, 14)
    assert mst(with_weights(graph)).n_components == 1
