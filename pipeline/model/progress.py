"""How far a stage has come; what progress bars, artifacts and logs are fed with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One report of progress.

    ``done`` of ``total`` ``unit``; total 0 means not known yet. ``detail`` is one short line
    (a file, an AS); third-party text in it is not escaped. ``share``: of the work that was
    expected, from 0 to 1, where that says more than ``done``.
    """

    stage: str  # a key of ``TITLES`` (pipeline.cli.progress_display): "read", ...
    done: int
    total: int
    unit: str
    detail: str = ""
    share: float | None = None


ProgressCallback = Callable[[Progress], None]


def no_progress(_: Progress) -> None:
    """Ignore progress."""
