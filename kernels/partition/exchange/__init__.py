"""How ranks exchange arrays, and ranks that are threads of one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from kernels.arguments import whole_number
from kernels.csr import to_host
from kernels.errors import DeviceError

DEADLINE_S = 60.0  # for one exchange: longer than any level takes


class ExchangeError(DeviceError):
    """A rank died, hangs or gave up; the search cannot be finished."""


class Collective(Protocol):
    """Exchange between ranks that call the same methods in the same order.

    Arrays are on the rank's device. A method returns, or may return, before the arrays of others
    have arrived; what is launched on the device afterwards sees them. Each raises ExchangeError if
    some rank does not take part within the deadline; then no further exchange is possible.

    Attributes
    ----------
    rank, n_ranks : int
    n_done : int
        Exchanges that this rank has done; whoever watches it may read it from another thread.
    """

    rank: int
    n_ranks: int
    n_done: int

    def gather(self, values: Any) -> np.ndarray:
        """Numbers of all ranks, (n_ranks, k) int64 on the host, from (k,) int64 of each."""
        ...

    def share(self, message: Any, every: Any, n_first: int) -> np.ndarray:
        """Fill ``every`` with the messages of all ranks.

        Parameters
        ----------
        message : (k,) int64
        every : (n_ranks, k) int64
        n_first : int

        Returns
        -------
        (n_ranks, n_first) int64
            On the host: the first numbers of each message.
        """
        ...

    def swap(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        """Send ``outgoing[r]`` to each other rank r, and fill ``incoming[r]`` with what r sent.

        Both ends know the sizes beforehand; the rank's own places are None.
        """
        ...

    def begin(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        """Begin to ``swap``; what is launched until ``end`` goes on beside it.

        Until then ``outgoing`` must not be changed, ``incoming`` not be read, and nothing else be
        exchanged.
        """
        ...

    def end(self) -> None:
        """What was begun has arrived, or will have before what is launched afterwards."""
        ...

    def span_s(self) -> float:
        """Seconds for which what was begun last was on its way, once the device is done."""
        ...

    def close(self) -> None:
        """Give up; other ranks' exchanges fail from now on."""
        ...

    def leave(self) -> None:
        """End the connection, after all exchanges are done, and free what it held."""
        ...


class ThreadCollective:
    """One rank among threads that share memory, or one GPU and its default stream.

    Made by ``thread_collectives``. On a GPU what a thread launched before it waits is done before
    what another launches afterwards, so arrays need no further order.
    """

    def __init__(self, rank: int, shared: list[Any], barrier: threading.Barrier):
        self.rank, self.n_ranks = rank, len(shared)
        self._shared, self._barrier = shared, barrier
        self._beside: ThreadPoolExecutor | None = None  # who swaps what was begun
        self._begun: Future | None = None
        self._span_s, self.n_done = 0.0, 0

    def gather(self, values: Any) -> np.ndarray:
        self._shared[self.rank] = values
        self._wait()
        every = np.stack([to_host(each) for each in self._shared])
        self._done()
        return every

    def share(self, message: Any, every: Any, n_first: int) -> np.ndarray:
        self._shared[self.rank] = message
        self._wait()
        for rank, sent in enumerate(self._shared):
            every[rank] = sent
        first = to_host(every[:, :n_first].copy())
        self._done()
        return first

    def swap(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        self._shared[self.rank] = outgoing
        self._wait()
        began = time.perf_counter()
        for rank, place in enumerate(incoming):
            if place is not None:
                place[...] = self._shared[rank][self.rank]
        self._span_s = time.perf_counter() - began
        self._done()

    def begin(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        if self._beside is None:
            self._beside = ThreadPoolExecutor(1, f"rank-{self.rank}")
        self._begun = self._beside.submit(self.swap, outgoing, incoming)

    def end(self) -> None:
        if self._begun is not None:
            begun, self._begun = self._begun, None
            begun.result()

    def span_s(self) -> float:
        return self._span_s

    def close(self) -> None:
        self._barrier.abort()

    def leave(self) -> None:
        self._shared[self.rank] = None
        if self._beside is not None:
            self._beside.shutdown()
            self._beside = None

    def _done(self) -> None:
        self._wait()  # until all have read
        self.n_done += 1

    def _wait(self) -> None:
        try:
            self._barrier.wait()
        except threading.BrokenBarrierError:
            raise ExchangeError(
                f"rank {self.rank} of {self.n_ranks} waited for one that ended or hangs"
            ) from None


def thread_collectives(n_ranks: int, deadline_s: float = DEADLINE_S) -> list[ThreadCollective]:
    """Collectives of ranks that run as threads of this process, on cores or all on one GPU."""
    shared: list[Any] = [None] * whole_number("n_ranks", n_ranks, 1)
    barrier = threading.Barrier(len(shared), timeout=deadline_s)
    return [ThreadCollective(rank, shared, barrier) for rank in range(len(shared))]
