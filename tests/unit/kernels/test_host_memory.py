"""A host with little memory left: said with the numbers before anything is allocated."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import HostMemoryError, Shard, host_memory, msbfs, msbfs_shard
from tests.shapes import path


@pytest.fixture
def host_of(tmp_path, monkeypatch):
    """Pretend that Linux and the control group say this."""

    def pretend(meminfo=None, limit=None, used="0"):
        monkeypatch.setattr(host_memory, "_MEMINFO", tmp_path / "meminfo")
        monkeypatch.setattr(host_memory, "_CGROUP", tmp_path)
        for name, text in (("meminfo", meminfo), ("memory.max", limit), ("memory.current", used)):
            if text is not None:
                (tmp_path / name).write_text(text)

    return pretend


@pytest.mark.parametrize(
    ("meminfo", "limit", "available"),
    [
        ("MemTotal: 9 kB\nMemAvailable:   2048 kB\n", None, 2 << 20),
        ("MemAvailable: 2048 kB\n", "max\n", 2 << 20),
        ("MemAvailable: 2048 kB\n", "1000100\n", 1_000_000),
        (None, "5\n", 0),
        ("MemAvailable: many kB\n", None, None),
        (None, None, None),
    ],
)
def test_the_least_of_what_is_said_counts(host_of, meminfo, limit, available):
    host_of(meminfo, limit, used="100\n")
    assert host_memory.available_bytes() == available


def test_what_does_not_fit_is_refused_with_the_numbers(host_of, monkeypatch):
    monkeypatch.setattr(host_memory, "SMALL", 0)
    host_of("MemAvailable: 100 kB\n")
    graph = path(5000)
    words = r"5 sources of 5000 nodes and 9998 arcs needs [\d,]+ bytes; 102,400 are available"
    with pytest.raises(HostMemoryError, match=words):
        msbfs(graph, np.arange(5))
    with pytest.raises(HostMemoryError, match=r"with all levels \([\d,]+ bytes without them\)"):
        msbfs(graph, np.arange(5), levels=True)
    with pytest.raises(MemoryError, match="102,400 are available"):
        msbfs_shard(Shard.from_graphs([graph, path(3)]), [0, 1, 2, 3, 2], [0, 4, 5])
    assert msbfs(graph, [7]).eccentricity.tolist() == [4992]  # one search needs less


def test_where_nothing_tells_nothing_is_refused(host_of, monkeypatch):
    monkeypatch.setattr(host_memory, "SMALL", 0)
    host_of()
    assert msbfs(path(300), np.arange(12)).n_reached.tolist() == [300] * 12
