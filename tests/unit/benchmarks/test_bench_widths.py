"""The benchmarks of weighted widths and effective diameters, on tiny graphs."""

from __future__ import annotations

import pytest

from benchmarks.bench_effective import time_graph, time_internet
from benchmarks.bench_shortest_paths import time_brute, time_widths, with_weights
from benchmarks.lib.graphs import attachment


def test_all_weighted_eccentricities_are_compared_with_a_search_from_each_node():
    pytest.importorskip("scipy")
    graph = with_weights(attachment(60))
    rows = time_brute("small", graph, cutoff_s=60)
    assert [row["program"] for row in rows][:2] == ["hopscope", "scipy"]
    assert all(row["exact"] for row in rows)
    assert rows[0]["n_searches"] <= rows[1]["n_searches"] == 60
    cut_off = time_brute("small", graph, cutoff_s=0)
    assert [row["exact"] for row in cut_off[:2]] == [True, False]
    for row in time_widths("small", graph, "cpu", 60):
        assert row["exact"]


def test_effective_diameters_are_compared_with_their_estimates():
    rows = time_graph("small", attachment(1500), "cpu", peers=2000)
    exact, estimate = rows[:2]
    assert exact["value"] == pytest.approx(estimate["value"], abs=0.1)
    assert abs(estimate["off_by"]) < 5 * estimate["error"]
    row = time_internet(20, 600, "cpu")
    assert (row["n_graphs"], row["n_searches"], row["n_estimated"]) == (20, 600, 0)
