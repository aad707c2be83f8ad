"""Progress on stderr while a command works."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
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
from pipeline.terminal.lines import printable

QUIET_S = 1.0  # seconds of preparation without a message
LINE_EVERY_S = 2.0  # where stderr is no terminal, a line of progress at most this often


class ProgressDisplay:
    """Shows Progress on stderr: bars on a terminal, a line now and then elsewhere.

    Call it with each Progress; use it as a context manager.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bars = Bars(
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[detail]}", style="dim", markup=False),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._rows: dict[str, Any] = {}
        self._last_line: dict[str, float] = {}
        self._last_shown: dict[str, Progress] = {}

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
            if is_shown.is_set() and self._console.is_terminal:
                self(Progress("prepare", 1, 1, ""))

    def __call__(self, progress: Progress) -> None:
        title = STEPS[progress.stage].title
        detail = printable(progress.detail)
        if self._console.is_terminal:
            if progress.stage not in self._rows:
                self._rows[progress.stage] = self._bars.add_task(title, unit="", detail="")
            self._bars.update(
                self._rows[progress.stage],
                completed=progress.done,
                total=progress.total or None,
                unit=progress.unit,
                detail=detail,
            )
            return
        if self._last_shown.get(progress.stage) == progress:
            return
        now = time.monotonic()
        ended = progress.total and progress.done >= progress.total
        if ended or now - self._last_line.get(progress.stage, -1e9) >= LINE_EVERY_S:
            self._last_line[progress.stage] = now
            self._last_shown[progress.stage] = progress
            of = f" of {progress.total}" if progress.total else ""
            count = f": {progress.done}{of} {progress.unit}" if of or progress.done else ""
            line = f"{title}{count} {detail}" if count else f"{title}: {detail}".rstrip(": ")
            sys.stderr.write(line.rstrip() + "\n")
            sys.stderr.flush()
