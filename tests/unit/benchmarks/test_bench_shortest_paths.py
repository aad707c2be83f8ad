"""Searches by weight compared with other programs, on a graph so small that they take no time."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from benchmarks import bench_shortest_paths as bench
from benchmarks.lib.graphs import attachment, with_weights
from benchmarks.peers import delta_stepping
from kernels import CSRGraph, sssp
from tests.shapes import graph_of, weighted


@pytest.fixture(autouse=True)
def few_widths(monkeypatch):
    monkeypatch.setattr(delta_stepping, "WIDTHS", (64, 1024))


def stepper(graph: CSRGraph, threads: int) -> delta_stepping.DeltaStepping:
    if shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    return delta_stepping.DeltaStepping(graph, threads)


@pytest.mark.parametrize("threads", [1, 3])
def test_delta_stepping_finds_the_distances(threads):
    graph = with_weights(attachment(3000))
    program = stepper(graph, threads)
    for program.width in (1, 100, 10**6):
        for source in (0, 2999):
            found = bench.as_distances(program.sssp(source))
            assert np.array_equal(found, sssp(graph, source).distance)


def test_delta_stepping_says_what_it_does_not_reach():
    found = bench.as_distances(stepper(weighted(graph_of(4, [(0, 1), (2, 3)]), [5, 7]), 2).sssp(2))
    assert found.tolist() == [np.inf, np.inf, 0, 7]


def test_weights_that_are_no_whole_numbers_are_refused():
    with pytest.raises(ImportError, match="not whole numbers"):
        delta_stepping.whole_weights(weighted(graph_of(2, [(0, 1)]), [0.5]))


def test_searches_of_each_program_are_timed_and_agree():
    graph = with_weights(attachment(300))
    rows = bench.time_searches("small", graph, "cpu")
    programs = [row["program"] for row in rows]
    assert programs[:2] == ["hopscope", "hopscope, with parents"]
    assert {row["graph"] for row in rows} == {"small"}
    assert all(row["median_ms"] > 0 for row in rows)
    assert all("bucket" in row for row in rows if "delta" in row["program"])
