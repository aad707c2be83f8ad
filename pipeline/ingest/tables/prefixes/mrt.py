"""RIBs of route collectors in MRT (RFC 6396, RFC 8050): prefixes, and how many peers see an origin.

Read are TABLE_DUMP_V2 (unicast, IPv4 and IPv6, with and without additional paths) and the older
TABLE_DUMP; other records are counted. The origin of a path is the last AS of its last segment that
is no confederation; of a set the smallest number. Bits beyond a prefix's length mean nothing (RFC
6396, 4.3.2). In TABLE_DUMP a path of 2-byte numbers that ends with AS_TRANS is that of AS4_PATH.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numba import njit

from pipeline.errors import FormatError
from pipeline.ingest.tables.lines import Blocks
from pipeline.ingest.tables.prefixes.origins import Prefixes
from pipeline.model.addresses import V4_PREFIX
from pipeline.model.measured.reading import ReadReport

_HEADER = 12
_MOST_BYTES = 1 << 24  # of a record: 65,535 paths of 250 bytes
_LEAST_PER_ROW = 12  # bytes in which a prefix and an origin fit
_TABLE_DUMP, _TABLE_DUMP_V2 = 12, 13
_TYPES = frozenset({11, 12, 13, 16, 17, 32, 33, 48, 49})
_AS_TRANS = 23456
_MOST_ORIGINS = 64  # of one prefix in one record; further ones are not counted
_MAPPED = np.uint64(int(V4_PREFIX))
_U8 = np.uint64(8)
_ZERO = np.uint64(0)

# What _scan counts.
_N_RECORDS, _N_OTHER, _N_INDEX, _N_PATHLESS, _N_SETS, _N_BROKEN, _N_DEFAULT, _N_MAPPED = range(8)
_WORDS = {
    _N_BROKEN: "broken record",
    _N_DEFAULT: "a default route",
    _N_MAPPED: "covers IPv4-mapped space",
}


def is_mrt(head: bytes) -> bool:
    """Whether a file that begins so holds MRT records."""
    if len(head) < _HEADER:
        return False
    kind, subtype, length = (int.from_bytes(head[a:b], "big") for a, b in ((4, 6), (6, 8), (8, 12)))
    return kind in _TYPES and subtype < 16 and length <= _MOST_BYTES


def read_mrt(head: bytes, blocks: Blocks, report: ReadReport, found: Prefixes) -> None:
    """Add the prefixes of one RIB with the number of peers for each origin.

    Parameters
    ----------
    head : bytes
        A block that was read already.
    blocks : iterable of bytes
    report : ReadReport
        Prefixes as ``n_records``.
    found : Prefixes
    """
    counts = np.zeros(8, np.int64)
    n_bytes, fault, rest = 0, "", b""
    try:
        for block in chain([head], blocks):
            text = rest + block
            used, is_sound = _take(np.frombuffer(text, np.uint8), counts, found)
            n_bytes += used
            rest = text[used:]
            if not is_sound:
                fault, rest = "damaged", b""
                break
    except FormatError as error:
        report.refuse(error, partly=bool(counts[_N_RECORDS]))
        rest = b""
    if rest:
        fault = "cut short; copy the file again"
    if fault:
        where = f"byte {n_bytes} of the decompressed records"
        report.refuse(f"{where}: {fault}", partly=bool(counts[_N_RECORDS]))
    report.n_records += int(counts[_N_RECORDS])
    for which, reason in _WORDS.items():
        if counts[which]:
            report.reject("file", reason, count=int(counts[which]))
    if counts[_N_OTHER]:
        report.skip("MRT records that are no unicast RIB", int(counts[_N_OTHER]))
    report.notes["AS set"] += int(counts[_N_SETS])
    report.notes["paths without an AS"] += int(counts[_N_PATHLESS])
    report.format = "mrt"
    if not report.n_records:
        report.refuse_empty(
            "no prefix in these MRT records; give a RIB (rib.*, bview.*), not updates"
        )


def _take(data: np.ndarray, counts: np.ndarray, found: Prefixes) -> tuple[int, bool]:
    """Add the whole records of a block; how many bytes they take, and whether all are sound."""
    room = len(data) // _LEAST_PER_ROW + 1
    words = np.empty((room, 2), np.uint64)
    bits, n_peers = np.empty(room, np.int64), np.empty(room, np.int64)
    origin = np.empty(room, np.int64)
    used, n, is_sound = _scan(data, counts, words, bits, origin, n_peers)
    found.add_votes(words[:n], bits[:n], origin[:n], n_peers[:n])
    return used, is_sound


def compile_kernels() -> None:
    """Compile the scanner, or load it from numba's cache."""
    _take(np.frombuffer(b"", np.uint8), np.zeros(8, np.int64), Prefixes())


