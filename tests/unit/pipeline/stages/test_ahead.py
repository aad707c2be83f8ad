"""What is made while workers search is what the report would have made."""

from __future__ import annotations

import pytest

from pipeline.config import AnalyzeConfig
from pipeline.errors import StoreError
from pipeline.report.tables.summarise import summarise
from pipeline.stages.ahead import Ahead
from pipeline.stages.analyze import analyze, measure_stage
from pipeline.store import open_snapshot
from tests.unit.pipeline.stages.small_store import make_store

TABLES = ("ases", "ingresses", "exits", "as_links")


@pytest.fixture
def config(tmp_path):
    return AnalyzeConfig(store=make_store(tmp_path / "store"), out=tmp_path / "out", pages=False)


def test_tables_are_the_same_as_of_a_report_that_makes_all_itself(config):
    measurement = measure_stage(config)
    with open_snapshot(config.store) as snapshot, Ahead(snapshot, config) as ahead:
        assert ahead.known() is None  # not begun: the report makes all itself
        ahead.begin()
        known = ahead.known()
        made, again = summarise(snapshot, measurement), summarise(snapshot, measurement, known)
        assert again.exits is known.exits
        for name in TABLES:
            assert getattr(made, name).equals(getattr(again, name))
        assert made.totals == again.totals


def test_what_is_known_of_other_ases_is_not_used(config):
    some = AnalyzeConfig(store=config.store, out=config.out, asns=(2,), pages=False)
    measurement = measure_stage(some)
    with open_snapshot(config.store) as snapshot, Ahead(snapshot, config) as ahead:
        ahead.begin()
        summary = summarise(snapshot, measurement, ahead.known())
    assert summary.ases["asn"].to_pylist() == [2]


def test_a_run_of_some_ases_makes_nothing_ahead(config):
    some = AnalyzeConfig(store=config.store, out=config.out, asns=(2,))
    with open_snapshot(config.store) as snapshot, Ahead(snapshot, some) as ahead:
        ahead.begin()
        assert ahead.known() is None


def test_a_run_with_workers_writes_what_one_in_its_process_writes(config, tmp_path, monkeypatch):
    known = []
    monkeypatch.setattr(Ahead, "begin", _noting(Ahead.begin, known))
    here = analyze(config)
    there = AnalyzeConfig(
        store=config.store, out=tmp_path / "there", pages=False, full=True, device="cpu", workers=1
    )
    with_workers = analyze(there)
    assert len(known) == 1  # a run in its own process begins nothing
    for name in TABLES:
        if name != "ases":  # it has times
            paths = [each.report.files[name].read_bytes() for each in (here, with_workers)]
            assert paths[0] == paths[1]


def _noting(begin, known):
    def noting(self):
        begin(self)
        known.append(self.known())

    return noting


def test_a_broken_snapshot_is_said_when_what_is_known_is_asked_for(config):
    with open_snapshot(config.store) as snapshot, Ahead(snapshot, config) as ahead:
        (snapshot.path / "borders.parquet").write_bytes(b"nothing")
        ahead.begin()
        with pytest.raises(StoreError, match="borders"):
            ahead.known()
