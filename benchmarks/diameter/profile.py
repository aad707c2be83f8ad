"""Profile of a diameter: time to initialise, choose, search, update bounds.

Searches whose levels are kept are one compiled call that chooses, searches and updates bounds: a
part of their own.

The solver is not changed for it: while ``timed_parts`` is active, its functions are wrapped. Each
moment counts for the innermost wrapped function; what is in none of them is ``other``.
"""

from __future__ import annotations

import pkgutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from benchmarks.lib.timing import waiter

PARTS = ("initialise", "kept searches", "choose", "search", "bounds", "other")
# Module, function and part, by device.
_DRIVER = "kernels.eccentricity.solver"
_POLICY = "kernels.eccentricity.strategy"
_QUICK = "kernels.eccentricity.small"
_BOUNDS = "kernels.eccentricity.bounds.bounds"
_CORES = "kernels.eccentricity.searches.cpu"
_GPU_DRIVER = "kernels.eccentricity.gpu.solver"
_GPU_BOUNDS = "kernels.eccentricity.gpu.bounds"
WRAPPED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "cpu": (
        (_DRIVER, "EccentricitySolver.__init__", "initialise"),
        (_DRIVER, "EccentricitySolver._begin", "initialise"),
        (_CORES, "CoreSearches.__init__", "initialise"),
        (_QUICK, "search_keeping", "kept searches"),
        (_BOUNDS, "EccentricityBounds.__init__", "initialise"),
        (_CORES, "CoreSearches.search", "search"),
        (_CORES, "CoreSearches.sweep", "search"),
        (_CORES, "CoreSearches.near", "search"),
        (_BOUNDS, "EccentricityBounds.update", "bounds"),
        (_BOUNDS, "EccentricityBounds.restrict", "bounds"),
        (_BOUNDS, "EccentricityBounds._refresh", "bounds"),
        (_DRIVER, "far_pairs", "bounds"),
        (_BOUNDS, "EccentricityBounds.take", "choose"),
        (_BOUNDS, "EccentricityBounds.release", "choose"),
        (_BOUNDS, "EccentricityBounds.pending", "choose"),
        (_BOUNDS, "EccentricityBounds.open_nodes", "choose"),
        (_DRIVER, "EccentricitySolver.facts", "choose"),
        (_POLICY, "choose_step", "choose"),
        (_DRIVER, "choose_landmarks", "choose"),
    ),
    "gpu": (
        (_GPU_DRIVER, "DeviceSolver.__init__", "initialise"),
        (_GPU_BOUNDS, "DeviceBounds.__init__", "initialise"),
        (_GPU_DRIVER, "bfs", "search"),
        ("kernels.multi_source.gpu.sweeps", "DeviceSweeps.sweep", "search"),
        (_GPU_BOUNDS, "DeviceBounds.after_search", "bounds"),
        (_GPU_BOUNDS, "DeviceBounds.after_sweep", "bounds"),
        (_GPU_BOUNDS, "DeviceBounds.find_extremes", "bounds"),
        (_GPU_BOUNDS, "DeviceBounds.move_balls", "bounds"),
        (_GPU_DRIVER, "DeviceSolver._pending", "choose"),
        (_GPU_BOUNDS, "DeviceBounds.open_nodes", "choose"),
        (_GPU_BOUNDS, "DeviceBounds.best", "choose"),
        (_GPU_BOUNDS, "DeviceBounds.first_of_each", "choose"),
    ),
}


class Parts:
    """Seconds of each part; waits for the device at the end of each."""

    def __init__(self, wait: Callable[[], Any]) -> None:
        self.wait = wait
        self.seconds: Counter[str] = Counter()
        self._running = ["other"]
        self._since = time.perf_counter()

    def start(self) -> None:
        self.wait()
        self._since = time.perf_counter()

    def switch(self) -> None:
        """Add the time since the last switch to what runs now."""
        self.wait()
        now = time.perf_counter()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def wrap(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        def timed(*args: Any, **named: Any) -> Any:
            self.switch()
            self._running.append(part)
            try:
                return function(*args, **named)
            finally:
                self.switch()
                self._running.pop()

        return timed

    def shares(self) -> dict[str, float]:
        """Share of each part, in the order of PARTS; 1 in all."""
        total = sum(self.seconds.values())
        return {part: round(self.seconds[part] / total, 4) if total else 0.0 for part in PARTS}


def owner_of(module: str, name: str) -> tuple[Any, str]:
    """Module or class that a function is in, and its name there."""
    path, _, name = name.rpartition(".")
    return pkgutil.resolve_name(f"{module}:{path}"), name


@contextmanager
def timed_parts(device: str = "cpu") -> Iterator[Parts]:
    """Wrap the functions of a device's solver inside the context."""
    with ExitStack() as wraps:
        parts = Parts(waiter(device))
        for module, name, part in WRAPPED[device]:
            owner, name = owner_of(module, name)
            function = vars(owner)[name]
            if isinstance(function, property):
                assert function.fget is not None
                wrapped: Any = property(parts.wrap(function.fget, part))
            else:
                wrapped = parts.wrap(function, part)
            wraps.enter_context(patch.object(owner, name, wrapped))
        parts.start()
        yield parts
        parts.switch()
