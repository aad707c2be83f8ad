"""Scan JSON text in a byte array: compiled, strict, and without guessing.

Each function takes a position and returns the position after what it read, or ``UNSURE`` if the
text is broken or merely unusual (escapes, bytes beyond ASCII, exponents, more digits than a double
holds exactly), or ``MORE`` if the filled part of the array ends first. The caller gives an unsure
text to a full parser, so whatever is accepted here must mean the same there.

``newlines`` says whether line breaks may occur between tokens; if a record is a line, they may not.
"""
# Kernels compare bytes one by one: tuples and generators would cost time here.
# ruff: noqa: SIM109, SIM110

from __future__ import annotations

import numpy as np
from numba import njit

UNSURE, MORE = -1, -2
MAX_DEPTH = 60  # of nested arrays and objects; deeper is unsure

QUOTE, BACKSLASH, COMMA, COLON = 0x22, 0x5C, 0x2C, 0x3A
OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY = 0x7B, 0x7D, 0x5B, 0x5D
_MINUS, _POINT, _ZERO, _NINE = 0x2D, 0x2E, 0x30, 0x39
_POWERS = 10.0 ** np.arange(16)  # each exact in a double
_TRUE, _FALSE, _NULL = (np.frombuffer(word, np.uint8) for word in (b"true", b"false", b"null"))


@njit(cache=True, nogil=True)
def skip_space(data, pos, end, newlines):
    """The position after blanks and tabs, and line breaks if allowed; may be ``end``."""
    while pos < end:
        byte = data[pos]
        if byte > 32 or not (byte == 32 or byte == 9 or byte == 13 or (newlines and byte == 10)):
            break
        pos += 1
    return pos


@njit(cache=True, nogil=True)
def skip_string(data, pos, end):
    """The position after a plain ASCII string and its quote; ``pos`` is after the opening quote."""
    while pos < end:
        byte = data[pos]
        if byte == QUOTE:
            return pos + 1
        if byte < 32 or byte >= 128 or byte == BACKSLASH:
            return UNSURE
        pos += 1
    return MORE


@njit(cache=True, nogil=True)
def is_word(data, pos, length, word):
    """Whether the ``length`` bytes at ``pos`` are those of ``word``, (n,) uint8."""
    if length != len(word):
        return False
    for i in range(len(word)):
        if data[pos + i] != word[i]:
            return False
    return True


@njit(cache=True, nogil=True)
def skip_number(data, pos, end):
    """The position after a number without an exponent and of at most 18 digits."""
    if pos < end and data[pos] == _MINUS:
        pos += 1
    first = pos
    while pos < end and _ZERO <= data[pos] <= _NINE:
        pos += 1
    n_digits = pos - first
    if pos >= end:
        return MORE
    if n_digits == 0 or (n_digits > 1 and data[first] == _ZERO):
        return UNSURE
    if data[pos] == _POINT:
        pos += 1
        first = pos
        while pos < end and _ZERO <= data[pos] <= _NINE:
            pos += 1
        if pos >= end:
            return MORE
        if pos == first:
            return UNSURE
        n_digits += pos - first
    if n_digits > 18 or data[pos] == 0x65 or data[pos] == 0x45:
        return UNSURE
    return pos


@njit(cache=True, nogil=True)
def _skip_word(data, pos, end, word):
    if pos + len(word) > end:
        return MORE
    for i in range(len(word)):
        if data[pos + i] != word[i]:
            return UNSURE
    return pos + len(word)


@njit(cache=True, nogil=True)
def to_value(data, pos, end, newlines):
    """The first byte of a key's value; ``pos`` is after the closing quote of the key."""
    pos = skip_space(data, pos, end, newlines)
    if pos >= end:
        return MORE
    if data[pos] != COLON:
        return UNSURE
    pos = skip_space(data, pos + 1, end, newlines)
    return pos if pos < end else MORE


