"""Buffers into which decoding kernels write traces, and the byte window that they read from.

Kernels never allocate: a reader gives them ``TraceColumns`` large enough for whatever a full
``ByteWindow`` can hold, and takes a ``TraceBatch`` out when the window moves on.
"""

from __future__ import annotations

import time
from typing import BinaryIO, NamedTuple

import numpy as np

from pipeline.errors import FormatError
from pipeline.model.measured.reading import CLASSIC, ReadReport
from pipeline.model.measured.traces import CLASSIC_TRACE, LABELLED, PART_FURTHER, TraceBatch

MAX_RTT_MS = 1e9
NEWEST_START_S = 4_102_444_800.0  # 2100-01-01 UTC: later start times are nonsense
CLOCK_LEAD_S = 2 * 86_400.0  # how far a clock may run ahead of ours and still be believed

COUNT = np.dtype(
    [
        ("n_traces", np.int64),  # complete
        ("n_replies", np.int64),  # theirs
        ("n_no_addr", np.int64),  # replies left out because they have no address
        ("n_bad_rtt", np.int64),  # round-trip times set to NaN
        ("n_split_flows", np.int64),  # measurements with a flow of two paths
    ],
    align=True,
)
NOTES = {
    "n_no_addr": "replies without an address",
    "n_bad_rtt": "round-trip times out of range",
    "n_split_flows": "multipath traces with a flow answered by two addresses at one TTL",
}


def known_ttl(value: object) -> int:
    """The TTL of a reply as ``TraceBatch.reply_ttl`` has it: 0 for what is none."""
    return value if type(value) is int and 0 <= value <= 255 else 0


def count_batch(batch: TraceBatch, report: ReadReport) -> None:
    """Add a batch to what the report counts, once its start times are usable.

    Start times that are negative, not finite or beyond ``NEWEST_START_S`` become 0 (unknown) in the
    batch and are noted: a damaged time does not cost a trace. Those later than ``CLOCK_LEAD_S``
    from now stay but are noted, and do not count for ``newest_s``, which names snapshots: one wrong
    clock must not do that.

    ``n_hops`` counts replies; the note ``unanswered hops`` those TTLs before the last reply of
    their trace without an answer (after it, the format alone does not say what was probed).
    """
    report.n_records += batch.n_measurements
    report.n_hops += batch.n_replies
    start_s = batch.start_s
    unusable = ~((start_s >= 0.0) & (start_s < NEWEST_START_S))  # NaN is neither
    if n_unusable := int(unusable.sum()):
        start_s[unusable] = 0.0
        report.notes["unusable start time"] += n_unusable
    believed = start_s <= time.time() + CLOCK_LEAD_S
    if n_ahead := batch.n_traces - int(believed.sum()):
        report.notes["start time in the future"] += n_ahead
    report.newest_s = max(report.newest_s, float(start_s.max(initial=0.0, where=believed)))
    oldest_s = float(start_s.min(initial=np.inf, where=believed & (start_s > 0.0)))
    if oldest_s < (report.oldest_s or np.inf):
        report.oldest_s = oldest_s
    answered = np.flatnonzero(np.diff(batch.reply_ptr) > 0)
    last = batch.reply_ptr[answered + 1] - 1
    first_of_ttl = np.ones(batch.n_replies, bool)
    first_of_ttl[1:] = batch.ttl[1:] != batch.ttl[:-1]
    first_of_ttl[batch.reply_ptr[answered]] = True
    n_unanswered = int(batch.ttl[last].sum(dtype=np.int64)) - int(first_of_ttl.sum())
    if batch.part is not None:  # a further path begins where it leaves another one
        further = answered[batch.part[answered] & PART_FURTHER > 0]
        n_unanswered -= int((batch.ttl[batch.reply_ptr[further]].astype(np.int64) - 1).sum())
    if n_unanswered:
        report.notes["unanswered hops"] += n_unanswered
    if n_classic := batch.n_classic:
        report.notes[CLASSIC] += n_classic
    if n_labelled := int(np.count_nonzero(batch.kind >= LABELLED)):
        report.notes["replies with MPLS labels"] += n_labelled


class ColumnArrays(NamedTuple):
    """Columns of a TraceBatch, and ``TraceColumns.counts``, as kernels take them."""

    src_addr: np.ndarray
    dst_addr: np.ndarray
    start_s: np.ndarray
    reply_ptr: np.ndarray
    ttl: np.ndarray
    addr: np.ndarray
    rtt_ms: np.ndarray
    kind: np.ndarray
    reply_ttl: np.ndarray
    part: np.ndarray
    counts: np.ndarray


class Reply(NamedTuple):
    """An answer: TTL of the probe, words of who answered, RTT in ms or NaN, KIND_*, its own TTL."""

    ttl: int
    addr: tuple[int, int]
    rtt_ms: float
    kind: int
    reply_ttl: int = 0


class Trace(NamedTuple):
    """One trace on its way into columns; zeros are an unknown address or time."""

    src: tuple[int, int]
    dst: tuple[int, int]
    start_s: float
    replies: list[Reply]  # by ascending TTL
    is_classic: bool


