"""References over the nights of a store: kept from night to night, or made again."""

from __future__ import annotations

import dataclasses
import errno

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from pipeline.config import CompareConfig
from pipeline.errors import UsageError
from pipeline.stages.compare import compare, compare_with_night_before
from pipeline.stages.nights import references as stage
from pipeline.stages.nights.retention import keep_nights
from pipeline.stages.nights.snapshots import open_night
from pipeline.store import open_snapshot
from pipeline.store.pointers.nights import remove_old_nights
from pipeline.store.references import FOLDER, read_references
from tests.unit.pipeline.compare.by_hand import write_night
from tests.unit.pipeline.stages.test_compare import report

# A drift of 0.4 ms a night, which only adds up over several.
ADDED = (0.0, 0.0, 0.0, 0.4, 0.8, 1.2)
NAMES = [f"2026-11-{20 + i}" for i in range(len(ADDED))]


def measure(store, out, name, added, newest_s):
    """A night with its report."""
    ways = {
        f"20.7.0.{i}": [f"20.1.0.1/{i} 20.1.0.2/{i + 10 + added + i / 8} > 20.3.0.9"]
        for i in range(1, 9)
    }
    write_night(store, name, ways, newest_s=newest_s)
    report(store, out, name)


@pytest.fixture
def opened(monkeypatch):
    """Nights that are read to make references."""
    names = []
    monkeypatch.setattr(stage, "open_night", lambda s: names.append(s.name) or open_night(s))
    return names


def run(tmp_path, between=lambda name: None):
    """The last summary of nights that are each measured and compared with the one before."""
    store, out = tmp_path / "store", tmp_path / "out"
    for i, (name, added) in enumerate(zip(NAMES, ADDED, strict=True)):
        measure(store, out, name, added, 100.0 * i)
        summary = compare_with_night_before(store, out, name).summary
        between(name)
    return summary


def test_references_go_on_from_night_to_night_and_no_night_is_read_twice(tmp_path, opened):
    summary = run(tmp_path)
    assert opened == []
    assert summary.n_reference_nights == 5  # up to the older night
    assert [event["kind"] for event in summary.events] == ["links slower"]
    page = summary.page.read_text()
    assert "a baseline of 5 nights since" in page
    assert ">2026-11-20</bdi>" in page
    metadata = pq.read_schema(summary.folder / "events.parquet").metadata
    assert metadata[b"hopscope.n_reference_nights"] == b"5"


def test_references_outlive_the_nights_that_they_rest_on(tmp_path, opened):
    store = tmp_path / "store"
    summary = run(tmp_path, lambda name: keep_nights(store, tmp_path / "out", 2, name))
    assert opened == []
    assert summary.n_reference_nights == 5
    assert [event["kind"] for event in summary.events] == ["links slower"]
    kept = sorted(path.name.rpartition("-")[0] for path in (store / FOLDER).iterdir())
    assert kept == NAMES[-2:]


def test_references_that_are_missing_are_made_from_the_nights_that_are_left(tmp_path, opened):
    whole = run(tmp_path)
    store, out = tmp_path / "store", tmp_path / "out"
    last, old = NAMES[-1], NAMES[-2]
    with open_snapshot(store, old) as snapshot:
        version = snapshot.version
    before = read_references(store, version)
    for path in (store / FOLDER).iterdir():
        path.unlink()
    again = compare(CompareConfig(old, last, store, out))
    assert opened == NAMES[:-2]
    assert again.events == whole.events
    with open_snapshot(store, last) as snapshot:
        made = read_references(store, snapshot.version)
    assert made.n_nights == before.n_nights + 1
    # After two nights were removed they cover fewer.
    for path in (store / FOLDER).iterdir():
        path.unlink()
    remove_old_nights(store, 4, last)
    assert compare(CompareConfig(old, last, store, out)).n_reference_nights == 3


def test_a_night_further_back_keeps_no_references(tmp_path, opened):
    store, out = tmp_path / "store", tmp_path / "out"
    for i, name in enumerate(NAMES[:3]):
        measure(store, out, name, 0.0, 100.0 * i)
    compare(CompareConfig(NAMES[0], NAMES[2], store, out))
    assert not (store / FOLDER).exists()


def test_a_store_that_cannot_be_written_costs_nothing_but_a_warning(tmp_path, monkeypatch, caplog):
    def full(*_):
        raise UsageError("the disk is full")

    monkeypatch.setattr(stage, "keep_references", full)
    summary = run(tmp_path)
    assert "references were not kept: the disk is full" in caplog.text
    assert summary.n_reference_nights == 5


def test_a_disk_that_refuses_references_is_one_line_that_names_the_file(
    tmp_path, monkeypatch, capsys
):
    store, out = tmp_path / "store", tmp_path / "out"
    for i, name in enumerate(NAMES[:2]):
        measure(store, out, name, 0.0, 100.0 * i)

    def closed(store, *_):
        raise OSError(errno.EROFS, "Read-only file system", str(store / FOLDER))

    monkeypatch.setattr(stage, "keep_references", closed)
    with pytest.raises(SystemExit) as ended:
        main(["compare", *NAMES[:2], "--store", str(store), "--out", str(out)])
    assert not ended.value.code
    said = f"hopscope: references were not kept: {store / FOLDER}: Read-only file system"
    assert said in capsys.readouterr().err.splitlines()


def test_references_are_the_same_in_either_way(tmp_path):
    run(tmp_path)
    store, out = tmp_path / "store", tmp_path / "out"
    with open_snapshot(store, NAMES[-1]) as snapshot:
        kept = read_references(store, snapshot.version)
        for path in (store / FOLDER).iterdir():
            path.unlink()
        made = stage.references_up_to(store, out, snapshot, open_night(snapshot))
    for field in dataclasses.fields(kept):
        one, other = getattr(kept, field.name), getattr(made, field.name)
        is_column = isinstance(one, np.ndarray)
        assert np.array_equal(one, other, equal_nan=True) if is_column else one == other, field.name
