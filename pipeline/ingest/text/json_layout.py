"""JSON in any layout as one record a line: spread over lines, joined, or inside other values.

Readers of traces take one record after another. Programs write them over several lines (``jq .``),
and services put them into a page, a list by probe, or both. How deep records lie follows from the
first that is marked as one; what begins that deep is a record, all around it is left out. Bytes of
a record stay as they are, except that its line breaks follow it, so that lines keep their numbers
and a broken record remains one.
"""

from __future__ import annotations

import io
import re
from typing import BinaryIO

import numpy as np
from numba import njit

from pipeline.files import BOM
from pipeline.ingest.text.beginning import peek

HEAD_BYTES = 1 << 16
BLOCK_BYTES = 1 << 20
_BEGIN = re.compile(rb'\{\s{0,64}"[^"\\]{1,40}"')
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)

STATE = np.dtype(
    [
        ("depth", np.int64),  # open brackets
        ("wanted", np.int64),  # depth at which a record begins
        ("in_record", np.bool_),
        ("in_string", np.bool_),
        ("escaped", np.bool_),
        ("line_begins", np.bool_),
        ("n_breaks", np.int64),  # line breaks to write after the record; -n: n were too many
    ],
    align=True,
)


def first_object(head: bytes, mark: re.Pattern[bytes]) -> tuple[int, bytes] | None:
    """How many brackets are open where the first object with ``mark`` begins, and how it begins.

    Parameters
    ----------
    head : bytes
        The beginning of a text.
    mark : re.Pattern
        What stands in each record and nowhere around one.

    Returns
    -------
    (int, bytes) or None
        The bytes up to its first key; None: there is no such object.
    """
    found = mark.search(head)
    if found is None:
        return None
    opened: list[int] = []  # where brackets are
    for token in _TOKEN.finditer(head, 0, found.start()):
        if token[0] in b"[{":
            opened.append(token.start())
        elif token[0] in b"]}" and opened:
            opened.pop()
    if not opened or head[opened[-1]] != ord("{"):
        return None
    begin = _BEGIN.match(head, opened[-1])
    return len(opened) - 1, begin[0] if begin else b""


def is_spread(head: bytes) -> bool:
    """Whether the first record, which begins the text, ends on a later line."""
    depth = 0
    for token in _TOKEN.finditer(head):
        depth += (token[0] in b"[{") - (token[0] in b"]}")
        if not depth and token[0] in b"]}":
            return b"\n" in head[: token.start()]
    return b"\n" in head


def record_lines(
    stream: BinaryIO, mark: re.Pattern[bytes] | None = None, always: bool = False
) -> BinaryIO:
    """``stream``, or its records one on a line where they are laid out otherwise.

    An array of records, and records that each stand on a line, are returned as they are.

    Parameters
    ----------
    stream : BinaryIO
        Decompressed bytes.
    mark : re.Pattern or None
        What stands in each record and nowhere around one; None: records are in nothing.
    always : bool
        Whether arrays of records are laid out, too, and lines that hold several.
    """
    head, stream = peek(stream, HEAD_BYTES)
    text = head.removeprefix(BOM).lstrip()
    depth, begin = (first_object(text, mark) if mark is not None else None) or (0, b"")
    in_others = always or depth > text.startswith(b"[")
    if in_others or (depth == 0 and text.startswith(b"{") and is_spread(text)):
        return _RecordLines(stream, depth, begin)  # type: ignore[return-value]
    return stream


class _RecordLines(io.RawIOBase):
    def __init__(self, stream: BinaryIO, depth: int, begin: bytes) -> None:
        super().__init__()
        self._stream = stream
        self._begin = np.frombuffer(begin, np.uint8)
        self._states = np.zeros(1, STATE)
        self._states["wanted"] = depth
        self._states["line_begins"] = True
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        view = memoryview(buffer).cast("B")
        while not self._ready:
            block = self._stream.read(BLOCK_BYTES)
            if not block:
                return 0
            room = np.empty(2 * len(block) + int(self._states[0]["n_breaks"]) + 1, np.uint8)
            n = _lay_out(np.frombuffer(block, np.uint8), self._states, self._begin, room)
            self._ready = room[:n].data
        taken = self._ready[: len(view)]
        view[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)


@njit(cache=True, nogil=True)
def _begins(data, at, begin):
    """Whether ``begin`` stands there; not if the block ends before."""
    if len(begin) == 0 or at + len(begin) > len(data):
        return False
    n = 0
    while n < len(begin) and data[at + n] == begin[n]:
        n += 1
    return n == len(begin)


@njit(cache=True, nogil=True)
def _lay_out(data, states, begin, out):
    """Write the records in ``data`` to ``out``; returns how many bytes. State is kept.

    After a broken record, which has too many brackets, depths are wrong: then ``begin``, as the
    first one began, is what finds the next.
    """
    state = states[0]
    n = 0
    for at in range(len(data)):
        byte = data[at]
        begins_line = state["line_begins"]
        state["line_begins"] = byte == 10
        if byte == 10:
            state["in_string"] = False  # no string has a line break: something is broken
            state["escaped"] = False
            if state["in_record"]:
                state["n_breaks"] += 1
                out[n] = 32
                n += 1
            elif state["n_breaks"] < 0:
                state["n_breaks"] += 1
            else:
                out[n] = 10
                n += 1
            continue
        if state["in_string"]:
            if state["escaped"]:
                state["escaped"] = False
            elif byte == 92:
                state["escaped"] = True
            elif byte == 34:
                state["in_string"] = False
        elif byte == 34:
            state["in_string"] = True
        elif byte == 123 or byte == 91:
            if state["in_record"] and begins_line and byte == 123 and state["wanted"] == 0:
                # Where records are spread over lines, only a record begins in the first column.
                state["in_record"] = False
                state["depth"] = 0
                out[n] = 10
                n += 1
                state["n_breaks"] -= 1
                while state["n_breaks"] > 0:
                    out[n] = 10
                    n += 1
                    state["n_breaks"] -= 1
            if byte == 123 and not state["in_record"] and _begins(data, at, begin):
                state["depth"] = state["wanted"]
            if byte == 123 and state["depth"] == state["wanted"]:
                state["in_record"] = True
            state["depth"] += 1
        elif byte == 125 or byte == 93:
            state["depth"] = max(state["depth"] - 1, 0)
            if state["in_record"] and state["depth"] <= state["wanted"]:
                state["in_record"] = False
                out[n] = byte
                out[n + 1] = 10
                n += 2
                state["n_breaks"] -= 1
                while state["n_breaks"] > 0:
                    out[n] = 10
                    n += 1
                    state["n_breaks"] -= 1
                continue
        if state["in_record"]:
            out[n] = byte
            n += 1
    return n
