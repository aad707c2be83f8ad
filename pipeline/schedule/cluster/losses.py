"""Workers that a cluster lost during a run: for the log and the report."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from distributed import Client
from distributed.client import ClosedClientError

from pipeline.model.words import number
from pipeline.processes.stopping import is_stopping

log = logging.getLogger(__name__)

TOPIC = "all"  # of events that Dask's scheduler sends to every client
MOST = 1000  # of losses that are remembered one by one


class Losses:
    """Losses reported by the scheduler; a worker that leaves properly is not lost.

    Nor is one that ended while this process was asked to end: a signal to a process group (a closed
    terminal, a batch system) reaches the workers too.
    """

    def __init__(self) -> None:
        self._lost: list[dict[str, Any]] = []

    def hear(self, event: tuple[float, Any]) -> None:
        """Called on the client's loop, with the scheduler's clock."""
        at, message = event
        if not isinstance(message, dict) or message.get("action") != "remove-worker":
            return
        if message.get("expected") or len(self._lost) >= MOST or is_stopping():
            return
        worker, n_tasks = str(message.get("worker")), len(message.get("processing-tasks") or ())
        self._lost.append({"worker": worker, "at": float(at), "n_tasks": n_tasks})
        log.warning(
            "worker %s was lost (killed, out of memory, ended or cut off) with %s",
            worker,
            number(n_tasks, "task"),
        )

    def reported(self) -> list[dict[str, Any]]:
        """Worker, time in seconds since 1970 UTC, and tasks it had been given, in order of time."""
        return list(self._lost)


@contextlib.contextmanager
def losses_of(client: Client) -> Iterator[Losses]:
    """Listen until the context ends; workers that leave later were closed on purpose."""
    losses = Losses()
    client.subscribe_topic(TOPIC, losses.hear)
    try:
        yield losses
    finally:
        if client.status == "running":
            with contextlib.suppress(ClosedClientError):
                client.unsubscribe_topic(TOPIC)
