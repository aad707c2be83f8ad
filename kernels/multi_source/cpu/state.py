"""What a sweep on cores keeps: its state and counters, by name.

Records and arrays rather than objects, so that compiled code and Python share them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import from_dtype

from kernels._cpu.signatures import OUT_I32, OUT_U64, named
from kernels.multi_source.cpu.sizes import BLOCK, LANES, MAX_LOGS, WORDS, list_capacity
from kernels.types import N_FARTHEST

# What ``advance`` wants done before it is called again.
DONE, BOTTOM_UP, GROW, WRITE, RECORD, LONG = range(6)

# ``levels`` of a sweep: not wanted; nothing is written yet; every complete level is written.
UNWANTED, UNWRITTEN, WRITTEN = range(3)

STATE = np.dtype(
    [
        ("base", np.int64),  # first node of the graph within its shard
        ("n_nodes", np.int64),
        ("n_lanes", np.int64),  # sources
        ("n_set", np.int64),  # lanes in use
        ("every", np.uint64, WORDS),  # the same, one bit each
        ("current", np.int64),  # which of the two tables
        ("depth", np.int64),  # last level that is complete
        ("is_listed", np.bool_),  # the frontier is nodes[begin:end] of the list
        ("is_asked", np.bool_),  # for a bottom-up step
        ("begin", np.int64),
        ("end", np.int64),
        ("n_frontier", np.int64),
        ("frontier_arcs", np.int64),  # right if it is listed
        ("n_open", np.int64),  # nodes that lack a lane
        ("side", np.int64),  # which half of ``first`` is the frontier's
        ("covered", np.int64),  # lanes found by all nodes
        ("ended", np.uint64, WORDS),  # lanes that found nothing on the last level
        ("eccentricity", np.int32, LANES),  # right once a lane has ended
        ("farthest", np.int32, (LANES, N_FARTHEST)),  # -1: no more
        ("levels", np.int64),  # UNWANTED, UNWRITTEN or WRITTEN
        ("n_steps", np.int64),  # bottom-up steps that are logged
        ("n_logs", np.int64),  # how many fit
        ("log_stride", np.int64),  # bytes of a node where logs lie within the levels; else 0
        ("log_depth", np.int64, MAX_LOGS),  # levels of the logged steps
        ("may_leave", np.int64),  # 0: never LONG; else the threads of single searches
        ("spent", np.int64),  # time of the sweep so far, ns, estimated
        ("ask_at", np.int64),  # ``spent`` at the next check whether the graph is long
        ("n_asked", np.int64),
    ],
    align=True,
)

# What a bottom-up step counts in one chunk, a range of nodes: no two threads share one.
CHUNK = np.dtype(
    [
        ("counts", np.int64, LANES),  # nodes found, by lane
        ("n_found", np.int64),  # nodes found by any lane
        ("n_closed", np.int64),  # nodes that now have every lane
        ("bytes_of", np.uint8, LANES),  # counters that go to ``counts`` before they overflow
        ("wanted", np.uint64, WORDS),  # lanes with fewer than N_FARTHEST nodes of this level
        ("held", np.int32, BLOCK),  # nodes of a block that such a lane may have found
        ("first", np.int32, (2, LANES, N_FARTHEST)),  # first nodes of a level, by side and lane
        ("n_first", np.int32, (2, LANES)),
    ],
    align=True,
)


class Scratch(NamedTuple):
    """What a sweep of a graph of n_nodes nodes, or of fewer, works on.

    Parameters
    ----------
    state : (1,) STATE
    words : (2 * n_nodes * WORDS,) uint64
        The two tables.
    nodes, found_at : (capacity,) int32; lanes : (capacity * WORDS,) uint64
        The list: node, its level, and the lanes that reach it on that level.
    chunks : (n_chunks,) CHUNK
    """

    state: np.ndarray
    words: np.ndarray
    nodes: np.ndarray
    lanes: np.ndarray
    found_at: np.ndarray
    chunks: np.ndarray


STATE_TYPE = from_dtype(STATE)
SCRATCH = named(
    Scratch, STATE_TYPE[::1], OUT_U64, OUT_I32, OUT_U64, OUT_I32, from_dtype(CHUNK)[::1]
)


def sweep_scratch(n_nodes: int, n_chunks: int) -> tuple[Scratch, np.ndarray]:
    """For graphs of up to ``n_nodes`` nodes; and ``by_level``, which grows: see ``advance``."""
    capacity = list_capacity(n_nodes)
    scratch = Scratch(
        state=np.zeros(1, STATE),
        words=np.zeros(2 * WORDS * n_nodes, np.uint64),
        nodes=np.empty(capacity, np.int32),
        lanes=np.empty(capacity * WORDS, np.uint64),
        found_at=np.empty(capacity, np.int32),
        chunks=np.zeros(n_chunks, CHUNK),
    )
    return scratch, np.empty(32 * LANES, np.int64)
