"""The program itself, on cores and graphs so small that they take no time."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks import bench_partition
from benchmarks.partition.drawn import graph_named
from benchmarks.partition.ranks import Asked


def test_each_graph_is_searched_in_parts_and_its_time_divided(monkeypatch, tmp_path):
    words = ["bench_partition.py", "--graphs", "rmat:10,attachment:2000,grid:30", "--ranks", "1,2"]
    words += ["--where", "cores", "--sources", "2", "--early-bytes", "0", "--sweep", "70"]
    monkeypatch.setattr(sys, "argv", [*words, "--results", str(tmp_path)])
    bench_partition.main()
    rows = json.loads((tmp_path / "partition.json").read_text())["rows"]
    assert [(row["graph"], row["n_ranks"]) for row in rows] == [
        (graph, n_ranks)
        for graph in ("rmat:10", "attachment:2000", "grid:30")
        for n_ranks in (1, 2)
    ]
    for row in rows:
        assert len(row["n_arcs_by_rank"]) == row["n_ranks"]
        assert row["n_exchanges"] >= 2
        assert 0 < row["computed"] + row["waited"] + row["sent"] <= 1.01
        assert ("bfs_ms" in row) == ("sweep_ms" in row) == (row["n_ranks"] == 1)
        assert row["n_swept"] == 70
        assert row["parts_sweep_ms"] > 0
        assert (row["parts_sweep_sent_mb"] > 0) == (row["n_ranks"] == 2)
    for one, two in zip(rows[::2], rows[1::2], strict=True):
        assert (one["n_levels"], one["n_arcs"]) == (two["n_levels"], two["n_arcs"])


def test_what_is_sent_early_travels_beside_work():
    asked = Asked("cores", 2, 2, 0, early_bytes=0, link_gb_s=0.001)
    row = bench_partition.measure("rmat:14", 16, asked)
    assert row["n_early"] >= 1
    assert 0 <= row["overlapped"] <= row["computed"]
    assert row["link_gb_s"] == 0.001


def test_a_graph_is_given_by_kind_and_size():
    rmat = graph_named("rmat:5", 16)
    assert (rmat.n_nodes, rmat.n_links) == (32, 512)
    assert graph_named("attachment:10", 16).n_links == 18
    assert graph_named("grid:10", 16).n_nodes == 100
    with pytest.raises(ValueError, match=r"'cube:3': give rmat:SCALE"):
        graph_named("cube:3", 16)
