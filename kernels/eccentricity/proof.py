"""Certificate of a diameter in hops: by a proof that says which nodes to search from."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from kernels.arguments import check_graph
from kernels.breadth_first import bfs_queue
from kernels.breadth_first.check import check_levels
from kernels.csr import CSRGraph
from kernels.eccentricity.results import Diameter, Proof
from kernels.errors import CheckError
from kernels.stated import stated_array, stated_nodes, stated_one
from kernels.types import LEVEL, MARK, NODE


def check_path(graph: CSRGraph, path: np.ndarray) -> None:
    """Raise CheckError unless ``path`` is a shortest path between its ends.

    O(n_nodes + n_arcs): levels from one end, themselves certified, rise by one along it.
    """
    check_graph(graph, CSRGraph)
    path = stated_array("path", path, NODE, (None,))
    if not len(path):
        raise CheckError("the path is empty")
    stated_nodes("path", path, graph.n_nodes)
    level = bfs_queue(graph, int(path[0])).level
    check_levels(graph.indptr, graph.indices, int(path[0]), level)
    if (level[path] != np.arange(len(path))).any():
        raise CheckError(f"the path from {path[0]} to {path[-1]} is not a shortest one")
    for u, v in zip(path[:-1].tolist(), path[1:].tolist(), strict=True):
        if v not in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]:
            raise CheckError(f"the path goes from {u} to {v}, which are not linked")


def check_diameter(graph: CSRGraph, found: Diameter) -> None:
    """Raise CheckError unless ``found`` is exact and its path as long as the diameter.

    Parameters
    ----------
    graph : CSRGraph
        On the host.
    found : Diameter
        Only ``diameter``, ``component``, ``path`` and ``proof`` are used, all of them checked.

    Notes
    -----
    The only thing taken from the search is which nodes it searched from: each is searched again by
    the plain queue search. Then, for every pair of nodes of the component, one of these must hold,
    by which they are at most ``diameter`` apart: a node of the pair has an upper bound that proves
    it (by searches, or by its degree), both are within half the diameter of the centre, or a
    landmark is near enough to both. It takes one search per node of the proof: for tests, and for
    verified reports. Only a tip of each pendant tree is considered (see ``pendant_trees``), if
    the paths in the tree are short enough.
    """
    check_graph(graph, CSRGraph)
    diameter = stated_one("diameter", found.diameter, LEVEL)
    component = stated_one("component", found.component, NODE)
    path = stated_array("path", found.path, NODE, (None,))
    if graph.n_nodes == 0:
        if diameter or len(path) or component >= 0:
            raise CheckError("a graph without nodes has diameter 0, no path and no component")
        return
    if len(path) != diameter + 1:
        raise CheckError(f"a path of {len(path)} nodes for a diameter of {diameter}")
    check_path(graph, path)
    level = bfs_queue(graph, int(path[0])).level
    nodes = np.flatnonzero(level >= 0)
    if nodes[0] != component:
        raise CheckError(f"the path lies in component {nodes[0]}, not {component}")
    # Neighbours are 1 hop away, and each further hop has at least one node of its own.
    upper = np.minimum(len(nodes) - 1, len(nodes) - np.diff(graph.indptr))
    proof = stated_proof(found.proof, graph.n_nodes)
    for source in proof.sources.tolist():
        if level[source] < 0:
            continue
        search = bfs_queue(graph, source)
        upper[nodes] = np.minimum(upper[nodes], search.level[nodes] + search.eccentricity)
        upper[source] = search.eccentricity
    open_nodes = nodes[upper[nodes] > diameter]
    if proof.by_trees:
        is_tip, longest = _tips(graph)
        if longest[nodes].max() > diameter:
            raise CheckError(f"a pendant tree has a path of {longest[nodes].max()} hops")
        open_nodes = open_nodes[is_tip[open_nodes]]
    outside = open_nodes
    for centre in proof.centres.tolist():
        if centre >= 0 and level[centre] >= 0:
            from_centre = bfs_queue(graph, centre).level[open_nodes]
            outside = open_nodes[2 * from_centre > diameter]
    landmarks = [z for z in proof.landmarks.tolist() if level[z] >= 0]
    rows = [bfs_queue(graph, z).level[open_nodes] for z in landmarks]
    hops = np.array(rows, np.int32).reshape(len(landmarks), len(open_nodes))
    place = np.searchsorted(open_nodes, outside)
    for node, own in zip(outside.tolist(), hops[:, place].T, strict=True):
        apart = (own[:, None] + hops).min(axis=0, initial=2 * len(nodes))
        far = open_nodes[(apart > diameter) & (open_nodes != node)]
        if len(far):
            raise CheckError(
                f"nothing in the proof keeps nodes {node} and {far[0]} within {diameter} "
                f"hops ({len(far)} such nodes)"
            )


def stated_proof(proof: Proof, n_nodes: int) -> Proof:
    """The proof as certificates take it; CheckError if it is none, or names others than nodes."""
    if not isinstance(proof, Proof):
        raise CheckError(f"proof is {proof!r}, not a Proof")
    arrays = {}
    for name, least in (("sources", 0), ("centres", -1), ("landmarks", 0)):
        arrays[name] = stated_array(f"{name} of the proof", getattr(proof, name), NODE, (None,))
        stated_nodes(f"{name} of the proof", arrays[name], n_nodes, least)
    by_trees = stated_one("by_trees of the proof", proof.by_trees, MARK)
    return replace(proof, **arrays, by_trees=by_trees)


def _tips(graph: CSRGraph) -> tuple[np.ndarray, np.ndarray]:
    """Whether each node is the chosen deepest one of its tree, and the tree's longest path.

    Independent of ``pendant_trees``: removes all leaves in rounds.
    """
    n_nodes = graph.n_nodes
    neighbours = [set(graph.indices[a:b].tolist()) for a, b in pairwise(graph.indptr.tolist())]
    deepest = [(0, -v) for v in range(n_nodes)]
    longest = np.zeros(n_nodes, np.int64)
    is_left = np.ones(n_nodes, bool)
    leaves = [v for v in range(n_nodes) if len(neighbours[v]) == 1]
    while leaves:
        next_leaves = []
        for v in leaves:
            if len(neighbours[v]) != 1:  # its last neighbour was removed in this round
                continue
            parent = neighbours[v].pop()
            neighbours[parent].discard(v)
            is_left[v] = False
            depth, tip = deepest[v]
            own_depth, _ = deepest[parent]
            longest[parent] = max(longest[parent], longest[v], own_depth + depth + 1)
            deepest[parent] = max(deepest[parent], (depth + 1, tip))
            if len(neighbours[parent]) == 1:
                next_leaves.append(parent)
        leaves = next_leaves
    is_tip = np.zeros(n_nodes, bool)
    is_tip[[-deepest[v][1] for v in np.flatnonzero(is_left)]] = True
    return is_tip, np.where(is_left, longest, 0)
