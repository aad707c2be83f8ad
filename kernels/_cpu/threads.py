"""The number of threads of the host's kernels, and the team that runs them.

Kernels release the GIL, so plain threads suffice; results never depend on how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

THREADS_VARIABLE = "HOPSCOPE_THREADS"  # environment: threads of one call of a kernel

Result = TypeVar("Result")
_n_threads: int | None = None


def n_threads() -> int:
    """Threads that one call of a kernel may use: ``use_threads``, or every core of this process.

    ``HOPSCOPE_THREADS`` in the environment overrides the number of cores, if it is a number.
    """
    if _n_threads is not None:
        return _n_threads
    asked = os.environ.get(THREADS_VARIABLE, "")
    return max(1, int(asked)) if asked.isdecimal() and asked.isascii() else n_cores()


def use_threads(n: int | None) -> None:
    """Let each call use ``n`` threads from now on, in this process; None: the default again."""
    global _n_threads
    if n is not None and n < 1:
        raise ValueError(f"{n} threads: give 1 or more")
    _n_threads = n


def n_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


class Team:
    """Some threads, this one among them, that take items one after another.

    ``with Team(2) as team: team.run(call, items)``. The others start at the first use.
    """

    def __init__(self, size: int):
        self.size = size
        self._others = ThreadPoolExecutor(size - 1) if size > 1 else None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        if self._others is not None:
            self._others.shutdown()

    def run(self, call: Callable[[Any], object], items: Iterable[Any]) -> None:
        """``call`` each item, in any order; the first error of a thread is raised here."""
        items = list(items)
        queue = iter(items)  # next() of a list's iterator is atomic under the GIL

        def take() -> None:
            for item in queue:
                call(item)

        if self._others is None or len(items) < 2:
            take()
            return
        others = [self._others.submit(take) for _ in range(min(self.size, len(items)) - 1)]
        try:
            take()
        finally:
            for other in others:
                other.result()

    def map(self, call: Callable[[Any], Result], items: Iterable[Any]) -> list[Result]:
        """What ``call`` returns for each item, in their order."""
        items = list(items)
        results: list[Any] = [None] * len(items)

        def keep(i: int) -> None:
            results[i] = call(items[i])

        self.run(keep, range(len(items)))
        return results
