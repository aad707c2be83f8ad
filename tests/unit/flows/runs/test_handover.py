"""What the measuring task writes, the reporting task reads back."""

from __future__ import annotations

import os
from dataclasses import fields, replace

import numpy as np
import pytest

from flows.runs.handover import read_measurement, remove_old, write_measurement
from kernels import Shard
from kernels.eccentricity.shard import widths
from pipeline.errors import StoreError, UsageError
from pipeline.model.search.results import Figures, Measurement, SearchResults, Widths
from pipeline.schedule.work.measure_columns import widths_of_shard
from pipeline.store.versions.held import DISTANCES, KEEP_S, hold_folder
from tests.full_disk import files_up_to
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


def test_files_not_used_within_a_day_are_removed(tmp_path):
    now = 1.8e9
    ages = {"old.npz": 1, ".cut.npz-x1": 1, "new.npz": -1, ".new.npz-x2": -1, "old.txt": KEEP_S}
    for name, age_s in ((name, KEEP_S + more) for name, more in ages.items()):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now - age_s, now - age_s))
    remove_old(tmp_path, now)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [".new.npz-x2", "new.npz", "old.txt"]
    remove_old(tmp_path / "nowhere", now)


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
