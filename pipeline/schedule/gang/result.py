"""What ranks bring back, to the outcomes and columns of one AS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pipeline.metrics import WidthMetric
from pipeline.model.search.results import Widths
from pipeline.model.search.tasks import (
    Attempt,
    Outcome,
    SearchTask,
    TaskRun,
    WidthResults,
    WidthTask,
)
from pipeline.schedule.gang.rank import GangTask, RankEnd
from pipeline.schedule.gang.widths import RankWidths, counts_of_all, of_all_nodes


def outcomes_of(
    task: GangTask,
    ends: Sequence[RankEnd],
    attempts: int,
    submitted: float,
    failed: tuple[Attempt, ...],
    error: BaseException | None,
    workers: Sequence[str],
) -> Iterator[Outcome]:
    """One outcome for the searches of an AS, one for its widths, as far as they were requested.

    Parameters
    ----------
    task : GangTask
    ends : sequence of RankEnd
        Of all ranks; none where the gang failed.
    attempts, submitted, failed, error
        As those of ``Outcome``.
    workers : sequence of str
        Of the last attempt.
    """
    rows = np.array([task.row], np.int64)
    run = None
    if ends:
        begun, ended = min(end.started for end in ends), max(end.ended for end in ends)
        run = TaskRun(workers[0], task.device, begun, ended)
    whole = Outcome(None, attempts, submitted, run=run, error=error, failed=failed)
    if len(task.sources):
        search = SearchTask(
            kind="pack" if len(task.sources) > 1 else "search",
            snapshot=task.snapshot,
            rows=rows,
            source_ptr=np.array([0, len(task.sources)], np.int64),
            sources=task.sources,
            device=task.device,
            name=task.name,
            verify=task.verify,
        )
        yield replace(whole, task=search, result=ends[0].searches if ends else None)
        whole = replace(whole, failed=())  # counted once
    if task.metrics:
        name = task.name
        width = WidthTask("widths", task.snapshot, rows, task.metrics, task.device, name)
        result: WidthResults | None = None
        if ends:
            read_s = max(end.read_s for end in ends)
            parts = [end.widths for end in ends if end.widths is not None]
            found = widths_of_ranks(parts, task.row, task.metrics, read_s)
            result = WidthResults(found, {}, int(found.n_searches.sum()), read_s)
        yield replace(whole, task=width, result=result)


def widths_of_ranks(
    ends: Sequence[RankWidths], row: int, metrics: tuple[WidthMetric, ...], read_s: float
) -> Widths:
    """One row of widths in hops.

    Parameters
    ----------
    ends : sequence of RankWidths
        Of all ranks, rank 0 first.
    row : int
    metrics : tuple of str
        What was requested.
    read_s : float
        Seconds until the last rank had its part.
    """
    first = ends[0].whole
    c, is_exact = first.largest, bool(first.exact.all())
    eccentricity, counts = of_all_nodes(ends), counts_of_all(ends)
    listed = np.flatnonzero(first.size > 1)
    path = first.path if first.path is not None else np.empty(0, np.int32)
    center, periphery = (
        np.sort(np.concatenate([getattr(end, name) for end in ends]))
        for name in ("center", "periphery")
    )

    def one(values: np.ndarray) -> np.ndarray:
        return values[c : c + 1].astype(np.int64)

    def known(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        return np.where(lower == upper, lower, -1)[listed].astype(np.int64)

    def ptr(values: np.ndarray) -> np.ndarray:
        return np.array([0, len(values)], np.int64)

    return Widths(
        row=np.array([row], np.int64),
        metrics=metrics,
        is_weighted=False,
        n_searches=np.array([first.n_searches.sum()], np.int64),
        component=one(first.names),
        diameter_lower=one(first.diameter_lower),
        diameter_upper=one(first.diameter_upper),
        radius_lower=one(first.radius_lower),
        radius_upper=one(first.radius_upper),
        exact=np.array([is_exact]),
        path_ptr=ptr(path),
        path=path,
        center_ptr=ptr(center),
        center=center,
        periphery_ptr=ptr(periphery),
        periphery=periphery,
        count_ptr=ptr(counts),
        counts=counts,
        eccentricity_ptr=ptr(eccentricity),
        eccentricity=eccentricity,
        component_ptr=ptr(listed),
        component_id=first.names[listed].astype(np.int32),
        component_size=first.size[listed].astype(np.int32),
        component_diameter=known(first.diameter_lower, first.diameter_upper),
        component_radius=known(first.radius_lower, first.radius_upper),
        read_s=read_s,
    )
