"""Metrics of runs: a file for Prometheus, whose counters continue and which never does harm."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from pipeline.cli import main
from pipeline.config import AnalyzeConfig
from pipeline.errors import StoreError, UsageError
from pipeline.model.progress import Progress, no_progress
from pipeline.places import folder_of, objects
from pipeline.report.folder import report_turn
from pipeline.stages import run_metrics as module
from pipeline.stages.analyze import analyze, measure_stage, report_stage
from pipeline.stages.run_metrics import COUNTERS, GAUGES, NAME, run_metrics, stages_of_a_run
from tests.real_data import REPOSITORY
from tests.s3 import BUCKET
from tests.unit.pipeline.stages.small_store import make_store

COUNTS = {
    **{"ases": 10, "ases_left": 4, "searches": 30, "retries": 2, "lost_workers": 1},
    **{"resident_graphs": 3, "resident_cpu_bytes": 500, "resident_gpu_bytes": 0},
}


def families(out):
    return list(text_string_to_metric_families((out / NAME).read_text()))


def figures(out):
    """Value by name and the labels besides ``out``."""
    return {
        (each.name, *(value for key, value in sorted(each.labels.items()) if key != "out")): (
            each.value
        )
        for family in families(out)
        for each in family.samples
    }


def measured(n=10, failed=(), n_reused=0):
    return SimpleNamespace(
        rows=np.arange(n),
        failed=dict.fromkeys(failed, "no memory"),
        reused=lambda: {"n_ases": n_reused},
    )


def one_run(out, counts=COUNTS, newest_s=0.0, **given):
    with run_metrics(out, no_progress) as metrics:
        metrics(Progress("search", 1, 10, "ingresses", counts=counts))
        metrics.measured(measured(**given))
        metrics.reported(measured(**given), 1000.0, newest_s)


def ten_runs(out):
    for _ in range(10):
        one_run(out)


def wait_in_a_run(out, pipe):
    with run_metrics(out, no_progress) as metrics:
        metrics.begin()
        pipe.send("begun")
        pipe.recv()


def test_a_run_in_progress_shows_how_far_it_is(tmp_path):
    with run_metrics(tmp_path, no_progress) as metrics:
        metrics(Progress("search", 1, 10, "ingresses", counts=COUNTS))
        found = figures(tmp_path)
        assert found["hopscope_run_in_progress",] == 1
        assert found["hopscope_run_ases",] == 10
        assert found["hopscope_run_ases_left",] == 4
        assert found["hopscope_searches_total",] == 30
        assert found["hopscope_retries_total",] == 2
        assert found["hopscope_lost_workers_total",] == 1
        assert found["hopscope_resident_graphs",] == 3
        assert found["hopscope_resident_bytes", "cpu"] == 500
    assert figures(tmp_path)["hopscope_run_in_progress",] == 0
    assert figures(tmp_path)["hopscope_resident_bytes", "cpu"] == 0


def test_of_reports_at_a_url_each_machine_has_a_file_of_its_own(machine):
    """Two that wrote one object would lose what the other counted."""
    url = f"s3://{BUCKET}/reports"
    for name, n_runs in (("first", 2), ("second", 1)):
        machine(name)
        for _ in range(n_runs):
            with report_turn(folder_of(url), "a"):
                (folder_of(url) / "a").mkdir(exist_ok=True)
                one_run(folder_of(url))
    machine("first")
    assert figures(folder_of(url))["hopscope_runs_total", "complete"] == 2
    samples = [each for family in families(folder_of(url)) for each in family.samples]
    assert {each.labels["out"] for each in samples} == {url}
    assert objects.below(url) != []
    assert [found for found in objects.below(url) if NAME in found] == []


def test_progress_is_passed_on_and_written_now_and_then(tmp_path, monkeypatch):
    now, seen = [100.0], []
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with run_metrics(tmp_path, seen.append) as metrics:
        for left in (9, 8, 7):
            metrics(Progress("search", 0, 0, "", counts=COUNTS | {"ases_left": left}))
        assert figures(tmp_path)["hopscope_run_ases_left",] == 9
        now[0] += module.RENEW_S
        metrics(Progress("search", 0, 0, "", counts=COUNTS | {"ases_left": 6}))
        assert figures(tmp_path)["hopscope_run_ases_left",] == 6
    assert len(seen) == 4


def test_counters_go_on_from_run_to_run_and_gauges_begin_anew(tmp_path):
    one_run(tmp_path, n_reused=7)
    one_run(tmp_path, counts=COUNTS | {"searches": 5, "retries": 0}, failed=[3])
    found = figures(tmp_path)
    assert found["hopscope_searches_total",] == 35
    assert found["hopscope_retries_total",] == 2
    assert found["hopscope_reused_ases_total",] == 7
    assert found["hopscope_failed_ases_total",] == 1
    assert found["hopscope_run_ases_failed",] == 1
    assert found["hopscope_run_ases_reused",] == 0
    runs = [found["hopscope_runs_total", status] for status in ("complete", "partial", "failed")]
    assert runs == [1, 1, 0]


def test_runs_at_the_same_time_lose_no_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "RENEW_S", 0.0)
    with run_metrics(tmp_path, no_progress) as one, run_metrics(tmp_path, no_progress) as other:
        for n in (10, 20, 30):
            one(Progress("search", 0, 0, "", counts=COUNTS | {"searches": n}))
            other(Progress("search", 0, 0, "", counts=COUNTS | {"searches": n + 1}))
        assert figures(tmp_path)["hopscope_searches_total",] == 30 + 31
        other.reported(measured(), 1000.0, 0.0)
    found = figures(tmp_path)
    assert found["hopscope_searches_total",] == 30 + 31
    assert found["hopscope_retries_total",] == 2 * COUNTS["retries"]
    assert found["hopscope_runs_total", "complete"] == 1
    assert found["hopscope_last_success_timestamp_seconds",] > 0


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_run_is_in_progress_until_the_last_one_ends(tmp_path, is_killed):
    """Of two processes; what a killed one held is free, so it keeps nothing in progress."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    other = context.Process(target=wait_in_a_run, args=(tmp_path, there))
    with stages_of_a_run(tmp_path / "store", tmp_path):
        other.start()
        assert here.recv() == "begun"
        if is_killed:
            other.kill()
            other.join(120)
    assert figures(tmp_path)["hopscope_run_in_progress",] == int(not is_killed)
    with run_metrics(tmp_path, no_progress):
        pass
    assert figures(tmp_path)["hopscope_run_in_progress",] == int(not is_killed)
    if not is_killed:
        here.send("end")
        other.join(120)
    assert figures(tmp_path)["hopscope_run_in_progress",] == 0
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_without_locks_a_run_ends_as_if_it_were_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "hold_with_others", lambda path: None)
    one_run(tmp_path)
    assert figures(tmp_path)["hopscope_run_in_progress",] == 0


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_lock_that_cannot_be_had_keeps_no_metrics_back(tmp_path, is_folder):
    runs = tmp_path / module.IN_PROGRESS
    if is_folder:
        runs.mkdir()
    else:
        runs.symlink_to(runs)  # can be opened by nobody
    with run_metrics(tmp_path, no_progress) as metrics:
        metrics.begin()
        assert figures(tmp_path)["hopscope_run_in_progress",] == 1
    one_run(tmp_path)
    found = figures(tmp_path)
    assert found["hopscope_run_in_progress",] == 0
    assert found["hopscope_searches_total",] == COUNTS["searches"]


