"""The two steps of a sweep on cores, see ``sweep``."""

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
from kernels._cpu.signatures import COUNTING, I32, I64, OUT_U8, OUT_U64, U64
from kernels.multi_source.cpu.state import (
    BASE,
    BEGIN,
    BLOCK,
    CURRENT,
    DEPTH,
    END,
    LANES,
    LEVELS,
    LOG_STRIDE,
    N_LOGS,
    N_NODES,
    N_STEPS,
    ROW_BYTES,
    SIDE,
    WORDS,
)
from kernels.types import N_FARTHEST

AHEAD = 64  # arcs between asking for a row and using it: 0 is 2.5 times slower, 16 1.2 times
SOME_ARCS = np.uintp(8)  # after as many a node looks whether it has every lane
ONE = np.uint64(1)
U1 = np.uintp(1)


@njit(cache=True, nogil=True)
def flush(bytes_of, at, counts):
    """Add byte counters to the counts of their lanes."""
    for lane in range(LANES):
        counts[lane] += bytes_of[at + lane]
        bytes_of[at + lane] = 0


@njit([types.int64(I64, *[types.int64] * 4)], cache=True, nogil=True)
def log_place(state, lo, hi, block, step):
    """Byte of ``logs`` at which a step's rows of the nodes block .. block + BLOCK - 1 begin.

    ``lo`` and ``hi`` are the borders of the range that holds the block: each range is made bytes
    of by itself. Where logs lie within the levels, those of a range fill the end of its place;
    going up, bytes of a block then overwrite logs of itself and of blocks before, never of a later
    one, see ``logs_within``.
    """
    n_logs = state[N_LOGS]
    start = lo * ROW_BYTES * n_logs
    if state[LOG_STRIDE] > 0:
        start = (state[LOG_STRIDE] * hi - ROW_BYTES * n_logs * (hi - lo)) & ~np.int64(15)
    n_rows = min(BLOCK, hi - block)
    return start + ROW_BYTES * (n_logs * (block - lo) + n_rows * step)


@njit(cache=True, nogil=True)
def _note_first(words, ours, theirs, held, begin, end, place, first, n_first, wanted):
    """Keep held nodes for lanes that have less than N_FARTHEST of this level; nodes ascend."""
    for i in range(begin, end):
        v = np.uintp(held[i])
        found = minus(load(WORDS, words, theirs + v), load(WORDS, words, ours + v))
        for w in range(WORDS):
            bits = word_of(found, np.uintp(w)) & wanted[w]
            while bits != 0:
                bit = lowest(bits)
                bits &= bits - ONE
                slot = place + 64 * w + np.int64(bit)
                first[slot * N_FARTHEST + n_first[slot]] = held[i]
                n_first[slot] += 1
                if n_first[slot] == N_FARTHEST:
                    wanted[w] ^= ONE << bit


@njit(
    [
        types.void(
            I64, I32, OUT_U64, U64, I64, types.int64, types.int64, types.int64, *COUNTING, OUT_U8
        )
    ],
    cache=True,
    nogil=True,
)
def bottom_up(
    indptr,
    indices,
    words,
    every,
    state,
    lo,
    hi,
    chunk,
    counts,
    sums,
    bytes_of,
    wanted,
    held,
    first,
    n_first,
    logs,
):
    """The step for nodes lo .. hi - 1; fills row ``chunk`` of the counting arrays.

    ``counts`` get the nodes found by lane, ``sums`` the nodes that were found by any lane and
    those that now have every lane. ``first`` gets the first nodes of each lane, from ``held``:
    nodes of a block that some lane may want. Before levels are written, ``logs`` gets what each
    node found, see ``log_place``.
    """
    base, n_nodes = state[BASE], state[N_NODES]
    ours = np.uintp(state[CURRENT] * n_nodes)
    theirs = np.uintp((1 - state[CURRENT]) * n_nodes)
    is_logged = state[LEVELS] == 1
    shift = state[CURRENT] * n_nodes - base
    place = ((1 - state[SIDE]) * counts.shape[0] + chunk) * LANES
    own_counts = counts[chunk]
    for lane in range(LANES):  # loops: numba takes seconds to compile assignments of slices
        n_first[place + lane] = 0
        own_counts[lane] = 0
    bytes_at = np.uintp(chunk * LANES)
    own_wanted = wanted[chunk * WORDS : (chunk + 1) * WORDS]
    for w in range(WORDS):
        own_wanted[w] = every[w]
    held_at = np.uintp(chunk * BLOCK)
    all_lanes = load(WORDS, every, np.uintp(0))
    want = all_lanes
    n_found, n_closed = np.int64(0), np.int64(0)
    n_blocks = 0
    end = np.uintp(indptr[base + lo])
    for block in range(lo, hi, BLOCK):
        n_held = held_at
        log_at = np.uintp(log_place(state, lo, hi, block, state[N_STEPS]))
        for node in range(block, min(block + BLOCK, hi)):
            v = np.uintp(node)
            begin, end = end, np.uintp(indptr[v + np.uintp(base + 1)])
            own = load(WORDS, words, ours + v)
            missing = minus(all_lanes, own)
            found = no_lanes(WORDS)
            if some(missing):
                later = np.uintp(AHEAD) if end + np.uintp(AHEAD) < np.uintp(indices.size) else 0
                got = no_lanes(WORDS)
                arc = begin
                while arc < end:
                    stop = min(arc + SOME_ARCS, end)
                    while arc < stop:
                        prefetch(WORDS, words, np.uintp(indices[arc + np.uintp(later)] + shift))
                        got = union(got, load(WORDS, words, np.uintp(indices[arc] + shift)))
                        arc += U1
                    if arc >= end or not some(minus(missing, got)):
                        break
                found = common(got, missing)
                if some(found):
                    own = union(own, found)
                    n_found += 1
                    n_closed += not some(minus(missing, found))
                    tally(bytes_of, bytes_at, found)
                    if some(common(found, want)):
                        held[n_held] = node
                        n_held += U1
            store(words, theirs + v, own)
            if is_logged:
                stream(logs, log_at, found)
                log_at += np.uintp(ROW_BYTES)
        if n_held > held_at:
            _note_first(
                words, ours, theirs, held, held_at, n_held, place, first, n_first, own_wanted
            )
            want = load(WORDS, own_wanted, np.uintp(0))
        n_blocks += 1
        if n_blocks == 255 // BLOCK:
            flush(bytes_of, chunk * LANES, own_counts)
            n_blocks = 0
    flush(bytes_of, chunk * LANES, own_counts)
    if is_logged:
        fence()
    sums[chunk, 0] = n_found
    sums[chunk, 1] = n_closed


