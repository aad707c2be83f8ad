"""What the soak sees of processes, folders and GPUs."""

import os
import sys
from types import SimpleNamespace

import psutil
import pytest

from benchmarks.lib.footprint import contexts_on_gpus, gpu_bytes, observe, space


def test_hard_links_take_space_once(tmp_path):
    (tmp_path / "a").write_bytes(os.urandom(100_000))
    once = space(tmp_path)
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    twice = space(tmp_path)
    assert once[0] == twice[0] >= 100_000
    assert (once[1], twice[1]) == (1, 2)


def test_processes_and_folders_are_told_by_name(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    found = observe({"client": psutil.Process()}, {"store": tmp_path})
    assert set(found) == {
        *("client_mb", "client_fds", "client_threads"),
        *("store_mb", "store_files"),
    }
    assert found["client_mb"] > 1
    assert found["store_files"] == 1


class Driver:
    """NVML of two GPUs; the process 5 is on both."""

    def __init__(self, *, tells: bool = True):
        self.tells, self.is_open = tells, False

    def nvmlInit(self):
        self.is_open = True

    def nvmlShutdown(self):
        self.is_open = False

    def nvmlDeviceGetCount(self):
        return 2

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetComputeRunningProcesses(self, device):
        pids = [(5, 100), (6, 30)] if device == 0 else [(5, 7)]
        return [SimpleNamespace(pid=p, usedGpuMemory=n if self.tells else None) for p, n in pids]


def test_memory_of_a_process_is_that_on_all_gpus(monkeypatch):
    driver = Driver()
    monkeypatch.setitem(sys.modules, "pynvml", driver)
    assert gpu_bytes() == {5: 107, 6: 30}
    assert not driver.is_open


def test_a_driver_that_tells_no_memory_is_not_taken_for_none(monkeypatch):
    driver = Driver(tells=False)
    monkeypatch.setitem(sys.modules, "pynvml", driver)
    with pytest.raises(RuntimeError, match="does not report"):
        gpu_bytes()
    assert {pid for pid, _ in contexts_on_gpus()} == {5, 6}
    assert not driver.is_open
