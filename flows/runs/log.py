"""Warnings of a stage in the log of its flow run: Prefect keeps only its own loggers' lines."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from prefect.logging import get_run_logger

LOGGER = "pipeline"  # and all below it


class _ToRun(logging.Handler):
    def __init__(self, run: logging.Logger | logging.LoggerAdapter):
        super().__init__(logging.WARNING)
        self._run = run

    def emit(self, record: logging.LogRecord) -> None:
        self._run.log(record.levelno, "%s", record.getMessage())


@contextlib.contextmanager
def warnings_in_run_log() -> Iterator[None]:
    """Within a task run: warnings of a stage, from any thread, go to the run's log."""
    handler = _ToRun(get_run_logger())
    logger = logging.getLogger(LOGGER)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
