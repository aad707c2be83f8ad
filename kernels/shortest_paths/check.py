"""Certificates of shortest paths: accept exactly the right distances and parents.

They share no code with the searches, and use no assert statements, which ``python -O`` removes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit, types

from kernels._cpu.signatures import F32, F64, I32, I64, returns
from kernels.csr import to_host
from kernels.errors import CheckError
from kernels.stated import stated_array, stated_node, stated_one
from kernels.types import DISTANCE, NODE, OFFSET, UNREACHED

if TYPE_CHECKING:
    from kernels.shortest_paths import SSSPResult

OK, SOURCE, BELOW, LEAVES, RELAXES, LOOSE, BEYOND = range(7)


def check_sssp(found: SSSPResult) -> None:
    """Raise CheckError unless all that a search found is right; on the host."""
    graph = found.graph
    arrays = to_host(graph.indptr), to_host(graph.indices), to_host(graph.weights)
    distance = stated_array("distance", found.distance, DISTANCE, (graph.n_nodes,))
    check_distances(*arrays, found.source, distance, found.target)
    if found.parent is not None:
        check_parents(*arrays, found.source, distance, found.parent)
    finite = distance[distance < np.inf]
    eccentricity = stated_one("eccentricity", found.eccentricity, DISTANCE)
    n_reached = stated_one("n_reached", found.n_reached, OFFSET)
    if (eccentricity, n_reached) != (finite.max(), len(finite)):
        raise CheckError(
            f"eccentricity {eccentricity} and {n_reached} nodes reached, not "
            f"{finite.max()} and {len(finite)}"
        )


def check_distances(
    indptr: Any,
    indices: Any,
    weights: Any,
    source: int,
    distance: Any,
    target: int | None = None,
) -> None:
    """Raise CheckError unless ``distance`` is what ``sssp`` defines, to the bit.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64; indices : (n_arcs,) int32; weights : (n_arcs,) float32
        Of a valid CSRGraph, on any device.
    source : int
    distance : (n_nodes,) float64
        inf where no path leads.
    target : int or None
        Where the search stopped: nodes farther than this one have inf. A target without a distance
        does not stop a search.

    Notes
    -----
    If no arc can lower its head and the source has 0, no distance is above that of any path. If
    tight arcs (fl(distance[u] + w) = distance[v]) lead from the source to every node that has a
    distance, each is the length of a path. A tight neighbour for each node would not suffice:
    around a cycle of weight 0 each node has one, whatever the distance. O(n_nodes + n_arcs).
    """
    n_nodes = len(indptr) - 1
    distance = stated_array("distance", distance, DISTANCE, (n_nodes,))
    arrays = to_host(indptr), to_host(indices), to_host(weights)
    source, limit = stated_node("source", source, n_nodes), np.inf
    if target is not None:
        limit = float(distance[stated_node("target", target, n_nodes)])
    code, u, v = _distance_fault(*arrays, source, distance, limit)
    if code == OK:
        return
    messages = {
        SOURCE: f"the source {u} has distance {distance[u]}, not 0",
        BELOW: f"node {u} has distance {distance[u]}",
        LEAVES: f"the arc {u} -> {v} leaves the reached nodes",
        RELAXES: f"the arc {u} -> {v} is shorter: from {distance[u]} it leads below {distance[v]}",
        LOOSE: f"node {u} has distance {distance[u]}, which is not the length of a path",
        BEYOND: f"node {u} has distance {distance[u]}, which is beyond the target",
    }
    raise CheckError(f"source {source}: {messages[code]}")


def check_parents(
    indptr: Any, indices: Any, weights: Any, source: int, distance: Any, parent: Any
) -> None:
    """Raise CheckError unless ``parent`` is the tree that ``sssp`` promises, given right distances.

    Parameters are as for ``check_distances``; parent : (n_nodes,) int32.
    """
    distance = stated_array("distance", distance, DISTANCE, (len(indptr) - 1,))
    parent = stated_array("parent", parent, NODE, (len(indptr) - 1,))
    source = stated_node("source", source, len(parent))
    arrays = to_host(indptr), to_host(indices), to_host(weights)
    u = _parent_fault(*arrays, source, distance, parent)
    if u >= 0:
        raise CheckError(
            f"source {source}: node {u} at distance {distance[u]} has parent {parent[u]}, which is "
            "not the one that the rule picks"
        )


@njit([returns(3)(I64, I32, F32, types.int64, F64, types.float64)], cache=True, nogil=True)
def _distance_fault(indptr, indices, weights, source, distance, limit):
    n_nodes = distance.size
    if distance[source] != 0:
        return SOURCE, source, 0
    for u in range(n_nodes):
        if not distance[u] >= 0:
            return BELOW, u, 0
        if distance[u] == np.inf:
            continue
        if distance[u] > limit:
            return BEYOND, u, 0
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            length = distance[u] + np.float64(weights[arc])
            if length > limit:
                continue
            if distance[v] == np.inf:
                return LEAVES, u, v
            if length < distance[v]:
                return RELAXES, u, v
    is_tight = np.zeros(n_nodes, np.bool_)
    stack = np.empty(n_nodes, np.int32)
    is_tight[source] = True
    stack[0] = source
    size = 1
    while size:
        size -= 1
        at = np.int64(stack[size])
        for arc in range(indptr[at], indptr[at + 1]):
            v = np.int64(indices[arc])
            if not is_tight[v] and distance[at] + np.float64(weights[arc]) == distance[v]:
                is_tight[v] = True
                stack[size] = v
                size += 1
    for u in range(n_nodes):
        if distance[u] < np.inf and not is_tight[u]:
            return LOOSE, u, 0
    return OK, 0, 0


@njit([types.int64(I64, I32, F32, types.int64, F64, I32)], cache=True, nogil=True)
def _parent_fault(indptr, indices, weights, source, distance, parent):
    n_nodes = distance.size
    # Arcs within its distance to the nearest node with a strictly nearer tight neighbour.
    rank = np.full(n_nodes, -1, np.int64)
    queue = np.empty(n_nodes, np.int64)
    tail = 0
    for v in range(n_nodes):
        is_first = v == source
        for arc in range(indptr[v], indptr[v + 1]):
            u = indices[arc]
            nearer = distance[u] < distance[v]
            if nearer and distance[u] + np.float64(weights[arc]) == distance[v]:
                is_first = True
        if is_first:
            rank[v] = 0
            queue[tail] = v
            tail += 1
    head = 0
    while head < tail:
        u = queue[head]
        head += 1
        for arc in range(indptr[u], indptr[u + 1]):
            v = int(indices[arc])
            equal = distance[u] == distance[v] and rank[v] < 0
            if equal and distance[u] + np.float64(weights[arc]) == distance[v]:
                rank[v] = rank[u] + 1
                queue[tail] = v
                tail += 1
    for v in range(n_nodes):
        expected = UNREACHED
        if v == source:
            expected = source
        elif distance[v] < np.inf:
            for arc in range(indptr[v], indptr[v + 1]):
                u = int(indices[arc])
                if distance[u] + np.float64(weights[arc]) != distance[v]:
                    continue
                nearer = distance[u] < distance[v]
                before = distance[u] == distance[v] and rank[u] == rank[v] - 1
                allowed = nearer if rank[v] == 0 else before
                if allowed and (expected == UNREACHED or u < expected):
                    expected = u
        if parent[v] != expected:
            return v
    return -1
