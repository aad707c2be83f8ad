"""Ranks with one GPU each, processes of one machine or of several, that exchange through NCCL."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import cupy as cp
import cupyx
import numpy as np
from cupy.cuda import nccl

from kernels.partition.exchange import DEADLINE_S, ExchangeError

HIGHEST = -5  # priority of a stream; beyond what a GPU has it means the most that it has


def unique_name() -> bytes:
    """What the ranks of one search have in common; made by one of them or by who starts them."""
    return bytes(nccl.get_unique_id())


class NcclCollective:
    """One rank; uses the current GPU and its current stream.

    Parameters
    ----------
    n_ranks : int
    name : bytes
        Of ``unique_name``, the same for all ranks.
    rank : int
    deadline_s : float
        For one exchange, the work launched before it included.

    Raises
    ------
    ExchangeError
        If the ranks cannot be connected.
    """

    def __init__(self, n_ranks: int, name: bytes, rank: int, deadline_s: float = DEADLINE_S):
        self.rank, self.n_ranks, self.deadline_s = rank, n_ranks, deadline_s
        self.n_done = 0
        self._buffers: dict[int, np.ndarray] = {}  # pinned, by numbers per rank
        self._every: dict[int, Any] = {}
        self._beside: cp.cuda.Stream | None = None  # for what is sent beside other work
        self._ready = cp.cuda.Event(disable_timing=True)
        self._began, self._arrived = cp.cuda.Event(), cp.cuda.Event()
        self._done = cp.cuda.Event(block=False, disable_timing=True)
        try:
            self._nccl = nccl.NcclCommunicator(n_ranks, name, rank)
        except nccl.NcclError as error:
            raise ExchangeError(f"rank {rank} of {n_ranks} cannot be connected: {error}") from error

    def gather(self, values: Any) -> np.ndarray:
        values = cp.asarray(values)
        size = values.size
        if size not in self._every:
            self._every[size] = cp.empty((self.n_ranks, size), np.int64)
        return self.share(values, self._every[size], size)

    def share(self, message: Any, every: Any, n_first: int) -> np.ndarray:
        if n_first not in self._buffers:
            self._buffers[n_first] = cupyx.empty_pinned((self.n_ranks, n_first), np.int64)
        host, stream = self._buffers[n_first], self._stream()
        with self._errors():
            self._nccl.allGather(
                message.data.ptr, every.data.ptr, message.size, nccl.NCCL_INT64, stream
            )
        width = n_first * host.itemsize
        cp.cuda.runtime.memcpy2DAsync(
            host.ctypes.data,
            width,
            every.data.ptr,
            every.strides[0],
            width,
            self.n_ranks,
            cp.cuda.runtime.memcpyDeviceToHost,
            stream,
        )
        self._wait()
        self.n_done += 1
        return np.array(host)

    def swap(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        self._swap(outgoing, incoming, self._stream())

    def begin(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        if self._beside is None:
            # NCCL's few blocks start as soon as any of the others' blocks ends.
            self._beside = cp.cuda.Stream(non_blocking=True, priority=HIGHEST)
        self._ready.record()
        self._beside.wait_event(self._ready)
        self._began.record(self._beside)
        self._swap(outgoing, incoming, int(self._beside.ptr))
        self._arrived.record(self._beside)

    def end(self) -> None:
        cp.cuda.get_current_stream().wait_event(self._arrived)

    def span_s(self) -> float:
        return float(cp.cuda.get_elapsed_time(self._began, self._arrived)) / 1e3

    def _swap(self, outgoing: Sequence[Any], incoming: Sequence[Any], stream: int) -> None:
        with self._errors():
            nccl.groupStart()
            for peer in range(self.n_ranks):
                if peer == self.rank:
                    continue
                sent, room = outgoing[peer], incoming[peer]
                if sent.size:
                    self._nccl.send(sent.data.ptr, sent.size, nccl.NCCL_UINT32, peer, stream)
                if room.size:
                    self._nccl.recv(room.data.ptr, room.size, nccl.NCCL_UINT32, peer, stream)
            nccl.groupEnd()

    def close(self) -> None:
        self._nccl.abort()

    def leave(self) -> None:
        """End the connection, after all exchanges are done; the communicator's memory is freed."""
        self._nccl.destroy()

    def _stream(self) -> int:
        return int(cp.cuda.get_current_stream().ptr)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn NCCL's errors into ExchangeError."""
        try:
            yield
        except nccl.NcclError as error:
            raise ExchangeError(f"rank {self.rank} of {self.n_ranks}: {error}") from error

    def _wait(self) -> None:
        """Until all that was launched is done; a rank that died would keep it forever."""
        self._done.record()
        end = time.monotonic() + self.deadline_s
        while not self._done.done:
            if time.monotonic() > end:
                self.close()
                raise ExchangeError(
                    f"rank {self.rank} of {self.n_ranks} waited {self.deadline_s:g} s for others"
                )