@njit(cache=True, nogil=True)
def skip_value(data, pos, end, newlines):
    """The position after any value, nested ones too."""
    depth = 0
    is_object = np.int64(0)  # bit d: what was opened at depth d is an object
    while True:
        if pos >= end:
            return MORE
        byte = data[pos]
        if byte == QUOTE:
            pos = skip_string(data, pos + 1, end)
        elif byte == _MINUS or _ZERO <= byte <= _NINE:
            pos = skip_number(data, pos, end)
        elif byte == OPEN_OBJECT or byte == OPEN_ARRAY:
            depth += 1
            if depth > MAX_DEPTH:
                return UNSURE
            pos = skip_space(data, pos + 1, end, newlines)
            if pos >= end:
                return MORE
            if byte == OPEN_OBJECT:
                is_object |= np.int64(1) << depth
                if data[pos] != CLOSE_OBJECT:
                    pos = _skip_key(data, pos, end, newlines)
                    if pos < 0:
                        return pos
                    continue
            else:
                is_object &= ~(np.int64(1) << depth)
                if data[pos] != CLOSE_ARRAY:
                    continue
            depth -= 1
            pos += 1
        elif byte == 0x74:
            pos = _skip_word(data, pos, end, _TRUE)
        elif byte == 0x66:
            pos = _skip_word(data, pos, end, _FALSE)
        elif byte == 0x6E:
            pos = _skip_word(data, pos, end, _NULL)
        else:
            return UNSURE
        if pos < 0:
            return pos
        while depth > 0:
            pos = skip_space(data, pos, end, newlines)
            if pos >= end:
                return MORE
            in_object = (is_object >> depth) & 1
            if data[pos] == COMMA:
                pos = skip_space(data, pos + 1, end, newlines)
                if in_object:
                    pos = _skip_key(data, pos, end, newlines)
                    if pos < 0:
                        return pos
                break
            if data[pos] != (CLOSE_OBJECT if in_object else CLOSE_ARRAY):
                return UNSURE
            depth -= 1
            pos += 1
        else:
            return pos


@njit(cache=True, nogil=True)
def _skip_key(data, pos, end, newlines):
    if pos >= end:
        return MORE
    if data[pos] != QUOTE:
        return UNSURE
    pos = skip_string(data, pos + 1, end)
    if pos < 0:
        return pos
    return to_value(data, pos, end, newlines)


@njit(cache=True, nogil=True)
def read_int(data, pos, end):
    """A number of at most 10 digits, no sign: the position after it, and its value (int64)."""
    first = pos
    value = np.int64(0)
    while pos < end and _ZERO <= data[pos] <= _NINE:
        value = value * 10 + (np.int64(data[pos]) - _ZERO)
        pos += 1
        if pos - first > 10:
            return UNSURE, value
    if pos >= end:
        return MORE, value
    if pos == first or (pos - first > 1 and data[first] == _ZERO):
        return UNSURE, value
    if data[pos] == _POINT or data[pos] == 0x65 or data[pos] == 0x45:
        return UNSURE, value
    return pos, value


@njit(cache=True, nogil=True)
def read_decimal(data, pos, end):
    """A number of at most 15 digits without sign or exponent: the position after it, and its value.

    Such a number divided by its power of ten is the double nearest to the text.
    """
    first = pos
    value = np.int64(0)
    n_digits = 0
    while pos < end and _ZERO <= data[pos] <= _NINE and n_digits < 16:
        value = value * 10 + (np.int64(data[pos]) - _ZERO)
        n_digits += 1
        pos += 1
    if pos >= end:
        return MORE, np.nan
    if n_digits == 0 or (n_digits > 1 and data[first] == _ZERO):
        return UNSURE, np.nan
    n_decimals = 0
    if data[pos] == _POINT:
        pos += 1
        while pos < end and _ZERO <= data[pos] <= _NINE and n_digits < 16:
            value = value * 10 + (np.int64(data[pos]) - _ZERO)
            n_digits += 1
            n_decimals += 1
            pos += 1
        if pos >= end:
            return MORE, np.nan
        if n_decimals == 0:
            return UNSURE, np.nan
    if n_digits > 15 or data[pos] == 0x65 or data[pos] == 0x45:
        return UNSURE, np.nan
    return pos, np.float64(value) / _POWERS[n_decimals]


