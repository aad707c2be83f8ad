"""scamper's binary warts: trace records are read, records of other types skipped and counted.

Layout: ``pipeline.ingest.warts.decode``, after scamper's manual page warts(5); sample:
data/samples/warts/. Rules:

- An address of 4 bytes is IPv4; ``::ffff:a.b.c.d`` of 16 bytes is the same address.
- A reply of TCP or UDP is KIND_OTHER; one whose ICMP type is not recorded is KIND_UNKNOWN.
- A record that cannot be decoded is rejected; reading goes on where its length says, or, when that
  leads to no record, at the next place where a record begins and leads to another.
- A start beyond 2100 is unknown and noted.
- A wrong length of a trace that is whole otherwise costs nothing but itself: the trace is kept.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.ingest.columns import N_NO_ADDR, ByteWindow, TraceColumns, count_batch
from pipeline.ingest.warts import decode as wire
from pipeline.model.reading import ReadReport
from pipeline.model.traces import TraceBatch

WINDOW_BYTES = 1 << 22  # some 15,000 traces; bounds what one batch holds

# Record types by their number.
TYPE_NAMES = {
    1: "list",
    2: "cycle start",
    3: "cycle definition",
    4: "cycle stop",
    5: "address",
    7: "ping",
    8: "tracelb",
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
    """Whether a record begins here, or, should the first be damaged, two in a row further on."""
    data = np.frombuffer(head, np.uint8)
    if len(head) >= wire.HEADER_BYTES and head[:3] == b"\x12\x05\x00":
        length = int.from_bytes(head[4:8], "big")
        if 0 < head[3] <= max(TYPE_NAMES) and length <= wire.MAX_RECORD:
            return True
    return wire.find_record(data, 0, len(data), False, np.zeros(4, np.int64)) == wire.DONE


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
        After everything valid: the file is empty, cut short, damaged to its end, or no warts.
    """
    return _Reader(stream, report).batches()


def compile_kernels() -> None:
    """Compile what reading needs, or load it from numba's cache."""
    trace = b"\x80\x80\x80\x20\0\6\4\1\0\0\0\0" + b"\0\0" + b"\0\0"  # to 0.0.0.0, no reply
    record = b"\x12\x05\0\6\0\0\0" + bytes([len(trace)]) + trace
    for _ in read(io.BytesIO(record), ReadReport("none")):
        pass


