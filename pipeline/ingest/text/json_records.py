"""Traces in JSON that a format's module reads record by record, once it is parsed.

For programs whose files are small. A module says what marks a record and which traces it holds;
layouts (lines, arrays, pages), broken records, cut files and limits are the same for all.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

import orjson

from pipeline.errors import FormatError
from pipeline.ingest.column_reader import Broken, ColumnReader, More, Step, TraceDecoder
from pipeline.ingest.columns import ByteWindow, Trace, TraceColumns
from pipeline.ingest.text.json_layout import record_lines
from pipeline.json_text import nesting, parse_json
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch

WINDOW_BYTES = 1 << 22
MAX_RECORD_BYTES = 1 << 26
MAX_DEPTH = 256
_TEXT = re.compile(rb"[^ \t\r\n]")
_NEWLINE = re.compile(rb"\n")
UNKNOWN = (0, 0)  # an address or name that says nothing

Words = tuple[int, int]
Traces = Callable[[dict[str, Any], ReadReport], Iterable[Trace]]


class BrokenRecord(Exception):
    """Why a record is refused: a fixed phrase, and what was found."""

    def __init__(self, reason: str, found: object = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, str(found)[:200]


class OtherRecord(Exception):
    """A valid record of something else; ``args[0]`` says of what."""


def read_records(
    stream: BinaryIO, report: ReadReport, mark: re.Pattern[bytes], traces: Traces
) -> Iterator[TraceBatch]:
    """Read the records of a file as batches of columns.

    Parameters
    ----------
    stream : BinaryIO
        Decompressed bytes; needs ``readinto``.
    report : ReadReport
        Filled while the iterator is consumed.
    mark : re.Pattern
        A key that each record has and nothing around one.
    traces : callable
        The traces of one record. It raises BrokenRecord, or OtherRecord for one to skip.

    Raises
    ------
    FormatError
        After everything valid: the file is empty, cut short, or has no record.
    """
    lines = record_lines(stream, mark, always=True)
    return ColumnReader(lines, report, _RecordDecoder(report, traces)).batches()


class _RecordDecoder(TraceDecoder):
    """One record a line."""

    window_bytes, max_window_bytes = WINDOW_BYTES, MAX_RECORD_BYTES
    min_trace_bytes, min_reply_bytes = len('{"a":"::"}'), len('{"b":1}')

    def __init__(self, report: ReadReport, traces: Traces) -> None:
        self._report, self._traces = report, traces
        self._line = 1

    def decode(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        data = window.data.data
        while (found := _TEXT.search(data, at, window.end)) is not None:
            self._line += bytes(data[at : found.start()]).count(b"\n")
            at = found.start()
            stop = self._line_end(window, at)
            if stop is None:
                if window.has_room(at):
                    return More(at)
                detail = f"more than {MAX_RECORD_BYTES} bytes"
                return Broken(at, self._place, "record too long", detail, is_lost=True)
            is_last = stop == window.end
            fault = self._take(bytes(data[at:stop]), window.final and is_last, columns)
            at = stop + (not is_last)
            if fault is not None and fault.is_cut:
                return fault._replace(at=at)
            self._line += not is_last
            if fault is not None:
                return fault._replace(at=at)
        self._line += bytes(data[at : window.end]).count(b"\n")
        return More(window.end)

    def _line_end(self, window: ByteWindow, at: int) -> int | None:
        """Where the line at ``at`` ends; None: it goes on behind the window."""
        found = _NEWLINE.search(window.data.data, at, window.end)
        if found is not None:
            return found.start()
        return window.end if window.final else None

    @property
    def _place(self) -> str:
        return f"line {self._line}"

    def _take(self, line: bytes, is_last: bool, columns: TraceColumns) -> Broken | None:
        """Put the traces of a line into the columns; what is wrong with it, if anything."""
        place = self._place
        try:
            if line.count(b"{") + line.count(b"[") > MAX_DEPTH and nesting(line) > MAX_DEPTH:
                return Broken(0, place, "nested too deep", f"more than {MAX_DEPTH} levels")
            record = parse_json(line)
            if not isinstance(record, dict):
                return Broken(0, place, "not a JSON object", type(record).__name__)
            traces = [*self._traces(record, self._report)]
        except OtherRecord as other:
            self._report.skip(str(other.args[0]))
            return None
        except orjson.JSONDecodeError as error:
            if is_last:
                cut = "cut short in a record"
                return Broken(0, place, cut, "", is_lost=True, if_last=cut, is_cut=True)
            return Broken(0, place, "not JSON", str(error))
        except BrokenRecord as error:
            return Broken(0, place, error.reason, error.detail)
        for trace in traces:
            columns.append(trace)
        return None

    def resynchronise(self, window: ByteWindow, at: int) -> int | More | None:
        stop = self._line_end(window, at)
        if stop is None:
            return More(window.end)
        self._line += 1
        return None if stop == window.end else stop + 1

    def judge(self, window: ByteWindow, fault: FormatError | None) -> FormatError | None:
        report = self._report
        if fault is None and not (report.n_records or report.rejected or report.skipped):
            return FormatError(report.path, "", "no record of a trace in it")
        return fault


def read_list(value: Any, what: str) -> list[dict[str, Any]]:
    """A list of objects; none if it is missing or null."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise BrokenRecord(f"{what} are not a list of objects", type(value).__name__)
    return value


def read_object(value: Any, what: str) -> dict[str, Any]:
    """An object; empty if it is missing or null."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BrokenRecord(f"{what} is not an object", type(value).__name__)
    return value


def read_addr(value: Any) -> Words:
    """Words of an address, without the interface of a link-local one."""
    try:
        return parse_addr(value.partition("%")[0])
    except (ValueError, AttributeError):
        raise BrokenRecord("not an address", value) from None


def named_addr(value: Any) -> Words:
    """Words of an address; UNKNOWN for a name, which says nothing of it, or nothing."""
    try:
        return read_addr(value)
    except BrokenRecord:
        if value is None or isinstance(value, str):
            return UNKNOWN
        raise


def read_ttl(value: Any) -> int:
    """A TTL; some programs write it as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 4:
        value = int(value)
    if type(value) is not int or not 1 <= value <= 255:
        raise BrokenRecord("TTL is not a number from 1 to 255", value)
    return value


def read_rtt(value: Any) -> float:
    """Milliseconds; NaN if there are none."""
    if value is None:
        return math.nan
    if type(value) not in (int, float):
        raise BrokenRecord("RTT is not a number", value)
    return float(value)


def read_time(value: Any) -> float:
    """Seconds since 1970 of a time in ISO 8601 or in seconds; NaN: not a time, 0: none."""
    if value is None:
        return 0.0
    try:
        return float(value)
    except (ValueError, TypeError):
        pass
    try:
        found = datetime.datetime.fromisoformat(value)
    except (ValueError, TypeError):
        return math.nan
    if found.tzinfo is None:
        found = found.replace(tzinfo=datetime.UTC)
    return found.timestamp()
