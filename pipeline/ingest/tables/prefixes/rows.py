"""Rows of prefix tables in text: compiled for what is common, looked at closely for the rest."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.ingest.tables.prefixes.forms import BLANK, COMMA, COMMENTS, PFX2AS, Form, fields_of
from pipeline.ingest.tables.prefixes.mrt import covers_mapped
from pipeline.ingest.tables.prefixes.origins import Prefixes
from pipeline.ingest.text.addresses import scan_addr
from pipeline.model.addresses import MAPPED_V4, V4_PREFIX
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.intervals import Network

_FAST, _SLOW, _IGNORED, _SPECIAL = range(4)
_MOST_COLUMNS = 16  # that the compiled scanner keeps apart
_MAPPED, _MAPPED_END = np.uint64(int(V4_PREFIX)), np.uint64(int(V4_PREFIX) | 0xFFFF_FFFF)
_U1, _U32 = np.uint64(1), np.uint64(32)
_ZERO, _ONES = np.uint64(0), np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_ORIGIN = re.compile(r"(?:AS)?(\d{1,10})(?:\.(\d{1,5}))?", re.IGNORECASE)
_SET = re.compile(r"^\{([^{}]*)\}$")
# bdrmapIT writes numbers below 0 for what is no AS: exchange points, private and special ranges.
_NO_AS = re.compile(r"-\d{1,3}")
NO_AS = "marks that are no AS (below 0)"


class _Columns(NamedTuple):
    """Which column holds what; -1: none does."""

    prefix: int
    origin: int
    length: int
    last: int
    votes: int


class Rows:
    """Reads the rows of one table into ``found``."""

    def __init__(self, form: Form, report: ReadReport, found: Prefixes):
        self._form, self._report, self._found = form, report, found

    def take(self, text: bytes, first_line: int, n_headers: int = 0) -> None:
        """Read whole lines; the first ``n_headers`` rows are no rows of data."""
        form, report = self._form, self._report
        n_lines = text.count(b"\n")
        first, last = np.empty((2, n_lines, 2), np.uint64)
        bits, origin, votes = np.empty((3, n_lines), np.int64)
        kind, offset = np.empty(n_lines, np.uint8), np.empty(n_lines, np.int64)
        layout = (form.separator, form.n_columns, form.least_columns)
        columns = _Columns(form.prefix, form.origin, form.length, form.last, form.votes)
        outputs = (first, last, bits, origin, votes, kind, offset)
        _parse(np.frombuffer(text, np.uint8), *layout, columns, *outputs)
        kind[np.flatnonzero(kind != _IGNORED)[:n_headers]] = _IGNORED
        if n_special := int(np.count_nonzero(kind == _SPECIAL)):
            report.skip(NO_AS, n_special)
        fast = kind == _FAST
        report.n_records += int(np.count_nonzero(fast))
        if form.last >= 0:
            self._found.add_ranges(first[fast], last[fast], origin[fast])
        elif form.votes >= 0:
            self._found.add_votes(first[fast], bits[fast], origin[fast], votes[fast])
        else:
            self._found.add(first[fast], bits[fast], origin[fast])
        bounds = np.append(offset, len(text))
        for i in np.flatnonzero(kind == _SLOW).tolist():
            line = text[bounds[i] : bounds[i + 1]].decode("utf-8", "replace").strip()
            if line and not line.startswith(COMMENTS):
                try:
                    self._take_one(line)
                except ValueError as error:
                    report.reject(f"{form.place} {first_line + i}", str(error), line)

    def _take_one(self, line: str) -> None:
        """Read one row; ValueError with a fixed phrase if it is broken."""
        form, report = self._form, self._report
        fields = fields_of(line, form.separator)
        if len(fields) < form.least_columns or form.n_columns not in (0, len(fields)):
            raise ValueError(form.expected)
        networks = _networks(fields, form)
        if _NO_AS.fullmatch(fields[form.origin]):
            report.skip(NO_AS)
            return
        origins, has_set = _origins(fields[form.origin])
        report.n_records += 1
        report.notes["AS set"] += has_set
        report.notes["multi-origin"] += len(origins) > 1 and not has_set
        for network in networks:
            self._found.add_network(network, origins)


def _networks(fields: list[str], form: Form) -> list[Network]:
    """The prefix of a row, or the prefixes of its range."""
    text, _, bits = fields[form.prefix].partition("/")
    addr = _address(text)
    networks: list[Network] = []
    if form.last >= 0:
        last = _address(fields[form.last])
        if last.version != addr.version or int(last) < int(addr):
            raise ValueError("not a range")
        networks += ipaddress.summarize_address_range(addr, last)
    else:
        bits = fields[form.length] if form.length >= 0 else bits
        if not (bits.isascii() and bits.isdecimal()) or len(bits) > 3:
            raise ValueError("not a prefix length")
        if int(bits) > addr.max_prefixlen:
            raise ValueError("not a prefix length")
        if int(bits) == 0:
            raise ValueError("a default route")
        try:
            networks.append(ipaddress.ip_network((addr, int(bits))))
        except ValueError:
            raise ValueError("bits set beyond the prefix length") from None
    if any(network.prefixlen == 0 for network in networks):
        raise ValueError("a default route")
    for network in networks:
        if isinstance(network, ipaddress.IPv6Network) and network.overlaps(MAPPED_V4):
            raise ValueError("covers IPv4-mapped space")
    return networks


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        raise ValueError("not an address") from None


def _origins(text: str) -> tuple[tuple[int, ...], bool]:
    """ASes of an origin field, and whether one was a set; ValueError with a fixed phrase."""
    words = [_SET.sub(r"\1", one).split(",") for one in text.split("_")]
    numbers = [[_asn(word) for word in one] for one in words]
    return tuple(map(min, numbers)), any(len(one) > 1 for one in numbers)


def _asn(text: str) -> int:
    """The number of an AS, plain, after ``AS``, or as two numbers with a dot (RFC 5396)."""
    found = _ORIGIN.fullmatch(text) if text.isascii() else None
    if found is not None:
        high, low = int(found[1]), found[2]
        number = high if low is None else (high << 16) + int(low)
        is_well = low is None or max(high, int(low)) < 1 << 16
        if is_well and 0 < number <= MAX_ASN:
            return number
    raise ValueError("origin is not an AS number")


def compile_kernels() -> None:
    """Compile the scanner, or load it from numba's cache."""
    Rows(PFX2AS, ReadReport(""), Prefixes()).take(b"20.0.0.0 8 1\n", 1)


