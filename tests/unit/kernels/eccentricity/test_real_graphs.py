"""Diameters of measured graphs that others have published."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from kernels import Shard, components, diameter
from kernels.distance_distribution import effective_diameters
from kernels.eccentricity.check import check_diameter
from tests.real_data import real_data
from tests.shapes import graph_of

DIAMETERS = {
    "as-caida20071105.jlg": 17,
    "oregon1_010331.txt": 10,
    "PGPgiantcompo.graph": 24,
    "power.graph": 46,
    "wing.graph": 92,
    "4elt.graph": 102,
    "wiki-Vote.txt": 7,
    "ca-HepPh.txt": 13,
}


def read_edges(path) -> np.ndarray:
    """(n_edges, 2) ids as in the file."""
    if path.suffix == ".jlg":
        rows = gzip.decompress(path.read_bytes()).decode().split("\n")[1:]
        return np.array([row.split(",") for row in rows if row], np.int64)
    lines = path.read_text().splitlines()
    if path.suffix == ".graph":  # METIS: the i-th line holds the neighbours of node i
        n_nodes = int(lines[0].split()[0])
        pairs = [(i, int(j)) for i in range(n_nodes) for j in lines[1 + i].split()]
        return np.array(pairs, np.int64) - [0, 1]
    rows = [line.split()[:2] for line in lines if not line.startswith("#")]
    return np.array([row for row in rows if len(row) == 2], np.int64)


@pytest.mark.parametrize("name", DIAMETERS)
def test_diameters_of_measured_graphs(name):
    ids, edges = np.unique(read_edges(real_data(f"graphs/{name}")), return_inverse=True)
    graph = graph_of(len(ids), edges.reshape(-1, 2))
    found = diameter(graph)
    assert found.exact
    assert found.diameter == DIAMETERS[name]
    assert components(graph).sizes.max() == (components(graph).component == found.component).sum()
    check_diameter(graph, found)


def test_the_effective_diameter_of_a_measured_graph():
    """Stanford's collection gives 3.8 for it (snap.stanford.edu/data/wiki-Vote.html)."""
    ids, edges = np.unique(read_edges(real_data("graphs/wiki-Vote.txt")), return_inverse=True)
    shard = Shard.from_graphs([graph_of(len(ids), edges.reshape(-1, 2))])
    exact = effective_diameters(shard)
    assert round(float(exact.value[0]), 1) == 3.8
    estimate = effective_diameters(shard, max_exact=0)
    assert estimate.is_estimated[0]
    assert abs(estimate.value[0] - exact.value[0]) < 4 * estimate.error[0] < 0.1
