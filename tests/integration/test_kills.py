"""Runs that are killed at any moment: started again they finish, and do nothing twice."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pyarrow.parquet as pq
import pytest

from pipeline.config import AnalyzeConfig, IngestConfig
from pipeline.graphs import build_graphs
from pipeline.stages.analyze import analyze
from pipeline.stages.doctor import examine
from pipeline.stages.ingest import ingest
from pipeline.store import leftovers, write_snapshot
from pipeline.store.results import check_results
from pipeline.store.versions import held
from tests.integration.measured import random_links, topology
from tests.integration.test_stopped_commands import WAIT_S, is_gone, until
from tests.integration.test_two_workers import scheduler, worker
from tests.real_data import REPOSITORY
from tests.served import clean_environment
from tests.soak import WHOLE

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

SEED = 2026
TARGETS = ("client", "worker", "scheduler", "server", "flow", "tree")
# Few: the client and Prefect's server. Workers and schedulers die in files of their own.
MOMENTS = [(SEED + i, TARGETS[i % len(TARGETS)]) for i in (range(30) if WHOLE else (0, 3))]
OF_PREFECT = ("server", "flow")  # killed in a nightly run
SERVER = "flows.processes.local_server"  # in the command line of Prefect's server
N_INGRESSES = 150  # of each AS; one task each
OF_RUNS = ["device", "n_tasks", "n_retries", "wall_s", "n_reused", "reused_from"]
# What arrived is written at once, or a run this short would end before anything is durable.
PROGRAM = """
from pipeline.collect import known
known.KEEP_S = 0.0
from pipeline.cli import main
main()
"""
NIGHTLY = PROGRAM.replace("pipeline.cli", "flows.nightly").replace(
    "main()",
    """import sys
sys.exit(main(sys.argv[1:]))""",
)
# Each search takes a second of a clock of its own, and the run is killed in the last one.
SLOW = """
import os, signal, threading
from pipeline.collect import known
from pipeline.schedule import run
now, arrived = 0, threading.Semaphore()
add, run_task = known.Known.add, run.run_task
def slow(task):
    global now
    arrived.acquire()
    now += 1
    if now == {seconds}:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_task(task)
def added(self, kind, found):
    add(self, kind, found)
    arrived.release()
