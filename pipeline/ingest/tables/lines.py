"""Text tables of addresses and ASes, from blocks of bytes to whole lines.

A table comes as the blocks of an opened file (``ingest.opening.table_blocks``); what goes wrong
with the file itself is raised by them, after all bytes that could be read.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

from pipeline.errors import FormatError
from pipeline.model.measured.reading import ReadReport

Blocks = Iterable[bytes]
MAX_LINE_BYTES = 1 << 24  # an unbroken line longer than this is not a table


def read_chunks(blocks: Blocks, report: ReadReport) -> Generator[tuple[int, bytes], None, None]:
    """Whole lines of a text table, some megabytes at a time.

    What goes wrong is written to the report (status ``partial`` or ``rejected`` and why) and
    ends the table; what was readable before has been yielded.

    Yields
    ------
    (number of the first line, counted from 1; its bytes, ending at a line's end)
    """
    line, rest, n_bytes = 1, b"", 0
    try:
        for block in blocks:
            n_bytes += len(block)
            data = rest + block
            end = data.rfind(b"\n") + 1
            rest = data[end:]
            if end:
                yield line, data[:end]
                line += data.count(b"\n")
            _check_length(rest)
        if rest:
            yield line, rest + b"\n"
    except FormatError as error:
        report.refuse(f"line {line}: {error.reason}" if n_bytes else error, partly=n_bytes > 0)


def _check_length(line: bytes) -> None:
    if len(line) > MAX_LINE_BYTES:
        raise FormatError("", "", f"longer than {MAX_LINE_BYTES >> 20} MiB; this is no text table")


def read_lines(blocks: Blocks, report: ReadReport) -> Iterator[tuple[str, str]]:
    """Lines of a text table as ``read_chunks`` reads it, without blank ones.

    Yields
    ------
    (``line 17``; its text, without blanks at its ends)
    """
    for first_line, data in read_chunks(blocks, report):
        for i, line in enumerate(data.split(b"\n")):
            if text := line.decode("utf-8", "replace").strip():
                yield f"line {first_line + i}", text


def read_whole(blocks: Blocks, report: ReadReport, limit: int) -> bytes:
    """All bytes of a table, if there are at most ``limit``; else those before the fault.

    What goes wrong is written to the report (status ``partial`` or ``rejected`` and why).
    """
    data = bytearray()
    try:
        for block in blocks:
            data += block
            if len(data) > limit:
                data.clear()
                report.refuse(f"more than {limit >> 20} MiB; no such table is this large")
                break
    except FormatError as error:
        report.refuse(error, partly=bool(data))
    return bytes(data)