class _Reader:
    """State of reading one file: a window on it, and the addresses that it numbered."""

    def __init__(self, stream: BinaryIO, report: ReadReport) -> None:
        self.report = report
        self.window = ByteWindow(stream, WINDOW_BYTES)
        self.numbered = np.zeros((16, 2), np.uint64)
        self.n_numbered = 0
        self.n_skipped = np.zeros(wire.MAX_TYPE + 1, np.int64)
        self.memory = np.zeros(4, np.int64)
        self.lost_at: int | None = None  # place of the fault behind which a record is looked for
        self._make_room()

    def _make_room(self) -> None:
        size = len(self.window.data)
        self.columns = TraceColumns(
            size // wire.MIN_TRACE_BYTES + 2, size // wire.MIN_REPLY_BYTES + 2
        )
        self.table = np.empty((size // 6 + 1, 2), np.uint64)

    def batches(self) -> Iterator[TraceBatch]:
        pos = 0
        fault: FormatError | None = None
        while True:
            batch = self._take()
            if batch is not None:
                yield batch
            if self.window.final:
                break
            size = len(self.window.data)
            self.window.move(pos)
            if len(self.window.data) != size:
                self._make_room()
            pos, fault = self._decode()
        if self.columns.count[N_NO_ADDR]:
            self.report.notes["replies without an address"] += int(self.columns.count[N_NO_ADDR])
        if self.window.fault is not None:
            raise self.window.fault
        if self.window.offset == self.window.end == 0:
            raise FormatError(self.report.path, "", "empty")
        if self.report.n_records == 0 and not self.report.skipped:
            raise FormatError(self.report.path, "", "no warts file: no record of scamper's in it")
        if fault is not None:
            raise fault

    def _take(self) -> TraceBatch | None:
        batch = self.columns.take()
        if batch is not None:
            count_batch(batch, self.report)
        for kind in np.flatnonzero(self.n_skipped).tolist():
            name = TYPE_NAMES.get(kind, f"type {kind}")
            self.report.skip(name, int(self.n_skipped[kind]))
        self.n_skipped[:] = 0
        return batch

    def _decode(self) -> tuple[int, FormatError | None]:
        """Decode what the window holds; where to go on, and why the file ends badly, if so."""
        window, memory, pos = self.window, self.memory, 0
        arrays = self.columns.arrays
        if self.lost_at is not None:
            pos, fault = self._seek(0)
            if self.lost_at is not None:
                return pos, fault
        while True:
            code = wire.decode(
                window.data,
                pos,
                window.end,
                window.final,
                arrays,
                self.table,
                self.numbered,
                self.n_numbered,
                self.n_skipped,
                memory,
            )
            pos = int(memory[wire.M_POS])
            if code in (wire.DONE, wire.NEED):
                return pos, None
            if code == wire.ADDRESS:
                pos = self._number_address(pos)
                continue
            place = f"byte {window.offset + pos}"
            if code == wire.CUT:
                pos, fault = self._seek_behind_cut(pos, place)
                if fault is not None:
                    return pos, fault
                continue
            if code == wire.BROKEN:
                self.report.reject(place, wire.REASONS[memory[wire.M_REASON]])
                behind = self._behind(pos)
                if behind is not None:
                    pos = behind
                    continue
            else:
                self.report.reject(place, "bytes that are no record")
            self.lost_at = window.offset + pos
            pos, fault = self._seek(pos + (1 if code == wire.LOST else wire.HEADER_BYTES))
            if self.lost_at is not None:
                return pos, fault

    def _behind(self, pos: int) -> int | None:
        """Where the length of the record at ``pos`` leads, if a record or the end is there."""
        data, end = self.window.data, self.window.end
        length = int.from_bytes(data[pos + 4 : pos + 8].tobytes(), "big")
        behind = pos + wire.HEADER_BYTES + length
        if behind == end and self.window.final:
            return behind
        return behind if data[behind : min(behind + 2, end)].tobytes() == b"\x12\x05" else None

    def _seek(self, pos: int) -> tuple[int, FormatError | None]:
        """Look for the next record from ``pos`` on; found when ``lost_at`` is None afterwards."""
        window, found_at = self.window, np.zeros(4, np.int64)
        found = wire.find_record(window.data, pos, window.end, window.final, found_at)
        if found == wire.DONE:
            self.lost_at = None
        if found != wire.LOST:
            return int(found_at[wire.M_POS]), None
        reason = "no record from here to the end: damaged or cut short"
        return window.end, FormatError(self.report.path, f"byte {self.lost_at}", reason)

    def _seek_behind_cut(self, pos: int, place: str) -> tuple[int, FormatError | None]:
        """The record at ``pos`` claims more than there is: a wrong length, or a cut file?"""
        self.lost_at = self.window.offset + pos
        next_pos, fault = self._seek(pos + wire.HEADER_BYTES)
        if fault is not None:
            return pos, FormatError(self.report.path, place, "cut short in a record")
        self.report.reject(place, wire.REASONS[wire.BAD_LENGTH])
        return next_pos, None

    def _number_address(self, pos: int) -> int:
        """Take in an address record: a number modulo 255, a type and the bytes."""
        data = self.window.data
        length = int.from_bytes(data[pos + 4 : pos + 8].tobytes(), "big")
        body = pos + wire.HEADER_BYTES
        place = f"byte {self.window.offset + pos}"
        if length < 3:
            self.report.reject(place, wire.REASONS[wire.BAD_ADDRESS])
            return body + length
        number = int(data[body])
        if self.n_numbered == 0 or (number <= 1 and number != self.n_numbered % 255):
            self.n_numbered = min(number, 1)  # files count from 0 or 1; one may follow another
        if number != self.n_numbered % 255:
            self.report.reject(place, "address record out of order", f"number {number}")
            return body + length
        if self.n_numbered == len(self.numbered):
            self.numbered = np.concatenate([self.numbered, np.zeros_like(self.numbered)])
        kind = int(data[body + 1])
        row = self.n_numbered
        if not wire.parse_address(data, body + 2, length - 2, kind, self.numbered, row):
            self.report.reject(place, wire.REASONS[wire.BAD_ADDRESS])
            self.numbered[row] = 0
        self.n_numbered += 1
        self.report.skipped[TYPE_NAMES[wire.TYPE_ADDRESS]] += 1
        return body + length
