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

import contextlib
import logging
import os
import signal
import socket
import tempfile
import time
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
from distributed import Client, LocalCluster

from kernels.warm import compile_cpu
from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.model.tasks import Device
from pipeline.schedule.fingerprint import MUST_AGREE, fingerprint
from pipeline.schedule.gpus import visible_gpus

log = logging.getLogger(__name__)

CONNECT_S = 10.0  # seconds to reach a scheduler
WORKERS_S = 30.0  # seconds to wait for its first worker
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
    """

    client: Client
    facts: dict[str, dict]
    devices: tuple[Device, ...]
    own: bool
    address: str = ""
    dashboard: str = ""
    gpu_workers: list[str] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        """Whether the scheduler is still there."""
        return self.client.status == "running"

    @property
    def n_threads(self) -> int:
        return max(1, sum(self.client.nthreads().values()))

    def allowed(self, task: Any) -> list[str] | None:
        """Workers that may run a task: those with a GPU, where only some have one."""
        if task.device == "gpu" and len(self.gpu_workers) < len(self.facts):
            return self.gpu_workers
        return None

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
        facts = _ask_workers(client, snapshot)
        _check_workers(facts, snapshot)
        if config.scheduler is not None:
            _compile_once_a_host(client, facts)
        gpu_workers = [worker for worker, fact in facts.items() if fact["gpu"]]
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
            gpu_workers=gpu_workers,
        )


def n_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quiet() -> None:
    """Distributed tells of each start and stop; a run of ours should not."""
    # Dead workers and lost results are told as errors; what matters reaches us as outcomes.
    # These have levels of their own, set when distributed was imported.
    for name in ("distributed", "distributed.client", "bokeh", "tornado", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in ("nanny", "scheduler", "worker", "core", "comm", "batched"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)


@contextlib.contextmanager
def _connect(address: str) -> Iterator[Client]:
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
    while not client.nthreads():
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
        stack.enter_context(
            dask.config.set(
                {
                    "distributed.scheduler.allowed-failures": DEATHS,
                    "logging": {"distributed": "critical"},
                    # A worker is one thread of ours; kernels may use its share of the cores.
                    "distributed.nanny.pre-spawn-environ.NUMBA_NUM_THREADS": threads,
                    "distributed.nanny.pre-spawn-environ.OMP_NUM_THREADS": threads,
                }
            )
        )
        scratch = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="hopscope-workers-", ignore_cleanup_errors=True)
        )
        options: dict[str, Any] = {
            "n_workers": n_workers,
            "threads_per_worker": 1,
            "host": "127.0.0.1",
            "protocol": "tcp",
            "dashboard_address": _free_address(config.dashboard),
            "local_directory": scratch,
            "silence_logs": logging.ERROR,
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
            f"{len(gpus)} GPUs are here, but dask-cuda is not installed; "
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


def _probe(snapshot: str | None) -> dict:
    """What a worker says of itself; imports everything itself, see ``_by_value``."""
    import os
    import socket

    facts: dict = {"host": socket.gethostname(), "pid": os.getpid(), "gpu": "", "error": ""}
    try:
        from pipeline.schedule.fingerprint import fingerprint

        facts["fingerprint"] = fingerprint()
    except Exception as error:
        facts["error"] = f"{type(error).__name__}: {error}"
        return facts
    try:
        import cupy

        if cupy.cuda.is_available():
            properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
            facts["gpu"] = properties["name"].decode()
    except Exception:  # no CuPy, or a driver that is too old: no GPU for us
        facts["gpu"] = ""
    facts["sees_snapshot"] = snapshot is None or os.path.isdir(snapshot)
    return facts


def _by_value(function: Any) -> types.FunctionType:
    """A copy that is pickled by value: it must run where our package is missing or older."""
    copy = types.FunctionType(function.__code__, {"__builtins__": __builtins__}, "probe")
    copy.__module__ = "__main__"
    copy.__qualname__ = "probe_of_hopscope"
    return copy


def _ask_workers(client: Client, snapshot: Path | None) -> dict[str, dict]:
    path = str(Path(snapshot).resolve()) if snapshot is not None else None
    asked = client.run(_by_value(_probe), path, on_error="return")
    facts: dict[str, dict] = {}
    for worker, answer in asked.items():
        if isinstance(answer, dict):
            facts[worker] = answer
        else:
            raise UsageError(f"worker {worker} does not answer: {answer}")
    if not facts:
        raise UsageError("all workers left before the run began; start some and try again")
    return facts


def _compile_once_a_host(client: Client, facts: dict[str, dict]) -> None:
    """Workers of one host share numba's cache, which has no lock: one of them fills it first."""
    first = list({fact["host"]: worker for worker, fact in facts.items()}.values())
    answers = client.run(compile_cpu, workers=first, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            raise UsageError(f"worker {worker} cannot compile the kernels: {answer}")


def _check_workers(facts: dict[str, dict], snapshot: Path | None) -> None:
    ours = fingerprint()
    for worker, fact in sorted(facts.items()):
        where = f"worker {worker} on {fact['host']}"
        if fact["error"]:
            raise UsageError(
                f"{where} cannot import hopscope ({fact['error']}); "
                f"install hopscope {ours['hopscope']} there, in the worker's environment"
            )
        theirs = fact["fingerprint"]
        for name in MUST_AGREE:
            if theirs.get(name) != ours[name]:
                raise UsageError(
                    f"{where} has {name} {theirs.get(name)}, this process has {ours[name]}; "
                    "install the same hopscope, with the same packages, on both"
                )
        if not fact["sees_snapshot"]:
            raise UsageError(
                f"{where} does not see {snapshot}; the store must lie where all workers reach it "
                "by the same path"
            )
