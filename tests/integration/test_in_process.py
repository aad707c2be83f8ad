"""Short runs without a cluster: the same answers, failures and ends as with one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from pipeline.errors import RetryableError
from pipeline.model.search.results import THIS_PROCESS
from pipeline.model.search.tasks import SearchTask
from pipeline.schedule import run as measuring
from pipeline.schedule.run import measure
from pipeline.stages.analyze import analyze
from pipeline.store.alone import crashed_alone
from tests.integration.crashing_runs import CRASHING
from tests.integration.measured import config_for, expected, make_snapshot, measured
from tests.real_data import REPOSITORY

METRICS = ("hops", "eccentricities", "effective_diameter")
# Columns of ases.parquet that say how a run went, not what it found.
HOW = ["device", "n_tasks", "n_retries", "wall_s"]
RETRIED, POISONED = 2, 7  # rows
WHERE = "in this process, no cluster started"


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("in_process") / "store")


def tables(out):
    """Everything measured, as CONTRACT.md has it."""
    ases = pq.read_table(out / "ases.parquet").drop_columns(HOW)
    return ases, pq.read_table(out / "ingresses.parquet")


@pytest.mark.parametrize(
    "options", [{}, {"schedule": "barrier", "pack": 1}, {"verify": True, "metrics": METRICS}]
)
def test_tables_are_those_of_a_cluster(snapshot, scheduler_address, tmp_path, options):
    config = replace(
        config_for(snapshot, tmp_path, **options), store=snapshot.path.parents[1], full=True
    )
    there = analyze(replace(config, out=tmp_path / "there", scheduler=scheduler_address))
    found = analyze(replace(config, out=tmp_path / "here"))
    for ours, theirs in zip(tables(found.out), tables(there.out), strict=True):
        assert (
            ours.drop_columns("diameter_path").equals(theirs.drop_columns("diameter_path"))
            if ("diameter_path" in ours.column_names)
            else ours.equals(theirs)
        )
    reported = json.loads((found.out / "report.json").read_text())["cluster"]
    of_cluster = json.loads((there.out / "report.json").read_text())["cluster"]
    assert reported.keys() == of_cluster.keys()
    assert (reported["scheduler"], reported["n_workers"]) == (WHERE, 0)
    tasks = pq.read_table(found.out / "tasks.parquet").to_pydict()
    assert set(tasks["worker"]) == {THIS_PROCESS}
    assert set(tasks["status"]) == {"ok"}


def test_progress_says_where_and_counts_as_on_a_cluster(snapshot, tmp_path):
    reported = []
    measurement = measure(snapshot, config_for(snapshot, tmp_path, pack=1), reported.append)
    assert measured(snapshot, measurement) == expected(snapshot)
    assert {progress.stage for progress in reported} == {"search"}
    assert reported[0].detail == WHERE
    assert reported[-1].detail.endswith(f" tasks {WHERE}")
    assert reported[-1].done == reported[-1].total == measurement.cluster["n_searches"]
    counts = reported[-1].counts
    assert (counts["ases_left"], counts["tasks_left"], counts["lost_workers"]) == (0, 0, 0)
    assert counts["resident_graphs"] > 0


def test_distances_are_joined(snapshot, tmp_path):
    measurement = measure(snapshot, config_for(snapshot, tmp_path, distances=True, pack=40))
    assert measurement.failed == {}
    assert len(list(Path(measurement.distances_dir).glob("*.parquet"))) == 7


def test_exact_searches_run_too(snapshot, tmp_path):
    options = {"metrics": ("eccentricities",), "pack": 1, "asns": (30, 80)}
    measurement = measure(snapshot, config_for(snapshot, tmp_path, **options))
    assert measurement.failed == {}
    assert measurement.widths.exact.all()


def test_an_as_that_fails_costs_its_own_row(snapshot, tmp_path, monkeypatch):
    calls = []

    def run_task(task):
        if isinstance(task, SearchTask) and RETRIED in task.rows:
            calls.append(task)
            if len(calls) < 3:
                raise RetryableError("not now")
        if POISONED in task.rows:
            raise ValueError("poisoned")
        return run(task)

    run = measuring.run_task
    monkeypatch.setattr(measuring, "run_task", run_task)
    measurement = measure(snapshot, config_for(snapshot, tmp_path, pack=1000))
    assert list(measurement.failed) == [POISONED]
    assert "poisoned" in measurement.failed[POISONED]
    assert measurement.n_retries[RETRIED] == 2
    poisoned = snapshot.asn[POISONED]
    good = [line for line in expected(snapshot) if line[0] != poisoned]
    assert [line for line in measured(snapshot, measurement) if line[0] != poisoned] == good


ANALYZED = """
import contextlib, json, sys
import psutil
import pipeline.cli

