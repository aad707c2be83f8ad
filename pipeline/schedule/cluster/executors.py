"""Runs tasks on Dask: on a cluster of our own, or on one that is given by ``--scheduler``."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client

from pipeline.model.search.tasks import Device
from pipeline.model.words import number
from pipeline.schedule.cluster.fingerprint import fingerprint
from pipeline.schedule.cluster.losses import Losses
from pipeline.schedule.cluster.workers import ANSWER_S, ask_worker, check_workers, path_text
from pipeline.schedule.transport.remote.connection import ask

log = logging.getLogger(__name__)


@dataclass
class DaskExecutor(ABC):
    """An open cluster and what its workers reported about themselves.

    Attributes
    ----------
    client : Client
    facts : dict of worker address to dict
        Answers of ``workers.probe``.
    devices : tuple of "cpu", "gpu"
        What tasks may use.
    address, dashboard : str
        Of the scheduler; "" without a dashboard.
    losses : Losses
        Workers that it lost.
    snapshot : Path or None
        What every worker must see.
    refused : dict of worker address to str
        Workers that joined during the run and get no task, and why.
    own : bool
        Started by us, and ended by us.
    """

    client: Client
    facts: dict[str, dict]
    devices: tuple[Device, ...]
    address: str = ""
    dashboard: str = ""
    losses: Losses = field(default_factory=Losses)
    snapshot: Path | None = None
    refused: dict[str, str] = field(default_factory=dict)
    own: bool = False
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

    @abstractmethod
    def allowed(self, task: Any, workers: Iterable[str]) -> list[str] | None:
        """Of the workers there now, those that may run a task; None: any."""

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


@dataclass
class ClusterExecutor(DaskExecutor):
    """A cluster of our own: started for this run, and ended with it."""

    own: bool = True

    def allowed(self, task: Any, workers: Iterable[str]) -> None:
        """Any: its workers are alike, and no others can join."""


@dataclass
class ClientExecutor(DaskExecutor):
    """A cluster that is given: its workers may differ, join and leave."""

    def allowed(self, task: Any, workers: Iterable[str]) -> list[str] | None:
        """Those with a GPU, where only some have one; and workers that joined only once checked."""
        workers = list(workers)
        self.meet(workers)
        known = [worker for worker in workers if worker in self.facts]
        if task.device == "gpu":
            known = [worker for worker in known if self.facts[worker]["gpu"]]
            # None is left: wait for one of the former ones.
            known = known or self.gpu_workers
        return known if known and set(known) != set(workers) else None
