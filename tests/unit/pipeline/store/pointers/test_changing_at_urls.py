"""Snapshots of a store at a URL renamed and restored, as other machines see it."""

from __future__ import annotations

import contextlib

import pytest

from pipeline.errors import StoreError, UsageError
from pipeline.places import folder_of, objects
from pipeline.store import check_replaced, check_store, open_snapshot, snapshot_names
from pipeline.store.pointers.changing import rename_snapshot, restore_snapshot
from tests.s3 import BUCKET, keys
from tests.unit.pipeline.store.pointers.test_changing import NEW, OLD, held
from tests.unit.pipeline.store.snapshots import write

URL = f"s3://{BUCKET}/store"


@pytest.fixture
def elsewhere(machine):
    """Become another machine, with nothing of the store; that is where the snapshots are.

    Snapshot a has replaced another version; b was ingested before that.
    """
    for name, graphs in (("a", OLD), ("b", OLD), ("a", NEW)):
        write(folder_of(URL), name, graphs)

    def become(name: str):
        machine(name)
        return folder_of(URL)

    return become


def test_a_snapshot_that_is_renamed_at_a_url_has_that_name_everywhere(elsewhere):
    rename_snapshot(elsewhere("second"), "a", "z")
    for name in ("second", "first", "third"):
        store = elsewhere(name)
        assert snapshot_names(store) == ["b", "z"]
        assert held(store, "z") == NEW.graph_hash
        with pytest.raises(StoreError, match="no snapshot 'a'; available snapshots: b, z"):
            open_snapshot(store, "a")
    assert check_store(store) == {"b": "", "z": ""}
    assert check_replaced(store)["z"][1] == ""
    restore_snapshot(store, "z")
    store = elsewhere("first")
    assert held(store, "z") == OLD.graph_hash
    with pytest.raises(UsageError, match=f"`hopscope remove b --store {URL}`"):
        rename_snapshot(store, "z", "b")


def test_what_was_replaced_at_a_url_is_restored_from_another_machine(elsewhere):
    restore_snapshot(elsewhere("second"), "a")
    for name in ("second", "first", "third"):
        store = elsewhere(name)
        assert snapshot_names(store) == ["a", "b"]
        assert held(store, "a") == OLD.graph_hash
    assert check_store(store) == {"a": "", "b": ""}
    restore_snapshot(store, "a")
    assert held(elsewhere("first"), "a") == NEW.graph_hash


def test_a_version_that_was_damaged_at_a_url_is_not_restored(s3, elsewhere):
    with open_snapshot(elsewhere("first"), "a") as now:
        (key,) = (
            key
            for key in keys(s3, "store/versions/a-")
            if key.endswith("/arcs-000.parquet") and now.version not in key
        )
    body = bytearray(s3.get_object(Bucket=BUCKET, Key=key)["Body"].read())
    body[40] ^= 1
    s3.put_object(Bucket=BUCKET, Key=key, Body=bytes(body))
    store = elsewhere("second")
    with pytest.raises(StoreError, match=r"arcs-000\.parquet has been altered"):
        restore_snapshot(store, "a")
    assert held(elsewhere("third"), "a") == NEW.graph_hash


CHANGES = {
    "restore": lambda store: restore_snapshot(store, "a"),
    "rename": lambda store: rename_snapshot(store, "a", "z"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_failure_at_any_request_loses_nothing_and_the_change_can_be_made_again(
    elsewhere, monkeypatch, change
):
    """The requests that change what is at the URL; another machine makes the change again."""
    steps = ("copy", "send", "write", "remove")
    calls: list[str] = []

    def failing_at(at: int, step: str):
        real = getattr(objects, step)

        def request(*given):
            calls.append(step)
            if len(calls) - 1 == at:
                raise StoreError(f"{URL}: cannot be reached")
            return real(*given)

        return request

    for at in range(20):
        store = elsewhere(f"at {at}")
        calls.clear()
        with monkeypatch.context() as patch, contextlib.suppress(StoreError):
            for step in steps:
                patch.setattr(objects, step, failing_at(at, step))
            CHANGES[change](store)
        has_failed = len(calls) > at
        store = elsewhere(f"after {at}")
        faults = check_store(store)
        assert set(faults.values()) == {""}
        kept = {tuple(held(store, name)) for name in faults}
        assert tuple(NEW.graph_hash if change == "rename" else OLD.graph_hash) in kept
        if change == "rename" and "a" in faults:
            CHANGES[change](store)
        if change == "rename":
            assert snapshot_names(store) == ["b", "z"]
            rename_snapshot(store, "z", "a")
        elif held(store, "a") == OLD.graph_hash:
            CHANGES[change](store)
        assert held(store, "a") == NEW.graph_hash
        assert check_replaced(store)["a"][1] == ""
        if not has_failed:
            assert set(calls) >= (
                {"copy", "send", "write", "remove"} if change == "rename" else {"write"}
            )
            return
    pytest.fail("it never ended")
