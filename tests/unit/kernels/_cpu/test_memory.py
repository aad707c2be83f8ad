"""How much memory a host has left: the least of what Linux and the control group say."""

from __future__ import annotations

import pytest

from kernels._cpu import memory as host_memory


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
def test_the_least_limit_counts(host_of, meminfo, limit, available):
    host_of(meminfo, limit, used="100\n")
    assert host_memory.available_bytes() == available
