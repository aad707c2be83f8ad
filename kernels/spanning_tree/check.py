"""Certificate of minimum spanning forests: accepts exactly the right one.

It shares no code with the searches, and uses no assert statements, which ``python -O`` removes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from kernels._cpu.signatures import F32, I32, I64, OUT_I32, returns
from kernels.csr import to_host
from kernels.errors import CheckError
from kernels.stated import stated_array, stated_nodes, stated_one
from kernels.types import NODE, WEIGHT

if TYPE_CHECKING:
    from kernels.spanning_tree import SpanningForest

OK, ORDER, MISSING, OTHER, CYCLE, APART, LIGHTER = range(7)


def check_mst(found: SpanningForest) -> None:
    """Raise CheckError unless this is the minimum spanning forest of its graph; on the host."""
    graph = found.graph
    forest = found.tails, found.heads, found.weights
    check_forest(graph.indptr, graph.indices, graph.weights, *forest)
    n_components = stated_one("n_components", found.n_components, NODE)
    if n_components != graph.n_nodes - len(found.tails):
        raise CheckError(
            f"{n_components} components, and {len(found.tails)} edges of {graph.n_nodes} nodes"
        )


def check_forest(
    indptr: Any, indices: Any, weights: Any, tails: Any, heads: Any, theirs: Any
) -> None:
    """Raise CheckError unless these edges are the minimum spanning forest that ``mst`` defines.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64; indices : (n_arcs,) int32; weights : (n_arcs,) float32
        Of a valid CSRGraph, on any device.
    tails, heads : (n_edges,) int32; theirs : (n_edges,) float32
        Of the forest, and their weights.

    Notes
    -----
    The edges are edges of the graph, in order, and close no cycle. The cycle property does the
    rest: ends of every other edge are connected by the forest, and the edge comes after each edge
    of the path between them (Tarjan: Data structures and network algorithms, 1983). Trees are put
    under larger ones, the forest's lightest edges first, so that each path upwards has at most
    log2(n_nodes) steps, of ascending edges; the last edge of a path is where its ends meet.
    O(n_arcs log n_nodes).
    """
    tails = stated_array("tails", tails, NODE, (None,))
    heads = stated_array("heads", heads, NODE, (len(tails),))
    theirs = stated_array("weights", theirs, WEIGHT, (len(tails),))
    arrays = to_host(indptr), to_host(indices), to_host(weights)
    n_nodes = len(arrays[0]) - 1
    stated_nodes("tails", tails, n_nodes)
    stated_nodes("heads", heads, n_nodes)
    above, joined = np.arange(n_nodes, dtype=NODE), np.full(n_nodes, -1, NODE)
    # Edges that are not in order are refused before this is used: equal weights need no more keys.
    order = np.argsort(theirs, kind="stable").astype(NODE)
    code, u, v = _forest_fault(*arrays, tails, heads, theirs, order, above, joined)
    messages = {
        ORDER: f"the edge {u} - {v} does not come after the one before it",
        MISSING: f"{u} - {v} is not an edge of the graph",
        OTHER: f"the edge {u} - {v} has another weight in the graph",
        CYCLE: f"the edge {u} - {v} closes a cycle",
        APART: f"{u} and {v} are neighbours, and no path of the forest connects them",
        LIGHTER: f"the edge {u} - {v} comes before one of the path that connects its ends",
    }
    if code != OK:
        raise CheckError(f"not the minimum spanning forest: {messages[code]}")


@njit(
    [returns(3)(I64, I32, F32, I32, I32, F32, I32, OUT_I32, OUT_I32)],
    cache=True,
    nogil=True,
)
def _forest_fault(indptr, indices, weights, tails, heads, theirs, order, above, joined):
    """``above`` names each node by itself; ``joined`` is -1: the rank of the edge to above."""
    for i in range(tails.size):
        u, v = np.int64(tails[i]), np.int64(heads[i])
        if u >= v or (i > 0 and (u, v) <= (np.int64(tails[i - 1]), np.int64(heads[i - 1]))):
            return ORDER, u, v
        begin, end = indptr[u], indptr[u + 1]
        arc = int(begin + np.searchsorted(indices[begin:end], heads[i]))
        if arc == end or indices[arc] != v:
            return MISSING, u, v
        if weights[arc] != theirs[i]:
            return OTHER, u, v
    size = np.ones(above.size, np.int32)
    for rank in range(order.size):
        a, b = np.int64(tails[order[rank]]), np.int64(heads[order[rank]])
        while above[a] != a:
            a = np.int64(above[a])
        while above[b] != b:
            b = np.int64(above[b])
        if a == b:
            return CYCLE, np.int64(tails[order[rank]]), np.int64(heads[order[rank]])
        if size[a] > size[b]:
            a, b = b, a
        above[a], joined[a] = b, rank
        size[b] += size[a]
    for tail in range(indptr.size - 1):
        u = np.int64(tail)
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            if v < u:
                continue
            a, b = u, v
            last = np.int64(-1)
            while a != b:  # from the one whose next edge is lighter; a root has none
                if joined[a] < 0 and joined[b] < 0:
                    return APART, u, v
                if joined[b] < 0 or (joined[a] >= 0 and joined[a] < joined[b]):
                    last = np.int64(joined[a])
                    a = np.int64(above[a])
                else:
                    last = np.int64(joined[b])
                    b = np.int64(above[b])
            i = order[last]
            x, y = np.int64(tails[i]), np.int64(heads[i])
            if weights[arc] < theirs[i] or (weights[arc] == theirs[i] and (u, v) < (x, y)):
                return LIGHTER, u, v
    return OK, 0, 0
