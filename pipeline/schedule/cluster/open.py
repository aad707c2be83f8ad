"""Workers to search on: one for each GPU, one for each core, or an existing Dask cluster.

- ``--scheduler ADDRESS``: that cluster, once its workers are shown to have our versions, our
  sources and the store.
- else, unless ``--device cpu``, and where NVML names a GPU: ``LocalCluster``, one worker with one
  thread per GPU, so that one task has a GPU for itself.
- else ``LocalCluster``: one process with one thread per core. Not threads: reading Parquet and
  pickling hold the interpreter's lock.

Our own clusters (``own``) listen on 127.0.0.1 only, encrypted, and accept this run alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client
from distributed.comm import connect
from distributed.security import Security

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError, first_line
from pipeline.metrics import compiled_work
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.search.tasks import Device
from pipeline.model.words import number
from pipeline.schedule.cluster.address import check_address
from pipeline.schedule.cluster.credentials import configured, from_files
from pipeline.schedule.cluster.dashboard_link import link_of
from pipeline.schedule.cluster.fingerprint import fingerprint
from pipeline.schedule.cluster.losses import Losses, losses_of
from pipeline.schedule.cluster.own.start import start
from pipeline.schedule.cluster.tls_files import tls_files
from pipeline.schedule.cluster.workers import (
    ANSWER_S,
    ask_scheduler,
    ask_worker,
    ask_workers,
    check_workers,
    compile_once_a_host,
    path_text,
)
from pipeline.schedule.transport.remote.connection import ask

log = logging.getLogger(__name__)

CONNECT_S = 10.0  # seconds to reach a scheduler
GREET_S = 20.0  # seconds to reach it and be greeted
WORKERS_S = 30.0  # seconds to wait for its first worker


@dataclass
class Cluster:
    """An open cluster and what its workers reported about themselves.

    Attributes
    ----------
    client : Client
    facts : dict of worker address to dict
        Answers of ``workers.probe``.
    devices : tuple of "cpu", "gpu"
        What tasks may use.
    own : bool
        Started by us, and ended by us.
    snapshot : Path or None
        What every worker must see.
    refused : dict of worker address to str
        Workers that joined during the run and get no task, and why.
    losses : Losses
        Workers that it lost.
    """

    client: Client
    facts: dict[str, dict]
    devices: tuple[Device, ...]
    own: bool
    address: str = ""
    dashboard: str = ""
    snapshot: Path | None = None
    refused: dict[str, str] = field(default_factory=dict)
    losses: Losses = field(default_factory=Losses)
    _asked: set[str] = field(default_factory=set)

    @property
    def where(self) -> str:
        """Workers and dashboard, for people."""
        workers = f"on {number(len(self.facts), 'worker')}"
        return f"{workers}, {self.dashboard}" if self.dashboard else workers

    @property
    def n_lost(self) -> int:
        """Workers that it has lost."""
        return len(self.losses.reported())

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

    def begin_on_gpus(self, call: Callable[..., None], *given: Any) -> None:
        """Call a function, by its name, in each worker with a GPU; do not wait."""
        if workers := self.gpu_workers:
            asked = self.client._run(call, *given, workers=workers, on_error="ignore")
            asyncio.run_coroutine_threadsafe(asked, self.client.loop.asyncio_loop)

    def allowed(self, task: Any, workers: Iterable[str]) -> list[str] | None:
        """Of the workers there now, those that may run a task; None: any.

        Those with a GPU, where only some have one; and workers that joined during the run only
        after passing the checks. Our own need none.
        """
        if self.own:
            return None
        workers = list(workers)
        self.meet(workers)
        known = [worker for worker in workers if worker in self.facts]
        if task.device == "gpu":
            known = [worker for worker in known if self.facts[worker]["gpu"]]
            # None is left: wait for one of the former ones.
            known = known or self.gpu_workers
        return known if known and set(known) != set(workers) else None

    def meet(self, workers: Iterable[str]) -> None:
        """Probe workers that joined during the run; the answers are added to ``facts`` later."""
        for worker in workers:
            if worker not in self.facts and worker not in self._asked:
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
        """For report.json: which workers searched, with which devices."""
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
            "lost_workers": self.losses.reported(),
            "versions": fingerprint(),
        }


@contextlib.contextmanager
def open_cluster(
    config: AnalyzeConfig,
    snapshot: Path | None = None,
    progress: ProgressCallback = no_progress,
) -> Iterator[Cluster]:
    """Open the cluster that ``config`` asks for; close what we opened.

    Parameters
    ----------
    config : AnalyzeConfig
        ``scheduler``, ``device``, ``workers``, ``dashboard``.
    snapshot : Path or None
        Folder that every worker must see.
    progress : callable
        Called while a cluster has no worker yet.

    Raises
    ------
    UsageError
        No such scheduler, no worker there, workers that differ from us or do not see the
        snapshot, a GPU requested where there is none; the message names address or worker.
    """
    _quiet()
    with contextlib.ExitStack() as stack:
        if config.scheduler is not None:
            client = stack.enter_context(_connect(config.scheduler, config))
            _await_workers(client, config.scheduler, progress)
        else:
            client = stack.enter_context(start(config))
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
            dashboard=link_of(client) if config.scheduler else client.dashboard_link or "",
            snapshot=snapshot,
            losses=stack.enter_context(losses_of(client)),
        )


def _quiet() -> None:
    """Silence distributed, which logs each start and stop."""
    # Dead workers and lost results are reported as errors; what matters reaches us as outcomes.
    # These have levels of their own, set when distributed was imported.
    for name in ("distributed", "distributed.client", "bokeh", "tornado", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in ("nanny", "scheduler", "worker", "core", "comm", "batched"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)


@contextlib.contextmanager
def _connect(address: str, config: AnalyzeConfig) -> Iterator[Client]:
    check_address(address)
    files = tls_files(config)
    security = configured(address) if files is None else from_files(files)
    try:
        _greet(address, security)
        client = Client(address, timeout=CONNECT_S, set_as_default=False, security=security)
    except (OSError, ValueError, TimeoutError) as error:
        refuses = " that takes these certificates" if address.startswith("tls://") else ""
        raise UsageError(
            f"--scheduler {address}: no Dask scheduler{refuses} answers there "
            f"({first_line(error)}); docs/scheduling.md says how to start one"
        ) from None
    try:
        yield client
    finally:
        with contextlib.suppress(TimeoutError, OSError):
            client.close(timeout=CONNECT_S)


def _greet(address: str, security: Security) -> None:
    """Exchange greetings with a scheduler; OSError, ValueError or TimeoutError if it does not.

    A client waits without end for the greeting of one that accepts a connection and is stopped or
    stuck, or is not a scheduler.
    """

    async def greet() -> None:
        arguments = security.get_connection_args("client")
        async with asyncio.timeout(GREET_S):
            comm = await connect(address, timeout=CONNECT_S, **arguments)
        await comm.close()

    with ThreadPoolExecutor(1) as thread:  # this one may have a loop that runs
        try:
            thread.submit(asyncio.run, greet()).result()
        except TimeoutError:
            raise TimeoutError("it accepts the connection, but sends nothing") from None


def _await_workers(client: Client, address: str, progress: ProgressCallback) -> None:
    started = time.monotonic()
    while not ask_scheduler(client, lambda: client.scheduler.ncores(), ANSWER_S):
        waited = time.monotonic() - started
        if waited > WORKERS_S:
            raise UsageError(
                f"--scheduler {address}: it has no worker and none joined within "
                f"{WORKERS_S:.0f} s; start some with: dask worker {address} --host HOST "
                "--dashboard-address 127.0.0.1:0"
            )
        left = WORKERS_S - waited
        progress(Progress("connect", 0, 0, "workers", f"no worker yet, waiting {left:.0f} s more"))
        time.sleep(0.2)
