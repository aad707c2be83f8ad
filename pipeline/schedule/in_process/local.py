"""Runs tasks in this process, in place of a cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from typing import Any

from pipeline.model.search.results import THIS_PROCESS
from pipeline.model.search.tasks import Device
from pipeline.schedule.cluster.fingerprint import fingerprint
from pipeline.schedule.transport.here import Here

WHERE = "in this process, no cluster started"


class LocalExecutor:
    """An ``Executor`` of one thread of this process, and all cores."""

    dashboard = ""
    own = True
    devices: tuple[Device, ...] = ("cpu",)
    where = WHERE
    n_lost = 0

    def __init__(self) -> None:
        self.client = Here()
        self.facts: dict[str, dict] = {
            THIS_PROCESS: {
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "gpu": "",
                "gpu_bytes": 0,
            }
        }

    @property
    def gpu_workers(self) -> list[str]:
        """None: GPUs are for workers."""
        return []

    def n_threads(self) -> dict[str, int]:
        """One, which may use all cores."""
        return {THIS_PROCESS: 1}

    def allowed(self, task: Any, workers: Iterable[str]) -> None:
        """Every task may run here."""

    def describe(self) -> dict:
        """For report.json: as ``ClusterExecutor.describe``."""
        return {
            "scheduler": WHERE,
            "dashboard": "",
            "own": True,
            "n_workers": 0,
            "devices": list(self.devices),
            "workers": {},
            "lost_workers": [],
            "versions": fingerprint(),
        }
