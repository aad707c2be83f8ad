"""References of nights as files of a store."""

from __future__ import annotations

import os
import time
from dataclasses import fields

import numpy as np
import pytest

from pipeline.compare import References, follow
from pipeline.errors import UsageError
from pipeline.stages.doctor import examine
from pipeline.store import bytes_of_snapshot, leftovers, open_snapshot, remove_leftovers
from pipeline.store.references import keep_references, read_references, reference_file
from tests.full_disk import files_up_to
from tests.unit.pipeline.compare.by_hand import ONE, night

LINES = {ONE: ["20.1.0.1/1 20.1.0.2/3 20.3.0.9! > 20.3.0.9"]}


@pytest.fixture
def kept(tmp_path):
    """A store with references of its one night."""
    store = tmp_path / "store"
    usual = follow(References.none(), night(store, LINES))
    with open_snapshot(store) as snapshot:
        version = snapshot.version
    keep_references(store, version, usual)
    return store, version, usual


def test_references_come_back_as_they_were(kept):
    store, version, usual = kept
    again = read_references(store, version)
    assert len(again) == len(usual) > 1
    for field in fields(References):
        one, other = getattr(usual, field.name), getattr(again, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        else:
            assert one == other
    kept = reference_file(store, version)
    with_it, size = bytes_of_snapshot(store, "night"), kept.stat().st_size
    aside = kept.rename(kept.with_name(".aside"))
    assert bytes_of_snapshot(store, "night") == with_it - size
    aside.rename(kept)
    assert leftovers(store, None) == []


@pytest.mark.parametrize("content", [b"", b"PAR1 cut short", None])
def test_files_that_cannot_be_used_count_as_missing(kept, content):
    store, version, _ = kept
    path = reference_file(store, version)
    path.write_bytes(path.read_bytes()[:-20] if content is None else content)
    assert read_references(store, version) is None
    assert read_references(store, "other-0123456789ab") is None


def test_references_of_other_rules_are_made_anew(kept, monkeypatch):
    store, version, _ = kept
    monkeypatch.setattr("pipeline.store.references._RULES", 2)
    assert read_references(store, version) is None


def test_references_of_nights_that_are_gone_are_named_and_removed(kept):
    store, version, usual = kept
    gone = reference_file(store, "gone-0123456789ab")
    unfinished, writing = (gone.with_name(f".{gone.name}-{i}") for i in "ab")
    for path in (gone, unfinished, writing):
        path.write_bytes(b"x")
    os.utime(unfinished, (time.time() - 7200,) * 2)
    assert leftovers(store, None) == [unfinished, gone]
    said = [finding.text for finding in examine(store) if finding.subject == "left-over"]
    assert any("a baseline up to a night that was removed, 1 byte;" in text for text in said)
    remove_leftovers(store, None)
    assert sorted(gone.parent.iterdir()) == sorted([writing, reference_file(store, version)])
    gone.write_bytes(b"x")
    keep_references(store, version, usual)
    assert not gone.exists()


def test_a_store_that_cannot_be_written_is_an_error(kept):
    store, version, usual = kept
    with files_up_to(100), pytest.raises(UsageError, match="File too large"):
        keep_references(store, version, usual)
