"""Distances by definition are those of Dijkstra's algorithm."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.lib.graphs import attachment
from tests.oracles import paths
from tests.shapes import graph_of, grid, path, star

PIECES = graph_of(150, [(i, i + 1) for i in range(149) if i % 7])


@pytest.mark.parametrize(
    ("graph", "is_long"),
    [
        (attachment(200, 3), False),
        (star(100), False),
        (PIECES, False),
        (path(paths.MANY_LEVELS), False),
        (path(paths.MANY_LEVELS + 1), True),
        (grid(30, 4), True),
    ],
)
def test_levels_by_products_are_those_by_dijkstra(graph, is_long):
    sources = [*range(graph.n_nodes - 1, -1, -1), 0]
    found = paths._by_products(graph, sources)
    assert (found is None) == is_long
    one_by_one = np.concatenate([paths.bfs_levels(graph, [source]) for source in sources])
    np.testing.assert_array_equal(paths.bfs_levels(graph, sources), one_by_one)
    if found is not None:
        np.testing.assert_array_equal(found, one_by_one)
