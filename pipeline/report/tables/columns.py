"""Columns of a report's tables: numpy arrays to Arrow, null where there is no figure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.metrics import Column
from pipeline.model.columns.ragged import offsets


def arrow_type(column: Column) -> pa.DataType:
    """Type of a column that the registry of metrics names."""
    inner = column.dtype.removeprefix("list<").removesuffix(">")
    kind = pa.bool_() if inner == "bool" else getattr(pa, inner)()
    return kind if inner == column.dtype else pa.list_(kind)


def null_where_nan(values: np.ndarray) -> pa.Array:
    """float64 column."""
    return pa.array(values, pa.float64(), mask=np.isnan(values))


def null_where_empty(texts: list[str]) -> pa.Array:
    """Text column."""
    values = np.array(texts, object)
    return pa.array(values, pa.string(), mask=values == "")


def spread(has: np.ndarray, values: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Values of the rows that have one, in order; null in the others (and for NaN).

    Parameters
    ----------
    has : (n_rows,) bool
    values : (has.sum(),)
    kind : pyarrow.DataType
        Of the column.
    """
    full = np.zeros(len(has), values.dtype)
    full[has] = values
    missing = ~has
    if values.dtype.kind == "f":
        missing |= np.isnan(full)
    return pa.array(full, kind, mask=missing)


def lists(ptr: np.ndarray, values: pa.Array, has: np.ndarray | None = None) -> pa.Array:
    """List column from offsets.

    Parameters
    ----------
    ptr : (n_lists + 1,) int64; values : pyarrow.Array
    has : (n_rows,) bool, optional
        ``ptr`` is of the rows that have a list; the others are null.
    """
    if has is not None:
        lengths = np.zeros(len(has), np.int64)
        lengths[has] = np.diff(ptr)
        ptr = offsets(lengths)
    mask = None if has is None or has.all() else pa.array(~has)
    # Every reader of Parquet knows offsets of 32 bits; larger ones only where needed.
    if ptr[-1] > np.iinfo(np.int32).max:
        return pa.LargeListArray.from_arrays(pa.array(ptr, pa.int64()), values, mask=mask)
    return pa.ListArray.from_arrays(pa.array(ptr, pa.int32()), values, mask=mask)
