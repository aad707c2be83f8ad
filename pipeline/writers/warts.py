"""Traces as scamper's binary warts (its manual page warts(5)), which scamper's own tools read.

A file is a list, the start of a cycle, trace records, and the end of the cycle. Addresses are in
the records: in full the first time, then by their number in the record. What a ``TraceBatch`` does
not say is left out of records or, where a reader would take that for something else, derived:

- the method of a classic trace: ICMP if there is an echo reply, else UDP;
- the reason to stop: completed if the destination answered, unreachable if the last reply says so,
  none for a path that is continued in another row, else the gap limit;
- the last TTL probed: that of the last reply;
- which probe of its TTL was answered: they are counted;
- ICMP type and code: the usual ones of the kind of reply; of ``KIND_OTHER``: a reply of TCP;
- a label stack: one entry, label 0.
"""

from __future__ import annotations

import contextlib
import gzip
import re
import struct
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np
from numba import njit

from pipeline.files import written_whole
from pipeline.model.addresses import is_v4
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.measured.traces import (
    CLASSIC_TRACE,
    KIND_ECHO_REPLY,
    KIND_OTHER,
    KIND_TIME_EXCEEDED,
    KIND_UNREACHABLE,
    LABELLED,
    METHODS,
    PART_CUT,
    PART_FURTHER,
    STOPS,
    Probing,
    TraceBatch,
)

MAGIC = 0x1205
LIST, CYCLE_START, CYCLE_STOP, TRACE = 1, 2, 4, 6
MOST_REPLIES = 0xFFFF  # of a record
MOST_RTT_US = 0xFFFF_FFFF
# What a trace and a reply take at most: header, flags, values, end mark.
TRACE_BYTES, REPLY_BYTES = 96, 56
# Addresses of a record that are looked for before one is written in full; real traces have fewer.
_NUMBERED = 256
_GZIP_LEVEL = 4
_HOSTILE = re.compile(r"[^A-Za-z0-9._:-]+")  # scamper's tools print names as they are

NO_DESTINATION = "traces without a destination"
LONG_RTT = "RTTs of more than 71 minutes"
LONG_TRACE = "replies beyond 65,535 of a trace"
FURTHER = "joins of the paths of multipath traces"

# ICMP type and code by kind, IPv6 first; -1: not known, or no ICMP message.
_ICMP = np.full((2, KIND_OTHER + 1), -1, np.int32)
_ICMP[:, KIND_TIME_EXCEEDED] = 3 << 8, 11 << 8
_ICMP[:, KIND_UNREACHABLE] = 1 << 8 | 4, 3 << 8 | 3
_ICMP[:, KIND_ECHO_REPLY] = 129 << 8, 0
_ONE_ENTRY = 0x0101  # label 0, bottom of the stack, TTL 1
_FLAG_TTL, _FLAG_TCP = 0x10, 0x20


def write_file(
    batches: Iterable[TraceBatch], path: Path, name: str = "hopscope", monitor: str = ""
) -> Counter[str]:
    """As ``write``, to a file that a user names, as gzip if it ends with ``.gz``.

    Raises
    ------
    UsageError
        If the file cannot be written; what was there before is then unchanged.
    """
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(written_whole(path))
        if path.suffix.lower() == ".gz":
            packed = gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)  # no time: equal bytes
            file = cast(BinaryIO, stack.enter_context(packed))
        return write(batches, file, name, monitor)


def write(
    batches: Iterable[TraceBatch], file: BinaryIO, name: str = "hopscope", monitor: str = ""
) -> Counter[str]:
    """Write traces as they come; one batch at a time is in memory.

    Parameters
    ----------
    batches : iterable of TraceBatch
        With ``probing`` where it is known.
    file : binary file
    name, monitor : str
        Of the list; host that probed. Only letters, digits and ``._:-`` are kept of them.

    Returns
    -------
    Counter
        How much of what warts cannot hold was left out.
    """
    lost: Counter[str] = Counter()
    is_begun, newest_s = False, 0.0
    for batch in batches:
        starts = batch.start_s[batch.start_s > 0]
        if not is_begun:
            file.write(beginning(float(starts.min()) if len(starts) else 0.0, name, monitor))
            is_begun = True
        newest_s = max(newest_s, float(starts.max(initial=0.0)))
        data, left_out = records(batch)
        file.write(data)
        lost += left_out
    if not is_begun:
        file.write(beginning(0.0, name, monitor))
    file.write(ending(newest_s))
    return lost


