"""RIPE Atlas traceroute results: a JSON array, one object a line, pretty-printed, or several.

https://atlas.ripe.net/docs/apis/measurement-result-format; firmware 4400 and later (firmware 1
gave its hops as text: rejected). Records are whatever objects stand at the top, within or without
arrays; commas and blanks between them are not insisted on.

What a reply means here
    - ``x``: unanswered. ``error``: the probe was not sent. Neither is a row.
    - ``late``: a reply to an *earlier* probe that came while this one waited. Its own TTL is not
      told, so it is left out; what it would have answered is already written as ``x``.
    - ``dup``: a second reply to one probe: left out, so that no replier counts twice.
    - ``err``: destination unreachable (N, H, A, P, p, h or a number): KIND_UNREACHABLE. ``flags``:
      TCP: KIND_OTHER. All else is KIND_UNKNOWN: Atlas writes a time exceeded, an echo reply and the
      port unreachable of the target alike.
    - ``edst``: the packet that the router quoted was to another destination than the target: it
      answers another traceroute of the probe, or a packet rewritten on its way. Whether the router
      lies on the path to the target is unknown: left out.
    - ``rtt`` missing, negative or not finite: NaN.
    - Hop 255 is the probe's last attempt at the target after a row of unanswered hops; a TTL like
      any other.
What a result means
    - ``dst_addr`` missing (the name did not resolve): zeros. ``src_addr`` missing: ``from``, the
      probe's public address.
    - ``result`` missing or empty, or no hop with a number: a trace without replies.
    - ``timestamp`` missing or 0: unknown; of another kind, negative or beyond 2100: unknown, noted.
    - Another ``type`` is skipped and counted; a record without one is rejected, whatever it holds.
    - A hop number outside 1 to 255, an address that is none, or a list that is none spoil a record.
Each of these is counted in ``report.notes`` or ``report.rejected``.

A record that is no JSON is set aside; reading goes on at the next line that begins as far to the
left, or at the next object that begins with the same key.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import orjson

from pipeline.errors import FormatError
from pipeline.ingest.atlas import scan as atlas_scan
from pipeline.ingest.atlas.grammar import MAX_DEPTH
from pipeline.ingest.atlas.record import NOTES, BrokenError, OtherTypeError, parse_result
from pipeline.ingest.columns import N_REPLIES, N_TRACES, ByteWindow, TraceColumns, count_batch
from pipeline.model.reading import ReadReport
from pipeline.model.traces import TraceBatch

WINDOW_BYTES = 1 << 24
MAX_RECORD_BYTES = 1 << 26
_MIN_TRACE_BYTES = len('{"type":"traceroute"}')
_MIN_REPLY_BYTES = len('{"from":"::"}')

_ATLAS_KEY = re.compile(rb'"(?:prb_id|msm_id|msm_name|fw)"\s*:')
_TRACEROUTE = re.compile(rb'"type"\s*:\s*"traceroute"')
_FIRST_KEY = re.compile(rb'\{\s*("[A-Za-z_]{1,40}")')
# First keys of objects inside a result: no sign of a new record.
_INNER_KEYS = frozenset(
    b'"hop" "result" "from" "x" "err" "error" "rtt" "ttl" "size" "late" "icmpext" "obj" "class" '
    b'"version" "type" "mpls" "label" "edst" "dup" "flags" "mtu" "ittl" "dstoptsize"'.split()
)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_INDENT = re.compile(rb"(?:\A|\n)([ \t]*)[\[{,]?[ \t]*\Z")
# Longest text that the search for the next record may have to look back at.
_OVERLAP = 256


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` holds RIPE Atlas results."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith((b"{", b"[")):
        return False
    return _ATLAS_KEY.search(text) is not None or _TRACEROUTE.search(text) is not None


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
        After everything valid: the file is empty, cut short, or holds no traceroute result.
    """
    return _Reader(stream, report).batches()


def compile_kernels() -> None:
    """Compile what reading needs, or load it from numba's cache."""
    result = b'{"type":"traceroute","dst_addr":"192.0.2.1","result":[]}\n'
    for _ in read(io.BytesIO(result), ReadReport("none")):
        pass


