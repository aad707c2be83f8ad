"""What the measuring task writes, the reporting task reads back."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from flows.runs.handover import (
    hold,
    leave,
    new_handover,
    read_measurement,
    remove,
    write_measurement,
)
from kernels import Shard
from kernels.eccentricity.shard import widths
from pipeline.errors import StoreError, UsageError
from pipeline.model.search.results import Figures, Measurement, SearchResults, Widths
from pipeline.schedule.work.measure_columns import widths_of_shard
from pipeline.store import leftovers, remove_leftovers
from pipeline.store.versions import held
from pipeline.store.versions.held import DISTANCES, KEEP_S, hold_folder
from tests.full_disk import files_up_to
from tests.real_data import REPOSITORY
from tests.shapes import path as path_graph


def widths_of(is_weighted: bool) -> Widths:
    shard = Shard.from_graphs([path_graph(3), path_graph(1)])
    found = widths(shard, ["diameter", "eccentricities"])
    rows = np.array([0, 2])
    return widths_of_shard(found, shard.node_ptr, rows, found.questions, is_weighted, 0.5)


@pytest.fixture
def measurement(tmp_path) -> Measurement:
    results = SearchResults(
        row=np.array([0, 0, 2]),
        source=np.array([1, 4, 0], np.int32),
        n_reached=np.array([5, 5, 1]),
        eccentricity=np.array([1, 1, 0], np.int32),
        hop_ptr=np.array([0, 2, 4, 5]),
        hop_counts=np.array([1, 4, 1, 4, 1]),
        farthest_ptr=np.array([0, 1, 2, 3]),
        farthest=np.array([2, 3, 0], np.int32),
    )
    return Measurement(
        rows=np.array([0, 1, 2]),
        results=results,
        failed={1: "worker lost\nthree times"},
        n_tasks=np.array([1, 1, 1]),
        n_retries=np.array([0, 2, 0]),
        wall_s=np.array([0.5, 1.0, np.nan]),
        device=["cpu", "", "cpu"],
        tasks={
            "task": ["bfs_AS1-0", "shard"],
            "asns": [[1], [2, np.int64(3)]],
            "started": np.array([1.5, np.nan]),
            "worker": np.array(["tcp://a", "tcp://b"]),
        },
        cluster={"n_workers": 2, "dashboard": "http://127.0.0.1:8787/status"},
        busy_share={"tcp://a": 0.75},
        n_reused=np.array([1, 0, 0]),
        reused_from=["monday", "", ""],
        notes=["results are not kept"],
        distances_dir=str(hold_folder(tmp_path / "reports", DISTANCES)),
        widths=widths_of(is_weighted=False),
        weighted_widths=widths_of(is_weighted=True),
        figures={
            "effective": Figures(
                "effective",
                np.array([0, 2]),
                {"effective_diameter": np.array([1.5, np.nan]), "flag": np.array([True, False])},
                np.array([0, 2, 3]),
                np.array([0.5, np.nan, 1.0]),
                read_s=0.125,
            )
        },
        snapshot="monday",
        version="monday-0123456789ab",
        metrics=("hops", "diameter"),
        lost="the scheduler is gone",
    )


def test_every_field_comes_back_as_it_was(tmp_path, measurement):
    path = tmp_path / "below" / "m.npz"
    write_measurement(path, measurement, 12.5)
    back, started = read_measurement(path)
    assert started == 12.5
    assert list(back.figures) == list(measurement.figures)
    for before, after in zip(measurement.found().values(), back.found().values(), strict=True):
        assert type(before) is type(after)
        for field in fields(before):
            old, new = getattr(before, field.name), getattr(after, field.name)
            if isinstance(old, dict):
                assert list(old) == list(new)
                old, new = list(old.values()), list(new.values())
                assert [values.dtype for values in old] == [values.dtype for values in new]
            assert type(old) is type(new)
            np.testing.assert_array_equal(old, new)
            assert getattr(old, "dtype", None) == getattr(new, "dtype", None)
    for name in ("rows", "n_tasks", "n_retries", "wall_s"):
        np.testing.assert_array_equal(getattr(measurement, name), getattr(back, name))
    plain = ("failed", "device", "cluster", "busy_share", "distances_dir")
    for name in (*plain, "snapshot", "version", "metrics", "lost"):
        assert getattr(measurement, name) == getattr(back, name)
    assert back.tasks["asns"] == [[1], [2, 3]]
    assert list(back.tasks["worker"]) == ["tcp://a", "tcp://b"]
    np.testing.assert_array_equal(back.tasks["started"], measurement.tasks["started"])


def test_widths_that_were_not_requested_are_missing(tmp_path, measurement):
    path = tmp_path / "m.npz"
    none = replace(measurement, widths=None, weighted_widths=None, figures={})
    write_measurement(path, none, 0.0)
    back, _ = read_measurement(path)
    assert (back.widths, back.weighted_widths, back.figures) == (None, None, {})


def test_no_field_of_a_measurement_is_forgotten(tmp_path, measurement):
    path = tmp_path / "m.npz"
    write_measurement(path, measurement, 0.0)
    back, _ = read_measurement(path)
    empty = [
        field.name
        for field in fields(Measurement)
        if not len(getattr(vars(back)[field.name], "row", vars(back)[field.name]))
    ]
    assert empty == []


PROGRAM = """
import sys, time
from pathlib import Path
from flows.runs.handover import hold, leave, new_handover, write_measurement
from pipeline.store.versions.held import DISTANCES, hold_folder
from tests.unit.flows.test_measure import WHOLE
from dataclasses import replace
out = Path(sys.argv[1])
path = new_handover(out)
hold(path)
made = hold_folder(out, DISTANCES)
write_measurement(path, replace(WHOLE, distances_dir=str(made)), 1.0)
if sys.argv[2] == "told":
    leave(path)
