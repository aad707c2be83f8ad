"""A link of a given speed between ranks that are threads, which share memory otherwise."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from kernels.partition import Collective


class SlowLink:
    """A collective whose arrays arrive later: by their bytes over the speed of the link.

    Counts and small lists are as quick as before. A rank sends and receives at the same time.
    """

    def __init__(self, within: Collective, bytes_s: float):
        self._within, self._bytes_s = within, bytes_s
        self.rank, self.n_ranks, self.n_done = within.rank, within.n_ranks, 0
        self._beside = ThreadPoolExecutor(1)
        self._begun: Future | None = None
        self._span_s = 0.0

    def gather(self, values: Any) -> np.ndarray:
        return self._within.gather(values)

    def share(self, message: Any, every: Any, n_first: int) -> np.ndarray:
        return self._within.share(message, every, n_first)

    def swap(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        began = time.perf_counter()
        self._within.swap(outgoing, incoming)
        n_bytes = sum(each.nbytes for each in incoming if each is not None)
        time.sleep(n_bytes / self._bytes_s)
        self._span_s = time.perf_counter() - began

    def begin(self, outgoing: Sequence[Any], incoming: Sequence[Any]) -> None:
        self._begun = self._beside.submit(self.swap, outgoing, incoming)

    def end(self) -> None:
        if self._begun is not None:
            self._begun.result()

    def span_s(self) -> float:
        return self._span_s

    def close(self) -> None:
        self._within.close()

    def leave(self) -> None:
        self._beside.shutdown()
        self._within.leave()
