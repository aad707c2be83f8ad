"""A run that measures nothing says so, ends with 2 and leaves the report that is there."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from pipeline.cli import main
from pipeline.collect import Collector
from pipeline.errors import UsageError
from pipeline.store.versions.held import DISTANCES, hold_folder
from tests.unit.pipeline.store.snapshots import write

LOST = "search_AS{}: the scheduler is gone"


def some_of(snapshot, rows_done):
    """What comes of a run in which some ASes were searched and all others failed."""
    rows = np.arange(len(snapshot.asn))
    ingresses = snapshot.ingresses()
    node, row = ingresses.node[~ingresses.candidate], ingresses.row[~ingresses.candidate]
    ptr = np.append(np.searchsorted(row, rows), len(row))
    found = Collector(snapshot.asn).finish(rows, rows, ptr, node)
    done = np.flatnonzero(np.isin(row, rows_done))
    one = np.ones(len(done), np.int64)
    searched = replace(
        found.results,
        row=row[done],
        source=node[done],
        n_reached=one,
        eccentricity=one.astype(np.int32) * 0,
        hop_ptr=np.arange(len(done) + 1),
        hop_counts=one,
        farthest_ptr=np.arange(len(done) + 1),
        farthest=node[done],
    )
    failed = {r: LOST.format(snapshot.asn[r]) for r in rows.tolist() if r not in rows_done}
    if not rows_done:
        failed[0] = "something else"
    return replace(found, results=searched, failed=failed)


def run(monkeypatch, tmp_path, rows_done):
    def measure(snapshot, config, progress, known, meanwhile):
        return some_of(snapshot, rows_done)

    monkeypatch.setattr(import_module("pipeline.stages.analyze"), "measure", measure)
    with pytest.raises(SystemExit) as ended:
        main(["analyze", "--store", str(tmp_path / "store"), "--out", str(tmp_path / "out")])
    return ended.value.code


def test_a_night_without_a_report_is_on_the_page_of_all_nights(tmp_path, monkeypatch):
    page = tmp_path / "out" / "index.html"
    write(tmp_path / "store", "2026-11-20")
    assert run(monkeypatch, tmp_path, []) == 2
    assert not page.exists()  # nothing was ever reported here
    assert run(monkeypatch, tmp_path, [0, 1]) == 1
    assert '<i class="tag">partial</i>' in page.read_text()
    write(tmp_path / "store", "2026-11-21")
    assert run(monkeypatch, tmp_path, []) == 2
    assert '2026-11-21<td class="l" data-label="status"><i class="tag">no report</i>' in (
        page.read_text()
    )


def test_total_failure_is_2_and_keeps_the_report_a_part_of_it_is_1(tmp_path, monkeypatch, capsys):
    write(tmp_path / "store")
    assert run(monkeypatch, tmp_path, [0, 1]) == 1
    assert "the scheduler is gone" in capsys.readouterr().err
    files = [path for path in (tmp_path / "out" / "night").rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    write(tmp_path / "store")

    assert run(monkeypatch, tmp_path, []) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert (
        "nothing was measured: 6 of 6 ASes failed; 5 ASes (AS20 and others): the scheduler is gone"
        in lines[0]
    )
    assert "the scheduler is gone" in lines[0]
    assert {path: path.read_bytes() for path in before} == before


def test_a_report_that_cannot_be_written_leaves_no_matrices(tmp_path, monkeypatch, capsys):
    write(tmp_path / "store")
    stage = import_module("pipeline.stages.analyze")

    def measure(snapshot, config, progress, known, meanwhile):
        made = hold_folder(config.out, DISTANCES)
        (made / "1.parquet").touch()
        return replace(some_of(snapshot, [0, 1]), distances_dir=str(made))

    def full(*_args, **_options):
        raise UsageError("No space left on device")

    monkeypatch.setattr(stage, "measure", measure)
    monkeypatch.setattr(stage, "write_reports", full)
    with pytest.raises(SystemExit) as ended:
        main(["analyze", "--store", str(tmp_path / "store"), "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert "No space left" in capsys.readouterr().err
    assert list((tmp_path / "out").glob(f"{DISTANCES}*")) == []
