"""What a local cluster refuses before it starts anything."""

from __future__ import annotations

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
