"""A stage is retried once if what stopped it may pass by itself.

What the stage has done by then stays: files that were read, results that are durable.
"""

from __future__ import annotations

import errno
from typing import Any

from prefect.states import Failed, State

from pipeline.places import in_one_line

UNAVAILABLE = "Unavailable"  # name of the task's state
CLUSTER_LOST = "ClusterLost"  # likewise
# A file system of another machine that is away for a moment, a disk that did not answer.
_PASSING = frozenset(
    {
        *(errno.EIO, errno.ESTALE, errno.ETIMEDOUT),  # no EAGAIN: a lock that is held
        *(errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH),
        *(errno.ENOTCONN, errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED),
    }
)


def failed(error: BaseException, more: str = "") -> State:
    """The state of a task with an expected error, in one line; its name says if it may pass."""
    message = in_one_line(error) + more
    return Failed(name=UNAVAILABLE, message=message) if _passes(error) else Failed(message=message)


def may_pass(task: Any, run: Any, state: State) -> bool:
    """Whether to try once more: other failures would only happen again."""
    return state.name in (UNAVAILABLE, CLUSTER_LOST)


ONCE_MORE: dict[str, Any] = {
    "retries": 1,
    "retry_delay_seconds": 10,
    "retry_condition_fn": may_pass,
}


def _passes(error: BaseException | None) -> bool:
    """Whether an error, or one that led to it, is of a file system or connection that is away."""
    while error is not None:
        if isinstance(error, OSError) and (
            error.errno in _PASSING or isinstance(error, ConnectionError | TimeoutError)
        ):
            return True
        error = error.__cause__ or error.__context__
    return False
