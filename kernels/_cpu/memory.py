"""Available memory of the host, checked before anything large is allocated there."""

from __future__ import annotations

from pathlib import Path

from kernels.errors import HostMemoryError

SMALL = 64 << 20  # bytes that are allocated without a check
_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int | None:
    """Bytes that this process can still allocate without swapping; None if unknown.

    The lesser of what Linux reports as available and what the memory limit of the control group (a
    container's) leaves.
    """
    amounts = [_available(), _left_in_group()]
    return min((amount for amount in amounts if amount is not None), default=None)


def check_fits(n_bytes: int, what: str) -> None:
    """Raise HostMemoryError with the numbers if that much is known not to be available.

    Linux would grant it anyway, and kill the process when it is written to.
    """
    if n_bytes <= SMALL:
        return
    available = available_bytes()
    if available is not None and n_bytes > available:
        raise HostMemoryError(f"{what} needs {n_bytes:,} bytes; {available:,} are available")


def _available() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return None


def _left_in_group() -> int | None:
    try:
        limit = int((_CGROUP / "memory.max").read_text())  # "max": none
        return max(0, limit - int((_CGROUP / "memory.current").read_text()))
    except (OSError, ValueError):
        return None
