"""Progress of a stage, for progress bars, artifacts and logs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

MOST_SHARE = 0.99  # of a step that has not ended; from here on no time left is estimated

Step = Literal[
    "prepare",
    "start",
    "connect",
    "generate",
    "read",
    "infer",
    "build",
    "write",
    "save",
    "search",
    "report",
    "calibrate",
    "compare",
]


@dataclass(frozen=True)
class ShownStep:
    """How a step of a command or a flow is shown.

    ``title``: before its counts. ``percent``: where it begins and ends within a flow's task, in per
    cent, roughly by its time.
    """

    title: str
    percent: tuple[float, float] = (0.0, 100.0)


STEPS: dict[Step, ShownStep] = {
    "prepare": ShownStep("Loading the program"),
    "start": ShownStep("Starting workers", (0.0, 0.0)),
    "connect": ShownStep("Connecting to the cluster", (0.0, 0.0)),
    "generate": ShownStep("Generating"),
    "read": ShownStep("Reading", (0.0, 70.0)),
    "infer": ShownStep("Inferring links and borders", (70.0, 90.0)),
    "build": ShownStep("Building AS graphs", (90.0, 95.0)),
    "write": ShownStep("Writing snapshot", (95.0, 100.0)),
    "save": ShownStep("Writing file"),
    "search": ShownStep("Searching"),
    "report": ShownStep("Writing report"),
    "calibrate": ShownStep("Calibrating"),
    "compare": ShownStep("Comparing"),
}


@dataclass(frozen=True)
class Progress:
    """One report of progress.

    ``done`` of ``total`` ``unit``; total 0 means not known yet. ``detail`` is one short line
    (a file, an AS); third-party text in it is not escaped. ``share``: of the work that was
    expected, from 0 to 1, where that says more than ``done``. ``is_timed``: the share says how long
    the rest takes; false while exact searches are open, since their number is not known in advance.
    ``counts``: of a run that searches
    (``schedule.counts``): ases, ases_left, tasks_left, searches, retries, lost_workers,
    resident_graphs, resident_cpu_bytes, resident_gpu_bytes.
    """

    stage: Step
    done: int
    total: int
    unit: str
    detail: str = ""
    share: float | None = None
    is_timed: bool = True
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def counted(self) -> str:
        """``3 of 10 files``; empty for a step of one thing, and while nothing is known."""
        return counted(self.done, self.total, self.unit)


def counted(done: int, total: int, unit: str) -> str:
    """How far a step is; ``unit`` is a plural, so a step of one thing is not counted."""
    if total == 1 or not (total or done):
        return ""
    of = f" of {total:,}" if total else ""
    return f"{done:,}{of} {unit}".rstrip()


# Where a detail names the page of the cluster that works.
DASHBOARD_LINK = re.compile(r"https?://[0-9A-Za-z.\[\]:-]+:\d+/status")

ProgressCallback = Callable[[Progress], None]


def no_progress(_: Progress) -> None:
    """Ignore progress."""
