"""What the ranks of a gang say to one another over Dask's own connections.

Every worker can reach every other, encrypted and authenticated as the cluster is, so ranks on cores
need no port of their own. Ranks on GPUs use it until NCCL connects them.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from distributed import get_worker
from distributed.protocol import to_serialize

from kernels.partition import Collective, ExchangeError

HANDLER = "hopscope_gang"
GOODBYE_S = 2.0  # seconds to tell others that this rank gives up
_LOCK = threading.Lock()


@dataclass(eq=False)
class Inbox:
    """What other ranks have sent to this one, until it takes it."""

    arrived: dict[tuple[int, int], Any] = field(default_factory=dict)  # by sender and number
    over: str = ""  # why nothing more will be exchanged
    counted: list[Any] = field(default_factory=list)  # collectives of this rank
    changed: threading.Condition = field(default_factory=threading.Condition)

    def put(self, sender: int, number: int, array: Any) -> None:
        with self.changed:
            self.arrived[sender, number] = array
            self.changed.notify_all()

    def end(self, reason: str) -> None:
        with self.changed:
            self.over = self.over or reason
            self.changed.notify_all()

    def take(self, sender: int, number: int, end: float) -> Any:
        """Wait for one message until ``time.monotonic()`` is ``end``."""
        with self.changed:
            while (sender, number) not in self.arrived:
                if self.over:
                    raise ExchangeError(self.over)
                left_s = end - time.monotonic()
                if left_s <= 0 or not self.changed.wait(left_s):
                    raise TimeoutError
            return self.arrived.pop((sender, number))


_INBOXES: dict[str, Inbox] = {}  # of this process, by gang


def open_inbox(gang: str, dask_worker: Any = None) -> bool:
    """Executed on each worker of a gang, which Dask passes, before its ranks begin; True."""
    with _LOCK:
        _INBOXES.setdefault(gang, Inbox())
    dask_worker.handlers[HANDLER] = deliver
    return True


def close_inbox(gang: str, reason: str) -> bool:
    """Executed on each worker when a gang is over; a rank that still waits ends. Whether it was."""
    with _LOCK:
        inbox = _INBOXES.pop(gang, None)
    if inbox is not None:
        inbox.end(reason)
    return inbox is not None


def n_done(gang: str) -> int:
    """Executed on a worker: how many exchanges its rank has done."""
    inbox = _INBOXES.get(gang)
    return sum(each.n_done for each in inbox.counted) if inbox is not None else 0


def n_open() -> int:
    """Executed on a worker: gangs that it takes part in."""
    return len(_INBOXES)


async def deliver(gang: str, sender: int, number: int, array: Any = None, over: str = "") -> bool:
    """A message of another rank; False if this worker is in no such gang (any more)."""
    inbox = _INBOXES.get(gang)
    if inbox is None:
        return False
    if over:
        inbox.end(over)
    else:
        inbox.put(sender, number, array)
    return True


class WorkerCollective:
    """One rank, in a task of a Dask worker; a ``kernels.partition.Collective`` of NumPy arrays.

    Parameters
    ----------
    gang : str
        ``open_inbox`` has been called on all workers of the gang.
    rank : int
    workers : sequence of str
        Addresses of the ranks' workers.
    deadline_s : float
        For one exchange; may be changed between two.
    """

    def __init__(self, gang: str, rank: int, workers: Sequence[str], deadline_s: float):
        self.rank, self.n_ranks, self.deadline_s = rank, len(workers), deadline_s
        self._gang, self._workers, self._number = gang, list(workers), 0
        self._incoming: Sequence[Any] = ()  # where to put what has not arrived
        self._sent: dict[int, Future] = {}
        self._began = self._span_s = 0.0
        inbox = _INBOXES.get(gang)
        if inbox is None:
            raise ExchangeError(f"rank {rank} of {self.n_ranks}: the gang has ended")
        self._inbox, self.n_done = inbox, 0
        self.count(self)
        self._worker = get_worker()
        self._loop = self._worker.loop.asyncio_loop

    def count(self, collective: Collective) -> None:
        """Count the exchanges of one more collective as those of this rank."""
        self._inbox.counted.append(collective)

    def gather(self, values: np.ndarray) -> np.ndarray:
        values = np.ascontiguousarray(values, np.int64)
        every = np.empty((self.n_ranks, values.size), np.int64)
        return self.share(values, every, values.size)

    def share(self, message: np.ndarray, every: np.ndarray, n_first: int) -> np.ndarray:
        every[self.rank] = message
        others = [None if r == self.rank else every[r] for r in range(self.n_ranks)]
        self.swap([None if each is None else message for each in others], others)
        return every[:, :n_first].copy()

    def swap(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        self.begin(outgoing, incoming)
        self.end()

    def begin(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        self._number += 1
        self._began = time.monotonic()
        self._incoming = incoming
        self._sent = {
            peer: self._send(peer, array=to_serialize(array))
            for peer, array in enumerate(outgoing)
            if array is not None
        }

    def end(self) -> None:
        over = time.monotonic() + self.deadline_s
        for peer, place in enumerate(self._incoming):
            if place is not None:
                place[...] = self._await(peer, lambda peer=peer: self._take(peer, over))
        for peer, future in self._sent.items():
            left_s = max(0.0, over - time.monotonic())
            if not self._await(peer, lambda f=future, s=left_s: f.result(s)):
                raise ExchangeError(self._inbox.over or f"{self._who(peer)} has left the gang")
        self._incoming, self._sent = (), {}
        self.n_done += 1
        self._span_s = time.monotonic() - self._began

    def span_s(self) -> float:
        return self._span_s

    def close(self, reason: str = "") -> None:
        """Give up: the others learn it at once."""
        reason = reason or f"rank {self.rank} of {self.n_ranks} gave up"
        self._inbox.end(reason)
        futures = [
            self._send(peer, over=reason) for peer in range(self.n_ranks) if peer != self.rank
        ]
        end = time.monotonic() + GOODBYE_S
        for future in futures:
            with contextlib.suppress(Exception):  # it is gone, or will find out by its deadline
                future.result(max(0.0, end - time.monotonic()))

    def leave(self) -> None:
        with _LOCK:
            _INBOXES.pop(self._gang, None)

    def _take(self, peer: int, end: float) -> Any:
        return self._inbox.take(peer, self._number, end)

    def _who(self, peer: int) -> str:
        return f"rank {peer} of {self.n_ranks} on {self._workers[peer]}"

    def _await(self, peer: int, wait: Any) -> Any:
        try:
            return wait()
        except ExchangeError:
            raise
        except TimeoutError:
            reason = f"{self._who(peer)} did not answer within {self.deadline_s:g} s"
        except (OSError, asyncio.CancelledError) as error:
            reason = f"{self._who(peer)} cannot be reached: {error}"
        raise ExchangeError(self._inbox.over or reason)

    def _send(self, peer: int, **message: Any) -> Future:
        message |= {"gang": self._gang, "sender": self.rank, "number": self._number}

        async def send() -> bool:
            call = getattr(self._worker.rpc(self._workers[peer]), HANDLER)
            return await asyncio.wait_for(call(**message), self.deadline_s)

        return asyncio.run_coroutine_threadsafe(send(), self._loop)
