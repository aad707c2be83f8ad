"""A store whose pointers cannot be listed, or are gone: nothing is taken for a leftover."""

from __future__ import annotations

import errno
import os

import pytest

from pipeline.errors import StoreError
from pipeline.places import folder_of, objects
from pipeline.store import (
    check_store,
    leftovers,
    open_snapshot,
    remove_leftovers,
    snapshot_names,
)
from pipeline.store.references import orphaned_references
from pipeline.store.versions.mirrored import remove_unnamed_versions, unnamed_versions
from tests.s3 import BUCKET
from tests.unit.pipeline.store.snapshots import write

URL = f"s3://{BUCKET}/unlisted"
FAULTS = [errno.EACCES, errno.EIO, errno.ESTALE]


@pytest.fixture
def store(tmp_path):
    for name in ("a", "b"):
        write(tmp_path / "store", name)
    return tmp_path / "store"


@pytest.fixture
def fail(monkeypatch):
    """Let folders named ``snapshots`` fail to be listed, by any way to list them."""

    def let(number: int) -> None:
        for name in ("listdir", "scandir"):
            real = getattr(os, name)

            def failing(path=".", real=real):
                if os.path.basename(os.fspath(path)) == "snapshots":
                    raise OSError(number, os.strerror(number), os.fspath(path))
                return real(path)

            monkeypatch.setattr(os, name, failing)

    return let


def versions(store) -> list[str]:
    return sorted(path.name for path in (store / "versions").iterdir())


@pytest.mark.parametrize("number", FAULTS)
def test_what_cannot_be_listed_is_no_empty_store(store, fail, number):
    there = versions(store)
    fail(number)
    assert leftovers(store, None) == []
    assert orphaned_references(store) == []
    remove_leftovers(store, None)
    for look in (snapshot_names, check_store, open_snapshot, write):
        with pytest.raises(StoreError, match=rf"snapshots: cannot be read \({os.strerror(number)}"):
            look(store)
    assert versions(store) == there
    assert open_snapshot(store, "b").n_ases == 6


@pytest.mark.parametrize("number", FAULTS)
def test_a_fault_right_after_a_snapshot_is_published_removes_nothing(
    store, fail, monkeypatch, number
):
    real = os.replace

    def published(source, target):
        real(source, target)
        if os.path.basename(target) == "c.json":
            fail(number)

    monkeypatch.setattr(os, "replace", published)
    write(store, "c")
    monkeypatch.undo()
    assert snapshot_names(store) == ["a", "b", "c"]
    assert all(open_snapshot(store, name).n_ases == 6 for name in "abc")


def test_versions_without_their_pointers_are_kept_and_nothing_is_added(store):
    there = versions(store)
    os.rename(store / "snapshots", store / "elsewhere")
    for look in (snapshot_names, check_store, open_snapshot, write):
        with pytest.raises(StoreError, match="snapshots: is gone, though there are 2 versions"):
            look(store)
    assert leftovers(store, None) == []
    remove_leftovers(store, None)
    assert versions(store) == there
    assert not (store / "snapshots").exists()
    os.rename(store / "elsewhere", store / "snapshots")
    assert snapshot_names(store) == ["a", "b"]


def test_a_url_whose_pointers_are_gone_or_not_listed_keeps_its_versions(machine, monkeypatch, fail):
    store = folder_of(URL)
    write(store, "a")
    there = objects.entries(f"{URL}/versions")
    with monkeypatch.context():
        fail(errno.EIO)
        with pytest.raises(StoreError, match="cannot be read"):
            remove_unnamed_versions(store)
    monkeypatch.undo()
    objects.remove([f"{URL}/snapshots/a.json"])
    assert unnamed_versions(store) == []
    remove_unnamed_versions(store)
    assert objects.entries(f"{URL}/versions") == there


def test_a_snapshot_that_the_disk_did_not_confirm_is_said_to_be_there(store, monkeypatch):
    def failing(path):
        if path.name == "snapshots":
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("pipeline.store.versions.pointer.fsync_folder", failing)
    with pytest.raises(StoreError, match=r"snapshot c is there, .* did not confirm .*may be lost"):
        write(store, "c")
    monkeypatch.undo()
    assert snapshot_names(store) == ["a", "b", "c"]
    assert open_snapshot(store, "c").n_ases == 6