def beginning(start_s: float, name: str, monitor: str = "") -> bytes:
    """The records of the list and of the start of its cycle, which trace records refer to."""
    host = _HOSTILE.sub("_", monitor).encode()
    values = b"\2" + struct.pack(">H", len(host) + 1) + host + b"\0" if host else b"\0"
    listed = struct.pack(">II", 1, 0) + _HOSTILE.sub("_", name).encode() + b"\0" + b"\0"
    cycle = struct.pack(">IIII", 1, 1, 0, _seconds(start_s)) + values
    return _record(LIST, listed) + _record(CYCLE_START, cycle)


def ending(stop_s: float) -> bytes:
    """The record of the end of the cycle."""
    return _record(CYCLE_STOP, struct.pack(">II", 1, _seconds(stop_s)) + b"\0")


def _seconds(time_s: float) -> int:
    return int(time_s) if 0 <= time_s <= 0xFFFF_FFFF else 0


def _record(kind: int, body: bytes) -> bytes:
    return struct.pack(">HHI", MAGIC, kind, len(body)) + body


def records(batch: TraceBatch) -> tuple[memoryview, Counter[str]]:
    """The trace records of a batch, and how much of what was left out.

    Records of several batches may follow one another in any order, behind ``beginning``.
    """
    rows, lost = _rows(batch)
    out = np.empty(batch.n_traces * TRACE_BYTES + batch.n_replies * REPLY_BYTES, np.uint8)
    n_bytes = _encode(rows, out)
    return out[:n_bytes].data, lost


class _Rows(NamedTuple):
    """A batch as values of warts, nothing unknown but where -1, and 0 where 0 is no value."""

    src_addr: np.ndarray  # zeros: none
    dst_addr: np.ndarray  # zeros: the trace is left out
    start: np.ndarray  # (n_traces, 2) seconds, microseconds; zeros: none
    method: np.ndarray  # 0: none
    stop: np.ndarray
    last_ttl: np.ndarray
    reply_ptr: np.ndarray
    ttl: np.ndarray
    addr: np.ndarray
    rtt_us: np.ndarray  # -1: none
    reply_ttl: np.ndarray  # 0: none
    attempt: np.ndarray
    icmp: np.ndarray  # -1: none
    is_tcp: np.ndarray
    label: np.ndarray  # 0: none
    of_all: np.ndarray  # attempts, seconds waited, gap limit; 0: none


