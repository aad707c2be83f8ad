"""Graph500 over the parts of a graph: its validation passes right trees, and refuses wrong ones."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from benchmarks import bench_graph500
from benchmarks.partition.drawn import graph_named
from tests.ranks import run_ranks

AT_ONCE = 3_000  # arcs: each part is made in several ranges


def searched_by_ranks(drawn, n_ranks, n_roots, is_checked, at_once):
    """All ranks on one GPU, as threads."""
    from benchmarks.partition.trees import searched

    return run_ranks(
        n_ranks, lambda _, link: searched(drawn, link, n_roots, is_checked, AT_ONCE), 100
    )


@pytest.mark.gpu
@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_parts_have_the_trees_of_the_whole(monkeypatch, n_ranks):
    from benchmarks.partition import trees

    monkeypatch.setattr(trees, "on_gpus", searched_by_ranks)
    whole = bench_graph500.measure(10, 16, 5, True)
    row = bench_graph500.measure_parts(10, 16, 5, True, n_ranks)
    assert row["is_validated"]
    assert row["n_ranks"] == n_ranks
    for key in ("scale", "n_roots", "n_arcs", "n_reached"):
        assert row[key] == whole[key]


@pytest.mark.gpu
@pytest.mark.parametrize("wrong", ["another", "none", "itself"])
def test_a_wrong_parent_is_found(monkeypatch, wrong):
    from benchmarks.partition import trees

    right = trees.Parents.__call__

    def planted(self, root, level):
        parent = right(self, root, level)
        if self._part.rank == 0:
            node = int(np.flatnonzero(level.get() > 1)[0])
            parent[node] = {"another": root, "none": -1, "itself": node}[wrong]
        return parent

    monkeypatch.setattr(trees.Parents, "__call__", planted)
    with pytest.raises(AssertionError, match=r"root \d+"):
        searched_by_ranks(graph_named("graph500:10", 16), 2, 2, True, AT_ONCE)


@pytest.mark.gpu(count=2)
def test_two_gpus_say_where_they_are(monkeypatch, tmp_path, capfd):
    words = ["bench_graph500.py", "--ranks", "2", "--scales", "12", "--roots", "8"]
    monkeypatch.setattr(sys, "argv", [*words, "--results", str(tmp_path)])
    bench_graph500.main()
    (row,) = json.loads((tmp_path / "graph500.json").read_text())["rows"]
    assert (row["scale"], row["n_roots"], row["is_validated"]) == (12, 8, True)
    said = capfd.readouterr().err
    assert "2 GPUs are connected" in said
    assert "8 of 8 roots" in said