known.monotonic, known.Known.add, run.run_task = lambda: now, added, slow
from pipeline.cli import main
main()
"""
# A nightly run that is killed when all of its report is written, but not in its place.
UNREPORTED = """
import os, signal, sys
from pipeline.report import write
write.swap = lambda *places: os.kill(os.getpid(), signal.SIGKILL)
from flows.nightly import main
sys.exit(main(sys.argv[1:]))
"""
LOSS_S = 10  # of work, at most


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = tmp_path_factory.mktemp("kills") / "store"
    ases = [topology(asn, 900, random_links(900, asn), range(N_INGRESSES)) for asn in (1, 2, 3)]
    given = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, "night", build_graphs(ases), **given)
    return store


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    """An input of nightly runs: one AS."""
    links = tmp_path_factory.mktemp("links") / "links.txt"
    links.write_text("".join(f"{a}\t{b}\n" for a, b in random_links(900, 1)))
    return links


@pytest.fixture(scope="module")
def undisturbed_night(links, scheduler_address, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    given = {"asn": 7, "ingresses": 3 * N_INGRESSES, "snapshot": "night"}
    ingest(IngestConfig(inputs=(links,), store=folder / "store", **given))
    return tables(analyze(config_of(folder, scheduler_address)).out)


@pytest.fixture(scope="module")
def undisturbed(store, scheduler_address, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    shutil.copytree(store, folder / "store")
    return tables(analyze(config_of(folder, scheduler_address)).out)


def config_of(folder, scheduler=None):
    given = {"scheduler": scheduler, "pack": 1, "pages": False}
    return AnalyzeConfig(store=folder / "store", out=folder / "out", **given)


def tables(report):
    ases = pq.read_table(report / "ases.parquet")
    return ases.drop_columns(OF_RUNS), pq.read_table(report / "ingresses.parquet")


def durable(folder):
    """(graph, source) of every result on disk; every file can be read whole."""
    found = check_results(folder / "store")
    assert not any(found.values()), found
    rows = [pq.read_table(path, columns=["graph", "source"]).to_pylist() for path in found]
    return [(row["graph"], row["source"]) for part in rows for row in part]


@contextlib.contextmanager
def own_scheduler(folder, target):
    """Words for a run on a scheduler of its own, if that is to be killed; and its process."""
    if target != "scheduler":
        yield ["--device", "cpu", "--workers", 2 if target == "worker" else 1], []
        return
    with scheduler(folder) as (process, address), worker(address, folder):
        yield ["--scheduler", address], [psutil.Process(process.pid)]


def victims_of(target, process, tree, schedulers):
    """The processes to kill."""
    if target == "server":
        return [one for one in tree if not is_gone(one) and SERVER in one.cmdline()]
    # Workers are forked from a process that the run started.
    forked = [one for one in tree if not is_gone(one) and one.ppid() != process.pid]
    others = {"scheduler": schedulers, "worker": forked[-1:], "tree": [process, *tree]}
    return others.get(target, [process])


def started(program, words, folder):
    """A run in a process of its own."""
    return psutil.Popen(
        [sys.executable, "-c", program, *map(str, words)],
        cwd=REPOSITORY,
        # On a busy machine Prefect's server takes a minute to start again.
        env=clean_environment(folder / "prefect") | {"PREFECT_CLIENT_MAX_RETRIES": "8"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def killed(process, folder, target, moment, schedulers=()):
    """Kill ``target`` at a random moment after the first results of a run, wait for its end.

    Returns its exit status, and the number of processes that were killed.
    """
    results = folder / "store" / "results"
    tree = []
    try:
        is_over = lambda: process.poll() is not None  # noqa: E731
        until(lambda: any(results.glob("*/[!.]*")) or is_over(), "the first results")
        time.sleep(moment)
        tree = process.children(recursive=True) if not is_over() else []
        victims = [v for v in victims_of(target, process, tree, schedulers) if not is_gone(v)]
        assert victims or is_over(), f"no {target} to kill"
        for victim in victims:
            if victim.is_running():
                victim.send_signal(signal.SIGKILL)
        ended = process.wait(WAIT_S)
        until(lambda: all(map(is_gone, tree)), "the end of what the run had started")
    finally:
        for left in (process, *tree):
            if left.is_running():
                left.kill()
    return ended, len(victims)


def n_searched(report):
    """Searches of a run that were done, and those that were tried again."""
    tasks = pq.read_table(report / "tasks.parquet", columns=["n_sources", "status"]).to_pylist()
    done = sum(task["n_sources"] for task in tasks if task["status"] == "ok")
    return done, sum(task["n_sources"] for task in tasks) - done


def check_continued(folder, report, known, undisturbed, note):
    """A run that went on measured only what was not durable, and agrees with an undisturbed one."""
    done, tried_again = n_searched(report)
    note("n_durable_searches", len(known))
    note("n_searches_after", done)
    assert (done, tried_again) == (3 * N_INGRESSES - len(known), 0)
    for found, wanted in zip(tables(report), undisturbed, strict=True):
        assert found.equals(wanted)
    after = durable(folder)
    assert len(after) == len(set(after)) == 3 * N_INGRESSES


def moment_of(seed):
    """Seconds after the first results."""
    return random.Random(seed).uniform(0, 1.5 if WHOLE else 0.3)


def moments(of_prefect):
    """Moments of either test; the seed is part of each name."""
    chosen = [(seed, target) for seed, target in MOMENTS if (target in OF_PREFECT) is of_prefect]
    ids = [f"{target}-seed{seed}" for seed, target in chosen]
    return pytest.mark.parametrize(("seed", "target"), chosen, ids=ids)


@pytest.mark.soak
@moments(of_prefect=False)
def test_a_run_that_was_killed_goes_on_where_it_was(
    store, undisturbed, scheduler_address, tmp_path, seed, target, record_property
):
    shutil.copytree(store, tmp_path / "store")
    words = ["analyze", "--store", tmp_path / "store", "--out", tmp_path / "out", "--pack", 1]
    with own_scheduler(tmp_path, target) as (cluster, schedulers):
        process = started(PROGRAM, [*words, "--no-pages", *cluster], tmp_path)
        ended, n_killed = killed(process, tmp_path, target, moment_of(seed), schedulers)
    record_property("n_killed", n_killed)
    known = durable(tmp_path)
    assert len(known) == len(set(known)) > 0
    if target == "worker":
        assert ended == 0
        assert len(known) == 3 * N_INGRESSES
        done, tried_again = n_searched(tmp_path / "out" / "night")
        record_property("n_tried_again", tried_again)
        assert done == 3 * N_INGRESSES
    elif target == "scheduler":  # what arrived is reported, the rest has failed
        assert ended == int(len(known) < 3 * N_INGRESSES)
    else:
        assert ended in (0, -signal.SIGKILL)
    summary = analyze(config_of(tmp_path, scheduler_address))
    assert summary.reused["n_searches"] == len(known)
    check_continued(tmp_path, summary.out, known, undisturbed, record_property)


@pytest.mark.parametrize("seconds", [50])
def test_of_slow_searches_a_killed_run_loses_ten_seconds_at_most(
    store, undisturbed, scheduler_address, tmp_path, seconds, record_property
):
    shutil.copytree(store, tmp_path / "store")
    words = ["analyze", "--store", tmp_path / "store", "--out", tmp_path / "out", "--pack", 1]
    process = started(SLOW.format(seconds=seconds), [*words, "--device", "cpu"], tmp_path)
    assert process.wait(WAIT_S) == -signal.SIGKILL
    known = durable(tmp_path)
    assert seconds - LOSS_S <= len(known) < seconds
    summary = analyze(config_of(tmp_path, scheduler_address))
    assert summary.reused["n_searches"] == len(known)
    check_continued(tmp_path, summary.out, known, undisturbed, record_property)


@pytest.mark.soak
@moments(of_prefect=True)
def test_a_nightly_run_that_was_killed_goes_on_where_it_was(
    links, undisturbed_night, tmp_path, seed, target, record_property
):
    words = [links, "--asn", 7, "--ingresses", 3 * N_INGRESSES, "--snapshot", "night"]
    words += ["--store", tmp_path / "store", "--out", tmp_path / "out", "--pack", 1]
    words += ["--no-pages", "--device", "cpu", "--workers", 1]
    ended, n_killed = killed(started(NIGHTLY, words, tmp_path), tmp_path, target, moment_of(seed))
    record_property("n_killed", n_killed)
    known = durable(tmp_path)
    assert len(known) == len(set(known)) > 0
    if target == "server":  # it is started again, and this run measures everything
        assert ended == 0
        known = []
    else:
        assert ended in (0, -signal.SIGKILL)
        again = started(NIGHTLY, words, tmp_path)
        assert again.wait(WAIT_S) == 0
    report = tmp_path / "out" / "night"
    check_continued(tmp_path, report, known, undisturbed_night, record_property)


def test_leftovers_of_a_night_killed_before_its_report_are_named_and_removed(
    links, scheduler_address, tmp_path
):
    out, copy = tmp_path / "out", tmp_path / "copy"
    words = [links, "--asn", 7, "--ingresses", 3, "--snapshot", "night", "--distances"]
    words += ["--store", tmp_path / "store", "--out", out, "--no-pages", "--workers", 1]
    process = started(UNREPORTED, words, tmp_path)
    assert process.wait(WAIT_S) == -signal.SIGKILL
    kinds = [held.DISTANCES, held.MEASURED, held.WRITING]
    left = sorted(out.glob(".*-*"))
    assert [path.name[:-12] for path in left] == kinds
    until(lambda: not set(left) - set(leftovers(None, out)), "the end of what the run had started")
    shutil.copytree(out, copy)
    named = [f.text for f in examine(None, out, clean=True) if f.subject == "left-over"]
    for path in left:
        assert [line for line in named if line.startswith(f"{path}: left by a killed run")]
    assert list(out.glob(".*-*")) == []
    # Nor does the next run leave them, of whatever kind it is.
    config = replace(config_of(tmp_path, scheduler_address), out=copy)
    assert analyze(config).failed == {}
    assert list(copy.glob(".*-*")) == []
