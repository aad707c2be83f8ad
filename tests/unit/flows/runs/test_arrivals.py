"""When new data start a run: once nothing more arrives, and once for the same data."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.runs import arrivals as module
from flows.runs.arrivals import Arrivals, Watcher
from tests.soak import examples

SETTLE_S = 10.0


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "old").write_text("old")
    return folder


@pytest.fixture
def watched(data, tmp_path):
    found = Arrivals([str(data)], SETTLE_S, tmp_path / "kept")
    assert not found.is_due(0.0)
    return found


def test_what_lay_there_first_is_known_and_what_arrives_settles(watched, data):
    assert not watched.is_due(100.0)
    (data / "new").write_text("a")
    assert not watched.is_due(101.0)
    (data / "new").write_text("ab")
    assert not watched.is_due(109.0)  # it was written to: the time begins again
    assert not watched.is_due(118.0)
    assert watched.is_due(119.0)
    assert watched.is_due(120.0)  # until a run was started
    watched.note_started()
    assert not watched.is_due(200.0)


def test_what_is_removed_or_hidden_is_no_new_data(watched, data):
    (data / "old").unlink()
    (data / ".partial").write_text("not yet")
    (data / ".cache").mkdir()
    (data / ".cache" / "x").write_text("")
    assert not any(watched.is_due(now) for now in (1.0, 100.0, 1000.0))


def test_a_file_that_was_replaced_is_new(watched, data):
    os.utime(data / "old", ns=(1, 1))
    assert [watched.is_due(now) for now in (1.0, 11.0)] == [False, True]


def test_data_that_came_while_nobody_looked_are_new_and_other_places_begin_again(
    watched, data, tmp_path
):
    (data / "sub").mkdir()
    (data / "sub" / "new").write_text("")
    later = Arrivals([str(data)], SETTLE_S, tmp_path / "kept")
    assert [later.is_due(now) for now in (0.0, 10.0)] == [False, True]
    other = Arrivals([str(data / "sub")], SETTLE_S, tmp_path / "kept")
    assert not any(other.is_due(now) for now in (0.0, 10.0))


def test_objects_of_a_bucket_are_looked_at_below_it(monkeypatch, tmp_path):
    bucket = {
        "s3://lab/data": {"a": 1.0, "sub": None},
        "s3://lab/data/sub": {"b": 2.0},
    }
    monkeypatch.setattr(module.objects, "entries", bucket.__getitem__)
    found = Arrivals(["s3://lab/data/"], SETTLE_S, tmp_path / "kept")
    assert not found.is_due(0.0)
    bucket["s3://lab/data/sub"]["c"] = 3.0
    assert [found.is_due(now) for now in (1.0, 11.0)] == [False, True]


def test_data_that_settle_sooner_are_looked_at_more_often(tmp_path):
    looks = [Arrivals([], settle_s, tmp_path / "kept").look_every_s for settle_s in (1.0, 300.0)]
    assert looks == [1.0, module.LOOK_EVERY_S]


def test_a_run_that_could_not_be_started_is_tried_again(watched, data, capsys):
    watched.look_every_s = 0.01
    (data / "new").write_text("")
    tries: list[int] = []
    done = threading.Event()
    watched._settle_s = 0.0

    def start() -> None:
        tries.append(len(tries))
        if len(tries) < 3:
            raise OSError("no answer")
        done.set()

    with Watcher(watched, start):
        assert done.wait(30)
    assert not watched.is_due(1000.0)
    assert capsys.readouterr().err.count("no answer") == 1
    assert len(tries) == 3


@given(st.lists(st.sampled_from(["write", "remove", "look", "start"]), max_size=30))
@settings(max_examples=examples(60), deadline=None)
def test_no_data_are_missed_and_none_start_two_runs(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("data")
    found = Arrivals([str(folder)], 1.0, folder.parent / f"{folder.name}-kept")
    assert not found.is_due(0.0)
    now, n_files, unread = 0.0, 0, set()
    for step in steps:
        now += 2.0
        if step == "write":
            n_files += 1
            (folder / str(n_files)).write_text("")
            unread.add(n_files)
        elif step == "remove" and unread:
            (folder / str(unread.pop())).unlink()
        elif step == "look":
            found.is_due(now)
        elif step == "start":
            found.is_due(now)
            assert found.is_due(now + 1.0) == bool(unread)
            if unread:
                found.note_started()
                unread.clear()
                assert not found.is_due(now + 1.5)