@njit(cache=True, nogil=True)
def _number(data, at, n_bytes):
    value = np.int64(0)
    for i in range(at, at + n_bytes):
        value = (value << 8) | np.int64(data[i])
    return value


@njit(cache=True, nogil=True)
def _origin_of_path(data, at, stop, asn_bytes):
    """(AS, whether it is of a set of several) of a path; AS -1: none, -2: broken."""
    origin, is_set = np.int64(-1), False
    while at < stop:
        if at + 2 > stop:
            return np.int64(-2), False
        kind, n = data[at], np.int64(data[at + 1])
        at += 2
        if at + n * asn_bytes > stop:
            return np.int64(-2), False
        if n > 0 and kind == 2:
            origin, is_set = _number(data, at + (n - 1) * asn_bytes, asn_bytes), False
        elif n > 0 and kind == 1:
            origin, is_set = _number(data, at, asn_bytes), bool(n > 1)
            for i in range(1, n):
                origin = min(origin, _number(data, at + i * asn_bytes, asn_bytes))
        at += n * asn_bytes
    return origin, is_set


@njit(cache=True, nogil=True)
def _origin_of(data, at, stop, asn_bytes):
    """As ``_origin_of_path``, of the attributes of a path."""
    origin, is_set = np.int64(-1), False
    origin4, is_set4 = np.int64(-1), False
    while at < stop:
        if at + 4 > stop and (at + 3 > stop or data[at] & 0x10):
            return np.int64(-2), False
        is_long = data[at] & 0x10 != 0
        kind = data[at + 1]
        length = _number(data, at + 2, 2 if is_long else 1)
        at += 4 if is_long else 3
        if at + length > stop:
            return np.int64(-2), False
        if kind == 2:
            origin, is_set = _origin_of_path(data, at, at + length, asn_bytes)
        elif kind == 17 and asn_bytes == 2:
            origin4, is_set4 = _origin_of_path(data, at, at + length, 4)
        at += length
    if origin == _AS_TRANS and origin4 > 0:
        return origin4, is_set4
    return origin, is_set


@njit(cache=True, nogil=True)
def _prefix(data, at, length, is_v6, words, row):
    """Write the first address of a prefix whose bytes begin at ``at``; bits beyond it become 0."""
    high = _ZERO
    low = _ZERO
    n_bytes = (length + 7) // 8
    for i in range(16 if is_v6 else 4):
        byte = np.uint64(0)
        if i < n_bytes:
            byte = np.uint64(data[at + i])
        if i == n_bytes - 1 and length % 8 != 0:
            byte &= np.uint64((0xFF << (8 - length % 8)) & 0xFF)
        if is_v6 and i < 8:
            high = (high << _U8) | byte
        else:
            low = (low << _U8) | byte
    words[row, 0] = high
    words[row, 1] = low if is_v6 else low | _MAPPED


@njit(cache=True, nogil=True)
def covers_mapped(high, low, bits):
    """Whether an IPv6 prefix overlaps ::ffff:0:0/96, where IPv4 is kept."""
    if bits <= 64:
        return bits == 0 or high >> np.uint64(64 - bits) == _ZERO
    free = np.uint64(max(128 - bits, 32))
    return high == _ZERO and low >> free == _MAPPED >> free


