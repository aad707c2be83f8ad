"""RIPE Atlas traceroute results: a JSON array, one object per line, pretty-printed, or several.

https://atlas.ripe.net/docs/apis/measurement-result-format; firmware 4400 and later (firmware 1
gave its hops as text: rejected). Records are all objects at the top level, inside arrays or not;
commas and blanks between them are optional.

What a reply means here
    - ``x``: unanswered. ``error``: the probe was not sent. Neither is a row.
    - ``late``: a reply to an *earlier* probe that came while this one waited. Its own TTL is not
      given, so it is left out; the hop it would have answered is already written as ``x``.
    - ``dup``: a second reply to one probe: left out, so that no replier counts twice.
    - ``err``: destination unreachable (N, H, A, P, p, h or a number): KIND_UNREACHABLE. ``flags``:
      TCP: KIND_OTHER. All else is KIND_UNKNOWN: Atlas writes a time exceeded, an echo reply and the
      port unreachable of the target alike.
    - ``edst``: the packet that the router quoted had a destination other than the target: it
      answers another traceroute of the probe, or a packet rewritten on its way. Whether the router
      lies on the path to the target is unknown: left out.
    - ``rtt`` missing, negative or not finite: NaN. ``ttl`` (of the reply) likewise: unknown.
    - Hop 255 is the probe's last attempt at the target after a row of unanswered hops; a TTL like
      any other.
What a result means
    - ``dst_addr`` missing (the name did not resolve): zeros. ``src_addr`` missing, or private as
      that of a probe behind a NAT, which many probes have: ``from``, the probe's public address.
      Neither: zeros, which is no vantage point.
    - ``result`` missing or empty, or no hop with a number: a trace without replies.
    - ``timestamp`` missing or 0: unknown; of another kind, negative or beyond 2100: unknown, noted.
    - Another ``type`` is skipped and counted; a record without one is rejected, whatever it holds.
    - A hop number outside 1 to 255, an invalid address, or something else in place of a list makes
    a record broken.
Each is counted in ``report.notes`` or ``report.rejected``.

A record that is not JSON is rejected; reading continues at the next line with the same indentation,
or at the next object that begins with the same key.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import orjson

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.atlas import scan as atlas_scan
from pipeline.ingest.atlas.grammar import MAX_DEPTH
from pipeline.ingest.atlas.record import BrokenError, OtherTypeError, parse_result
from pipeline.ingest.column_reader import Broken, ColumnReader, More, Step, TraceDecoder
from pipeline.ingest.columns import ByteWindow, TraceColumns
from pipeline.ingest.text.json_layout import record_lines
from pipeline.json_text import parse_json
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import CLASSIC_TRACE, TraceBatch

WINDOW_BYTES = 1 << 24
MAX_RECORD_BYTES = 1 << 26
_MIN_TRACE_BYTES = len('{"type":"traceroute"}')
_MIN_REPLY_BYTES = len('{"from":"::"}')

_ATLAS_KEY = re.compile(rb'"(?:prb_id|msm_id|msm_name|fw)"\s*:')
_TRACEROUTE = re.compile(rb'"type"\s*:\s*"traceroute"')
_RESULT = re.compile(rb'"type"\s*:\s*"traceroute"|"(?:prb_id|fw)"\s*:')
# Of a result without them: other programs have results of that type, too.
_RESULT_KEY = re.compile(rb'"(?:(?:dst|src)_addr|dst_name|paris_id)"\s*:|"result"\s*:\s*\[')
_FIRST_KEY = re.compile(rb'\{\s*("[A-Za-z_]{1,40}")')
# First keys of objects inside a result: they do not mark a new record.
_INNER_KEYS = frozenset(
    b'"hop" "result" "from" "x" "err" "error" "rtt" "ttl" "size" "late" "icmpext" "obj" "class" '
    b'"version" "type" "mpls" "label" "edst" "dup" "flags" "mtu" "ittl" "dstoptsize"'.split()
)
_NOT_JSON = "not valid JSON"
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_INDENT = re.compile(rb"(?:\A|\n)([ \t]*)[\[{,]?[ \t]*\Z")
# Longest text before its position that the search for the next record may need.
_OVERLAP = 256


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` holds RIPE Atlas results."""
    text = head.removeprefix(BOM).lstrip()
    if not text.startswith((b"{", b"[")):
        return False
    if _ATLAS_KEY.search(text) is not None:
        return True
    return _TRACEROUTE.search(text) is not None and _RESULT_KEY.search(text) is not None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    """Read traceroute results as batches of columns.

    Parameters
    ----------
    stream : BinaryIO
        Decompressed bytes; needs ``readinto``.
    report : ReadReport
        Filled while the iterator is consumed.

    Raises
    ------
    FormatError
        After everything valid: the file is empty, cut short, or holds no usable traceroute result.
    """
    lines = record_lines(stream, _RESULT)
    return ColumnReader(lines, report, AtlasDecoder(report)).batches()


