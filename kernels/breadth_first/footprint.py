"""Bytes that a search from one source allocates, by the size of its graph. Pure."""

from __future__ import annotations

from kernels._cuda.constants import SEGMENT
from kernels.breadth_first.constants import CONTROL


def scratch_words(n_nodes: int, n_arcs: int) -> list[int]:
    """int32 words on a GPU of control, queue, four bitmaps, and segments of the hubs."""
    return [CONTROL, n_nodes, 4 * -(-n_nodes // 32), 2 * max_segments(n_arcs)]


def max_segments(n_arcs: int) -> int:
    """Segments that the arcs of hubs are cut into, at most: each hub has SEGMENT arcs or more."""
    return 2 * (n_arcs // SEGMENT)


def gpu_bytes(n_nodes: int, n_arcs: int) -> int:
    """Levels and scratch on a GPU: 8.5 bytes per node and 1/16 byte per arc; no parents."""
    return 4 * n_nodes + 4 * sum(scratch_words(n_nodes, n_arcs))


def parents_bytes(n_nodes: int, n_arcs: int) -> int:
    """Bytes of parents and their scratch on a GPU: 4.25 per node and 1/16 per arc."""
    return 4 * n_nodes + -(-n_nodes // 4) + 4 * (2 * max_segments(n_arcs) + 1)
