"""scamper's JSON: one record per line, as sc_warts2json prints it, or the elements of one array.

Sample: data/samples/scamper_json/. Traces and multipath traces (tracelb) are read; records of other
types (cycles, pings, ...) and M-Lab's line of metadata are skipped and counted. Rules:

- A hop whose address is ``*`` or empty is not a reply. A hop without ``icmp_type`` is KIND_OTHER:
  TCP and UDP answers are printed like this.
- A round-trip time that is negative or beyond 10^9 ms is dropped and noted; its hop is kept.
- A ``reply_ttl`` that is not a number from 1 to 255 is unknown.
- A ``start`` that is not ``sec`` and ``usec``, is negative or beyond 2100 is unknown and noted; its
  trace is kept.
- M-Lab's archived form, one object with the trace under ``Trace``, is read as that trace. So are
  its parsed rows and exports from BigQuery, which have it under ``raw`` (keys may be in camel case,
  numbers strings), and older ones, which have hops: kinds of their replies are unknown.
- A record may be spread over lines (``jq .``). What is broken ends where the next record begins, in
  the first column.
- Records may follow one another on a line, as when a file without a last line break was appended.
- A broken line is rejected alone. In an array, a broken element is rejected alone as long as its
  brackets and quotes are paired; otherwise the following elements cannot be separated, and the file
  ends.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import orjson

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.column_reader import Broken, ColumnReader, More, Step, TraceDecoder, Unreadable
from pipeline.ingest.columns import (
    ByteWindow,
    TraceColumns,
    known_ttl,
)
from pipeline.ingest.scamper_json import decode as fast
from pipeline.ingest.scamper_json.rows import of_row
from pipeline.ingest.scamper_json.scan import MORE, find_close, find_newline
from pipeline.ingest.scamper_json.tracelb import take_paths
from pipeline.ingest.scamper_json.values import (
    BrokenRecord,
    read_addr,
    read_number,
    read_replier,
    read_reply_kind,
    read_rtt,
    read_start,
)
from pipeline.ingest.text.json_layout import record_lines
from pipeline.json_text import nesting, parse_json
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import CLASSIC_TRACE, TraceBatch

WINDOW_BYTES = 1 << 23  # some 4,000 traces; bounds what one batch holds
MAX_RECORD = 1 << 24  # bytes; longer than any trace of 255 hops
MAX_DEPTH = 256  # of nested values; multipath traces have some ten

# fmt: off
SKIPPED_TYPES = frozenset((
    "cycle-start", "cycle-def", "cycle-stop", "list", "ping", "dealias",
    "neighbourdisc", "tbit", "sting", "sniff", "host", "http", "udpprobe", "owamp",
))
# fmt: on
# Those that change the flow: "icmp-echo" its checksum, "udp" its ports.
CLASSIC_METHODS = ("icmp-echo", "udp")
_TRACE = re.compile(rb'"[Tt]ype"\s*:\s*"trace(?:lb)?"|"(?:scamper_version|ScamperVersion)"\s*:')
_SKIPPED = re.compile(rb'"type"\s*:\s*"(?:' + "|".join(sorted(SKIPPED_TYPES)).encode() + rb')"')
# RIPE Atlas has pings and more of the same names: each of its results has one of these.
_NOT_OURS = re.compile(rb'"(?:msm_id|prb_id)"\s*:|"type"\s*:\s*"traceroute"')

NOT_JSON = "not JSON"


def sniff(head: bytes) -> bool:
    """Whether the text is JSON by its first character and holds a scamper trace.

    A text with only other scamper records is accepted too, unless it has another tool's keys.
    """
    text = head.removeprefix(BOM).lstrip()
    if text[:1] not in (b"{", b"["):
        return False
    if _TRACE.search(text) is not None:
        return True
    return _SKIPPED.search(text) is not None and _NOT_OURS.search(text) is None


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    """Yield the traces of one file, in file order.

    Parameters
    ----------
    stream : binary stream with ``readinto``
        Decompressed bytes.
    report : ReadReport
        Counts traces, replies, skipped records by type and rejected ones by reason.

    Raises
    ------
    FormatError
        After everything valid: the file is empty, cut short, or not scamper JSON.
    """
    return ColumnReader(record_lines(stream), report, ScamperJsonDecoder(report)).batches()


def compile_kernels() -> None:
    """Compile what reading needs, or load it from numba's cache."""
    usual = b'{"type":"trace","dst":"192.0.2.1"}\n'
    unusual = b'{"type":"trace","dst":"192.0.2.1","hops":[],"note":"\\n"}\n'
    paths = b'{"type":"tracelb","dst":"192.0.2.1"}\n'
    for text in (usual + unusual + paths, usual.replace(b",", b",\n")):
        for _ in read(io.BytesIO(text), ReadReport("none")):
            pass


