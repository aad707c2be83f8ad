"""The JSON grammar, compiled: skips values and reads keys, whatever they contain.

Each function takes a byte array, a position and the end of what is filled, and returns the position
after what it skipped and OK, MORE (the filled part ends first) or BAD (this is not JSON).
``scan.is_odd`` is set where a string has an escape or a byte beyond ASCII: valid here, but a full
parser must check and read it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.ingest.text.addresses import hex_digit

OK, MORE, BAD = 0, 1, 2
MAX_DEPTH = 256  # of nested values; a result has five

_U8, _U56 = np.uint64(8), np.uint64(56)
_ZERO = np.uint64(0)


def key_word(key: str) -> np.uint64:
    """The bytes of a key as the scanner packs them: beyond eight, folded over the first."""
    word = 0
    for byte in key.encode():
        word = ((word << 8 | word >> 56) & 0xFFFF_FFFF_FFFF_FFFF) ^ byte
    return np.uint64(word)


@njit(cache=True, nogil=True)
def skip_blank(text, i, n):
    while i < n and (text[i] == 32 or text[i] == 10 or text[i] == 13 or text[i] == 9):
        i += 1
    return i


@njit(cache=True, nogil=True)
def skip_string(text, i, n, scan):
    """A string that begins at the quote ``i``."""
    i += 1
    while i < n:
        c = text[i]
        if c == 34:
            return i + 1, OK
        if c < 32:
            return i, BAD
        if c == 92:
            scan.is_odd = True
            i += 1
            if i >= n:
                return i, MORE
            c = text[i]
            if c == 117:  # u and four hexadecimal digits
                for _ in range(4):
                    i += 1
                    if i >= n:
                        return i, MORE
                    if hex_digit(text[i]) < 0:
                        return i, BAD
            elif not (
                c == 34
                or c == 92
                or c == 47
                or c == 98
                or c == 102
                or c == 110
                or c == 114
                or c == 116
            ):
                return i, BAD
        elif c >= 128:
            scan.is_odd = True  # UTF-8 is checked in Python
        i += 1
    return i, MORE


@njit(cache=True, nogil=True)
def _digits(text, i, n):
    while i < n and 48 <= text[i] <= 57:
        i += 1
    return i


@njit(cache=True, nogil=True)
def _number(text, i, n):
    """A number by the grammar; one that reaches the end of the window may go on."""
    if text[i] == 45:
        i += 1
        if i >= n:
            return i, MORE
    first = i
    i = _digits(text, i, n)
    if i >= n:
        return i, MORE
    if i == first or (text[first] == 48 and i - first > 1):
        return i, BAD
    if text[i] == 46:
        first = i + 1
        i = _digits(text, first, n)
        if i >= n:
            return i, MORE
        if i == first:
            return i, BAD
    if text[i] == 101 or text[i] == 69:
        i += 1
        if i < n and (text[i] == 43 or text[i] == 45):
            i += 1
        first = i
        i = _digits(text, i, n)
        if i >= n:
            return i, MORE
        if i == first:
            return i, BAD
    return i, OK


@njit(cache=True, nogil=True)
def _literal(text, i, n):
    """true, false or null."""
    if text[i] == 116:
        word = (116, 114, 117, 101, 0)
        size = 4
    elif text[i] == 102:
        word = (102, 97, 108, 115, 101)
        size = 5
    elif text[i] == 110:
        word = (110, 117, 108, 108, 0)
        size = 4
    else:
        return i, BAD
    for j in range(size):
        if i + j >= n:
            return i, MORE
        if text[i + j] != word[j]:
            return i, BAD
    return i + size, OK


@njit(cache=True, nogil=True)
def read_key(text, i, n, scan):
    """A key and its colon: (start of the value, status, packed key, length)."""
    word = _ZERO
    if i >= n:
        return i, MORE, word, 0
    if text[i] != 34:
        return i, BAD, word, 0
    start = i + 1
    i, status = skip_string(text, i, n, scan)
    if status != OK:
        return i, status, word, 0
    for j in range(start, i - 1):
        word = ((word << _U8) | (word >> _U56)) ^ np.uint64(text[j])
    size = i - 1 - start
    i = skip_blank(text, i, n)
    if i >= n:
        return i, MORE, word, size
    if text[i] != 58:
        return i, BAD, word, size
    i = skip_blank(text, i + 1, n)
    if i >= n:
        return i, MORE, word, size
    return i, OK, word, size


@njit(cache=True, nogil=True)
def skip_value(text, i, n, stack, scan):
    """Any value, however nested."""
    depth = 0
    while True:
        i = skip_blank(text, i, n)
        if i >= n:
            return i, MORE
        c = text[i]
        closed = True
        if c == 123 or c == 91:
            if depth == MAX_DEPTH:
                return i, BAD
            stack[depth] = c
            depth += 1
            i = skip_blank(text, i + 1, n)
            if i >= n:
                return i, MORE
            if text[i] == c + 2:  # { and }, [ and ] are two apart
                depth -= 1
                i += 1
            else:
                closed = False
                if c == 123:
                    i, status, _, _ = read_key(text, i, n, scan)
                    if status != OK:
                        return i, status
        else:
            if c == 34:
                i, status = skip_string(text, i, n, scan)
            elif c == 45 or 48 <= c <= 57:
                i, status = _number(text, i, n)
            else:
                i, status = _literal(text, i, n)
            if status != OK:
                return i, status
        while closed:
            if depth == 0:
                return i, OK
            i = skip_blank(text, i, n)
            if i >= n:
                return i, MORE
            top = stack[depth - 1]
            if text[i] == 44:
                closed = False
                i += 1
                if top == 123:
                    i, status, _, _ = read_key(text, skip_blank(text, i, n), n, scan)
                    if status != OK:
                        return i, status
            elif text[i] == top + 2:
                depth -= 1
                i += 1
            else:
                return i, BAD


@njit(cache=True, nogil=True)
def next_member(text, i, n, close):
    """After a member of an object or array: (position, status, whether it was closed)."""
    i = skip_blank(text, i, n)
    if i >= n:
        return i, MORE, False
    if text[i] == 44:
        return skip_blank(text, i + 1, n), OK, False
    if text[i] == close:
        return i + 1, OK, True
    return i, BAD, False
