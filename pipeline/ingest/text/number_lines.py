"""Lines of numbers, of any length, as one column of numbers and where each line ends in it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numba import njit

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.text.digits import PARSED, scan_float
from pipeline.model.measured.reading import ReadReport

_BLOCK = 4 << 20
_MOST_BYTES = 64  # of a number
_OPEN, _BROKEN, _COMMENT = 1, 2, 4  # of a line: it has begun; it holds something else; it is one
PERCENT, NO_COMMENT = 37, 0


@dataclass(frozen=True, eq=False)
class NumberLines:
    """Lines of a file.

    Attributes
    ----------
    values : (n_values,) float64
        Whole numbers are exact up to 2**53.
    end : (n_lines,) int64
        Line i is values[end[i - 1]:end[i]]; a broken line has none.
    number : (n_lines,) int64
        Of each line in the file, from 1: comments have a number, but no row here.
    error : FormatError or None
        What ended the file.
    """

    values: np.ndarray
    end: np.ndarray
    number: np.ndarray
    error: FormatError | None

    def __len__(self) -> int:
        return len(self.end)

    def line(self, i: int) -> np.ndarray:
        return self.values[self.end[i - 1] if i else 0 : self.end[i]]

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.end, prepend=0)


def read_number_lines(stream: BinaryIO, report: ReadReport, comment: int) -> NumberLines:
    """Read a whole file; numbers are separated by commas, blanks or TABs.

    Lines that begin with ``comment`` are left out; those that hold anything but numbers are
    rejected, and have no numbers. The last line of a stream that is cut short is not trusted.
    """
    values: list[np.ndarray] = []
    ends: list[np.ndarray] = []
    numbers: list[np.ndarray] = []
    broken: list[np.ndarray] = []
    state = np.zeros(3, np.int64)  # values, lines of the file, what the open line is
    error: FormatError | None = None
    rest, is_begun, is_last = b"", False, False
    while not is_last:
        try:
            block = stream.read(_BLOCK)
        except FormatError as fault:
            error, block = fault, b""
        is_last = not block
        if is_last and (error is not None or not (rest or state[2])):
            break
        text = rest + (block or b"\n")
        if not is_begun:
            text, is_begun = text.removeprefix(BOM), True
        n_lines = text.count(b"\n")
        before = int(state[0])
        found = np.empty(len(text) // 2 + 1)
        end, number = np.empty((2, n_lines), np.int64)
        is_broken = np.empty(n_lines, bool)
        data = np.frombuffer(text, np.uint8)
        used, n_ended = _scan(data, comment, state, found, end, number, is_broken)
        rest = text[used:]
        if len(rest) > _MOST_BYTES:  # no number is so long
            state[2] |= _OPEN | _BROKEN
            rest = rest[-1:]
        values.append(found[: int(state[0]) - before].copy())
        for column, part in ((ends, end), (numbers, number), (broken, is_broken)):
            column.append(part[:n_ended].copy())
    end, number = _joined(ends, np.int64), _joined(numbers, np.int64)
    value = _joined(values, np.float64)[: end[-1] if len(end) else 0]
    is_broken = _joined(broken, bool)
    for line in number[is_broken].tolist():
        report.reject(f"line {line}", "not a line of numbers")
    if is_broken.any():
        lengths = np.diff(end, prepend=0)
        value = value[~np.repeat(is_broken, lengths)]
        end = np.cumsum(np.where(is_broken, 0, lengths))
    return NumberLines(value, end, number, error)


def _joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *parts])


def compile_kernels() -> None:
    """Compile the scanner, or load it from numba's cache."""
    read_number_lines(io.BytesIO(b"1 2\n"), ReadReport(""), PERCENT)


@njit(cache=True, nogil=True)
def _scan(data, comment, state, values, end, number, is_broken):
    """Scan a block up to its last whole number; a number may continue in the next block.

    Returns (bytes used, lines ended).
    """
    n, n_ended = 0, 0
    base = state[0]
    i, size = 0, len(data)
    while i < size:
        c = data[i]
        if c == 10:
            state[1] += 1
            if state[2] & _COMMENT == 0:
                end[n_ended], number[n_ended] = base + n, state[1]
                is_broken[n_ended] = state[2] & _BROKEN != 0
                n_ended += 1
            state[2] = 0
            i += 1
        elif c == 32 or c == 9 or c == 13 or c == 44 or state[2] & (_BROKEN | _COMMENT):
            i += 1
        elif c == comment and state[2] == 0:
            state[2] = _COMMENT
        else:
            begin = i
            while i < size and data[i] > 32 and data[i] != 44:
                i += 1
            if i == size:
                state[0] = base + n
                return begin, n_ended
            value, status = scan_float(data, begin, i)
            state[2] |= _OPEN
            if status == PARSED:
                values[n] = value
                n += 1
            else:
                state[2] |= _BROKEN
    state[0] = base + n
    return size, n_ended