class ScamperJsonDecoder(TraceDecoder):
    """State of decoding one file: the line, and whether it is one array."""

    min_trace_bytes, min_reply_bytes = fast.MIN_TRACE_BYTES, fast.MIN_REPLY_BYTES

    def __init__(self, report: ReadReport) -> None:
        self.window_bytes, self.max_window_bytes = WINDOW_BYTES, MAX_RECORD
        self._report = report
        self._memories = np.zeros(1, fast.MEMORY)
        self._memory: np.void = self._memories[0]
        self._memory["line"] = 1
        self._after_array = False

    @property
    def _in_array(self) -> bool:
        return bool(self._memory["in_array"])

    @property
    def _place(self) -> str:
        return f"line {self._memory['line']}"

    def begin(self, window: ByteWindow) -> int:
        """The position after a byte order mark and an array's opening bracket, if there are any."""
        data, end = window.data, window.end
        at = len(BOM) if data[: min(3, end)].tobytes() == BOM else 0
        while at < end and data[at] in b" \t\r\n":
            self._memory["line"] += int(data[at] == 10)
            at += 1
        if at < end and data[at] == ord("["):
            self._memory["in_array"] = True
            at += 1
        return at

    def decode(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        memory = self._memory
        while not self._after_array:
            code = fast.decode(
                window.data, at, window.end, window.final, columns.arrays, self._memories
            )
            at = int(memory["pos"])
            if code == fast.DONE and self._in_array:
                return Unreadable(self._place, "cut short: the array has no end")
            if code == fast.DONE:
                return More(at)
            if code == fast.END_OF_ARRAY:
                self._after_array = True
                at += 1
            elif code == fast.SLOW:
                step = self._read_slowly(window, at, columns)
                if not isinstance(step, More):
                    return step
                if step.at == at:
                    return self._wait(window, at)
                at = step.at
            else:
                return self._wait(window, at)
        if window.data[at : window.end].tobytes().strip():
            return Unreadable(self._place, "text follows the end of the array")
        return More(window.end)

    def _wait(self, window: ByteWindow, at: int) -> Step:
        """More for the record at ``at``, which does not end in the window; Broken if too long."""
        if window.has_room(at):
            return More(at)
        last = "an element of the array is too long to continue" if self._in_array else ""
        reason = f"record longer than {MAX_RECORD} bytes"
        return Broken(at, self._place, reason, is_lost=True, if_last=last)

    def resynchronise(self, window: ByteWindow, at: int) -> int | More | None:
        """The end of the line; in an array, the following elements cannot be separated."""
        if self._in_array:
            return None
        at = find_newline(window.data, at, window.end)
        if at < window.end:
            return at
        return None if window.final else More(at)

    def judge(self, window: ByteWindow, fault: FormatError | None) -> FormatError | None:
        if fault is None and self._report.n_records == 0 and not self._report.skipped:
            reason = "not scamper JSON: it has no scamper record"
            return FormatError(self._report.path, "", reason)
        return fault

    def _read_slowly(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        """Read what begins at ``at`` with a full parser.

        Returns ``More`` with the position after it, or with ``at`` if its end was not read yet.
        """
        data, end, memory, place = window.data, window.end, self._memory, self._place
        in_array = self._in_array
        if in_array and memory["expects_comma"]:
            return Unreadable(place, "the array is broken: no comma after an element")
        # An element of an array, or a record followed by others on its line, ends at its bracket.
        limit = end if in_array else find_newline(data, at, end)
        if not in_array and limit == end and not window.final:
            return More(at)
        behind = find_close(data, at, limit) if data[at] == ord("{") else MORE
        if in_array and behind == MORE:
            if not window.final:
                return More(at)
            return Unreadable(place, "cut short or broken: an element of the array has no end")
        is_cut = behind == MORE and data[at] == ord("{") and window.final and limit == end
        rest = data[behind:limit].tobytes().lstrip() if not in_array and behind != MORE else b""
        if behind == MORE or rest[:1] not in (b"", b"{"):
            behind = limit
        line = data[at:behind].tobytes()
        wrong: BrokenRecord | None = None
        try:
            self._take(_parse(line), columns)
        except orjson.JSONDecodeError as error:
            if is_cut:
                return Unreadable(place, "cut short in a record")
            wrong = BrokenRecord(NOT_JSON, error)
            behind = behind if in_array else limit
        except BrokenRecord as error:
            wrong = error
        if in_array:
            memory["line"] += line.count(b"\n")
            memory["expects_comma"] = True
        return More(behind) if wrong is None else Broken(behind, place, wrong.reason, wrong.detail)

    def _take(self, record: Any, columns: TraceColumns) -> None:
        """Use or skip one parsed record."""
        kind, record = _kind(record)
        if kind == "trace":
            take_trace(record, columns)
        elif kind == "tracelb":
            take_paths(record, columns)
        else:
            self._report.skip(kind)


def take_trace(record: dict[str, Any], columns: TraceColumns) -> None:
    """Append a parsed trace to the columns."""
    src = read_addr(record["src"]) if record.get("src") is not None else (0, 0)
    if record.get("dst") is None:
        raise BrokenRecord("trace without a destination")
    dst = read_addr(record["dst"])
    start_s = read_start(record.get("start"))
    hops = record.get("hops")
    if hops is None:
        hops = []
    if not isinstance(hops, list):
        raise BrokenRecord("hops are not a list", type(hops).__name__)
    replies = [_reply(hop) for hop in hops]
    answered = [reply for reply in replies if reply is not None]
    answered.sort(key=lambda reply: reply[0])
    row, first = int(columns.count["n_traces"]), int(columns.count["n_replies"])
    columns.src_addr[row] = src
    columns.dst_addr[row] = dst
    columns.start_s[row] = start_s
    for at, (ttl, addr, rtt_ms, kind, reply_ttl) in enumerate(answered, start=first):
        columns.ttl[at] = ttl
        columns.addr[at] = addr
        in_range = rtt_ms is not None and 0 <= rtt_ms < fast.MAX_RTT_MS
        columns.rtt_ms[at] = rtt_ms if in_range else np.nan
        columns.count["n_bad_rtt"] += rtt_ms is not None and not in_range
        columns.kind[at] = kind
        columns.reply_ttl[at] = reply_ttl
    columns.count["n_no_addr"] += len(replies) - len(answered)
    columns.part[row] = CLASSIC_TRACE if record.get("method") in CLASSIC_METHODS else 0
    columns.count["n_traces"] = row + 1
    columns.count["n_replies"] = first + len(answered)
    columns.reply_ptr[row + 1] = first + len(answered)


def _parse(line: bytes) -> Any:
    if line.count(b"{") + line.count(b"[") > MAX_DEPTH and nesting(line) > MAX_DEPTH:
        raise BrokenRecord("nested too deep", f"more than {MAX_DEPTH} levels")
    return parse_json(line)


def _kind(record: Any) -> tuple[str, dict[str, Any]]:
    """Type of a record, and the record itself out of M-Lab's forms."""
    if not isinstance(record, dict):
        raise BrokenRecord("not a JSON object", type(record).__name__)
    if "type" not in record:
        record = of_row(record)
    if "type" not in record and isinstance(record.get("Trace"), dict):
        record = record["Trace"]
    kind = record.get("type")
    if kind is None and "UUID" in record:
        return "metadata", record
    if isinstance(kind, str) and (kind in ("trace", "tracelb") or kind in SKIPPED_TYPES):
        return kind, record
    raise BrokenRecord("record of unknown type", kind)


def _reply(hop: Any) -> tuple[int, tuple[int, int], float | None, int, int] | None:
    """TTL, address, RTT and kind of a hop, and the TTL of its reply; None without an answer."""
    if not isinstance(hop, dict):
        raise BrokenRecord("hop is not an object", type(hop).__name__)
    ttl = read_number(hop.get("probe_ttl"), 1, 255, "TTL is not a number from 1 to 255")
    read_reply_kind(hop, None)
    rtt_ms = read_rtt(hop)
    addr = read_replier(hop.get("addr"))
    if addr is None:
        return None
    return ttl, addr, rtt_ms, read_reply_kind(hop, addr), known_ttl(hop.get("reply_ttl"))
