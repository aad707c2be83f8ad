"""Decimal text to numbers inside compiled scanners, exact where Python's ``float`` is."""

from __future__ import annotations

import numpy as np
from numba import njit

# Powers of ten that a float64 holds exactly.
_POWERS = np.array([10.0**k for k in range(23)])
_MAX_DIGITS = 18  # of a mantissa in an int64

PARSED, NO_NUMBER, UNSURE = 0, 1, 2


@njit(cache=True, nogil=True, inline="never")
def _split(value):
    """Upper and lower half of a float64's digits (Veltkamp), so that products are exact."""
    scaled = 134217729.0 * value  # 2**27 + 1
    upper = scaled - (scaled - value)
    return upper, value - upper


@njit(cache=True, nogil=True, inline="never")
def _product_error(a, b, product):
    """``a * b - product`` without rounding (Dekker), for magnitudes far from overflow."""
    a_up, a_low = _split(a)
    b_up, b_low = _split(b)
    return ((a_up * b_up - product) + a_up * b_low + a_low * b_up) + a_low * b_low


@njit(cache=True, nogil=True, inline="never")
def scale_decimal(mantissa, exponent):
    """``mantissa * 10**exponent`` rounded once, in double-double arithmetic.

    mantissa: int64 below 10**18 in size; exponent: -22 to 22.
    """
    high = np.float64(mantissa)
    low = np.float64(mantissa - np.int64(high))
    if exponent == 0:
        return high
    if exponent < 0:
        power = _POWERS[-exponent]
        quotient = high / power
        product = quotient * power
        rest = (high - product) - _product_error(quotient, power, product) + low
        return quotient + rest / power
    power = _POWERS[exponent]
    product = high * power
    return product + (_product_error(high, power, product) + low * power)


@njit(cache=True, nogil=True, inline="never")
def scan_int(text, start, stop):
    """Whole number in ``text[start:stop]``: (int64 value, PARSED, NO_NUMBER or UNSURE)."""
    i = start
    negative = False
    if i < stop and (text[i] == 45 or text[i] == 43):
        negative = text[i] == 45
        i += 1
    if i == stop:
        return np.int64(0), NO_NUMBER
    if stop - i > _MAX_DIGITS:
        return np.int64(0), UNSURE
    value = np.int64(0)
    while i < stop:
        digit = np.int64(text[i]) - 48
        if digit < 0 or digit > 9:
            return np.int64(0), UNSURE
        value = value * 10 + digit
        i += 1
    return (-value if negative else value), PARSED


@njit(cache=True, nogil=True, inline="never")
def scan_float(text, start, stop):
    """Decimal number in ``text[start:stop]``: (float64 value, PARSED, NO_NUMBER or UNSURE).

    UNSURE: more than 18 digits, an exponent beyond 10**22, or not a plain number; the caller then
    asks Python's ``float``.
    """
    i = start
    negative = False
    if i < stop and (text[i] == 45 or text[i] == 43):
        negative = text[i] == 45
        i += 1
    mantissa = np.int64(0)
    n_digits = 0
    exponent = 0
    seen = 0
    while i < stop and 48 <= text[i] <= 57:
        mantissa = mantissa * 10 + (np.int64(text[i]) - 48)
        n_digits += 1 if mantissa != 0 else 0
        if n_digits > _MAX_DIGITS:
            return 0.0, UNSURE
        seen += 1
        i += 1
    if i < stop and text[i] == 46:
        i += 1
        while i < stop and 48 <= text[i] <= 57:
            mantissa = mantissa * 10 + (np.int64(text[i]) - 48)
            n_digits += 1 if mantissa != 0 else 0
            if n_digits > _MAX_DIGITS:
                return 0.0, UNSURE
            exponent -= 1
            seen += 1
            i += 1
    if seen == 0:
        return 0.0, UNSURE
    if i < stop and (text[i] == 101 or text[i] == 69):
        power, status = scan_int(text, i + 1, stop)
        if status != PARSED or power > 400 or power < -400:
            return 0.0, UNSURE
        exponent += power
        i = stop
    if i != stop:
        return 0.0, UNSURE
    if exponent < -22 or exponent > 22:
        if mantissa != 0:
            return 0.0, UNSURE
        exponent = 0
    value = scale_decimal(mantissa, exponent)
    return (-value if negative else value), PARSED
