"""What a terminal shows: progress on stderr while it works, a short table on stdout."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
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
from rich.table import Table
from rich.text import Text

from pipeline.model.progress import Progress

MIN_TEXT = 8  # columns of a table's text, however narrow the terminal
QUIET_S = 1.0  # seconds of preparing that need no word
COMPILES = "the first time, this compiles: up to a minute"
LINE_EVERY_S = 2.0  # where stderr is no terminal, a line of progress at most this often
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

TITLES = {
    "prepare": "Preparing",
    "start": "Starting workers",
    "connect": "Connecting to the cluster",
    "generate": "Generating",
    "read": "Reading",
    "infer": "Inferring links and borders",
    "build": "Building AS graphs",
    "write": "Writing snapshot",
    "search": "Searching",
    "report": "Writing report",
    "calibrate": "Calibrating",
}


def printable(text: str) -> str:
    """Third-party text without control characters: it must not drive the terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


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
        """Say so where what is done in here takes longer than a moment."""
        told = threading.Event()

        def tell() -> None:
            told.set()
            self(Progress("prepare", 0, 0, "", COMPILES))

        timer = threading.Timer(QUIET_S, tell)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            if told.is_set() and self._console.is_terminal:
                self(Progress("prepare", 1, 1, ""))

    def __call__(self, progress: Progress) -> None:
        title = TITLES.get(progress.stage, progress.stage)
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


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table on stdout: an AS number, text, then figures; the text gets what is left.

    Last columns that a narrow terminal has no room for are left out, and named below.
    """
    console = Console()
    cells = [[str(row[0]), *(_cell(value) for value in row[1:])] for row in rows]
    widths = [
        max(len(text) for text in (*name.split(), *(row[i] for row in cells)))
        for i, name in enumerate(header)
    ]
    figures = [width + 2 for i, width in enumerate(widths) if i != 1]  # with border and padding
    room = console.width - MIN_TEXT - 3
    n_shown = max(2, 1 + sum(used <= room for used in accumulate(figures)))
    left = console.width - 3 - sum(figures[: n_shown - 1])
    table = Table(title=title, title_justify="left", title_style="bold", padding=(0, 0, 0, 1))
    for i, name in enumerate(header[:n_shown]):
        if i == 1:
            table.add_column(name, max_width=left, overflow="ellipsis", no_wrap=True)
        else:
            table.add_column(name, justify="right", width=widths[i], overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row[:n_shown]))
    console.print(table)
    if n_shown < len(header):
        print_line(f"Wider terminals show: {', '.join(header[n_shown:])}")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    return printable(f"{value:,}" if isinstance(value, int) else str(value))


def print_line(text: str) -> None:
    """One line of the result, on stdout."""
    sys.stdout.write(printable(text) + "\n")


def warn(text: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"hopscope: {printable(text)}\n")
