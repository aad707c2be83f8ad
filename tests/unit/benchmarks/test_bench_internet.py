"""The Internet benchmark: where it says time went, and one small run of all of it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from benchmarks import bench_internet
from benchmarks.bench_internet import levels, phases, seconds_in
from benchmarks.lib import made_internet


@pytest.mark.parametrize(
    ("intervals", "seconds"),
    [
        ([(0, 2)], 2),
        ([(0, 2), (1, 3)], 3),
        ([(0, 9), (1, 2), (3, 4)], 9),
        ([(5, 6), (0, 2), (2, 3)], 4),
    ],
)
def test_seconds_that_intervals_cover(intervals, seconds):
    starts, ends = np.array(intervals, float).T
    assert seconds_in(starts, ends) == seconds


class Sampled:
    """Memory of a run that began at 100 s."""

    measure = "pss"

    def peak(self, until=None):
        return (103.0, [2**30, 2**29, 10]) if until else (120.0, [2**31])


def test_parts_of_a_run_add_up_to_its_wall_time():
    reported = {
        "measured": 110.0,
        "written": 114.0,
        "again": 114.0,
        "pages": 124.0,
        "cluster": {"n_workers": 2},
        "tasks": {
            "kind": ["pack", "shard", "pack"],
            "device": ["gpu", "cpu", "cpu"],
            "started": [103.0, 104.0, 107.0],
            "ended": [106.0, 105.0, 109.0],
            "read_s": [1.0, 0.5, 0.0],
        },
    }
    row = phases(100.0, 125.0, reported, Sampled())
    parts = [row[name] for name in ("start_s", "search_s", "collect_s", "write_s", "end_s")]
    assert parts == [3.0, 6.0, 1.0, 4.0, 1.0]
    assert row["wall_s"] == sum(parts)
    assert row["outside_s"] == 15.0 - 5.0 - 4.0  # workers computed 103-106 and 107-109
    assert row["outside_share"] == 0.4
    assert (row["worker_read_s"], row["worker_search_s"]) == (1.5, 4.5)
    assert row["worker_idle_share"] == 0.5
    assert (row["n_shard_tasks"], row["n_gpu_tasks"]) == (1, 1)
    assert row["peak_gib"] == 1.5
    assert row["pages_s"] == 6.0  # the tables are written a second time with them


def test_levels_of_the_oracle_are_hops():
    arcs = [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)]
    rows, columns = np.array(arcs).T
    matrix = csr_array((np.ones(len(arcs), np.int32), (rows, columns)), shape=(6, 6))
    assert levels(matrix, 0).tolist() == [0, 1, 2, -1, -1, -1]


@pytest.fixture
def made_here(monkeypatch):
    """Stores are made in this process, which has imported what that takes."""

    def in_process(module, *given):
        if module == made_internet.__name__:
            return made_internet.main(*map(str, given)), 0.0, Sampled()
        return run(module, *given)

    run = bench_internet.in_process
    monkeypatch.setattr(bench_internet, "in_process", in_process)


def test_a_small_internet_is_analyzed_verified_and_written_down(tmp_path, monkeypatch, made_here):
    words = ["bench_internet.py", "--ases=20", "--routers=3000", "--device=cpu"]
    words += [f"--results={tmp_path}", "--name=small", f"--folder={tmp_path}"]
    monkeypatch.setattr("sys.argv", words)
    monkeypatch.setattr(bench_internet, "SMALL", (5, 300))
    bench_internet.main()
    (row,) = json.loads((tmp_path / "small.json").read_text())["rows"]
    assert (row["n_ases"], row["n_routers"]) == (20, 3000)
    assert len(row["verified_asns"]) == 8
    assert row["peak_gib"] > 0.05
    parts = ("start_s", "search_s", "collect_s", "write_s", "end_s")
    assert sum(row[part] for part in parts) == pytest.approx(row["wall_s"], abs=0.01)
    assert row["pages_mb"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["small.json"]  # scratch is gone
