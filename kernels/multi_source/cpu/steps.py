"""The two steps of a sweep on cores, see ``sweep``.

They differ from those of ``_cpu.near_steps`` and ``eccentricity.searches.sweep_steps`` in what they
note: hops are counted by lane, levels can be written, and several threads share a step. Why the
loops over arcs that are left are not one function: ``_cpu.sweep_constants``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.lanes import (
    common,
    fence,
    load,
    lowest,
    minus,
    no_lanes,
    prefetch,
    some,
    store,
    stream,
    tally,
    union,
    word_of,
)
from kernels._cpu.signatures import I32, I64, OUT_U8
from kernels._cpu.sweep_constants import AHEAD, SOME_ARCS
from kernels.multi_source.cpu.sizes import BLOCK, LANES, ROW_BYTES, WORDS
from kernels.multi_source.cpu.state import SCRATCH, STATE_TYPE, UNWRITTEN
from kernels.types import N_FARTHEST

ONE = np.uint64(1)
U1 = np.uintp(1)


@njit(cache=True, nogil=True)
def tables_of(state):
    """Rows at which the current table begins in ``words``, and the other one."""
    ours = np.uintp(state.current * state.n_nodes)
    theirs = np.uintp((1 - state.current) * state.n_nodes)
    return ours, theirs


@njit(cache=True, nogil=True)
def flush(bytes_of, counts):
    """Add byte counters to the counts of their lanes."""
    for lane in range(LANES):
        counts[lane] += bytes_of[lane]
        bytes_of[lane] = 0


@njit([types.int64(STATE_TYPE, *[types.int64] * 4)], cache=True, nogil=True)
def log_place(state, lo, hi, block, step):
    """Byte of ``logs`` at which a step's rows of the nodes block .. block + BLOCK - 1 begin.

    ``lo`` and ``hi`` are the borders of the range that holds the block: each range is converted to
    bytes separately. Where logs lie within the levels, those of a range fill the end of its place;
    going up, bytes of a block then overwrite its own logs and those of earlier blocks, never of a
    later one, see ``logs_within``.
    """
    n_logs = state.n_logs
    start = lo * ROW_BYTES * n_logs
    if state.log_stride > 0:
        start = (state.log_stride * hi - ROW_BYTES * n_logs * (hi - lo)) & ~np.int64(15)
    n_rows = min(BLOCK, hi - block)
    return start + ROW_BYTES * (n_logs * (block - lo) + n_rows * step)


@njit(cache=True, nogil=True)
def _note_first(words, ours, theirs, own, n_held, side):
    """Keep held nodes for lanes that have fewer than N_FARTHEST of this level; nodes ascend."""
    held, wanted, first, n_first = own.held, own.wanted, own.first, own.n_first
    for i in range(n_held):
        v = np.uintp(held[i])
        found = minus(load(WORDS, words, theirs + v), load(WORDS, words, ours + v))
        for w in range(WORDS):
            bits = word_of(found, np.uintp(w)) & wanted[w]
            while bits != 0:
                bit = lowest(bits)
                bits &= bits - ONE
                lane = 64 * w + np.int64(bit)
                first[side, lane, n_first[side, lane]] = held[i]
                n_first[side, lane] += 1
                if n_first[side, lane] == N_FARTHEST:
                    wanted[w] ^= ONE << bit


@njit(
    [types.void(I64, I32, SCRATCH, types.int64, types.int64, types.int64, OUT_U8)],
    cache=True,
    nogil=True,
)
def bottom_up(indptr, indices, scratch, lo, hi, chunk, logs):
    """The step for nodes lo .. hi - 1; fills ``scratch.chunks[chunk]``.

    Before levels are written, ``logs`` gets what each node found, see ``log_place``.
    """
    state, own_chunk, words = scratch.state[0], scratch.chunks[chunk], scratch.words
    base = state.base
    ours, theirs = tables_of(state)
    is_logged = state.levels == UNWRITTEN
    shift = state.current * state.n_nodes - base
    side = 1 - state.side
    counts, bytes_of = own_chunk.counts, own_chunk.bytes_of
    held, wanted = own_chunk.held, own_chunk.wanted
    for lane in range(LANES):  # loops: numba takes seconds to compile assignments of slices
        own_chunk.n_first[side, lane] = 0
        counts[lane] = 0
    for w in range(WORDS):
        wanted[w] = state.every[w]
    all_lanes = load(WORDS, state.every, np.uintp(0))
    want = all_lanes
    n_found, n_closed = np.int64(0), np.int64(0)
    n_blocks = 0
    end = np.uintp(indptr[base + lo])
    for block in range(lo, hi, BLOCK):
        n_held = np.uintp(0)
        log_at = np.uintp(log_place(state, lo, hi, block, state.n_steps))
        for node in range(block, min(block + BLOCK, hi)):
            v = np.uintp(node)
            begin, end = end, np.uintp(indptr[v + np.uintp(base + 1)])
            own = load(WORDS, words, ours + v)
            missing = minus(all_lanes, own)
            found = no_lanes(WORDS)
            if some(missing):
                later = AHEAD if end + AHEAD < np.uintp(indices.size) else np.uintp(0)
                got = no_lanes(WORDS)
                arc = begin
                while arc < end:
                    stop = min(arc + SOME_ARCS, end)
                    while arc < stop:
                        prefetch(WORDS, words, np.uintp(indices[arc + later] + shift))
                        got = union(got, load(WORDS, words, np.uintp(indices[arc] + shift)))
                        arc += U1
                    if arc >= end or not some(minus(missing, got)):
                        break
                found = common(got, missing)
                if some(found):
                    own = union(own, found)
                    n_found += 1
                    n_closed += not some(minus(missing, found))
                    tally(bytes_of, np.uintp(0), found)
                    if some(common(found, want)):
                        held[n_held] = node
                        n_held += U1
            store(words, theirs + v, own)
            if is_logged:
                stream(logs, log_at, found)
                log_at += np.uintp(ROW_BYTES)
        if n_held > 0:
            _note_first(words, ours, theirs, own_chunk, n_held, side)
            want = load(WORDS, wanted, np.uintp(0))
        n_blocks += 1
        if n_blocks == 255 // BLOCK:
            flush(bytes_of, counts)
            n_blocks = 0
    flush(bytes_of, counts)
    if is_logged:
        fence()
    own_chunk.n_found = n_found
    own_chunk.n_closed = n_closed


@njit(cache=True, nogil=True)
def list_found(indptr, scratch, at):
    """List what the last bottom-up step found, from place ``at`` on.

    The other table becomes equal to the current one.
    """
    state, words = scratch.state[0], scratch.words
    nodes, lanes, found_at = scratch.nodes, scratch.lanes, scratch.found_at
    base, depth = state.base, state.depth
    ours, theirs = tables_of(state)
    arcs = np.int64(0)
    state.begin = at
    for node in range(state.n_nodes):
        v = np.uintp(node)
        row = load(WORDS, words, ours + v)
        found = minus(row, load(WORDS, words, theirs + v))
        if some(found):
            store(words, theirs + v, row)
            nodes[at] = node
            store(lanes, np.uintp(at), found)
            found_at[at] = depth
            at += 1
            arcs += indptr[base + node + 1] - indptr[base + node]
    state.end = at
    state.frontier_arcs = arcs
    state.is_listed = True


@njit(cache=True, nogil=True)
def top_down(indptr, indices, scratch):
    """Push lanes from the listed frontier; returns where the list of found nodes ends.

    What is found is in the rows of the other table; ``settle`` makes the current one equal.
    """
    state, words = scratch.state[0], scratch.words
    nodes, lanes = scratch.nodes, scratch.lanes
    base = state.base
    ours, theirs = tables_of(state)
    end = np.uintp(state.end)
    for i in range(np.uintp(state.begin), np.uintp(state.end)):
        u = np.uintp(nodes[i] + base)
        push = load(WORDS, lanes, i)
        for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + U1])):
            v = np.uintp(indices[arc] - base)
            known = load(WORDS, words, ours + v)
            new = minus(push, known)
            if some(new):
                before = load(WORDS, words, theirs + v)
                if not some(minus(before, known)):  # the first to find it
                    nodes[end] = v
                    end += U1
                store(words, theirs + v, union(before, new))
    return np.int64(end)


@njit(cache=True, nogil=True)
def settle(indptr, scratch, begin, end, counts):
    """Make nodes[begin:end] the frontier: count them by the lanes that found them.

    Their two rows become equal. ``counts``: (LANES,) int64, added to.
    """
    state, words = scratch.state[0], scratch.words
    nodes, lanes, found_at = scratch.nodes, scratch.lanes, scratch.found_at
    bytes_of = scratch.chunks[0].bytes_of
    base, depth = state.base, state.depth
    ours, theirs = tables_of(state)
    all_lanes = load(WORDS, state.every, np.uintp(0))
    arcs, n_closed = np.int64(0), np.int64(0)
    room = 255  # additions that the byte counters hold
    for i in range(np.uintp(begin), np.uintp(end)):
        v = np.uintp(nodes[i])
        row = load(WORDS, words, theirs + v)
        found = minus(row, load(WORDS, words, ours + v))
        store(words, ours + v, row)
        store(lanes, i, found)
        found_at[i] = depth
        arcs += indptr[v + np.uintp(base + 1)] - indptr[v + np.uintp(base)]
        n_closed += not some(minus(all_lanes, row))
        tally(bytes_of, np.uintp(0), found)
        room -= 1
        if room == 0:
            flush(bytes_of, counts)
            room = 255
    flush(bytes_of, counts)
    state.begin, state.end = begin, end
    state.n_frontier = end - begin
    state.frontier_arcs = arcs
    state.n_open -= n_closed