print(path, flush=True)
time.sleep(600)
"""


@contextlib.contextmanager
def measuring(out: Path, *words: str) -> Iterator[tuple[subprocess.Popen, Path]]:
    """A process that has measured, and its file."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(out), *words],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    try:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate()


def hidden(out: Path) -> list[str]:
    """Kinds of our folders beside the reports."""
    return sorted(path.name.rpartition("-")[0] for path in out.glob(".*-*"))


def left_over(out: Path) -> list[str]:
    named = [path for path in leftovers(None, out) if path.parent == out]
    return sorted(path.name.rpartition("-")[0] for path in named)


@pytest.mark.parametrize("way", ["clean", "run"])
def test_what_a_killed_run_measured_for_itself_is_left_over(tmp_path, way):
    both = [".distances", ".measured"]
    with measuring(tmp_path, "untold") as (process, path):
        assert path.is_file()
        assert left_over(tmp_path) == []
        remove_leftovers(None, tmp_path)
        assert hidden(tmp_path) == both
        process.kill()
        process.wait(30)
    assert hidden(tmp_path) == left_over(tmp_path) == both
    if way == "clean":
        remove_leftovers(None, tmp_path)
        assert hidden(tmp_path) == []
    else:
        hold(new_handover(tmp_path))
        assert hidden(tmp_path) == [".measured"]
        assert not path.exists()


def test_what_was_left_to_another_process_stays_for_a_day(tmp_path):
    both = [".distances", ".measured"]
    with measuring(tmp_path, "told") as (_, path):
        pass
    remove_leftovers(None, tmp_path)
    hold(new_handover(tmp_path))
    assert hidden(tmp_path) == [*both, ".measured"]
    assert left_over(tmp_path) == []
    assert read_measurement(path)[1] == 1.0
    old = time.time() - KEEP_S - 1
    for mark in tmp_path.glob(f".*/{held._HANDED_OVER}"):
        os.utime(mark, (old, old))
    assert left_over(tmp_path) == both


def test_a_measurement_that_was_reported_goes_with_its_folder(tmp_path, measurement):
    path = new_handover(tmp_path / "reports")
    for _ in range(2):  # a stage that is tried again writes to the same file
        hold(path)
        write_measurement(path, measurement, 0.0)
    assert leave(path).metrics == measurement.metrics
    remove(path)
    assert hidden(tmp_path / "reports") == [".distances"]


def test_a_copy_of_a_measurement_is_reported_from_the_folder_of_its_user(tmp_path, measurement):
    path = tmp_path / "own" / "files" / "m.npz"
    write_measurement(path, measurement, 0.0)
    path.with_name("notes.txt").touch()
    leave(path)
    remove(path)
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["files"]
    assert [path.name for path in path.parent.iterdir()] == ["notes.txt"]


def test_a_measurement_that_the_disk_does_not_take_is_not_there(tmp_path, measurement):
    path = tmp_path / "m.npz"
    with files_up_to(300), pytest.raises(UsageError, match=r"m\.npz: .*File too large"):
        write_measurement(path, measurement, 0.0)
    assert not list(tmp_path.glob("*m.npz*"))


def test_a_missing_or_broken_file_is_named(tmp_path, measurement):
    path = tmp_path / "m.npz"
    with pytest.raises(StoreError, match="no such measurement"):
        read_measurement(path)
    write_measurement(path, measurement, 0.0)
    whole = path.read_bytes()
    for broken in (b"", b"not a zip", whole[: len(whole) // 2]):
        path.write_bytes(broken)
        with pytest.raises(StoreError, match=r"m\.npz"):
            read_measurement(path)
