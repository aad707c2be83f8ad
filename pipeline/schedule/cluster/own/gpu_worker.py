"""A local worker on one GPU: which GPU it sees, which cores it uses, and for what it gets ready.

``dask_setup`` is what Dask calls in a worker that was started with this module as a preload.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from distributed import Worker

from kernels.host import Work
from pipeline.metrics import WORK_VARIABLE
from pipeline.schedule.cluster.own.nanny import OwnNanny

VISIBLE = "CUDA_VISIBLE_DEVICES"
WARMING = "pipeline.schedule.work.warming"  # makes the GPU ready before the worker joins


class GpuNanny(OwnNanny):
    """Starts the worker of one GPU, which sees no other, and starts it again if it dies.

    Parameters
    ----------
    name : int
        Number of the worker.
    gpus : sequence of str
        The GPU of each worker, an index or UUID as CUDA takes them.
    work : sequence of str
        Kinds of work that it is made ready for.
    """

    def __init__(
        self,
        *given: Any,
        name: Any,
        gpus: Sequence[str],
        work: Sequence[Work] = (),
        env: Mapping[str, str] | None = None,
        **options: Any,
    ):
        own = {VISIBLE: gpus[int(name)], WORK_VARIABLE: " ".join(work)}
        super().__init__(
            *given, name=name, env={**(env or {}), **own}, preload=[__name__, WARMING], **options
        )


def dask_setup(worker: Worker) -> None:
    """Keep the worker, and the threads that it starts later, on the cores next to its GPU."""
    if cores := cores_near(os.environ.get(VISIBLE, "")):
        with contextlib.suppress(OSError):  # none of them is ours
            os.sched_setaffinity(0, cores)


def cores_near(gpu: str) -> set[int]:
    """Of the cores that this process may use, those next to a GPU; empty where nothing says so."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # no such package, or no driver
        return set()
    try:
        if gpu.isdecimal():
            handle = pynvml.nvmlDeviceGetHandleByIndex(int(gpu))
        else:
            handle = pynvml.nvmlDeviceGetHandleByUUID(gpu)
        n_words = -(-(os.cpu_count() or 1) // 64)
        words = pynvml.nvmlDeviceGetCpuAffinity(handle, n_words)
    except pynvml.NVMLError:
        return set()
    finally:
        pynvml.nvmlShutdown()
    near = {
        64 * at + bit for at, word in enumerate(words) for bit in range(64) if int(word) >> bit & 1
    }
    return near & os.sched_getaffinity(0)
