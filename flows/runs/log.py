"""Warnings of a stage in the log of its flow run: Prefect keeps only its own loggers' lines."""

from __future__ import annotations

import contextlib
import logging

from prefect.logging import get_run_logger

from pipeline.terminal.lines import modules_handled_by


class _ToRun(logging.Handler):
    def __init__(self, run: logging.Logger | logging.LoggerAdapter):
        super().__init__(logging.WARNING)
        self._run = run

    def emit(self, record: logging.LogRecord) -> None:
        self._run.log(record.levelno, "%s", record.getMessage())


def warnings_in_run_log() -> contextlib.AbstractContextManager[None]:
    """Within a task run: warnings of a stage, from any thread, go to the run's log."""
    return modules_handled_by(_ToRun(get_run_logger()))
