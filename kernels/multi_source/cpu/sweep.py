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

from kernels._cpu.lanes import lowest
from kernels._cpu.signatures import COUNTING, I32, I64, OUT_I32, OUT_I64, OUT_U8, OUT_U64
from kernels.multi_source.cpu.state import (
    ASK_AT,
    BASE,
    BEGIN,
    BOTTOM_UP,
    COVERED,
    CURRENT,
    DEPTH,
    DONE,
    END,
    FRONTIER_ARCS,
    GROW,
    LANES,
    LEVELS,
    LISTED,
    LOG_DEPTH,
    LOG_STRIDE,
    LONG,
    MAY_LEAVE,
    N_ASKED,
    N_FRONTIER,
    N_LANES,
    N_LOGS,
    N_NARROW,
    N_NODES,
    N_OPEN,
    N_SET,
    N_STEPS,
    PENDING,
    RECORD,
    SIDE,
    SPENT,
    WORDS,
    WRITE,
)
from kernels.multi_source.cpu.steps import list_found, settle, top_down
from kernels.types import N_FARTHEST

# Costs on one core, ns (bench_cpu_sweeps.py): they weigh directions, and sweeps against searches.
BOTTOM_UP_ARC, BOTTOM_UP_NODE = 4, 4
TOP_DOWN_ARC, TOP_DOWN_NODE = 8, 15
SEARCH_ARC, SEARCH_NODE = 1.5, 6
TRIAL = 24  # a sweep may spend that part of the time of single searches before it is asked
MOST_ASKED = 4  # times, each time when it has spent a third more
ONE = np.uint64(1)
TABLE = (OUT_U64, OUT_U64, OUT_I64, OUT_I32, OUT_U64, OUT_I32, OUT_I64)
BY_LANE = (OUT_I32, types.int32[:, ::1])


