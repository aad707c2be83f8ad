"""Progress as lines on stderr, now and then, if that is not a terminal."""

from __future__ import annotations

import logging
import time

from pipeline.model.progress import STEPS, Progress
from pipeline.model.words import printable
from pipeline.terminal import log
from pipeline.terminal.lines import to_stderr

LINE_EVERY_S = 2.0  # of a step a line at most this often


class ProgressLines:
    """Writes Progress as lines of text, or of the log if that is JSON; call it with each."""

    def __init__(self) -> None:
        self._last_line: dict[str, float] = {}
        self._last_shown: dict[str, Progress] = {}

    def __call__(self, progress: Progress) -> None:
        if self._last_shown.get(progress.stage) == progress:
            return
        now = time.monotonic()
        ended = progress.total and progress.done >= progress.total
        if ended or now - self._last_line.get(progress.stage, -1e9) >= LINE_EVERY_S:
            self._last_line[progress.stage] = now
            self._last_shown[progress.stage] = progress
            _write(progress)


def _write(progress: Progress) -> None:
    title = STEPS[progress.stage].title
    detail = printable(progress.detail)
    state = progress.counted or ("done" if progress.done and progress.total else "")
    said = ", ".join(part for part in (state, detail) if part)
    line = f"{title}: {said}" if said else title
    if not log.is_json():
        to_stderr(line + "\n")
        return
    numbers: dict[str, object] = {"done": progress.done, "unit": progress.unit}
    if progress.total:
        numbers["total"] = progress.total
    if progress.share is not None:
        numbers["share"] = round(progress.share, 4)
    logging.getLogger(log.OWN).info("%s", line, extra={"progress": numbers})
