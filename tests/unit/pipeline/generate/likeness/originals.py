"""Small originals for tests of likenesses."""

from __future__ import annotations

import networkx as nx
import numpy as np

from kernels.csr import Shard
from pipeline.generate.likeness.original import Original
from pipeline.model.columns.ragged import offsets


def shard_of(*graphs: nx.Graph) -> Shard:
    """NetworkX graphs of nodes 0 .. n - 1 side by side."""
    sizes = offsets(np.array([len(graph) for graph in graphs]))
    degree, indices = [], []
    for first, graph in zip(sizes.tolist(), graphs, strict=False):
        for node in range(len(graph)):
            row = sorted(graph[node])
            degree.append(len(row))
            indices += [first + other for other in row]
    return Shard(offsets(np.array(degree, np.int64)), np.array(indices, np.int32), sizes)


def original_of(
    *graphs: nx.Graph, ingress=(), borders=(), weights: np.ndarray | None = None
) -> Original:
    """ASes 10, 20, ..., with ingresses and borders by nodes of all graphs end to end."""
    near, far = np.array(borders, np.int64).reshape(-1, 2).T
    return Original(
        asn=10 * np.arange(1, len(graphs) + 1),
        shard=shard_of(*graphs),
        weights=weights,
        weight_unit="" if weights is None else "ms",
        ingress=np.array(ingress, np.int64),
        border_near=near,
        border_far=far,
    )


def graph_of(indptr: np.ndarray, indices: np.ndarray) -> nx.Graph:
    """As NetworkX knows it; fails for loops and duplicates."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(indptr) - 1))
    tail = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    assert (tail != indices).all()
    graph.add_edges_from(zip(tail.tolist(), indices.tolist(), strict=True))
    assert 2 * graph.number_of_edges() == len(indices)
    return graph


def joint_degrees(graph: nx.Graph) -> dict[tuple[int, int], int]:
    """Links by the degrees of both ends, the smaller first."""
    counts: dict[tuple[int, int], int] = {}
    for u, v in graph.edges:
        key = tuple(sorted((graph.degree[u], graph.degree[v])))
        counts[key] = counts.get(key, 0) + 1
    return counts


def component_sizes(graph: nx.Graph) -> list[int]:
    return sorted(map(len, nx.connected_components(graph)))
