"""Two versions of a snapshot that are measured at the same time: the report of the later stays."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pipeline.config import AnalyzeConfig, CompareConfig
from pipeline.errors import UsageError
from pipeline.places import folder_of, objects
from pipeline.report import folder
from pipeline.stages.analyze import analyze
from pipeline.stages.compare import compare
from pipeline.store import open_snapshot
from tests.s3 import BUCKET
from tests.unit.pipeline.store.snapshots import some_graphs, write

SAID = "a later ingest has replaced it"
MOMENTS = {  # of a run; the last of searches and of the tables
    "searched": lambda progress: progress.stage == "search" and progress.done == progress.total,
    "written": lambda progress: progress.stage == "report" and progress.done,
}


def ingest(store, seed):
    return write(store, "night", some_graphs(n_ases=2, seed=seed)).name


def reported(out):
    return json.loads((out / "night" / "report.json").read_bytes())["snapshot_version"]


def published(url):
    version = json.loads(objects.read(f"{url}/night/current.json"))["version"]
    return json.loads(objects.read(f"{url}/{version}/report.json"))["snapshot_version"]


def no_locks(descriptor, operation):
    raise OSError(errno.ENOLCK, "No locks available")


def analyze_while(config, moment, other):
    """Analyze, and once, in the middle of it, do something else."""
    done = []

    def at(progress):
        if not done and MOMENTS[moment](progress):
            done.append(True)
            done.append(other())

    try:
        analyze(config, at)
    finally:
        assert len(done) == 2, "the other run did not end"


@pytest.fixture
def config(tmp_path) -> AnalyzeConfig:
    return AnalyzeConfig(store=tmp_path / "store", out=tmp_path / "out")


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_that_ends_last_does_not_replace_the_report_of_a_later_version(
    config, moment, monkeypatch
):
    if moment == "written":  # as in a file system without locks: turns are not waited for
        monkeypatch.setattr(folder, "fcntl", SimpleNamespace(LOCK_EX=0, flock=no_locks))
    first = ingest(config.store, 1)
    later = []

    def other():
        later.append(ingest(config.store, 2))
        analyze(config)

    with pytest.raises(UsageError, match=SAID):
        analyze_while(replace(config, version=first), moment, other)
    assert reported(config.out) == later[0] != first
    assert [path.name for path in config.out.glob(".*") if path.is_dir()] == []


def test_a_version_that_has_been_replaced_is_reported_where_the_later_one_is_not(config):
    first = ingest(config.store, 1)
    analyze_while(replace(config, version=first), "searched", lambda: ingest(config.store, 2))
    assert reported(config.out) == first
    analyze(config)
    with open_snapshot(config.store, "night") as snapshot:
        assert reported(config.out) == snapshot.version != first


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_later_version_that_another_machine_published_stays(machine, moment):
    """Machines take no turns at a URL; what is published counts, not what the mirror has."""
    store, out = f"s3://{BUCKET}/store", f"s3://{BUCKET}/out"
    place = {"store": folder_of(store), "out": folder_of(out)}
    first = ingest(place["store"], 1)
    later = []

    def other():
        machine("another")
        there = AnalyzeConfig(store=folder_of(store), out=folder_of(out))
        later.append(ingest(there.store, 2))
        analyze(there)
        machine("first")

    with pytest.raises(UsageError, match=SAID):
        analyze_while(AnalyzeConfig(**place, version=first), moment, other)
    assert published(out) == later[0] != first


def test_nothing_is_published_over_what_another_machine_published_last(machine, monkeypatch):
    """Between the check of a whole report and its pointer are all of its uploads."""
    store, out = f"s3://{BUCKET}/store", f"s3://{BUCKET}/out"
    first = ingest(folder_of(store), 1)
    config = AnalyzeConfig(store=folder_of(store), out=folder_of(out), version=first)
    later, send = [], objects.send

    def send_after_another(paths):
        if not later and any("/night@" in url for url in paths):
            later.append("")
            machine("another")
            there = AnalyzeConfig(store=folder_of(store), out=folder_of(out))
            later.append(ingest(there.store, 2))
            analyze(there)
            machine("first")
        send(paths)

    monkeypatch.setattr(objects, "send", send_after_another)
    with pytest.raises(UsageError, match=SAID):
        analyze(config)
    assert published(out) == later[1] != first


def test_the_comparison_of_an_earlier_version_is_left_out(config):
    write(config.store, "old", some_graphs(n_ases=2, seed=3))
    ingest(config.store, 1)
    analyze(config)
    compared = compare(CompareConfig("old", "night", config.store, config.out))
    assert analyze(config).warnings == []
    assert compared.page.exists()
    ingest(config.store, 2)
    line = analyze(config).warnings[-1]
    assert line.startswith("the comparison with old is not of this version of night and was left")
    assert not compared.page.exists()
    compare(CompareConfig("old", "night", config.store, config.out))
    write(config.store, "old", some_graphs(n_ases=2, seed=3))
    line = analyze(replace(config, snapshot="night")).warnings[-1]
    assert line.startswith("the comparison with old is of an earlier version of old and was left")
