"""What tests of several rooms pretend about the host."""

from __future__ import annotations

import pytest

from kernels._cpu import memory as host_memory


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
