"""Find MPLS labels among the ICMP extensions of a hop: compiled, as ``scan`` reads JSON.

sc_warts2json prints ``icmpext``, a list of objects; one with a label stack has ``mpls_labels``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.ingest.scamper_json.scan import (
    CLOSE_ARRAY,
    CLOSE_OBJECT,
    COMMA,
    MORE,
    OPEN_ARRAY,
    OPEN_OBJECT,
    QUOTE,
    UNSURE,
    is_word,
    skip_space,
    skip_string,
    skip_value,
    to_value,
)

MPLS_LABELS = "mpls_labels"
_LABELS = np.frombuffer(MPLS_LABELS.encode(), np.uint8)


@njit(cache=True, nogil=True)
def read_extensions(data, pos, end, newlines):
    """The position after any value, and whether it is a list with an object that has labels."""
    if data[pos] != OPEN_ARRAY:
        return skip_value(data, pos, end, newlines), False
    labelled = False
    pos = skip_space(data, pos + 1, end, newlines)
    if pos < end and data[pos] == CLOSE_ARRAY:
        return pos + 1, False
    while True:
        if pos >= end:
            return MORE, False
        if data[pos] == OPEN_OBJECT:
            pos, has_labels = _read_object(data, pos, end, newlines)
            labelled = labelled or has_labels
        else:
            pos = skip_value(data, pos, end, newlines)
        if pos < 0:
            return pos, False
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE, False
        if data[pos] == CLOSE_ARRAY:
            return pos + 1, labelled
        if data[pos] != COMMA:
            return UNSURE, False
        pos = skip_space(data, pos + 1, end, newlines)


@njit(cache=True, nogil=True)
def _read_object(data, pos, end, newlines):
    """The position after the object at ``pos``, and whether it has labels."""
    found = False
    pos = skip_space(data, pos + 1, end, newlines)
    if pos < end and data[pos] == CLOSE_OBJECT:
        return pos + 1, False
    while True:
        if pos >= end:
            return MORE, False
        if data[pos] != QUOTE:
            return UNSURE, False
        key = pos + 1
        pos = skip_string(data, key, end)
        if pos < 0:
            return pos, False
        found = found or is_word(data, key, pos - 1 - key, _LABELS)
        pos = to_value(data, pos, end, newlines)
        if pos >= 0:
            pos = skip_value(data, pos, end, newlines)
        if pos < 0:
            return pos, False
        pos = skip_space(data, pos, end, newlines)
        if pos >= end:
            return MORE, False
        if data[pos] == CLOSE_OBJECT:
            return pos + 1, found
        if data[pos] != COMMA:
            return UNSURE, False
        pos = skip_space(data, pos + 1, end, newlines)
