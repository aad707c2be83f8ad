"""Runs report themselves; killed ones are recognised."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import pytest

from pipeline.model.progress import Progress, no_progress
from pipeline.store import leftovers, remove_leftovers
from pipeline.store.running import RUNNING, running, running_stages, runs_on
from pipeline.store.versions import locks

KILLED = """
import os, signal, sys
from pathlib import Path
from pipeline.model.progress import Progress, no_progress
from pipeline.store.running import running
with running(Path(sys.argv[1]), "analyze", "monday", no_progress) as told:
    told(Progress("search", 1, 4, "ASes", "AS7"))
    os.kill(os.getpid(), signal.SIGKILL)
"""


KILLED_BETWEEN = """
import os, signal, sys
from pathlib import Path
from pipeline.model.progress import Progress, no_progress
from pipeline.store.running import running, running_stages
with running_stages(Path(sys.argv[1])):
    with running(Path(sys.argv[1]), "ingest", "monday", no_progress) as told:
        told(Progress("write", 1, 1, "snapshot", ""))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_tells_its_last_progress_and_leaves_nothing(tmp_path):
    seen = []
    with running(tmp_path, "analyze", "monday", seen.append) as told:
        assert runs_on(tmp_path) == []
        told(Progress("start", 0, 0, "workers"))
        told(Progress("search", 3, 12, "ASes", "on 2 cores, http://127.0.0.1:8787/status"))
        told(Progress("search", 4, 12, "ASes", "AS7"))  # within a second: not written
        (found,) = runs_on(tmp_path)
    assert found["is_alive"]
    assert found["pid"] == os.getpid()
    assert (found["command"], found["snapshot"]) == ("analyze", "monday")
    assert (found["step"], found["done"], found["total"]) == ("search", 3, 12)
    assert found["dashboard"] == "http://127.0.0.1:8787/status"
    assert found["started_s"] <= found["step_began_s"] <= found["told_s"]
    assert len(seen) == 3
    assert list((tmp_path / RUNNING).iterdir()) == []


def test_a_killed_run_is_told_apart_until_the_next_run(tmp_path):
    words = [sys.executable, "-c", KILLED, str(tmp_path)]
    assert subprocess.run(words, check=False, timeout=120).returncode == -9
    (dead,) = runs_on(tmp_path)
    assert not dead["is_alive"]
    assert dead["detail"] == "AS7"
    with running(tmp_path, "ingest", None, no_progress) as told:
        told(Progress("read", 0, 0, "files"))
        assert [each["command"] for each in runs_on(tmp_path)] == ["ingest"]
    assert list((tmp_path / RUNNING).iterdir()) == []


def test_stages_are_one_run_and_one_killed_between_them_is_told(tmp_path):
    seen = []
    with running_stages(tmp_path):
        assert runs_on(tmp_path) == []
        with running(tmp_path, "ingest", None, seen.append) as told:
            told(Progress("read", 1, 4, "files"))
        (between,) = runs_on(tmp_path)
        assert (between["command"], between["step"], between["is_alive"]) == (
            "ingest",
            "read",
            True,
        )
        with running(tmp_path, "analyze", "monday", no_progress) as told:
            told(Progress("search", 1, 4, "ASes"))
            (found,) = runs_on(tmp_path)
        assert (found["command"], found["snapshot"]) == ("analyze", "monday")
        assert found["started_s"] == between["started_s"]
    assert list((tmp_path / RUNNING).iterdir()) == []
    assert len(seen) == 1
    words = [sys.executable, "-c", KILLED_BETWEEN, str(tmp_path)]
    assert subprocess.run(words, check=False, timeout=120).returncode == -9
    (dead,) = runs_on(tmp_path)
    assert (dead["command"], dead["is_alive"]) == ("ingest", False)


def test_doctor_names_and_removes_what_a_killed_run_told(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=120)
    with running(tmp_path / "other", "ingest", None, no_progress):
        (left,) = (path for path in leftovers(tmp_path, None) if path.is_relative_to(tmp_path))
        assert left.parent.name == RUNNING
        assert len(runs_on(tmp_path)) == 1
        remove_leftovers(tmp_path, None)
    assert runs_on(tmp_path) == []
    assert list((tmp_path / RUNNING).iterdir()) == []


def test_a_run_that_another_takes_for_dead_as_it_begins_is_seen(tmp_path, monkeypatch):
    """Another run looks between making the lock and holding it."""
    flock, looked = fcntl.flock, []

    def late(descriptor, operation):
        if not looked:
            looked.append(True)
            assert [path for path in leftovers(tmp_path, None) if tmp_path in path.parents] == []
            remove_leftovers(tmp_path, None)
        flock(descriptor, operation)

    monkeypatch.setattr(locks.fcntl, "flock", late)
    with running(tmp_path, "analyze", "monday", no_progress) as told:
        told(Progress("search", 1, 4, "ASes"))
        remove_leftovers(tmp_path, None)
        assert [each["is_alive"] for each in runs_on(tmp_path)] == [True]
        names = sorted(path.suffix for path in (tmp_path / RUNNING).iterdir())
        assert names == [".json", ".lock"]
    assert looked


@pytest.mark.parametrize("made", ["nothing", "file in its place"])
def test_a_store_that_cannot_be_written_costs_nothing(tmp_path, made):
    store = tmp_path / "store"
    if made != "nothing":
        store.mkdir()
        (store / RUNNING).write_text("")
    with running(store, "analyze", "monday", no_progress) as told:
        told(Progress("search", 1, 4, "ASes"))
    assert store.exists() == (made != "nothing")
    assert runs_on(store) == []


def test_what_is_no_file_of_ours_is_left_out(tmp_path):
    (tmp_path / RUNNING).mkdir()
    (tmp_path / RUNNING / "a.json").write_text("{")
    (tmp_path / RUNNING / "b.json").write_text("[]")
    assert runs_on(tmp_path) == []
