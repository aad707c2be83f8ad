"""Find MPLS labels among the ICMP extensions of a reply: ``{"obj": [{"mpls": [..]}, ..]}``."""

from __future__ import annotations

from numba import njit

from pipeline.ingest.atlas.grammar import (
    OK,
    key_word,
    next_member,
    read_key,
    skip_blank,
    skip_value,
)

_OBJ, _MPLS = key_word("obj"), key_word("mpls")


@njit(cache=True, nogil=True)
def has_labels(text, i, n, stack, scan):
    """Whether an object of the list ``obj`` has labels.

    The value at ``i`` was scanned before, so it is whole and follows the grammar. As in a parser,
    the last of several keys ``obj`` counts.
    """
    found = False
    if text[i] != 123:
        return found
    i = skip_blank(text, i + 1, n)
    closed = text[i] == 125
    while not closed:
        i, status, key, size = read_key(text, i, n, scan)
        if status != OK:
            return False
        if key == _OBJ and size == 3:
            found = _list_has_labels(text, i, n, stack, scan)
        i, status = skip_value(text, i, n, stack, scan)
        if status == OK:
            i, status, closed = next_member(text, i, n, 125)
        if status != OK:
            return False
    return found


@njit(cache=True, nogil=True)
def _list_has_labels(text, i, n, stack, scan):
    if text[i] != 91:
        return False
    i = skip_blank(text, i + 1, n)
    closed = text[i] == 93
    while not closed:
        if text[i] == 123 and _object_has_labels(text, i, n, stack, scan):
            return True
        i, status = skip_value(text, i, n, stack, scan)
        if status == OK:
            i, status, closed = next_member(text, i, n, 93)
        if status != OK:
            return False
    return False


@njit(cache=True, nogil=True)
def _object_has_labels(text, i, n, stack, scan):
    i = skip_blank(text, i + 1, n)
    closed = text[i] == 125
    while not closed:
        i, status, key, size = read_key(text, i, n, scan)
        if status != OK:
            return False
        if key == _MPLS and size == 4:
            return True
        i, status = skip_value(text, i, n, stack, scan)
        if status == OK:
            i, status, closed = next_member(text, i, n, 125)
        if status != OK:
            return False
    return False
