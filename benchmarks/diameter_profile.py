"""Where the time of a diameter goes: to initialise, choose, search, update bounds.

The driver is not changed for it: while ``timed_parts`` lasts, its functions are wrapped. Each
moment counts for the innermost wrapped function; what is in none of them is ``other``.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from kernels.eccentricity import bounds, cpu, driver

PARTS = ("initialise", "choose", "search", "bounds", "other")
# Names that a version of the driver does not have are passed over.
WRAPPED: tuple[tuple[Any, str, str], ...] = (
    (driver.Answering, "__init__", "initialise"),
    (cpu.CoreSearches, "__init__", "initialise"),
    (bounds.EccentricityBounds, "__init__", "initialise"),
    (cpu.CoreSearches, "search", "search"),
    (cpu.CoreSearches, "sweep", "search"),
    (cpu.CoreSearches, "near", "search"),
    (bounds.EccentricityBounds, "update", "bounds"),
    (bounds.EccentricityBounds, "restrict", "bounds"),
    (bounds.EccentricityBounds, "_refresh", "bounds"),
    (driver, "far_pairs", "bounds"),
    (bounds.EccentricityBounds, "take", "choose"),
    (bounds.EccentricityBounds, "release", "choose"),
    (bounds.EccentricityBounds, "candidates", "choose"),
    (bounds.EccentricityBounds, "open_nodes", "choose"),
    (driver.Answering, "_progress", "choose"),
    (driver, "choose_step", "choose"),
    (driver, "choose_landmarks", "choose"),
)


class Parts:
    """Seconds of each part."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._running = ["other"]
        self._since = time.perf_counter()

    def switch(self) -> None:
        """Give the time since the last switch to what runs now."""
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


@contextmanager
def timed_parts() -> Iterator[Parts]:
    """Wrap the driver's functions while it lasts."""
    with ExitStack() as wraps:
        parts = Parts()
        for owner, name, part in WRAPPED:
            function = vars(owner).get(name)
            if function is None:
                continue
            if isinstance(function, property):
                assert function.fget is not None
                wrapped: Any = property(parts.wrap(function.fget, part))
            else:
                wrapped = parts.wrap(function, part)
            wraps.enter_context(patch.object(owner, name, wrapped))
        parts._since = time.perf_counter()
        yield parts
        parts.switch()
