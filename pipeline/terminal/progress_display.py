"""Progress on stderr while a command works."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import (
    Progress as Bars,
)

from pipeline.compiled import FIRST_RUN, has_compiled
from pipeline.model.progress import STEPS, Progress
from pipeline.terminal import log
from pipeline.terminal.lines import printable
from pipeline.terminal.progress_lines import ProgressLines

QUIET_S = 1.0  # seconds of preparation without a message


class ProgressDisplay:
    """Shows Progress on stderr: bars on a terminal, a line now and then elsewhere or in JSON.

    Call it with each Progress; use it as a context manager.
    """

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._has_bars = console.is_terminal and not log.is_json()
        self._bars = Bars(
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[detail]}", style="dim", markup=False),
            console=console,
            disable=not self._has_bars,
        )
        self._rows: dict[str, Any] = {}
        self._lines = ProgressLines()

    def __enter__(self) -> ProgressDisplay:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()
        log.about(step=None)

    @contextlib.contextmanager
    def preparing(self) -> Iterator[None]:
        """Show a message if the work in this context takes longer than a moment."""
        is_shown = threading.Event()

        def show() -> None:
            is_shown.set()
            self(Progress("prepare", 0, 0, "", "" if has_compiled() else FIRST_RUN))

        timer = threading.Timer(QUIET_S, show)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            if is_shown.is_set() and self._has_bars:
                self(Progress("prepare", 1, 1, ""))

    def __call__(self, progress: Progress) -> None:
        log.about(step=progress.stage)
        if not self._has_bars:
            self._lines(progress)
            return
        if progress.stage not in self._rows:
            title = STEPS[progress.stage].title
            self._rows[progress.stage] = self._bars.add_task(title, unit="", detail="")
        self._bars.update(
            self._rows[progress.stage],
            completed=progress.done,
            total=progress.total or None,
            unit=progress.unit,
            detail=printable(progress.detail),
        )
