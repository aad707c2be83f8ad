"""A local Dask cluster: one worker per GPU or core, ended with the run.

It listens on 127.0.0.1 only, and every connection is encrypted and shows a certificate made for
this cluster (``credentials.temporary``): a worker runs whatever it is sent, with our permissions.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
import tempfile
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import dask
from distributed import Client, LocalCluster

from kernels.host import THREADS_VARIABLE, n_cores
from pipeline.config import AnalyzeConfig
from pipeline.errors import (
    ClusterLostError,
    UsageError,
    address_space_fault,
    fault_of_limits,
    is_no_room,
    remedy_for,
    said_by_system,
)
from pipeline.metrics import compiled_work
from pipeline.model.words import number
from pipeline.processes.children import no_stops_in_children
from pipeline.processes.stopping import signals_later
from pipeline.schedule.cluster.credentials import temporary
from pipeline.schedule.cluster.gpus import has_cupy, visible_gpus
from pipeline.schedule.cluster.own import dashboard_guard, forking
from pipeline.schedule.cluster.own.gpu_worker import GpuNanny
from pipeline.schedule.cluster.own.nanny import OwnNanny
from pipeline.store.versions.held import WORKERS, held_folder, own_folder

log = logging.getLogger(__name__)

START_S = 10.0  # seconds for the scheduler in this process to answer
KILL_S = 3.0  # seconds for workers to end when the cluster is closed
CLOSE_S = 30.0  # seconds for the client, and for the cluster, to be closed
WORKER_START_S = 600  # seconds for a nanny to start its worker again, on a machine that is busy
THREADS = (THREADS_VARIABLE, "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")  # of a worker's kernels
# More workers than this do nothing but wait for one another, and take minutes to start.
PER_CORE, LEAST_LIMIT = 4, 16
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT)
DEATHS = 0  # workers that Dask lets a task lose: none, we decide what is tried again


@contextlib.contextmanager
def start(config: AnalyzeConfig) -> Iterator[Client]:
    """Start the cluster that ``config`` asks for (``device``, ``workers``, ``dashboard``); end it.

    Raises
    ------
    UsageError
        A GPU requested where there is none, more workers than GPUs or than cores can bear, no
        CuPy, no room for temporary files.
    ClusterLostError
        A worker died while it was being started.
    """
    gpus = visible_gpus() if config.device != "cpu" else []
    if config.device == "gpu" and not gpus:
        raise UsageError("--device gpu: this machine has no NVIDIA GPU; give --device cpu or auto")
    if config.workers is not None and config.workers < 1:
        raise UsageError(f"--workers {config.workers}: give 1 or more")
    if gpus and config.workers is not None and config.workers > len(gpus):
        raise UsageError(
            f"--workers {config.workers}: one worker per GPU, and there are {len(gpus)}; "
            "give fewer, or --device cpu"
        )
    if not gpus and config.workers is not None and config.workers > _most_workers():
        raise UsageError(
            f"--workers {config.workers}: at most {_most_workers()} on "
            f"{number(n_cores(), 'core')}; each is a process that searches all the time"
        )
    if gpus and not has_cupy():
        raise UsageError(
            f"{number(len(gpus), 'GPU')} here, but CuPy is not installed; "
            "install hopscope[gpu], or give --device cpu"
        )
    work = compiled_work(config.metrics)
    n_workers = config.workers or len(gpus) or n_cores()
    threads = str(max(1, n_cores() // n_workers))
    with contextlib.ExitStack() as stack:
        stack.enter_context(_environment_kept())
        stack.enter_context(
            dask.config.set(
                {
                    "distributed.scheduler.allowed-failures": DEATHS,
                    # Its nanny restarts a worker; Dask would dismiss the nanny in the meantime.
                    "distributed.deploy.lost-worker-timeout": f"{WORKER_START_S} s",
                    "distributed.scheduler.preload": [
                        *dask.config.get("distributed.scheduler.preload", []),
                        dashboard_guard.__name__,
                    ],
                    # A worker's own pages: they are not announced, so there are none.
                    "distributed.worker.http.routes": [],
                    "logging": {"distributed": "critical"},
                    # The source of each call that submits tasks: nobody reads ours.
                    "distributed.diagnostics.computations.nframes": 0,
                    "distributed.worker.multiprocessing-method": forking.METHOD,
                    # A worker is one thread of ours; kernels may use its share of the cores.
                    **{f"distributed.nanny.pre-spawn-environ.{name}": threads for name in THREADS},
                    **{f"distributed.nanny.environ.{name}": threads for name in THREADS},
                }
            )
        )
        with _temporary_files_named():
            forking.start(work, on_gpus=bool(gpus))
            scratch = stack.enter_context(held_folder(own_folder(), WORKERS))
        options: dict[str, Any] = {
            "n_workers": n_workers,
            "threads_per_worker": 1,
            "host": "127.0.0.1",
            "protocol": "tls",
            "security": temporary(),
            "dashboard_address": _free_address(config.dashboard),
            "local_directory": str(scratch),
            "silence_logs": logging.CRITICAL,
            # It only listens; ``dashboard_guard`` makes the pages at the first request.
            "scheduler_kwargs": {"dashboard": False},
            "worker_class": OwnNanny,
        }
        if gpus:
            options |= {"worker_class": GpuNanny, "gpus": tuple(gpus), "work": work}
        with signals_later(), warnings.catch_warnings(), no_stops_in_children():
            # Another run may have taken the port since we looked: any other will do.
            warnings.filterwarnings("ignore", message="Port .* is already in use")
            with _start_lost(), _temporary_files_named():
                cluster = LocalCluster(**options)
            stack.callback(_close, cluster)
        client = Client(cluster, set_as_default=False, timeout=START_S)
        stack.callback(_close, client)
        yield client


def _most_workers() -> int:
    return max(LEAST_LIMIT, PER_CORE * n_cores())


def _close(what: Client | LocalCluster) -> None:
    """Close it completely: half closed, it waits ten seconds when the interpreter ends.

    Whatever hangs, workers are gone (and their GPUs free) ``KILL_S`` after this began to close the
    cluster, and it ends after ``CLOSE_S``.
    """
    nannies = list(what.workers.values()) if isinstance(what, LocalCluster) else []

    def kill() -> None:  # not those of another cluster of this process
        forking.kill_forked({nanny.pid for nanny in nannies})

    with signals_later(), contextlib.ExitStack() as stack:
        if nannies:  # until now they would have started workers again
            killing = threading.Timer(KILL_S, kill)
            killing.daemon = True
            killing.start()
            stack.callback(killing.join)
            stack.callback(killing.cancel)
        try:
            what.close(timeout=CLOSE_S)
        except TimeoutError:
            log.warning("workers are killed: the cluster was not closed in %.0f s", CLOSE_S)
            kill()


@contextlib.contextmanager
def _temporary_files_named() -> Iterator[None]:
    """Say what to do where the machine's folder of temporary files is full or cannot be written."""
    try:
        yield
    except (OSError, RuntimeError) as error:  # Dask puts errors of a start into another one
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError) or not (is_no_room(cause) or cause.errno in _CLOSED):
            raise
        remedy = remedy_for(cause, "set TMPDIR to a folder that can be written and has room")
        raise UsageError(
            f"workers cannot be started: {cause.filename or tempfile.gettempdir()}: "
            f"{said_by_system(cause)}; {remedy}"
        ) from None


