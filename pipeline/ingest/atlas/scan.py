"""Compiled scanner of RIPE Atlas traceroute results: JSON bytes straight to columns.

It follows the JSON grammar strictly, so that it never accepts what the grammar refuses, and reads
only plain values: ASCII strings without escapes, plain numbers, addresses in their usual form, hops
by ascending number. A record with anything else is valid but *odd*: its bounds are returned
and ``pipeline.ingest.atlas.record`` reads it by the same rules, written again in Python. Tests
compare the two on every real and on mutated records.

Positions are int64 indexes of the byte window. Every scanning function returns the position after
what it scanned and one of the statuses below.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.ingest.atlas.grammar import (
    BAD,
    MAX_DEPTH,
    MORE,
    OK,
    key_word,
    next_member,
    read_key,
    skip_blank,
    skip_value,
)
from pipeline.ingest.atlas.replies import scan_replies
from pipeline.ingest.text.addresses import scan_addr
from pipeline.ingest.text.digits import PARSED, scan_float, scan_int
from pipeline.model.measured.traces import CLASSIC_TRACE

# What ``scan_records`` stopped for.
EMPTY, PARTIAL, BROKEN, STRAY, ODD = 0, 1, 2, 3, 4

# Notes on accepted results, and their words in reports.
NOTES = {
    "unanswered": "unanswered probes",
    "not_sent": "probes that were not sent (error)",
    "no_addr": "replies without an address, left out",
    "late": "late replies, left out",
    "dup": "duplicate replies, left out",
    "err": "replies of kind unreachable (err)",
    "edst": "replies to packets for another destination (edst), left out",
    "icmpext": "replies with ICMP extensions",
    "no_rtt": "replies without a usable rtt",
    "hop_error": "hops with an error",
    "no_src": "results without src_addr and from",
    "no_dst": "results without dst_addr",
    "no_hops": "results without hops",
    "no_time": "results without a timestamp",
}
SCAN = np.dtype(
    [
        ("n_open", np.int64),  # JSON arrays that are open around the records
        ("is_odd", np.bool_),  # the record in progress is
        ("is_classic", np.bool_),  # its paris_id is 0
        *((name, np.int64) for name in NOTES),
    ],
    align=True,
)

_FROM, _ERROR = key_word("from"), key_word("error")
_HOP, _RESULT = key_word("hop"), key_word("result")
_TYPE, _DST, _SRC = key_word("type"), key_word("dst_addr"), key_word("src_addr")
_TIMESTAMP, _PARIS = key_word("timestamp"), key_word("paris_id")
_TRACEROUTE = np.frombuffer(b"traceroute", np.uint8)

_ZERO = np.uint64(0)
_32, _V4 = np.uint64(32), np.uint64(0xFFFF)
# What a prefix leaves of an IPv4 address, or of the high word of an IPv6 one, and what is left.
_PRIVATE_V4 = np.array(
    [
        (24, 10),  # 10.0.0.0/8
        (22, 0x191),  # 100.64.0.0/10
        (24, 127),  # 127.0.0.0/8
        (16, 0xA9FE),  # 169.254.0.0/16
        (20, 0xAC1),  # 172.16.0.0/12
        (8, 0xC00000),  # 192.0.0.0/24
        (16, 0xC0A8),  # 192.168.0.0/16
    ],
    np.uint64,
)
_PRIVATE_V6 = np.array([(57, 0x7E), (54, 0x3FA)], np.uint64)  # fc00::/7, fe80::/10


@njit(cache=True, nogil=True)
def is_private(high, low):
    """Whether an address, in two uint64 words, is one that many networks use inside."""
    is_v4 = high == _ZERO and low >> _32 == _V4
    value = low & np.uint64(0xFFFFFFFF) if is_v4 else high
    ranges = _PRIVATE_V4 if is_v4 else _PRIVATE_V6
    inside = False
    for i in range(len(ranges)):
        inside |= value >> ranges[i, 0] == ranges[i, 1]
    return inside


@njit(cache=True, nogil=True)
def _hop(text, i, n, k, ttl, addr, rtt_ms, kind, reply_ttl, stack, scan):
    """One hop: (position, status, rows, its number or 0)."""
    number = np.int64(0)
    rows = 0
    has_result = has_error = False
    if text[i] != 123:
        scan.is_odd = True
        i, status = skip_value(text, i, n, stack, scan)
        return i, status, 0, number
    i = skip_blank(text, i + 1, n)
    if i < n and text[i] == 125:
        return i + 1, OK, 0, number
    while True:
        i, status, key, size = read_key(text, i, n, scan)
        if status != OK:
            return i, status, 0, number
        if key == _RESULT and size == 6:
            if has_result:
                scan.is_odd = True
            has_result = True
            i, status, rows = scan_replies(
                text, i, n, k, addr, rtt_ms, kind, reply_ttl, stack, scan
            )
        else:
            start = i
            i, status = skip_value(text, i, n, stack, scan)
            if status == OK and key == _HOP and size == 3:
                number, known = scan_int(text, start, i)
                if known != PARSED or number < 1 or number > 255:
                    scan.is_odd = True
            elif key == _ERROR and size == 5:
                has_error = True
        if status != OK:
            return i, status, 0, number
        i, status, closed = next_member(text, i, n, 125)
        if status != OK:
            return i, status, 0, number
        if closed:
            break
    if has_result and number == 0:
        scan.is_odd = True
    scan.hop_error += has_error
    for j in range(k, k + rows):
        ttl[j] = number
    return i, OK, rows, number


@njit(cache=True, nogil=True)
def _hops(text, i, n, k, ttl, addr, rtt_ms, kind, reply_ttl, stack, scan):
    """The list of hops of a result: (position, status, rows)."""
    first = k
    last = np.int64(0)
    if text[i] != 91:
        scan.is_odd = True
        i, status = skip_value(text, i, n, stack, scan)
        return i, status, 0
    i = skip_blank(text, i + 1, n)
    if i < n and text[i] == 93:
        scan.no_hops += 1
        return i + 1, OK, 0
    n_numbered = 0
    while True:
        if i >= n:
            return i, MORE, 0
        i, status, rows, number = _hop(
            text, i, n, k, ttl, addr, rtt_ms, kind, reply_ttl, stack, scan
        )
        if status != OK:
            return i, status, 0
        if number > 0:
            n_numbered += 1
        if rows > 0:
            if number < last:
                scan.is_odd = True  # Python sorts
            last = number
        k += rows
        i, status, closed = next_member(text, i, n, 93)
        if status != OK:
            return i, status, 0
        if closed:
            if n_numbered == 0:
                scan.no_hops += 1
            return i, OK, k - first


@njit(cache=True, nogil=True)
def _record(
    text, i, n, t, k, src, dst, start_s, ttl, addr, rtt_ms, kind, reply_ttl, stack, scan
):  # fmt: skip
    """One result at the brace ``i``, written to trace ``t``: (position, status, rows)."""
    rows = 0
    has_result = has_type = False
    dst_start = dst_stop = src_start = src_stop = from_start = from_stop = np.int64(0)
    time_start = time_stop = np.int64(0)
    i = skip_blank(text, i + 1, n)
    if i < n and text[i] == 125:
        scan.is_odd = True
        return i + 1, OK, 0
    while True:
        i, status, key, size = read_key(text, i, n, scan)
        if status != OK:
            return i, status, 0
        start = i
        if key == _RESULT and size == 6:
            if has_result:
                scan.is_odd = True
            has_result = True
            i, status, rows = _hops(text, i, n, k, ttl, addr, rtt_ms, kind, reply_ttl, stack, scan)
        else:
            i, status = skip_value(text, i, n, stack, scan)
        if status != OK:
            return i, status, 0
        plain = text[start] == 34
        if key == _TYPE and size == 4:
            has_type = plain and i - start == 12
            for j in range(10):
                if has_type and text[start + 1 + j] != _TRACEROUTE[j]:
                    has_type = False
            if not has_type:
                scan.is_odd = True
        elif size == 8 and (key == _DST or key == _SRC):  # noqa: SIM109
            if not plain:
                scan.is_odd = True
            elif key == _DST:
                dst_start, dst_stop = start + 1, i - 1
            else:
                src_start, src_stop = start + 1, i - 1
        elif key == _PARIS and size == 8:
            scan.is_classic = text[start] == 48 and i == start + 1
        elif key == _FROM and size == 4:
            if not plain:
                scan.is_odd = True
            from_start, from_stop = start + 1, i - 1
        elif key == _TIMESTAMP and size == 9:
            if text[start] == 45 or 48 <= text[start] <= 57:
                time_start, time_stop = start, i
            else:
                scan.is_odd = True
        i, status, closed = next_member(text, i, n, 125)
        if status != OK:
            return i, status, 0
        if closed:
            break
    if not has_type or t >= len(start_s):
        scan.is_odd = True
        return i, OK, 0
    if not has_result:
        scan.no_hops += 1
    src[t, 0] = src[t, 1] = dst[t, 0] = dst[t, 1] = _ZERO
    if src_start < src_stop and not scan_addr(text, src_start, src_stop, src, t):
        scan.is_odd = True
    is_none = src[t, 0] == _ZERO and src[t, 1] == _ZERO
    if from_start < from_stop and (is_none or is_private(src[t, 0], src[t, 1])):
        if not scan_addr(text, from_start, from_stop, src, t):
            scan.is_odd = True
        is_none = src[t, 0] == _ZERO and src[t, 1] == _ZERO
    scan.no_src += is_none
    if dst_start == dst_stop:
        scan.no_dst += 1
    elif not scan_addr(text, dst_start, dst_stop, dst, t):
        scan.is_odd = True
    start_s[t] = 0.0
    if time_start < time_stop:
        seconds, known = scan_float(text, time_start, time_stop)
        if known == PARSED:
            start_s[t] = seconds
        else:
            scan.is_odd = True
    if start_s[t] == 0.0:
        scan.no_time += 1
    return i, OK, rows


@njit(cache=True, nogil=True)
def scan_records(
    text,
    i,
    n,
    scans,
    src,
    dst,
    start_s,
    reply_ptr,
    ttl,
    addr,
    rtt_ms,
    kind,
    reply_ttl,
    part,
    counts,
):
    """Scan results of ``text[i:n]`` up to the first that is not plain.

    Parameters
    ----------
    text : (size,) uint8
    i, n : int
    scans : (2,) SCAN
        The first one is kept from call to call; the second one is scratch.
    src, dst, start_s, reply_ptr, ttl, addr, rtt_ms, kind, reply_ttl, part, counts : arrays
        ``TraceColumns.arrays`` with room enough; one by one, since a tuple would cost 7 to 18 %.

    Returns
    -------
    start, stop : int
        Bounds of what it stopped for.
    status : int
        EMPTY: the window is used up; PARTIAL: a record goes on beyond it; BROKEN: not JSON from
        ``stop`` on; STRAY: something that is not an object; ODD: a record to be read in Python.
    """
    scan, count = scans[0], counts[0]
    stack = np.empty(MAX_DEPTH, np.uint8)
    while True:
        while i < n:
            c = text[i]
            if c == 91:
                scan.n_open += 1
            elif c == 93:
                scan.n_open = max(0, scan.n_open - 1)
            elif not (c == 32 or c == 10 or c == 13 or c == 9 or c == 44):
                break
            i += 1
        if i >= n:
            return n, n, EMPTY
        if text[i] != 123:
            return i, i, STRAY
        scan.is_odd = scan.is_classic = False
        scans[1] = scan
        t, k = count.n_traces, count.n_replies
        stop, status, rows = _record(
            text, i, n, t, k, src, dst, start_s, ttl, addr, rtt_ms, kind, reply_ttl, stack, scan
        )
        if status != OK or scan.is_odd:  # what it had is not counted
            scans[0] = scans[1]
            return i, stop, PARTIAL if status == MORE else BROKEN if status == BAD else ODD
        part[t] = CLASSIC_TRACE if scan.is_classic else 0
        count.n_traces = t + 1
        count.n_replies = k + rows
        reply_ptr[t + 1] = k + rows
        i = stop