@njit(cache=True, nogil=True)
def list_found(indptr, words, state, nodes, lanes, found_at, at):
    """List what the last bottom-up step found, from place ``at`` on.

    The other table becomes equal to the current one. Returns the arcs of the listed nodes.
    """
    base, n_nodes = state[BASE], state[N_NODES]
    ours = np.uintp(state[CURRENT] * n_nodes)
    theirs = np.uintp((1 - state[CURRENT]) * n_nodes)
    arcs = np.int64(0)
    state[BEGIN] = at
    for node in range(n_nodes):
        v = np.uintp(node)
        row = load(WORDS, words, ours + v)
        found = minus(row, load(WORDS, words, theirs + v))
        if some(found):
            store(words, theirs + v, row)
            nodes[at] = node
            store(lanes, np.uintp(at), found)
            found_at[at] = state[DEPTH]
            at += 1
            arcs += indptr[base + node + 1] - indptr[base + node]
    state[END] = at
    return arcs


@njit(cache=True, nogil=True)
def top_down(indptr, indices, words, state, nodes, lanes):
    """Push lanes from the listed frontier; returns where the list of found nodes ends.

    What is found is in the rows of the other table; ``settle`` makes the current one equal.
    """
    base, n_nodes = state[BASE], state[N_NODES]
    ours = np.uintp(state[CURRENT] * n_nodes)
    theirs = np.uintp((1 - state[CURRENT]) * n_nodes)
    end = np.uintp(state[END])
    for i in range(np.uintp(state[BEGIN]), np.uintp(state[END])):
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
def settle(indptr, words, every, state, nodes, lanes, found_at, begin, end, counts, bytes_of):
    """Count nodes[begin:end] by the lanes that found them, and make their two rows equal.

    Returns their arcs, and how many of them have every lane.
    """
    base, n_nodes = state[BASE], state[N_NODES]
    ours = np.uintp(state[CURRENT] * n_nodes)
    theirs = np.uintp((1 - state[CURRENT]) * n_nodes)
    all_lanes = load(WORDS, every, np.uintp(0))
    arcs, n_closed = np.int64(0), np.int64(0)
    room = 255  # additions that the byte counters hold
    for i in range(np.uintp(begin), np.uintp(end)):
        v = np.uintp(nodes[i])
        row = load(WORDS, words, theirs + v)
        found = minus(row, load(WORDS, words, ours + v))
        store(words, ours + v, row)
        store(lanes, i, found)
        found_at[i] = state[DEPTH]
        arcs += indptr[v + np.uintp(base + 1)] - indptr[v + np.uintp(base)]
        n_closed += not some(minus(all_lanes, row))
        tally(bytes_of, np.uintp(0), found)
        room -= 1
        if room == 0:
            flush(bytes_of, 0, counts)
            room = 255
    flush(bytes_of, 0, counts)
    return arcs, n_closed
