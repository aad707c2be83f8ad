"""What runs the tasks of a run: this process, a cluster of our own, or one that is given.

``LocalExecutor`` (``in_process/local.py``), ``ClusterExecutor`` and ``ClientExecutor``
(``cluster/executors.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from pipeline.model.search.tasks import Device


class Executor(Protocol):
    """What a run needs of it.

    Attributes
    ----------
    client : Client or Here
        What ``drive`` takes.
    facts : dict of worker to dict
        What each worker reported about itself.
    devices : tuple of "cpu", "gpu"
        What tasks may use.
    own : bool
        Started by us, and ended by us.
    """

    client: Any
    facts: dict[str, dict]
    devices: tuple[Device, ...]
    own: bool

    @property
    def where(self) -> str:
        """Where it runs them, with the preposition, for people."""

    @property
    def n_lost(self) -> int:
        """Workers that were lost."""

    @property
    def gpu_workers(self) -> list[str]:
        """Those with a GPU."""

    def n_threads(self) -> dict[str, int]:
        """Threads of each worker."""

    def allowed(self, task: Any, workers: Iterable[str]) -> list[str] | None:
        """Of some workers those that may run a task; None: any."""

    def describe(self) -> dict:
        """For report.json."""
