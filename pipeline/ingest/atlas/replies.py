"""Compiled scanner of the replies of one hop; see ``scan``."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.ingest.atlas.extensions import has_labels
from pipeline.ingest.atlas.grammar import (
    MORE,
    OK,
    key_word,
    next_member,
    read_key,
    skip_blank,
    skip_value,
)
from pipeline.ingest.text.addresses import scan_addr
from pipeline.ingest.text.digits import PARSED, scan_float, scan_int
from pipeline.model.measured.traces import KIND_OTHER, KIND_UNKNOWN, KIND_UNREACHABLE, LABELLED

_FROM, _RTT, _X, _ERR = key_word("from"), key_word("rtt"), key_word("x"), key_word("err")
_TTL = key_word("ttl")
_LATE, _DUP, _EDST, _ERROR = key_word("late"), key_word("dup"), key_word("edst"), key_word("error")
_ICMPEXT, _FLAGS = key_word("icmpext"), key_word("flags")


@njit(cache=True, nogil=True)
def _reply(text, i, n, k, addr, rtt_ms, kind, reply_ttl, stack, scan):
    """One reply, written to row ``k`` if it is one: (position, status, rows)."""
    from_start = from_stop = left = np.int64(0)
    rtt = np.nan
    has_x = has_error = has_late = has_dup = has_err = has_edst = has_ext = has_flags = False
    labelled = False
    if text[i] != 123:
        scan.is_odd = True
        i, status = skip_value(text, i, n, stack, scan)
        return i, status, 0
    i = skip_blank(text, i + 1, n)
    if i < n and text[i] == 125:
        scan.no_addr += 1
        return i + 1, OK, 0
    while True:
        i, status, key, size = read_key(text, i, n, scan)
        if status != OK:
            return i, status, 0
        start = i
        i, status = skip_value(text, i, n, stack, scan)
        if status != OK:
            return i, status, 0
        if key == _FROM and size == 4:
            if text[start] == 34:
                from_start, from_stop = start + 1, i - 1
            else:
                scan.is_odd = True
        elif key == _RTT and size == 3:
            rtt, known = scan_float(text, start, i)
            if known != PARSED or rtt < 0 or rtt > 1e9:
                scan.is_odd = True
        elif key == _TTL and size == 3:
            left, known = scan_int(text, start, i)
            if known != PARSED or left < 0 or left > 255:
                scan.is_odd = True
        elif key == _X and size == 1:
            has_x = True
        elif key == _ERROR and size == 5:
            has_error = True
        elif key == _LATE and size == 4:
            has_late = True
        elif key == _DUP and size == 3:
            has_dup = True
        elif key == _ERR and size == 3:
            has_err = True
        elif key == _EDST and size == 4:
            has_edst = True
        elif key == _ICMPEXT and size == 7:
            has_ext, labelled = True, has_labels(text, start, n, stack, scan)
        elif key == _FLAGS and size == 5:
            has_flags = True
        i, status, closed = next_member(text, i, n, 125)
        if status != OK:
            return i, status, 0
        if closed:
            break
    if has_x:
        scan.unanswered += 1
        return i, OK, 0
    if has_error:
        scan.not_sent += 1
        return i, OK, 0
    if from_start == from_stop:
        scan.no_addr += 1
        return i, OK, 0
    if has_late:
        scan.late += 1
        return i, OK, 0
    if has_dup:
        scan.dup += 1
        return i, OK, 0
    if has_edst:
        scan.edst += 1
        return i, OK, 0
    if k >= len(kind) or not scan_addr(text, from_start, from_stop, addr, k):
        scan.is_odd = True
        return i, OK, 0
    rtt_ms[k] = rtt
    reply_ttl[k] = left
    kind[k] = KIND_UNREACHABLE if has_err else KIND_OTHER if has_flags else KIND_UNKNOWN
    if labelled:
        kind[k] |= LABELLED
    scan.err += has_err
    scan.icmpext += has_ext
    scan.no_rtt += np.isnan(rtt)
    return i, OK, 1


@njit(cache=True, nogil=True)
def scan_replies(text, i, n, k, addr, rtt_ms, kind, reply_ttl, stack, scan):
    """The list of replies of a hop: (position, status, rows)."""
    first = k
    if text[i] != 91:
        scan.is_odd = True
        i, status = skip_value(text, i, n, stack, scan)
        return i, status, 0
    i = skip_blank(text, i + 1, n)
    if i < n and text[i] == 93:
        return i + 1, OK, 0
    while True:
        if i >= n:
            return i, MORE, 0
        i, status, rows = _reply(text, i, n, k, addr, rtt_ms, kind, reply_ttl, stack, scan)
        k += rows
        if status != OK:
            return i, status, 0
        i, status, closed = next_member(text, i, n, 93)
        if status != OK or closed:
            return i, status, k - first
