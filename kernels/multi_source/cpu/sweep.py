"""One bit-parallel sweep: up to 128 sources share each pass over the arcs of one graph.

A node has a row of two 64-bit words, one bit per lane. ``words`` holds two tables of rows: the
*current* one has the lanes that reached each node up to the last complete level. No frontier is
kept: a bottom-up step gathers everything that the neighbours have, since the node already has what
is older than the last level.

- **Bottom-up**: every node that lacks a lane unites the current rows of its neighbours and writes
  its own row to the other table, which then becomes the current one. Ranges of nodes are
  independent: threads share a step by ranges, and ``chunk`` numbers what each one counts.
- **Top-down**: the frontier is a list of nodes, and beside it the lanes that reached each of them
  on the last level. The other table is equal to the current one except for what the step finds.

Where levels are wanted, a bottom-up step logs what each node found, and what top-down steps found
stays listed. All of it is converted to bytes at once: at the end, or when there is no more room,
and from then on each level is written when it is complete.

``advance`` does everything but passes over all nodes: it returns to its caller for those.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, OUT_I64
from kernels.multi_source.cpu.costs import (
    BOTTOM_UP_ARC,
    BOTTOM_UP_NODE,
    TOP_DOWN_ARC,
    TOP_DOWN_NODE,
    TRIAL,
    ask,
    found_on,
    n_sharing,
    search_ns,
)
from kernels.multi_source.cpu.ends import has_ended, last_listed, last_noted
from kernels.multi_source.cpu.sizes import LANES, N_NARROW, WORDS
from kernels.multi_source.cpu.state import (
    BOTTOM_UP,
    DONE,
    GROW,
    LONG,
    RECORD,
    SCRATCH,
    UNWANTED,
    UNWRITTEN,
    WRITE,
    WRITTEN,
)
from kernels.multi_source.cpu.steps import list_found, settle, top_down
from kernels.types import N_FARTHEST

ONE = np.uint64(1)


@njit([types.int64(types.int64, types.int64)], cache=True, nogil=True)
def source_of(lane, n_lanes):
    """Which source of a group a lane carries, or -1.

    The last word holds the last 64 sources, so that bytes of levels are always stored by 64: some
    of them are in the word before as well. With fewer than 64 sources only the first word is used.
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
            *(SCRATCH, OUT_I64),
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
    scratch,
    by_level,
):
    """Begin a sweep from up to LANES nodes of a graph; see ``advance``.

    ``may_leave``: 0, or it may end with LONG, for single searches by this many threads.
    ``n_logs``: steps that can be logged, -1 where no levels are wanted; ``log_stride``: see
    ``log_place``. ``is_clean``: ``scratch.words`` are zero already.
    """
    state, words, nodes = scratch.state[0], scratch.words, scratch.nodes
    n_lanes = sources.size
    # Loops: numba takes seconds to compile assignments of slices.
    if not is_clean:
        for i in range(2 * n_nodes * WORDS):
            words[i] = 0
    for w in range(WORDS):
        state.every[w] = 0
    for lane in range(LANES):
        by_level[lane] = 0
        for i in range(N_FARTHEST):
            state.farthest[lane, i] = -1
    state.base, state.n_nodes, state.n_lanes = base, n_nodes, n_lanes
    state.current = state.side = state.depth = 0
    state.is_asked = False
    state.levels = UNWRITTEN if n_logs >= 0 else UNWANTED
    state.n_steps, state.n_logs, state.log_stride = 0, max(0, n_logs), log_stride
    n_listed, n_set = np.int64(0), np.int64(0)
    for lane in range(LANES):
        source = source_of(lane, n_lanes)
        if source < 0:
            continue
        v = np.int64(sources[source])
        at = (n_nodes + v) * WORDS  # of the other table: ``settle`` makes the current one equal
        is_new = True
        for w in range(WORDS):
            is_new = is_new and words[at + w] == 0
        if is_new:
            nodes[n_listed] = v
            n_listed += 1
        n_set += 1
        bit = ONE << np.uint64(lane & 63)
        state.every[lane >> 6] |= bit
        words[at + (lane >> 6)] |= bit
    state.n_open = n_nodes
    settle(indptr, scratch, np.int64(0), n_listed, by_level[:LANES])
    state.is_listed = True
    state.covered = state.n_set = n_set
    searches = n_lanes * search_ns(indptr[base + n_nodes] - indptr[base], n_nodes)
    state.may_leave, state.n_asked, state.spent = may_leave, 0, 0
    state.ask_at = np.int64(searches / (TRIAL * max(1, may_leave)))


