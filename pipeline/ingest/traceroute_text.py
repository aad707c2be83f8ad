"""Text that ``traceroute`` and ``traceroute6`` print on Linux and BSD, and that of BusyBox.

Any number of traces may follow one another. One begins with its header and ends before the next::

    traceroute to a.example (192.0.2.9) from 192.0.2.1, 30 hops max, 60 byte packets
     1  gw.example (192.0.2.2) [AS64500]  0.341 ms  0.322 ms *
     2  * * *
     3  192.0.2.3  1.2 ms 192.0.2.4 <MPLS:L=24015,E=0,S=1,T=1>  1.3 ms !H  1.4 ms

- The header gives the destination: the address in brackets. A trace of a header alone has no
  replies. ``from`` gives the source; without it a trace has no vantage point (noted as ``traces
  without a source``): it is evidence for the topology, but comparisons of nights do not use it.
- There is no time: it is unknown, and a snapshot is named after the day of its ingest.
- The method is not said; by default each probe goes to a port of its own, so traces count as
  *classic* (``TraceBatch.n_classic``).
- Of a hop each probe counts: an address, with or without a name before it, holds for the times
  after it, until the next one. An address without a time is a reply too, and ``*`` is none. Lines
  that begin with blanks and no hop number belong to the hop above.
- ``!H`` and all other marks of ``!`` with a letter or number: kind *unreachable*. All other replies
  are *unknown*: a router's answer and the target's look alike.
- MPLS labels (``<MPLS:...>``, ``[MPLS: ...]``, lines of ``MPLS Label=...``): replies of the address
  that they stand with are labelled. AS numbers in brackets, ``!`` alone, sizes and further
  extensions are not read.
- Other lines, such as prompts and warnings, are skipped and counted.
- A trace is rejected as a whole for a line that is none of these, a hop number outside 1 to 255,
  hop numbers that fall, or an invalid address: a hop left out would look like a silent one.
- If the last line of a file has neither a line break nor the end of a probe (``ms``, ``*``, a
  mark), the file is cut short, and its last trace is left out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.column_reader import Broken, ColumnReader, More, Step, TraceDecoder
from pipeline.ingest.columns import ByteWindow, TraceColumns
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import (
    KIND_UNKNOWN,
    KIND_UNREACHABLE,
    LABELLED,
    TraceBatch,
)

WINDOW_BYTES = 1 << 20
MAX_RECORD_BYTES = 1 << 20  # 255 hops of 60 probes, each with a name
MAX_RTT_MS = 1e9
_BEGIN = re.compile(rb"^traceroute6?[ \t]+to[ \t]", re.MULTILINE)
_HEADER = re.compile(
    r"traceroute6?\s+to\s+\S+\s+\((?P<dst>[^()\s]+)\)(?:\s+from\s+(?P<src>[^\s,]+))?[^\n]*?,"
    r"\s*\d+\s+hops\s+max\b"
)
_SNIFFED = re.compile(
    rb"^traceroute6?[ \t]+to[ \t]+\S+[ \t]+\([0-9A-Fa-f:.]+(?:%\w+)?\)[^\n]*,[ \t]*\d+ hops max\b",
    re.MULTILINE,
)
_HOP = re.compile(r"\s*(\d{1,3})(?=\s|$)(.*)")
# What a hop consists of. Of MTUs, hops of the way back, TTLs of replies and sizes nothing is read.
_TOKEN = re.compile(
    r"""
      (?P<time>\d{1,12}(?:[.,]\d{1,12})?) \s{0,9} ms (?=\s|$)
    | (?P<none>\*) (?=\s|$)
    | (?P<box>\[[^\[\]]*\]|<[^<>]*>)
    | (?P<mark>!(?:[A-Z]?(?:-?\d{1,9})?|<\d{1,9}>)) (?=\s|$)
    | (?P<unread>F=\d+|'-?\d+'|\(\d+\)|\(ttl=\d+!?\)|\d{1,6}[ ]bytes[ ]to[ ]\S+) (?=\s|$)
    | \S+ [ \t]{1,9} \( (?!\d+\)|ttl=) (?P<addr>[^()\s]+) \) (?=\s|$)
    | (?P<word>\S+)
    """,
    re.VERBOSE,
)
_MPLS_LINE = re.compile(r"\s+MPLS\b")
_WHOLE = re.compile(rb"(?:\bms|\*|![A-Z]?(?:-?\d+)?|[\]>)])[ \t\r]*\Z")  # how a line may end


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` holds output of traceroute."""
    return _SNIFFED.search(head.removeprefix(BOM)) is not None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    """Read traces as batches of columns.

    Parameters
    ----------
    stream : BinaryIO
        Decompressed bytes; needs ``readinto``.
    report : ReadReport
        Filled while the iterator is consumed.

    Raises
    ------
    FormatError
        After everything valid: the file is empty, cut short, or holds no trace.
    """
    return ColumnReader(stream, report, TracerouteDecoder(report)).batches()


