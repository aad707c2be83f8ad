"""Text of IP addresses to two 64-bit words, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.model.addresses import V4_PREFIX

_U4, _U16, _U48 = np.uint64(4), np.uint64(16), np.uint64(48)
_ZERO = np.uint64(0)


@njit(cache=True, nogil=True)
def hex_digit(c):
    """Value of a hexadecimal digit; -1 for any other byte."""
    if 48 <= c <= 57:
        return np.int64(c) - 48
    if 97 <= c <= 102:
        return np.int64(c) - 87
    if 65 <= c <= 70:
        return np.int64(c) - 55
    return np.int64(-1)


@njit(cache=True, nogil=True)
def parse_v4(data, start, end):
    """Number of the dotted quad in data[start:end], -1 if it is not one.

    A part that begins with 0 is not one: it is octal to some programs, decimal to others.
    """
    number, part = np.int64(0), np.int64(0)
    digits, dots = 0, 0
    for i in range(start, end):
        byte = data[i]
        if 48 <= byte <= 57:
            if digits > 0 and part == 0:
                return np.int64(-1)
            part = 10 * part + np.int64(byte) - 48
            digits += 1
            if digits > 3 or part > 255:
                return np.int64(-1)
        elif byte == 46:
            if digits == 0 or dots == 3:
                return np.int64(-1)
            number = number * 256 + part
            part, digits = np.int64(0), 0
            dots += 1
        else:
            return np.int64(-1)
    if dots != 3 or digits == 0:
        return np.int64(-1)
    return number * 256 + part


@njit(cache=True, nogil=True)
def _v4(text, start, stop, out, row):
    value = parse_v4(text, start, stop)
    if value < 0:
        return False
    out[row, 0] = _ZERO
    out[row, 1] = V4_PREFIX | np.uint64(value)
    return True


@njit(cache=True, nogil=True)
def _v6(text, start, stop, out, row):
    """Groups and ``::``; other forms (dotted tail, zone) are left to Python."""
    high = low = head_high = head_low = _ZERO
    groups = head = 0
    gap = False
    i = start
    if stop - start < 2:
        return False
    if text[i] == 58:
        if text[i + 1] != 58:
            return False
        gap = True
        i += 2
    while i < stop:
        first = i
        group = _ZERO
        while i < stop and i - first < 4 and hex_digit(text[i]) >= 0:
            group = (group << _U4) | np.uint64(hex_digit(text[i]))
            i += 1
        if i == first:
            return False
        high = (high << _U16) | (low >> _U48)
        low = (low << _U16) | group
        groups += 1
        if groups + head > 8:
            return False
        if i == stop:
            break
        if text[i] != 58:
            return False
        i += 1
        if i == stop:
            return False
        if text[i] == 58:
            if gap:
                return False
            gap = True
            head, head_high, head_low = groups, high, low
            groups = 0
            high = low = _ZERO
            i += 1
    if not gap:
        if groups != 8:
            return False
        out[row, 0] = high
        out[row, 1] = low
        return True
    if groups + head > 7:
        return False
    # The head is in the upper groups: shift it up by whole groups.
    for _ in range(8 - head):
        head_high = (head_high << _U16) | (head_low >> _U48)
        head_low = head_low << _U16
    out[row, 0] = head_high | high
    out[row, 1] = head_low | low
    return True


@njit(cache=True, nogil=True)
def scan_addr(text, start, stop, out, row):
    """Write the address in ``text[start:stop]`` to ``out[row]``; False if it is not a plain one."""
    for i in range(start, min(start + 5, stop)):
        if text[i] == 58:
            return _v6(text, start, stop, out, row)
    return _v4(text, start, stop, out, row)
