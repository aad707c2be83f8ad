"""Graphs whose diameters are timed, and facts about each: sizes, triangles, clustering."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from benchmarks.lib.graph_files import largest_component, read_graph
from benchmarks.lib.graphs import attachment, cut_grid, rmat
from kernels import CSRGraph, diameter
from kernels.eccentricity.check import check_diameter, check_path
from kernels.eccentricity.results import Diameter
from pipeline.generate.csr import csr_from_links
from pipeline.generate.top_down import generate_top_down

MOST_CERTIFIED = 3e9  # searches times arcs of a certificate
MOST_BY_TREES = 1e7  # arcs; the certificate takes trees away node by node, in Python
MOST_TRIANGLES = 5e7  # arcs of graphs whose triangles are counted
Made = tuple[str, Callable[[int], CSRGraph]]  # a name, and what makes the graph from a seed


def top_down(n_routers: int, n_ases: int = 50, seed: int = 1) -> CSRGraph:
    """All routers of a BRITE top-down topology as one graph."""
    topology = generate_top_down(n_ases, n_routers, seed=seed)
    graph = csr_from_links(topology.n_nodes, topology.near, topology.far)
    return largest_component(graph)


def graphs(
    files: list[Path],
    nodes: list[int],
    top_down_nodes: list[int],
    sides: list[int],
    scales: Sequence[tuple[int, int]] = (),
) -> Iterator[Made]:
    """Files first, then preferential attachment, top-down, cut grids, RMAT (scale, factor).

    RMAT graphs are whole, with all their components.
    """
    for path in files:
        yield path.name.removesuffix(".gz"), lambda seed, path=path: read_graph(path)
    for n in nodes:
        yield f"attachment {n}", lambda seed, n=n: attachment(n, seed)
    for n in top_down_nodes:
        yield f"top-down {n}", lambda seed, n=n: top_down(n, seed=seed)
    for side in sides:
        yield (
            f"cut grid {side}",
            lambda seed, side=side: largest_component(cut_grid(side, seed)),
        )
    for scale, factor in scales:
        yield (
            f"RMAT {scale} x {factor}",
            lambda seed, scale=scale, factor=factor: rmat(scale, factor, seed),
        )


def verified(graph: CSRGraph) -> Diameter:
    """Our diameter, certified, or its path alone where the certificate would take too long."""
    found = diameter(graph)
    n_searches = len(found.proof.sources) + len(found.proof.landmarks)
    is_short = n_searches * graph.n_arcs <= MOST_CERTIFIED
    if is_short and not (found.proof.by_trees and graph.n_arcs > MOST_BY_TREES):
        check_diameter(graph, found)
    else:
        check_path(graph, found.path)
    return found


def describe(graph: CSRGraph) -> dict[str, Any]:
    """Nodes, edges, triangles and the mean of all nodes' clustering coefficients.

    A node with fewer than two neighbours has coefficient 0 and counts, as in Watts and Strogatz
    (Nature 1998) and in SNAP's own tables. Triangles of graphs of more than MOST_TRIANGLES arcs
    are not counted.
    """
    degree = np.diff(graph.indptr)
    about = {
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "max_degree": int(degree.max(initial=0)),
    }
    if graph.n_arcs > MOST_TRIANGLES:
        return about
    of_node = triangles(graph.indptr, graph.indices)
    pairs = degree * (degree - 1) / 2
    coefficient = np.divide(of_node, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    return about | {
        "n_triangles": int(of_node.sum()) // 3,
        "clustering": round(float(coefficient.mean()) if len(coefficient) else 0.0, 6),
    }


@njit(cache=True, nogil=True)
def triangles(indptr, indices):
    """(n_nodes,) int64: triangles that each node is in.

    Each is found once, from its corner of least degree (Latapy: Main-memory triangle computations
    for very large sparse graphs, TCS 2008): O(n_arcs ** 1.5).
    """
    n_nodes = len(indptr) - 1
    found = np.zeros(n_nodes, np.int64)
    start = np.zeros(n_nodes + 1, np.int64)
    ahead = np.empty(len(indices) // 2, np.int32)
    n = 0
    for u in range(n_nodes):
        own = indptr[u + 1] - indptr[u]
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            other = indptr[v + 1] - indptr[v]
            if other > own or (other == own and v > u):
                ahead[n] = v
                n += 1
        start[u + 1] = n
    of = np.full(n_nodes, -1, np.int32)  # the node that has marked this one
    for u in range(n_nodes):
        for k in range(start[u], start[u + 1]):
            of[ahead[k]] = u
        for k in range(start[u], start[u + 1]):
            v = ahead[k]
            for j in range(start[v], start[v + 1]):
                w = ahead[j]
                if of[w] == u:
                    found[u] += 1
                    found[v] += 1
                    found[w] += 1
    return found
