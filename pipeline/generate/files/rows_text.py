"""Rows of numbers and words as lines of text, tab-separated; compiled.

A float is the shortest decimal that is read back as the same number, of these the nearest to it
(Giulietti 2020, "The Schubfach way to render doubles"), as pyarrow writes it, in a fifth of the
time. What is not written here is left to pyarrow: numbers with exponents or signs, NaN, and other
types of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pyarrow as pa
from numba import njit

_WHOLE, _FLOAT, _WORD = range(3)
_MOST_IN_NUMBER = 26  # bytes, with a tab or an end of line
_SEPARATORS = b'\t\n\r"'

_LEAST_POWER, _MOST_POWER = -292, 324  # of ten, that a float64 needs
_ZERO, _ONE, _TWO, _FOUR, _TEN, _FORTY = (np.uint64(n) for n in (0, 1, 2, 4, 10, 40))
_HALF, _LOW_HALF = np.uint64(32), np.uint64((1 << 32) - 1)
_SIGNIFICAND, _HIDDEN = np.uint64((1 << 52) - 1), np.uint64(1 << 52)
_BIAS = 1075  # of exponents, of significands that are whole numbers
_NOT_A_NUMBER = 2047  # exponent of infinity and NaN
_LEAST_EXPONENT, _MOST_EXPONENT = -6, 9  # of ten, of what pyarrow writes without one
_DIGIT_ZERO, _POINT, _MINUS, _TAB, _END = (ord(c) for c in "0.-\t\n")


def rows_text(columns: Sequence[np.ndarray]) -> memoryview | None:
    """Lines of the rows of some columns: integers, float64 or texts.

    Parameters
    ----------
    columns : sequence of (n,) arrays

    Returns
    -------
    memoryview or None
        None: pyarrow's CSV writer has to write them.
    """
    n = len(columns[0])
    kinds, values = np.empty(len(columns), np.int64), np.empty((len(columns), n), np.int64)
    words: list[bytes] = []
    for i, column in enumerate(columns):
        if column.dtype == np.float64:
            kinds[i], values[i] = _FLOAT, np.ascontiguousarray(column).view(np.int64)
        elif column.dtype.kind == "i" or column.dtype in (np.uint8, np.uint16, np.uint32):
            kinds[i], values[i] = _WHOLE, column
        elif column.dtype.kind in "UO":
            coded = pa.array(column[:1] if column.strides == (0,) else column).dictionary_encode()
            if coded.null_count or not pa.types.is_string(coded.type.value_type):
                return None
            kinds[i], values[i] = _WORD, np.asarray(coded.indices) + len(words)
            words += [word.encode() for word in coded.dictionary.to_pylist()]
        else:
            return None
    text = b"".join(words)
    if any(byte in _SEPARATORS for byte in text):
        return None
    ends = np.cumsum([0, *map(len, words)], dtype=np.int64)
    room = _MOST_IN_NUMBER * len(columns) + sum(map(len, words))
    out = np.empty(n * room, np.uint8)
    length = _write_rows(
        kinds, values, np.frombuffer(text + b" ", np.uint8), ends, *_powers_of_ten(), out
    )
    return None if length < 0 else out[:length].data


@cache
def _powers_of_ten() -> tuple[np.ndarray, np.ndarray]:
    """10**k as 128 bits whose first is set, rounded up; upper and lower halves, uint64."""
    upper, lower = [], []
    for k in range(_LEAST_POWER, _MOST_POWER + 1):
        shift = (k * 1741647 >> 19) - 127  # floor(log2(10**k)) - 127
        top, bottom = 10 ** max(k, 0) << max(-shift, 0), 10 ** max(-k, 0) << max(shift, 0)
        power = -(-top // bottom)
        upper.append(power >> 64)
        lower.append(power & (1 << 64) - 1)
    return np.array(upper, np.uint64), np.array(lower, np.uint64)


@njit(cache=True, nogil=True)
def _write_rows(kinds, values, words, word_ptr, upper, lower, out):
    """Write all rows; the bytes written, -1 if a float is not written here."""
    at = 0
    for row in range(values.shape[1]):
        for column in range(kinds.size):
            value = values[column, row]
            if kinds[column] == _WORD:
                for k in range(word_ptr[value], word_ptr[value + 1]):
                    out[at] = words[k]
                    at += 1
            elif kinds[column] == _WHOLE:
                if value < 0:
                    out[at] = _MINUS
                    at += 1
                    value = -value
                at = _put_digits(np.uint64(value), _n_digits(np.uint64(value)), out, at)
            else:
                at = _put_float(np.uint64(value), upper, lower, out, at)
                if at < 0:
                    return at
            out[at] = _TAB
            at += 1
        out[at - 1] = _END
    return at


@njit(cache=True, nogil=True)
def _n_digits(value):
    n = 1
    while value >= _TEN:
        value //= _TEN
        n += 1
    return n


@njit(cache=True, nogil=True)
def _put_digits(value, n, out, at):
    """Write the last n digits of a number; the place after them."""
    for k in range(at + n - 1, at - 1, -1):
        rest = value // _TEN
        out[k] = _DIGIT_ZERO + np.int64(value - rest * _TEN)
        value = rest
    return at + n


@njit(cache=True, nogil=True)
def _put_float(bits, upper, lower, out, at):
    """Write a float by its bits; the place after it, -1 if it is not written here."""
    significand = bits & _SIGNIFICAND
    exponent = np.int64(bits >> np.uint64(52))
    if bits == _ZERO:
        out[at] = _DIGIT_ZERO
        return at + 1
    if exponent == 0 or exponent >= _NOT_A_NUMBER:  # subnormal, infinite, NaN, or negative
        return -1
    digits, power = _shortest(significand, exponent, upper, lower)
    while digits % _TEN == _ZERO:
        digits //= _TEN
        power += 1
    n = _n_digits(digits)
    if not _LEAST_EXPONENT <= n + power - 1 <= _MOST_EXPONENT:
        return -1
    if power >= 0:
        at = _put_digits(digits, n, out, at)
        for _ in range(power):
            out[at] = _DIGIT_ZERO
            at += 1
        return at
    if n + power > 0:
        _put_digits(digits, n, out, at + 1)
        for k in range(at, at + n + power):
            out[k] = out[k + 1]
        out[at + n + power] = _POINT
        return at + n + 1
    out[at], out[at + 1] = _DIGIT_ZERO, _POINT
    at += 2
    for _ in range(-(n + power)):
        out[at] = _DIGIT_ZERO
        at += 1
    return _put_digits(digits, n, out, at)


@njit(cache=True, nogil=True)
def _shortest(significand, exponent, upper, lower):
    """Digits and power of ten of the shortest decimal of a normal float, by the paper's names."""
    c, q = significand | _HIDDEN, exponent - _BIAS
    if 0 <= -q < 53 and c & ((_ONE << np.uint64(-q)) - _ONE) == _ZERO:
        return c >> np.uint64(-q), np.int64(0)  # a whole number
    is_odd = c & _ONE
    is_closer = significand == _ZERO and exponent > 1  # the number below
    k = (q * 1262611 - (524031 if is_closer else 0)) >> 22
    h = np.uint64(q + (-k * 1741647 >> 19) + 1)
    g1, g0 = upper[-k - _LEAST_POWER], lower[-k - _LEAST_POWER]
    below = _FOUR * c - (_ONE if is_closer else _TWO)
    low = _rounded_to_odd(g1, g0, below << h) + is_odd
    here = _rounded_to_odd(g1, g0, _FOUR * c << h)
    high = _rounded_to_odd(g1, g0, (_FOUR * c + _TWO) << h) - is_odd
    s = here >> _TWO
    if s >= _TEN:
        tens = s // _TEN
        is_down, is_up = low <= _FORTY * tens, _FORTY * tens + _FORTY <= high
        if is_down != is_up:
            return tens + (_ONE if is_up else _ZERO), k + 1
    is_down, is_up = low <= _FOUR * s, _FOUR * s + _FOUR <= high
    if is_down != is_up:
        return s + (_ONE if is_up else _ZERO), k
    middle = _FOUR * s + _TWO
    up = here > middle or (here == middle and s & _ONE != _ZERO)
    return s + (_ONE if up else _ZERO), k


@njit(cache=True, nogil=True)
def _rounded_to_odd(g1, g0, factor):
    """Upper 64 bits of the product of 128 and 64 bits; the last is set if others are left out."""
    over, _ = _product(g0, factor)
    y1, y0 = _product(g1, factor)
    y0 += over
    if y0 < over:
        y1 += _ONE
    return y1 | (_ONE if y0 > _ONE else _ZERO)


@njit(cache=True, nogil=True)
def _product(a, b):
    """The product of two numbers of 64 bits; upper and lower half."""
    a1, a0, b1, b0 = a >> _HALF, a & _LOW_HALF, b >> _HALF, b & _LOW_HALF
    low, middle, cross = a0 * b0, a1 * b0, a0 * b1
    carry = (low >> _HALF) + (middle & _LOW_HALF) + (cross & _LOW_HALF)
    upper = a1 * b1 + (middle >> _HALF) + (cross >> _HALF) + (carry >> _HALF)
    return upper, a * b
