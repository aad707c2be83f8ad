"""A store changes all at once: whatever is killed, fails or runs at the same time."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import StoreError, UsageError
from pipeline.store import check_name, check_store, open_snapshot, snapshot_names
from pipeline.store.pointers.changing import restore_snapshot
from pipeline.store.versions.pointer import kept_versions
from tests.forks import Forks, forks
from tests.soak import WHOLE
from tests.unit.pipeline.store.snapshots import some_graphs, write

OLD, NEW = some_graphs(seed=1), some_graphs(seed=2)


def leftovers(store: Path) -> list[str]:
    """Versions that no pointer names, and hidden files of any kind."""
    used = kept_versions(store)
    found = [*(store / "versions").iterdir(), *(store / "snapshots").iterdir()]
    return sorted(p.name for p in found if p.suffix != ".json" and p.name not in used)


def test_the_newest_is_the_one_ingested_last_even_under_an_old_name(tmp_path):
    assert snapshot_names(tmp_path) == []
    for name in ("b", "a", "2026-11-21"):
        write(tmp_path, name, OLD)
    assert snapshot_names(tmp_path) == ["b", "a", "2026-11-21"]
    assert open_snapshot(tmp_path).name == "2026-11-21"
    write(tmp_path, "b", NEW)
    assert snapshot_names(tmp_path) == ["a", "2026-11-21", "b"]
    assert open_snapshot(tmp_path).graph_hash == NEW.graph_hash
    assert open_snapshot(tmp_path, "a").graph_hash == OLD.graph_hash


def test_newest_holds_when_the_clock_goes_back(tmp_path, monkeypatch):
    write(tmp_path, "a", OLD)
    monkeypatch.setattr(time, "time_ns", lambda: 5)
    write(tmp_path, "b", OLD)
    assert snapshot_names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".a", "-a", "a/b", "a\\b", "a b", "ä", "a\n", "a\0", "x" * 101, "../a"]
)
def test_a_name_that_could_be_a_path_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="snapshot name"):
        write(tmp_path, name, OLD)
    with pytest.raises(UsageError, match="snapshot name"):
        open_snapshot(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a", "2026-11-21", "_x", "A.b-c_9", "x" * 100])
def test_an_ordinary_name_is_taken(name):
    assert check_name(name) == name


def test_replacing_keeps_the_version_before_and_removes_the_one_before_that(tmp_path):
    first = write(tmp_path, "a", OLD)
    write(tmp_path, "b", OLD)
    write(tmp_path, "a", NEW)
    assert len(list((tmp_path / "versions").iterdir())) == 3
    write(tmp_path, "a", NEW)
    assert len(list((tmp_path / "versions").iterdir())) == 3
    assert not first.exists()
    assert leftovers(tmp_path) == []
    assert check_store(tmp_path) == {"a": "", "b": ""}


def test_an_open_snapshot_survives_its_replacement_until_it_is_closed(tmp_path):
    write(tmp_path, "a", OLD)
    reader = open_snapshot(tmp_path, "a")
    write(tmp_path, "a", NEW)
    again = type(reader).open_dir(reader.path)  # as a worker does, after the replacement
    again.close()
    write(tmp_path, "a", NEW)
    assert reader.graph(3, check=True).graph_hash() == OLD.graph_hash[3]
    assert open_snapshot(tmp_path, "a").graph_hash == NEW.graph_hash
    write(tmp_path, "a", NEW)
    reader.close()
    write(tmp_path, "b", NEW)
    assert not reader.path.exists()
    assert leftovers(tmp_path) == []
    with pytest.raises(StoreError, match="cannot be read"):
        type(reader).open_dir(reader.path)


STEPS = ["os.fsync", "os.rename", "os.replace", "pathlib.Path.write_bytes", "pathlib.Path.mkdir"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_at_any_step_leaves_whole_snapshots(tmp_path, monkeypatch, step, error):
    write(tmp_path, "a", OLD)
    module, _, function = step.rpartition(".")
    owner = os if module == "os" else Path
    real = getattr(owner, function)
    at = 0
    while True:
        calls = 0

        def failing(*args, _at=at, **kwargs):
            nonlocal calls
            calls += 1
            if calls - 1 == _at:
                raise error
            return real(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(owner, function, failing)
            try:
                write(tmp_path, "a", NEW)
            except (StoreError, KeyboardInterrupt) as failure:
                failed, message = True, str(failure)
            else:
                failed, message = False, ""
        assert ("No space left" in message) == (failed and isinstance(error, OSError))
        assert failed == (calls > at), "a step failed without an error"
        assert check_store(tmp_path) == {"a": ""}
        held = open_snapshot(tmp_path, "a").graph_hash
        assert held in (OLD.graph_hash, NEW.graph_hash)
        assert failed or held == NEW.graph_hash
        if held == NEW.graph_hash:  # what it took the place of is there, too
            restore_snapshot(tmp_path, "a")
            assert open_snapshot(tmp_path, "a").graph_hash == OLD.graph_hash
        if not failed:
            break
        write(tmp_path, "a", OLD)
        assert leftovers(tmp_path) == []
        at += 1
    assert at > 0, f"{step} is never called: the test tests nothing"


def test_a_store_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"file: cannot be written"):
        write(tmp_path / "file", "a", OLD)


BEFORE_WRITING = """
from pathlib import Path
from tests.unit.pipeline.store.snapshots import some_graphs, write
graphs = [some_graphs(seed=1), some_graphs(seed=2)]
"""
WRITING = """
i = 0
while True:
    write(Path(words[0]), words[1], graphs[i % 2])
    i += 1
