"""What starts a worker of our own cluster, and can be closed whatever became of that start."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from distributed import Nanny, Status


class OwnNanny(Nanny):
    """A nanny that closes even if its worker's process was never made, or was made unnoticed.

    When the process that forks workers dies while it makes one, ``Nanny.kill`` fails an
    assertion on the state of the missing process. When a worker dies as soon as it is up, the start
    of the next one can take its place while the first start still waits: that one then takes the
    next worker's message of being up, and discards it, so ``Nanny.kill`` would wait without end for
    a start that is over. In both cases the nanny would never be closed, nor the cluster.

    Parameters
    ----------
    env : mapping, optional
        Variables of its worker, besides those of this process. A worker is forked from a process
        that may be older than some of these: it would not have the credentials of an object store
        that a notebook has set since.
    """

    def __init__(self, *given: Any, env: Mapping[str, str] | None = None, **options: Any):
        super().__init__(*given, env={**os.environ, **(env or {})}, **options)

    async def kill(self, timeout: float = 5, reason: str = "nanny-kill") -> None:
        """Kill the worker's process, if there is one, in twice ``timeout`` seconds at most."""
        worker = self.process
        started = worker is not None and worker.pid is not None
        if worker is not None and worker.status == Status.starting:
            try:
                await asyncio.wait_for(worker.running.wait(), timeout)
            except TimeoutError:
                worker.status = Status.running  # it takes the request to stop, or is killed
        try:
            await super().kill(timeout=timeout, reason=reason)
        except AssertionError:
            if started:
                raise
