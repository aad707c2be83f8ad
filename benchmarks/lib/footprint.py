"""What processes and folders take after a step of a long run: memory, files, threads, space."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

import psutil


def observe(
    processes: Mapping[str, psutil.Process], folders: Mapping[str, Path]
) -> dict[str, float]:
    """Memory, open files and threads of processes; space and files of folders.

    Memory is the unique set size: what would be free if the process ended.
    """
    found: dict[str, float] = {}
    for name, process in processes.items():
        with process.oneshot():
            found[f"{name}_mb"] = process.memory_full_info().uss / 1e6
            found[f"{name}_fds"] = process.num_fds()
            found[f"{name}_threads"] = process.num_threads()
    for name, folder in folders.items():
        n_bytes, n_files = space(folder)
        found |= {f"{name}_mb": n_bytes / 1e6, f"{name}_files": n_files}
    return found


def space(folder: Path) -> tuple[int, int]:
    """Bytes on disk and entries below a folder; a file with several names counts once."""
    seen: dict[int, int] = {}
    n_entries = 0
    for here, folders, names in os.walk(folder):
        n_entries += len(folders) + len(names)
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                status = os.lstat(os.path.join(here, name))
                seen[status.st_ino] = status.st_blocks * 512
    return sum(seen.values()), n_entries


def gpu_bytes() -> dict[int, int]:
    """Bytes that each process holds on the GPUs of this machine, contexts included, by pid.

    Raises
    ------
    RuntimeError
        If the driver does not distinguish them, as in some containers.
    """
    found: dict[int, int] = {}
    for pid, n_bytes in contexts_on_gpus():
        if n_bytes is None:
            raise RuntimeError("the driver does not report how much memory processes have")
        found[pid] = found.get(pid, 0) + n_bytes
    return found


def contexts_on_gpus() -> list[tuple[int, int | None]]:
    """Processes with a context on a GPU of this machine: pid, bytes there if the driver tells."""
    import pynvml

    pynvml.nvmlInit()
    try:
        devices = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
        running = [pynvml.nvmlDeviceGetComputeRunningProcesses(device) for device in devices]
        return [(each.pid, each.usedGpuMemory) for found in running for each in found]
    finally:
        pynvml.nvmlShutdown()