"""


@pytest.fixture(scope="module")
def writers():
    with forks(BEFORE_WRITING, WRITING) as started:
        yield started


def kill(writers: Forks, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    assert writers.status() == -signal.SIGKILL


def test_a_writer_killed_at_any_moment_leaves_whole_snapshots(tmp_path, writers):
    write(tmp_path, "a", OLD)
    rng = np.random.default_rng(7)
    for _ in range(3):
        writer = writers.start(tmp_path, "a")
        time.sleep(0.05 + 0.2 * rng.random())
        kill(writers, writer)
        assert check_store(tmp_path) == {"a": ""}
        assert open_snapshot(tmp_path).graph_hash in (OLD.graph_hash, NEW.graph_hash)
    write(tmp_path, "b", OLD)
    assert leftovers(tmp_path) == []


N_MEETINGS = 100 if WHOLE else 10  # reads, and writes beside those of the other process


@pytest.mark.soak
def test_writers_and_readers_at_once_see_whole_snapshots_only(tmp_path, writers):
    write(tmp_path, "a", OLD)
    writer = writers.start(tmp_path, "a")
    deadline = time.monotonic() + 120
    seen, failures = set(), []
    n_read = n_written = 0

    def is_enough() -> bool:
        """Each has met the others often; on a slow machine that takes its time."""
        both = len(seen) == 2 and n_read >= N_MEETINGS and n_written >= N_MEETINGS
        return both or bool(failures) or time.monotonic() > deadline

    def read() -> None:
        nonlocal n_read
        while not is_enough():
            with open_snapshot(tmp_path, "a") as snapshot:
                for row in range(6):
                    snapshot.graph(row, check=True)
                seen.add(tuple(snapshot.graph_hash))
            n_read += 1

    def rewrite() -> None:
        nonlocal n_written
        while not is_enough():
            write(tmp_path, "a", NEW)
            write(tmp_path, "b", OLD)
            n_written += 1

    def guarded(work) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=[w]) for w in (read, read, rewrite)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kill(writers, writer)
    assert failures == []
    assert seen == {tuple(OLD.graph_hash), tuple(NEW.graph_hash)}
    write(tmp_path, "c", OLD)
    assert check_store(tmp_path) == {"a": "", "b": "", "c": ""}
    assert leftovers(tmp_path) == []


def test_without_file_locks_nothing_of_others_is_removed(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", no_locks)
    write(tmp_path, "a", OLD)
    reader = open_snapshot(tmp_path, "a")
    write(tmp_path, "a", NEW)
    assert reader.graph(2, check=True).graph_hash() == OLD.graph_hash[2]
    assert open_snapshot(tmp_path, "a").graph_hash == NEW.graph_hash
