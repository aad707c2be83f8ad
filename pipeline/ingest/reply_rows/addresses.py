"""A column of addresses, as text or as bytes, to words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from pipeline.ingest.text.addresses import parse_v4, scan_addr
from pipeline.model.addresses import V4_PREFIX, parse_addr

if TYPE_CHECKING:
    import pyarrow as pa

PARSED, NONE, UNSURE = 0, 1, 2
_MAPPED = np.frombuffer(b"::ffff:", np.uint8)


def addresses_of(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Words of addresses, and which rows have one.

    Returns
    -------
    (n, 2) uint64, (n,) int8
        PARSED; NONE: empty, null, ``*`` or ``???``; UNSURE: something else.
    """
    import pyarrow as pa

    n = len(column)
    words = np.zeros((n, 2), np.uint64)
    if pa.types.is_fixed_size_binary(column.type) and column.type.byte_width == 16:
        is_null = np.asarray(column.is_null())
        filled = column.fill_null(bytes(16)) if is_null.any() else column
        raw = np.frombuffer(filled.buffers()[1], np.uint8)[16 * filled.offset :][: 16 * n]
        words[:] = raw.view(">u8").reshape(n, 2)
        return words, np.where(is_null, NONE, PARSED).astype(np.int8)
    if not pa.types.is_binary(column.type):
        column = column.cast(pa.string()).cast(pa.binary())
    if column.null_count:
        column = column.fill_null(b"")
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + n + 1]
    text = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    state = np.zeros(n, np.int8)
    _scan(text, ends, words, state)
    for row in np.flatnonzero(state == UNSURE).tolist():  # rare: zones, other forms of IPv6
        _settle(bytes(text[ends[row] : ends[row + 1]]), row, words, state)
    return words, state


def _settle(text: bytes, row: int, words: np.ndarray, state: np.ndarray) -> None:
    plain: Any = text.decode("ascii", "replace").strip().strip("\"'")
    if plain in ("", "*", "???", "\\N", "null", "None"):
        state[row] = NONE
        return
    try:
        words[row] = parse_addr(plain.partition("%")[0])
    except ValueError:
        return
    state[row] = PARSED


@njit(cache=True, nogil=True)
def _scan(text, ends, words, state):
    for row in range(len(state)):
        start, stop = ends[row], ends[row + 1]
        if start == stop:
            state[row] = NONE
            continue
        is_mapped = stop - start > len(_MAPPED)
        for i in range(len(_MAPPED)):
            if not is_mapped or text[start + i] != _MAPPED[i]:
                is_mapped = False
                break
        if is_mapped:
            value = parse_v4(text, start + len(_MAPPED), stop)
            if value >= 0:
                words[row, 0] = np.uint64(0)
                words[row, 1] = V4_PREFIX | np.uint64(value)
                continue
        if not scan_addr(text, start, stop, words, row):
            state[row] = UNSURE
