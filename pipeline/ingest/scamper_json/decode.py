"""Decode scamper's JSON traces in place: compiled, no Python object per record or hop.

Only records that are usual in every respect are decoded here; anything broken, unusual or of
another type goes back to the caller as a piece of text (``SLOW``). Whatever both parsers accept
must give the same columns: a test compares them on mutated text.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.ingest.icmp import reply_kind, sort_by_ttl
from pipeline.ingest.scamper_json.extensions import read_extensions
from pipeline.ingest.scamper_json.scan import (
    CLOSE_ARRAY,
    CLOSE_OBJECT,
    COMMA,
    MORE,
    OPEN_ARRAY,
    OPEN_OBJECT,
    QUOTE,
    UNSURE,
    is_word,
    read_address,
    read_decimal,
    read_int,
    skip_space,
    skip_string,
    skip_value,
    to_value,
)
from pipeline.model.measured.traces import CLASSIC_TRACE, KIND_OTHER, LABELLED

# Why ``decode`` returned.
DONE, NEED, SLOW, END_OF_ARRAY = range(4)
MEMORY = np.dtype(
    [
        ("pos", np.int64),  # where the caller finds the cause
        ("line", np.int64),  # that is being read
        ("in_array", np.bool_),  # records are elements of an array
        ("expects_comma", np.bool_),  # one of them was read
    ],
    align=True,
)

MIN_TRACE_BYTES = 24
# {"addr":"::","probe_ttl":1} is 27; a probe of a tracelb record takes 35, and may be two replies.
MIN_REPLY_BYTES = 17
MAX_RTT_MS = 1e9

_STAR = 0x2A


def _word(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


_TYPE, _SRC, _DST, _START, _HOPS = map(_word, (b"type", b"src", b"dst", b"start", b"hops"))
_TRACE, _SEC, _USEC = map(_word, (b"trace", b"sec", b"usec"))
_ADDR, _PROBE_TTL, _RTT = map(_word, (b"addr", b"probe_ttl", b"rtt"))
_ICMP_TYPE, _ICMP_CODE = map(_word, (b"icmp_type", b"icmp_code"))
_REPLY_TTL = _word(b"reply_ttl")
_ICMPEXT = _word(b"icmpext")
_METHOD, _CLASSIC_ICMP, _CLASSIC_UDP = map(_word, (b"method", b"icmp-echo", b"udp"))


@njit(cache=True, nogil=True)
def _start(data, pos, end, newlines):
    """Read {"sec":.., "usec":..}: the position after it, and the seconds."""
    if data[pos] != OPEN_OBJECT:
        return UNSURE, 0.0
    pos += 1
    seen = 0
    sec = usec = np.int64(0)
    while True:
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE, 0.0
        if data[pos] != QUOTE:
            return UNSURE, 0.0
        key = pos + 1
        pos = skip_string(data, key, end)
        if pos < 0:
            return pos, 0.0
        length = pos - 1 - key
        pos = to_value(data, pos, end, newlines)
        if pos < 0:
            return pos, 0.0
        if is_word(data, key, length, _SEC):
            bit = 1
        elif is_word(data, key, length, _USEC):
            bit = 2
        else:
            bit = 0
        if bit:
            if seen & bit:
                return UNSURE, 0.0
            seen |= bit
            pos, value = read_int(data, pos, end)
            if pos >= 0 and value >= 1 << 32:
                return UNSURE, 0.0
            if bit == 1:
                sec = value
            else:
                usec = value
        else:
            pos = skip_value(data, pos, end, newlines)
        if pos < 0:
            return pos, 0.0
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE, 0.0
        if data[pos] == CLOSE_OBJECT:
            return (pos + 1 if seen == 3 else UNSURE), sec + usec / 1e6
        if data[pos] != COMMA:
            return UNSURE, 0.0
        pos += 1


@njit(cache=True, nogil=True)
def _hop(data, pos, end, newlines, columns, reply):
    """Read one hop object into row ``reply``: the position after it, and whether it is a reply.

    It is not a reply if it has no address.
    """
    ttl, addr, rtt_ms, kind = columns.ttl, columns.addr, columns.rtt_ms, columns.kind
    seen = 0
    answered, labelled = True, False
    hop_ttl = icmp_type = icmp_code = reply_ttl = np.int64(0)
    hop_rtt_ms = np.nan
    while True:
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE, False
        if data[pos] != QUOTE:
            return UNSURE, False
        key = pos + 1
        pos = skip_string(data, key, end)
        if pos < 0:
            return pos, False
        length = pos - 1 - key
        pos = to_value(data, pos, end, newlines)
        if pos < 0:
            return pos, False
        bit = 0
        if length == 4:
            if is_word(data, key, length, _ADDR):
                bit = 1
                if data[pos] != QUOTE:
                    return UNSURE, False
                first = pos + 1
                pos = skip_string(data, first, end)
                if pos < 0:
                    return pos, False
                stop = pos - 1
                if stop == first or (stop == first + 1 and data[first] == _STAR):
                    answered = False
                elif not read_address(data, first, stop, addr, reply):
                    return UNSURE, False
        elif length == 9:
            if is_word(data, key, length, _PROBE_TTL):
                bit = 2
                pos, hop_ttl = read_int(data, pos, end)
            elif is_word(data, key, length, _ICMP_TYPE):
                bit = 4
                pos, icmp_type = read_int(data, pos, end)
            elif is_word(data, key, length, _ICMP_CODE):
                bit = 8
                pos, icmp_code = read_int(data, pos, end)
            elif is_word(data, key, length, _REPLY_TTL):
                bit = 64
                pos, reply_ttl = read_int(data, pos, end)
        elif length == 3 and is_word(data, key, length, _RTT):
            bit = 16
            pos, hop_rtt_ms = read_decimal(data, pos, end)
        elif length == 7 and is_word(data, key, length, _ICMPEXT):
            bit = 32
            pos, labelled = read_extensions(data, pos, end, newlines)
        if bit == 0:
            pos = skip_value(data, pos, end, newlines)
        elif seen & bit:
            return UNSURE, False
        seen |= bit
        if pos < 0:
            return pos, False
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE, False
        if data[pos] == CLOSE_OBJECT:
            break
        if data[pos] != COMMA:
            return UNSURE, False
        pos += 1
    if seen & 3 != 3 or hop_ttl < 1 or hop_ttl > 255:
        return UNSURE, False
    if icmp_code > 255 or (seen & 4 and icmp_type > 255) or hop_rtt_ms >= MAX_RTT_MS:
        return UNSURE, False
    if reply_ttl > 255:
        return UNSURE, False
    if not answered:
        return pos + 1, False
    ttl[reply] = hop_ttl
    rtt_ms[reply] = hop_rtt_ms
    columns.reply_ttl[reply] = reply_ttl
    if seen & 4:
        is_v4 = addr[reply, 0] == 0 and (addr[reply, 1] >> np.uint64(32)) == np.uint64(0xFFFF)
        kind[reply] = reply_kind(is_v4, icmp_type, icmp_code)
    else:
        kind[reply] = KIND_OTHER
    if labelled:
        kind[reply] |= LABELLED
    return pos + 1, True


@njit(cache=True, nogil=True)
def _record(data, pos, end, newlines, columns):
    """Read the object at ``pos`` into the rows after those of ``columns``, whose counts stay.

    Returns the position after its bracket, the new ``n_replies``, the number of hops without an
    address, and whether the method is a classic one.
    """
    src_addr, dst_addr, start_s, _, ttl, addr, rtt_ms, kind, reply_ttl, _, counts = columns
    row, first_reply = counts[0].n_traces, counts[0].n_replies
    reply = first_reply
    n_no_addr = np.int64(0)
    seen = 0
    is_sorted, is_classic = True, False
    src_addr[row, 0] = np.uint64(0)
    src_addr[row, 1] = np.uint64(0)
    seconds = 0.0
    pos += 1
    while True:
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE, reply, n_no_addr, is_classic
        if data[pos] != QUOTE:
            return UNSURE, reply, n_no_addr, is_classic
        key = pos + 1
        pos = skip_string(data, key, end)
        if pos < 0:
            return pos, reply, n_no_addr, is_classic
        length = pos - 1 - key
        pos = to_value(data, pos, end, newlines)
        if pos < 0:
            return pos, reply, n_no_addr, is_classic
        bit = 0
        if length == 3 and (is_word(data, key, length, _SRC) or is_word(data, key, length, _DST)):
            is_src = data[key] == _SRC[0]
            bit = 1 if is_src else 2
            if data[pos] != QUOTE:
                return UNSURE, reply, n_no_addr, is_classic
            first = pos + 1
            pos = skip_string(data, first, end)
            if pos < 0:
                return pos, reply, n_no_addr, is_classic
            if not read_address(data, first, pos - 1, src_addr if is_src else dst_addr, row):
                return UNSURE, reply, n_no_addr, is_classic
        elif length == 4 and is_word(data, key, length, _TYPE):
            bit = 4
            if data[pos] != QUOTE:
                return UNSURE, reply, n_no_addr, is_classic
            first = pos + 1
            pos = skip_string(data, first, end)
            if pos < 0:
                return pos, reply, n_no_addr, is_classic
            if not is_word(data, first, pos - 1 - first, _TRACE):
                return UNSURE, reply, n_no_addr, is_classic
        elif length == 5 and is_word(data, key, length, _START):
            bit = 8
            pos, seconds = _start(data, pos, end, newlines)
        elif length == 4 and is_word(data, key, length, _HOPS):
            bit = 16
            if seen & 16 or data[pos] != OPEN_ARRAY:
                return UNSURE, reply, n_no_addr, is_classic
            pos = skip_space(data, pos + 1, end, newlines)
            if pos >= end:
                return MORE, reply, n_no_addr, is_classic
            if data[pos] == CLOSE_ARRAY:
                pos += 1
            else:
                while True:
                    if data[pos] != OPEN_OBJECT:
                        return UNSURE, reply, n_no_addr, is_classic
                    pos, is_reply = _hop(data, pos + 1, end, newlines, columns, reply)
                    if pos < 0:
                        return pos, reply, n_no_addr, is_classic
                    if is_reply:
                        if reply > first_reply and ttl[reply] < ttl[reply - 1]:
                            is_sorted = False
                        reply += 1
                    else:
                        n_no_addr += 1
                    pos = skip_space(data, pos, end, newlines)
                    if pos >= end:
                        return MORE, reply, n_no_addr, is_classic
                    if data[pos] == CLOSE_ARRAY:
                        pos += 1
                        break
                    if data[pos] != COMMA:
                        return UNSURE, reply, n_no_addr, is_classic
                    pos = skip_space(data, pos + 1, end, newlines)
                    if pos >= end:
                        return MORE, reply, n_no_addr, is_classic
        elif length == 6 and is_word(data, key, length, _METHOD) and data[pos] == QUOTE:
            bit = 32
            first = pos + 1
            pos = skip_string(data, first, end)
            length = pos - 1 - first
            is_classic = pos > 0 and (
                is_word(data, first, length, _CLASSIC_ICMP)
                or is_word(data, first, length, _CLASSIC_UDP)
            )
        else:
            pos = skip_value(data, pos, end, newlines)
        if bit and seen & bit:
            return UNSURE, reply, n_no_addr, is_classic
        seen |= bit
        if pos < 0:
            return pos, reply, n_no_addr, is_classic
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE, reply, n_no_addr, is_classic
        if data[pos] == CLOSE_OBJECT:
            break
        if data[pos] != COMMA:
            return UNSURE, reply, n_no_addr, is_classic
        pos += 1
    if seen & 6 != 6:
        return UNSURE, reply, n_no_addr, is_classic
    start_s[row] = seconds
    if not is_sorted:
        sort_by_ttl(ttl, addr, rtt_ms, kind, reply_ttl, first_reply, reply)
    return pos + 1, reply, n_no_addr, is_classic


@njit(cache=True, nogil=True)
def decode(data, pos, end, final, columns, memories):
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
    memories : (1,) MEMORY
        Its line is counted here from what the caller gave.

    Returns
    -------
    int
        DONE: all read, the stream has ended. NEED: more bytes from its ``pos`` on. SLOW: what
        begins at ``pos`` is not for here. END_OF_ARRAY: its bracket is at ``pos``.
    """
    memory, count, reply_ptr = memories[0], columns.counts[0], columns.reply_ptr
    newlines = memory.in_array
    while True:
        while pos < end and (
            data[pos] == 32 or data[pos] == 9 or data[pos] == 13 or data[pos] == 10
        ):
            if data[pos] == 10:
                memory.line += 1
            pos += 1
        memory.pos = pos
        if pos >= end:
            return DONE if final else NEED
        if newlines:
            if data[pos] == CLOSE_ARRAY:
                return END_OF_ARRAY
            if memory.expects_comma:
                if data[pos] != COMMA:
                    return SLOW
                memory.expects_comma = False
                pos += 1
                continue
        if data[pos] != OPEN_OBJECT:
            return SLOW
        first = pos
        pos, n_replies, n_no_addr, is_classic = _record(data, pos, end, newlines, columns)
        if pos == MORE and not final:
            return NEED
        if pos < 0:
            return SLOW
        if not newlines:
            # The rest of the line must be empty or another record, or the whole line is odd.
            behind = skip_space(data, pos, end, False)
            if behind >= end and not final:
                return NEED
            if behind < end and data[behind] != 10 and data[behind] != OPEN_OBJECT:
                return SLOW
        else:
            for at in range(first, pos):
                if data[at] == 10:
                    memory.line += 1
            memory.expects_comma = True
        count.n_no_addr += n_no_addr
        count.n_replies = n_replies
        columns.part[count.n_traces] = CLASSIC_TRACE if is_classic else 0
        count.n_traces += 1
        reply_ptr[count.n_traces] = n_replies
