"""Workers to search on: one for each GPU, one for each core, or a Dask cluster that exists.

- ``--scheduler ADDRESS``: that cluster, once its workers are shown to have our versions, our
  sources and the store.
- else, unless ``--device cpu``, and where NVML names a GPU: ``LocalCUDACluster``, one worker with
  one thread a GPU, so that one task has a GPU for itself.
- else ``LocalCluster``: one process with one thread a core. Not threads: reading Parquet and
  pickling would wait for one another.

Our own clusters listen on 127.0.0.1 only and end with the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
import socket
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster

from kernels.threads import n_cores
from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.model.metrics import compiled_work
from pipeline.model.tasks import Device
from pipeline.model.words import number
from pipeline.schedule.connection import ask
from pipeline.schedule.fingerprint import fingerprint
from pipeline.schedule.gpus import visible_gpus
from pipeline.schedule.workers import (
    ANSWER_S,
    ask_scheduler,
    ask_worker,
    ask_workers,
    check_workers,
    compile_once_a_host,
    path_text,
)
from pipeline.store.held import WORKERS, held_folder, own_folder

log = logging.getLogger(__name__)

CONNECT_S = 10.0  # seconds to reach a scheduler
WORKERS_S = 30.0  # seconds to wait for its first worker
THREADS = ("HOPSCOPE_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")  # of a worker's kernels
DEATHS = 0  # workers that Dask lets a task lose: none, we decide what is tried again


@dataclass
class Cluster:
    """An open cluster and what its workers said of themselves.

    Attributes
    ----------
    client : Client
    facts : dict of worker address to dict
        Answers of ``_probe``.
    devices : tuple of "cpu", "gpu"
        What tasks may use.
    own : bool
        Started by us, and ended by us.
    snapshot : Path or None
        What every worker must see.
    refused : dict of worker address to str
        Workers that came during the run and get no task, and why.
    """

    client: Client
    facts: dict[str, dict]
    devices: tuple[Device, ...]
    own: bool
    address: str = ""
    dashboard: str = ""
    snapshot: Path | None = None
    refused: dict[str, str] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)

    @property
    def gpu_workers(self) -> list[str]:
        return [worker for worker, facts in self.facts.items() if facts["gpu"]]

    def n_threads(self) -> dict[str, int]:
        """Threads of each worker; none where the scheduler is gone or does not answer."""
        if self.client.status != "running":
            return {}
        try:
            return dict(ask(self.client, lambda: self.client.scheduler.ncores(), ANSWER_S))
        except Exception as error:
            log.debug("the scheduler did not answer: %s", error)
            return {}

    def allowed(self, task: Any, workers: Iterable[str]) -> list[str] | None:
        """Of the workers there now, those that may run a task; None: any.

        Those with a GPU, where only some have one; and none that came during the run until it
        has shown that it is like the others. Our own are.
        """
        if self.own:
            return None
        workers = list(workers)
        self._meet([worker for worker in workers if worker not in self.facts])
        known = [worker for worker in workers if worker in self.facts]
        if task.device == "gpu":
            known = [worker for worker in known if self.facts[worker]["gpu"]]
            # None is left: wait for one of those that were there.
            known = known or self.gpu_workers
        return known if known and set(known) != set(workers) else None

    def _meet(self, strangers: list[str]) -> None:
        """Ask workers that came during the run what they are; the answer changes ``facts``."""
        for worker in strangers:
            if worker not in self._asked:
                self._asked.add(worker)
                loop = self.client.loop.asyncio_loop
                asyncio.run_coroutine_threadsafe(self._meet_one(worker), loop)

    async def _meet_one(self, worker: str) -> None:
        try:
            facts = await ask_worker(self.client, worker, path_text(self.snapshot))
            check_workers({worker: facts}, self.snapshot)
        except Exception as error:
            self.refused[worker] = str(error)
            log.warning("%s; it gets no task", error)
            return
        self.facts = self.facts | {worker: facts}

    def describe(self) -> dict:
        """For report.json: who searched, with what."""
        return {
            "scheduler": self.address,
            "dashboard": self.dashboard,
            "own": self.own,
            "n_workers": len(self.facts),
            "devices": list(self.devices),
            "workers": {
                worker: {"host": facts["host"], "gpu": facts["gpu"]}
                for worker, facts in sorted(self.facts.items())
            },
            "versions": fingerprint(),
        }


@contextlib.contextmanager
def open_cluster(config: AnalyzeConfig, snapshot: Path | None = None) -> Iterator[Cluster]:
    """Open the cluster that ``config`` asks for; close what we opened.

    Parameters
    ----------
    config : AnalyzeConfig
        ``scheduler``, ``device``, ``workers``, ``dashboard``.
    snapshot : Path or None
        Folder that every worker must see.

    Raises
    ------
    UsageError
        No such scheduler, no worker there, workers that differ from us or do not see the
        snapshot, a GPU asked for where there is none; the message names address or worker.
    """
    _quiet()
    with contextlib.ExitStack() as stack:
        if config.scheduler is not None:
            client = stack.enter_context(_connect(config.scheduler))
            _await_workers(client, config.scheduler)
        else:
            client = stack.enter_context(_start(config))
        facts = ask_workers(client, snapshot)
        check_workers(facts, snapshot)
        if config.scheduler is not None:
            compile_once_a_host(client, facts, compiled_work(config.metrics))
        gpu_workers = any(fact["gpu"] for fact in facts.values())
        if config.device == "gpu" and not gpu_workers:
            raise UsageError(
                f"--device gpu: no worker of {config.scheduler or 'this machine'} has a GPU that "
                "CuPy can use; give --device cpu"
            )
        both: tuple[Device, ...] = ("cpu", "gpu") if gpu_workers else ("cpu",)
        yield Cluster(
            client=client,
            facts=facts,
            devices=both if config.device == "auto" else (config.device,),
            own=config.scheduler is None,
            address=client.scheduler.address,
            dashboard=client.dashboard_link or "",
            snapshot=snapshot,
        )


def _quiet() -> None:
    """Distributed tells of each start and stop; a run of ours should not."""
    # Dead workers and lost results are told as errors; what matters reaches us as outcomes.
    # These have levels of their own, set when distributed was imported.
    for name in ("distributed", "distributed.client", "bokeh", "tornado", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in ("nanny", "scheduler", "worker", "core", "comm", "batched"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)


_ADDRESS = re.compile(r"(?:(?:tcp|tls|ucx)://)?(?:\[[0-9A-Fa-f:.%\w]+\]|[^\s/:\[\]@?#]+):(\d{1,5})")


def _check_address(address: str) -> None:
    """Refuse what is no address before Dask tries it, which takes long and leaves threads."""
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[1]) < 65536:
        raise UsageError(
            f"--scheduler {address!r}: give tcp://HOST:PORT (or tls://, ucx://), "
            "for example tcp://127.0.0.1:8786"
        )


@contextlib.contextmanager
def _connect(address: str) -> Iterator[Client]:
    _check_address(address)
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"--scheduler {address}: no Dask scheduler answers there ({reason}); "
            "start one with: dask scheduler --host HOST --port 8786"
        ) from None
    try:
        yield client
    finally:
        with contextlib.suppress(TimeoutError, OSError):
            client.close(timeout=CONNECT_S)


def _await_workers(client: Client, address: str) -> None:
    deadline = time.monotonic() + WORKERS_S
    while not ask_scheduler(client, lambda: client.scheduler.ncores(), ANSWER_S):
        if time.monotonic() > deadline:
            raise UsageError(
                f"--scheduler {address}: it has no worker, and none came within "
                f"{WORKERS_S:.0f} s; start some with: dask worker {address}"
            )
        time.sleep(0.2)


@contextlib.contextmanager
def _start(config: AnalyzeConfig) -> Iterator[Client]:
    gpus = visible_gpus() if config.device != "cpu" else []
    if config.device == "gpu" and not gpus:
        raise UsageError("--device gpu: this machine has no NVIDIA GPU; give --device cpu or auto")
    if config.workers is not None and config.workers < 1:
        raise UsageError(f"--workers {config.workers}: give 1 or more")
    if gpus and config.workers is not None and config.workers > len(gpus):
        raise UsageError(
            f"--workers {config.workers}: one worker a GPU, and there are {len(gpus)}; "
            "give fewer, or --device cpu"
        )
    n_workers = config.workers or len(gpus) or n_cores()
    threads = str(max(1, n_cores() // n_workers))
    with contextlib.ExitStack() as stack:
        stack.enter_context(_environment_kept())
        stack.enter_context(
            dask.config.set(
                {
                    "distributed.scheduler.allowed-failures": DEATHS,
                    "logging": {"distributed": "critical"},
                    # A worker is one thread of ours; kernels may use its share of the cores.
                    **{f"distributed.nanny.pre-spawn-environ.{name}": threads for name in THREADS},
                }
            )
        )
        scratch = stack.enter_context(held_folder(own_folder(), WORKERS))
        options: dict[str, Any] = {
            "n_workers": n_workers,
            "threads_per_worker": 1,
            "host": "127.0.0.1",
            "protocol": "tcp",
            "dashboard_address": _free_address(config.dashboard),
            "local_directory": str(scratch),
            "silence_logs": logging.CRITICAL,
        }
        with warnings.catch_warnings(), _no_interrupt_in_children():
            # Another run may have taken the port since we looked: any other will do.
            warnings.filterwarnings("ignore", message="Port .* is already in use")
            cluster = _start_cuda(gpus[:n_workers], options) if gpus else LocalCluster(**options)
        stack.enter_context(contextlib.closing(cluster))
        client = Client(cluster, set_as_default=False, timeout=CONNECT_S)
        stack.enter_context(contextlib.closing(client))
        yield client


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
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _no_interrupt_in_children() -> Iterator[None]:
    """Ctrl-C goes to the whole terminal; let this process alone answer, which ends its workers.

    A signal mask passes to threads and to what they start: the cluster's event loop, born in
    here, keeps SIGINT blocked, and so do the workers that it starts now and later.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # started by the first child else, it unblocks SIGINT there
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_cuda(gpus: list[str], options: dict[str, Any]) -> Any:
    try:
        from dask_cuda import LocalCUDACluster
    except ImportError:
        raise UsageError(
            f"{number(len(gpus), 'GPU')} here, but dask-cuda is not installed; "
            "install hopscope[gpu], or give --device cpu"
        ) from None
    # Graphs are kept by us within a budget; dask-cuda need not spill what it cannot see.
    return LocalCUDACluster(CUDA_VISIBLE_DEVICES=",".join(gpus), device_memory_limit=0, **options)


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
