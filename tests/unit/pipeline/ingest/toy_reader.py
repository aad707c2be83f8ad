"""A trace format for tests: ``TOY``, then a line per trace of addresses by TTL, target first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.ingest.column_reader import Broken, ColumnReader, More, Step, TraceDecoder
from pipeline.ingest.columns import ByteWindow, TraceColumns
from pipeline.model.addresses import parse_addr
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import KIND_TIME_EXCEEDED, TraceBatch


def sniff(head: bytes) -> bool:
    return head.startswith(b"TOY\n")


def read(stream: BinaryIO, report: ReadReport) -> Iterator[TraceBatch]:
    return ColumnReader(stream, report, ToyDecoder(report)).batches()


class ToyDecoder(TraceDecoder):
    window_bytes, max_window_bytes = 64, 1 << 10
    min_trace_bytes, min_reply_bytes = 8, 8

    def __init__(self, report: ReadReport) -> None:
        self._report = report

    def begin(self, window: ByteWindow) -> int:
        return len(b"TOY\n")

    def decode(self, window: ByteWindow, at: int, columns: TraceColumns) -> Step:
        *lines, rest = window.data[at : window.end].tobytes().split(b"\n")
        for line in [*lines, rest] if window.final else lines:
            behind = min(at + len(line) + 1, window.end)
            try:
                addrs = [parse_addr(word) for word in line.decode("ascii").split()]
            except ValueError:
                return Broken(behind, f"byte {window.offset + at}", "no address", repr(line))
            if addrs:
                _take(addrs, columns)
            at = behind
        return More(at)

    def resynchronise(self, window: ByteWindow, at: int) -> int | More | None:
        return at  # each line gives the start of the next

    def judge(self, window: ByteWindow, fault: FormatError | None) -> FormatError | None:
        return fault or (None if self._report.n_records else FormatError("toy", "", "no trace"))


def _take(addrs: list[tuple[int, int]], columns: TraceColumns) -> None:
    row, first = int(columns.count["n_traces"]), int(columns.count["n_replies"])
    last = first + len(addrs) - 1
    columns.src_addr[row], columns.dst_addr[row], columns.start_s[row] = 0, addrs[0], 1e9
    columns.addr[first:last] = np.array(addrs[1:], np.uint64).reshape(-1, 2)
    columns.ttl[first:last] = np.arange(1, len(addrs))
    columns.rtt_ms[first:last] = 1.0
    columns.kind[first:last] = KIND_TIME_EXCEEDED
    columns.count["n_traces"], columns.count["n_replies"] = row + 1, last
    columns.reply_ptr[row + 1] = last
