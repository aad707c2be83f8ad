"""scamper's binary warts: trace and tracelb records are read, others skipped and counted.

Layout: ``decode`` and ``tracelb`` beside this file, after scamper's manual page warts(5); sample:
data/samples/warts/. Rules:

- An address of 4 bytes is IPv4; ``::ffff:a.b.c.d`` of 16 bytes is the same address.
- A reply of TCP or UDP is KIND_OTHER; one whose ICMP type is not recorded is KIND_UNKNOWN.
- A record that cannot be decoded is rejected; reading continues where its length points, or, if no
  record is there, at the next place where a record begins and leads to another.
- A start beyond 2100 is unknown and noted.
- If only the length of a trace is wrong, the trace is kept.
- A tracelb record, which probed many flows, becomes paths: ``pipeline.ingest.flow_paths``.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.ingest.column_reader import Broken, ColumnReader, More, Step, TraceDecoder
from pipeline.ingest.columns import ByteWindow, TraceColumns
from pipeline.ingest.flow_paths import ANSWER
from pipeline.ingest.warts import decode as wire
from pipeline.ingest.warts import fields, tracelb
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch

WINDOW_BYTES = 1 << 22  # some 15,000 traces; bounds what one batch holds
MAX_WINDOW_BYTES = 2 * wire.MAX_RECORD  # holds any record, its header and the next one's

# Record types by their number.
TYPE_NAMES = {
    1: "list",
    2: "cycle start",
    3: "cycle definition",
    4: "cycle stop",
    5: "address",
    7: "ping",
    9: "dealias",
    10: "neighbourdisc",
    11: "tbit",
    12: "sting",
    13: "sniff",
    14: "host",
    15: "http",
    16: "udpprobe",
}


def sniff(head: bytes) -> bool:
    """Whether a record begins here, or, if the first is damaged, two in a row further on."""
    data = np.frombuffer(head, np.uint8)
    if len(head) >= wire.HEADER_BYTES and head[:3] == b"\x12\x05\x00":
        length = int.from_bytes(head[4:8], "big")
        if 0 < head[3] <= max(TYPE_NAMES) and length <= wire.MAX_RECORD:
            return True
    return wire.find_record(data, 0, len(data), False)[0] == wire.DONE


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
        After everything valid: the file is empty, cut short, damaged to its end, or not warts.
    """
    return ColumnReader(stream, report, WartsDecoder(report)).batches()


def compile_kernels() -> None:
    """Compile what reading needs, or load it from numba's cache."""
    trace = b"\x80\x80\x80\x20\0\6\4\1\0\0\0\0" + b"\0\0" + b"\0\0"  # to 0.0.0.0, no reply
    record = b"\x12\x05\0\6\0\0\0" + bytes([len(trace)]) + trace
    paths = b"\x80\x80\x80\x01\0\6\4\1\0\0\0\0"  # to 0.0.0.0, no node
    record += b"\x12\x05\0\x08\0\0\0" + bytes([len(paths)]) + paths
    for _ in read(io.BytesIO(record), ReadReport("none")):
        pass