with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
    pipeline.cli.main(sys.argv[1:])
print(json.dumps([sorted(sys.modules), len(psutil.Process().children())]))
"""


def test_no_process_is_started_and_dask_is_not_imported(snapshot, tmp_path):
    words = ("analyze", "--store", snapshot.path.parents[1], "--out", tmp_path, "--full")
    words += ("--pack", "1")  # graphs that are kept
    done = subprocess.run(
        [sys.executable, "-c", ANALYZED, *map(str, words)],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert (tmp_path / "small" / "index.html").exists(), done.stderr
    modules, n_children = json.loads(done.stdout)
    assert n_children == 0
    assert {"dask", "distributed", "tornado", "bokeh", "cryptography"}.isdisjoint(modules)


SLOW = """
import sys, time
import pipeline.cli
from pipeline.schedule import run

def slow(task):
    print("began", flush=True)
    time.sleep(600)

run.run_task = slow
pipeline.cli.main(sys.argv[1:])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once(snapshot, tmp_path, number):
    words = ("analyze", "--store", snapshot.path.parents[1], "--out", tmp_path, "--full")
    process = psutil.Popen(
        [sys.executable, "-c", SLOW, *map(str, words), "--distances"],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    watch = threading.Timer(400, process.kill)
    watch.start()
    try:
        assert process.stdout.readline() == "began\n"
        process.send_signal(number)
        _, complained = process.communicate(timeout=300)
    finally:
        watch.cancel()
    assert process.returncode == 128 + number
    assert complained.strip().endswith("stopped")
    assert "Traceback" not in complained
    assert list(tmp_path.glob(".*distances*")) == []


CRASHES = """
import sys
import pipeline.cli
from pipeline.schedule import run
from tests.integration.crashing_runs import run_crashing

run.run_task = run_crashing
pipeline.cli.main(sys.argv[1:])
"""


def test_what_crashes_the_process_is_given_to_workers_next_time(snapshot, tmp_path):
    store = snapshot.path.parents[1]
    shutil.rmtree(
        store / "results", ignore_errors=True
    )  # a report would have what fails from there

    def run(*before):
        words = [*before, "analyze", "--store", store, "--out", tmp_path, "--full", "--pack", "1"]
        return subprocess.run(
            [sys.executable, *map(str, words)],
            cwd=REPOSITORY,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    crashed = run("-c", CRASHES)
    assert crashed.returncode == -signal.SIGSEGV
    assert not (tmp_path / "small").exists()
    assert len(crashed_alone(store)) == 1
    again = run("-c", CRASHES)
    assert again.returncode == 1, again.stderr
    assert "died" in again.stderr
    ases = pq.read_table(tmp_path / "small" / "ases.parquet").to_pydict()
    failed = [n for n, status in zip(ases["asn"], ases["status"], strict=True) if status != "ok"]
    assert failed == [snapshot.asn[CRASHING]]
    assert len(crashed_alone(store)) == 1  # it would crash a process again
    whole = run("-m", "pipeline.cli")
    assert whole.returncode == 0, whole.stderr
    assert crashed_alone(store) == []
