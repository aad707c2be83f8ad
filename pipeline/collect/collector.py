"""Outcomes in any order to columns: one row per source, one row per attempt.

Results are keyed by (graph, source): ASes with the same ``graph_hash`` were searched once, under
one row, and ``finish`` gives each AS the results of the sources that it requested.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pipeline.collect.schema import TASKS
from pipeline.collect.width_collector import WidthCollector
from pipeline.errors import ClusterLostError
from pipeline.model.columns import concat, empty, take
from pipeline.model.columns.keys import ordered_keys
from pipeline.model.search.results import Measurement, SearchResults
from pipeline.model.search.tasks import Outcome, SearchTask, TaskRun, WidthKind, WidthTask

_PIECES = 256  # results kept separately before they are concatenated


@dataclass
class Collector:
    """Takes outcomes in any order; ``finish`` makes the Measurement.

    Parameters
    ----------
    asn : (n_ases,) int64
        Of all rows of the snapshot, to name them in the tasks table.
    widths : dict of str to WidthCollector
        One for each kind of task about widths.
    """

    asn: np.ndarray
    widths: dict[WidthKind, WidthCollector] = field(default_factory=dict)
    n_units: int = 0  # finished searches from ingresses, and graphs whose widths are known
    lost: str = ""  # why the cluster is gone, if it is
    _pieces: list[SearchResults] = field(default_factory=list)
    _failed: dict[int, str] = field(default_factory=dict)  # searched row -> reason
    _tasks: dict[str, list] = field(default_factory=dict)
    _runs: list[tuple[np.ndarray, int, int, float, float, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._tasks = {name: [] for name in TASKS.names}

    def add(self, outcome: Outcome) -> None:
        """Take one outcome, which may be a failure."""
        task: SearchTask | WidthTask = outcome.task
        if isinstance(task, SearchTask):
            self.note(outcome, task.n_sources)
            self._add_searches(task, outcome)
        elif outcome.error is not None:
            self.note(outcome, 0)
            self.widths[task.kind].fail(task.rows, str(outcome.error))
        else:
            self.note(outcome, outcome.result.n_searches)
            self.n_units += len(task.rows)
            self.widths[task.kind].add(outcome.result)

    def know(self, found: SearchResults) -> None:
        """Take searches of earlier runs, under the rows that tasks would have for their graphs."""
        self._pieces.append(found)

    def note(self, outcome: Outcome, n_sources: int) -> None:
        """Record where and when a task ran, whatever its kind.

        It has ``name``, ``kind``, ``rows`` and ``device``.
        """
        task = outcome.task
        if isinstance(outcome.error, ClusterLostError):
            self.lost = self.lost or str(outcome.error)
        for attempt in outcome.failed:
            tried = getattr(task, "n_sources", 0)
            self._note(task, tried, attempt.number, attempt.submitted, attempt.run, "retried", None)
        run, status = outcome.run, "failed" if outcome.error else "ok"
        read_s = None if outcome.result is None else outcome.result.read_s
        at = (outcome.attempts, outcome.submitted, run)
        self._note(task, n_sources, *at, status, read_s)
        self._runs.append(
            (
                task.rows,
                1,
                len(outcome.failed),
                run.started if run else np.nan,
                run.ended if run else np.nan,
                run.device if run else "",
                task.kind,
            )
        )

    def _add_searches(self, task: SearchTask, outcome: Outcome) -> None:
        if outcome.error is not None:
            for row in task.rows.tolist():
                self._failed.setdefault(row, str(outcome.error))
            return
        self.n_units += len(outcome.result.source)
        self._pieces.append(outcome.result)
        if len(self._pieces) >= _PIECES:
            # Pieces at most double in size, so concatenating them takes linear time in all.
            self._pieces.sort(key=lambda piece: len(piece.source))
            half = len(self._pieces) // 2
            self._pieces[:half] = [concat(self._pieces[:half])]

    def _note(
        self,
        task: Any,
        n_sources: int,
        number: int,
        submitted: float,
        run: TaskRun | None,
        status: str,
        read_s: float | None,
    ) -> None:
        columns = self._tasks
        columns["task"].append(task.name)
        columns["kind"].append(task.kind)
        columns["asns"].append(self.asn[task.rows])
        columns["n_ases"].append(len(task.rows))
        columns["n_sources"].append(n_sources)
        columns["worker"].append(run.worker if run else None)
        columns["device"].append(run.device if run else task.device)
        columns["submitted"].append(submitted)
        columns["started"].append(run.started if run else None)
        columns["ended"].append(run.ended if run else None)
        columns["read_s"].append(read_s)
        columns["attempt"].append(number)
        columns["status"].append(status)

    def finish(
        self,
        rows: np.ndarray,
        owner: np.ndarray,
        source_ptr: np.ndarray,
        sources: np.ndarray,
        *,
        cluster: dict | None = None,
        n_threads: dict[str, int] | None = None,
    ) -> Measurement:
        """Give each AS the searches that it requested.

        Parameters
        ----------
        rows : (n_rows,) int64
            Requested AS rows, ascending.
        owner : (n_rows,) int64
            Row under which each one's graph was searched.
        source_ptr : (n_rows + 1,) int64; sources : int32
            Requested sources of each.
        cluster : dict or None
            For report.json.
        n_threads : dict of str to int or None
            Threads of each worker, for its busy share; None: one.
        """
        found = concat([empty(SearchResults), *self._pieces])
        self._pieces = [found]
        # A search that ran twice (its worker was believed lost) gave the same result both times.
        key, first = np.unique(ordered_keys(found.row, found.source), return_index=True)
        wanted_row = np.repeat(np.arange(len(rows)), np.diff(source_ptr))
        order = np.lexsort((sources, wanted_row))
        wanted_row, wanted_source = wanted_row[order], np.asarray(sources)[order]
        wanted = ordered_keys(owner[wanted_row], wanted_source)
        at = np.searchsorted(key, wanted)
        here = np.zeros(len(wanted), bool)
        inside = at < len(key)
        here[inside] = key[at[inside]] == wanted[inside]
        results = take(found, first[at[here]], row=rows[wanted_row[here]])
        failed = {}
        for position in np.unique(wanted_row[~here]).tolist():
            reason = self._failed.get(int(owner[position]), "the run ended before it was searched")
            failed[int(rows[position])] = reason
        found_of: dict[str, Any] = {"search": results}
        for kind, collector in self.widths.items():
            found_of[kind], why = collector.finish(rows)
            for row, reason in why.items():
                failed.setdefault(row, reason)
        is_run = (np.diff(source_ptr) > 0) | bool(self.widths)
        n_tasks, n_retries, wall_s, device = self._by_row(rows, owner, is_run)
        return Measurement(
            rows=rows,
            results=results,
            failed=failed,
            n_tasks=n_tasks,
            n_retries=n_retries,
            wall_s=wall_s,
            device=device,
            tasks=self._tasks,
            cluster=cluster or {},
            busy_share=self._busy_share(n_threads or {}),
            lost=self.lost,
        ).with_found(found_of)

    def _by_row(
        self, rows: np.ndarray, owner: np.ndarray, searched: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
        """Tasks, retries, seconds from first start to last end, and device of each AS.

        An AS that shares the graph of another has the other's figures, plus its own by weight.
        """
        n_ases = len(self.asn)
        n_tasks = np.zeros(n_ases, np.int64)
        n_retries = np.zeros(n_ases, np.int64)
        start, end = np.full(n_ases, np.inf), np.full(n_ases, -np.inf)
        in_shard, on_gpu = np.zeros(n_ases, bool), np.zeros(n_ases, bool)
        ran = np.zeros(n_ases, bool)
        for task_rows, n, retries, started, ended, device, kind in self._runs:
            n_tasks[task_rows] += n
            n_retries[task_rows] += retries
            in_shard[task_rows] |= kind == "shard" or len(task_rows) > 1
            on_gpu[task_rows] |= device == "gpu"
            if device:
                ran[task_rows] = True
                start[task_rows] = np.fmin(start[task_rows], started)
                end[task_rows] = np.fmax(end[task_rows], ended)
        timed = ran & ~in_shard
        wall_s = np.where(timed, np.where(timed, end, 0) - np.where(timed, start, 0), np.nan)
        # Tasks under an AS's own row, and under the row that has its graph.
        own, other = np.where(searched, rows, 0), np.where(searched, owner, 0)
        is_shared = other != own

        def total(column: np.ndarray) -> np.ndarray:
            both = column[own] + np.where(is_shared, column[other], 0)
            return np.where(searched, both, 0)

        both_s = np.where(ran[own], wall_s[own], wall_s[other])
        device_of = np.where(~ran, "", np.where(on_gpu, "gpu", "cpu"))
        both_on = np.where(is_shared & ran[other], device_of[other], device_of[own])
        return (
            total(n_tasks),
            total(n_retries),
            np.where(searched, both_s, np.nan),
            np.where(searched, both_on, "").tolist(),
        )

    def _busy_share(self, n_threads: dict[str, int]) -> dict[str, float]:
        """Share of the time from first submission to last end that each worker computed."""
        busy: dict[str, float] = dict.fromkeys(n_threads, 0.0)
        first, last = np.inf, -np.inf
        columns = (self._tasks[name] for name in ("worker", "submitted", "started", "ended"))
        for worker, submitted, started, ended in zip(*columns, strict=True):
            first = min(first, submitted)
            if worker is not None:
                last = max(last, ended)
                busy[worker] = busy.get(worker, 0.0) + ended - started
        span = last - first
        if not span > 0:
            return dict.fromkeys(sorted(busy), 0.0)
        return {
            worker: min(1.0, seconds / span / n_threads.get(worker, 1))
            for worker, seconds in sorted(busy.items())
        }
