"""Progress of a stage as a Prefect progress artifact, and for listeners in this process."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import threading
from collections.abc import Iterator
from typing import cast
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.exceptions import MissingContextError
from prefect.logging import get_run_logger

from flows.pages.inert import inert
from kernels.compiled import FIRST_RUN
from pipeline.model.progress import STEPS, Progress, ProgressCallback
from pipeline.terminal import log
from pipeline.terminal.progress_lines import ProgressLines

# Seconds between updates: each costs a request of some 10 ms.
UPDATE_EVERY_S = 1.5
LAST_UPDATE_WAIT_S = 10.0

_listeners: list[ProgressCallback] = []

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def listening(listener: ProgressCallback) -> Iterator[None]:
    """Also pass every progress of this process's stages to ``listener`` (a terminal, a test)."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextlib.contextmanager
def progress_artifact(key: str, title: str) -> Iterator[ProgressCallback]:
    """A callback whose newest progress shows as an artifact of the current task run.

    A separate thread writes the artifact: a slow or absent server neither delays a stage
    nor makes it fail. Leaving the context without an error sets it to 100 %.

    Parameters
    ----------
    key : str
        Key of the artifact; lower case letters, digits and dashes.
    title : str
        Its description until there is progress.
    """
    publisher = _Publisher(key, title)
    thread = threading.Thread(
        # Prefect finds the task run, which owns the artifact, in context variables.
        target=contextvars.copy_context().run,
        args=(publisher.run,),
        name=f"progress-{key}",
        daemon=True,
    )
    thread.start()
    try:
        yield publisher
        publisher.complete = True
    finally:
        log.about(step=None)
        publisher.ended.set()
        thread.join(LAST_UPDATE_WAIT_S)


class _Publisher:
    """Keeps the newest progress and publishes it now and then."""

    def __init__(self, key: str, title: str):
        self.key, self.title = key, title
        self.ended = threading.Event()
        self.complete = False
        self._newest: Progress | None = None
        self._artifact: UUID | None = None
        self._failed = False  # the last time, so that a failure is logged once
        self._lines = ProgressLines()
        self._is_compiling = False

    def __call__(self, progress: Progress) -> None:
        self._newest = progress
        log.about(step=progress.stage)
        if FIRST_RUN in progress.detail and not self._is_compiling:
            self._is_compiling = True
            with contextlib.suppress(MissingContextError):
                get_run_logger().info("%s: %s", STEPS[progress.stage].title, FIRST_RUN)
        for listener in _listeners:
            listener(progress)
        if log.is_json() and not _listeners:
            self._lines(progress)

    def run(self) -> None:
        """Publish until ended; the last state too."""
        shown = None
        while True:
            ended = self.ended.is_set()
            wanted = self._wanted(ended)
            # An absent server may be back the next time.
            if wanted != shown and self._publish(*wanted):
                shown = wanted
            if ended:
                return
            self.ended.wait(UPDATE_EVERY_S)

    def _wanted(self, ended: bool) -> tuple[float, str]:
        newest = self._newest
        percent = 100.0 if ended and self.complete else _percent(newest)
        return percent, _words(newest) if newest else self.title

    def _publish(self, percent: float, description: str) -> bool:
        """Whether the server accepted it; errors never stop the stage."""
        try:
            if self._artifact is None:
                created = create_progress_artifact(percent, key=self.key, description=description)
                # Called outside an event loop, so it is not a coroutine.
                self._artifact = cast(UUID, created)
            else:
                update_progress_artifact(self._artifact, percent, description=description)
        except Exception as error:
            if not self._failed:
                logger.warning("progress is not shown: %s", error)
            self._failed = True
            return False
        self._failed = False
        return True


def _percent(progress: Progress | None) -> float:
    """Percent of the whole task for a progress of one of its stages."""
    if progress is None:
        return 0.0
    first, last = STEPS[progress.stage].percent
    share = min(1.0, progress.done / progress.total) if progress.total > 0 else 0.0
    if progress.share is not None:
        share = progress.share
    return first + (last - first) * share


def _words(progress: Progress) -> str:
    title = STEPS[progress.stage].title
    words = ", ".join(part for part in (progress.counted, inert(progress.detail)) if part)
    return f"{title}: {words}" if words else title
