"""What was measured, as a file between the measuring and the reporting task.

Prefect would look into every value that it carries between tasks; so tasks hand over a path.
One .npz without pickled objects: the columns, and the rest as JSON.
"""

from __future__ import annotations

import contextlib
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from pipeline.errors import StoreError
from pipeline.model.measurement import Measurement
from pipeline.model.tasks import SearchResults

FOLDER = ".measured"  # below the folder of reports
# What a run that was killed left behind; a report that failed can be made again until then.
KEEP_S = 24 * 3600.0
_RESULT_COLUMNS = [field.name for field in fields(SearchResults) if field.name != "read_s"]
_COLUMNS = ["rows", "n_tasks", "n_retries", "wall_s"]
_OBJECTS = ["device", "cluster", "busy_share", "distances_dir"]


def remove_old(folder: Path, now: float) -> None:
    """Remove files of hand-over that nobody came for in a day; ``now`` in seconds since 1970."""
    for path in folder.glob("*.npz"):
        with contextlib.suppress(OSError):  # another run removes them too
            if now - path.stat().st_mtime > KEEP_S:
                path.unlink()


def write_measurement(path: Path, measurement: Measurement, started: float) -> None:
    """Write a measurement and when its run started (seconds since 1970 UTC)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {name: getattr(measurement, name) for name in _COLUMNS}
    columns |= {f"results.{name}": getattr(measurement.results, name) for name in _RESULT_COLUMNS}
    rest: dict[str, Any] = {name: getattr(measurement, name) for name in _OBJECTS}
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
    with path.open("wb") as file:
        np.savez(file, **columns)


def read_measurement(path: Path) -> tuple[Measurement, float]:
    """The measurement and its start.

    Raises
    ------
    StoreError
        If the file is missing or is no measurement.
    """
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            columns = {name: file[name] for name in file.files}
        rest = orjson.loads(columns["rest"].tobytes())
        tasks = {
            name: columns[f"tasks.{name}"] if values is None else values
            for name, values in rest["tasks"].items()
        }
        return (
            Measurement(
                **{name: columns[name] for name in _COLUMNS},
                **{name: rest[name] for name in _OBJECTS},
                results=SearchResults(
                    **{name: columns[f"results.{name}"] for name in _RESULT_COLUMNS}
                ),
                failed={int(row): reason for row, reason in rest["failed"].items()},
                tasks=tasks,
            ),
            float(rest["started"]),
        )
    except FileNotFoundError:
        raise StoreError(f"{path}: no such measurement; run the measuring flow first") from None
    except (EOFError, OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path}: not a measurement, or cut short: {error}") from None
