"""Runs that are killed at any moment: started again they finish, and do nothing twice."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pyarrow.parquet as pq
import pytest

from pipeline.config import AnalyzeConfig
from pipeline.graphs import build_graphs
from pipeline.stages.analyze import analyze
from pipeline.store import write_snapshot
from pipeline.store.results import check_results
from tests.integration.measured import random_links, topology
from tests.integration.test_stopped_commands import WAIT_S, is_gone, until
from tests.real_data import REPOSITORY
from tests.soak import WHOLE

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

SEED = 2026
TARGETS = ("client", "worker", "tree")
MOMENTS = [(i, TARGETS[i % 3]) for i in range(30 if WHOLE else 2)]
N_INGRESSES = 150  # of each AS; one task each
OF_RUNS = ["device", "n_tasks", "n_retries", "wall_s", "n_reused", "reused_from"]
# What arrived is written at once, or a run this short would end before anything is durable.
PROGRAM = """
from pipeline.collect import known
known.KEEP_S = 0.0
from pipeline.cli import main
main()
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = tmp_path_factory.mktemp("kills") / "store"
    ases = [topology(asn, 900, random_links(900, asn), range(N_INGRESSES)) for asn in (1, 2, 3)]
    given = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, "night", build_graphs(ases), **given)
    return store


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


def killed(folder, target, moment):
    """Start a run, kill ``target`` at a random moment after its first results, wait for the end."""
    words = ["analyze", "--store", folder / "store", "--out", folder / "out", "--pack", 1]
    words += ["--no-pages", "--device", "cpu", "--workers", 2 if target == "worker" else 1]
    process = psutil.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    results = folder / "store" / "results"
    try:
        is_over = lambda: process.poll() is not None  # noqa: E731
        until(lambda: any(results.glob("*/[!.]*")) or is_over(), "the first results")
        time.sleep(moment)
        tree = process.children(recursive=True) if not is_over() else []
        victims = {"client": [process], "tree": [process, *tree], "worker": tree[-1:]}[target]
        for victim in victims:
            if victim.is_running():
                victim.send_signal(signal.SIGKILL)
        ended = process.wait(WAIT_S)
        until(lambda: all(map(is_gone, tree)), "the end of what the run had started")
    finally:
        for left in (process, *tree):
            if left.is_running():
                left.kill()
    return ended


@pytest.mark.soak
@pytest.mark.parametrize(("i", "target"), MOMENTS, ids=[f"{t}-{i}" for i, t in MOMENTS])
def test_a_run_that_was_killed_goes_on_where_it_was(
    store, undisturbed, scheduler_address, tmp_path, i, target
):
    moment = random.Random(SEED + i).uniform(0, 1.5 if WHOLE else 0.3)
    shutil.copytree(store, tmp_path / "store")
    ended = killed(tmp_path, target, moment)
    assert ended == 0 if target == "worker" else ended in (0, -signal.SIGKILL)
    known = durable(tmp_path)
    assert len(known) == len(set(known)) > 0
    if target == "worker":
        assert len(known) == 3 * N_INGRESSES
    summary = analyze(config_of(tmp_path, scheduler_address))
    assert summary.reused["n_searches"] == len(known)
    tasks = pq.read_table(summary.out / "tasks.parquet")
    assert sum(tasks["n_sources"].to_pylist()) == 3 * N_INGRESSES - len(known)
    for found, wanted in zip(tables(summary.out), undisturbed, strict=True):
        assert found.equals(wanted)
    after = durable(tmp_path)
    assert len(after) == len(set(after)) == 3 * N_INGRESSES
