"""Where matrices of distances lie until the report takes them in, and how they get there."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pipeline.config import AnalyzeConfig
from pipeline.errors import UsageError
from pipeline.model.measurement import Measurement
from pipeline.schedule.cluster import Cluster
from pipeline.schedule.driver import drive
from pipeline.schedule.tasks import JoinTask, parts_folder, run_join
from pipeline.store import Snapshot

KEEP_S = 24 * 3600.0  # the report may be made by another process, later


def distances_folder(snapshot: Snapshot, config: AnalyzeConfig) -> Path | None:
    """A fresh folder beside the report that is to be; None where no distances are asked for."""
    if not config.distances:
        return None
    # Beside the report that may be there: it stays whole until this run's takes its place.
    run = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    folder = (config.out / f".{snapshot.name}.distances-{run}").resolve()
    try:
        _remove_leftovers(folder, run)
        parts_folder(folder).mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"--out {config.out}: cannot be written: {error.strerror}") from None
    return folder


@contextlib.contextmanager
def removed_on_error(folder: Path | None) -> Iterator[None]:
    """A run that ends before its report leaves no matrices."""
    try:
        yield
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _remove_leftovers(folder: Path, run: str) -> None:
    """What runs of this host left that were killed; their process id tells."""
    if not folder.parent.is_dir():
        return
    host = run.rsplit("-", 2)[0]
    prefix = folder.name.removesuffix(run) + host + "-"
    for path in folder.parent.iterdir():
        process = path.name.removeprefix(prefix).split("-")[0]
        if not path.name.startswith(prefix) or not process.isdigit():
            continue
        try:
            if time.time() - path.stat().st_mtime > KEEP_S:
                os.kill(int(process), 0)
        except ProcessLookupError:
            shutil.rmtree(path, ignore_errors=True)
        except OSError:  # somebody else's, at work
            continue


def join_parts(
    cluster: Cluster,
    folder: Path,
    snapshot: Snapshot,
    measurement: Measurement,
    owner: np.ndarray,
    source_ptr: np.ndarray,
) -> None:
    """One file an AS out of what its tasks wrote; an AS that was not searched whole has none.

    ``source_ptr``: (n_rows + 1,) int64, what each asked for.
    """
    parts: dict[int, list[str]] = {}
    for part in sorted(parts_folder(folder).glob("*.parquet")):
        parts.setdefault(int(part.name.split("-")[0]), []).append(str(part))
    shared = np.bincount(owner, minlength=len(snapshot.asn)) > 1
    results = measurement.results
    joins = []
    asked = np.diff(source_ptr).tolist()
    for row, owned_by, n_asked in zip(
        measurement.rows.tolist(), owner.tolist(), asked, strict=True
    ):
        path = folder / f"{int(snapshot.asn[row])}.parquet"
        first, last = np.searchsorted(results.row, [row, row + 1])
        if last - first < n_asked or first == last:
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