@njit(cache=True, nogil=True)
def _scan(data, counts, words, bits, origin, n_peers):
    """Scan whole records. Returns (bytes used, rows written, whether the next one is sound)."""
    at, n, size = 0, 0, len(data)
    seen = np.empty(_MOST_ORIGINS, np.int64)
    votes = np.empty(_MOST_ORIGINS, np.int64)
    while at + _HEADER <= size:
        kind, subtype = _number(data, at + 4, 2), _number(data, at + 6, 2)
        length = _number(data, at + 8, 4)
        if length > _MOST_BYTES:
            return at, n, False
        begin, stop = at + _HEADER, at + _HEADER + length
        if stop > size:
            break
        at = stop
        is_old = kind == _TABLE_DUMP and (subtype == 1 or subtype == 2)
        is_v6 = subtype == (2 if is_old else 4) or (not is_old and subtype == 10)
        has_ids = subtype == 8 or subtype == 10
        is_new = kind == _TABLE_DUMP_V2 and (subtype == 2 or subtype == 4 or has_ids)
        if not is_old and not is_new:
            counts[_N_INDEX if kind == _TABLE_DUMP_V2 and subtype == 1 else _N_OTHER] += 1
            continue
        n_octets = 16 if is_v6 else 4
        i = begin + 4  # behind view and sequence number
        if is_old:
            i += n_octets
        if i + 3 > stop:
            counts[_N_BROKEN] += 1
            continue
        n_bits = np.int64(data[i])
        i += 1
        if n_bits > 8 * n_octets:
            counts[_N_BROKEN] += 1
            continue
        if n_bits == 0:
            counts[_N_DEFAULT] += 1
            continue
        n_entries = np.int64(1)
        if is_old:
            _prefix(data, begin + 4, n_bits, is_v6, words, n)
            i += 5  # behind status and time
        else:
            n_bytes = (n_bits + 7) >> 3
            if i + n_bytes + 2 > stop:
                counts[_N_BROKEN] += 1
                continue
            _prefix(data, i, n_bits, is_v6, words, n)
            i += int(n_bytes)
            n_entries = _number(data, i, 2)
            i += 2
        high, low = words[n, 0], words[n, 1]
        if is_v6 and covers_mapped(high, low, n_bits):
            counts[_N_MAPPED] += 1
            continue
        n_seen, last_peer, last_origin, is_broken = 0, np.int64(-1), np.int64(-1), False
        before = (n_octets + 2) if is_old else (10 if has_ids else 6)
        for _ in range(n_entries):
            if i + before + 2 > stop:
                is_broken = True
                break
            peer = np.int64(-2) if is_old else _number(data, i, 2)
            n_attributes = _number(data, i + before, 2)
            i += before + 2
            if i + n_attributes > stop:
                is_broken = True
                break
            asn, is_set = _origin_of(data, i, i + n_attributes, 2 if is_old else 4)
            i += n_attributes
            if asn == -2:
                is_broken = True
                break
            if asn <= 0:
                counts[_N_PATHLESS] += 1
                continue
            if peer == last_peer and asn == last_origin:  # an additional path
                continue
            last_peer, last_origin = peer, asn
            counts[_N_SETS] += is_set
            place = 0
            while place < n_seen and seen[place] != asn:
                place += 1
            if place == n_seen:
                if n_seen == _MOST_ORIGINS:
                    continue
                seen[place], votes[place] = asn, 0
                n_seen += 1
            votes[place] += 1
        counts[_N_BROKEN] += is_broken
        counts[_N_RECORDS] += n_seen > 0
        for place in range(n_seen):
            words[n, 0], words[n, 1] = high, low
            bits[n] = n_bits if is_v6 else n_bits + 96
            origin[n], n_peers[n] = seen[place], votes[place]
            n += 1
    return at, n, True