@njit(cache=True, nogil=True)
def _search_ns(n_arcs, n_nodes):
    """Estimated time of one single search, ns."""
    return n_arcs * SEARCH_ARC + n_nodes * SEARCH_NODE


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
            *(types.int64, types.int64, types.int64, types.boolean),
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

    ``may_leave``: 0, or it may end with LONG, for single searches by so many threads.
    ``n_logs``: steps that can be logged, -1 where no levels are wanted; ``log_stride``: see
    ``log_place``. ``is_clean``: ``words`` are zero already.
    """
    n_lanes = sources.size
    theirs = n_nodes * WORDS
    # Loops: numba takes seconds to compile assignments of slices.
    if not is_clean:
        for i in range(2 * n_nodes * WORDS):
            words[i] = 0
    for w in range(WORDS):
        every[w] = 0
    for lane in range(LANES):
        by_level[lane] = 0
        for i in range(N_FARTHEST):
            farthest[lane, i] = -1
    for i in range(state.size):
        state[i] = 0
    state[BASE], state[N_NODES], state[N_LANES] = base, n_nodes, n_lanes
    state[MAY_LEAVE], state[LEVELS] = may_leave, n_logs >= 0
    state[N_LOGS], state[LOG_STRIDE] = max(0, n_logs), log_stride
    state[LISTED] = 1
    n_listed, n_set = np.int64(0), np.int64(0)
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
    arcs, n_closed = settle(
        indptr,
        words,
        every,
        state,
        nodes,
        lanes,
        found_at,
        np.int64(0),
        np.int64(n_listed),
        by_level[:LANES],
        bytes_of,
    )
    state[END] = state[N_FRONTIER] = n_listed
    state[FRONTIER_ARCS] = arcs
    state[N_OPEN] = n_nodes - n_closed
    state[COVERED] = state[N_SET] = n_set
    searches = n_lanes * _search_ns(indptr[base + n_nodes] - indptr[base], n_nodes)
    state[ASK_AT] = np.int64(searches / (TRIAL * max(1, may_leave)))


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
    for w in range(WORDS):
        ended[w] = 0
    for lane in range(LANES):
        if before[lane] > 0 and now[lane] == 0:
            ended[lane >> 6] |= ONE << np.uint64(lane & 63)
            eccentricity[lane] = depth - 1
    any_ended = False
    for w in range(WORDS):
        any_ended = any_ended or ended[w] != 0
    return any_ended


@njit(cache=True, nogil=True)
def _n_sharing(state, n_chunks):
    """Threads that share a bottom-up step."""
    return max(1, state[MAY_LEAVE]) if n_chunks > 1 else np.int64(1)


@njit(cache=True, nogil=True)
def _found_at(by_level, depth):
    """Lanes found by all nodes on a level."""
    n_found = np.int64(0)
    for lane in range(LANES):
        n_found += by_level[depth * LANES + lane]
    return n_found


@njit(cache=True, nogil=True)
def _is_long(state, n_arcs, by_level, n_chunks):
    """Whether single searches would end sooner than the rest of this sweep.

    Asked a few times while the sweep has spent little of what they cost. How many lanes-at-nodes
    the next levels will find is told from the last quarters of those known: if the logarithm of a
    level's finds grew more from t/2 to t than from t/4 to t/2, they grow by a factor a level, as
    on short graphs; else by a power of the level, as on grids. A level costs what the cheaper
    step does.
    """
    depth, n_nodes, n_threads = state[DEPTH], state[N_NODES], state[MAY_LEAVE]
    n_alive = np.int64(0)
    for lane in range(LANES):
        n_alive += by_level[depth * LANES + lane] > 0
    searches = n_alive / state[N_SET] * state[N_LANES] * _search_ns(n_arcs, n_nodes) / n_threads
    now, half, quarter = depth, depth // 2, depth // 4
    g_now = np.float64(_found_at(by_level, depth))
    g_half = np.float64(_found_at(by_level, half))
    g_quarter = np.float64(_found_at(by_level, quarter))
    late, early = np.log(g_now / g_half), np.log(g_half / g_quarter)
    is_exponential = late > 1.4 * early and late > 0.3
    factor = np.exp(late / (now - half))
    power = max(0.0, late) / np.log(2.0)
    degree = n_arcs / n_nodes
    down = (degree * TOP_DOWN_ARC + TOP_DOWN_NODE) * state[N_FRONTIER] / g_now
    up = n_nodes * (degree * BOTTOM_UP_ARC + BOTTOM_UP_NODE) / _n_sharing(state, n_chunks)
    covered, cost, level = np.float64(state[COVERED]), 0.0, np.float64(depth)
    while covered < n_alive * np.float64(n_nodes) and cost <= searches:
        level += 1
        g_now *= factor if is_exponential else 1 + power / level
        covered += g_now
        cost += min(g_now * down, up)
    return cost > searches


def rest_ns(
    state: np.ndarray,
    n_arcs: int,
    by_level: np.ndarray,
    n_chunks: int,
    hop_counts: np.ndarray,
) -> float:
    """What is left of a sweep, ns, if every lane finds what a search of one source found.

    ``hop_counts``: (n_levels,) int64, nodes by level of that search.
    """
    depth, n_nodes = int(state[DEPTH]), int(state[N_NODES])
    found = by_level[depth * LANES : (depth + 1) * LANES]
    # A node that several lanes find on a level is listed once.
    by_lanes = np.count_nonzero(found) * hop_counts[depth + 1 :].astype(np.float64)
    sharing = int(state[N_FRONTIER]) / max(1, int(found.sum()))
    listed = np.minimum(by_lanes * sharing, n_nodes * -np.expm1(-by_lanes / n_nodes))
    degree = n_arcs / n_nodes
    up = n_nodes * (degree * BOTTOM_UP_ARC + BOTTOM_UP_NODE) / _n_sharing(state, n_chunks)
    down = listed * (degree * TOP_DOWN_ARC + TOP_DOWN_NODE)
    return float(np.minimum(down, up).sum())


@njit(cache=True, nogil=True)
def _ask(state, n_arcs, by_level, n_chunks):
    """``_is_long`` if it is time to ask; a short graph has ended before its 8th level."""
    if state[MAY_LEAVE] == 0 or state[SPENT] < state[ASK_AT] or state[DEPTH] < 8:
        return False
    if state[N_ASKED] == MOST_ASKED:
        return False
    state[N_ASKED] += 1
    state[ASK_AT] = state[SPENT] + state[SPENT] // 3
    return _is_long(state, n_arcs, by_level, n_chunks)


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
                state[SPENT] += up // _n_sharing(state, counts.shape[0])
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
        for lane in range(LANES):
            now[lane] = 0
        side, was_listed = state[SIDE], state[LISTED] == 1
        begin, end = state[BEGIN], state[END]
        if is_up:
            n_found = np.int64(0)
            for chunk in range(counts.shape[0]):
                for lane in range(LANES):
                    now[lane] += counts[chunk, lane]
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
            state[COVERED] += _found_at(by_level, state[DEPTH])
            if _ask(state, n_arcs, by_level, counts.shape[0]):
                return LONG
            if state[LEVELS] == 2:
                return RECORD
