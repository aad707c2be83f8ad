"""A local worker on one GPU: which GPU it sees, which cores it uses, and for what it gets ready.

``dask_setup`` is what Dask calls in a worker that was started with this module as a preload.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from distributed import Worker

from kernels.host import Work
from pipeline.schedule.cluster.own.nanny import OwnNanny
from pipeline.schedule.work import warming

VISIBLE = "CUDA_VISIBLE_DEVICES"
WORK = "HOPSCOPE_GPU_WORK"  # kinds of work that a worker's GPU is made ready for


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
        own = {VISIBLE: gpus[int(name)], WORK: " ".join(work)}
        super().__init__(
            *given, name=name, env={**(env or {}), **own}, preload=[__name__], **options
        )


def dask_setup(worker: Worker) -> None:
    """Keep the worker, and the threads that it starts later, on the cores next to its GPU.

    The GPU is made ready from now on, while the worker is still to join its cluster.
    """
    if cores := cores_near(os.environ.get(VISIBLE, "")):
        with contextlib.suppress(OSError):  # none of them is ours
            os.sched_setaffinity(0, cores)
    wanted = os.environ.get(WORK, "").split()
    warming.begin([kind for kind in get_args(Work) if kind in wanted])


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
