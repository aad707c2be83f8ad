"""What became of a stage's task: its result, or a one-line failure for the flow to end with."""

from __future__ import annotations

from typing import Any

from prefect.exceptions import FailedRun
from prefect.states import Failed, State

from pipeline.errors import PipelineError

# What input, options and disks can cause: an answer in one line, not an accident of the program.
EXPECTED = (PipelineError, OSError)


def one_line(error: BaseException) -> str:
    """What a person reads of an expected error."""
    if isinstance(error, OSError):  # a full disk, a folder that is a file, no permission
        return f"{error.filename or 'system'}: {error.strerror or error}"
    return str(error)


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
