"""The same function of many things, in several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Found = TypeVar("Found")


def each(
    function: Callable[[Given], Found], given: Sequence[Given], workers: int = 1
) -> Iterator[Found]:
    """Results in the order of ``given``; of one worker, in this process."""
    if workers < 2 or len(given) < 2:
        yield from map(function, given)
        return
    context = multiprocessing.get_context("spawn")  # forked threads of numba would hang
    with ProcessPoolExecutor(min(workers, len(given)), mp_context=context) as pool:
        yield from pool.map(function, given)
