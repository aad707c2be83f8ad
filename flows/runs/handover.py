"""A measurement as a file between the measuring and the reporting task.

Prefect inspects every value that it passes between tasks, so tasks pass a path instead.
One .npz without pickled objects: the columns, and the rest as JSON.
"""

from __future__ import annotations

import contextlib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from pipeline.errors import StoreError
from pipeline.files import written_whole
from pipeline.model.columns import put_together, take_apart
from pipeline.model.search.results import Measurement, findings_class
from pipeline.store.versions.held import KEEP_S, hand_over

FOLDER = ".measured"  # below the folder of reports
_COLUMNS = ["rows", "n_tasks", "n_retries", "wall_s", "n_reused"]
_OBJECTS = [
    *("device", "cluster", "busy_share", "distances_dir", "snapshot", "version", "lost"),
    *("reused_from", "notes"),
]


def remove_old(folder: Path, now: float) -> None:
    """Remove handover files that were not used within a day; ``now`` in seconds since 1970."""
    for path in folder.glob("*.npz*"):  # those that a killed run was writing, too
        with contextlib.suppress(OSError):  # another run removes them too
            if now - path.stat().st_mtime > KEEP_S:
                path.unlink()


def write_measurement(path: Path, measurement: Measurement, started: float) -> None:
    """Write a measurement and when its run started (seconds since 1970 UTC), whole or not at all.

    Raises
    ------
    OSError, UsageError
        If the disk does not take it; what was there before is then unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {name: getattr(measurement, name) for name in _COLUMNS}
    rest: dict[str, Any] = {name: getattr(measurement, name) for name in _OBJECTS}
    rest["found"] = {}
    for task, table in measurement.found().items():
        arrays, rest["found"][task] = take_apart(table)
        columns |= {f"found.{task}.{name}": values for name, values in arrays.items()}
    rest["metrics"] = list(measurement.metrics)
    rest["failed"] = {str(row): reason for row, reason in measurement.failed.items()}
    rest["tasks"] = {}
    for name, values in measurement.tasks.items():
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
            columns[f"tasks.{name}"] = values
        rest["tasks"][name] = None if f"tasks.{name}" in columns else list(values)
    text = orjson.dumps(
        rest | {"started": started},
        option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS,
        default=str,
    )
    columns["rest"] = np.frombuffer(text, np.uint8)
    with written_whole(path) as file:
        np.savez(file, **columns)
    if measurement.distances_dir:
        hand_over(Path(measurement.distances_dir))


def _found(task: str, columns: dict[str, np.ndarray], plain: dict[str, Any]) -> Any:
    """The table that ``take_apart`` took apart."""
    prefix = f"found.{task}."
    own = {key.removeprefix(prefix): columns[key] for key in columns if key.startswith(prefix)}
    if "metrics" in plain:
        plain["metrics"] = tuple(plain["metrics"])
    return put_together(findings_class(task), own, plain)


def read_measurement(path: Path) -> tuple[Measurement, float]:
    """The measurement and its start.

    Raises
    ------
    StoreError
        If the file is missing or is not a measurement.
    """
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            columns = {name: file[name] for name in file.files}
        rest = orjson.loads(columns["rest"].tobytes())
        tasks = {
            name: columns[f"tasks.{name}"] if values is None else values
            for name, values in rest["tasks"].items()
        }
        found = {task: _found(task, columns, plain) for task, plain in rest["found"].items()}
        return (
            Measurement(
                **{name: columns[name] for name in _COLUMNS},
                **{name: rest[name] for name in _OBJECTS},
                results=found["search"],
                failed={int(row): reason for row, reason in rest["failed"].items()},
                tasks=tasks,
                metrics=tuple(rest["metrics"]),
            ).with_found(found),
            float(rest["started"]),
        )
    except FileNotFoundError:
        raise StoreError(f"{path}: no such measurement; run the flow measure first") from None
    except (EOFError, OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path}: not a measurement, or cut short: {error}") from None
