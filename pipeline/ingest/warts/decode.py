"""Decode warts records in place: compiled, no Python object per record, hop or address.

Layout of what is read, big-endian throughout:

- record: magic 0x1205, type (2 bytes), length of the rest (4);
- trace: parameters, number of replies (2), parameters of each, then attachments until an empty one:
  kind (4 bits) and length (12 bits). Attachments (path MTU, last ditch, doubletree) are left out.

Parameters and addresses: ``fields``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.ingest.icmp import reply_kind, sort_by_ttl
from pipeline.ingest.warts.fields import (
    ADDRESS_VALUE,
    BAD_LENGTH,
    BAD_REFERENCE,
    EXTENSION_VALUE,
    NO_DESTINATION,
    NO_END,
    NO_TTL,
    has_labels,
    read_known_address,
    read_parameters,
    read_u16,
    read_u32,
)
from pipeline.model.measured.traces import CLASSIC_TRACE, KIND_OTHER, KIND_UNKNOWN, LABELLED

MAGIC_HIGH, MAGIC_LOW = 0x12, 0x05
HEADER_BYTES = 8
# Longer than any record of scamper's; a larger length is taken for a damaged header.
MAX_RECORD = 1 << 24
TYPE_ADDRESS, TYPE_TRACE, TYPE_TRACELB = 5, 6, 8
MAX_TYPE = 255
# A trace takes at least header, two parameter bytes, count and end; a reply at least 7 bytes.
MIN_TRACE_BYTES, MIN_REPLY_BYTES = 12, 7

# Why ``decode`` returned.
DONE, NEED, CUT, LOST, BROKEN, ADDRESS, TRACELB = range(7)

# Bytes of each value by flag, from flag 1.
# fmt: off
TRACE_VALUES = np.array([
    0,  # there is no flag 0
    4, 4, 4, 4, 8, 1, 1,  # list, cycle, source and destination numbers, start, stop reason, data
    1, 1, 1, 1, 2, 2, 2,  # flags, attempts, hop limit, type, probe size, ports
    1, 1, 1, 1, 2, 1, 1,  # first hop, tos, wait, loops, hops, gap limit, gap action
    1, 2, 1, 1, ADDRESS_VALUE, ADDRESS_VALUE,  # loop action, probes, wait, confidence, both ends
    4, 2, ADDRESS_VALUE,  # user, offset, first router
], np.uint8)
REPLY_VALUES = np.array([
    0,
    4, 1, 1, 1, 1, 4, 2,  # address number, probe TTL, reply TTL, flags, probe, RTT, ICMP type, code
    2, 2, 2, 1, 2, 2, 1,  # probe and reply size, IP id, tos, MTU, quoted length and TTL
    1, 1, EXTENSION_VALUE, ADDRESS_VALUE, 8,  # TCP flags, quoted tos, extensions, address, sent
], np.uint8)
# fmt: on
SOURCE_NUMBER, DESTINATION_NUMBER, START, METHOD, SOURCE, DESTINATION = 3, 4, 5, 11, 26, 27
# Methods that change the flow: of the first the checksum, of the second the ports.
ICMP_ECHO, UDP = 1, 2
REPLY_NUMBER, PROBE_TTL, REPLY_TTL, REPLY_FLAGS, REPLY_RTT, REPLY_ICMP = 1, 2, 3, 4, 6, 7
REPLY_EXTENSIONS, REPLY_ADDR = 17, 18
FLAG_TCP, FLAG_UDP = 0x20, 0x40  # the reply was not an ICMP message


@njit(cache=True, nogil=True)
def _trace(data, pos, end, columns, table, numbered, n_numbered, places, memory):
    """Decode the body of a trace record in [pos, end) into the rows after those of ``columns``.

    Returns the position after its end mark, or -1 with the reason in memory.
    """
    src_addr, dst_addr, start_s, reply_ptr, ttl, addr, rtt_ms, kind, reply_ttl, part, counts = (
        columns
    )
    count = counts[0]
    row, reply = count.n_traces, count.n_replies
    first_reply = reply
    n_no_addr = 0
    memory.n_addrs = 0
    pos = read_parameters(data, pos, end, TRACE_VALUES, places, table, memory)
    if pos < 0:
        return -1
    src_addr[row, 0] = np.uint64(0)
    src_addr[row, 1] = np.uint64(0)
    found = read_known_address(
        data, places, SOURCE_NUMBER, SOURCE, table, numbered, n_numbered, src_addr, row
    )
    if found < 0:
        memory.reason = BAD_REFERENCE
        return -1
    found = read_known_address(
        data, places, DESTINATION_NUMBER, DESTINATION, table, numbered, n_numbered, dst_addr, row
    )
    if found <= 0:
        memory.reason = BAD_REFERENCE if found < 0 else NO_DESTINATION
        return -1
    start_s[row] = 0.0
    if places[START] >= 0:
        start_s[row] = read_u32(data, places[START]) + read_u32(data, places[START] + 4) / 1e6
    method = data[places[METHOD]] if places[METHOD] >= 0 else 0
    is_classic = method in (ICMP_ECHO, UDP)
    if pos + 2 > end:
        memory.reason = NO_END
        return -1
    n_replies = read_u16(data, pos)
    pos += 2
    is_sorted = True
    for _ in range(n_replies):
        pos = read_parameters(data, pos, end, REPLY_VALUES, places, table, memory)
        if pos < 0:
            return -1
        if places[PROBE_TTL] < 0 or data[places[PROBE_TTL]] == 0:
            memory.reason = NO_TTL
            return -1
        found = read_known_address(
            data, places, REPLY_NUMBER, REPLY_ADDR, table, numbered, n_numbered, addr, reply
        )
        if found < 0:
            memory.reason = BAD_REFERENCE
            return -1
        if found == 0:
            n_no_addr += 1
            continue
        ttl[reply] = data[places[PROBE_TTL]]
        reply_ttl[reply] = data[places[REPLY_TTL]] if places[REPLY_TTL] >= 0 else 0
        if reply > first_reply and ttl[reply] < ttl[reply - 1]:
            is_sorted = False
        rtt_ms[reply] = np.nan
        if places[REPLY_RTT] >= 0:
            rtt_ms[reply] = read_u32(data, places[REPLY_RTT]) / 1000.0
        is_v4 = addr[reply, 0] == 0 and (addr[reply, 1] >> np.uint64(32)) == np.uint64(0xFFFF)
        flags = np.int64(data[places[REPLY_FLAGS]]) if places[REPLY_FLAGS] >= 0 else 0
        if flags & (FLAG_TCP | FLAG_UDP):
            kind[reply] = KIND_OTHER
        elif places[REPLY_ICMP] < 0:
            kind[reply] = KIND_UNKNOWN
        else:
            at = places[REPLY_ICMP]
            kind[reply] = reply_kind(is_v4, data[at], data[at + 1])
        if places[REPLY_EXTENSIONS] >= 0 and has_labels(data, places[REPLY_EXTENSIONS]):
            kind[reply] |= LABELLED
        reply += 1
    while True:
        if pos + 2 > end:
            memory.reason = NO_END
            return -1
        attachment = read_u16(data, pos)
        pos += 2
        if attachment == 0:
            break
        pos += attachment & 0xFFF
    if not is_sorted:
        sort_by_ttl(ttl, addr, rtt_ms, kind, reply_ttl, first_reply, reply)
    count.n_no_addr += n_no_addr
    part[row] = CLASSIC_TRACE if is_classic else 0
    count.n_traces = row + 1
    count.n_replies = reply
    reply_ptr[row + 1] = reply
    return pos


@njit(cache=True, nogil=True)
def _is_magic(data, pos):
    return data[pos] == MAGIC_HIGH and data[pos + 1] == MAGIC_LOW


@njit(cache=True, nogil=True)
def decode(data, pos, end, final, columns, table, numbered, n_numbered, n_skipped, memories):
    """Decode records from data[pos:end] until something needs the caller.

    Parameters
    ----------
    data : (size,) uint8
    pos, end : int
        Where to begin; how far ``data`` is filled.
    final : bool
        Nothing follows data[end - 1].
    columns : ColumnArrays
        ``TraceColumns.arrays``, with room for end // MIN_TRACE_BYTES more traces and
        end // MIN_REPLY_BYTES more replies.
    table : (size // MIN_ADDRESS_BYTES + 1, 2) uint64
        Addresses of the record in progress.
    numbered : (n, 2) uint64; n_numbered : int
        Addresses of address records.
    n_skipped : (256,) int64
        Records of other types, by type; counted here.
    memories : (1,) MEMORY

    Returns
    -------
    int
        DONE: all read, the stream has ended. NEED: more bytes from its ``pos`` on. CUT: the last
        record, at ``pos``, is longer than the stream. LOST: no header at ``pos``.
        BROKEN: the record there is refused. ADDRESS, TRACELB: such a record is there.
    """
    memory, places = memories[0], np.empty(40, np.int64)
    while True:
        memory.pos = pos
        if pos == end and final:
            return DONE
        if end - pos < HEADER_BYTES:
            return CUT if final else NEED
        if not _is_magic(data, pos):
            return LOST
        kind = read_u16(data, pos + 2)
        length = read_u32(data, pos + 4)
        if kind == 0 or kind > MAX_TYPE or length > MAX_RECORD:
            return LOST
        body = pos + HEADER_BYTES
        next_pos = body + length
        if next_pos > end:
            return CUT if final else NEED
        if next_pos + 2 > end and not final:
            return NEED
        fits = next_pos == end or (next_pos + 2 <= end and _is_magic(data, next_pos))
        if kind == TYPE_TRACE:
            behind = _trace(
                data, body, next_pos, columns, table, numbered, n_numbered, places, memory
            )
            if behind < 0:
                return BROKEN
            # A wrong length must not swallow the records after this one.
            pos = next_pos if fits else behind
        elif not fits:
            memory.reason = BAD_LENGTH
            return BROKEN
        elif kind == TYPE_ADDRESS:
            return ADDRESS
        elif kind == TYPE_TRACELB:
            return TRACELB
        else:
            n_skipped[kind] += 1
            pos = next_pos


@njit(cache=True, nogil=True)
def find_record(data, pos, end, final):
    """Look for the next place at or after ``pos`` where a record begins and leads to another.

    Returns
    -------
    int, int
        DONE: found, at that position. NEED: whether a record begins there depends on bytes that
        are not here yet. LOST: none to the end of the stream.
    """
    while pos + HEADER_BYTES <= end:
        if _is_magic(data, pos):
            kind = read_u16(data, pos + 2)
            length = read_u32(data, pos + 4)
            if 0 < kind <= MAX_TYPE and length <= MAX_RECORD:
                next_pos = pos + HEADER_BYTES + length
                if next_pos + 2 <= end:
                    if _is_magic(data, next_pos):
                        return DONE, pos
                elif not final:
                    return NEED, pos
                elif next_pos == end:
                    return DONE, pos
        pos += 1
    return (LOST if final else NEED), min(pos, end)
