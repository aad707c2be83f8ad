"""Tables of results to rows of a file and back: one row per result, ragged columns as lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.model.columns import Flat, Ragged, Schema, put_together, schema_of, take_apart
from pipeline.model.columns.ragged import offsets
from pipeline.store.results.keys import KEY_BYTES, GraphKeys, from_bytes

GRAPH = "graph"  # column of keys
NIGHT = "night"  # column: name of the snapshot whose run measured the row


def to_rows(found: Any, keys: GraphKeys, nights: np.ndarray) -> pa.Table:
    """Rows of a file.

    Parameters
    ----------
    found : a table of columns of n rows
        Its column ``row`` is left out: rows of a snapshot mean nothing in another one.
    keys : (n, 4) uint64
    nights : (n,) str
    """
    arrays, _ = take_apart(found)
    del arrays["row"]
    schema = schema_of(type(found))
    buffer = pa.py_buffer(np.ascontiguousarray(keys))
    made: dict[str, pa.Array] = {
        GRAPH: pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(KEY_BYTES), len(keys), [None, buffer]
        ),
        NIGHT: pa.array(nights.tolist(), pa.string()).dictionary_encode(),
    }
    for ptr, names in schema.ragged.items():
        cuts = pa.array(arrays.pop(ptr), pa.int64())
        for name in names:
            made[name] = pa.LargeListArray.from_arrays(cuts, pa.array(arrays.pop(name)))
    return pa.table(made | {name: pa.array(values) for name, values in arrays.items()})


def keys_in(table: pa.Table) -> GraphKeys:
    """(n, 4) uint64 keys of the rows of a file."""
    parts = []
    for chunk in table.column(GRAPH).chunks:
        data = memoryview(chunk.buffers()[1]) if len(chunk) else b""
        # What a buffer holds before and behind these rows is of others.
        parts.append(data[chunk.offset * KEY_BYTES : (chunk.offset + len(chunk)) * KEY_BYTES])
    return from_bytes(b"".join(parts))


def from_rows(kind: type, plain: dict[str, Any], table: pa.Table, row: np.ndarray) -> Any:
    """The inverse of ``to_rows``; ``row`` is the column that files do not have.

    Raises
    ------
    KeyError, TypeError, ValueError
        If a column is missing, there is one too many, or one holds what no run measures.
    """
    table = table.combine_chunks()
    schema = schema_of(kind)
    _check(schema, table)
    arrays: dict[str, np.ndarray] = {"row": row}
    ragged = {name: ptr for ptr, names in schema.ragged.items() for name in names}
    for name in table.column_names:
        if name in (GRAPH, NIGHT):
            continue
        if name not in ragged:
            arrays[name] = table.column(name).to_numpy()
            continue
        lengths, values = [np.empty(0, np.int64)], []
        for chunk in table.column(name).chunks:
            lengths.append(np.diff(chunk.offsets.to_numpy()))
            values.append(chunk.flatten().to_numpy(zero_copy_only=False))
        arrays[ragged[name]] = offsets(np.concatenate(lengths))
        dtype = table.schema.field(name).type.value_type.to_pandas_dtype()
        arrays[name] = np.concatenate([np.empty(0, dtype), *values])
    return put_together(kind, arrays, plain)


def _check(schema: Schema, table: pa.Table) -> None:
    """ValueError unless columns are of the right kind, without nulls, and no number is below -1."""
    expected: dict[str, Flat | Ragged] = dict(schema.flat)
    for columns in schema.ragged.values():
        expected |= columns
    for name in table.column_names:
        values = table.column(name)
        if values.null_count:
            raise ValueError(f"its column {name} has nulls")
        if name in (GRAPH, NIGHT):
            continue
        if pa.types.is_large_list(values.type):
            flat = [chunk.flatten() for chunk in values.chunks]
            values = pa.chunked_array(flat, values.type.value_type)
        if values.null_count:
            raise ValueError(f"its column {name} has nulls")
        column = expected.get(name)
        known = [] if column is None else [column.dtype, column.weighted]
        kinds = {np.dtype(each).kind for each in known if each is not None} or set("iufb")
        found = np.dtype(values.type.to_pandas_dtype()).kind
        if found not in kinds | ({"i", "u"} if kinds & {"i", "u"} else set()):
            raise ValueError(f"its column {name} is of type {values.type}")
        if found == "i" and len(values) and pc.min(values).as_py() < -1:
            raise ValueError(f"its column {name} has {pc.min(values)}")


def nights_in(table: pa.Table) -> np.ndarray:
    """(n,) object: name of the snapshot whose run measured each row."""
    return table.column(NIGHT).cast(pa.string()).to_numpy(zero_copy_only=False)
