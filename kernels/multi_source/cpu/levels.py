"""Levels of a sweep on cores, from rows of lanes to bytes; see ``sweep``.

The level of source i of a group at node v is ``level[v * stride + column + i]``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import (
    fence,
    load,
    load_at,
    lowest,
    minus,
    no_lanes,
    some,
    stream,
    union,
    word_of,
    write_levels,
)
from kernels._cpu.signatures import OUT_U8
from kernels.multi_source.cpu.sizes import BLOCK, LANES, ROW_BYTES, WORDS
from kernels.multi_source.cpu.state import SCRATCH
from kernels.multi_source.cpu.steps import log_place, tables_of

ONE = np.uint64(1)


@njit(
    [types.void(SCRATCH, types.int64, types.int64, OUT_U8, OUT_U8, *[types.int64] * 2, OUT_U8)],
    cache=True,
    nogil=True,
)
def write_logs(scratch, lo, hi, logs, level, stride, column, spare):
    """Write levels from the logged steps for nodes lo .. hi - 1; all others become 255.

    ``logs`` may be ``level`` itself: the rows of a block are made in ``spare``, (BLOCK + 1) * LANES
    bytes, before the first one is written.
    """
    state = scratch.state[0]
    n_lanes, n_steps = state.n_lanes, state.n_steps
    log_depth = state.log_depth
    row_size = max(n_lanes, 64)
    last_word = np.uintp(row_size - 64 if n_lanes >= 64 else LANES - 64)
    for block in range(lo, hi, BLOCK):
        n_rows = min(BLOCK, hi - block)
        first = np.uintp(log_place(state, lo, hi, block, 0))
        step_size = np.uintp(n_rows * ROW_BYTES)
        for i in range(n_rows):
            # Bit b of the level of each lane found by one of these steps.
            b0, b1, b2, b3 = no_lanes(WORDS), no_lanes(WORDS), no_lanes(WORDS), no_lanes(WORDS)
            b4, b5, b6, b7 = no_lanes(WORDS), no_lanes(WORDS), no_lanes(WORDS), no_lanes(WORDS)
            reached = no_lanes(WORDS)
            for step in range(n_steps):
                found = load_at(WORDS, logs, first + np.uintp(step) * step_size)
                reached = union(reached, found)
                depth = log_depth[step]
                if depth & 1:
                    b0 = union(b0, found)
                if depth & 2:
                    b1 = union(b1, found)
                if depth & 4:
                    b2 = union(b2, found)
                if depth & 8:
                    b3 = union(b3, found)
                if depth & 16:
                    b4 = union(b4, found)
                if depth & 32:
                    b5 = union(b5, found)
                if depth & 64:
                    b6 = union(b6, found)
                if depth & 128:
                    b7 = union(b7, found)
            first += np.uintp(ROW_BYTES)
            to = np.uintp(i * row_size)
            write_levels(spare, to, to + last_word, reached, b0, b1, b2, b3, b4, b5, b6, b7)
        start = np.uintp(block * stride + column)
        if stride == row_size:  # rows end to end: past the caches, as nothing reads them soon
            size = np.uintp(n_rows * stride)
            streamed = size & ~np.uintp(15) if start & np.uintp(15) == 0 else np.uintp(0)
            for at in range(np.uintp(0), streamed, np.uintp(16)):
                stream(level, start + at, load_at(WORDS, spare, at))
            for at in range(streamed, size):
                level[start + at] = spare[at]
        else:
            for i in range(n_rows):
                for lane in range(n_lanes):
                    level[start + np.uintp(i * stride + lane)] = spare[i * row_size + lane]
    fence()


@njit(cache=True, nogil=True)
def _write_row(level, to, n_lanes, row, depth):
    for w in range(WORDS):
        bits = word_of(row, np.uintp(w))
        at = np.uintp(to + (n_lanes - 64 if w == WORDS - 1 else 64 * w))
        while bits != 0:
            level[at + np.uintp(lowest(bits))] = depth
            bits &= bits - ONE


@njit(
    [types.void(SCRATCH, types.int64, types.int64, OUT_U8, types.int64, types.int64)],
    cache=True,
    nogil=True,
)
def write_found(scratch, lo, hi, level, stride, column):
    """Write the level just complete, found by a bottom-up step, of nodes lo .. hi - 1."""
    state, words = scratch.state[0], scratch.words
    n_lanes, depth = state.n_lanes, state.depth
    ours, theirs = tables_of(state)
    for node in range(lo, hi):
        v = np.uintp(node)
        row = minus(load(WORDS, words, ours + v), load(WORDS, words, theirs + v))
        if some(row):
            _write_row(level, node * stride + column, n_lanes, row, depth)


@njit(
    [types.void(SCRATCH, types.int64, types.int64, OUT_U8, types.int64, types.int64)],
    cache=True,
    nogil=True,
)
def write_listed(scratch, begin, end, level, stride, column):
    """Write the levels of nodes[begin:end] of the list."""
    n_lanes = scratch.state[0].n_lanes
    nodes, lanes, found_at = scratch.nodes, scratch.lanes, scratch.found_at
    for i in range(begin, end):
        row = load(WORDS, lanes, np.uintp(i))
        to = nodes[i] * np.int64(stride) + column
        _write_row(level, to, n_lanes, row, found_at[i])
