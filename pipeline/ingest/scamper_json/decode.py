"""Decode scamper's JSON traces in place: compiled, no Python object a record or a hop.

Only records that are usual in every respect are taken here; whatever is broken, unusual or of
another type goes back to the caller as a piece of text (``SLOW``). What both ways accept must give
the same columns: a test compares them on mutated text.
"""
# Kernels compare bytes one by one: tuples and generators would cost time here.
# ruff: noqa: SIM110

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.ingest.columns import N_NO_ADDR, N_REPLIES, N_TRACES
from pipeline.ingest.icmp import reply_kind, sort_by_ttl
from pipeline.ingest.scamper_json.scan import (
    MORE,
    UNSURE,
    read_address,
    read_decimal,
    read_int,
    skip_space,
    skip_string,
    skip_value,
    to_value,
)
from pipeline.model.traces import KIND_OTHER

# Why ``decode`` came back.
DONE, NEED, SLOW, END_OF_ARRAY = range(4)
# Places in ``memory``.
M_POS, M_LINE, M_ARRAY, M_EXPECTS_COMMA = range(4)

MIN_TRACE_BYTES = MIN_REPLY_BYTES = 24  # {"addr":"::","probe_ttl":1} is 27
MAX_RTT_MS = 1e9

_QUOTE, _COMMA, _STAR = 0x22, 0x2C, 0x2A
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY = 0x7B, 0x7D, 0x5B, 0x5D