def _rows(batch: TraceBatch) -> tuple[_Rows, Counter[str]]:
    known = Probing() if batch.probing is None else batch.probing
    none = np.zeros(batch.n_traces, np.uint8)
    part = none if batch.part is None else batch.part
    n_replies = np.diff(batch.reply_ptr)
    trace = row_of_value(batch.reply_ptr)
    kind = batch.kind & np.uint8(~LABELLED & 0xFF)
    last = batch.reply_ptr[1:] - 1
    is_answered = n_replies > 0
    last_ttl = none.copy()
    last_ttl[is_answered] = batch.ttl[last[is_answered]]
    if known.last_ttl is not None:
        last_ttl = np.maximum(last_ttl, known.last_ttl)
    icmp = known.icmp
    if icmp is None:
        icmp = _ICMP[is_v4(batch.addr).astype(np.int64), np.minimum(kind, KIND_OTHER)]
    seconds = np.floor(batch.start_s)
    usec = np.rint((batch.start_s - seconds) * 1e6)
    start = np.stack([seconds + usec // 1e6, usec % 1e6], axis=1).astype(np.int64)
    start[(start[:, 0] < 0) | (start[:, 0] > 0xFFFF_FFFF)] = 0
    rtt_us = np.rint(batch.rtt_ms.astype(np.float64) * 1000)
    has_rtt = (rtt_us >= 0) & (rtt_us <= MOST_RTT_US)  # NaN is neither
    lost = Counter(
        {
            NO_DESTINATION: int((~batch.dst_addr.any(axis=1)).sum()),
            LONG_RTT: int((rtt_us > MOST_RTT_US).sum()),
            LONG_TRACE: int(np.maximum(n_replies - MOST_REPLIES, 0).sum()),
            FURTHER: int(np.count_nonzero(part & PART_FURTHER)),
        }
    )
    label = batch.kind >= LABELLED
    return _Rows(
        src_addr=batch.src_addr,
        dst_addr=batch.dst_addr,
        start=start,
        method=_methods(batch, kind, trace, part) if known.method is None else known.method,
        stop=_stops(batch, kind, trace, part) if known.stop is None else known.stop,
        last_ttl=last_ttl,
        reply_ptr=batch.reply_ptr,
        ttl=batch.ttl,
        addr=batch.addr,
        rtt_us=np.where(has_rtt, rtt_us, -1).astype(np.int64),
        reply_ttl=np.zeros(batch.n_replies, np.uint8) if batch.reply_ttl is None
        else batch.reply_ttl,
        attempt=_attempts(batch, trace) if known.attempt is None else known.attempt,
        icmp=icmp.astype(np.int32),
        is_tcp=(kind == KIND_OTHER) & (icmp < 0),
        label=label * np.uint32(_ONE_ENTRY) if known.label is None
        else np.where(label, known.label, 0).astype(np.uint32),
        of_all=np.array([known.attempts, known.wait_s, known.gap_limit], np.uint8),
    ), +lost  # fmt: skip


def _methods(
    batch: TraceBatch, kind: np.ndarray, trace: np.ndarray, part: np.ndarray
) -> np.ndarray:
    is_icmp = np.zeros(batch.n_traces, bool)
    is_icmp[trace[kind == KIND_ECHO_REPLY]] = True
    classic = np.where(is_icmp, METHODS.index("icmp-echo"), METHODS.index("udp"))
    return np.where(part & CLASSIC_TRACE > 0, classic, 0).astype(np.uint8)


def _stops(batch: TraceBatch, kind: np.ndarray, trace: np.ndarray, part: np.ndarray) -> np.ndarray:
    stop = np.full(batch.n_traces, STOPS.index("GAPLIMIT"), np.uint8)
    is_last = np.ones(batch.n_replies, bool)
    is_last[:-1] = trace[1:] != trace[:-1]
    stop[trace[is_last & (kind == KIND_UNREACHABLE)]] = STOPS.index("UNREACH")
    stop[trace[(batch.addr == batch.dst_addr[trace]).all(axis=1)]] = STOPS.index("COMPLETED")
    stop[part & PART_CUT > 0] = STOPS.index("NONE")
    return stop


def _attempts(batch: TraceBatch, trace: np.ndarray) -> np.ndarray:
    """Replies of a TTL, counted from 0."""
    is_first = np.ones(batch.n_replies, bool)
    is_first[1:] = (trace[1:] != trace[:-1]) | (batch.ttl[1:] != batch.ttl[:-1])
    position = np.arange(batch.n_replies)
    first = np.maximum.accumulate(np.where(is_first, position, 0))
    return np.minimum(position - first, 255).astype(np.uint8)


@njit(cache=True, nogil=True)
def _put(out, at, n_bytes, value):
    """Write the lower bytes of a number; the position after them."""
    for i in range(n_bytes):
        out[at + i] = (value >> (8 * (n_bytes - 1 - i))) & 0xFF
    return at + n_bytes


@njit(cache=True, nogil=True)
def _put_value(out, flags, flag, at, n_bytes, value):
    """Write the value of a parameter at ``at`` and set its flag, of flag bytes at ``flags``."""
    out[flags + (flag - 1) // 7] |= 1 << ((flag - 1) % 7)
    return _put(out, at, n_bytes, value)


@njit(cache=True, nogil=True)
def _put_addr(out, flags, flag, at, addrs, row, table, n_addrs):
    """Write an address, or its number in ``table``, to which it is added; where, and how many."""
    high, low = addrs[row, 0], addrs[row, 1]
    for i in range(min(n_addrs, _NUMBERED)):
        if table[i, 0] == high and table[i, 1] == low:
            at = _put_value(out, flags, flag, at, 1, 0)
            return _put(out, at, 4, i), n_addrs
    if n_addrs < _NUMBERED:
        table[n_addrs, 0], table[n_addrs, 1] = high, low
    if high == 0 and (low >> np.uint64(32)) == np.uint64(0xFFFF):
        at = _put_value(out, flags, flag, at, 2, 4 << 8 | 1)
        return _put(out, at, 4, np.int64(low & np.uint64(0xFFFFFFFF))), n_addrs + 1
    at = _put_value(out, flags, flag, at, 2, 16 << 8 | 2)
    for word in (high, low):
        at = _put(out, at, 4, np.int64(word >> np.uint64(32)))
        at = _put(out, at, 4, np.int64(word & np.uint64(0xFFFFFFFF)))
    return at, n_addrs + 1


@njit(cache=True, nogil=True)
def _begin_flags(out, at, n_bytes):
    """Flag bytes, all but the last saying that one follows, and room for the length of values."""
    for i in range(n_bytes):
        out[at + i] = 0x80 if i < n_bytes - 1 else 0
    return at + n_bytes + 2


@njit(cache=True, nogil=True)
def _encode(rows, out):
    """Write a record for each trace with a destination; the number of bytes."""
    table = np.empty((_NUMBERED, 2), np.uint64)
    at = 0
    for trace in range(len(rows.stop)):
        if rows.dst_addr[trace, 0] == 0 and rows.dst_addr[trace, 1] == 0:
            continue
        header, n_addrs = at, 0
        flags = at + 8
        values = at = _begin_flags(out, flags, 4)
        at = _put_value(out, flags, 1, at, 4, 1)  # the list, then the cycle
        at = _put_value(out, flags, 2, at, 4, 1)
        if rows.start[trace, 0] or rows.start[trace, 1]:
            at = _put_value(out, flags, 5, at, 4, rows.start[trace, 0])
            at = _put(out, at, 4, rows.start[trace, 1])
        at = _put_value(out, flags, 6, at, 1, rows.stop[trace])
        if rows.of_all[0]:
            at = _put_value(out, flags, 9, at, 1, rows.of_all[0])
        if rows.method[trace]:
            at = _put_value(out, flags, 11, at, 1, rows.method[trace])
        if rows.of_all[1]:
            at = _put_value(out, flags, 17, at, 1, rows.of_all[1])
        at = _put_value(out, flags, 19, at, 2, rows.last_ttl[trace])
        if rows.of_all[2]:
            at = _put_value(out, flags, 20, at, 1, rows.of_all[2])
        if rows.src_addr[trace, 0] or rows.src_addr[trace, 1]:
            at, n_addrs = _put_addr(out, flags, 26, at, rows.src_addr, trace, table, n_addrs)
        at, n_addrs = _put_addr(out, flags, 27, at, rows.dst_addr, trace, table, n_addrs)
        _put(out, values - 2, 2, at - values)
        first = rows.reply_ptr[trace]
        n_replies = min(rows.reply_ptr[trace + 1] - first, MOST_REPLIES)
        at = _put(out, at, 2, n_replies)
        for reply in range(first, first + n_replies):
            flags = at
            values = at = _begin_flags(out, flags, 3)
            at = _put_value(out, flags, 2, at, 1, rows.ttl[reply])
            if rows.reply_ttl[reply]:
                at = _put_value(out, flags, 3, at, 1, rows.reply_ttl[reply])
            kind = _FLAG_TTL if rows.reply_ttl[reply] else 0
            if rows.is_tcp[reply]:
                kind |= _FLAG_TCP
            at = _put_value(out, flags, 4, at, 1, kind)
            at = _put_value(out, flags, 5, at, 1, rows.attempt[reply])
            if rows.rtt_us[reply] >= 0:
                at = _put_value(out, flags, 6, at, 4, rows.rtt_us[reply])
            if rows.icmp[reply] >= 0:
                at = _put_value(out, flags, 7, at, 2, rows.icmp[reply])
            if rows.label[reply]:  # an object of RFC 4884: bytes of data, class, type, data
                at = _put_value(out, flags, 17, at, 2, 8)
                at = _put(out, at, 4, 4 << 16 | 1 << 8 | 1)
                at = _put(out, at, 4, rows.label[reply])
            at, n_addrs = _put_addr(out, flags, 18, at, rows.addr, reply, table, n_addrs)
            _put(out, values - 2, 2, at - values)
        at = _put(out, at, 2, 0)  # no attachment
        _put(out, header, 2, MAGIC)
        _put(out, header + 2, 2, TRACE)
        _put(out, header + 4, 4, at - header - 8)
    return at
