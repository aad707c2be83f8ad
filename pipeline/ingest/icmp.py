"""Kinds of replies by ICMP type, and sorting of replies by TTL; compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.model.measured.traces import (
    KIND_ECHO_REPLY,
    KIND_OTHER,
    KIND_TIME_EXCEEDED,
    KIND_UNREACHABLE,
)


@njit(cache=True, nogil=True)
def reply_kind(is_v4, icmp_type, icmp_code):
    """KIND_* of an ICMP answer; types differ between ICMP and ICMPv6.

    Time exceeded with code 1 comes from a host that waited for fragments, not from a router.
    """
    if is_v4:
        if icmp_type == 11 and icmp_code == 0:
            return KIND_TIME_EXCEEDED
        if icmp_type == 3:
            return KIND_UNREACHABLE
        if icmp_type == 0:
            return KIND_ECHO_REPLY
        return KIND_OTHER
    if icmp_type == 3 and icmp_code == 0:
        return KIND_TIME_EXCEEDED
    if icmp_type == 1:
        return KIND_UNREACHABLE
    if icmp_type == 129:
        return KIND_ECHO_REPLY
    return KIND_OTHER


@njit(cache=True, nogil=True)
def sort_by_ttl(ttl, addr, rtt_ms, kind, reply_ttl, first, last):
    """Sort replies first..last-1 by TTL, keeping the order within each."""
    place = np.zeros(257, np.int64)
    for i in range(first, last):
        place[np.int64(ttl[i]) + 1] += 1
    for t in range(256):
        place[t + 1] += place[t]
    order = np.empty(last - first, np.int64)
    for i in range(first, last):
        order[place[ttl[i]]] = i
        place[ttl[i]] += 1
    ttl[first:last] = ttl[order]
    rtt_ms[first:last] = rtt_ms[order]
    kind[first:last] = kind[order]
    reply_ttl[first:last] = reply_ttl[order]
    high, low = addr[order, 0], addr[order, 1]
    addr[first:last, 0] = high
    addr[first:last, 1] = low
