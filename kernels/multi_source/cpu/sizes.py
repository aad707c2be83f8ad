"""Sizes of a sweep on cores; known without numba, so that memory can be computed without it."""

from __future__ import annotations

WORDS = 2  # of a row: one 16-byte gather per arc
LANES = 64 * WORDS  # sources that one sweep carries
BLOCK = 64  # nodes that a bottom-up step counts at once
N_NARROW = 255  # levels that a byte holds: 0 to 254, 255 means unreached
ROW_BYTES = 8 * WORDS
MAX_LOGS = 7  # bottom-up steps whose results are kept until all of them are made into bytes
N_LOGS_APART = 4  # where they cannot lie within the levels
LEAST_WITHIN = 64  # sources from which they can: with fewer, too few steps would find room


def list_capacity(n_nodes: int) -> int:
    """Nodes that the list of a sweep holds; a step that may find more goes bottom-up."""
    return 2 * LANES + n_nodes // 2


def logs_within(n_sources: int) -> int:
    """Steps that can be logged where the levels of ``n_sources`` will be, one byte per source.

    One row less than would fit: so bytes of a node never reach the log of a later one.
    """
    return min(MAX_LOGS, max(0, (n_sources - ROW_BYTES) // ROW_BYTES))
