"""A measurement as a file between the measuring and the reporting task.

Prefect inspects every value that it passes between tasks, so tasks pass a path instead.
One .npz without pickled objects: the columns, and the rest as JSON.

It is in a hidden folder beside the reports, which belongs to the process of the run that measures.
If that is killed before its report is written, the file is never collected, and the next run
removes it.
Only a file whose path was reported (``leave``) is kept, for a day.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from pipeline.errors import StoreError
from pipeline.files import written_whole
from pipeline.model.columns import put_together, take_apart
from pipeline.model.search.results import Measurement, findings_class
from pipeline.store.versions.held import (
    MEASURED,
    hand_over,
    hold_named,
    is_named,
    name_folder,
    release_folder,
)

_NAME = "measurement.npz"
_COLUMNS = ["rows", "n_tasks", "n_retries", "wall_s", "n_reused"]
_OBJECTS = [
    *("device", "cluster", "busy_share", "distances_dir", "snapshot", "version", "lost"),
    *("reused_from", "notes"),
]


def new_handover(out: Path) -> Path:
    """A new file name beside the reports in ``out``; nothing is made."""
    return name_folder(out, MEASURED) / _NAME


def hold(path: Path) -> None:
    """Make the folder of a file that ``new_handover`` named; it is of this process, as is the file.

    What killed runs left beside it is removed.

    Raises
    ------
    OSError
        If the folder of reports cannot be written.
    """
    hold_named(path.parent)


def leave(path: Path) -> Measurement:
    """Leave a measurement and its hop matrices to another process, for a day; what it is.

    Raises
    ------
    StoreError
        As ``read_measurement``.
    OSError
        If it cannot be marked as left.
    """
    measurement, _ = read_measurement(path)
    made = Path(measurement.distances_dir) if measurement.distances_dir else None
    if made is not None and made.is_dir():
        hand_over(made)
    if is_named(path.parent, MEASURED):
        hand_over(path.parent)
    return measurement


def remove(path: Path) -> None:
    """Remove a file that was reported, with its folder if that is one of ours."""
    path.unlink(missing_ok=True)
    if is_named(path.parent, MEASURED):
        release_folder(path.parent)


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
