"""Parquet files put together from columns that were encoded apart, by any threads.

The row groups of a file are written one after another by one thread, whoever the writer is. What
they hold does not depend on where they are, only the footer does: columns of a row group are
encoded as a file of their own in memory, its pages are appended to the file, and the footer is made
of those of the parts. The file is the one that a single writer makes, byte by byte.

A footer is a struct ``FileMetaData`` in Thrift's compact protocol (parquet-format's
``parquet.thrift``; Thrift's ``thrift-compact-protocol.md``). Only the fields named here are looked
at; all others are kept as they are.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from typing import Any

MAGIC = b"PAR1"
_TAIL = 8  # length of the footer, and the magic again

# Types of the compact protocol; a boolean of a struct is its type.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_WHOLE = (_I16, _I32, _I64)
_LONG_LIST = 15  # its length follows; also: fields that are not further apart
_FIELD_SHIFT = 4

# Fields of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData.
_FILE_N_ROWS, _FILE_GROUPS = 3, 4
_GROUP_COLUMNS, _GROUP_BYTES, _GROUP_AT, _GROUP_COMPRESSED, _GROUP_NUMBER = 1, 2, 5, 6, 7
_CHUNK_AT, _CHUNK_COLUMN = 2, 3
_COLUMN_DATA_AT, _COLUMN_DICTIONARY_AT = 9, 11

Struct = dict[int, tuple[int, Any]]  # field -> its type and value


class Footer:
    """Footer of a file that is put together from parts, as they are appended.

    Parameters
    ----------
    empty : memoryview
        A file of the same columns without rows, by the same writer.
    """

    def __init__(self, empty: memoryview):
        self._file = footer_of(empty)
        self._groups: list[Struct] = []
        self._n_rows = 0

    def append(self, part: memoryview, at: int, begins: bool) -> memoryview:
        """Take up a part whose pages go to ``at``.

        Parameters
        ----------
        part : memoryview
            A file with one row group, of the columns that come next.
        at : int
        begins : bool
            Whether they are the first of a row group.

        Returns
        -------
        memoryview
            The pages.
        """
        footer = footer_of(part)
        _, (_, (group,)) = footer[_FILE_GROUPS]
        _, (_, chunks) = group[_GROUP_COLUMNS]
        shift = at - len(MAGIC)
        for chunk in chunks:
            _move(chunk, (_CHUNK_AT,), shift)
            _move(chunk[_CHUNK_COLUMN][1], (_COLUMN_DATA_AT, _COLUMN_DICTIONARY_AT), shift)
        if begins:
            _move(group, (_GROUP_AT,), shift)
            if _GROUP_NUMBER in group:
                group[_GROUP_NUMBER] = _I16, len(self._groups)
            self._groups.append(group)
            self._n_rows += footer[_FILE_N_ROWS][1]
        else:
            whole = self._groups[-1]
            whole[_GROUP_COLUMNS][1][1].extend(chunks)
            for field in (_GROUP_BYTES, _GROUP_COMPRESSED):
                whole[field] = _I64, whole[field][1] + group[field][1]
        return part[len(MAGIC) : len(part) - _TAIL - _length(part)]

    def end(self) -> bytes:
        """All that follows the last page."""
        self._file[_FILE_N_ROWS] = _I64, self._n_rows
        self._file[_FILE_GROUPS] = _LIST, (_STRUCT, self._groups)
        out = bytearray()
        _put_struct(out, self._file)
        return bytes(out) + struct.pack("<I", len(out)) + MAGIC


def _move(fields: Struct, which: Sequence[int], shift: int) -> None:
    """Add to positions in the file; 0 is none."""
    for field in which:
        if field in fields and fields[field][1]:
            fields[field] = fields[field][0], fields[field][1] + shift


def _length(file: memoryview) -> int:
    return struct.unpack("<I", file[-_TAIL : -len(MAGIC)])[0]


def footer_of(file: memoryview) -> Struct:
    """FileMetaData of a Parquet file in memory."""
    return _Reader(file[len(file) - _TAIL - _length(file) : -_TAIL]).struct()


class _Reader:
    """Values of the compact protocol, one after another."""

    def __init__(self, data: memoryview):
        self._data, self._at = data, 0

    def struct(self) -> Struct:
        fields: Struct = {}
        field = 0
        while (head := self._byte()) != 0:
            kind, step = head & 15, head >> _FIELD_SHIFT
            field = field + step if step else self._whole()
            fields[field] = kind, None if kind in (_TRUE, _FALSE) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind in _WHOLE:
            return self._whole()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind in (_LIST, _SET):
            head = self._byte()
            n, of = head >> _FIELD_SHIFT, head & 15
            n = self._varint() if n == _LONG_LIST else n
            return of, [self._value(of) for _ in range(n)]
        if kind == _STRUCT:
            return self.struct()
        raise ValueError(f"a footer has a value of type {kind}, which Parquet does not use")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, n: int) -> bytes:
        self._at += n
        return bytes(self._data[self._at - n : self._at])

    def _varint(self) -> int:
        value = 0
        for shift in itertools.count(0, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise AssertionError

    def _whole(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)


def _put_struct(out: bytearray, fields: Struct) -> None:
    before = 0
    for field in sorted(fields):
        kind, value = fields[field]
        step = field - before
        if 0 < step <= _LONG_LIST:
            out.append(step << _FIELD_SHIFT | kind)
        else:
            out.append(kind)
            _put_whole(out, field)
        if kind not in (_TRUE, _FALSE):
            _put_value(out, kind, value)
        before = field
    out.append(0)


def _put_value(out: bytearray, kind: int, value: Any) -> None:
    if kind in (_TRUE, _FALSE, _BYTE):
        out.append(value)
    elif kind in _WHOLE:
        _put_whole(out, value)
    elif kind == _DOUBLE:
        out += value
    elif kind == _BINARY:
        _put_varint(out, len(value))
        out += value
    elif kind == _STRUCT:
        _put_struct(out, value)
    else:
        of, values = value
        n = len(values)
        out.append(min(n, _LONG_LIST) << _FIELD_SHIFT | of)
        if n >= _LONG_LIST:
            _put_varint(out, n)
        for each in values:
            _put_value(out, of, each)


def _put_varint(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _put_whole(out: bytearray, value: int) -> None:
    _put_varint(out, value << 1 if value >= 0 else (-value << 1) - 1)
