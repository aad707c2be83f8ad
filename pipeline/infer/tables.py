"""Text tables of addresses, read a few megabytes at a time: plain, gzip, bzip2 or xz."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from pipeline.errors import said_by_system
from pipeline.files import BOM
from pipeline.model.measured.reading import ReadReport

_CHUNK = 1 << 22
_MAX_LINE = 1 << 24  # an unbroken line longer than this is not a table
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}


class _NoTextError(ValueError):
    """The bytes are not a table of lines."""


def _pieces(path: Path) -> Iterator[bytes]:
    """Decompressed bytes of a file, without a byte order mark at their beginning."""
    with path.open("rb") as head:
        opener = _OPENERS.get(head.read(2))
    with (opener or open)(path, "rb") as stream:
        data = stream.read(_CHUNK).removeprefix(BOM)
        while data:
            yield data
            data = stream.read(_CHUNK)


def _cut(data: bytes) -> tuple[bytes, bytes]:
    """Whole lines, and the incomplete line after them."""
    end = data.rfind(b"\n") + 1
    if len(data) - end > _MAX_LINE:
        raise _NoTextError(f"no line end in {len(data) - end} bytes; this is not a text table")
    return data[:end], data[end:]


def read_chunks(path: Path, report: ReadReport) -> Iterator[tuple[int, bytes]]:
    """Whole lines of a text file, some megabytes at a time.

    What goes wrong is written to the report (status ``partial`` or ``rejected`` and why) and
    ends the file; what was readable before has been yielded. A pipe or device is refused: the
    file is read twice, once for its sha256.

    Yields
    ------
    (number of the first line, counted from 1; its bytes, ending at a line's end)
    """
    line, rest, n_bytes = 1, b"", 0
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            report.refuse(_no_file(mode))
            return
        _fingerprint(path, report)
        for data in _pieces(path):
            n_bytes += len(data)
            whole, rest = _cut(rest + data)
            if whole:
                yield line, whole
                line += whole.count(b"\n")
        if rest:
            yield line, rest + b"\n"
    except (OSError, EOFError, zlib.error, lzma.LZMAError, _NoTextError) as error:
        where = f"line {line}: " if n_bytes else ""
        report.refuse(f"{where}{_reason(error)}", partly=n_bytes > 0)


def read_lines(path: Path, report: ReadReport) -> Iterator[tuple[str, str]]:
    """Lines of a text file as ``read_chunks`` reads it, without blank ones.

    Yields
    ------
    (``line 17``; its text, without blanks at its ends)
    """
    for first_line, data in read_chunks(path, report):
        for i, line in enumerate(data.split(b"\n")):
            if text := line.decode("utf-8", "replace").strip():
                yield f"line {first_line + i}", text


def _no_file(mode: int) -> str:
    return f"is a {'folder' if stat.S_ISDIR(mode) else 'pipe or device'}; give a file"


def _reason(error: Exception) -> str:
    """What is wrong with a file, and what to do about it."""
    if isinstance(error, EOFError):
        return "cut short: the compressed data stop before their end; copy the file again"
    if isinstance(error, (zlib.error, lzma.LZMAError, gzip.BadGzipFile)):
        return f"damaged compressed data ({error}); copy the file again"
    return said_by_system(error) if isinstance(error, OSError) else str(error)


def read_whole(path: Path, report: ReadReport, limit: int) -> bytes:
    """All bytes of a file, decompressed, if there are at most ``limit``.

    What goes wrong is written to the report (status ``rejected`` and why): part of a JSON document
    says nothing.
    """
    data = bytearray()
    fault = ""
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            _fingerprint(path, report)
            for piece in _pieces(path):
                data += piece
                if len(data) > limit:
                    fault = f"more than {limit >> 20} MiB; no such table is this large"
                    break
        else:
            fault = _no_file(mode)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        fault = _reason(error)
    if fault:
        report.refuse(fault)
    return bytes(data)


def _fingerprint(path: Path, report: ReadReport) -> None:
    if report.sha256:
        return
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(_CHUNK):
            digest.update(data)
            report.size_bytes += len(data)
    report.sha256 = digest.hexdigest()


@njit(cache=True, nogil=True)
def parse_v4(data, start, end):
    """Number of the dotted quad in data[start:end], -1 if it is not one."""
    number, part = np.int64(0), np.int64(0)
    digits, dots = 0, 0
    for i in range(start, end):
        byte = data[i]
        if 48 <= byte <= 57:
            part = 10 * part + np.int64(byte) - 48
            digits += 1
            if digits > 3 or part > 255:
                return np.int64(-1)
        elif byte == 46:
            if digits == 0 or dots == 3:
                return np.int64(-1)
            number = number * 256 + part
            part, digits = np.int64(0), 0
            dots += 1
        else:
            return np.int64(-1)
    if dots != 3 or digits == 0:
        return np.int64(-1)
    return number * 256 + part
