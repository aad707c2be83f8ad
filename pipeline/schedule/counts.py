"""What a run has done so far, in numbers: for metrics and dashboards while it works."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future
from typing import Any

import numpy as np

from pipeline.model.columns.keys import ordered_keys, split_key
from pipeline.model.search.exact import ExactTask
from pipeline.model.search.tasks import Outcome, SearchTask
from pipeline.schedule.cluster.run_events import RunEvents
from pipeline.schedule.executor import Executor
from pipeline.schedule.transport.here import Here
from pipeline.schedule.work.resident import KEPT, WORKER_METRIC, kept

ASK_EVERY_S = 2.0  # workers report with their heartbeats, once or twice a second


class RunCounts:
    """Counts of one run.

    Parameters
    ----------
    cluster : Executor
    n_rows : int
        AS rows of the snapshot.
    rows : (n_ases,) int64
        Those that the run measures.
    """

    def __init__(self, cluster: Executor, n_rows: int, rows: np.ndarray):
        self._cluster, self._rows = cluster, rows
        self._n_rows = n_rows
        self._todo: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # kind -> owner, units left
        self._n_searches = self._n_retries = self._n_tasks = self._n_ended = 0
        self._events = RunEvents(cluster.client)
        self._resident = _Resident(cluster)

    def expect_searches(
        self, owner: np.ndarray, source_ptr: np.ndarray, sources: np.ndarray
    ) -> None:
        """Sources of each of ``rows``, to be searched under the row in ``owner``."""
        by = np.repeat(owner, np.diff(source_ptr))
        # Equal graphs are searched once.
        searched, _ = split_key(np.unique(ordered_keys(by, sources)))
        self._todo["search"] = owner, np.bincount(searched, minlength=self._n_rows)

    def expect(self, kind: str, owner: np.ndarray, is_unknown: np.ndarray) -> None:
        """Which of ``rows`` tasks of one kind are to answer, under the row in ``owner``."""
        left = np.zeros(self._n_rows, np.int64)
        left[owner[is_unknown]] = 1
        self._todo[kind] = owner, left

    def expect_tasks(self, n_tasks: int) -> None:
        """Tasks that are planned from here on; those of exact searches follow from results."""
        self._n_tasks, self._n_ended = n_tasks, 0

    def note(self, outcome: Outcome) -> None:
        """A task has ended, whatever its outcome."""
        task, result = outcome.task, outcome.result
        self._n_ended += not isinstance(task, ExactTask)
        self._n_retries += len(outcome.failed)
        if isinstance(task, ExactTask):
            self._n_searches += task.n_sources if result is not None else 0
        elif isinstance(task, SearchTask):
            self._n_searches += len(result.source) if result is not None else 0
            self._todo["search"][1][task.rows] -= np.diff(task.source_ptr)
        else:
            self._n_searches += result.n_searches if result is not None else 0
            self.answered(task.kind, task.rows)

    def answered(self, kind: str, rows: np.ndarray) -> None:
        """Rows under which nothing of one kind is left to do."""
        self._todo[kind][1][rows] = 0

    def now(self) -> dict[str, int]:
        """``Progress.counts``."""
        is_left = np.zeros(len(self._rows), bool)
        for owner, left in self._todo.values():
            is_left |= left[owner] > 0
        return {
            "ases": len(self._rows),
            "ases_left": int(np.count_nonzero(is_left)),
            "tasks_left": max(0, self._n_tasks - self._n_ended),  # split ones end as more
            "searches": self._n_searches,
            "retries": self._n_retries,
            "lost_workers": self._cluster.n_lost,
            **self._resident.now(),
        }

    def beat(self) -> None:
        """Called as time passes: update the dashboard now and then."""
        if self._events.is_due:
            self._events.send(self.now())

    def end(self) -> None:
        """Send it the last counts."""
        self._events.send(self.now())


class _Resident:
    """Graphs that workers keep, by their last heartbeat; requested without waiting."""

    def __init__(self, cluster: Executor):
        self._cluster = cluster
        self._asked_s = -ASK_EVERY_S
        self._answer: Future | None = None
        self._known = dict.fromkeys(KEPT, 0)

    def now(self) -> dict[str, int]:
        answer = self._answer
        if answer is not None and answer.done():
            self._answer = None
            if not answer.cancelled() and answer.exception() is None:
                self._known = _sums(answer.result())
        now = time.monotonic()
        client = self._cluster.client
        if isinstance(client, Here):
            self._known |= kept()
        elif self._answer is None and now - self._asked_s >= ASK_EVERY_S:
            self._asked_s = now
            if client.status == "running":
                self._answer = asyncio.run_coroutine_threadsafe(
                    client.scheduler.identity(n_workers=-1), client.loop.asyncio_loop
                )
        return {f"resident_{name}": value for name, value in self._known.items()}


def _sums(identity: dict[str, Any]) -> dict[str, int]:
    """Over all workers; those that have kept nothing yet report nothing."""
    sums = dict.fromkeys(KEPT, 0)
    for worker in identity["workers"].values():
        kept = worker.get("metrics", {}).get(WORKER_METRIC) or {}
        for name in sums:
            sums[name] += int(kept.get(name, 0))
    return sums
