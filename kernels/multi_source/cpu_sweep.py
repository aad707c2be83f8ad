"""One bit-parallel sweep: up to 128 sources share each pass over the arcs of one graph.

A node has a row of two 64-bit words, a bit a lane. ``words`` holds two tables of rows: the
*current* one, who has reached a node up to this level, and the *other* one. No frontier is kept
beside them: what a bottom-up step gathers from neighbours is all they have, for what is older than
the last level is known to the node already.

- **Bottom-up**: every node that misses a lane unites the current rows of its neighbours and writes
  its own row to the other table, which then becomes the current one. Ranges of nodes are
  independent: threads share a step by ranges, ``chunk`` numbers what each one counts.
- **Top-down**: the frontier is a list of nodes, and beside it the lanes that reached each of them
  on the last level; both tables are equal but for what the step finds.

Levels are kept as bit planes, 4 rows a node that lie where its levels will be, and become bytes
once: at the end, or when they pass 15. From then on each found lane writes its level.

``advance`` does everything but passes over all nodes and growing of arrays: it returns to its
caller for those. It also notes when single searches would be faster, see ``_is_long``.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels.lanes import (
    common,
    load,
    lowest,
    minus,
    no_lanes,
    note,
    prefetch,
    some,
    spread,
    store,
    tally,
    union,
    word_of,
)
from kernels.signatures import I32, I64, OUT_I32, OUT_I64, OUT_U8, OUT_U64, U64
from kernels.types import N_FARTHEST

WORDS = 2  # of a row: one 16-byte gather an arc
LANES = 64 * WORDS
PLANE_BYTES = 32 * WORDS  # of a node: 4 planes
N_PLANED = 16  # levels that planes hold: 0 to 15
AHEAD = 64  # arcs between asking for a row and using it: 0 is 2.5 times slower, 16 1.2 times
CHECK = np.uintp(7)  # a node with many arcs looks every 8 of them whether it has every lane
ONE = np.uint64(1)
U1 = np.uintp(1)

# What ``advance`` wants done, and then to be called again.
DONE, BOTTOM_UP, GROW, TO_BYTES, RECORD, LONG = range(6)

# Places in ``state``.
BASE, N_NODES, N_LANES = 0, 1, 2
CURRENT = 3  # which table
DEPTH = 4  # last level that is complete
SIDE = 5  # which of the two lists, and of the two sets of first nodes, is the frontier's
LISTED = 6  # 1: the frontier is in a list
N_FRONTIER, FRONTIER_ARCS = 7, 8
OPEN_ARCS = 9  # arcs of nodes that miss a lane
PENDING = 10  # 1: a bottom-up step has been asked for
PLANES = 11  # 1: levels are kept in planes; 2: they are written as bytes; 0: not wanted
PLANE_STRIDE, PLANE_AT = 12, 13  # bytes from node to node, and of node 0
SPENT, COVERED = 14, 15  # cost of this sweep so far, in ns; arcs of lanes: see ``_is_long``
GROWTH = 16  # found arcs of lanes on the level before, for ``_is_long``
MAY_LEAVE = 17  # 1: LONG may be returned
N_STATE = 18

# Costs on one core, ns (bench_cpu_sweeps.py): they weigh directions and single searches.
BOTTOM_UP_ARC, BOTTOM_UP_NODE = 4, 4
TOP_DOWN_ARC, TOP_DOWN_NODE = 8, 15
SEARCH_ARC, SEARCH_NODE = 3, 12


@njit([types.int64(types.int64, types.int64)], cache=True, nogil=True)
def source_of(lane, n_lanes):
    """Which source of a group a lane carries, or -1.

    The last word holds the last 64 sources, so that bytes of levels are always stored by 64: some
    of them are in the word before as well. With less than 64 sources only the first word is used.
    """
    if n_lanes < 64:
        return lane if lane < n_lanes else -1
    return lane if lane < LANES - 64 else lane - LANES + n_lanes


@njit([types.int64(types.int64, types.int64)], cache=True, nogil=True)
def lane_of(source, n_lanes):
    """A lane that carries a source of a group; see ``source_of``."""
    return source if n_lanes < 64 or source < LANES - 64 else source + LANES - n_lanes


@njit(cache=True, nogil=True)
def _flush(bytes_of, at, counts):
    """Add byte counters to the counts of their lanes."""
    for lane in range(LANES):
        counts[lane] += bytes_of[at + lane]
        bytes_of[at + lane] = 0


@njit(cache=True, nogil=True)
def _note_first(v, found, place, first, n_first, wanted):
    """Keep ``v`` for lanes that have less than N_FARTHEST nodes of this level; nodes ascend."""
    for w in range(WORDS):
        bits = word_of(found, np.uintp(w)) & wanted[w]
        while bits != 0:
            bit = lowest(bits)
            bits &= bits - ONE
            slot = place + 64 * w + np.int64(bit)
            first[slot * N_FARTHEST + n_first[slot]] = v
            n_first[slot] += 1
            if n_first[slot] == N_FARTHEST:
                wanted[w] ^= ONE << bit


@njit(
    [
        types.void(
            I64,
            I32,
            OUT_U64,
            U64,
            I64,
            types.int64,
            types.int64,
            types.int64,
            types.int64[:, ::1],
            types.int64[:, ::1],
            OUT_U8,
            OUT_U64,
            OUT_I32,
            OUT_I32,
            OUT_U8,
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
    first,
    n_first,
    planes,
):
    """The step for nodes lo .. hi - 1; fills row ``chunk`` of ``counts`` and ``sums``.

    ``sums`` gets the number of found nodes, their arcs, and the arcs of those now complete.
    """
    base = state[BASE]
    n_nodes = state[N_NODES]
    ours = np.uintp(state[CURRENT] * n_nodes)
    theirs = np.uintp((1 - state[CURRENT]) * n_nodes)
    shift = state[CURRENT] * n_nodes - base
    depth = np.uint64(state[DEPTH])
    in_planes = state[PLANES] == 1
    plane_stride, plane_at = np.uintp(state[PLANE_STRIDE]), np.uintp(state[PLANE_AT])
    n_chunks = counts.shape[0]
    place = ((1 - state[SIDE]) * n_chunks + chunk) * LANES
    n_first[place : place + LANES] = 0
    own_counts = counts[chunk]
    own_counts[:] = 0
    bytes_at = np.uintp(chunk * LANES)
    own_wanted = wanted[chunk * WORDS : (chunk + 1) * WORDS]
    own_wanted[:] = every
    all_lanes = load(WORDS, every, np.uintp(0))
    want = all_lanes
    n_found, arcs, closed = np.int64(0), np.int64(0), np.int64(0)
    room = 255  # additions that the byte counters hold
    top = np.uintp(indices.size - 1)
    end = np.uintp(indptr[base + lo])
    for node in range(lo, hi):
        v = np.uintp(node)
        begin, end = end, np.uintp(indptr[v + np.uintp(base + 1)])
        own = load(WORDS, words, ours + v)
        missing = minus(all_lanes, own)
        if some(missing):
            got = no_lanes(WORDS)
            arc = begin
            while arc < end:
                later = min(arc + np.uintp(AHEAD), top)
                prefetch(WORDS, words, np.uintp(indices[later] + shift))
                got = union(got, load(WORDS, words, np.uintp(indices[arc] + shift)))
                arc += U1
                if arc & CHECK == 0 and not some(minus(missing, got)):
                    break
            found = common(got, missing)
            if some(found):
                own = union(own, found)
                n_found += 1
                arcs += np.int64(end - begin)
                if not some(minus(missing, found)):
                    closed += np.int64(end - begin)
                tally(bytes_of, bytes_at, found)
                room -= 1
                if room == 0:
                    _flush(bytes_of, chunk * LANES, own_counts)
                    room = 255
                if some(common(found, want)):
                    _note_first(node, found, place, first, n_first, own_wanted)
                    want = load(WORDS, own_wanted, np.uintp(0))
                if in_planes:
                    note(planes, v * plane_stride + plane_at, depth, found)
        store(words, theirs + v, own)
    _flush(bytes_of, chunk * LANES, own_counts)
    sums[chunk, 0] = n_found
    sums[chunk, 1] = arcs
    sums[chunk, 2] = closed


@njit(cache=True, nogil=True)
def _list_found(words, state, nodes, lanes, capacity):
    """List what the last bottom-up step found; the other table becomes equal to the current."""
    n_nodes = state[N_NODES]
    ours = np.uintp(state[CURRENT] * n_nodes)
    theirs = np.uintp((1 - state[CURRENT]) * n_nodes)
    at = np.uintp(state[SIDE] * capacity)
    for node in range(n_nodes):
        v = np.uintp(node)
        row = load(WORDS, words, ours + v)
        found = minus(row, load(WORDS, words, theirs + v))
        if some(found):
            store(words, theirs + v, row)
            nodes[at] = node
            store(lanes, at, found)
            at += U1


@njit(cache=True, nogil=True)
def _top_down(
    indptr, indices, words, every, state, nodes, lanes, capacity, counts, bytes_of, planes
):
    """The step from the listed frontier; counts what it found by lane.

    Returns the number of found nodes, their arcs, and the arcs of those now complete.
    """
    base = state[BASE]
    n_nodes = state[N_NODES]
    ours = np.uintp(state[CURRENT] * n_nodes)
    theirs = np.uintp((1 - state[CURRENT]) * n_nodes)
    start = np.uintp(state[SIDE] * capacity)
    begin = np.uintp((1 - state[SIDE]) * capacity)
    end = begin
    for i in range(start, start + np.uintp(state[N_FRONTIER])):
        u = np.uintp(nodes[i] + base)
        push = load(WORDS, lanes, i)
        for arc in range(np.uintp(indptr[u]), np.uintp(indptr[u + U1])):
            v = np.uintp(indices[arc] - base)
            known = load(WORDS, words, ours + v)
            new = minus(push, known)
            if some(new):
                held = load(WORDS, words, theirs + v)
                if not some(minus(held, known)):  # the first to find it
                    nodes[end] = v
                    end += U1
                store(words, theirs + v, union(held, new))
    return _settle(indptr, words, every, state, nodes, lanes, begin, end, counts, bytes_of, planes)


@njit(cache=True, nogil=True)
def _settle(indptr, words, every, state, nodes, lanes, begin, end, counts, bytes_of, planes):
    """Count nodes[begin:end] and what is new in their other rows; make both rows equal."""
    base = state[BASE]
    n_nodes = state[N_NODES]
    ours = np.uintp(state[CURRENT] * n_nodes)
    theirs = np.uintp((1 - state[CURRENT]) * n_nodes)
    plane_stride, plane_at = np.uintp(state[PLANE_STRIDE]), np.uintp(state[PLANE_AT])
    in_planes = state[PLANES] == 1 and state[DEPTH] > 0
    depth = np.uint64(state[DEPTH])
    all_lanes = load(WORDS, every, np.uintp(0))
    arcs, closed = np.int64(0), np.int64(0)
    room = 255
    for i in range(begin, end):
        v = np.uintp(nodes[i])
        row = load(WORDS, words, theirs + v)
        found = minus(row, load(WORDS, words, ours + v))
        store(words, ours + v, row)
        store(lanes, i, found)
        degree = indptr[v + np.uintp(base + 1)] - indptr[v + np.uintp(base)]
        arcs += degree
        if not some(minus(all_lanes, row)):
            closed += degree
        tally(bytes_of, np.uintp(0), found)
        room -= 1
        if room == 0:
            _flush(bytes_of, 0, counts)
            room = 255
        if in_planes:
            note(planes, v * plane_stride + plane_at, depth, found)
    _flush(bytes_of, 0, counts)
    return np.int64(end - begin), arcs, closed


@njit(cache=True, nogil=True)
def _insert(farthest, row, node):
    """Keep the N_FARTHEST smallest nodes of a row in ascending order; -1 is an empty place."""
    last = N_FARTHEST - 1
    if farthest[row, last] >= 0 and farthest[row, last] <= node:
        return
    at = last
    while at > 0 and (farthest[row, at - 1] < 0 or farthest[row, at - 1] > node):
        farthest[row, at] = farthest[row, at - 1]
        at -= 1
    farthest[row, at] = node


@njit(cache=True, nogil=True)
def _end_lanes(
    state,
    side,
    listed,
    n_frontier,
    before,
    now,
    nodes,
    lanes,
    capacity,
    first,
    n_first,
    n_chunks,
    ended,
    eccentricity,
    farthest,
):
    """Note eccentricity and last nodes of lanes that found nothing on this level."""
    any_ended = False
    ended[:] = 0
    for lane in range(LANES):
        if before[lane] > 0 and now[lane] == 0:
            any_ended = True
            ended[lane >> 6] |= ONE << np.uint64(lane & 63)
            eccentricity[lane] = state[DEPTH] - 1
    if not any_ended:
        return
    if listed:
        for i in range(side * capacity, side * capacity + n_frontier):
            for w in range(WORDS):
                bits = lanes[i * WORDS + w] & ended[w]
                while bits != 0:
                    _insert(farthest, 64 * w + np.int64(lowest(bits)), nodes[i])
                    bits &= bits - ONE
        return
    for lane in range(LANES):
        if (ended[lane >> 6] >> np.uint64(lane & 63)) & ONE:
            k = 0
            for chunk in range(n_chunks):
                slot = (side * n_chunks + chunk) * LANES + lane
                for i in range(n_first[slot]):
                    if k < N_FARTHEST:
                        farthest[lane, k] = first[slot * N_FARTHEST + i]
                        k += 1


@njit(cache=True, nogil=True)
def _is_long(state, n_arcs, found_arcs):
    """Whether single searches would end sooner than the rest of this sweep.

    Asked once the sweep has spent a twelfth of what they cost. On a short graph the frontier then
    still doubles from level to level, or lanes meet and share arcs; where neither is so, levels
    will be many and lanes stay apart.
    """
    searches = state[N_LANES] * (n_arcs * SEARCH_ARC + state[N_NODES] * SEARCH_NODE)
    if state[MAY_LEAVE] == 0 or 12 * state[SPENT] < searches:
        return False
    if 3 * state[COVERED] > state[N_LANES] * n_arcs:  # too late to leave
        return False
    is_growing = 4 * found_arcs > 5 * state[GROWTH]
    is_sharing = found_arcs > 4 * state[FRONTIER_ARCS]
    return not is_growing and not is_sharing


@njit(
    [
        types.void(
            I64,
            I32,
            types.int64,
            types.int64,
            OUT_U64,
            OUT_U64,
            OUT_I64,
            OUT_I32,
            OUT_U64,
            OUT_I64,
            OUT_U8,
            OUT_I32,
            types.int32[:, ::1],
            types.boolean,
        )
    ],
    cache=True,
    nogil=True,
)
def start(
    indptr,
    sources,
    base,
    n_nodes,
    words,
    every,
    state,
    nodes,
    lanes,
    levels,
    bytes_of,
    eccentricity,
    farthest,
    is_clean,
):
    """Begin a sweep of one graph from up to LANES of its nodes; see ``advance``.

    ``is_clean``: ``words`` are zero already.
    """
    n_lanes = sources.size
    if not is_clean:
        words[: 2 * n_nodes * WORDS] = 0
    every[:] = 0
    farthest[:] = -1
    may_leave, planes = state[MAY_LEAVE], state[PLANES]
    stride, plane_at = state[PLANE_STRIDE], state[PLANE_AT]
    state[:] = 0
    state[BASE], state[N_NODES], state[N_LANES] = base, n_nodes, n_lanes
    state[MAY_LEAVE], state[PLANES] = may_leave, planes
    state[PLANE_STRIDE], state[PLANE_AT] = stride, plane_at
    state[LISTED] = 1
    theirs = n_nodes * WORDS
    n_listed = 0
    for lane in range(LANES):
        source = source_of(lane, n_lanes)
        if source < 0:
            continue
        v = np.int64(sources[source])
        at = theirs + v * WORDS
        is_new = True
        for w in range(WORDS):
            is_new = is_new and words[at + w] == 0
        if is_new:
            nodes[n_listed] = v
            n_listed += 1
        bit = ONE << np.uint64(lane & 63)
        every[lane >> 6] |= bit
        words[at + (lane >> 6)] |= bit
    levels[:LANES] = 0
    n_found, arcs, closed = _settle(
        indptr,
        words,
        every,
        state,
        nodes,
        lanes,
        np.uintp(0),
        np.uintp(n_listed),
        levels[:LANES],
        bytes_of,
        bytes_of,
    )
    state[N_FRONTIER], state[FRONTIER_ARCS] = n_found, arcs
    state[OPEN_ARCS] = indptr[base + n_nodes] - indptr[base] - closed
    state[COVERED] = arcs
    state[GROWTH] = arcs


@njit(
    [
        types.int64(
            I64,
            I32,
            OUT_U64,
            U64,
            OUT_I64,
            OUT_I32,
            OUT_U64,
            OUT_I64,
            types.int64[:, ::1],
            types.int64[:, ::1],
            OUT_U8,
            OUT_U64,
            OUT_I32,
            OUT_I32,
            OUT_U8,
            OUT_I32,
            types.int32[:, ::1],
        )
    ],
    cache=True,
    nogil=True,
)
def advance(
    indptr,
    indices,
    words,
    every,
    state,
    nodes,
    lanes,
    levels,
    counts,
    sums,
    bytes_of,
    wanted,
    first,
    n_first,
    planes,
    eccentricity,
    farthest,
):
    """Go on with a sweep until all of it is done or the caller has to do something.

    Parameters
    ----------
    words : (2 * n_nodes * WORDS,) uint64
        The two tables of rows.
    every : (WORDS,) uint64
        Lanes that are in use.
    nodes : (2 * capacity,) int32; lanes : (2 * capacity * WORDS,) uint64
        Two lists: the frontier's, and the next one's.
    levels : (>= n_levels * LANES,) int64
        Row d: nodes found at level d, by lane.
    counts, sums, bytes_of, wanted, first, n_first
        A row a chunk, see ``bottom_up``.
    planes : bytes, or empty
    eccentricity : (LANES,) int32; farthest : (LANES, N_FARTHEST) int32, -1 on entry

    Returns
    -------
    int
        DONE; BOTTOM_UP: run ``bottom_up`` over all nodes; GROW: give more room in ``levels``;
        TO_BYTES: make bytes of the planes; RECORD: write the level just complete; LONG: drop
        this sweep, single searches are faster.
    """
    n_nodes = state[N_NODES]
    base = state[BASE]
    n_arcs = indptr[base + n_nodes] - indptr[base]
    capacity = nodes.size // 2
    n_chunks = counts.shape[0]
    while True:
        if state[PENDING] == 0:
            if state[N_FRONTIER] == 0:
                return DONE
            if (state[DEPTH] + 2) * LANES > levels.size:
                return GROW
            if state[PLANES] == 1 and state[DEPTH] + 1 == N_PLANED:
                return TO_BYTES
            frontier_arcs = state[FRONTIER_ARCS]
            down = frontier_arcs * TOP_DOWN_ARC + state[N_FRONTIER] * TOP_DOWN_NODE
            up = state[OPEN_ARCS] * BOTTOM_UP_ARC + n_nodes * BOTTOM_UP_NODE
            if state[LISTED] == 0:
                down += 2 * n_nodes
            state[DEPTH] += 1
            if frontier_arcs > capacity or state[N_FRONTIER] > capacity or down > up:
                state[SPENT] += up
                state[PENDING] = 1
                return BOTTOM_UP
            state[SPENT] += down
        row = state[DEPTH] * LANES
        now = levels[row : row + LANES]
        now[:] = 0
        side, listed, n_frontier = state[SIDE], state[LISTED], state[N_FRONTIER]
        n_found, arcs, closed = np.int64(0), np.int64(0), np.int64(0)
        if state[PENDING] == 1:
            for chunk in range(n_chunks):
                now += counts[chunk]
                n_found += sums[chunk, 0]
                arcs += sums[chunk, 1]
                closed += sums[chunk, 2]
            state[CURRENT] = 1 - state[CURRENT]
            state[LISTED] = 0
        else:
            if listed == 0:
                _list_found(words, state, nodes, lanes, capacity)
                listed = 1
            n_found, arcs, closed = _top_down(
                indptr, indices, words, every, state, nodes, lanes, capacity, now, bytes_of, planes
            )
            state[LISTED] = 1
        state[PENDING] = 0
        state[SIDE] = 1 - side
        state[N_FRONTIER] = n_found
        state[FRONTIER_ARCS] = arcs
        state[OPEN_ARCS] -= closed
        _end_lanes(
            state,
            side,
            listed,
            n_frontier,
            levels[row - LANES : row],
            now,
            nodes,
            lanes,
            capacity,
            first,
            n_first,
            n_chunks,
            wanted,
            eccentricity,
            farthest,
        )
        if n_found > 0:
            # Arcs of lanes: as if every found lane had its node's share of the arcs.
            found_arcs = np.int64(now.sum() * (arcs / n_found))
            state[COVERED] += found_arcs
            if _is_long(state, n_arcs, found_arcs):
                return LONG
            state[GROWTH] = found_arcs
            if state[PLANES] == 2:
                return RECORD


@njit(
    [
        types.void(
            U64, I64, types.int64, types.int64, OUT_U8, OUT_U8, types.int64, types.int64, OUT_U8
        )
    ],
    cache=True,
    nogil=True,
)
def make_bytes(words, state, lo, hi, planes, level, stride, column, spare):
    """Levels of nodes lo .. hi - 1 from their planes: row v is at level[v * stride + column].

    Lanes that have not reached a node get 255. Planes may lie where the row is written.
    ``spare`` is scratch, LANES bytes.
    """
    n_lanes = state[N_LANES]
    ours = np.uintp(state[CURRENT] * state[N_NODES])
    plane_stride, plane_at = np.uintp(state[PLANE_STRIDE]), np.uintp(state[PLANE_AT])
    for node in range(lo, hi):
        v = np.uintp(node)
        seen = load(WORDS, words, ours + v)
        at = v * plane_stride + plane_at
        to = v * np.uintp(stride) + np.uintp(column)
        if n_lanes >= 64:
            spread(planes, at, seen, level, to, to + np.uintp(n_lanes - 64))
        else:
            spread(planes, at, seen, spare, np.uintp(0), np.uintp(64))
            for lane in range(n_lanes):
                level[to + np.uintp(lane)] = spare[lane]


@njit(cache=True, nogil=True)
def _write_level(level, to, n_lanes, row, depth):
    for w in range(WORDS):
        bits = word_of(row, np.uintp(w))
        at = to + np.uintp(n_lanes - 64 if w == WORDS - 1 else 64 * w)
        while bits != 0:
            level[at + np.uintp(lowest(bits))] = depth
            bits &= bits - ONE


@njit(
    [types.void(U64, I64, I32, U64, types.int64, types.int64, OUT_U8, types.int64, types.int64)],
    cache=True,
    nogil=True,
)
def record(words, state, nodes, lanes, lo, hi, level, stride, column):
    """Write the level just complete for the lanes that found nodes lo .. hi - 1 on it."""
    n_lanes, depth = state[N_LANES], state[DEPTH]
    if state[LISTED] == 1:
        start_of_list = state[SIDE] * (nodes.size // 2)
        for i in range(start_of_list, start_of_list + state[N_FRONTIER]):
            v = np.int64(nodes[i])
            if lo <= v < hi:
                row = load(WORDS, lanes, np.uintp(i))
                _write_level(level, np.uintp(v * stride + column), n_lanes, row, depth)
        return
    ours = np.uintp(state[CURRENT] * state[N_NODES])
    theirs = np.uintp((1 - state[CURRENT]) * state[N_NODES])
    for node in range(lo, hi):
        v = np.uintp(node)
        row = minus(load(WORDS, words, ours + v), load(WORDS, words, theirs + v))
        if some(row):
            _write_level(level, np.uintp(node * stride + column), n_lanes, row, depth)
