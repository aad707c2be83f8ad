"""Connected components of each AS: how many, and the nodes of the largest."""

from __future__ import annotations

import numpy as np

from kernels import Shard
from kernels.connected import components

# Nodes and arcs that are looked at together: bounds the copy of ``indices`` with shard-wide ids
# (4 bytes per arc), and keeps those ids within int32.
CHUNK_NODES = 1 << 26
CHUNK_ARCS = 1 << 28


def count_components(
    node_ptr: np.ndarray, arc_ptr: np.ndarray, degree: np.ndarray, indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Count components of each AS, many ASes side by side in one search.

    Parameters
    ----------
    node_ptr, arc_ptr : (n_ases + 1,) int64
    degree : (n_nodes,) int32
    indices : (n_arcs,) int32
        Local node ids.

    Returns
    -------
    component_count, largest_component : (n_ases,) int64
    """
    n_ases = len(node_ptr) - 1
    count = np.zeros(n_ases, np.int64)
    largest = np.zeros(n_ases, np.int64)
    first = 0
    while first < n_ases:
        last = min(
            int(np.searchsorted(node_ptr, node_ptr[first] + CHUNK_NODES, side="right")) - 1,
            int(np.searchsorted(arc_ptr, arc_ptr[first] + CHUNK_ARCS, side="right")) - 1,
        )
        last = max(last, first + 1)
        nodes = slice(node_ptr[first], node_ptr[last])
        arcs = slice(arc_ptr[first], arc_ptr[last])
        local_ptr = node_ptr[first : last + 1] - node_ptr[first]
        indptr = np.zeros(nodes.stop - nodes.start + 1, np.int64)
        np.cumsum(degree[nodes], out=indptr[1:])
        base = np.repeat(local_ptr[:-1].astype(np.int32), np.diff(arc_ptr[first : last + 1]))
        base += indices[arcs]
        found = components(Shard(indptr, base, local_ptr, trusted=True))
        # A component has the id of its smallest node; every AS has a node, so it has a component.
        starts = np.searchsorted(found.ids, local_ptr)
        count[first:last] = np.diff(starts)
        largest[first:last] = np.maximum.reduceat(found.sizes, starts[:-1])
        first = last
    return count, largest