@njit(cache=True, nogil=True)
def _read_v4(data, pos, stop):
    """The 32 bits of the dotted decimal text in [pos, stop); -1 if it is not one."""
    number = np.int64(0)
    for part in range(4):
        if part:
            if pos >= stop or data[pos] != _POINT:
                return np.int64(-1)
            pos += 1
        first = pos
        value = np.int64(0)
        while pos < stop and _ZERO <= data[pos] <= _NINE and pos - first < 3:
            value = value * 10 + (np.int64(data[pos]) - _ZERO)
            pos += 1
        if pos == first or value > 255 or (pos - first > 1 and data[first] == _ZERO):
            return np.int64(-1)
        number = (number << 8) | value
    return number if pos == stop else np.int64(-1)


@njit(cache=True, nogil=True)
def _hex_digit(byte):
    if _ZERO <= byte <= _NINE:
        return np.int64(byte) - _ZERO
    lower = np.int64(byte) | 0x20
    if 0x61 <= lower <= 0x66:
        return lower - 0x61 + 10
    return np.int64(-1)


@njit(cache=True, nogil=True)
def _store_v6(groups, n_groups, gap, out, row):
    """Put 8 groups of 16 bits, zeros filled in at ``gap``, into out[row]."""
    n_after = n_groups - gap if gap >= 0 else 0
    for half in range(2):
        word = np.uint64(0)
        for at in range(4 * half, 4 * half + 4):
            if gap < 0 or at < gap:
                group = groups[at]
            elif at >= 8 - n_after:
                group = groups[at - (8 - n_groups)]
            else:
                group = np.int64(0)
            word = (word << np.uint64(16)) | np.uint64(group)
        out[row, half] = word


@njit(cache=True, nogil=True)
def read_address(data, pos, stop, out, row):
    """Write the address of the text in [pos, stop) to out[row]; False if it is not one, or unsure.

    out : (n, 2) uint64, see ``pipeline.model.addresses``.
    """
    number = _read_v4(data, pos, stop)
    if number >= 0:
        out[row, 0] = np.uint64(0)
        out[row, 1] = np.uint64(0xFFFF00000000) | np.uint64(number)
        return True
    if stop - pos < 2:
        return False
    groups = np.empty(8, np.int64)
    n_groups = 0
    gap = -1
    if data[pos] == COLON:
        if data[pos + 1] != COLON:
            return False
        gap = 0
        pos += 2
    while pos < stop:
        if n_groups == 8:
            return False
        first = pos
        value = np.int64(0)
        while pos < stop and pos - first < 4:
            digit = _hex_digit(data[pos])
            if digit < 0:
                break
            value = (value << 4) | digit
            pos += 1
        if pos < stop and data[pos] == _POINT:
            number = _read_v4(data, first, stop)
            if number < 0 or n_groups > 6:
                return False
            groups[n_groups] = number >> 16
            groups[n_groups + 1] = number & 0xFFFF
            n_groups += 2
            pos = stop
            break
        if pos == first:
            return False
        groups[n_groups] = value
        n_groups += 1
        if pos == stop:
            break
        if data[pos] != COLON:
            return False
        pos += 1
        if pos == stop:
            return False
        if data[pos] == COLON:
            if gap >= 0:
                return False
            gap = n_groups
            pos += 1
    if n_groups > 8 or (gap < 0) != (n_groups == 8):
        return False
    _store_v6(groups, n_groups, gap, out, row)
    return True


@njit(cache=True, nogil=True)
def find_close(data, pos, end):
    """The position after the bracket that closes the one at ``pos``; MORE if it is not there.

    Of JSON's grammar it knows only strings and their escapes: it finds the end of a broken or
    unusual record.
    """
    depth = 0
    in_string = False
    while pos < end:
        byte = data[pos]
        if in_string:
            if byte == BACKSLASH:
                pos += 1
            elif byte == QUOTE:
                in_string = False
        elif byte == QUOTE:
            in_string = True
        elif byte == OPEN_OBJECT or byte == OPEN_ARRAY:
            depth += 1
        elif byte == CLOSE_OBJECT or byte == CLOSE_ARRAY:
            depth -= 1
            if depth <= 0:
                return pos + 1
        pos += 1
    return MORE


@njit(cache=True, nogil=True)
def find_newline(data, pos, end):
    """Position of the next line break at or after ``pos``; ``end`` if there is none."""
    while pos < end and data[pos] != 10:
        pos += 1
    return pos
