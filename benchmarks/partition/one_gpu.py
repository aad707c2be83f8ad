"""Ranks that are threads with streams of their own on one GPU, and a link of a given speed.

What is sent is copied on the GPU; over a link it arrives as late as its bytes over that speed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import cupy as cp
import numpy as np

from kernels.partition import ExchangeError

WAIT = r"""
extern "C" __global__ void wait_ns(const unsigned long long ns)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now - begin < ns);
}
"""


class OneGpuCollective:
    """One rank; made by ``one_gpu_collectives``, used by one thread with a stream of its own."""

    def __init__(
        self, rank: int, shared: list[Any], barrier: threading.Barrier, bytes_s: float | None
    ):
        self.rank, self.n_ranks, self.n_done = rank, len(shared), 0
        self._shared, self._barrier, self._bytes_s = shared, barrier, bytes_s
        self._beside = cp.cuda.Stream(non_blocking=True)
        self._began, self._arrived = cp.cuda.Event(), cp.cuda.Event()
        self._others: list[Any] = []
        self._delay = cp.RawKernel(WAIT, "wait_ns")

    def gather(self, values: Any) -> np.ndarray:
        values = cp.asarray(values)
        return self.share(values, cp.empty((self.n_ranks, values.size), np.int64), values.size)

    def share(self, message: Any, every: Any, n_first: int) -> np.ndarray:
        here = cp.cuda.get_current_stream()
        for rank, (sent, ready) in enumerate(self._all((message, self._mark(here)))):
            here.wait_event(ready)
            every[rank] = sent
        first = every[:, :n_first].get()
        self._wait()
        self.n_done += 1
        return first

    def swap(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        self._begin(outgoing, incoming, cp.cuda.get_current_stream())
        self.end()

    def begin(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        self._begin(outgoing, incoming, self._beside)

    def end(self) -> None:
        here = cp.cuda.get_current_stream()
        for arrived in self._others:  # nobody reads what this rank sent any more
            here.wait_event(arrived)
        self._others = []
        self.n_done += 1

    def span_s(self) -> float:
        return float(cp.cuda.get_elapsed_time(self._began, self._arrived)) / 1e3

    def close(self) -> None:
        self._barrier.abort()

    def leave(self) -> None:
        self._shared[self.rank] = None

    def _begin(self, outgoing: Sequence[Any], incoming: Sequence[Any], stream: Any) -> None:
        every = self._all((outgoing, self._mark(cp.cuda.get_current_stream())))
        n_bytes = 0
        for _, ready in every:
            stream.wait_event(ready)
        self._began.record(stream)
        with stream:
            for (sent, _), place in zip(every, incoming, strict=True):
                if place is not None and place.size:
                    place[...] = sent[self.rank]
                    n_bytes += place.nbytes
            if self._bytes_s is not None and n_bytes:
                self._delay((1,), (1,), (np.uint64(1e9 * n_bytes / self._bytes_s),))
        self._arrived.record(stream)
        self._wait()
        self._others = self._all(self._arrived)
        self._wait()

    def _mark(self, stream: Any) -> Any:
        event = cp.cuda.Event(disable_timing=True)
        event.record(stream)
        return event

    def _all(self, value: Any) -> list[Any]:
        """What all ranks show."""
        self._shared[self.rank] = value
        self._wait()
        return list(self._shared)

    def _wait(self) -> None:
        try:
            self._barrier.wait()
        except threading.BrokenBarrierError:
            raise ExchangeError(f"rank {self.rank} of {self.n_ranks} waited in vain") from None


def one_gpu_collectives(n_ranks: int, bytes_s: float | None) -> list[OneGpuCollective]:
    """Collectives of ranks that are threads of this process, all on one GPU."""
    shared: list[Any] = [None] * n_ranks
    barrier = threading.Barrier(n_ranks, timeout=600)
    return [OneGpuCollective(rank, shared, barrier, bytes_s) for rank in range(n_ranks)]
