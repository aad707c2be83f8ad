"""Workers on GPUs: what each sees, and the cores that it uses."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest

from pipeline.metrics import WORK_VARIABLE
from pipeline.schedule.cluster.own import gpu_worker
from pipeline.schedule.cluster.own.nanny import OwnNanny
from pipeline.schedule.work import warming


class NVMLError(Exception):
    pass


@pytest.fixture
def nvml(monkeypatch):
    """A driver that knows one GPU, next to cores 0 and 70."""

    def refuse(name):
        raise NVMLError(name)

    found = SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByIndex=lambda index: index if index == 0 else refuse(index),
        nvmlDeviceGetHandleByUUID=lambda name: 0 if name == "GPU-a" else refuse(name),
        nvmlDeviceGetCpuAffinity=lambda handle, n_words: [1, 1 << 6][:n_words],
    )
    monkeypatch.setitem(sys.modules, "pynvml", found)
    monkeypatch.setattr(os, "cpu_count", lambda: 128)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 70})
    return found


@pytest.mark.parametrize(
    ("gpu", "cores"), [("0", {0, 70}), ("GPU-a", {0, 70}), ("1", set()), ("GPU-b", set())]
)
def test_the_cores_next_to_a_gpu(nvml, gpu, cores):
    assert gpu_worker.cores_near(gpu) == cores


def test_without_a_driver_all_cores_are_used(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert gpu_worker.cores_near("0") == set()


def test_a_nanny_tells_its_worker_the_gpu_and_the_work(monkeypatch):
    given = {}
    monkeypatch.setattr(OwnNanny, "__init__", lambda self, **options: given.update(options))
    gpu_worker.GpuNanny(name=1, gpus=["0", "GPU-b"], work=["searches", "widths"])
    assert given["env"] == {gpu_worker.VISIBLE: "GPU-b", WORK_VARIABLE: "searches widths"}
    assert given["preload"] == [gpu_worker.__name__, warming.__name__]
