"""The program that times elections, on networks so small that they take no time."""

import json
import sys

import numpy as np
import pytest

from benchmarks import bench_elections
from benchmarks.synthetic.internet import link_at_random


def test_each_network_is_a_row_and_the_same_again(monkeypatch, tmp_path):
    words = ["--networks", "20:8,20:8,30:8", "--traces", "300", "--vantage-points", "4"]
    monkeypatch.setattr(sys, "argv", ["bench_elections", *words, "--into", str(tmp_path)])
    bench_elections.main()
    rows = json.loads((tmp_path / "elections.json").read_text())["rows"]
    assert [(row["n_ases"], row["links_per_as"], row["n_traces"]) for row in rows] == [
        (20, 8.0, 300),
        (20, 8.0, 300),
        (30, 8.0, 300),
    ]
    assert rows[0]["digest"] == rows[1]["digest"] != rows[2]["digest"]
    assert all(row["infer_s"] >= row["elections_s"] >= 0 for row in rows)


@pytest.mark.parametrize(("routers", "inside"), [(1, 0), (2, 1), (5, 5)])
def test_routers_of_an_as_are_a_ring_and_links_between_ases_as_many_as_asked(routers, inside):
    internet = link_at_random(60, routers, 8.0)
    near = np.repeat(np.arange(internet.n_routers), np.diff(internet.indptr))
    within = internet.asn[near] == internet.asn[internet.head]
    assert within.sum() == 2 * inside * 60
    # Ends drawn in one AS are left out, and are one of 60.
    assert 0.9 * 60 * 8 <= np.count_nonzero(~within) <= 60 * 8


def test_a_router_without_links_is_refused():
    with pytest.raises(ValueError, match="of 60 routers have no link"):
        link_at_random(60, 1, 1.0)