@njit(cache=True, nogil=True)
def _move_to_front(scratch):
    """Make room in the list: drop all but the frontier."""
    state = scratch.state[0]
    nodes, lanes, found_at = scratch.nodes, scratch.lanes, scratch.found_at
    begin, end = state.begin, state.end
    for i in range(begin, end):
        nodes[i - begin] = nodes[i]
        found_at[i - begin] = found_at[i]
        for w in range(WORDS):
            lanes[(i - begin) * WORDS + w] = lanes[i * WORDS + w]
    state.begin = 0
    state.end = end - begin


@njit([types.int64(I64, I32, SCRATCH, OUT_I64)], cache=True, nogil=True)
def advance(indptr, indices, scratch, by_level):
    """Continue a sweep until it is finished or the caller has to do something.

    Parameters
    ----------
    scratch : Scratch
        As ``start`` left it, or the call before.
    by_level : (>= n_levels * LANES,) int64
        Row d: nodes found at level d, by lane. Beside ``scratch``, as it grows.

    Returns
    -------
    int
        DONE; BOTTOM_UP: run ``bottom_up`` over all nodes; GROW: enlarge ``by_level``; WRITE:
        convert all that is logged and listed to bytes; RECORD: write the level just complete; LONG:
        drop this sweep, single searches are faster.
    """
    state, chunks = scratch.state[0], scratch.chunks
    n_nodes, base = state.n_nodes, state.base
    n_arcs = indptr[base + n_nodes] - indptr[base]
    capacity = scratch.nodes.size
    while True:
        is_up = state.is_asked
        if not is_up:
            if state.n_frontier == 0:
                return DONE
            if (state.depth + 2) * LANES > by_level.size:
                return GROW
            is_kept = state.levels == UNWRITTEN  # what is listed, until it is written
            if state.depth + 1 == N_NARROW and is_kept:
                return WRITE
            up = state.n_open * n_arcs // n_nodes * BOTTOM_UP_ARC + n_nodes * BOTTOM_UP_NODE
            arcs, room = state.frontier_arcs, capacity - state.end
            if not state.is_listed:
                arcs = state.n_frontier * n_arcs // n_nodes
                room = (room if is_kept else capacity) - state.n_frontier
            down = arcs * TOP_DOWN_ARC + state.n_frontier * TOP_DOWN_NODE
            if not state.is_listed:
                down += 2 * n_nodes
            if down >= up or state.n_frontier + arcs > capacity:
                if is_kept and state.n_steps == state.n_logs:
                    return WRITE
                state.spent += up // n_sharing(state, chunks.size)
                state.depth += 1
                state.is_asked = True
                return BOTTOM_UP
            if arcs > room:
                if is_kept:
                    return WRITE
                _move_to_front(scratch)
            if not state.is_listed:
                list_found(indptr, scratch, state.end if is_kept else np.int64(0))
                state.spent += 2 * n_nodes
                continue
            state.spent += down
            state.depth += 1
        row = state.depth * LANES
        now = by_level[row : row + LANES]
        for lane in range(LANES):
            now[lane] = 0
        side, was_listed = state.side, state.is_listed
        begin, end = state.begin, state.end
        if is_up:
            n_found = np.int64(0)
            for i in range(chunks.size):
                chunk = chunks[i]
                for lane in range(LANES):
                    now[lane] += chunk.counts[lane]
                n_found += chunk.n_found
                state.n_open -= chunk.n_closed
            state.n_frontier = n_found
            state.current = 1 - state.current
            if state.levels == UNWRITTEN:
                state.log_depth[state.n_steps] = state.depth
                state.n_steps += 1
            state.is_listed = False
            state.is_asked = False
            state.side = 1 - side
        else:
            settle(indptr, scratch, end, top_down(indptr, indices, scratch), now)
        if has_ended(state, by_level[row - LANES : row], now):
            if was_listed:
                last_listed(scratch, begin, end)
            else:
                last_noted(scratch, side)
        if state.n_frontier > 0:
            state.covered += found_on(by_level, state.depth)
            if ask(state, n_arcs, by_level, chunks.size):
                return LONG
            if state.levels == WRITTEN:
                return RECORD