def _word(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


_TYPE, _SRC, _DST, _START, _HOPS = map(_word, (b"type", b"src", b"dst", b"start", b"hops"))
_TRACE, _SEC, _USEC = map(_word, (b"trace", b"sec", b"usec"))
_ADDR, _PROBE_TTL, _RTT = map(_word, (b"addr", b"probe_ttl", b"rtt"))
_ICMP_TYPE, _ICMP_CODE = map(_word, (b"icmp_type", b"icmp_code"))

# Numbers of a record in progress, in ``ints``.
I_SEC, I_USEC, I_TTL, I_TYPE, I_CODE = range(5)


@njit(cache=True, nogil=True)
def _is(data, pos, length, word):
    if length != len(word):
        return False
    for i in range(len(word)):
        if data[pos + i] != word[i]:
            return False
    return True


@njit(cache=True, nogil=True)
def _start(data, pos, end, newlines, ints):
    """Read {"sec":.., "usec":..}; behind its closing bracket."""
    if data[pos] != _OPEN_OBJECT:
        return UNSURE
    pos += 1
    seen = 0
    while True:
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE
        if data[pos] != _QUOTE:
            return UNSURE
        key = pos + 1
        pos = skip_string(data, key, end)
        if pos < 0:
            return pos
        length = pos - 1 - key
        pos = to_value(data, pos, end, newlines)
        if pos < 0:
            return pos
        if _is(data, key, length, _SEC):
            bit, place = 1, I_SEC
        elif _is(data, key, length, _USEC):
            bit, place = 2, I_USEC
        else:
            bit, place = 0, 0
        if bit:
            if seen & bit:
                return UNSURE
            seen |= bit
            pos = read_int(data, pos, end, ints, place)
            if pos >= 0 and ints[place] >= 1 << 32:
                return UNSURE
        else:
            pos = skip_value(data, pos, end, newlines)
        if pos < 0:
            return pos
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE
        if data[pos] == _CLOSE_OBJECT:
            return pos + 1 if seen == 3 else UNSURE
        if data[pos] != _COMMA:
            return UNSURE
        pos += 1


@njit(cache=True, nogil=True)
def _hop(data, pos, end, newlines, columns, reply, ints, floats):
    """Read one hop object into row ``reply``; behind its bracket.

    ints[I_TTL] becomes 0 where the hop has no address, so that it is no reply.
    """
    ttl, addr, rtt_ms, kind = columns.ttl, columns.addr, columns.rtt_ms, columns.kind
    seen = 0
    answered = True
    ints[I_CODE] = 0
    floats[0] = np.nan
    while True:
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE
        if data[pos] != _QUOTE:
            return UNSURE
        key = pos + 1
        pos = skip_string(data, key, end)
        if pos < 0:
            return pos
        length = pos - 1 - key
        pos = to_value(data, pos, end, newlines)
        if pos < 0:
            return pos
        bit = 0
        if length == 4:
            if _is(data, key, length, _ADDR):
                bit = 1
                if data[pos] != _QUOTE:
                    return UNSURE
                first = pos + 1
                pos = skip_string(data, first, end)
                if pos < 0:
                    return pos
                stop = pos - 1
                if stop == first or (stop == first + 1 and data[first] == _STAR):
                    answered = False
                elif not read_address(data, first, stop, addr, reply):
                    return UNSURE
        elif length == 9:
            if _is(data, key, length, _PROBE_TTL):
                bit = 2
                pos = read_int(data, pos, end, ints, I_TTL)
            elif _is(data, key, length, _ICMP_TYPE):
                bit = 4
                pos = read_int(data, pos, end, ints, I_TYPE)
            elif _is(data, key, length, _ICMP_CODE):
                bit = 8
                pos = read_int(data, pos, end, ints, I_CODE)
        elif length == 3 and _is(data, key, length, _RTT):
            bit = 16
            pos = read_decimal(data, pos, end, floats, 0)
        if bit == 0:
            pos = skip_value(data, pos, end, newlines)
        elif seen & bit:
            return UNSURE
        seen |= bit
        if pos < 0:
            return pos
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE
        if data[pos] == _CLOSE_OBJECT:
            break
        if data[pos] != _COMMA:
            return UNSURE
        pos += 1
    if seen & 3 != 3 or ints[I_TTL] < 1 or ints[I_TTL] > 255:
        return UNSURE
    if ints[I_CODE] > 255 or (seen & 4 and ints[I_TYPE] > 255) or floats[0] >= MAX_RTT_MS:
        return UNSURE
    if not answered:
        ints[I_TTL] = 0
        return pos + 1
    ttl[reply] = ints[I_TTL]
    rtt_ms[reply] = floats[0]
    if seen & 4:
        is_v4 = addr[reply, 0] == 0 and (addr[reply, 1] >> np.uint64(32)) == np.uint64(0xFFFF)
        kind[reply] = reply_kind(is_v4, ints[I_TYPE], ints[I_CODE])
    else:
        kind[reply] = KIND_OTHER
    return pos + 1


@njit(cache=True, nogil=True)
def _record(data, pos, end, newlines, columns, ints, floats):
    """Read the object at ``pos`` behind what ``columns`` hold; behind its bracket.

    The columns' counts advance only when the caller says so: count[N_TRACES] stays, ints[5] is the
    number of replies and ints[6] that of hops without an address.
    """
    src_addr, dst_addr, start_s, _, ttl, addr, rtt_ms, kind, count = columns
    row, first_reply = count[N_TRACES], count[N_REPLIES]
    reply = first_reply
    n_no_addr = 0
    seen = 0
    is_sorted = True
    src_addr[row, 0] = np.uint64(0)
    src_addr[row, 1] = np.uint64(0)
    ints[I_SEC] = 0
    ints[I_USEC] = 0
    pos += 1
    while True:
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE
        if data[pos] != _QUOTE:
            return UNSURE
        key = pos + 1
        pos = skip_string(data, key, end)
        if pos < 0:
            return pos
        length = pos - 1 - key
        pos = to_value(data, pos, end, newlines)
        if pos < 0:
            return pos
        bit = 0
        if length == 3 and (_is(data, key, length, _SRC) or _is(data, key, length, _DST)):
            is_src = data[key] == _SRC[0]
            bit = 1 if is_src else 2
            if data[pos] != _QUOTE:
                return UNSURE
            first = pos + 1
            pos = skip_string(data, first, end)
            if pos < 0:
                return pos
            if not read_address(data, first, pos - 1, src_addr if is_src else dst_addr, row):
                return UNSURE
        elif length == 4 and _is(data, key, length, _TYPE):
            bit = 4
            if data[pos] != _QUOTE:
                return UNSURE
            first = pos + 1
            pos = skip_string(data, first, end)
            if pos < 0:
                return pos
            if not _is(data, first, pos - 1 - first, _TRACE):
                return UNSURE
        elif length == 5 and _is(data, key, length, _START):
            bit = 8
            pos = _start(data, pos, end, newlines, ints)
        elif length == 4 and _is(data, key, length, _HOPS):
            bit = 16
            if seen & 16 or data[pos] != _OPEN_ARRAY:
                return UNSURE
            pos = skip_space(data, pos + 1, end, newlines)
            if pos >= end:
                return MORE
            if data[pos] == _CLOSE_ARRAY:
                pos += 1
            else:
                while True:
                    if data[pos] != _OPEN_OBJECT:
                        return UNSURE
                    pos = _hop(data, pos + 1, end, newlines, columns, reply, ints, floats)
                    if pos < 0:
                        return pos
                    if ints[I_TTL]:
                        if reply > first_reply and ttl[reply] < ttl[reply - 1]:
                            is_sorted = False
                        reply += 1
                    else:
                        n_no_addr += 1
                    pos = skip_space(data, pos, end, newlines)
                    if pos >= end:
                        return MORE
                    if data[pos] == _CLOSE_ARRAY:
                        pos += 1
                        break
                    if data[pos] != _COMMA:
                        return UNSURE
                    pos = skip_space(data, pos + 1, end, newlines)
                    if pos >= end:
                        return MORE
        else:
            pos = skip_value(data, pos, end, newlines)
        if bit and seen & bit:
            return UNSURE
        seen |= bit
        if pos < 0:
            return pos
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE
        if data[pos] == _CLOSE_OBJECT:
            break
        if data[pos] != _COMMA:
            return UNSURE
        pos += 1
    if seen & 6 != 6:
        return UNSURE
    start_s[row] = ints[I_SEC] + ints[I_USEC] / 1e6
    if not is_sorted:
        sort_by_ttl(ttl, addr, rtt_ms, kind, first_reply, reply)
    ints[5] = reply
    ints[6] = n_no_addr
    return pos + 1


@njit(cache=True, nogil=True)
def decode(data, pos, end, final, columns, memory):
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
    memory : (4,) int64
        memory[M_LINE]: line that is being read, counted here from what the caller gave;
        memory[M_ARRAY]: 1 when records are elements of an array; memory[M_EXPECTS_COMMA]: 1 when
        one was read; memory[M_POS]: where the caller finds the cause.

    Returns
    -------
    int
        DONE: all read, the stream has ended. NEED: more bytes from memory[M_POS] on. SLOW: what
        begins at memory[M_POS] is not for here. END_OF_ARRAY: its bracket is at memory[M_POS].
    """
    count, reply_ptr = columns.count, columns.reply_ptr
    ints = np.zeros(7, np.int64)
    floats = np.zeros(1, np.float64)
    newlines = memory[M_ARRAY] == 1
    while True:
        while pos < end and (
            data[pos] == 32 or data[pos] == 9 or data[pos] == 13 or data[pos] == 10
        ):
            if data[pos] == 10:
                memory[M_LINE] += 1
            pos += 1
        memory[M_POS] = pos
        if pos >= end:
            return DONE if final else NEED
        if newlines:
            if data[pos] == _CLOSE_ARRAY:
                return END_OF_ARRAY
            if memory[M_EXPECTS_COMMA]:
                if data[pos] != _COMMA:
                    return SLOW
                memory[M_EXPECTS_COMMA] = 0
                pos += 1
                continue
        if data[pos] != _OPEN_OBJECT:
            return SLOW
        first = pos
        pos = _record(data, pos, end, newlines, columns, ints, floats)
        if pos == MORE and not final:
            return NEED
        if pos < 0:
            return SLOW
        if not newlines:
            # What follows on the line must be nothing or another record, or all of it is odd.
            behind = skip_space(data, pos, end, False)
            if behind >= end and not final:
                return NEED
            if behind < end and data[behind] != 10 and data[behind] != _OPEN_OBJECT:
                return SLOW
        else:
            for at in range(first, pos):
                if data[at] == 10:
                    memory[M_LINE] += 1
            memory[M_EXPECTS_COMMA] = 1
        count[N_NO_ADDR] += ints[6]
        count[N_REPLIES] = ints[5]
        count[N_TRACES] += 1
        reply_ptr[count[N_TRACES]] = ints[5]
