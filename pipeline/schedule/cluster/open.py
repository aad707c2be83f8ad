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
import http.client
import logging
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from distributed import Client
from distributed.comm import connect
from distributed.security import Security

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError, first_line
from pipeline.metrics import compiled_work
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.search.tasks import Device
from pipeline.schedule.cluster.address import check_address
from pipeline.schedule.cluster.credentials import configured, from_files
from pipeline.schedule.cluster.executors import ClientExecutor, ClusterExecutor, DaskExecutor
from pipeline.schedule.cluster.losses import losses_of
from pipeline.schedule.cluster.own.start import start
from pipeline.schedule.cluster.tls_files import tls_files
from pipeline.schedule.cluster.workers import (
    ANSWER_S,
    ask_scheduler,
    ask_workers,
    check_workers,
    compile_once_a_host,
)

log = logging.getLogger(__name__)

CONNECT_S = 10.0  # seconds to reach a scheduler
GREET_S = 20.0  # seconds to reach it and be greeted
WORKERS_S = 30.0  # seconds to wait for its first worker
PAGE_S = 1.0  # seconds for its dashboard, as it has just answered
_NO_SUCH_PAGE = 404


@contextlib.contextmanager
def open_cluster(
    config: AnalyzeConfig,
    snapshot: Path | None = None,
    progress: ProgressCallback = no_progress,
) -> Iterator[DaskExecutor]:
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
        devices = both if config.device == "auto" else (config.device,)
        address = client.scheduler.address
        losses = stack.enter_context(losses_of(client))
        if config.scheduler is None:
            dashboard = client.dashboard_link or ""
            yield ClusterExecutor(client, facts, devices, address, dashboard, losses, snapshot)
        else:
            given = (address, dashboard_link(client), losses, snapshot)
            yield ClientExecutor(client, facts, devices, *given)


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


def dashboard_link(client: Client) -> str:
    """The link to that of a cluster of others; empty if it has none, as with ``--no-dashboard``.

    Dask names one for every scheduler, so its page is tried. Where nothing answers the link is
    kept: the page may be reached from elsewhere.
    """
    link = client.dashboard_link or ""
    # Without a proxy, as the connection to the scheduler.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        # Only whether it is there: making the page keeps the scheduler busy for half a second.
        request = urllib.request.Request(link, method="HEAD")
        direct.open(request, timeout=PAGE_S).close()
    except urllib.error.HTTPError as error:
        error.close()
        return "" if error.code == _NO_SUCH_PAGE else link
    except (OSError, ValueError, http.client.HTTPException):
        return link
    return link
