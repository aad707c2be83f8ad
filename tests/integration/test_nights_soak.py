"""Nights in a row on one cluster, few of them: nothing is lost, each is exact, nothing is left."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from benchmarks import bench_nights_soak as soak

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def folder():
    """Near the root: sockets of processes lie below it, and their paths are short."""
    with tempfile.TemporaryDirectory(prefix="soak-") as made:
        yield Path(made)


def test_five_nights_on_one_cluster(folder, tmp_path):
    given = ["--nights", "5", "--keep", "2", "--sampled", "1", "--traces", "1500", "--ases", "6"]
    results = tmp_path / "results"
    status = soak.main([*given, "--folder", str(folder), "--results", str(results), "--name", "s"])
    found = json.loads((results / "s.json").read_text())
    # Memory of five nights is that of code that is loaded; it is judged in runs of hundreds.
    counted = [name for name in found["grown"] if not name.endswith(("_mb", "_fds"))]
    assert counted == []
    assert status == bool(found["grown"])
    assert (found["n_nights"], found["n_lost_workers"], found["n_sampled"]) == (5, 0, 1)
    assert found["n_files_equal"] >= 12
    figures = {row["figure"]: row for row in found["rows"]}
    assert figures["n_searches_reused"]["largest"] > 0
    for name in ("client", "scheduler", "worker"):
        assert figures[f"{name}_mb"]["first"] > 10
        assert figures[f"{name}_threads"]["first"] >= 1
    kept = [soak.night_name(number) for number in (3, 4)]
    assert sorted(path.stem for path in (folder / "store" / "snapshots").glob("[!.]*.json")) == kept
    assert sorted(path.name for path in (folder / "out").glob("2*")) == kept
    assert not list(folder.glob("fresh-*"))
