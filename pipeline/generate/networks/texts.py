"""Addresses and traces as text, in compiled code: scamper's JSON, a line for each trace."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_MAPPED = np.uint64(0xFFFF)


@njit(cache=True, nogil=True)
def put_number(text, at, number):
    """Write a number >= 0 in decimals; returns where it ends."""
    if number < 10:
        text[at] = 48 + number
        return at + 1
    power = 10
    while power * 10 <= number:
        power *= 10
    while power:
        digit = number // power
        text[at] = 48 + digit
        number -= digit * power
        power //= 10
        at += 1
    return at


@njit(cache=True, nogil=True)
def put_addr(text, at, high, low):
    """Write an address, IPv4 in dotted form, IPv6 as RFC 5952 has it; returns where it ends."""
    if high == 0 and low >> np.uint64(32) == _MAPPED:
        for shift in (24, 16, 8, 0):
            at = put_number(text, at, np.int64((low >> np.uint64(shift)) & np.uint64(255)))
            text[at] = 46
            at += 1
        return at - 1
    best, longest, here = -1, 1, 0  # the longest run of zeros, of two at least
    for i in range(8):
        here = here + 1 if _group(high, low, i) == 0 else 0
        if here > longest:
            best, longest = i - here + 1, here
    i = 0
    while i < 8:
        if i == best:
            text[at] = 58
            at += 1
            if i == 0:
                text[at] = 58
                at += 1
            i += longest
            continue
        at = _put_hex(text, at, _group(high, low, i))
        i += 1
        if i < 8:
            text[at] = 58
            at += 1
    return at


@njit(cache=True, nogil=True)
def _group(high, low, i):
    half = high if i < 4 else low
    return np.int64((half >> np.uint64(16 * (3 - i % 4))) & _MAPPED)


@njit(cache=True, nogil=True)
def _put_hex(text, at, number):
    shift = 12
    while shift and not number >> shift:
        shift -= 4
    while shift >= 0:
        digit = number >> shift & 15
        text[at] = 48 + digit if digit < 10 else 87 + digit
        at += 1
        shift -= 4
    return at


# What stands between values, as scamper 2021 and later write it.
_METHOD = np.frombuffer(b'{"type":"trace","version":"0.1","method":"', np.uint8)
_SRC = np.frombuffer(b'","src":"', np.uint8)
_DST = np.frombuffer(b'","dst":"', np.uint8)
_STOP = np.frombuffer(b'","stop_reason":"', np.uint8)
_START = np.frombuffer(b'","start":{"sec":', np.uint8)
_COUNT = np.frombuffer(b',"usec":0},"hop_count":', np.uint8)
_HOPS = np.frombuffer(b',"attempts":2,"firsthop":1,"wait":1,"hops":[', np.uint8)
_ADDR = np.frombuffer(b'{"addr":"', np.uint8)
_TTL = np.frombuffer(b'","probe_ttl":', np.uint8)
_RTT = np.frombuffer(b',"probe_id":1,"probe_size":60,"rtt":', np.uint8)
_LEFT = np.frombuffer(b',"reply_ttl":', np.uint8)
_TYPE = np.frombuffer(b',"reply_size":56,"icmp_type":', np.uint8)
_CODE = np.frombuffer(b',"icmp_code":', np.uint8)
_END = np.frombuffer(b"]}\n", np.uint8)
MOST_OF_TRACE, MOST_OF_HOP = 400, 220  # bytes


@njit(cache=True, nogil=True)
def _put(text, at, piece):
    for i in range(len(piece)):
        text[at + i] = piece[i]
    return at + len(piece)


@njit(cache=True, nogil=True)
def put_traces(text, traces, rows, src, targets, starts, method, reasons_ptr, reasons, is_v6):
    """Write some traces of one vantage point and method.

    Parameters
    ----------
    text : uint8
        Room for MOST_OF_TRACE bytes a trace and MOST_OF_HOP a reply.
    traces : Traces
    rows : int64
        Of ``traces``.
    src : (2,) uint64
    targets : (n, 2) uint64
        Addresses.
    starts : (n_rows,) int64
        Seconds.
    method : uint8
        Its name.
    reasons_ptr, reasons : int64 and uint8
        Why traces stop, in words.
    is_v6 : bool
        Whether replies are of ICMPv6.

    Returns
    -------
    int
        Bytes written.
    """
    at = 0
    for i in range(len(rows)):
        n = rows[i]
        at = _put(text, _put(text, at, _METHOD), method)
        at = put_addr(text, _put(text, at, _SRC), src[0], src[1])
        t = traces.target[n]
        at = put_addr(text, _put(text, at, _DST), targets[t, 0], targets[t, 1])
        stop = traces.stop[n]
        at = _put(text, at, _STOP)
        at = _put(text, at, reasons[reasons_ptr[stop] : reasons_ptr[stop + 1]])
        at = put_number(text, _put(text, at, _START), starts[i])
        at = put_number(text, _put(text, at, _COUNT), np.int64(traces.last_ttl[n]))
        at = _put(text, at, _HOPS)
        for k in range(traces.hop_ptr[n], traces.hop_ptr[n + 1]):
            if k > traces.hop_ptr[n]:
                text[at] = 44
                at += 1
            at = put_addr(text, _put(text, at, _ADDR), traces.addr[k, 0], traces.addr[k, 1])
            at = put_number(text, _put(text, at, _TTL), np.int64(traces.ttl[k]))
            at = _put(text, at, _RTT)
            whole = np.int64(traces.rtt_us[k]) // 1000
            part = np.int64(traces.rtt_us[k]) - 1000 * whole
            at = put_number(text, at, whole)
            text[at], text[at + 1] = 46, 48 + part // 100
            text[at + 2], text[at + 3] = 48 + part // 10 % 10, 48 + part % 10
            at = put_number(text, _put(text, at + 4, _LEFT), np.int64(traces.reply_ttl[k]))
            kind: Any = np.int64(traces.icmp_type[k])
            is_unreachable = kind == 3
            code = 1 if is_unreachable else 0  # of a host
            if is_v6:  # RFC 4443
                code = 3 if is_unreachable else 0
                kind = 1 if is_unreachable else 3 if kind == 11 else 129
            at = put_number(text, _put(text, at, _TYPE), kind)
            at = put_number(text, _put(text, at, _CODE), code)
            text[at] = 125
            at += 1
        at = _put(text, at, _END)
    return at
