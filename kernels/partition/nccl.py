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
        self._buffers: dict[int, tuple[Any, np.ndarray]] = {}  # by numbers per rank
        self._done = cp.cuda.Event(block=False, disable_timing=True)
        try:
            self._nccl = nccl.NcclCommunicator(n_ranks, name, rank)
        except nccl.NcclError as error:
            raise ExchangeError(f"rank {rank} of {n_ranks} cannot be connected: {error}") from error

    def gather(self, values: Any) -> np.ndarray:
        values = cp.asarray(values)
        if values.size not in self._buffers:
            every = cp.empty((self.n_ranks, values.size), np.int64)
            self._buffers[values.size] = every, cupyx.empty_pinned(every.shape, np.int64)
        every, host = self._buffers[values.size]
        with self._errors():
            self._nccl.allGather(
                values.data.ptr, every.data.ptr, values.size, nccl.NCCL_INT64, self._stream()
            )
        every.get(out=host, blocking=False)
        self._wait()
        return np.array(host)

    def swap(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        stream = self._stream()
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