def test_runs_with_a_lock_of_another_user_know_of_each_other(tmp_path, monkeypatch):
    """It can be read, but neither written nor, in a folder such as /tmp, removed."""
    runs, opened, unlink = tmp_path / module.IN_PROGRESS, os.open, Path.unlink
    runs.touch()

    def refuse(path, flags, *mode):
        if path == runs and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, *mode)

    def keep(path, missing_ok=False):
        if path == runs:
            raise PermissionError(1, "Operation not permitted", str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(Path, "unlink", keep)
    with run_metrics(tmp_path, no_progress) as one:
        one.begin()
        with run_metrics(tmp_path, no_progress) as other:
            other.begin()
        assert figures(tmp_path)["hopscope_run_in_progress",] == 1
    assert figures(tmp_path)["hopscope_run_in_progress",] == 0


def test_each_of_many_processes_is_counted(tmp_path):
    context = multiprocessing.get_context("spawn")
    runs = [context.Process(target=ten_runs, args=(tmp_path,)) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(120)
    assert figures(tmp_path)["hopscope_searches_total",] == 2 * 10 * COUNTS["searches"]
    assert figures(tmp_path)["hopscope_runs_total", "complete"] == 20


def test_a_run_of_several_stages_is_in_progress_between_them(tmp_path):
    store = tmp_path / "store"
    with stages_of_a_run(store, tmp_path):
        assert figures(tmp_path)["hopscope_run_in_progress",] == 1
        began = figures(tmp_path)["hopscope_run_started_timestamp_seconds",]
        with stages_of_a_run(store, tmp_path), run_metrics(tmp_path, no_progress) as metrics:
            metrics(Progress("search", 1, 10, "ingresses", counts=COUNTS))
            metrics.measured(measured())
        found = figures(tmp_path)
        assert found["hopscope_run_in_progress",] == 1
        assert found["hopscope_run_started_timestamp_seconds",] == began
    after = figures(tmp_path)
    assert after["hopscope_run_in_progress",] == 0
    for name in ("searches_total", "run_ases", "run_started_timestamp_seconds"):
        assert after[f"hopscope_{name}",] == found[f"hopscope_{name}",], name
    with run_metrics(tmp_path, no_progress):
        pass
    assert figures(tmp_path)["hopscope_run_in_progress",] == 0


def test_only_a_complete_report_is_a_success(tmp_path):
    began = time.time()
    one_run(tmp_path)
    success = figures(tmp_path)["hopscope_last_success_timestamp_seconds",]
    assert began <= success <= time.time()
    assert figures(tmp_path)["hopscope_run_started_timestamp_seconds",] == 1000.0
    one_run(tmp_path, failed=[0])
    found = figures(tmp_path)
    assert found["hopscope_last_success_timestamp_seconds",] == success
    assert found["hopscope_last_report_timestamp_seconds",] >= success


def test_a_run_that_fails_is_counted_and_keeps_what_was_known(tmp_path):
    one_run(tmp_path)
    before = figures(tmp_path)
    with pytest.raises(RuntimeError), run_metrics(tmp_path, no_progress):
        raise RuntimeError("the cluster is gone")
    found = figures(tmp_path)
    assert found["hopscope_runs_total", "failed"] == 1
    assert found["hopscope_run_in_progress",] == 0
    for name in ("hopscope_searches_total", "hopscope_last_success_timestamp_seconds"):
        assert found[name,] == before[name,]


def test_every_figure_has_a_type_and_a_text_and_names_its_folder(tmp_path):
    out = tmp_path / 'a "folder"\nof {reports}'
    out.mkdir()
    one_run(out)
    found = families(out)
    assert len(found) == len(COUNTERS) + len(GAUGES) + 2
    for family in found:
        assert family.name.startswith("hopscope_")
        assert family.documentation
        assert family.type in ("counter", "gauge")
        assert {sample.labels["out"] for sample in family.samples} == {str(out)}


@pytest.mark.parametrize("before", [b"no metrics {\n", b"\xff\xfe", b"hopscope_runs_total{ 1\n"])
def test_a_broken_file_is_replaced(tmp_path, before):
    (tmp_path / NAME).write_bytes(before)
    one_run(tmp_path)
    assert figures(tmp_path)["hopscope_searches_total",] == 30


def test_no_folder_is_made_and_no_file_is_left_beside(tmp_path):
    one_run(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    one_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_place_that_cannot_be_written_costs_only_the_metrics(tmp_path):
    (tmp_path / f".{NAME}").mkdir()
    one_run(tmp_path)
    assert not (tmp_path / NAME).exists()


def test_a_full_disk_leaves_the_figures_of_before_and_nothing_else(tmp_path, monkeypatch):
    one_run(tmp_path)
    before = (tmp_path / NAME).read_bytes()

    def full(self, data):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.Path, "write_bytes", full)
    one_run(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {NAME: before}


def test_a_run_whose_ingest_fails_is_counted(tmp_path):
    one_run(tmp_path)
    before = figures(tmp_path)
    words = ["run", "nowhere", "--asn", "1", "--store", f"{tmp_path}.store", "--out", str(tmp_path)]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    found = figures(tmp_path)
    assert found["hopscope_runs_total", "failed"] == 1
    assert found["hopscope_run_in_progress",] == 0
    for name in ("last_report", "last_success"):
        assert (
            found[f"hopscope_{name}_timestamp_seconds",]
            == before[f"hopscope_{name}_timestamp_seconds",]
        )


def test_a_first_night_is_counted_where_stages_are_by_themselves(tmp_path):
    """As in flows: nothing has made the folder of reports when the measuring stage begins."""
    whole = AnalyzeConfig(store=make_store(tmp_path / "other"), out=tmp_path / "whole", workers=1)
    analyze(whole)
    config = AnalyzeConfig(store=make_store(tmp_path / "store"), out=tmp_path / "out", workers=1)
    measurement = measure_stage(config)
    searches = figures(config.out)["hopscope_searches_total",]
    assert searches == figures(whole.out)["hopscope_searches_total",] > 0
    report_stage(config, measurement, 1000.0)
    found = figures(config.out)
    assert found["hopscope_searches_total",] == searches
    assert found["hopscope_runs_total", "complete"] == 1
    measurement = measure_stage(config)
    assert figures(config.out)["hopscope_reused_ases_total",] == len(measurement.rows)


def test_a_run_whose_version_another_ingest_has_replaced_is_counted(tmp_path):
    store = make_store(tmp_path / "store")
    config = AnalyzeConfig(store=store, out=tmp_path / "out", workers=1)
    config.out.mkdir()
    with pytest.raises(StoreError), stages_of_a_run(store, config.out):
        analyze(replace(config, snapshot="night", version="night-0123456789ab"))
    assert figures(config.out)["hopscope_runs_total", "failed"] == 1


def test_a_run_whose_report_would_replace_a_fuller_one_is_counted(tmp_path):
    """Known once the ingest has named the snapshot; nothing is measured."""
    config = AnalyzeConfig(store=make_store(tmp_path / "store"), out=tmp_path / "out")
    analyze(replace(config, metrics=("hops", "diameter")))
    make_store(config.store)  # the next version
    refused = pytest.raises(UsageError, match="the report of another version")
    with refused, stages_of_a_run(config.store, config.out):
        analyze(replace(config, metrics=("hops",)))
    found = figures(config.out)
    runs = [found["hopscope_runs_total", status] for status in ("complete", "partial", "failed")]
    assert runs == [1, 0, 1]
    assert found["hopscope_run_in_progress",] == 0


@pytest.mark.parametrize("n_failed", [0, 1, 2])
@pytest.mark.parametrize("is_reported", [False, True])
def test_a_run_is_counted_once_however_often_its_stages_fail(tmp_path, n_failed, is_reported):
    """A stage of a flow is tried again, and what ends it may be a state, not an exception."""
    with stages_of_a_run(tmp_path / "store", tmp_path):
        for _ in range(n_failed):
            with pytest.raises(RuntimeError), run_metrics(tmp_path, no_progress):
                raise RuntimeError("the file system is away")
        if is_reported:
            one_run(tmp_path)
    found = figures(tmp_path)
    runs = [found["hopscope_runs_total", status] for status in ("complete", "partial", "failed")]
    assert runs == [int(is_reported), 0, int(not is_reported)]


def fail_late(out):
    with run_metrics(out, no_progress) as metrics:
        metrics.reported(measured(), 1000.0, 0.0)
        raise RuntimeError("the old night cannot be removed")


def test_what_fails_after_the_report_makes_no_failed_run_of_it(tmp_path):
    with pytest.raises(RuntimeError), stages_of_a_run(tmp_path / "store", tmp_path):
        fail_late(tmp_path)
    with pytest.raises(RuntimeError):
        fail_late(tmp_path)
    found = figures(tmp_path)
    runs = [found["hopscope_runs_total", status] for status in ("complete", "partial", "failed")]
    assert runs == [2, 0, 0]


def test_a_run_that_is_stopped_is_not_counted(tmp_path):
    with pytest.raises(KeyboardInterrupt), stages_of_a_run(tmp_path / "store", tmp_path):
        raise KeyboardInterrupt
    assert figures(tmp_path)["hopscope_runs_total", "failed"] == 0
    assert figures(tmp_path)["hopscope_run_in_progress",] == 0


def test_the_newest_trace_of_any_report_is_kept(tmp_path):
    name = ("hopscope_newest_record_timestamp_seconds",)
    for newest_s, kept in ((500.0, 500.0), (0.0, 500.0), (300.0, 500.0), (900.0, 900.0)):
        one_run(tmp_path, newest_s=newest_s)
        assert figures(tmp_path)[name] == kept


def test_a_signal_while_the_library_is_imported_waits_and_prints_nothing():
    """Its decorators are made by ``compile``, and print their code if that is interrupted."""
    program = """
import builtins, os, signal
from pipeline.processes.stopping import stop_on_signals
from pipeline.stages import run_metrics

real, asked = builtins.compile, []

def compile_later(source, *others, **named):
    if not asked and "_call_" in str(source):
        asked.append(os.kill(os.getpid(), signal.SIGTERM))
    return real(source, *others, **named)

builtins.compile = compile_later
with stop_on_signals():
    try:
        run_metrics._text(run_metrics._Figures(iter(())))
    except KeyboardInterrupt:
        print("stopped", len(asked))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("stopped 1\n", "")
