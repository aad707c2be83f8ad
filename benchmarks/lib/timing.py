"""Time of calls: repeated until a budget is spent, then median, least and 95th percentile."""

from __future__ import annotations

import gc
import itertools
import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

AT_LEAST, AT_MOST = 5, 101  # calls
BUDGET_S = 1.0
LONG_S = 10.0  # three calls suffice if each takes longer than this


@dataclass(frozen=True)
class Timing:
    """Seconds of each call, in their order, and what the last call returned."""

    times_s: tuple[float, ...]
    last: Any = None

    @property
    def median_ms(self) -> float:
        return 1e3 * statistics.median(self.times_s)

    def columns(self) -> dict[str, float | int]:
        """median_ms, min_ms, p95_ms and repeats, as a row of results has them."""
        return {
            "median_ms": _short(self.median_ms),
            "min_ms": _short(1e3 * min(self.times_s)),
            "p95_ms": _short(1e3 * float(np.percentile(self.times_s, 95))),
            "repeats": len(self.times_s),
        }


def time_calls(
    call: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]] = ((),),
    *,
    wait: Callable[[], Any] = lambda: None,
    budget_s: float = BUDGET_S,
    at_least: int = AT_LEAST,
    at_most: int = AT_MOST,
    clock: Callable[[], float] = time.perf_counter,
) -> Timing:
    """Time a call again and again.

    Parameters
    ----------
    call
        What is timed. Results are freed before the clock starts again.
    arguments
        Of each call in turn, and from the start again: searches from other sources, for instance.
    wait
        Waits until a device is idle: called before the clock starts, and again before it stops.
    budget_s : float
        Seconds; enough once the calls have taken this long in all.
    at_least, at_most : int
        Calls; at least 3 where each takes LONG_S or longer.
    clock
        Seconds; by default those that pass, else those that the processor worked, for instance.

    Notes
    -----
    No call is discarded: warm up beforehand. The garbage collector is off during the calls, as in
    timeit.
    """
    times: list[float] = []
    collects = gc.isenabled()
    gc.disable()
    try:
        for given in itertools.cycle(arguments):
            result = None
            wait()
            started = clock()
            result = call(*given)
            wait()
            times.append(clock() - started)
            needed = min(at_least, 3) if statistics.median(times) >= LONG_S else at_least
            if len(times) >= at_most or (len(times) >= needed and sum(times) >= budget_s):
                break
    finally:
        if collects:
            gc.enable()
    return Timing(tuple(times), result)


def time_once(call: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    """Seconds of one call, and what it returned."""
    timing = time_calls(call, [given], budget_s=0, at_least=1, at_most=1)
    return timing.times_s[0], timing.last


class OtherWork:
    """How many cores other processes kept busy on average since this was made."""

    def __init__(self) -> None:
        self.started = self._now()

    def n_cores(self) -> float | None:
        """None if the system does not report it."""
        if self.started is None or (now := self._now()) is None:
            return None
        wall_s, others_s = (after - before for before, after in zip(self.started, now, strict=True))
        return round(max(0.0, others_s / wall_s), 2)

    @staticmethod
    def _now() -> tuple[float, float] | None:
        """Wall time, and processor time of all processes but this one and its children."""
        try:
            fields = Path("/proc/stat").read_text().split(None, 9)[1:9]
        except OSError:
            return None
        user, nice, system, _, _, irq, softirq, stolen = (int(field) for field in fields)
        busy = user + nice + system + irq + softirq + stolen
        return time.perf_counter(), busy / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def waiter(device: str) -> Callable[[], Any]:
    """A function that waits until a device (``cpu`` or ``gpu``) is idle; for a host, at once."""
    if device == "cpu":
        return lambda: None
    import cupy

    return cupy.cuda.Device().synchronize


def _short(ms: float) -> float:
    """Four digits: more are noise."""
    return float(f"{ms:.4g}")
