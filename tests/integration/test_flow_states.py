"""How flow runs end if a cluster is lost, or some or all of the work fails.

On a Prefect server and a Dask scheduler of their own, which is killed.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
import urllib.request

import pyarrow.parquet as pq
import pytest

from flows.analyze import analyze
from flows.compare import compare_stage
from flows.ingest import ingest, ingest_stage
from flows.measure import measure, measure_stage
from flows.nightly import nightly
from flows.pages.progress import listening
from flows.processes.server import free_port
from flows.report import report, report_stage
from pipeline.config import GenerateConfig
from pipeline.graphs import build_graphs
from pipeline.stages import analyze as stage
from pipeline.stages.generate import generate_topology
from pipeline.store import open_snapshot, write_snapshot
from pipeline.store.versions.held import _HANDED_OVER, DISTANCES, MEASURED
from tests.integration.measured import random_links, topology
from tests.integration.test_two_workers import dask, wait_for, worker
from tests.unit.pipeline.stages.test_lost_records import brite

# Distributed and Prefect leave sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


class Cluster:
    """A scheduler on a port that stays the same, and a worker; killed and started again."""

    def __init__(self, cwd):
        self.port, self.cwd = free_port(), cwd
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.process = None
        self.started = contextlib.ExitStack()

    def start(self):
        if self.process is None:
            arguments = ("scheduler", "--host", "127.0.0.1", "--port", str(self.port))
            running = dask(*arguments, "--no-dashboard", cwd=self.cwd)
            self.process, log = self.started.enter_context(running)
            wait_for(log, r"Scheduler at:")
            self.started.enter_context(worker(self.address, self.cwd, "--no-nanny"))

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def kill_when(self, share):
        """Listen to progress: the scheduler is killed once a share of the searches is done."""

        def listen(progress):
            if progress.stage == "search" and progress.done >= share * progress.total:
                self.kill()

        return listening(listen)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("dask"))
    with cluster.started:
        yield cluster


@pytest.fixture
def cluster(lasting, monkeypatch):
    """The cluster, running; a run that loses it tries again at once."""
    lasting.start()
    monkeypatch.setattr(measure_stage, "retry_delay_seconds", 0)
    monkeypatch.setattr("pipeline.schedule.cluster.open.CONNECT_S", 1.0)
    return lasting


def state_names(server):
    """Names and types of all flow runs, as the server lists them."""
    request = urllib.request.Request(
        f"{server.api_url}/flow_runs/filter", b"{}", {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return {(run["state"]["name"], run["state"]["type"]) for run in json.load(answer)}


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def store(tmp_path):
    """One AS with many ingresses: a search each takes the worker a while."""
    links = random_links(3000, 1)
    write_snapshot(
        tmp_path / "store",
        "night",
        build_graphs([topology(10, 3000, links, range(500)), topology(20, 60, [], [0])]),
        as_names={},
        inputs=[],
        options={},
        counts={},
        rejects=[],
    )
    return tmp_path / "store"


def places(tmp_path):
    return {"store": str(tmp_path / "store"), "out": str(tmp_path / "out")}


def test_run_that_loses_its_cluster_is_tried_again(server, cluster, store, tmp_path, monkeypatch):
    tries = []

    def on_a_cluster_that_is_back(config, progress):
        tries.append(config.scheduler)
        monkeypatch.setattr("pipeline.schedule.cluster.open.CONNECT_S", 30.0)
        cluster.start()
        return real(config, progress)

    real = stage.measure_stage
    monkeypatch.setattr(stage, "measure_stage", on_a_cluster_that_is_back)

    def kill_once(progress):
        if len(tries) == 1 and progress.stage == "search":
            cluster.kill()

    with listening(kill_once):
        state = measure(**places(tmp_path), scheduler=cluster.address, return_state=True)
    assert state.name == "Completed", state.message
    assert len(tries) == 2
    state = report(str(state.result()), **places(tmp_path), return_state=True)
    assert state.name == "Completed", state.message
    ases = pq.read_table(tmp_path / "out" / "night" / "ases.parquet").to_pydict()
    assert ases["status"] == ["ok", "ok"]


def test_a_night_that_leaves_a_file_out_is_partial_and_one_that_measures_nothing_keeps_the_report(
    server, cluster, tmp_path
):
    brite, empty = tmp_path / "a.brite", tmp_path / "empty.warts"
    generate_topology(GenerateConfig(model="top-down", routers=200, ases=4, out=brite))
    empty.touch()
    options = places(tmp_path) | {"scheduler": cluster.address, "snapshot": "night"}
    state = nightly(inputs=[str(brite), str(empty)], **options, return_state=True)
    assert (state.name, state.type.value) == ("Partial", "COMPLETED"), state.message
    assert "something was left out" in state.message
    assert ("Partial", "COMPLETED") in state_names(server)
    final = tmp_path / "out" / "night"
    assert pq.read_table(final / "ases.parquet")["status"].to_pylist() == ["ok"] * 4
    before = files_of(final)

    with cluster.kill_when(0.0):
        state = nightly(inputs=[str(brite)], **options, options={"full": True}, return_state=True)
    assert state.is_failed()
    assert cluster.address in state.message  # of the second try, which found no scheduler
    assert "\n" not in state.message
    assert files_of(final) == before


def test_a_flow_whose_file_lost_most_of_its_records_is_partial_and_says_so_first(server, tmp_path):
    """The file is used, so that nothing else is left out."""
    path = tmp_path / "a.brite"
    path.write_text(brite(20, n_broken=11))
    options = {"inputs": [str(path)], "store": str(tmp_path / "store"), "snapshot": "night"}
    for flow, more in ((ingest, {}), (nightly, {"out": str(tmp_path / "out")})):
        state = flow(**options, **more, return_state=True)
        assert (state.name, state.type.value) == ("Partial", "COMPLETED"), state.message
        warnings = state.result().warnings
        assert warnings[0].startswith(f"{path}: 11 of 20 edges rejected (55 %)")
    path.write_text(brite(20, n_broken=10))
    state = ingest(**options, return_state=True)
    assert state.name == "Completed", state.message


def test_what_was_measured_before_the_cluster_was_lost_is_reported_as_partial(
    server, cluster, store, tmp_path
):
    with cluster.kill_when(0.01):
        asked = places(tmp_path) | {"scheduler": cluster.address, "options": {"pack": 1}}
        state = measure(**asked, return_state=True)
    assert (state.name, state.type.value) == ("Partial", "COMPLETED"), state.message
    state = report(str(state.result()), **places(tmp_path), return_state=True)
    assert (state.name, state.type.value) == ("Partial", "COMPLETED"), state.message
    ases = pq.read_table(tmp_path / "out" / "night" / "ases.parquet").to_pydict()
    assert ases["status"][0] == "partial"
    assert "scheduler is gone" in ases["reason"][0]
    assert 0 < state.result().n_searches < open_snapshot(store).n_ingresses.sum()


@pytest.mark.parametrize(
    ("number", "tries", "ends"), [(errno.ESTALE, 2, "Completed"), (errno.ENOSPC, 1, "Failed")]
)
def test_each_stage_is_tried_again_where_a_file_system_was_away(
    server, cluster, tmp_path, monkeypatch, number, tries, ends
):
    brite = tmp_path / "a.brite"
    generate_topology(GenerateConfig(model="top-down", routers=200, ases=4, out=brite))
    options = places(tmp_path) | {"scheduler": cluster.address, "snapshot": "night"}
    stages = {
        ingest_stage: "ingest.ingest",
        measure_stage: "analyze.measure_stage",
        report_stage: "analyze.report_stage",
        compare_stage: "compare.compare_with_night_before",
    }
    called = dict.fromkeys(stages.values(), 0)

    def fails_first(name, real):
        def work(*words, **more):
            called[name] += 1
            if called[name] == 1:
                raise OSError(number, os.strerror(number), "/far/store")
            return real(*words, **more)

        return work

    for task, name in stages.items():
        module, _, function = name.partition(".")
        place = importlib.import_module(f"pipeline.stages.{module}")
        monkeypatch.setattr(task, "retry_delay_seconds", 0)
        monkeypatch.setattr(place, function, fails_first(name, getattr(place, function)))
    state = nightly(inputs=[str(brite)], **options, return_state=True)
    assert state.name == ends, state.message
    assert called["ingest.ingest"] == tries
    if tries == 2:
        assert set(called.values()) == {2}
        assert (tmp_path / "out" / "night" / "index.html").exists()
    else:
        assert state.message.endswith("/far/store: No space left on device"), state.message


def test_what_was_measured_for_a_report_that_failed_is_kept_for_the_flow_that_is_told_of_it(
    server, cluster, store, tmp_path, monkeypatch
):
    def full(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/far/out")

    asked = places(tmp_path) | {"scheduler": cluster.address, "options": {"distances": True}}
    with monkeypatch.context() as patch:
        patch.setattr(stage, "report_stage", full)
        state = analyze(**asked, return_state=True)
    said, _, kept = state.message.partition("; the measurements are kept in ")
    assert said.endswith("/far/out: No space left on device")
    marks = (tmp_path / "out").glob(f".*/{_HANDED_OVER}")
    assert sorted(mark.parent.name[:-12] for mark in marks) == [DISTANCES, MEASURED]
    state = report(kept, **places(tmp_path), return_state=True)
    assert state.name == "Completed", state.message
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.name[0] == ".") == [
        ".lock"
    ]
    assert len(list((tmp_path / "out" / "night" / "distances").iterdir())) == 2


def test_a_first_night_whose_ingest_fails_is_counted(server, tmp_path):
    state = nightly(inputs=["nowhere"], **places(tmp_path), return_state=True)
    assert state.is_failed()
    counted = (tmp_path / "out" / "hopscope.prom").read_text()
    assert 'status="failed"} 1.0' in counted
    assert f'hopscope_run_in_progress{{out="{tmp_path / "out"}"}} 0.0' in counted
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["hopscope.prom"]


def test_a_run_that_analyzes_makes_no_store_of_a_mistyped_one(server, tmp_path):
    state = analyze(**places(tmp_path), return_state=True)
    assert state.is_failed()
    assert "store" in state.message
    assert list(tmp_path.iterdir()) == []
