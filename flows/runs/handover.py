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
from pipeline.model.widths import EffectiveDiameters, Widths
from pipeline.store.held import KEEP_S, hand_over

FOLDER = ".measured"  # below the folder of reports
_RESULT_COLUMNS = [field.name for field in fields(SearchResults) if field.name != "read_s"]
_COLUMNS = ["rows", "n_tasks", "n_retries", "wall_s"]
_OBJECTS = ["device", "cluster", "busy_share", "distances_dir", "snapshot", "version", "lost"]
_WIDTHS: dict[str, type] = {
    "widths": Widths,
    "weighted_widths": Widths,
    "effective": EffectiveDiameters,
}


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
    for name in _WIDTHS:
        rest[name] = _split(getattr(measurement, name), name, columns)
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
    with path.open("wb") as file:
        np.savez(file, **columns)
    if measurement.distances_dir:
        hand_over(Path(measurement.distances_dir))


def _split(found: Any, name: str, columns: dict[str, np.ndarray]) -> dict[str, Any] | None:
    """Put the arrays of some widths among the columns; what else they hold, None for none."""
    if found is None:
        return None
    plain = {}
    for field in fields(found):
        value = getattr(found, field.name)
        if isinstance(value, np.ndarray):
            columns[f"{name}.{field.name}"] = value
        else:
            plain[field.name] = value
    return plain


def _join(kind: type, name: str, columns: dict[str, np.ndarray], plain: dict | None) -> Any:
    """The opposite way."""
    if plain is None:
        return None
    prefix = f"{name}."
    own = {key.removeprefix(prefix): columns[key] for key in columns if key.startswith(prefix)}
    if "metrics" in plain:
        plain["metrics"] = tuple(plain["metrics"])
    return kind(**own, **plain)


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
                **{name: _join(kind, name, columns, rest[name]) for name, kind in _WIDTHS.items()},
                results=SearchResults(
                    **{name: columns[f"results.{name}"] for name in _RESULT_COLUMNS}
                ),
                failed={int(row): reason for row, reason in rest["failed"].items()},
                tasks=tasks,
                metrics=tuple(rest["metrics"]),
            ),
            float(rest["started"]),
        )
    except FileNotFoundError:
        raise StoreError(f"{path}: no such measurement; run the measuring flow first") from None
    except (EOFError, OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path}: not a measurement, or cut short: {error}") from None
