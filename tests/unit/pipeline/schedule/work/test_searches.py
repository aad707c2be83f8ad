"""run_search without a cluster: what a worker computes, and how it fails."""

import errno
import os
from dataclasses import replace

import numpy as np
import pytest

from kernels.errors import DeviceError, DeviceMemoryError
from pipeline.errors import OutOfMemoryError, PipelineError, RetryableError
from pipeline.model.search.tasks import SearchTask
from pipeline.schedule.transport.remote.attempt import attempt, pack
from pipeline.schedule.work import searches as tasks
from pipeline.schedule.work.searches import run_search
from tests.integration.measured import expected, make_snapshot


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("store"))


@pytest.fixture
def shard(snapshot):
    return SearchTask(
        kind="shard",
        snapshot=str(snapshot.path),
        rows=np.array([0, 2, 3]),
        source_ptr=np.array([0, 2, 4, 5]),
        sources=np.array([0, 2, 10, 80, 0], np.int32),
        device="cpu",
        name="shard_AS10_AS40",
    )


def one(snapshot, kind, row, sources):
    return SearchTask(
        kind=kind,
        snapshot=str(snapshot.path),
        rows=np.array([row]),
        source_ptr=np.array([0, len(sources)]),
        sources=np.array(sources, np.int32),
        device="cpu",
        name="bfs_AS",
    )


def rows_of(snapshot, results):
    return [
        (
            int(snapshot.asn[results.row[i]]),
            int(results.source[i]),
            int(results.n_reached[i]),
            int(results.eccentricity[i]),
            results.hop_counts[results.hop_ptr[i] : results.hop_ptr[i + 1]].tolist(),
            results.farthest[results.farthest_ptr[i] : results.farthest_ptr[i + 1]].tolist(),
        )
        for i in range(len(results.source))
    ]


@pytest.mark.parametrize("verify", [False, True])
def test_searches_packs_and_shards_agree_with_scipy(snapshot, shard, verify):
    wanted = expected(snapshot)
    found = rows_of(snapshot, run_search(replace(shard, verify=verify)))
    assert found == [
        line for line in wanted if line[:2] in {(10, 0), (10, 2), (30, 10), (30, 80), (40, 0)}
    ]
    for kind, sources in (("search", [2]), ("pack", [0, 1, 2, 149])):
        task = replace(one(snapshot, kind, 6, sources), verify=verify)
        lines = [line for line in wanted if line[0] == 70 and line[1] in sources]
        assert rows_of(snapshot, run_search(task)) == lines


def test_a_long_path_stays_small(snapshot, monkeypatch):
    from tests.shapes import path

    monkeypatch.setattr(tasks, "resident_graph", lambda *args: path(5000))
    results = run_search(one(snapshot, "pack", 0, list(range(100))))
    assert results.eccentricity[0] == 4999
    assert len(results.hop_counts) == results.hop_ptr[-1] < 100 * 5001


def test_a_task_is_tried_on_another_worker_if_something_is_missing(snapshot, shard, monkeypatch):
    def fail(*args):
        raise DeviceError("no GPU here")

    monkeypatch.setattr(tasks, "msbfs_shard", fail)
    with pytest.raises(RetryableError, match="shard_AS10_AS40: no GPU here"):
        run_search(shard)
    with pytest.raises(RetryableError, match="cannot see it"):
        run_search(replace(shard, snapshot="/nowhere/at/all"))


def test_verify_refuses_a_wrong_result(snapshot, shard, monkeypatch):
    right = tasks.msbfs_shard

    def wrong(*args):
        found = right(*args)
        found.hop_counts[1] += 1
        return found

    monkeypatch.setattr(tasks, "msbfs_shard", wrong)
    run_search(shard)
    with pytest.raises(PipelineError, match="wrong result on cpu: source 0: results and cert"):
        run_search(replace(shard, verify=True))


@pytest.mark.parametrize(
    ("raised", "becomes"),
    [
        (DeviceMemoryError("the GPU has too little free memory"), OutOfMemoryError),
        (MemoryError(), OutOfMemoryError),
        (OSError(116, "Stale file handle"), RetryableError),
    ],
)
def test_errors_are_classified(shard, monkeypatch, raised, becomes):
    def fail(*args):
        raise raised

    monkeypatch.setattr(tasks, "msbfs_shard", fail)
    with pytest.raises(becomes, match="shard_AS10_AS40"):
        run_search(shard)


def test_a_source_that_is_no_node_fails_for_good(snapshot):
    with pytest.raises(PipelineError, match="999") as caught:
        run_search(one(snapshot, "pack", 0, [0, 999]))
    assert not isinstance(caught.value, RetryableError)


class UnpicklableError(PipelineError):
    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


def fail(task):
    raise UnpicklableError("this", "that") if task == "unpicklable" else KeyError(task)


@pytest.mark.parametrize(
    ("task", "text"), [("unpicklable", "this and that"), ("x", "KeyError: 'x'")]
)
def test_errors_travel_as_text_if_they_must(task, text):
    tried = attempt(pack((), "", fail, task))
    assert type(tried.error) is PipelineError
    assert str(tried.error) == text
    assert tried.run.started <= tried.run.ended


@pytest.mark.parametrize(("code", "is_final"), [(errno.ENOSPC, True), (errno.EIO, False)])
def test_a_full_disk_of_distances_is_final_and_another_fault_is_not(
    tmp_path, snapshot, monkeypatch, code, is_final
):
    def fail(path, blocks):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(tasks, "write_distances", fail)
    task = replace(one(snapshot, "bfs", 0, [0]), distances_dir=str(tmp_path))
    with pytest.raises(PipelineError) as caught:
        run_search(task)
    assert isinstance(caught.value, RetryableError) is not is_final
    if is_final:
        assert f"no room for its distances in {tmp_path}: No space left" in str(caught.value)
