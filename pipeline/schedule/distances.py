"""Distance matrices on their way into the report."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError, said_by_system
from pipeline.model.search.results import Measurement
from pipeline.schedule.executor import Executor
from pipeline.schedule.transport.drive import drive
from pipeline.schedule.work.searches import JoinTask, parts_folder, run_join
from pipeline.store import Snapshot
from pipeline.store.versions.held import DISTANCES, hold_folder, release_folder


def distances_folder(snapshot: Snapshot, config: AnalyzeConfig) -> Path | None:
    """A new folder next to the future report; None if no distances are requested."""
    if not config.distances:
        return None
    try:
        # Next to an existing report, which stays intact until this run's takes its place.
        folder = hold_folder(config.out.resolve(), DISTANCES)
        parts_folder(folder).mkdir()
    except OSError as error:
        raise UsageError(
            f"--out {config.out}: cannot be written: {said_by_system(error)}"
        ) from None
    return folder


@contextlib.contextmanager
def removed_on_error(folder: Path | None) -> Iterator[None]:
    """Remove the matrices if the run ends before its report."""
    try:
        yield
    except BaseException:
        if folder is not None:
            release_folder(folder)
        raise


def join_parts(
    cluster: Executor,
    folder: Path,
    snapshot: Snapshot,
    measurement: Measurement,
    owner: np.ndarray,
    source_ptr: np.ndarray,
) -> None:
    """One file per AS from what its tasks wrote; an AS that was not completely searched has none.

    Parameters
    ----------
    owner : (n_rows,) int64
        The row under which the graph of each measured row was searched.
    source_ptr : (n_rows + 1,) int64
        Offsets of their sources.
    """
    parts: dict[int, list[str]] = {}
    for part in sorted(parts_folder(folder).glob("*.parquet")):
        parts.setdefault(int(part.name.split("-")[0]), []).append(str(part))
    shared = np.bincount(owner, minlength=len(snapshot.asn)) > 1
    results = measurement.results
    joins = []
    n_sources = np.diff(source_ptr).tolist()
    for row, owned_by, n in zip(measurement.rows.tolist(), owner.tolist(), n_sources, strict=True):
        path = folder / f"{int(snapshot.asn[row])}.parquet"
        first, last = np.searchsorted(results.row, [row, row + 1])
        if last - first < n or first == last:
            path.unlink(missing_ok=True)  # of an earlier run
        elif owned_by in parts:
            own = results.source[first:last] if shared[owned_by] else None
            name = f"distances_AS{int(snapshot.asn[row])}"
            joins.append(JoinTask(name, row, str(path), tuple(parts[owned_by]), own))
    todo = iter(joins)
    for outcome in drive(
        cluster.client, run_join, lambda: next(todo, None), name=lambda task: task.name
    ):
        if outcome.error is not None:
            reason = f"its distances could not be joined: {outcome.error}"
            measurement.failed.setdefault(outcome.task.row, reason)
    shutil.rmtree(parts_folder(folder), ignore_errors=True)
