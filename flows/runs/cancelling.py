"""A run that is being cancelled ends as Cancelled.

Prefect's worker tells a run why it gets SIGTERM, but not one whose handler of signals is just
another one, or that does not answer within a second: its engine then takes the signal for a crash,
and the run passes through Crashed, for which there are alarms. The server knows better.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.exceptions import TerminationSignal
from prefect.runtime import flow_run
from prefect.states import Cancelled, State


def unless_cancelled(work: Callable[[], State]) -> State:
    """The state of the work of a flow; Cancelled if it was stopped since the run is cancelled.

    Raises
    ------
    TerminationSignal
        If it was stopped for another reason: that is a crash.
    """
    try:
        return work()
    except TerminationSignal:
        if not _is_cancelling():
            raise
        return Cancelled(message="cancelled while it was at work")


def _is_cancelling() -> bool:
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return False
    with contextlib.suppress(Exception), get_client(sync_client=True) as client:
        states = [client.read_flow_run(run).state for run in _with_root(context.flow_run.id)]
        return any(state and (state.is_cancelling() or state.is_cancelled()) for state in states)
    return False  # a server that does not answer knows of no request


def _with_root(run: uuid.UUID) -> set[uuid.UUID]:
    """A run, and the one that it is a part of: a backfill is cancelled as a whole."""
    root = None
    with contextlib.suppress(Exception):
        root = flow_run.get_root_flow_run_id()
    return {run, uuid.UUID(root)} if root else {run}