class TraceColumns:
    """Columns of a TraceBatch under construction.

    Attributes
    ----------
    part : (max_traces,) uint8
        PART_*, CLASSIC_TRACE of each trace; zeros except where a reader wrote.
    reply_ttl : (max_replies,) uint8
        Zeros except where a reader wrote.
    counts : (1,) COUNT
        What the columns hold; kernels advance it.
    count : COUNT
        The same, as a record.
    arrays : ColumnArrays
        All columns by name.
    """

    def __init__(self, max_traces: int, max_replies: int) -> None:
        # Pages that no trace reaches are never touched, so generous bounds cost no memory.
        self.src_addr = np.empty((max_traces, 2), np.uint64)
        self.dst_addr = np.empty((max_traces, 2), np.uint64)
        self.start_s = np.empty(max_traces, np.float64)
        self.reply_ptr = np.zeros(max_traces + 1, np.int64)
        self.ttl = np.empty(max_replies, np.uint8)
        self.addr = np.empty((max_replies, 2), np.uint64)
        self.rtt_ms = np.empty(max_replies, np.float32)
        self.kind = np.empty(max_replies, np.uint8)
        self.reply_ttl = np.zeros(max_replies, np.uint8)
        self.part = np.zeros(max_traces, np.uint8)
        self.counts = np.zeros(1, COUNT)
        self.count: np.void = self.counts[0]
        self.arrays = ColumnArrays(*(getattr(self, name) for name in ColumnArrays._fields))

    def notes(self) -> dict[str, int]:
        """Oddities that were counted while decoding, by name."""
        return {note: n for name, note in NOTES.items() if (n := int(self.count[name]))}

    def append(self, trace: Trace) -> None:
        """Add a trace that was read in Python; round-trip times out of range are NaN and noted."""
        row, first = int(self.count["n_traces"]), int(self.count["n_replies"])
        self.src_addr[row], self.dst_addr[row] = trace.src, trace.dst
        self.start_s[row] = trace.start_s
        after = first + len(trace.replies)
        if trace.replies:
            ttl, addr, rtt_ms, kind, reply_ttl = zip(*trace.replies, strict=True)
            rtt = np.array(rtt_ms, np.float64)
            is_bad = (rtt < 0) | (rtt > MAX_RTT_MS)
            self.count["n_bad_rtt"] += int(is_bad.sum())
            self.rtt_ms[first:after] = np.where(is_bad, np.nan, rtt)
            self.ttl[first:after], self.kind[first:after] = ttl, kind
            self.addr[first:after] = np.array(addr, np.uint64)
            self.reply_ttl[first:after] = reply_ttl
        self.part[row] = CLASSIC_TRACE if trace.is_classic else 0
        self.count["n_traces"] = row + 1
        self.count["n_replies"] = self.reply_ptr[row + 1] = after

    def take(self) -> TraceBatch | None:
        """The complete traces as a batch of their own, or None; empties the columns."""
        n_traces, n_replies = int(self.count["n_traces"]), int(self.count["n_replies"])
        self.count["n_traces"] = self.count["n_replies"] = 0
        if n_traces == 0:
            return None
        part, reply_ttl = _taken(self.part, n_traces), _taken(self.reply_ttl, n_replies)
        return TraceBatch(
            src_addr=self.src_addr[:n_traces].copy(),
            dst_addr=self.dst_addr[:n_traces].copy(),
            start_s=self.start_s[:n_traces].copy(),
            reply_ptr=self.reply_ptr[: n_traces + 1].copy(),
            ttl=self.ttl[:n_replies].copy(),
            addr=self.addr[:n_replies].copy(),
            rtt_ms=self.rtt_ms[:n_replies].copy(),
            kind=self.kind[:n_replies].copy(),
            part=part,
            reply_ttl=reply_ttl,
        )


def _taken(column: np.ndarray, n: int) -> np.ndarray | None:
    """The first rows of a column, which become zeros; None if they are."""
    if not column[:n].any():
        return None
    rows = column[:n].copy()
    column[:n] = 0
    return rows


class ByteWindow:
    """A moving window on a stream of decompressed bytes.

    Parameters
    ----------
    stream : binary stream with ``readinto``
    size, max_size : int
        Bytes that it holds at first, and that it may grow to where one record needs them.

    Attributes
    ----------
    data : (size,) uint8
        The window; bytes [0, end) are filled.
    offset : int
        Place in the stream of data[0].
    final : bool
        No byte follows data[end - 1].
    fault : FormatError or None
        Why the stream ended, if not by its end; to be raised after everything readable.
    """

    def __init__(self, stream: BinaryIO, size: int, max_size: int) -> None:
        self._stream = stream
        self._max_size = max_size
        self.data = np.empty(size, np.uint8)
        self.end = 0
        self.offset = 0
        self.final = False
        self.fault: FormatError | None = None

    def has_room(self, pos: int) -> bool:
        """Whether more bytes may be read for the record at ``pos``: not if it is too long."""
        return not self.final and (pos > 0 or len(self.data) < self._max_size)

    def move(self, pos: int) -> None:
        """Drop what lies before ``pos`` and fill up; grow when nothing could be dropped."""
        kept = self.end - pos
        if pos:
            self.data[:kept] = self.data[pos : self.end].copy()
            self.offset += pos
            self.end = kept
        elif kept == len(self.data):
            assert kept < self._max_size, "a decoder keeps more than its window can hold"
            grown = np.empty(min(2 * kept, self._max_size), np.uint8)
            grown[:kept] = self.data
            self.data = grown
        view = self.data.data
        while self.end < len(self.data) and not self.final:
            try:
                n_read = self._stream.readinto(view[self.end :])  # type: ignore[attr-defined]
            except FormatError as error:
                self.fault, n_read = error, 0
            if not n_read:
                self.final = True
            self.end += n_read or 0
