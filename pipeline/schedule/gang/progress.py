"""Whether the ranks of a gang still do anything, and how long they may do nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from distributed import Client

from pipeline.model.search.tasks import Device
from pipeline.schedule.gang.link import n_done
from pipeline.schedule.plan.costs import Costs
from pipeline.schedule.transport.clock import Clock
from pipeline.schedule.transport.limits import Limits

log = logging.getLogger(__name__)

READ_S_BYTE = 2e-8  # seconds to read a byte of a part: a slow disk
WIDTH_SWEEPS = 4  # more sweeps if widths are found: no rank spends longer alone


def longest_s(
    n_nodes: int, n_arcs: int, n_sources: int, has_widths: bool, device: Device, costs: Costs
) -> float:
    """Seconds that all of a gang's work takes by estimate, on one device.

    A rank that is at work ends a step, with an exchange, long before.
    """
    sources = n_sources + WIDTH_SWEEPS * has_widths
    searching_s = costs.of(device).search(n_arcs) * sources
    return float(READ_S_BYTE * (8 * n_nodes + 4 * n_arcs) + searching_s)


@dataclass(eq=False)
class RankProgress:
    """Asks the workers of a gang how many exchanges their ranks have done.

    They are asked every ``limits.poll_s``, while everything else continues; a worker answers while
    its rank is at work or hangs. What cannot be asked counts as nothing done.
    """

    client: Client
    gang: str
    workers: Sequence[str]
    limits: Limits
    clock: Clock = field(default_factory=Clock)
    _n_done: int = -1
    _changed: float = 0.0
    _asked: float = float("-inf")
    _answer: Future | None = None

    def __post_init__(self) -> None:
        self._changed = self.clock.now()

    def quiet_s(self) -> float:
        """Seconds for which no rank is known to have done anything."""
        now = self.clock.now()
        if self._answer is not None and self._answer.done():
            found, self._answer = self._result(self._answer), None
            if found > self._n_done:
                self._n_done, self._changed = found, now
        if self._answer is None and now - self._asked >= self.limits.poll_s:
            self._asked = now
            loop = self.client.loop.asyncio_loop
            self._answer = asyncio.run_coroutine_threadsafe(self._ask(), loop)
        return now - self._changed

    def _result(self, answer: Future) -> int:
        try:
            return int(answer.result())
        except Exception as error:
            log.debug("workers of a gang do not answer: %s", error)
            return -1

    async def _ask(self) -> int:
        asked = self.client._run(
            n_done, self.gang, workers=list(self.workers), on_error="ignore", wait=True
        )
        return sum((await asyncio.wait_for(asked, self.limits.answer_s)).values())
