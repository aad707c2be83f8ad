"""Tables of columns as dataclasses: each field describes its column once.

From these schemas come empty tables, tables end to end, some rows of one, a table of one row, and
what a file holds. A field of a table is one of

- ``Annotated[np.ndarray, Flat(dtype)]``: one value per row;
- ``Annotated[np.ndarray, Offsets()]``: cuts ragged columns into rows;
- ``Annotated[np.ndarray, Ragged(offsets, dtype)]``: the values that such offsets cut;
- ``Annotated[dict[str, np.ndarray], FlatByName()]``: any number of flat columns;
- anything else: a fact about the table as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, TypeVar, get_type_hints

import numpy as np

from pipeline.model.columns.ragged import join_offsets, positions_of_rows

Table = TypeVar("Table")


@dataclass(frozen=True)
class Flat:
    """One value per row; ``weighted``: its dtype in a table whose ``is_weighted`` is true."""

    dtype: Any
    weighted: Any = None


@dataclass(frozen=True)
class Offsets:
    """(n_rows + 1,) int64."""


@dataclass(frozen=True)
class Ragged:
    """Values of rows of unequal length; ``offsets`` is the field that cuts them."""

    offsets: str
    dtype: Any
    weighted: Any = None


@dataclass(frozen=True)
class FlatByName:
    """Columns by name, each with one value per row."""


@dataclass(frozen=True)
class Schema:
    """Columns of a table class, by name."""

    flat: dict[str, Flat]
    ragged: dict[str, dict[str, Ragged]]  # offsets -> the columns that they cut
    by_name: tuple[str, ...]
    plain: tuple[str, ...]


def schema_of(kind: Any) -> Schema:
    """The schema of a table class."""
    return _schema_of(kind)


def _schema(table: Any) -> Schema:
    return _schema_of(type(table))  # type: ignore[arg-type]


@cache
def _schema_of(kind: Any) -> Schema:
    hints = get_type_hints(kind, include_extras=True)
    flat: dict[str, Flat] = {}
    ragged: dict[str, dict[str, Ragged]] = {}
    by_name, plain = [], []
    for name in (field.name for field in fields(kind)):
        what = next(iter(getattr(hints[name], "__metadata__", ())), None)
        if isinstance(what, Flat):
            flat[name] = what
        elif isinstance(what, Offsets):
            ragged[name] = {}
        elif isinstance(what, Ragged):
            ragged[what.offsets][name] = what
        elif isinstance(what, FlatByName):
            by_name.append(name)
        else:
            plain.append(name)
    return Schema(flat, ragged, tuple(by_name), tuple(plain))


def empty(kind: type[Table], **plain: Any) -> Table:
    """A table without rows; ``plain``: fields that are not columns, and those with any names."""
    return one_or_no_row(kind, plain, None)


def one_row(kind: type[Table], plain: dict[str, Any], **values: Any) -> Table:
    """A table of one row.

    Parameters
    ----------
    kind : type
    plain : dict
        Fields that are not columns.
    **values
        A value for each flat column; arrays for ragged ones, those left out are empty.
    """
    return one_or_no_row(kind, plain, values)


def one_or_no_row(kind: type[Table], plain: dict[str, Any], values: dict[str, Any] | None) -> Table:
    """What ``one_row`` makes; no row at all without ``values``."""
    schema = schema_of(kind)
    is_weighted = bool(plain.get("is_weighted"))

    def dtype(column: Flat | Ragged) -> Any:
        return column.weighted if is_weighted and column.weighted is not None else column.dtype

    made: dict[str, Any] = {}
    for name, flat in schema.flat.items():
        made[name] = np.array([] if values is None else [values[name]], dtype(flat))
    for ptr, names in schema.ragged.items():
        lengths = [0]
        for name, column in names.items():
            given = None if values is None else values.get(name)
            made[name] = np.empty(0, dtype(column)) if given is None else np.asarray(given)
            lengths.append(len(made[name]))
        made[ptr] = np.array([0] if values is None else [0, lengths[-1]], np.int64)
    return kind(**made, **plain)


def concat(pieces: Sequence[Table]) -> Table:
    """Tables of one class end to end, in the order given; at least one.

    Fields that are not columns are those of the first, except that ``read_s`` is the sum of all.
    """
    first = pieces[0]
    schema = _schema(first)

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(piece, name) for piece in pieces])

    joined: dict[str, Any] = {name: column(name) for name in schema.flat}
    for ptr, names in schema.ragged.items():
        joined[ptr] = join_offsets([getattr(piece, ptr) for piece in pieces])
        joined |= {name: column(name) for name in names}
    for name in schema.by_name:
        parts = [getattr(piece, name) for piece in pieces]
        joined[name] = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    if "read_s" in schema.plain:
        joined["read_s"] = sum(getattr(piece, "read_s") for piece in pieces)  # noqa: B009
    return replace(first, **joined)  # type: ignore[type-var]


def take(table: Table, which: np.ndarray, **replaced: Any) -> Table:
    """Some rows, in the order given; columns in ``replaced`` are taken from there."""
    schema = _schema(table)
    taken: dict[str, Any] = {name: getattr(table, name)[which] for name in schema.flat}
    for ptr, names in schema.ragged.items():
        taken[ptr], positions = positions_of_rows(getattr(table, ptr), which)
        taken |= {name: getattr(table, name)[positions] for name in names}
    for name in schema.by_name:
        taken[name] = {key: values[which] for key, values in getattr(table, name).items()}
    return replace(table, **taken | replaced)  # type: ignore[type-var]


def take_apart(table: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays of a table by name, for a file that holds arrays, and its fields that are not columns.

    Columns with any names are ``<field>.<name>`` among the arrays.
    """
    schema = _schema(table)
    names = [*schema.flat, *schema.ragged, *(n for group in schema.ragged.values() for n in group)]
    arrays = {name: getattr(table, name) for name in names}
    for field in schema.by_name:
        arrays |= {f"{field}.{key}": values for key, values in getattr(table, field).items()}
    return arrays, {name: getattr(table, name) for name in schema.plain}


def put_together(kind: type[Table], arrays: dict[str, np.ndarray], plain: dict[str, Any]) -> Table:
    """The opposite of ``take_apart``.

    Raises
    ------
    TypeError
        If a column is missing.
    """
    made: dict[str, Any] = dict(plain) | {field: {} for field in schema_of(kind).by_name}
    for name, values in arrays.items():
        field, dot, key = name.partition(".")
        if dot:
            made[field][key] = values
        else:
            made[name] = values
    return kind(**made)
