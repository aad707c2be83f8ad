"""Bytes that a search by weight allocates on a GPU, by the size of its graph. Pure."""

from __future__ import annotations

from kernels._cuda.constants import SEGMENT
from kernels.shortest_paths.constants import CONTROL, TREE_CONTROL


def scratch_words(n_nodes: int, n_arcs: int) -> list[int]:
    """int32 words of control, near and far lists, three bitmaps, and segments of the hubs."""
    return [CONTROL, 2 * n_nodes, 2 * n_nodes, 3 * -(-n_nodes // 32), 8 * (n_arcs // SEGMENT)]


def tree_words(n_nodes: int) -> list[int]:
    """int32 words of control, ranks, open nodes and queue, for parents."""
    return [TREE_CONTROL, n_nodes, n_nodes, n_nodes]


def gpu_bytes(n_nodes: int, n_arcs: int) -> int:
    """Distances and scratch: 24.4 bytes per node and an eighth of one byte per arc; no parents."""
    return 8 * n_nodes + 4 * sum(scratch_words(n_nodes, n_arcs))


def parents_bytes(n_nodes: int) -> int:
    """Parents and their scratch, when that of the search is free again: 16 bytes per node."""
    return 4 * n_nodes + 4 * sum(tree_words(n_nodes))
