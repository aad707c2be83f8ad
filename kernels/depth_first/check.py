"""Certificate of a depth-first search: accepts exactly the one in the order of arcs.

It shares no code with the searches, and uses no assert statements, which ``python -O`` removes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import I32, I64, returns
from kernels.csr import to_host
from kernels.errors import CheckError
from kernels.stated import stated_array, stated_node, stated_nodes
from kernels.types import NODE, OFFSET, UNREACHED

OK, ORDER, ROOT, UP, OPENED, CLOSED, LEFT, LEAVES, CROSS, PARENT, LATE = range(11)


def check_dfs(
    indptr: Any,
    indices: Any,
    source: int | None,
    discovery: Any,
    finish: Any,
    parent: Any,
    order: Any,
) -> None:
    """Raise CheckError unless this is the search that ``dfs`` defines.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64; indices : (n_arcs,) int32
        Of a valid CSRGraph, on any device.
    source : int or None
    discovery, finish : (n_nodes,) int64; parent : (n_nodes,) int32; order : (n_reached,) int32

    Notes
    -----
    Times are counted again along the order and the parents: then intervals nest, and each lies in
    that of its parent. Every edge leads from a node to one whose interval holds its own: in an
    undirected graph no edge crosses. These two make a depth-first search; it is that in the order
    of arcs if each node was found when all neighbours of its parent before it had been, and each
    root when all smaller nodes had been. O(n_nodes + n_arcs).
    """
    n_nodes = len(indptr) - 1
    discovery = stated_array("discovery", discovery, OFFSET, (n_nodes,))
    finish = stated_array("finish", finish, OFFSET, (n_nodes,))
    parent = stated_array("parent", parent, NODE, (n_nodes,))
    order = stated_array("order", order, NODE, (None,))
    stated_nodes("order", order, n_nodes)
    source = None if source is None else stated_node("source", source, n_nodes)
    if source is not None and (len(order) == 0 or order[0] != source):
        raise CheckError(f"the order does not begin with the source {source}")
    if source is None and len(order) != n_nodes:
        raise CheckError(f"{len(order)} of {n_nodes} nodes are in the order")
    arrays = to_host(indptr), to_host(indices), discovery, finish, parent, order
    code, u, v = _fault(*arrays, source is None)
    if code == OK:
        return
    messages = {
        ORDER: f"node {u} is in the order twice",
        ROOT: f"node {u} is a root, and {v} comes first",
        UP: f"node {u} has parent {parent[u]}, which is not open when {u} is found",
        OPENED: f"node {u} is found at {discovery[u]}, not {v}",
        CLOSED: f"node {u} ends at {finish[u]}, not {v}",
        LEFT: f"node {u} is not in the order, but has times or a parent",
        LEAVES: f"the edge {u} - {v} leaves the reached nodes",
        CROSS: f"the edge {u} - {v} joins two nodes of which neither is above the other",
        PARENT: f"node {u} has parent {v}, which is not a neighbour",
        LATE: f"node {u} is found before {v}, an earlier neighbour of its parent",
    }
    raise CheckError(f"not the depth-first search: {messages[code]}")


@njit([returns(3)(I64, I32, I64, I64, I32, I32, types.boolean)], cache=True, nogil=True)
def _fault(indptr, indices, discovery, finish, parent, order, has_all):
    n_nodes = discovery.size
    is_found = np.zeros(n_nodes, np.bool_)
    stack = np.empty(n_nodes + 1, np.int32)
    height, clock, smallest = 0, np.int64(0), np.int64(0)
    for i in range(order.size + 1):
        u = np.int64(order[i]) if i < order.size else np.int64(-1)
        above = np.int64(parent[u]) if u >= 0 else np.int64(-1)
        is_root = u == above
        while height > 0 and (is_root or stack[height - 1] != above):
            height -= 1
            top = np.int64(stack[height])
            if finish[top] != clock:
                return CLOSED, top, clock
            clock += 1
        if u < 0:
            break
        if is_found[u]:
            return ORDER, u, 0
        if is_root:
            if i > 0 and not has_all:
                return ROOT, u, np.int64(order[0])
            while has_all and is_found[smallest]:
                smallest += 1
            if has_all and smallest != u:
                return ROOT, u, smallest
        elif height == 0:
            return UP, u, 0
        if discovery[u] != clock:
            return OPENED, u, clock
        clock += 1
        is_found[u] = True
        stack[height] = u
        height += 1
    n_children = 0
    for tail in range(n_nodes):
        u = np.int64(tail)
        if not is_found[u] and (
            discovery[u] != UNREACHED or finish[u] != UNREACHED or parent[u] != UNREACHED
        ):
            return LEFT, u, 0
        latest, before = np.int64(-1), np.int64(-1)
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            if is_found[u] != is_found[v]:
                return LEAVES, u, v
            if not is_found[u]:
                continue
            if discovery[u] < discovery[v] and finish[v] > finish[u]:
                return CROSS, u, v
            if parent[v] == u:
                n_children += 1
                if latest > discovery[v]:
                    return LATE, v, before
            if discovery[v] > latest:
                latest, before = discovery[v], v
    n_roots = 0
    for i in range(order.size):
        n_roots += parent[order[i]] == order[i]
    if n_children + n_roots != order.size:
        for i in range(order.size):
            u = np.int64(order[i])
            p = np.int64(parent[u])
            is_near = u == p
            for arc in range(indptr[u], indptr[u + 1]):
                is_near |= indices[arc] == p
            if not is_near:
                return PARENT, u, p
    return OK, 0, 0
