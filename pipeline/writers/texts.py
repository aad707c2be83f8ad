"""Columns to lines of text, a whole part at once, and texts of third parties made harmless."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.model.words import printable

_NOT_XML = re.compile("[\ufffe\uffff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def lines(*parts: str | pa.Array) -> bytes:
    """One text of all rows: the parts of each row one after another.

    At least one part is a column; strings are the same in each row. Columns have no nulls.
    """
    columns = [pa.scalar(part) if isinstance(part, str) else part for part in parts]
    joined = pc.binary_join_element_wise(*columns, "")
    if isinstance(joined, pa.ChunkedArray):
        joined = joined.combine_chunks()
    return b"".join(joined.cast(pa.binary()).to_pylist()) if joined.offset else _bytes(joined)


def _bytes(joined: pa.Array) -> bytes:
    """The texts of an array, end to end."""
    _, offsets, data = joined.buffers()
    if data is None or not len(joined):
        return b""
    ends = pa.Array.from_buffers(pa.int32(), len(joined) + 1, [None, offsets])
    return data.slice(ends[0].as_py(), ends[-1].as_py() - ends[0].as_py()).to_pybytes()


def text_of(column: pa.ChunkedArray, escaped: Callable[[str], str] | None = None) -> pa.Array:
    """A column as text; empty where a value is null or not a number.

    ``escaped`` is applied to each distinct text of a column of texts.
    """
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(values, pa.ChunkedArray):  # one without chunks
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], column.type)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        if escaped is not None:
            encoded = values.dictionary_encode()
            plain = [escaped(each) for each in encoded.dictionary.to_pylist()]
            values = pa.array(plain, pa.string()).take(encoded.indices)
    else:
        values = values.cast(pa.string())
    return pc.fill_null(values.cast(pa.string()), "")


def label(nodes: pa.Table, escaped: Callable[[str], str]) -> pa.Array:
    """What each node is called: its name, its address, or its id."""
    name = text_of(nodes["name"], escaped) if "name" in nodes.column_names else None
    addr, number = text_of(nodes["addr"], escaped), text_of(nodes["id"])
    text = pc.if_else(pc.equal(addr, ""), number, addr)
    return text if name is None else pc.if_else(pc.equal(name, ""), text, name)


def where_any(text: pa.Array, before: str, after: str) -> pa.Array:
    """``before``, text, ``after``; empty where there is no text."""
    whole = pc.binary_join_element_wise(pa.scalar(before), text, pa.scalar(after), "")
    return pc.if_else(pc.equal(text, ""), "", whole)


def of_xml(text: str) -> str:
    """Text for XML, which has no place for these characters even where they are escaped."""
    return escape(_NOT_XML.sub("\ufffd", printable(text)), {'"': "&quot;"})


def xml_type(kind: pa.DataType) -> str:
    """Type of an attribute, as GraphML and GEXF call it."""
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "long"
    if pa.types.is_floating(kind):
        return "float" if kind.bit_width <= 32 else "double"
    return "string"


def of_dot(text: str) -> str:
    """Text for between the quotes of DOT."""
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


def of_csv(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    plain = printable(text)
    return "'" + plain if plain.startswith(_FORMULA) else plain
