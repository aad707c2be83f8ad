"""What a sweep on cores keeps: places in its ``state``, sizes, and the memory it needs.

``state`` is an array of int64 rather than an object, so that compiled code and Python share it.
"""

from __future__ import annotations

import numpy as np

from kernels.types import N_FARTHEST

WORDS = 2  # of a row: one 16-byte gather an arc
LANES = 64 * WORDS
BLOCK = 64  # nodes that a bottom-up step counts at once
N_NARROW = 255  # levels that a byte holds: 0 to 254, 255 means unreached
ROW_BYTES = 8 * WORDS
MAX_LOGS = 7  # bottom-up steps whose finds are kept until bytes are made of all of them
N_LOGS_APART = 4  # where they cannot lie within the levels
LEAST_WITHIN = 64  # sources from which they can: with fewer, too few steps would find room

# What ``advance`` wants done before it is called again.
DONE, BOTTOM_UP, GROW, WRITE, RECORD, LONG = range(6)

# Places in ``state``.
BASE, N_NODES, N_LANES = 0, 1, 2
CURRENT = 3  # which table of the ring
DEPTH = 4  # last level that is complete
LISTED, BEGIN, END = 5, 6, 7  # 1: the frontier is nodes[BEGIN:END] of the list
N_FRONTIER = 8
FRONTIER_ARCS = 9  # right if it is listed
N_OPEN = 10  # nodes that miss a lane
PENDING = 11  # 1: a bottom-up step has been asked for
LEVELS = 12  # 0: not wanted; 1: nothing is written yet; 2: every complete level is written
N_STEPS = 13  # bottom-up steps that are logged
N_LOGS = 14  # how many there is room for
LOG_STRIDE = 15  # bytes of a node where logs lie within the levels themselves; else 0
SIDE = 16  # which half of ``first`` is the frontier's
MAY_LEAVE = 17  # 0: LONG is not returned; else the threads that single searches would have
SPENT = 18  # time of the sweep so far, ns, estimated
ASK_AT, N_ASKED = 19, 20  # what it has spent when it is asked next whether the graph is long
N_SET = 21  # lanes in use
COVERED = 22  # lanes found by all nodes
LOG_DEPTH = 23  # and the next MAX_LOGS places: levels of the logged steps
N_STATE = LOG_DEPTH + MAX_LOGS


def counting_scratch(n_chunks: int) -> tuple[np.ndarray, ...]:
    """counts, sums, bytes_of, wanted, held, first, n_first of ``bottom_up``: a row a chunk."""
    return (
        np.zeros((n_chunks, LANES), np.int64),
        np.zeros((n_chunks, 2), np.int64),
        np.zeros(n_chunks * LANES, np.uint8),
        np.zeros(n_chunks * WORDS, np.uint64),
        np.zeros(n_chunks * BLOCK, np.int32),
        np.zeros(2 * n_chunks * LANES * N_FARTHEST, np.int32),
        np.zeros(2 * n_chunks * LANES, np.int32),
    )


def list_capacity(n_nodes: int) -> int:
    """Nodes that the list of a sweep holds; a step that may find more goes bottom-up."""
    return 2 * LANES + n_nodes // 2


def logs_within(n_sources: int) -> int:
    """Steps that can be logged where the levels of ``n_sources`` will be, a byte a source.

    One row less than would fit: so bytes of a node never reach the log of a later one.
    """
    return min(MAX_LOGS, max(0, (n_sources - ROW_BYTES) // ROW_BYTES))


def sweep_scratch(n_nodes: int, n_chunks: int) -> tuple[np.ndarray, ...]:
    """words, every, state, nodes, lanes, found_at, by_level; then ``counting_scratch``; then
    eccentricity and farthest by lane: for graphs of up to ``n_nodes`` nodes."""
    capacity = list_capacity(n_nodes)
    return (
        np.zeros(2 * WORDS * n_nodes, np.uint64),
        np.zeros(WORDS, np.uint64),
        np.zeros(N_STATE, np.int64),
        np.empty(capacity, np.int32),
        np.empty(capacity * WORDS, np.uint64),
        np.empty(capacity, np.int32),
        np.empty(32 * LANES, np.int64),
        *counting_scratch(n_chunks),
        np.zeros(LANES, np.int32),
        np.empty((LANES, N_FARTHEST), np.int32),
    )
