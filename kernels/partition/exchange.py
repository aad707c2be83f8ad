"""What ranks say to one another, and ranks that are threads of one process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from kernels.errors import DeviceError

DEADLINE_S = 60.0  # for one exchange: longer than any level takes


class ExchangeError(DeviceError):
    """A rank died, hangs or gave up; the search cannot be finished."""


class Collective(Protocol):
    """Exchange between ranks that call the same methods in the same order.

    Arrays are on the rank's device. A method returns, or may return, before the arrays of others
    have arrived; what is launched on the device afterwards sees them. Each raises ExchangeError if
    some rank does not take part within the deadline; then no further exchange is possible.
    """

    rank: int
    n_ranks: int

    def gather(self, values: Any) -> np.ndarray:
        """Numbers of all ranks, (n_ranks, k) int64 on the host, from (k,) int64 of each."""
        ...

    def swap(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        """Send ``outgoing[r]`` to each other rank r, and fill ``incoming[r]`` with what r sent.

        Both ends know the sizes beforehand; the rank's own places are None.
        """
        ...

    def close(self) -> None:
        """Give up; other ranks' exchanges fail from now on."""
        ...

    def leave(self) -> None:
        """End the connection, after all exchanges are done, and free what it held."""
        ...


class ThreadCollective:
    """One rank among threads that share memory; made by ``thread_collectives``."""

    def __init__(self, rank: int, shared: list[Any], barrier: threading.Barrier):
        self.rank, self.n_ranks = rank, len(shared)
        self._shared, self._barrier = shared, barrier

    def gather(self, values: np.ndarray) -> np.ndarray:
        self._shared[self.rank] = values
        self._wait()
        every = np.stack(self._shared)
        self._wait()  # until all have read
        return every

    def swap(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        self._shared[self.rank] = outgoing
        self._wait()
        for rank, place in enumerate(incoming):
            if place is not None:
                place[...] = self._shared[rank][self.rank]
        self._wait()

    def close(self) -> None:
        self._barrier.abort()

    def leave(self) -> None:
        self._shared[self.rank] = None

    def _wait(self) -> None:
        try:
            self._barrier.wait()
        except threading.BrokenBarrierError:
            raise ExchangeError(
                f"rank {self.rank} of {self.n_ranks} waited for one that ended or hangs"
            ) from None


def thread_collectives(n_ranks: int, deadline_s: float = DEADLINE_S) -> list[ThreadCollective]:
    """Collectives of ranks that run as threads of this process, on cores."""
    shared: list[Any] = [None] * n_ranks
    barrier = threading.Barrier(n_ranks, timeout=deadline_s)
    return [ThreadCollective(rank, shared, barrier) for rank in range(n_ranks)]
