"""What a local cluster refuses before it starts anything."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.schedule.cluster import own


@pytest.mark.parametrize(("cores", "most"), [(2, 16), (64, 256)])
def test_more_workers_than_cores_can_bear_are_refused(monkeypatch, cores, most):
    monkeypatch.setattr(own, "n_cores", lambda: cores)
    config = AnalyzeConfig(store=Path("s"), out=Path("o"), workers=most + 1, device="cpu")
    with (
        pytest.raises(UsageError, match=rf"^--workers {most + 1}: at most {most} on {cores} cores"),
        own.start(config),
    ):
        raise AssertionError("it started")


def test_gpus_without_cupy_are_refused(monkeypatch):
    monkeypatch.setattr(own, "visible_gpus", lambda: ["0", "1"])
    monkeypatch.setattr(own, "has_cupy", lambda: False)
    with (
        pytest.raises(UsageError, match=r"^2 GPUs here, but CuPy is not installed; .*--device cpu"),
        own.start(AnalyzeConfig(store=Path("s"), out=Path("o"))),
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
        own._temporary_files_named(),
    ):
        raise raised


@pytest.mark.parametrize(
    "error", [RuntimeError("Cluster failed to start"), fault(errno.ECONNREFUSED)], ids=str
)
def test_another_fault_of_a_start_stays_what_it_is(error):
    with pytest.raises(type(error)) as caught, own._temporary_files_named():
        raise error
    assert caught.value is error