def compile_kernels() -> None:
    """Compile what reading needs, or load it from numba's cache."""
    result = b'{"type":"traceroute","dst_addr":"192.0.2.1","result":[]}\n'
    for text in (result, b'{"results":[' + result + b"]}"):
        for _ in read(io.BytesIO(text), ReadReport("none")):
            pass


class AtlasDecoder(TraceDecoder):
    """State of decoding one file: open arrays, lines, and how the next record is recognised."""

    min_trace_bytes, min_reply_bytes = _MIN_TRACE_BYTES, _MIN_REPLY_BYTES

    def __init__(self, report: ReadReport) -> None:
        self.window_bytes, self.max_window_bytes = WINDOW_BYTES, MAX_RECORD_BYTES
        self._report = report
        self._scans = np.zeros(2, atlas_scan.SCAN)
        self._n_lines, self._counted_to = 0, 0  # newlines before that place in the window
        self._is_blank = True
        self._first_key = b""  # of the file's first record
        self._next_record: re.Pattern[bytes] | None = None  # what is looked for, after a fault

    def begin(self, window: ByteWindow) -> int:
        if match := _FIRST_KEY.search(window.data.data[: min(window.end, 4096)]):
            self._first_key = match[1]
        return 3 if bytes(window.data[: min(3, window.end)]) == BOM else 0

    def decode(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        self._is_blank = self._is_blank and not bytes(window.data[: window.end]).strip()
        while True:
            start, stop, status = atlas_scan.scan_records(
                window.data, at, window.end, self._scans, *columns.arrays
            )
            if status == atlas_scan.EMPTY:
                return More(window.end)
            if status != atlas_scan.ODD:
                return self._broken(window, start, stop, status)
            wrong = self._read_odd(window, start, stop, columns)
            if wrong is not None:
                return wrong
            at = stop

    def leave(self, window: ByteWindow, at: int) -> None:
        scan = self._scans[0]
        for name, note in atlas_scan.NOTES.items():
            if scan[name]:
                self._report.notes[note] += int(scan[name])
            scan[name] = 0
        self._line(window, at)
        self._counted_to = 0

    def judge(self, window: ByteWindow, fault: FormatError | None) -> FormatError | None:
        path = self._report.path
        if self._is_blank:
            return FormatError(path, "", "empty")
        if fault is not None:
            return fault
        if self._scans[0]["n_open"] and not self._ends_in_a_fault(window):
            place = f"line {1 + self._n_lines}, byte {window.offset + window.end}"
            return FormatError(path, place, "cut short: the array does not end")
        if self._report.n_records == 0 and not self._report.skipped:
            return FormatError(path, "", "no usable traceroute result in it")
        return None

    def _ends_in_a_fault(self, window: ByteWindow) -> bool:
        """Whether the end of the array was skipped together with the broken record before it."""
        last = bytes(window.data[max(0, window.end - _OVERLAP) : window.end])
        return self._next_record is not None and last.rstrip().endswith(b"]")

    def _line(self, window: ByteWindow, at: int) -> int:
        """Line of ``at``, counted from the last place that was requested."""
        first, last = sorted((self._counted_to, at))
        n_between = int(np.count_nonzero(window.data[first:last] == 10))
        self._n_lines += n_between if last == at else -n_between
        self._counted_to = at
        return 1 + self._n_lines

    def _place(self, window: ByteWindow, at: int) -> str:
        return f"line {self._line(window, at)}, byte {window.offset + at}"

    def _broken(self, window: ByteWindow, start: int, stop: int, status: int) -> Step:
        """Handle a record at ``start`` that the scanner gave up at ``stop``."""
        if status == atlas_scan.PARTIAL and window.has_room(start):
            return More(start)
        self._next_record = self._pattern_behind(window, start)
        behind = start + 1
        if status != atlas_scan.PARTIAL:
            reason, shown = _reason(window, start, stop, status), _shown(window, start, stop)
            return Broken(behind, self._place(window, stop), reason, shown, is_lost=True)
        place = self._place(window, start)
        if not window.final:
            detail = f"more than {MAX_RECORD_BYTES} bytes"
            return Broken(behind, place, "record too long", detail, is_lost=True)
        # Its end is missing; if no other record follows, the file is cut short.
        shown, last = _shown(window, start, start), "cut short: the result does not end"
        return Broken(behind, place, _NOT_JSON, shown, is_lost=True, if_last=last, is_cut=True)

    def _pattern_behind(self, window: ByteWindow, start: int) -> re.Pattern[bytes]:
        """Pattern by which the next record after the broken one at ``start`` is recognised."""
        data = window.data.data[: window.end]
        before = bytes(data[max(0, start - _OVERLAP) : start])
        indent = _INDENT.search(before)
        width = min(len(indent[1]), 100) if indent else 0
        options = [rb"\n[ \t]{0,%d}(?=[^\s}])" % width]
        keys = {self._first_key}
        if match := _FIRST_KEY.match(data[start : start + 4096]):
            keys.add(match[1])
        options += [
            rb"(?<=[\s,\[}\]])(?=\{\s{0,100}%s)" % re.escape(key)
            for key in sorted(keys - _INNER_KEYS - {b""})
        ]
        if window.data[start] != 123:
            options.append(rb"\n")  # not an object: only its line is lost
        return re.compile(b"|".join(options))

    def resynchronise(self, window: ByteWindow, at: int) -> int | More | None:
        assert self._next_record is not None
        found = self._next_record.search(window.data.data[: window.end], at)
        if found:
            self._next_record = None
            return found.end()
        return None if window.final else More(max(at, window.end - _OVERLAP))

    def _read_odd(
        self, window: ByteWindow, start: int, stop: int, columns: TraceColumns
    ) -> Broken | None:
        """Read a record that the scanner left to Python, by the same rules."""
        try:
            result = parse_result(parse_json(window.data.data[start:stop]))
        except orjson.JSONDecodeError:
            shown = _shown(window, start, start)
            return Broken(stop, self._place(window, start), _NOT_JSON, shown)
        except BrokenError as error:
            return Broken(stop, self._place(window, start), *error.args)
        except OtherTypeError as error:
            self._report.skip(error.args[0])
            return None
        t, k = int(columns.count["n_traces"]), int(columns.count["n_replies"])
        columns.src_addr[t], columns.dst_addr[t] = result.src, result.dst
        columns.start_s[t] = result.start_s
        for reply in result.replies:
            columns.ttl[k], columns.addr[k] = reply.ttl, reply.addr
            columns.rtt_ms[k], columns.kind[k] = reply.rtt_ms, reply.kind
            columns.reply_ttl[k] = reply.reply_ttl
            k += 1
        columns.reply_ptr[t + 1] = k
        columns.part[t] = CLASSIC_TRACE if result.is_classic else 0
        columns.count["n_traces"], columns.count["n_replies"] = t + 1, k
        scan = self._scans[0]
        for name, n in result.notes.items():
            if n:
                scan[name] += n
        return None


def _reason(window: ByteWindow, start: int, stop: int, status: int) -> str:
    """What is wrong with a record that the scanner gave up at ``stop``."""
    if status == atlas_scan.STRAY:
        return "not an object"
    text = _STRING.sub(b"", bytes(window.data[start:stop]))
    depth = sum(text.count(c) for c in b"{[") - sum(text.count(c) for c in b"}]")
    return "nested too deep" if depth >= MAX_DEPTH else _NOT_JSON


def _shown(window: ByteWindow, start: int, fault: int) -> str:
    """The text around the fault of the record at ``start``."""
    shown = bytes(window.data[max(start, fault - 20) : min(fault + 40, window.end)])
    return shown.decode("ascii", "replace")