class _Reader:
    def __init__(self, stream: BinaryIO, report: ReadReport) -> None:
        self._report = report
        self._window = ByteWindow(stream, WINDOW_BYTES)
        self._columns = self._room()
        self._state = np.zeros(3, np.int64)
        self._totals = np.zeros(atlas_scan.N_NOTES, np.int64)
        self._lines = 0  # newlines before the window
        self._first_key = b""  # of the file's first record
        self._next_record: re.Pattern[bytes] | None = None  # what is looked for, after a fault
        self._cut: FormatError | None = None

    def batches(self) -> Iterator[TraceBatch]:
        window, report = self._window, self._report
        window.move(0)
        pos = 3 if bytes(window.data[: min(3, window.end)]) == b"\xef\xbb\xbf" else 0
        if match := _FIRST_KEY.search(window.data.data[: min(window.end, 4096)]):
            self._first_key = match[1]
        is_empty = True
        while True:
            is_empty = is_empty and not bytes(window.data[: window.end]).strip()
            pos = self._scan(pos)
            self._note()
            if batch := self._take():
                yield batch
            if window.final and pos >= window.end:
                break
            self._lines += int(np.count_nonzero(window.data[:pos] == 10))
            size = len(window.data)
            window.move(pos)
            pos = 0
            if len(window.data) != size:
                self._columns = self._room()
        if window.fault is not None:
            raise window.fault
        if is_empty:
            raise FormatError(report.path, "", "empty")
        if self._cut is not None:
            raise self._cut
        if self._state[atlas_scan.S_OPEN] and not self._ends_in_a_fault():
            raise FormatError(report.path, self._place(pos), "cut short: the array does not end")
        if report.n_records == 0 and not report.skipped:
            raise FormatError(report.path, "", "no traceroute result in it")

    def _ends_in_a_fault(self) -> bool:
        """Whether the end of the array was passed over with the broken record before it."""
        last = bytes(self._window.data[max(0, self._window.end - _OVERLAP) : self._window.end])
        return self._next_record is not None and last.rstrip().endswith(b"]")

    def _room(self) -> TraceColumns:
        """Columns for whatever the window can hold."""
        size = len(self._window.data)
        return TraceColumns(size // _MIN_TRACE_BYTES + 1, size // _MIN_REPLY_BYTES + 1)

    def _take(self) -> TraceBatch | None:
        batch = self._columns.take()
        if batch is not None:
            count_batch(batch, self._report)
        return batch

    def _note(self) -> None:
        for i, name in NOTES.items():
            if self._totals[i]:
                self._report.notes[name] += int(self._totals[i])
        self._totals[:] = 0

    def _place(self, pos: int) -> str:
        line = 1 + self._lines + int(np.count_nonzero(self._window.data[:pos] == 10))
        return f"line {line}, byte {self._window.offset + pos}"

    def _scan(self, pos: int) -> int:
        """Use up the window; the place of what does not end in it."""
        window, columns, state = self._window, self._columns, self._state
        if self._next_record is not None:
            pos = self._resume(pos)
        while self._next_record is None:
            state[: atlas_scan.S_OPEN] = columns.count[: N_REPLIES + 1]
            start, stop, status = atlas_scan.scan_records(
                window.data, pos, window.end, state, self._totals, *columns.arrays[:-1]
            )
            columns.count[: N_REPLIES + 1] = state[: atlas_scan.S_OPEN]
            if status == atlas_scan.EMPTY:
                return window.end
            if status == atlas_scan.ODD:
                self._read_odd(start, stop)
                pos = stop
            elif status == atlas_scan.PARTIAL:
                if not window.final and (start > 0 or len(window.data) < MAX_RECORD_BYTES):
                    return start
                pos = self._end_of_partial(start)
            else:
                self._reject(start, stop, self._reason(start, stop, status))
                pos = self._skip_from(start)
        return pos

    def _reason(self, start: int, stop: int, status: int) -> str:
        """What is wrong with a record that the scanner gave up at ``stop``."""
        if status == atlas_scan.STRAY:
            return "not an object"
        text = _STRING.sub(b"", bytes(self._window.data[start:stop]))
        depth = sum(text.count(c) for c in b"{[") - sum(text.count(c) for c in b"}]")
        return "nested too deep" if depth >= MAX_DEPTH else "not valid JSON"

    def _end_of_partial(self, start: int) -> int:
        """A record that the file ends in, or that is too long: broken, unless the file is cut."""
        if not self._window.final:
            self._report.reject(
                self._place(start), "record too long", f"more than {MAX_RECORD_BYTES} bytes"
            )
            return self._skip_from(start)
        place = self._place(start)
        pos = self._skip_from(start)
        if self._next_record is None:  # another record follows: this one lost its end on its way
            self._reject(start, start, "not valid JSON")
        elif self._window.fault is None:
            self._cut = FormatError(self._report.path, place, "cut short: the result does not end")
        return pos

    def _reject(self, start: int, fault: int, reason: str) -> None:
        data = self._window.data
        shown = bytes(data[max(start, fault - 20) : min(fault + 40, self._window.end)])
        self._report.reject(self._place(fault), reason, shown.decode("ascii", "replace"))

    def _skip_from(self, start: int) -> int:
        """Go to the next record after the broken one at ``start``.

        Where the window holds none, ``_next_record`` stays set and the search goes on in the next.
        """
        data = self._window.data.data[: self._window.end]
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
        if self._window.data[start] != 123:
            options.append(rb"\n")  # no object at all: its line is lost, no more
        self._next_record = re.compile(b"|".join(options))
        return self._resume(start + 1)

    def _resume(self, pos: int) -> int:
        assert self._next_record is not None
        window = self._window
        found = self._next_record.search(window.data.data[: window.end], pos)
        if found:
            self._next_record = None
            return found.end()
        return window.end if window.final else max(pos, window.end - _OVERLAP)

    def _read_odd(self, start: int, stop: int) -> None:
        """Read a record that the scanner left: by the same rules, in Python."""
        try:
            result = parse_result(orjson.loads(self._window.data.data[start:stop]))
        except orjson.JSONDecodeError:
            self._reject(start, start, "not valid JSON")
            return
        except BrokenError as error:
            reason, detail = error.args
            self._report.reject(self._place(start), reason, detail)
            return
        except OtherTypeError as error:
            self._report.skip(error.args[0])
            return
        columns = self._columns
        t, k = int(columns.count[N_TRACES]), int(columns.count[N_REPLIES])
        columns.src_addr[t], columns.dst_addr[t] = result.src, result.dst
        columns.start_s[t] = result.start_s
        for reply in result.replies:
            columns.ttl[k], columns.addr[k] = reply.ttl, reply.addr
            columns.rtt_ms[k], columns.kind[k] = reply.rtt_ms, reply.kind
            k += 1
        columns.reply_ptr[t + 1] = k
        columns.count[N_TRACES], columns.count[N_REPLIES] = t + 1, k
        for i, n in result.notes.items():
            self._totals[i] += n
