"""Widths of a graph by NetworkX and, for eccentricities, SciPy; to check a row of Widths."""

from __future__ import annotations

import networkx as nx
import numpy as np

from kernels import CSRGraph
from pipeline.model.search.results import Widths
from tests.oracles.paths import bfs_levels


def networkx_of(graph: CSRGraph) -> nx.Graph:
    peer = nx.empty_graph(graph.n_nodes)
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    peer.add_edges_from(zip(tails.tolist(), graph.indices.tolist(), strict=True))
    return peer


class Truth:
    """Components by their smallest node, the largest one, and every eccentricity."""

    def __init__(self, graph: CSRGraph):
        self.peer = networkx_of(graph)
        self.components = sorted((sorted(c) for c in nx.connected_components(self.peer)), key=min)
        self.largest = max(self.components, key=len, default=[])
        self.eccentricity = bfs_levels(graph, range(graph.n_nodes)).max(axis=1, initial=0)


def check_widths(widths: Widths, truth: Truth) -> None:
    """One row is right as far as it claims; nothing requested is missing if it is exact."""
    assert len(widths.row) == 1
    e = truth.eccentricity[truth.largest]
    diameter, radius = int(e.max()), int(e.min())
    if widths.component[0] < 0:
        assert not widths.exact[0]
        return
    assert widths.component[0] == truth.largest[0]
    assert widths.diameter_lower[0] <= diameter <= widths.diameter_upper[0]
    assert widths.radius_lower[0] <= radius <= widths.radius_upper[0]
    check_path(widths, truth)
    nodes = np.array(truth.largest)
    if len(widths.center):
        assert widths.center.tolist() == nodes[e == radius].tolist()
    if len(widths.periphery):
        assert widths.periphery.tolist() == nodes[e == diameter].tolist()
    if len(widths.eccentricity):
        assert widths.eccentricity.tolist() == truth.eccentricity.tolist()
        assert widths.counts.tolist() == np.bincount(e).tolist()
    listed = [c for c in truth.components if len(c) > 1]
    assert widths.component_id.tolist() == [c[0] for c in listed]
    assert widths.component_size.tolist() == [len(c) for c in listed]
    known = {"diameter": widths.component_diameter, "radius": widths.component_radius}
    for name, values in known.items():
        extreme = max if name == "diameter" else min
        for nodes, value in zip(listed, values.tolist(), strict=True):
            right = extreme(truth.eccentricity[nodes].tolist())
            assert value == right or (value == -1 and not claims(widths, name))
    if widths.exact[0]:
        check_complete(widths, diameter, radius)


def claims(widths: Widths, name: str) -> bool:
    """Whether diameters, or radii, must be known."""
    asked = {"diameter": {"diameter", "periphery"}, "radius": {"radius", "center"}}[name]
    return bool(widths.exact[0]) and bool((asked | {"eccentricities"}) & set(widths.metrics))


def check_path(widths: Widths, truth: Truth) -> None:
    path = widths.path.tolist()
    if path:
        assert len(path) == widths.diameter_lower[0] + 1
        assert nx.shortest_path_length(truth.peer, path[0], path[-1]) == len(path) - 1
        assert len(path) == 1 or nx.is_path(truth.peer, path)
    assert "diameter" not in widths.metrics or path or not widths.exact[0]


def check_complete(widths: Widths, diameter: int, radius: int) -> None:
    if claims(widths, "diameter"):
        assert widths.diameter_lower[0] == widths.diameter_upper[0] == diameter
    if claims(widths, "radius"):
        assert widths.radius_lower[0] == widths.radius_upper[0] == radius
    assert ("center" in widths.metrics) == (len(widths.center) > 0)
    assert ("periphery" in widths.metrics) == (len(widths.periphery) > 0)
    assert ("eccentricities" in widths.metrics) == (len(widths.eccentricity) > 0)