class _Reply(NamedTuple):
    ttl: int
    addr: tuple[int, int]
    rtt_ms: float
    kind: int


class TracerouteDecoder(TraceDecoder):
    """State of decoding one file: the lines so far."""

    window_bytes, max_window_bytes = WINDOW_BYTES, MAX_RECORD_BYTES
    min_trace_bytes, min_reply_bytes = len("traceroute to a (::), 1 hops max"), len(":: ")

    def __init__(self, report: ReadReport) -> None:
        self._report = report
        self._n_lines, self._counted_to = 0, 0  # line ends before that place in the window
        self._in_line = False  # the window begins in the middle of a line

    def begin(self, window: ByteWindow) -> int:
        return len(BOM) if bytes(window.data[: min(len(BOM), window.end)]) == BOM else 0

    def decode(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        while True:
            start = self._next_begin(window, at)
            self._skip_others(window, at, window.end if start is None else start)
            if start is None:
                return More(self._last_line(window, at))
            stop = self._next_begin(window, start + 1)
            if stop is None and not window.final:
                if window.has_room(start):
                    return More(start)
                place = self._place(window, start)
                detail = f"more than {MAX_RECORD_BYTES} bytes"
                return Broken(start + 1, place, "trace too long", detail, is_lost=True)
            if stop is None and window.fault is not None:
                return More(window.end)  # its end is missing
            text = bytes(window.data[start : window.end if stop is None else stop])
            last = text.rpartition(b"\n")[2]
            if stop is None and last.strip() and not _is_whole(last):
                place = self._place(window, window.end - len(last))
                cut = "cut short: the last line does not end"
                return Broken(window.end, place, cut, "", is_lost=True, if_last=cut, is_cut=True)
            stop = start + len(text)
            try:
                self._take(text.decode("utf-8", "replace"), columns)
            except _BrokenLineError as error:
                place = f"line {self._line(window, start) + error.number}"
                return Broken(stop, place, error.reason, error.line)
            at = stop

    def _next_begin(self, window: ByteWindow, at: int) -> int | None:
        """Where the next trace begins, from ``at`` on."""
        if self._in_line and at == 0:
            line_end = bytes(window.data[: window.end]).find(b"\n")
            if line_end < 0:
                return None
            at = line_end + 1
        found = _BEGIN.search(window.data.data, at, window.end)
        if found is None:
            return None
        self._in_line = False
        return found.start()

    def _last_line(self, window: ByteWindow, at: int) -> int:
        """Where the last line of the window begins, which may begin a trace; its end in the end."""
        if window.final:
            return window.end
        line = at + bytes(window.data[at : window.end]).rfind(b"\n") + 1
        self._in_line = line == at and window.end - at > 1 << 16
        return window.end if self._in_line else line

    def _skip_others(self, window: ByteWindow, at: int, stop: int) -> None:
        text = bytes(window.data[at:stop])
        whole = text if window.final or stop < window.end else text[: text.rfind(b"\n") + 1]
        if n := sum(bool(line.strip()) for line in whole.split(b"\n")):
            self._report.skip("other line", n)

    def resynchronise(self, window: ByteWindow, at: int) -> int | More | None:
        found = self._next_begin(window, at)
        if found is not None or window.final:
            return found
        return More(self._last_line(window, at))

    def leave(self, window: ByteWindow, at: int) -> None:
        self._line(window, at)
        self._counted_to = 0

    def judge(self, window: ByteWindow, fault: FormatError | None) -> FormatError | None:
        if fault is None and not self._report.n_records and not self._report.rejected:
            need = "no line of `traceroute to NAME (ADDRESS), N hops max` in it"
            return FormatError(self._report.path, "", need)
        return fault

    def _line(self, window: ByteWindow, at: int) -> int:
        """Line of ``at``, counted from the last place that was requested."""
        first, last = sorted((self._counted_to, at))
        n_between = int((window.data[first:last] == 10).sum())
        self._n_lines += n_between if last == at else -n_between
        self._counted_to = at
        return 1 + self._n_lines

    def _place(self, window: ByteWindow, at: int) -> str:
        return f"line {self._line(window, at)}"

    def _take(self, text: str, columns: TraceColumns) -> None:
        """Put one trace into the columns."""
        head, *lines = text.split("\n")
        src, dst = _ends(head)
        replies: list[_Reply] = []
        n_others = _Hops(replies).read(lines)
        trace, first = int(columns.count["n_traces"]), int(columns.count["n_replies"])
        columns.src_addr[trace], columns.dst_addr[trace] = src or (0, 0), dst
        columns.start_s[trace] = 0.0
        if replies:
            rows = slice(first, first + len(replies))
            ttl, addr, rtt_ms, kind = zip(*replies, strict=True)
            rtt = np.array(rtt_ms)
            columns.count["n_bad_rtt"] += int((rtt > MAX_RTT_MS).sum())
            columns.rtt_ms[rows] = np.where(rtt > MAX_RTT_MS, np.nan, rtt)
            columns.ttl[rows], columns.kind[rows] = ttl, kind
            columns.addr[rows] = np.array(addr, np.uint64)
        columns.count["n_classic"] += 1
        columns.count["n_traces"] = trace + 1
        columns.count["n_replies"] = columns.reply_ptr[trace + 1] = first + len(replies)
        if n_others:
            self._report.skip("other line", n_others)
        if src is None:
            self._report.notes["traces without a source"] += 1


class _BrokenLineError(Exception):
    """What is wrong with a line of a trace; ``number`` counts from its header, which is 0."""

    def __init__(self, number: int, reason: str, line: str) -> None:
        super().__init__(number, reason, line)
        self.number, self.reason, self.line = number, reason, line


def _is_whole(line: bytes) -> bool:
    """Whether the last line of a file, without a line break, is not cut."""
    text = line.decode("utf-8", "replace")
    return _WHOLE.search(line) is not None or _HEADER.match(text) is not None


@functools.lru_cache(1 << 14)
def _addr(text: str) -> tuple[int, int]:
    """Words of an address, without the interface of a link-local one."""
    return parse_addr(text.partition("%")[0])


def _ends(head: str) -> tuple[tuple[int, int] | None, tuple[int, int]]:
    """Source, None if there is none, and destination of a header."""
    found = _HEADER.match(head)
    if found is None:
        raise _BrokenLineError(0, "not `traceroute to NAME (ADDRESS), N hops max`", head.strip())
    try:
        dst = _addr(found["dst"])
    except ValueError:
        raise _BrokenLineError(0, "not an address", head.strip()) from None
    try:
        return _addr(found["src"] or ""), dst
    except ValueError:  # a name says nothing
        return None, dst


class _Hops:
    """Reads the lines of one trace."""

    def __init__(self, replies: list[_Reply]) -> None:
        self.replies = replies
        self._ttl = 0
        self._addr: tuple[int, int] | None = None  # for the times that follow
        self._first = 0  # reply of that address
        self._is_labelled = False

    def read(self, lines: list[str]) -> int:
        """Add the replies of some lines; returns how many lines are none of a trace."""
        n_others = 0
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                if found := _HOP.fullmatch(line.rstrip()):
                    self._begin_hop(int(found[1]))
                    self._words(found[2])
                elif not line[0].isspace():
                    n_others += 1
                elif _MPLS_LINE.match(line):
                    self._label()
                else:
                    self._words(line)
            except ValueError as error:
                raise _BrokenLineError(number, str(error), line.strip()) from None
        self._end_address()
        return n_others

    def _begin_hop(self, ttl: int) -> None:
        self._end_address()
        if not 1 <= ttl <= 255:
            raise ValueError("hop number outside 1 to 255")
        if ttl < self._ttl:
            raise ValueError("hop numbers fall")
        self._ttl = ttl

    def _end_address(self) -> None:
        """An address without any time is a reply."""
        if self._addr is not None and len(self.replies) == self._first:
            self._add(float("nan"))
        self._addr, self._is_labelled = None, False

    def _add(self, rtt_ms: float) -> None:
        if self._addr is None:
            raise ValueError("a time before any address")
        kind = KIND_UNKNOWN | (LABELLED if self._is_labelled else 0)
        self.replies.append(_Reply(self._ttl, self._addr, rtt_ms, kind))

    def _label(self) -> None:
        self._is_labelled = True
        for i in range(self._first, len(self.replies)):
            self.replies[i] = self.replies[i]._replace(kind=self.replies[i].kind | LABELLED)

    def _mark(self, mark: str) -> None:
        if mark == "!":  # the TTL of the reply was 0 or 1
            return
        if self._addr is not None and len(self.replies) == self._first:
            self._add(float("nan"))
        if self._addr is None:
            raise ValueError("a mark before any address")
        last = self.replies[-1]
        self.replies[-1] = last._replace(kind=last.kind & LABELLED | KIND_UNREACHABLE)

    def _words(self, text: str) -> None:
        if self._ttl == 0:
            raise ValueError("before the first hop")
        for found in _TOKEN.finditer(text):
            kind = found.lastgroup
            if kind == "time":
                self._add(float(found["time"].replace(",", ".")))
            elif kind == "addr" or kind == "word":
                self._end_address()
                try:
                    self._addr = _addr(found[kind])
                except ValueError:
                    raise ValueError("neither an address nor a probe's result") from None
                self._first = len(self.replies)
            elif kind == "mark":
                self._mark(found["mark"])
            elif kind == "box" and "MPLS" in found["box"]:
                self._label()
