"""What a local cluster refuses before it starts anything, and how it is closed."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from distributed import LocalCluster, Status

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.schedule.cluster.own import start


@pytest.mark.parametrize(("cores", "most"), [(2, 16), (64, 256)])
def test_more_workers_than_cores_can_bear_are_refused(monkeypatch, cores, most):
    monkeypatch.setattr(start, "n_cores", lambda: cores)
    config = AnalyzeConfig(store=Path("s"), out=Path("o"), workers=most + 1, device="cpu")
    with (
        pytest.raises(UsageError, match=rf"^--workers {most + 1}: at most {most} on {cores} cores"),
        start.start(config),
    ):
        raise AssertionError("it started")


def test_gpus_without_cupy_are_refused(monkeypatch):
    monkeypatch.setattr(start, "visible_gpus", lambda: ["0", "1"])
    monkeypatch.setattr(start, "has_cupy", lambda: False)
    with (
        pytest.raises(UsageError, match=r"^2 GPUs here, but CuPy is not installed; .*--device cpu"),
        start.start(AnalyzeConfig(store=Path("s"), out=Path("o"))),
    ):
        raise AssertionError("it started")


def fault(code, path=None):
    return OSError(code, os.strerror(code), path)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (fault(errno.ENOSPC, "/scratch/workers-1"), "/scratch/workers-1: No space left on device"),
        (fault(errno.EROFS), "Read-only file system"),
    ],
)
@pytest.mark.parametrize("by_dask", [False, True])
def test_a_full_folder_of_temporary_files_is_named(error, said, by_dask):
    raised = error
    if by_dask:
        raised = RuntimeError("Cluster failed to start")
        raised.__cause__ = error
    with (
        pytest.raises(UsageError, match=rf"^workers cannot be started: .*{said}; set TMPDIR to"),
        start._temporary_files_named(),
    ):
        raise raised


@pytest.mark.parametrize(
    "error", [RuntimeError("Cluster failed to start"), fault(errno.ECONNREFUSED)], ids=str
)
def test_another_fault_of_a_start_stays_what_it_is(error):
    with pytest.raises(type(error)) as caught, start._temporary_files_named():
        raise error
    assert caught.value is error


class HangingCluster(LocalCluster):
    """One whose workers do not end; it has started nothing."""

    def __init__(self, killed: threading.Event | None = None):
        self._killed, self.asked = killed, []
        self.status = Status.closed
        self.workers = {0: SimpleNamespace(pid=11), 1: SimpleNamespace(pid=None)}

    def close(self, timeout=None):
        self.asked.append(timeout)
        if self._killed is None or not self._killed.wait(300):
            raise TimeoutError


def test_workers_that_do_not_end_are_killed_and_the_cluster_is_closed(monkeypatch):
    killed, pids = threading.Event(), []
    monkeypatch.setattr(
        start.forking, "kill_forked", lambda these: (pids.append(these), killed.set())
    )
    monkeypatch.setattr(start, "KILL_S", 0.0)
    cluster = HangingCluster(killed)
    start._close(cluster)
    assert pids == [{11, None}]
    assert cluster.asked == [start.CLOSE_S]


def test_a_cluster_that_cannot_be_closed_is_left_without_workers(monkeypatch):
    n_killed, said = [], []
    monkeypatch.setattr(start.log, "warning", lambda text, *given: said.append(text % given))
    monkeypatch.setattr(start.forking, "kill_forked", lambda _: n_killed.append(1))
    start._close(HangingCluster())
    assert n_killed == [1]
    assert said == ["workers are killed: the cluster was not closed in 30 s"]
    assert not [t for t in threading.enumerate() if isinstance(t, threading.Timer)]