@njit(cache=True, nogil=True)
def _whole_number(data, start, stop, most):
    """The number in data[start:stop]; -1 if it is none, or above ``most``."""
    if stop <= start or stop - start > 10:
        return np.int64(-1)
    value = np.int64(0)
    for i in range(start, stop):
        if not 48 <= data[i] <= 57:
            return np.int64(-1)
        value = 10 * value + np.int64(data[i]) - 48
    return value if value <= most else np.int64(-1)


@njit(cache=True, nogil=True)
def _origin(data, start, stop):
    """AS in data[start:stop], with or without ``AS`` before it; 0: a mark below 0, -1: neither."""
    if stop - start > 2 and data[start] | 32 == 97 and data[start + 1] | 32 == 115:
        start += 2
    elif stop - start > 1 and data[start] == 45:
        is_mark = _whole_number(data, start + 1, stop, 999) >= 0
        return np.int64(0) if is_mark else np.int64(-1)
    value = _whole_number(data, start, stop, MAX_ASN)
    return value if value > 0 else np.int64(-1)


@njit(cache=True, nogil=True)
def _split_blanks(data, start, stop, starts, stops):
    """Bounds of the columns of a line between blanks and TABs; how many there are."""
    n, i = 0, start
    while n < _MOST_COLUMNS:
        while i < stop and (data[i] == 32 or data[i] == 9):
            i += 1
        if i == stop:
            break
        starts[n] = i
        while i < stop and data[i] != 32 and data[i] != 9:
            i += 1
        stops[n] = i
        n += 1
    return n


@njit(cache=True, nogil=True)
def _split_commas(data, start, stop, starts, stops):
    """Bounds of the columns of a line between commas, without blanks and quotes around them."""
    n, i = 0, start
    while n < _MOST_COLUMNS:
        begin = i
        is_quoted = False
        while i < stop and (is_quoted or data[i] != COMMA):
            is_quoted ^= data[i] == 34
            i += 1
        end = i
        while begin < end and data[begin] == 32:
            begin += 1
        while begin < end and data[end - 1] == 32:
            end -= 1
        if end - begin > 1 and data[begin] == 34 and data[end - 1] == 34:
            begin, end = begin + 1, end - 1
        starts[n], stops[n] = begin, end
        n += 1
        if i == stop:
            break
        i += 1
    return n


