"""Peak memory of a process and all that it starts, sampled from outside."""

from __future__ import annotations

import threading
import time

import psutil

EVERY_S = 0.1


class MemorySampler:
    """Samples a process and its descendants until it is left as a context.

    Memory is the proportional set size (Pss) if the system reports it: a page that n processes
    share counts 1/n in each. Elsewhere it is the resident set size, which counts shared pages
    again in each process.

    Attributes
    ----------
    measure : str
        ``pss`` or ``rss``.
    samples : list of (float, list of int)
        Seconds since 1970, bytes of each process.
    """

    def __init__(self, pid: int):
        self._root = psutil.Process(pid)
        self.measure = "pss" if hasattr(self._root.memory_full_info(), "pss") else "rss"
        self.samples: list[tuple[float, list[int]]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> MemorySampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def peak(self, until: float | None = None) -> tuple[float, list[int]]:
        """When the sum was largest (before ``until``), and bytes of each process then."""
        within = [sample for sample in self.samples if until is None or sample[0] <= until]
        return max(within, key=lambda sample: sum(sample[1]), default=(0.0, []))

    def _sample(self) -> None:
        while not self._ended.wait(EVERY_S):
            try:
                processes = [self._root, *self._root.children(recursive=True)]
            except psutil.Error:
                return
            n_bytes = [n for n in map(self._bytes, processes) if n]
            self.samples.append((time.time(), sorted(n_bytes, reverse=True)))

    def _bytes(self, process: psutil.Process) -> int:
        try:
            if self.measure == "pss":
                return process.memory_full_info().pss
            return process.memory_info().rss
        except psutil.Error:  # it has ended
            return 0