class WartsDecoder(TraceDecoder):
    """What is known of one file while it is decoded: the addresses that it numbered."""

    min_trace_bytes, min_reply_bytes = wire.MIN_TRACE_BYTES, wire.MIN_REPLY_BYTES

    def __init__(self, report: ReadReport) -> None:
        self.window_bytes, self.max_window_bytes = WINDOW_BYTES, MAX_WINDOW_BYTES
        self._report = report
        self._numbered = np.zeros((16, 2), np.uint64)
        self._n_numbered = 0
        self._n_skipped = np.zeros(wire.MAX_TYPE + 1, np.int64)
        self._table = np.empty((0, 2), np.uint64)
        self._memories = np.zeros(1, fields.MEMORY)
        self._answers = np.empty(0, ANSWER)

    def decode(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        most = len(window.data) // fields.MIN_ADDRESS_BYTES + 1
        if len(self._table) < most:
            self._table = np.empty((most, 2), np.uint64)
        while True:
            code = wire.decode(
                window.data,
                at,
                window.end,
                window.final,
                columns.arrays,
                self._table,
                self._numbered,
                self._n_numbered,
                self._n_skipped,
                self._memories,
            )
            at = int(self._memories[0]["pos"])
            if code in (wire.DONE, wire.NEED):
                return More(at)
            if code == wire.TRACELB:
                behind = at + wire.HEADER_BYTES + _length(window, at)
                if not self._take_paths(window, at, behind, columns):
                    reason = fields.REASONS[self._memories[0]["reason"]]
                    return Broken(behind, _place(window, at), reason)
                at = behind
                continue
            if code != wire.ADDRESS:
                return self._broken(window, at, code)
            behind, reason, detail = self._number_address(window, at)
            if reason:
                return Broken(behind, _place(window, at), reason, detail)
            at = behind

    def _take_paths(self, window: ByteWindow, at: int, behind: int, columns: TraceColumns) -> bool:
        """Decode the tracelb record at ``at``; False if it is broken."""
        most = len(window.data) // tracelb.MIN_ANSWER_BYTES + 1
        if len(self._answers) < most:
            self._answers = np.empty(most, ANSWER)
        return bool(
            tracelb.decode(
                window.data,
                at + wire.HEADER_BYTES,
                behind,
                self._table,
                self._numbered,
                self._n_numbered,
                self._answers,
                columns.arrays,
                self._memories,
            )
        )

    def _broken(self, window: ByteWindow, at: int, code: int) -> Broken:
        """Handle the bytes at which the kernel stopped with CUT, LOST or BROKEN."""
        place, body = _place(window, at), at + wire.HEADER_BYTES
        if code == wire.CUT:  # it claims more bytes than there are: a wrong length, or a cut file
            reason = fields.REASONS[fields.BAD_LENGTH]
            last = "cut short in a record"
            return Broken(body, place, reason, is_lost=True, if_last=last, is_cut=True)
        last = "no record from here on: damaged or cut short"
        if code == wire.LOST:
            return Broken(at + 1, place, "bytes that are not a record", is_lost=True, if_last=last)
        reason = fields.REASONS[self._memories[0]["reason"]]
        behind = _behind(window, at)
        if behind is not None:
            return Broken(behind, place, reason)
        return Broken(body, place, reason, is_lost=True, if_last=last)

    def resynchronise(self, window: ByteWindow, at: int) -> int | More | None:
        found, at = wire.find_record(window.data, at, window.end, window.final)
        if found == wire.LOST:
            return None
        return at if found == wire.DONE else More(at)

    def leave(self, window: ByteWindow, at: int) -> None:
        for kind in np.flatnonzero(self._n_skipped).tolist():
            name = TYPE_NAMES.get(kind, f"type {kind}")
            self._report.skip(name, int(self._n_skipped[kind]))
        self._n_skipped[:] = 0

    def judge(self, window: ByteWindow, fault: FormatError | None) -> FormatError | None:
        if self._report.n_records == 0 and not self._report.skipped:
            return FormatError(self._report.path, "", "not a warts file: it has no scamper record")
        return fault

    def _number_address(self, window: ByteWindow, at: int) -> tuple[int, str, str]:
        """Read an address record: a number modulo 255, a type and the bytes.

        Returns the position after it, and what is wrong with it, if anything.
        """
        data = window.data
        body = at + wire.HEADER_BYTES
        length = _length(window, at)
        behind = body + length
        if length < 3:
            return behind, fields.REASONS[fields.BAD_ADDRESS], ""
        number = int(data[body])
        if self._n_numbered == 0 or (number <= 1 and number != self._n_numbered % 255):
            self._n_numbered = min(number, 1)  # files count from 0 or 1; one may follow another
        if number != self._n_numbered % 255:
            return behind, "address record out of order", f"number {number}"
        if self._n_numbered == len(self._numbered):
            self._numbered = np.concatenate([self._numbered, np.zeros_like(self._numbered)])
        reason = ""
        kind, row = int(data[body + 1]), self._n_numbered
        if not fields.parse_address(data, body + 2, length - 2, kind, self._numbered, row):
            reason = fields.REASONS[fields.BAD_ADDRESS]
            self._numbered[row] = 0
        self._n_numbered += 1
        self._report.skipped[TYPE_NAMES[wire.TYPE_ADDRESS]] += 1
        return behind, reason, ""


def _place(window: ByteWindow, at: int) -> str:
    return f"byte {window.offset + at}"


def _length(window: ByteWindow, at: int) -> int:
    return int.from_bytes(window.data[at + 4 : at + 8].tobytes(), "big")


def _behind(window: ByteWindow, at: int) -> int | None:
    """Where the length of the record at ``at`` leads, if a record or the end is there."""
    behind = at + wire.HEADER_BYTES + _length(window, at)
    if behind == window.end and window.final:
        return behind
    follows = window.data[behind : min(behind + 2, window.end)].tobytes() == b"\x12\x05"
    return behind if follows else None
