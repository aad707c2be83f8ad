"""Paths of vantage points as files of a snapshot, and back."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from pipeline.model.measured.observations import FIRST, Observations, Paths, Steps, Vantages
from pipeline.model.topology import NO_ASN
from pipeline.store.columns import as_arrow, read_table
from pipeline.store.versions.names import OBSERVATIONS, PATHS, VANTAGES, broken

Table = TypeVar("Table", Vantages, Steps, Paths)

_OR_NULL = ("before", "near", "step")  # ``FIRST`` in memory


def observation_tables(seen: Observations) -> list[tuple[str, pa.Table]]:
    """Name and content of each file."""
    return [
        (VANTAGES, _table(seen.vantages)),
        (OBSERVATIONS, _table(seen.steps)),
        (PATHS, _table(seen.paths)),
    ]


def read_observations(folder: Path, n_nodes: int) -> Observations:
    """Read the files of a snapshot; ``n_nodes``: of all its ASes.

    Raises
    ------
    StoreError
        If a file is missing, cut short or altered, or names what is not there.
    """
    vantages, steps = read_vantages(folder), read_steps(folder, n_nodes)
    paths = _read(folder / PATHS, Paths)
    known = range(len(vantages))
    if not (_within(paths.vantage, known) and _within(paths.step, range(FIRST, len(steps)))):
        raise broken(folder / PATHS, "names what is not in the snapshot")
    own = paths.step != FIRST
    if (steps.vantage[paths.step[own]] != paths.vantage[own]).any():
        raise broken(folder / PATHS, "has a path that ends at a step of another vantage point")
    return Observations(vantages, steps, paths)


def read_steps(folder: Path, n_nodes: int) -> Steps:
    """Read the steps alone; otherwise as ``read_observations``."""
    known, nodes = range(len(read_vantages(folder))), range(n_nodes)
    steps = _read(folder / OBSERVATIONS, Steps)
    if not (
        _within(steps.vantage, known)
        and _within(steps.far, nodes)
        and _within(steps.near, range(FIRST, n_nodes))
        and (steps.before >= FIRST).all()
        and (steps.before < np.arange(len(steps))).all()
    ):
        raise broken(folder / OBSERVATIONS, "names what is not in the snapshot")
    own = steps.before != FIRST
    before = steps.before[own]
    if (
        (steps.near[~own] != FIRST).any()
        or (steps.near[own] != steps.far[before]).any()
        or (steps.vantage[own] != steps.vantage[before]).any()
        or (np.diff(before) < 0).any()
        or (np.diff(steps.vantage[~own]) < 0).any()
    ):
        raise broken(folder / OBSERVATIONS, "has steps that do not follow one another")
    return steps


def read_vantages(folder: Path) -> Vantages:
    """Read the vantage points alone; otherwise as ``read_observations``."""
    return _read(folder / VANTAGES, Vantages)


def _table(rows: Vantages | Steps | Paths) -> pa.Table:
    return pa.table({each.name: _column(each.name, rows) for each in fields(rows)})


def _column(name: str, rows: Vantages | Steps | Paths) -> pa.Array:
    column = getattr(rows, name)
    if name == "asn":
        return pa.array(column, mask=column == NO_ASN).cast(pa.uint32())
    if name in _OR_NULL:
        return pa.array(column, mask=column == FIRST)
    return as_arrow(column)


def _read(path: Path, kind: type[Table]) -> Table:
    names = tuple(each.name for each in fields(kind))
    table = read_table(path, names)
    columns = {}
    for name in names:
        column = table.column(name)
        if column.null_count:
            signed = pa.types.is_signed_integer(column.type)
            column = (column if signed else column.cast(pa.int64())).fill_null(-1)
        columns[name] = column.to_numpy()
    return kind(**columns)


def _within(column: np.ndarray, values: range) -> bool:
    return not len(column) or bool(column.min() >= values.start and column.max() < values.stop)