@njit(cache=True, nogil=True)
def _parse(
    data, separator, n_columns, least, columns, first, last, bits, origin, votes, kind, offset
):  # fmt: skip
    """Columns of each plain row (``_FAST``); others are left to the caller (``_SLOW``)."""
    n_lines, at, size = 0, 0, len(data)
    starts = np.empty(_MOST_COLUMNS, np.int64)
    stops = np.empty(_MOST_COLUMNS, np.int64)
    while at < size:
        end = at
        while data[end] != 10:
            end += 1
        stop = end - 1 if end > at and data[end - 1] == 13 else end
        offset[n_lines] = at
        kind[n_lines] = _SLOW
        if stop == at or data[at] == 35:  # nothing, or a comment
            kind[n_lines] = _IGNORED
        else:
            if separator == BLANK:
                n = _split_blanks(data, at, stop, starts, stops)
            else:
                n = _split_commas(data, at, stop, starts, stops)
            if n >= least and (n_columns == 0 or n == n_columns):
                kind[n_lines] = _parse_row(
                    data, starts, stops, columns,
                    first, last, bits, origin, votes, n_lines,
                )  # fmt: skip
        n_lines += 1
        at = end + 1
    return n_lines


@njit(cache=True, nogil=True)
def _is_v4(words, row):
    return words[row, 0] == _ZERO and _MAPPED <= words[row, 1] <= _MAPPED_END


@njit(cache=True, nogil=True)
def _parse_row(
    data, starts, stops, columns, first, last, bits, origin, votes, row,
):  # fmt: skip
    """Columns of one row; what kind of row it is."""
    begin, stop = starts[columns.prefix], stops[columns.prefix]
    slash, has_colon = begin, False
    while slash < stop and data[slash] != 47:
        has_colon |= data[slash] == 58
        slash += 1
    if not scan_addr(data, begin, slash, first, row):
        return _SLOW
    is_v4 = _is_v4(first, row)
    if is_v4 and has_colon:
        return _SLOW
    asn = _origin(data, starts[columns.origin], stops[columns.origin])
    if asn < 0:
        return _SLOW
    origin[row] = asn
    kind = _FAST if asn > 0 else _SPECIAL
    if columns.votes >= 0:
        votes[row] = _whole_number(data, starts[columns.votes], stops[columns.votes], 1 << 30)
        if votes[row] < 0:
            return _SLOW
    if columns.last >= 0:
        if slash != stop or not scan_addr(
            data, starts[columns.last], stops[columns.last], last, row
        ):
            return _SLOW
        is_up = first[row, 0] < last[row, 0] or (
            first[row, 0] == last[row, 0] and first[row, 1] <= last[row, 1]
        )
        if is_v4 != _is_v4(last, row) or not is_up:
            return _SLOW
        if is_v4:  # all of IPv4 is a default route
            return _SLOW if last[row, 1] - first[row, 1] == _MAPPED_END - _MAPPED else kind
        is_below = last[row, 0] == _ZERO and last[row, 1] < _MAPPED
        is_above = first[row, 0] > _ZERO or first[row, 1] > _MAPPED_END
        return kind if is_below or is_above else _SLOW
    if columns.length < 0:
        n_bits = _whole_number(data, slash + 1, stop, 128)
    elif slash == stop:
        n_bits = _whole_number(data, starts[columns.length], stops[columns.length], 128)
    else:
        return _SLOW
    n_bits = n_bits + 96 if is_v4 and n_bits > 0 else n_bits
    if n_bits < 1 or n_bits > 128:
        return _SLOW
    high_free, low_free = _low_ones(max(64 - n_bits, 0)), _low_ones(min(128 - n_bits, 64))
    if first[row, 0] & high_free != _ZERO or first[row, 1] & low_free != _ZERO:
        return _SLOW
    if not is_v4 and covers_mapped(first[row, 0], first[row, 1], n_bits):
        return _SLOW
    bits[row] = n_bits
    return kind


@njit(cache=True, nogil=True)
def _low_ones(n):
    """A word whose ``n`` lowest bits are 1."""
    return _ONES if n >= 64 else (_U1 << np.uint64(n)) - _U1
