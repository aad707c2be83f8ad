"""What starts a worker of our own cluster, and can be closed whatever became of that start."""

from __future__ import annotations

import asyncio

from distributed import Nanny, Status


class OwnNanny(Nanny):
    """A nanny that closes even if its worker's process was never made, or was made unnoticed.

    When the process that forks workers dies while it makes one, ``Nanny.kill`` fails an
    assertion on the state of the missing process. When a worker dies as soon as it is up, the start
    of the next one can take its place while the first start still waits: that one then takes the
    next worker's message of being up, and discards it, so ``Nanny.kill`` would wait without end for
    a start that is over. In both cases the nanny would never be closed, nor the cluster.
    """

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
