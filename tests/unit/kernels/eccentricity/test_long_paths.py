"""Longest paths are followed by compiled code: there may be a million nodes on them."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.eccentricity import Strategy, diameter
from kernels.eccentricity.weighted import weighted_diameter
from tests.interpreted import n_lines
from tests.shapes import path, relabelled, weighted

N_NODES = 20_000


def by_the_solver(graph):
    """As graphs of 65,535 hops and more are answered."""
    return diameter(graph, strategy=Strategy(keep=False))


@pytest.mark.parametrize("ask", [diameter, by_the_solver, weighted_diameter])
def test_a_shuffled_path_is_its_longest_path(ask):
    new_id = np.random.default_rng(1).permutation(N_NODES)
    graph = relabelled(path(N_NODES), new_id)
    graph = weighted(graph, np.ones(graph.n_edges))
    ask(graph)  # imports what it needs
    n, found = n_lines(lambda: ask(graph))
    assert found.diameter == N_NODES - 1
    assert found.path.dtype == np.int32
    assert found.path.tolist() in (new_id.tolist(), new_id[::-1].tolist())
    assert n < N_NODES / 4
