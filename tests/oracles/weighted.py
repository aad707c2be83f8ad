"""Weighted eccentricities by definition and by SciPy; shares no code with the kernels."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from tests.oracles.paths import distances


def largest_finite(rows) -> np.ndarray:
    return np.where(np.isinf(rows), 0, rows).max(axis=1, initial=0)


def true_eccentricities(graph) -> np.ndarray:
    """By definition: all rows of rounded distances."""
    rows = [distances(graph, source) for source in range(graph.n_nodes)]
    return largest_finite(np.array(rows).reshape(graph.n_nodes, graph.n_nodes))


def scipy_eccentricities(graph) -> np.ndarray:
    shape = (graph.n_nodes, graph.n_nodes)
    matrix = csr_array((graph.weights, graph.indices, graph.indptr.astype(np.int32)), shape=shape)
    return largest_finite(dijkstra(matrix))


def length_of(graph, nodes) -> float:
    """Weights along a path, added from its first node on."""
    length = 0.0
    for u, v in itertools.pairwise(nodes):
        row = slice(graph.indptr[u], graph.indptr[u + 1])
        (at,) = np.flatnonzero(graph.indices[row] == v)
        length += float(graph.weights[row][at])
    return length
