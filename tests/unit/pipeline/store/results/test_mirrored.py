"""Results of a store at a URL: found, added and merged by any machine."""

from __future__ import annotations

import time

import pytest

from pipeline.errors import StoreError
from pipeline.places import folder_of, objects
from pipeline.store.results import check_results
from pipeline.store.results.table import KEEP_S, MAX_SEGMENTS
from tests.s3 import BUCKET, keys
from tests.unit.pipeline.store.results.test_table import KEYS, add, listed, searches, table_of

URL = f"s3://{BUCKET}/store"


def test_what_one_machine_added_another_one_finds_and_merges(s3, machine):
    table = table_of(folder_of(URL))
    for i in range(MAX_SEGMENTS + 1):
        add(table, searches((i, 7, [1, i])))
    found = listed(table.find(KEYS))
    assert len(found) == len(keys(s3, "store/results/")) == MAX_SEGMENTS + 1
    machine("second")
    there = table_of(folder_of(URL))
    assert listed(there.find(KEYS)) == found
    there.merge(lambda: None)
    assert len(keys(s3, "store/results/")) == 1
    assert listed(there.find(KEYS)) == found
    assert set(check_results(folder_of(URL)).values()) == {""}
    machine("first")
    assert listed(table.find(KEYS)) == found
    assert len(table.segments()) == 1


def test_results_that_cannot_be_sent_are_not_kept_here_either(machine, monkeypatch):
    table = table_of(folder_of(URL))

    def fail(*_):
        raise StoreError("no way")

    with monkeypatch.context() as patch:
        patch.setattr(objects, "send", fail)
        with pytest.raises(OSError, match="no way"):
            add(table, searches((3, 7, [1, 2])))
    assert table.segments() == []
    assert listed(table.find(KEYS)) == []


def test_tables_of_other_versions_go_after_two_weeks(s3, machine, monkeypatch):
    folder = folder_of(URL)
    add(table_of(folder), searches((3, 7, [1, 2])))
    other = folder.parent / "store" / "results" / "search.hops-222222222222"
    objects.write(f"{URL}/results/{other.name}/x.parquet", b"")
    table_of(folder).forget_old()
    assert len(keys(s3, "store/results/")) == 2
    now = time.time() + KEEP_S + 60
    monkeypatch.setattr(time, "time", lambda: now)
    table_of(folder).forget_old()
    (left,) = keys(s3, "store/results/")
    assert "search.hops-111111111111/" in left
