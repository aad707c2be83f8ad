"""A run that is being cancelled ends as Cancelled.

Prefect's worker tells a run why it gets SIGTERM, but not one whose handler of signals is just
another one, or that does not answer within a second: its engine then takes the signal for a crash,
and the run passes through Crashed, for which there are alarms. The server knows better.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext
from prefect.exceptions import TerminationSignal
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
        state = client.read_flow_run(context.flow_run.id).state
        return state is not None and (state.is_cancelling() or state.is_cancelled())
    return False  # a server that does not answer knows of no request
