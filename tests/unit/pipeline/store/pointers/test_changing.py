"""Snapshots removed, renamed and restored: whole at every step, whatever fails or is killed."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import orjson
import pytest

from pipeline.errors import StoreError, UsageError
from pipeline.store import check_replaced, check_store, open_snapshot, snapshot_names
from pipeline.store.doctor import leftovers, remove_leftovers
from pipeline.store.pointers import changing
from pipeline.store.pointers.changing import (
    open_replaced,
    remove_snapshots,
    rename_snapshot,
    restore_snapshot,
)
from pipeline.store.references import reference_file
from tests.unit.pipeline.store.snapshots import some_graphs, write

OLD, NEW = some_graphs(2, 20, seed=1), some_graphs(2, 20, seed=2)


@pytest.fixture
def store(tmp_path) -> Path:
    """Snapshot a, which has replaced another version; b, ingested before that."""
    write(tmp_path, "a", OLD)
    write(tmp_path, "b", OLD)
    write(tmp_path, "a", NEW)
    return tmp_path


def held(store: Path, name: str) -> list[str]:
    with open_snapshot(store, name) as snapshot:
        assert snapshot.name == name
        return snapshot.graph_hash


def versions(store: Path) -> list[str]:
    return sorted(path.name for path in (store / "versions").iterdir())


def test_what_was_replaced_is_restored_and_restored_again(store):
    before = versions(store)
    restore_snapshot(store, "a")
    assert held(store, "a") == OLD.graph_hash
    assert snapshot_names(store) == ["a", "b"]  # in its former place
    restore_snapshot(store, "a")
    assert held(store, "a") == NEW.graph_hash
    assert snapshot_names(store) == ["b", "a"]
    assert versions(store) == before
    assert check_store(store) == {"a": "", "b": ""}


def test_without_a_replacement_there_is_nothing_to_restore(store):
    with pytest.raises(StoreError, match="no version that snapshot b replaced"):
        restore_snapshot(store, "b")
    with pytest.raises(StoreError, match="no snapshot 'c'; available snapshots: a, b"):
        restore_snapshot(store, "c")


def test_a_version_that_an_earlier_hopscope_removed_is_nothing_to_restore(store):
    replaced = open_replaced(store, "a")
    replaced.close()
    shutil.rmtree(replaced.path)
    with pytest.raises(StoreError, match="nothing to restore"):
        restore_snapshot(store, "a")
    assert held(store, "a") == NEW.graph_hash
    write(store, "a", OLD)
    assert check_store(store) == {"a": "", "b": ""}


def test_a_damaged_version_is_not_restored_and_is_no_fault_of_the_store(store):
    replaced = open_replaced(store, "a")
    replaced.close()
    path = replaced.path / "arcs-000.parquet"
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"arcs-000\.parquet: has been altered"):
        restore_snapshot(store, "a")
    assert held(store, "a") == NEW.graph_hash
    assert check_store(store) == {"a": "", "b": ""}
    assert "arcs-000.parquet: has been altered" in check_replaced(store)["a"][1]


def test_cleaning_removes_what_was_replaced_and_nothing_else(store):
    with open_replaced(store, "a") as replaced:
        files = [path for path in replaced.path.iterdir() if path.name != "manifest.json"]
        assert check_replaced(store) == {"a": (sum(path.stat().st_size for path in files), "")}
    assert leftovers(store, None) == []
    remove_leftovers(store, None)
    assert check_replaced(store) == {}
    assert len(versions(store)) == 2
    assert check_store(store) == {"a": "", "b": ""}
    with pytest.raises(StoreError, match="nothing to restore"):
        restore_snapshot(store, "a")


def test_removing_a_snapshot_removes_what_it_replaced(store):
    remove_snapshots(store, ["a"])
    assert snapshot_names(store) == ["b"]
    assert len(versions(store)) == 1


def test_a_renamed_snapshot_keeps_its_graphs_its_place_and_what_it_replaced(store):
    write(store, "c", OLD)
    with open_snapshot(store, "a") as before:
        references = reference_file(store, before.version)
        references.parent.mkdir()
        references.write_bytes(b"usual")
    rename_snapshot(store, "a", "z")
    assert snapshot_names(store) == ["b", "z", "c"]
    assert held(store, "z") == NEW.graph_hash
    assert check_store(store) == {"b": "", "c": "", "z": ""}
    with open_snapshot(store, "z") as after:
        assert reference_file(store, after.version).read_bytes() == b"usual"
    restore_snapshot(store, "z")
    assert held(store, "z") == OLD.graph_hash
    assert len(versions(store)) == 4
    assert leftovers(store, None) == [references]


def test_files_are_copied_where_there_are_no_links(store, monkeypatch):
    def no_links(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    rename_snapshot(store, "a", "z")
    assert check_store(store) == {"b": "", "z": ""}


@pytest.mark.parametrize("name", ["../z", "", ".z"])
def test_a_new_name_that_could_be_a_path_is_refused(store, name):
    with pytest.raises(UsageError, match="snapshot name"):
        rename_snapshot(store, "a", name)


def test_a_taken_name_is_refused(store):
    with pytest.raises(UsageError, match="has a snapshot b already"):
        rename_snapshot(store, "a", "b")
    with pytest.raises(UsageError, match="has that name already"):
        rename_snapshot(store, "a", "a")
    assert held(store, "b") == OLD.graph_hash


def test_a_name_that_is_taken_by_a_snapshot_of_equal_content_is_refused(store):
    write(store, "c", NEW)
    with pytest.raises(UsageError, match="has a snapshot c already"):
        rename_snapshot(store, "a", "c")
    restore_snapshot(store, "a")
    assert held(store, "a") == OLD.graph_hash
    assert held(store, "c") == NEW.graph_hash


def renamed_by_halves(store: Path, monkeypatch) -> None:
    """Rename a to z, and be killed before the old name goes."""
    with monkeypatch.context() as patch:
        patch.setattr(changing, "remove_snapshots", lambda *_, **__: None)
        rename_snapshot(store, "a", "z")
    assert snapshot_names(store) == ["b", "a", "z"]


@pytest.mark.parametrize(
    "change",
    [
        lambda store: write(store, "a", NEW),
        lambda store: write(store, "z", NEW),
        lambda store: restore_snapshot(store, "z"),
        lambda store: [write(store, "a", OLD), restore_snapshot(store, "a")],
    ],
)
def test_a_renaming_that_was_killed_ends_only_while_both_names_are_as_it_left_them(
    store, monkeypatch, change
):
    renamed_by_halves(store, monkeypatch)
    change(store)
    before = versions(store)
    with pytest.raises(UsageError, match="has a snapshot z already"):
        rename_snapshot(store, "a", "z")
    assert versions(store) == before


def test_a_renaming_that_was_killed_ends_after_cleaning_too(store, monkeypatch):
    renamed_by_halves(store, monkeypatch)
    remove_leftovers(store, None)
    rename_snapshot(store, "a", "z")
    assert snapshot_names(store) == ["b", "z"]
    assert len(versions(store)) == 2


def test_what_is_ingested_by_the_old_name_during_a_renaming_stays(store, monkeypatch):
    real = changing.remove_snapshots

    def ingested_before(*args, **kwargs):
        write(store, "a", OLD)
        return real(*args, **kwargs)

    monkeypatch.setattr(changing, "remove_snapshots", ingested_before)
    rename_snapshot(store, "a", "z")
    assert held(store, "a") == OLD.graph_hash
    assert held(store, "z") == NEW.graph_hash


@pytest.mark.parametrize(
    "content",
    [
        {"replaced": "b-0123456789ab"},
        {"replaced": "../a-0123456789ab"},
        {"replaced": 5},
        {"replaced": "a-0123456789ab", "replaced_ns": -1},
        {"replaced_ns": None},
    ],
)
def test_a_pointer_that_could_lead_elsewhere_is_broken(store, content):
    path = store / "snapshots" / "a.json"
    path.write_bytes(orjson.dumps(orjson.loads(path.read_bytes()) | content))
    with pytest.raises(StoreError, match=r"a\.json"):
        snapshot_names(store)


STEPS = ["os.fsync", "os.rename", "os.replace", "os.link", "pathlib.Path.write_bytes"]
CHANGES = {
    "restore": lambda store: restore_snapshot(store, "a"),
    "rename": lambda store: rename_snapshot(store, "a", "z"),
    "remove": lambda store: remove_snapshots(store, ["a"]),
    "clean": lambda store: remove_leftovers(store, None),
}


def fails_at(at: int, real, calls: list):
    """A function of the system that fails at one of its calls."""

    def failing(*args, **kwargs):
        calls.append(args)
        if len(calls) - 1 == at:
            raise OSError(28, "No space left on device")
        return real(*args, **kwargs)

    return failing


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("step", STEPS)
def test_a_failure_at_any_step_loses_nothing_and_the_change_can_be_made_again(
    tmp_path, monkeypatch, change, step
):
    module, _, function = step.rpartition(".")
    owner = os if module == "os" else Path
    for at in range(100):
        store = tmp_path / str(at)
        write(store, "a", OLD)
        write(store, "a", NEW)
        calls: list = []
        with monkeypatch.context() as patch, contextlib.suppress(OSError, StoreError):
            patch.setattr(owner, function, fails_at(at, getattr(owner, function), calls))
            CHANGES[change](store)
        faults = check_store(store)
        assert set(faults.values()) <= {""}
        kept = {graph for name in faults for graph in held(store, name)}
        if change == "rename":
            assert kept == set(NEW.graph_hash)
            if "a" in faults:
                CHANGES[change](store)
            assert snapshot_names(store) == ["z"]
            restore_snapshot(store, "z")
            assert held(store, "z") == OLD.graph_hash
        elif change == "restore":
            if kept == set(NEW.graph_hash):
                CHANGES[change](store)
            assert held(store, "a") == OLD.graph_hash
        else:
            CHANGES[change](store)
            assert len(versions(store)) == (0 if change == "remove" else 1)
        remove_leftovers(store, None)
        assert len(versions(store)) == len(snapshot_names(store))
        if len(calls) <= at:
            return
    pytest.fail("it never ended")
