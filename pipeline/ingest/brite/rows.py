"""Rows of blank-separated columns to arrays, for both sections of a BRITE file.

A compiled scanner takes plain rows; a row that it is not sure of is parsed again in Python, which
decides whether it is good and what is wrong with it. Writers leave out columns at the end of a row,
and ASes before its type: the scanner looks for the columns of the row before, Python for any that
a section allows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.ingest.text.digits import PARSED, scan_float, scan_int
from pipeline.ingest.text.lines import MAX_LINE_BYTES, Lines
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN

MAX_LENGTH = 3.0e38  # fits a float32
MAX_TYPES = 250  # distinct words in the text columns of a section
MAX_TYPE_BYTES = 32
AS_OF_NODE = -(2**63)  # AS of an edge's end in a row that gives none: no row can give this one

_INT, _FLOAT, _LENGTH, _TEXT = 0, 1, 2, 3


class Section(NamedTuple):
    """Columns of a section, and which of them a row may have.

    Attributes
    ----------
    columns : tuple of (str, int)
        All of them: name and kind.
    n_needed : int
        The first columns, which every row has.
    ends : tuple of tuple of int
        The further columns that rows may have; ends of equal length begin with different kinds.
    absent : dict of str to int
        Values of integer columns that a row lacks; a text column is empty there.
    """

    columns: tuple[tuple[str, int], ...]
    n_needed: int
    ends: tuple[tuple[int, ...], ...]
    absent: dict[str, int]


NODE = Section(
    (
        ("id", _INT),
        ("x", _FLOAT),
        ("y", _FLOAT),
        ("indegree", _INT),
        ("outdegree", _INT),
        ("asn", _INT),
        ("type", _TEXT),
    ),
    5,
    ((), (5,), (6,), (5, 6)),
    {"asn": NO_ASN},
)
EDGE = Section(
    (
        ("id", _INT),
        ("from", _INT),
        ("to", _INT),
        ("length", _LENGTH),
        ("delay", _FLOAT),
        ("bandwidth", _FLOAT),
        ("asn_from", _INT),
        ("asn_to", _INT),
        ("type", _TEXT),
        ("direction", _TEXT),
    ),
    6,
    ((), (8,), (6, 7), (8, 9), (6, 7, 8), (6, 7, 8, 9)),
    {"asn_from": AS_OF_NODE, "asn_to": AS_OF_NODE},
)

_END, _FULL, _ASK = 0, 1, 2


class RowTable:
    """Rows of one section as columns that grow."""

    def __init__(self, section: Section):
        self._section = section
        columns = section.columns
        kinds = [kind for _, kind in columns]
        self._kinds = np.array(kinds, np.int64)
        # The place of each column among those of its type.
        types = [_FLOAT if kind == _LENGTH else kind for kind in kinds]
        slots = [types[:i].count(t) for i, t in enumerate(types)]
        self._slots = np.array(slots, np.int64)
        self._slot = {name: slots[i] for i, (name, _) in enumerate(columns)}
        # What a row holds in the columns that it lacks; code 0 is the empty word.
        self._absent = np.zeros(types.count(_INT), np.int64)
        for name, value in section.absent.items():
            self._absent[self._slot[name]] = value
        self._int = np.tile(self._absent, (1024, 1))
        self._float = np.zeros((1024, types.count(_FLOAT)), np.float64)
        self._text = np.zeros((1024, types.count(_TEXT)), np.uint8)
        self._line = np.empty(1024, np.int64)
        self._n = 0
        self.n_seen = 0  # rows, broken ones too
        self.words = np.zeros((MAX_TYPES, MAX_TYPE_BYTES), np.uint8)
        self.word_sizes = np.zeros(MAX_TYPES, np.int64)
        self.n_words = 1
        self._present = np.arange(len(columns))  # columns of the last row

    def __len__(self) -> int:
        return self._n

    @property
    def line(self) -> np.ndarray:
        """(n_rows,) int64: line number in the file."""
        return self._line[: self._n]

    def ints(self, name: str) -> np.ndarray:
        return np.ascontiguousarray(self._int[: self._n, self._slot[name]])

    def floats(self, name: str) -> np.ndarray:
        return np.ascontiguousarray(self._float[: self._n, self._slot[name]])

    def texts(self, name: str) -> np.ndarray:
        """(n_rows,) unicode."""
        words = [bytes(self.words[i, : self.word_sizes[i]]).decode() for i in range(self.n_words)]
        return np.array(words, np.str_)[self._text[: self._n, self._slot[name]]]

    def take(self, rows: np.ndarray) -> RowTable:
        """A table of some rows, in that order."""
        table = object.__new__(RowTable)
        table.__dict__.update(self.__dict__)
        table._int, table._float = self._int[rows], self._float[rows]
        table._text, table._line, table._n = self._text[rows], self._line[rows], len(rows)
        return table

    def scan(self, lines: Lines) -> int:
        """Scan plain rows; _END, or _ASK where a line needs Python."""
        while True:
            start, self._n, lines.number, n_rows, status = _scan(
                lines.buffer,
                lines.start,
                lines.stop,
                lines.number,
                self._kinds[self._present],
                self._slots[self._present],
                self._int,
                self._float,
                self._text,
                self._line,
                self._n,
                self.words,
                self.word_sizes,
                self.n_words,
            )
            lines.start = start
            self.n_seen += n_rows
            if status != _FULL:
                return status
            self._grow()

    def add(self, line: bytes, number: int, is_whole: bool = True) -> tuple[str, str] | None:
        """Parse one row in Python; what is wrong with it, if anything.

        A row that may have lost its end (not ``is_whole``) has all columns of the one before.
        """
        fields = line.split()
        ends = [
            end for end in self._section.ends if len(end) + self._section.n_needed == len(fields)
        ]
        if not ends or (self._n and not is_whole and len(fields) < len(self._present)):
            least = len(self._present) if ends else self._section.n_needed
            few_or_many = "few" if len(fields) < least else "many"
            most = len(self._section.columns) if few_or_many == "many" else least
            return f"too {few_or_many} columns", f"{len(fields)} of {most}"
        if len(ends) > 1:  # no ASes, or no type: the kind of the first one tells
            is_word = fields[self._section.n_needed][:1].isalpha()
            ends = [end for end in ends if (self._kinds[end[0]] == _TEXT) == is_word]
        present = np.array([*range(self._section.n_needed), *ends[0]])
        values: list[int | float] = []
        for field, kind in zip(fields, self._kinds[present].tolist(), strict=True):
            value = self._word(field) if kind == _TEXT else _number(field, kind)
            if value is None:
                reason = "not a known word" if kind == _TEXT else "not a number"
            else:
                reason = _length_fault(value) if kind == _LENGTH else ""
            if value is None or reason:
                return reason, field[:60].decode("utf-8", "replace")
            values.append(value)
        if self._n == len(self._line):
            self._grow()
        # A row that the scanner gave up may have left something here.
        self._int[self._n], self._text[self._n] = self._absent, 0
        for value, at in zip(values, present.tolist(), strict=True):
            kind, slot = self._kinds[at], self._slots[at]
            column = self._int if kind == _INT else self._text if kind == _TEXT else self._float
            column[self._n, slot] = value
        self._line[self._n] = number
        self._n += 1
        self._present = present
        return None

    def _word(self, field: bytes) -> int | None:
        """Code of a word of a text column; a new one is remembered."""
        if len(field) > MAX_TYPE_BYTES or not field.replace(b"_", b"").isalnum():
            return None
        for i in range(self.n_words):
            if bytes(self.words[i, : self.word_sizes[i]]) == field:
                return i
        if self.n_words == MAX_TYPES or not field[:1].isalpha():
            return None
        self.words[self.n_words, : len(field)] = np.frombuffer(field, np.uint8)
        self.word_sizes[self.n_words] = len(field)
        self.n_words += 1
        return self.n_words - 1

    def _grow(self) -> None:
        for name in ("_int", "_float", "_text", "_line"):
            old = getattr(self, name)
            new = np.zeros((2 * len(old), *old.shape[1:]), old.dtype)
            if old is self._int:
                new[:] = self._absent
            new[: self._n] = old[: self._n]
            setattr(self, name, new)


def _number(field: bytes, kind: int) -> int | float | None:
    try:
        value = float(field) if b"_" not in field else math.nan
        if kind == _INT:
            whole = int(field) if b"." not in field else int(value)
            return whole if whole == value and abs(whole) < 2**62 else None
    except (ValueError, OverflowError):
        return None
    # What is written in digits but too large for a float64 is a length too large, not text.
    is_wide = kind == _LENGTH and math.isinf(value) and field[-1:].isdigit()
    return value if math.isfinite(value) or is_wide else None


def _length_fault(value: float) -> str:
    """What is wrong with a number as a length, if anything."""
    if value < 0:
        return "negative length"
    return "length too large" if value > MAX_LENGTH else ""


def read_rows(lines: Lines, table: RowTable, declared: int, report: ReadReport) -> None:
    """Read a section into ``table``, up to the title of the next one or the end of the file.

    Broken rows go to ``report``. An unterminated last line is not a row if it is broken or if fewer
    rows than ``declared`` are there: it may have lost its end.
    """
    lines.section = b""
    while lines.fill():
        if table.scan(lines) == _END:
            if lines.unterminated and table.n_seen < declared and len(table):
                _drop_last(lines, table, report)
            continue
        line = lines.next_line()
        if line is None:
            return
        text = line.strip()
        if text.startswith(b"Edges:"):
            lines.section = text
            return
        table.n_seen += 1
        if len(line) > MAX_LINE_BYTES:
            wrong: tuple[str, str] | None = ("line too long", f"{len(line)} bytes")
        else:
            is_last = lines.unterminated and lines.start == lines.stop
            wrong = table.add(line, lines.number, is_whole=not is_last)
        if wrong is not None:
            report.reject(f"line {lines.number}", *wrong)
            table.n_seen -= lines.unterminated and lines.start == lines.stop
        elif lines.unterminated and lines.start == lines.stop and table.n_seen < declared:
            _drop_last(lines, table, report)


def _drop_last(lines: Lines, table: RowTable, report: ReadReport) -> None:
    if table.line[-1] == lines.number:
        table._n -= 1
        table.n_seen -= 1
        report.reject(f"line {lines.number}", "line cut short")


@njit(cache=True, nogil=True)
def _scan(
    text,
    start,
    stop,
    number,
    kinds,
    slots,
    ints,
    floats,
    codes,
    line_numbers,
    n,
    words,
    word_sizes,
    n_words,
):
    """Scan rows of ``text[start:stop]`` from row ``n`` on.

    Returns (start of the line that was not used, rows, lines, rows scanned, status).
    """
    n_columns = len(kinds)
    n_rows = 0
    while start < stop:
        if n == len(line_numbers):
            return start, n, number, n_rows, _FULL
        i = start
        column = 0
        plain = True
        while True:
            while i < stop and (text[i] == 32 or text[i] == 9 or text[i] == 13):
                i += 1
            if i == stop or text[i] == 10:
                break
            begin = i
            while i < stop and text[i] > 32:
                i += 1
            if i < stop and text[i] != 32 and text[i] != 9 and text[i] != 13 and text[i] != 10:
                plain = False
                break
            if column == n_columns:
                plain = False
                break
            kind = kinds[column]
            slot = slots[column]
            if kind == _INT:
                whole, status = scan_int(text, begin, i)
                if status != PARSED:
                    plain = False
                    break
                ints[n, slot] = whole
            elif kind == _TEXT:
                found = -1
                for w in range(n_words):
                    if word_sizes[w] == i - begin:
                        same = True
                        for k in range(i - begin):
                            if words[w, k] != text[begin + k]:
                                same = False
                                break
                        if same:
                            found = w
                            break
                if found < 0:
                    plain = False
                    break
                codes[n, slot] = found
            else:
                value, status = scan_float(text, begin, i)
                if status != PARSED or (kind == _LENGTH and not 0 <= value <= MAX_LENGTH):
                    plain = False
                    break
                floats[n, slot] = value
            column += 1
        if not plain or (0 < column < n_columns):
            return start, n, number, n_rows, _ASK
        number += 1
        start = min(i + 1, stop)
        if column == n_columns:
            line_numbers[n] = number
            n += 1
            n_rows += 1
    return start, n, number, n_rows, _END
