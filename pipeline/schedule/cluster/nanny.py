"""What starts a worker of our own cluster, and can be closed wherever that start fails."""

from __future__ import annotations

from distributed import Nanny


class OwnNanny(Nanny):
    """A nanny that closes even if its worker's process never came to be.

    When the process that forks workers dies while it is asked for one, ``Nanny.kill`` fails an
    assertion on the state of the missing process; the nanny would then never be closed, and the
    cluster, whose start has failed, would wait for it without end.
    """

    async def kill(self, timeout: float = 5, reason: str = "nanny-kill") -> None:
        """Kill the worker's process, if there is one, in ``timeout`` seconds."""
        started = self.process is not None and self.process.pid is not None
        try:
            await super().kill(timeout=timeout, reason=reason)
        except AssertionError:
            if started:
                raise
