"""The outcome of a task, and how a flow run ends: Completed, Partial, or Failed in one line."""

from __future__ import annotations

import logging
from typing import Any

from prefect.exceptions import CancelledRun, FailedRun
from prefect.states import Completed, Failed, State

from pipeline.errors import PipelineError

# Errors caused by input, options or disks: reported in one line, not as faults of the program.
EXPECTED = (PipelineError, OSError)


# Name of the state, of type COMPLETED, of a run that left something out.
PARTIAL = "Partial"


def ended(message: str, data: Any, *, complete: bool) -> State:
    """The state of a flow run that did something; ``complete``: whether it did all."""
    if complete:
        return Completed(message=message, data=data)
    left_out = f"{message}; something was left out, see the warnings"
    return Completed(name=PARTIAL, message=left_out, data=data)


def result_or_failure(state: State) -> tuple[Any, State | None]:
    """Result of a finished task run, and None; or None, and the state to end the flow with.

    Raises
    ------
    Exception
        What the task raised: a fault of the program, not of its input.
    """
    try:
        return state.result(), None
    except FailedRun as error:
        return None, Failed(message=str(error))


class FailedStateFilter(logging.Filter):
    """Lets Prefect log a Failed or Cancelled state that a flow or task returned as its one line.

    Its engines take such a state for an exception and log a traceback of their own code, which
    does not help with a wrong input.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if not isinstance(record.exc_info, tuple):
            return True
        error = record.exc_info[1]
        is_returned = isinstance(error, FailedRun | CancelledRun)
        if is_returned:
            record.msg, record.args = str(error), ()
        if error is None or is_returned:
            record.exc_info = None
        return True


def log_failed_states_in_one_line() -> None:
    """Apply the filter to the loggers of Prefect's engines; a second time does nothing."""
    for name in ("prefect.engine", "prefect.flow_runs", "prefect.task_runs"):
        logger = logging.getLogger(name)
        if not any(isinstance(known, FailedStateFilter) for known in logger.filters):
            logger.addFilter(FailedStateFilter())
