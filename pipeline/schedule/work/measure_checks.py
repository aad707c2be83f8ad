"""Checks of widths for ``--verify``: searches that share nothing with those that found them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kernels import CSRGraph, Shard, diameter, sssp
from kernels.breadth_first import bfs_queue
from kernels.certificates import check_diameter, check_distances, check_levels, check_path
from kernels.errors import CheckError
from pipeline.model.search.results import Widths

N_CHECKED = 8  # nodes of each list whose eccentricities are searched again


def check_widths(shard: Shard, widths: Widths) -> None:
    """Raise CheckError unless widths in hops pass the checks.

    The path is a shortest one as long as the diameter. An exact diameter is found again with a
    proof, which is checked by plain searches. Some nodes of center, periphery and eccentricities
    are searched again, and a radius must be the eccentricity of such a node.

    Parameters
    ----------
    shard : Shard
        On the host, the graphs of ``widths`` in their order.
    """
    for i in range(shard.n_graphs):
        graph = shard.graph(i)
        if graph.n_nodes:
            _check_graph(graph, widths, i)


def _check_graph(graph: CSRGraph, widths: Widths, i: int) -> None:
    lower, upper = int(widths.diameter_lower[i]), int(widths.diameter_upper[i])
    if "diameter" in widths.metrics:
        path = _row(widths.path_ptr, widths.path, i)
        if len(path) != lower + 1:
            raise CheckError(f"a path of {len(path)} nodes for a diameter of {lower}")
        check_path(graph, path)
    if lower == upper >= 0:
        found = diameter(graph)
        check_diameter(graph, found)
        if (found.diameter, found.component) != (lower, int(widths.component[i])):
            raise CheckError(
                f"the diameter of component {found.component} is {found.diameter}; the run says "
                f"{lower} of component {widths.component[i]}"
            )
    eccentricity = _row(widths.eccentricity_ptr, widths.eccentricity, i)
    for node, value in _expected(widths, i):
        found_value = _eccentricity(graph, node)
        if found_value != value:
            raise CheckError(f"the eccentricity of node {node} is {found_value}, not {value}")
        if len(eccentricity) and eccentricity[node] != value:
            raise CheckError(f"node {node} has eccentricities {eccentricity[node]} and {value}")


def check_weighted_widths(graph: CSRGraph, widths: Widths) -> None:
    """The same by weight, of one graph on the host; searches are certified.

    The path's weights, added in its order, are the diameter to the bit.
    """
    if "diameter" in widths.metrics and len(widths.path):
        weights: Any = graph.weights
        length, path = np.float64(0), widths.path.tolist()
        for u, v in pairwise(path):
            arcs = slice(int(graph.indptr[u]), int(graph.indptr[u + 1]))
            at = np.flatnonzero(graph.indices[arcs] == v)
            if not len(at):
                raise CheckError(f"the path goes from {u} to {v}, which are not linked")
            length += np.float64(weights[arcs][at[0]])
        if length != widths.diameter_lower[0]:
            raise CheckError(f"a path of length {length}, not {widths.diameter_lower[0]}")
        if _distances(graph, path[0])[path[-1]] != length:
            raise CheckError(f"the path from {path[0]} to {path[-1]} is not a shortest one")
    for node, value in _expected(widths, 0):
        distance = _distances(graph, node)
        found = distance[np.isfinite(distance)].max()
        if found != value:
            raise CheckError(f"the eccentricity of node {node} is {found}, not {value}")


def _expected(widths: Widths, i: int) -> list[tuple[int, float]]:
    """Some nodes and what their eccentricity should be."""
    eccentricity = _row(widths.eccentricity_ptr, widths.eccentricity, i)
    center = _some(_row(widths.center_ptr, widths.center, i))
    periphery = _some(_row(widths.periphery_ptr, widths.periphery, i))
    nodes = _some(np.arange(len(eccentricity)))
    return (
        [(node, widths.radius_lower[i].item()) for node in center]
        + [(node, widths.diameter_lower[i].item()) for node in periphery]
        + [(node, eccentricity[node].item()) for node in nodes]
    )


def _row(ptr: np.ndarray, values: np.ndarray, i: int) -> np.ndarray:
    return values[int(ptr[i]) : int(ptr[i + 1])]


def _some(nodes: np.ndarray) -> list[int]:
    """N_CHECKED of them, evenly spread, the first and the last among them."""
    at = np.linspace(0, len(nodes) - 1, min(len(nodes), N_CHECKED)).astype(int)
    return nodes[at].tolist()


def _eccentricity(graph: CSRGraph, node: int) -> int:
    search = bfs_queue(graph, node)
    check_levels(graph.indptr, graph.indices, node, search.level)
    return int(search.level.max())


def _distances(graph: CSRGraph, node: int) -> np.ndarray:
    distance = sssp(graph, node).distance
    check_distances(graph.indptr, graph.indices, graph.weights, node, distance)
    return distance
