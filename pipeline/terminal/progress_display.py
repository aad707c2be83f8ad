"""Progress on stderr while a command works."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import Progress as Bars
from rich.progress import ProgressColumn, Task
from rich.text import Text

from pipeline.model.progress import STEPS, Progress
from pipeline.model.words import printable
from pipeline.terminal import log
from pipeline.terminal.progress_lines import ProgressLines
from pipeline.terminal.step_line import StepState, step_line

QUIET_S = 1.0  # seconds of loading without a message


class _StepColumn(ProgressColumn):
    """The whole line of a step, as wide as the terminal."""

    def __init__(self, console: Console):
        super().__init__()
        self._console = console

    def render(self, task: Task) -> Text:
        elapsed_s = task.finished_time if task.finished else task.elapsed
        state = StepState(
            task.description,
            int(task.completed),
            int(task.total or 0),
            task.fields["unit"],
            elapsed_s or 0.0,
            task.fields["share"],
            task.fields["detail"],
            task.finished,
        )
        is_ascii = self._console.options.ascii_only
        return Text(step_line(state, self._console.width, is_ascii), no_wrap=True)


class ProgressDisplay:
    """Shows Progress on stderr: bars on a terminal, a line now and then elsewhere or in JSON.

    Call it with each Progress; use it as a context manager.
    """

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._has_bars = console.is_terminal and not log.is_json()
        self._bars = Bars(
            _StepColumn(console),
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
        """Show a message if loading modules in this context takes longer than a moment.

        Nothing is compiled then: what compiles says so.
        """
        is_shown = threading.Event()

        def show() -> None:
            is_shown.set()
            self(Progress("prepare", 0, 0, ""))

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
            self._end_steps_of_no_length()
            title = STEPS[progress.stage].title
            self._rows[progress.stage] = self._bars.add_task(
                title, total=None, unit="", detail="", share=None
            )
        self._bars.update(
            self._rows[progress.stage],
            completed=progress.done,
            total=progress.total or None,
            unit=progress.unit,
            detail=printable(progress.detail),
            share=progress.share,
        )

    def _end_steps_of_no_length(self) -> None:
        """What has no end of its own ends as the next step begins."""
        for task in self._bars.tasks:
            if task.total is None:
                self._bars.update(task.id, total=1, completed=1)
