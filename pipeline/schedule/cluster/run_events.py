"""Counts of a run on their way to the scheduler, whose dashboard shows them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

TOPIC = "hopscope-counts"  # of events that Dask's scheduler keeps, with the time of each
EVERY_S = 1.0


class RunEvents:
    """Sends counts at most once a second, without waiting; one that fails is left out.

    Parameters
    ----------
    client : Client or Here
        The latter has no scheduler, so nothing is sent.
    """

    def __init__(self, client: Any):
        self._client = client
        self._sent_s = -EVERY_S
        self._sending: Future | None = None

    @property
    def is_due(self) -> bool:
        """Whether counts would be sent now."""
        return time.monotonic() - self._sent_s >= EVERY_S and (
            self._sending is None or self._sending.done()
        )

    def send(self, counts: Mapping[str, int]) -> None:
        """Send counts, whether it is time or not."""
        self._sent_s = time.monotonic()
        if self._client.status == "running":
            self._sending = asyncio.run_coroutine_threadsafe(
                self._send(dict(counts)), self._client.loop.asyncio_loop
            )

    async def _send(self, counts: dict[str, Any]) -> None:
        await self._client.scheduler.log_event(topic=TOPIC, msg=counts)