@contextlib.contextmanager
def _start_lost() -> Iterator[None]:
    """Say what became of workers that Dask could not start; it says so in several tracebacks."""
    try:
        yield
    except RuntimeError as error:
        log.debug("workers could not be started", exc_info=error)
        cause = error.__cause__
        limits = fault_of_limits(cause or error) or address_space_fault()
        killed = limits or "one was killed (out of memory?)"
        reason = str(cause) if isinstance(cause, OSError) else killed
        raise ClusterLostError(
            f"workers cannot be started: {reason}; try again, or with fewer --workers"
        ) from None


@contextlib.contextmanager
def _environment_kept() -> Iterator[None]:
    """Leave the numbers of threads in our environment as they are.

    A nanny writes what its workers are to have into the environment of its own process, ours, and
    leaves it there; the workers of a cluster opened later would take it for what the user wants.
    """
    before = {name: os.environ.get(name) for name in THREADS}
    try:
        yield
    finally:
        forking.restore_environment(before)


def _free_address(address: str) -> str:
    """The address, or one with any free port if that one is taken."""
    host, _, port = address.rpartition(":")
    host = host or "127.0.0.1"
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError:
            return f"{host}:0"
        except (ValueError, OverflowError):
            raise UsageError(f"dashboard {address}: give HOST:PORT") from None
    return f"{host}:{port}"
