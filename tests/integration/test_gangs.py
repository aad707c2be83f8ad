"""ASes in parts over real workers: the same tables, faults that end in time, nothing kept."""

import contextlib
import functools
import json
import re
import time
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from pipeline.config import AnalyzeConfig
from pipeline.errors import OutOfMemoryError
from pipeline.schedule.cluster.open import open_cluster
from pipeline.schedule.gang import run as gangs
from pipeline.schedule.gang.rank import GangTask
from pipeline.schedule.gang.run import GangJob, Gangs
from pipeline.schedule.run import measure
from pipeline.schedule.transport.limits import Limits
from tests.integration import gang_runs
from tests.integration.measured import LARGE, config_for, expected, make_snapshot, measured

# Distributed leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
NOT_MEASURED = ("device", "n_tasks", "n_retries", "wall_s", "diameter_path", "n_width_searches")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def snapshot(store):
    return make_snapshot(store)


def status_of(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    return ended.value.code


def analyze(store, out, scheduler_address, *options):
    metrics = "hops,diameter,radius,center,periphery,eccentricities"
    given = ["--metrics", metrics, "--scheduler", scheduler_address, "--device", "cpu", "--full"]
    given += ["--asn", "10,20,30,40,50,60,80"]
    assert status_of("analyze", "--store", store, "--out", out, *given, *options) == 0
    return out / "small"


def table(folder, name):
    found = pq.read_table(folder / name)
    return found.drop_columns([n for n in NOT_MEASURED if n in found.column_names])


def test_tables_are_those_of_a_run_without_parts(store, snapshot, scheduler_address, tmp_path):
    whole = analyze(store, tmp_path / "whole", scheduler_address)
    parts = analyze(store, tmp_path / "parts", scheduler_address, "--partition", "2")
    for name in ("ases.parquet", "ingresses.parquet", "nodes/30.parquet", "nodes/50.parquet"):
        assert table(whole, name).equals(table(parts, name)), name
    report = json.loads((parts / "report.json").read_text())
    done = {gang["asn"]: gang for gang in report["cluster"]["gangs"]}
    assert report["cluster"]["partition"] == 2
    assert set(done) == {10, 30, 50, 60, 80}  # AS20 has the graph of AS10, AS40 no link
    assert {gang["n_ranks"] for gang in done.values()} == {2}
    assert {gang["why"] for gang in done.values()} == {"requested"}


def test_searches_of_a_larger_as_are_those_of_scipy(snapshot, scheduler_address, tmp_path):
    options = {"scheduler": scheduler_address, "device": "cpu", "partition": 2}
    found = measure(snapshot, config_for(snapshot, tmp_path, asns=(LARGE,), **options))
    assert not found.failed
    assert measured(snapshot, found) == expected(snapshot, [LARGE])
    arcs = np.array(found.cluster["gangs"][0]["n_arcs"])
    assert arcs.min() > 0.9 * arcs.max()


def test_parts_are_certified_on_request(snapshot, scheduler_address, tmp_path):
    options = {"scheduler": scheduler_address, "device": "cpu", "partition": 2, "verify": True}
    metrics = ("hops", "radius", "center", "effective_diameter")
    config = config_for(snapshot, tmp_path, asns=(10, 80), metrics=metrics, **options)
    reported = []
    found = measure(snapshot, config, reported.append)
    assert not found.failed
    ends = {each.unit: (each.done, each.total) for each in reported if each.stage == "search"}
    assert ends["widths"] == (2, 2)  # what is left after the gangs, and none of theirs
    assert measured(snapshot, found) == expected(snapshot, [10, 80])
    assert found.widths.center.tolist() == [2, 3, 0]


def test_more_ranks_than_workers_are_refused(store, snapshot, scheduler_address, tmp_path, capsys):
    given = ["--scheduler", scheduler_address, "--partition", 3, "--full"]
    assert status_of("analyze", "--store", store, "--out", tmp_path / "out", *given) == 2
    said = capsys.readouterr().err  # with or without a GPU each, by the machine
    assert re.search(r"--partition 3: 2 workers (with a GPU )?here, and each rank needs", said)
    assert "--partition 2 or less, or start 1 more worker for this scheduler" in said


def job_of(snapshot, asn, n_sources=3, device="cpu", n_ranks=2):
    row = snapshot.row_of(asn)
    task = GangTask(
        name=f"gang_AS{asn}",
        snapshot=str(snapshot.path),
        row=row,
        device=device,
        workers=(),
        gang="",
        nccl=None,
        sources=np.arange(n_sources, dtype=np.int32),
        metrics=(),
        max_searches=None,
        verify=False,
        deadline_s=0.0,
    )
    return GangJob(task, asn, n_ranks, "requested")


def await_workers(cluster, n_workers=2):
    """Wait until all are there: one may be starting again."""
    end = time.monotonic() + 180
    while len(cluster.n_threads()) < n_workers:
        assert time.monotonic() < end
        time.sleep(0.2)


def run_gang(
    cluster,
    monkeypatch,
    snapshot,
    run,
    *,
    deadline_s=10.0,
    silent_s=120.0,
    cost_s=None,
    device="cpu",
    n_ranks=2,
    **more,
):
    """The one outcome of AS30's searches, with another function for ``run_rank``."""
    await_workers(cluster, n_ranks)
    monkeypatch.setattr(gangs, "run_rank", run)
    monkeypatch.setattr(gangs, "GRACE_S", 3.0)
    limits = Limits(answer_s=3.0, poll_s=0.5, silent_s=silent_s, **more)
    runner = Gangs(cluster, deadline_s=deadline_s, limits=limits)
    begin = time.monotonic()
    job = job_of(snapshot, 30, device=device, n_ranks=n_ranks)
    (outcome,) = runner.run(replace(job, cost_s=cost_s))
    assert time.monotonic() - begin < 240  # it hangs nowhere
    (described,) = runner.report
    return outcome, described


@pytest.mark.parametrize("run", [gang_runs.run_killed, gang_runs.run_stopped])
def test_an_as_is_tried_again_without_a_rank_that_dies_or_hangs(
    own_cluster, snapshot, monkeypatch, tmp_path, run
):
    run = functools.partial(run, folder=str(tmp_path))
    outcome, described = run_gang(own_cluster, monkeypatch, snapshot, run)
    assert outcome.error is None
    assert outcome.attempts == described["attempts"] >= 2
    assert outcome.result.source.tolist() == [0, 1, 2]
    assert outcome.result.n_reached.tolist() == [300] * 3
    assert "rank" in str(outcome.failed[0].error)


def test_a_worker_that_stops_with_its_result_is_not_waited_for(
    own_cluster, snapshot, monkeypatch, tmp_path
):
    run = functools.partial(gang_runs.run_stopped_with_its_result, folder=str(tmp_path))
    outcome, _ = run_gang(own_cluster, monkeypatch, snapshot, run, silent_s=8.0)
    assert outcome.error is None
    assert outcome.attempts >= 2
    assert outcome.result.n_reached.tolist() == [300] * 3
    assert "its worker does not answer" in str(outcome.failed[0].error)


def test_a_gang_of_which_all_ranks_hang_ends_by_its_own_deadline(
    own_cluster, snapshot, monkeypatch, tmp_path
):
    run = functools.partial(gang_runs.run_hanging, folder=str(tmp_path))
    limits = {"least_s": 1.0, "first_s": 3.0}
    outcome, described = run_gang(
        own_cluster, monkeypatch, snapshot, run, cost_s=1e-3, deadline_s=60.0, **limits
    )
    assert outcome.error is None
    assert outcome.result.n_reached.tolist() == [300] * 3
    assert described["n_ranks"] == 2  # both workers were ended, and those in their place take part
    assert "no rank exchanged anything with the others for 4 s" in str(outcome.failed[0].error)


def test_a_rank_without_memory_ends_the_gang_with_the_reason(own_cluster, snapshot, monkeypatch):
    outcome, described = run_gang(
        own_cluster, monkeypatch, snapshot, gang_runs.run_without_memory, deadline_s=60.0
    )
    assert isinstance(outcome.error, OutOfMemoryError)
    assert "a sweep needs 8,000,000 bytes; 5 are free" in str(outcome.error)
    assert described["failed"] == str(outcome.error)
    assert described["seconds"] < 30  # the other rank did not wait for its deadline


def check_a_hundred_gangs(cluster, snapshot, device, n_more, n_ranks=2):
    """Threads and files of the workers after ten gangs and after ninety more, and of this one."""
    runner, held = Gangs(cluster), []
    job = job_of(snapshot, 10, n_sources=1, device=device, n_ranks=n_ranks)
    for i in range(100):
        (outcome,) = runner.run(job)
        assert outcome.error is None
        if i in (9, 99):
            held.append(cluster.client.run(gang_runs.held) | {"": gang_runs.held()})
    for worker, (threads, files, n_gangs) in held[1].items():
        before = held[0][worker]
        assert threads <= before[0] + n_more
        assert files <= before[1] + n_more
        assert n_gangs == 0


def test_a_hundred_gangs_leave_no_thread_file_or_gang(own_cluster, snapshot):
    await_workers(own_cluster)
    check_a_hundred_gangs(own_cluster, snapshot, "cpu", 8)


N_GPUS = pytest.mark.parametrize(
    "n_ranks", [pytest.param(n, marks=pytest.mark.gpu(count=n)) for n in (1, 2)]
)


@N_GPUS
def test_gpus_find_the_same_together_as_alone(snapshot, tmp_path, n_ranks):
    """NCCL connects the workers of a cluster of our own."""
    metrics = ("hops", "diameter", "radius", "center", "periphery", "eccentricities")
    found = {}
    for partition in (None, n_ranks):
        options = {"device": "gpu", "workers": n_ranks, "partition": partition, "metrics": metrics}
        config = config_for(snapshot, tmp_path / str(partition), **options)
        found[partition] = measure(snapshot, config)
        assert not found[partition].failed
    whole, parts = found[None], found[n_ranks]
    assert {gang["n_ranks"] for gang in parts.cluster["gangs"]} == {n_ranks}
    assert measured(snapshot, parts) == measured(snapshot, whole) == expected(snapshot)
    for name in ("diameter_lower", "radius_upper", "exact", "center", "periphery", "eccentricity"):
        one, other = getattr(whole.widths, name), getattr(parts.widths, name)
        np.testing.assert_array_equal(one, other, err_msg=name)


@contextlib.contextmanager
def gpu_cluster(folder, n_workers):
    given = {"workers": n_workers, "device": "gpu", "dashboard": "127.0.0.1:0"}
    with open_cluster(AnalyzeConfig(store=folder, out=folder, **given)) as cluster:
        yield cluster


@N_GPUS
def test_a_hundred_gangs_of_gpus_leave_no_thread_file_or_communicator(snapshot, tmp_path, n_ranks):
    with gpu_cluster(tmp_path, n_ranks) as cluster:
        check_a_hundred_gangs(cluster, snapshot, "gpu", 16, n_ranks)


@N_GPUS
def test_a_gpu_worker_that_was_replaced_takes_a_rank(snapshot, monkeypatch, tmp_path, n_ranks):
    run = functools.partial(gang_runs.run_hanging, folder=str(tmp_path))
    with gpu_cluster(tmp_path, n_ranks) as cluster:
        before = set(cluster.facts)
        outcome, described = run_gang(
            cluster,
            monkeypatch,
            snapshot,
            run,
            device="gpu",
            n_ranks=n_ranks,
            cost_s=1e-3,
            deadline_s=60.0,
            least_s=1.0,
            first_s=20.0,
        )
        assert outcome.error is None
        assert outcome.result.n_reached.tolist() == [300] * 3
        assert outcome.run.worker not in before
        assert described["n_ranks"] == n_ranks
