"""One bit-parallel sweep: up to 128 sources share each pass over the arcs of one graph.

A node has a row of two 64-bit words, a bit a lane. ``words`` holds two tables of rows: the
*current* one tells who has reached each node up to the last complete level. No frontier is kept
beside them: what a bottom-up step gathers from neighbours is all that they have, for what is older
than the last level is known to the node already.

- **Bottom-up**: every node that misses a lane unites the current rows of its neighbours and writes
  its own row to the other table, which then becomes the current one. Ranges of nodes are
  independent: threads share a step by ranges, and ``chunk`` numbers what each one counts.
- **Top-down**: the frontier is a list of nodes, and beside it the lanes that reached each of them
  on the last level. The other table is equal to the current one but for what the step finds.

Where levels are wanted, a bottom-up step logs what each node found, and what top-down steps found
stays listed. Bytes are made of all that at once: at the end, or when there is no more room, and
from then on each level is written when it is complete.

``advance`` does everything but passes over all nodes: it returns to its caller for those.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels.lanes import lowest
from kernels.multi_source.cpu_state import (
    BASE,
    BEGIN,
    BOTTOM_UP,
    COVERED,
    CURRENT,
    DEPTH,
    DONE,
    END,
    FRONTIER_ARCS,
    GAINED,
    GROW,
    LANES,
    LEVELS,
    LISTED,
    LOG_DEPTH,
    LOG_STRIDE,
    LONG,
    MAY_LEAVE,
    N_FRONTIER,
    N_LANES,
    N_LOGS,
    N_NARROW,
    N_NODES,
    N_OPEN,
    N_STEPS,
    PENDING,
    RECORD,
    SIDE,
    SPENT,
    WORDS,
    WRITE,
)
from kernels.multi_source.cpu_steps import list_found, settle, top_down
from kernels.signatures import COUNTING, I32, I64, OUT_I32, OUT_I64, OUT_U8, OUT_U64
from kernels.types import N_FARTHEST

# Costs on one core, ns (bench_cpu_sweeps.py): they weigh directions, and sweeps against searches.
BOTTOM_UP_ARC, BOTTOM_UP_NODE = 4, 4
TOP_DOWN_ARC, TOP_DOWN_NODE = 8, 15
SEARCH_ARC, SEARCH_NODE = 3, 12
ONE = np.uint64(1)
TABLE = (OUT_U64, OUT_U64, OUT_I64, OUT_I32, OUT_U64, OUT_I32, OUT_I64)
BY_LANE = (OUT_I32, types.int32[:, ::1])


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


@njit(
    [
        types.void(
            *(I64, I32, types.int64, types.int64),
            *(types.boolean, types.int64, types.int64, types.boolean),
            *(*TABLE, OUT_U8, *BY_LANE),
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
    may_leave,
    n_logs,
    log_stride,
    is_clean,
    words,
    every,
    state,
    nodes,
    lanes,
    found_at,
    by_level,
    bytes_of,
    eccentricity,
    farthest,
):
    """Begin a sweep from up to LANES nodes of a graph; see ``advance``.

    ``may_leave``: it may end with LONG. ``n_logs``: steps that can be logged, -1 where no levels
    are wanted; ``log_stride``: see ``log_place``. ``is_clean``: ``words`` are zero already.
    """
    n_lanes = sources.size
    theirs = n_nodes * WORDS
    if not is_clean:
        words[: 2 * n_nodes * WORDS] = 0
    every[:] = 0
    farthest[:] = -1
    state[:] = 0
    state[BASE], state[N_NODES], state[N_LANES] = base, n_nodes, n_lanes
    state[MAY_LEAVE], state[LEVELS] = may_leave, n_logs >= 0
    state[N_LOGS], state[LOG_STRIDE] = max(0, n_logs), log_stride
    state[LISTED] = 1
    n_listed, n_set = 0, 0
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
        n_set += 1
        bit = ONE << np.uint64(lane & 63)
        every[lane >> 6] |= bit
        words[at + (lane >> 6)] |= bit
    by_level[:LANES] = 0
    arcs, n_closed = settle(
        indptr,
        words,
        every,
        state,
        nodes,
        lanes,
        found_at,
        0,
        n_listed,
        by_level[:LANES],
        bytes_of,
    )
    state[END] = state[N_FRONTIER] = n_listed
    state[FRONTIER_ARCS] = arcs
    state[N_OPEN] = n_nodes - n_closed
    state[COVERED] = state[GAINED] = n_set


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
def _last_listed(nodes, lanes, begin, end, ended, farthest):
    """The smallest nodes of ended lanes, from the list that was their frontier."""
    for i in range(begin, end):
        for w in range(WORDS):
            bits = lanes[i * WORDS + w] & ended[w]
            while bits != 0:
                _insert(farthest, 64 * w + np.int64(lowest(bits)), nodes[i])
                bits &= bits - ONE


@njit(cache=True, nogil=True)
def _last_noted(side, n_chunks, first, n_first, ended, farthest):
    """The same, from what the chunks of a bottom-up step noted."""
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
def _has_ended(before, now, depth, ended, eccentricity):
    """Set the bits of lanes that found nothing on this level; whether there are any."""
    ended[:WORDS] = 0
    for lane in range(LANES):
        if before[lane] > 0 and now[lane] == 0:
            ended[lane >> 6] |= ONE << np.uint64(lane & 63)
            eccentricity[lane] = depth - 1
    any_ended = False
    for w in range(WORDS):
        any_ended = any_ended or ended[w] != 0
    return any_ended


@njit(cache=True, nogil=True)
def _is_long(state, n_arcs, gained):
    """Whether single searches would end sooner than the rest of this sweep.

    Asked once the sweep has spent a twelfth of what they cost. On a short graph the frontier then
    still grows fast from level to level, or lanes meet and share arcs; where neither is so, levels
    will be many and lanes stay apart.
    """
    searches = state[N_LANES] * (n_arcs * SEARCH_ARC + state[N_NODES] * SEARCH_NODE)
    if state[MAY_LEAVE] == 0 or 12 * state[SPENT] < searches:
        return False
    if 3 * state[COVERED] > state[N_LANES] * state[N_NODES]:  # too late to leave
        return False
    is_growing = 4 * gained > 5 * state[GAINED]
    is_sharing = gained > 4 * state[N_FRONTIER]
    return not is_growing and not is_sharing


@njit(cache=True, nogil=True)
def _move_to_front(state, nodes, lanes, found_at):
    """Make room in the list: drop all but the frontier."""
    begin, end = state[BEGIN], state[END]
    for i in range(begin, end):
        nodes[i - begin] = nodes[i]
        found_at[i - begin] = found_at[i]
        for w in range(WORDS):
            lanes[(i - begin) * WORDS + w] = lanes[i * WORDS + w]
    state[BEGIN] = 0
    state[END] = end - begin


@njit(
    [types.int64(I64, I32, *TABLE, *COUNTING, *BY_LANE)],
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
    found_at,
    by_level,
    counts,
    sums,
    bytes_of,
    wanted,
    held,
    first,
    n_first,
    eccentricity,
    farthest,
):
    """Go on with a sweep until all of it is done or the caller has to do something.

    Parameters
    ----------
    words : (2 * n_nodes * WORDS,) uint64
        The two tables.
    every : (WORDS,) uint64
        Lanes that are in use.
    nodes, found_at : (capacity,) int32; lanes : (capacity * WORDS,) uint64
        The list: node, its level, and the lanes that reach it on that level.
    by_level : (>= n_levels * LANES,) int64
        Row d: nodes found at level d, by lane.
    counts, sums, bytes_of, wanted, held, first, n_first
        A row a chunk, see ``bottom_up``.
    eccentricity : (LANES,) int32; farthest : (LANES, N_FARTHEST) int32, -1 on entry

    Returns
    -------
    int
        DONE; BOTTOM_UP: run ``bottom_up`` over all nodes; GROW: give more room in ``by_level``;
        WRITE: make bytes of all that is logged and listed; RECORD: write the level just complete;
        LONG: drop this sweep, single searches are faster.
    """
    n_nodes, base = state[N_NODES], state[BASE]
    n_arcs = indptr[base + n_nodes] - indptr[base]
    capacity = nodes.size
    while True:
        is_up = state[PENDING] == 1
        if not is_up:
            if state[N_FRONTIER] == 0:
                return DONE
            if (state[DEPTH] + 2) * LANES > by_level.size:
                return GROW
            if state[DEPTH] + 1 == N_NARROW and state[LEVELS] == 1:
                return WRITE
            up = state[N_OPEN] * n_arcs // n_nodes * BOTTOM_UP_ARC + n_nodes * BOTTOM_UP_NODE
            arcs, room = state[FRONTIER_ARCS], capacity - state[END]
            if state[LISTED] == 0:
                arcs = state[N_FRONTIER] * n_arcs // n_nodes
                room = (room if state[LEVELS] == 1 else capacity) - state[N_FRONTIER]
            down = arcs * TOP_DOWN_ARC + state[N_FRONTIER] * TOP_DOWN_NODE
            if state[LISTED] == 0:
                down += 2 * n_nodes
            if down >= up or state[N_FRONTIER] + arcs > capacity:
                if state[LEVELS] == 1 and state[N_STEPS] == state[N_LOGS]:
                    return WRITE
                state[SPENT] += up
                state[DEPTH] += 1
                state[PENDING] = 1
                return BOTTOM_UP
            if arcs > room:
                if state[LEVELS] == 1:  # what is listed has to stay until it is written
                    return WRITE
                _move_to_front(state, nodes, lanes, found_at)
            if state[LISTED] == 0:
                at = state[END] if state[LEVELS] == 1 else 0
                state[FRONTIER_ARCS] = list_found(indptr, words, state, nodes, lanes, found_at, at)
                state[LISTED] = 1
                state[SPENT] += 2 * n_nodes
                continue
            state[SPENT] += down
            state[DEPTH] += 1
        row = state[DEPTH] * LANES
        now = by_level[row : row + LANES]
        now[:] = 0
        side, was_listed = state[SIDE], state[LISTED] == 1
        begin, end = state[BEGIN], state[END]
        if is_up:
            n_found = np.int64(0)
            for chunk in range(counts.shape[0]):
                now += counts[chunk]
                n_found += sums[chunk, 0]
                state[N_OPEN] -= sums[chunk, 1]
            state[CURRENT] = 1 - state[CURRENT]
            if state[LEVELS] == 1:
                state[LOG_DEPTH + state[N_STEPS]] = state[DEPTH]
                state[N_STEPS] += 1
            state[LISTED] = 0
            state[PENDING] = 0
            state[SIDE] = 1 - side
        else:
            last = top_down(indptr, indices, words, state, nodes, lanes)
            state[FRONTIER_ARCS], n_closed = settle(
                indptr, words, every, state, nodes, lanes, found_at, end, last, now, bytes_of
            )
            n_found = last - end
            state[BEGIN], state[END] = end, last
            state[N_OPEN] -= n_closed
        state[N_FRONTIER] = n_found
        if _has_ended(by_level[row - LANES : row], now, state[DEPTH], wanted, eccentricity):
            if was_listed:
                _last_listed(nodes, lanes, begin, end, wanted, farthest)
            else:
                _last_noted(side, counts.shape[0], first, n_first, wanted, farthest)
        if n_found > 0:
            gained = now.sum()
            state[COVERED] += gained
            if _is_long(state, n_arcs, gained):
                return LONG
            state[GAINED] = gained
            if state[LEVELS] == 2:
                return RECORD
