"""The process that workers are forked from: it imports once what each of them needs.

A worker that starts afresh spends well over a second of a core on imports, and more for CuPy. This
process (of ``multiprocessing.forkserver``) does so once, for all workers, and while the client
still imports and reads. It imports CuPy for workers on GPUs, but makes no CUDA call: a process
forked after one could not use a GPU. It has no thread that a fork would lose, except that of
pyarrow's jemalloc, which jemalloc itself restarts. It ends with the client; signals that stop a
whole process group (``timeout``, systemd, a closed terminal) stop the client alone: if this process
or a worker that is being started died of them, Dask would keep starting workers.
"""

from __future__ import annotations

import atexit
import multiprocessing.util
import os
import tempfile
from collections.abc import Container, Sequence
from multiprocessing import active_children, forkserver
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from kernels.host import Work, compiled_modules
from pipeline.processes.children import no_stops_in_children
from pipeline.store.versions.held import TEMPORARY, keep_temporary_files, own_folder

METHOD = "forkserver"  # Dask's and multiprocessing's name
_MODULES = (
    "__main__",  # every worker imports it, by multiprocessing's rules
    "distributed.nanny",
    "pipeline.schedule.dispatch",
    "pipeline.schedule.cluster.workers",
    "pipeline.store.shard_arrays",
)
# Importing these calls nothing of CUDA; what is missing is left out.
GPU_MODULES = (
    "cupy",
    "pynvml",
    "kernels.multi_source.gpu.search",
    "kernels.eccentricity.gpu.shard",
    "kernels.eccentricity.gpu.single",
    "pipeline.schedule.cluster.own.gpu_worker",
)
# Libraries must not start threads when they are imported: threads do not survive a fork. glibc
# gives memory back as under Dask's own workers.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_TRIM_THRESHOLD_": "65536",
}

# A socket is /pymp-12345678/listener-12345678 below a folder of ours.
LONGEST_FOLDER = 107 - 33  # bytes
OURS = f"/{TEMPORARY}123456789012/files"  # of this process, in one of this user
SHORT_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")

_imported: set[Work] = set()  # kinds of work whose kernels are imported there


def start(work: Sequence[Work], on_gpus: bool = False) -> None:
    """Start it, unless this process has one already; do not wait.

    Parameters
    ----------
    work : sequence of str
        Kinds of work whose kernels it imports.
    on_gpus : bool
        Import what workers on GPUs need too.
    """
    if _imported:
        forkserver.ensure_running()  # again if it was killed
        return
    modules = [name for kind in work for name in compiled_modules(kind)]
    if on_gpus:
        modules += GPU_MODULES
    atexit.register(kill_forked)
    forkserver.set_forkserver_preload([*_MODULES, *modules])
    _place_sockets()
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    try:
        with no_stops_in_children():
            forkserver.ensure_running()
    finally:
        restore_environment(before)
    _imported.update(work)


def kill_forked(pids: Container[int | None] | None = None) -> None:
    """Kill workers that this process has; at exit, multiprocessing would ask them, and wait.

    Parameters
    ----------
    pids : container of int or None
        Which; None: all, whatever cluster they belong to.
    """
    for process in active_children():
        if isinstance(process, ForkServerProcess) and (pids is None or process.pid in pids):
            process.kill()


def _place_sockets() -> None:
    """Have sockets of multiprocessing in a folder of this process, which outlives no kill for long.

    Its own would stay wherever a process is killed, without a trace of whose it was. A path of a
    socket has at most 107 bytes, so it is elsewhere if the temporary folder has a long one.
    """
    given = tempfile.tempdir
    short = [Path(folder) for folder in SHORT_FOLDERS if os.access(folder, os.W_OK | os.X_OK)]
    for place in (Path(tempfile.gettempdir()), *short):
        if len(os.fsencode(own_folder(place))) > LONGEST_FOLDER - len(OURS):
            continue
        tempfile.tempdir = str(keep_temporary_files(place))
        try:
            multiprocessing.util.get_temp_dir()
        finally:
            tempfile.tempdir = given
        return


def restore_environment(before: dict[str, str | None]) -> None:
    """Restore variables of this process; None: unset."""
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
