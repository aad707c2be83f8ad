"""Largest degrees of the graphs of a shard, against a loop over nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, Shard
from kernels.degrees import max_degrees
from kernels.errors import GraphError
from tests.soak import examples

PATH = CSRGraph.from_edges([0, 1, 2], [1, 2, 3], n_nodes=4, symmetrise=True)
STAR = CSRGraph.from_edges([3, 3, 3], [0, 1, 2], n_nodes=4, symmetrise=True)
POINTS = CSRGraph.from_edges([], [], n_nodes=3, symmetrise=True)
EMPTY = CSRGraph.from_edges([], [], n_nodes=0, symmetrise=True)


def rows(*graphs: CSRGraph) -> list[tuple[int, int, int]]:
    found = max_degrees(Shard.from_graphs(graphs))
    assert (found.max_degree.dtype, found.node.dtype) == (np.int64, np.int32)
    columns = (found.max_degree, found.node, found.n_nodes)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_degrees_counted_by_hand():
    assert rows(EMPTY, PATH, EMPTY, STAR, POINTS, EMPTY) == [
        (0, -1, 0),
        (2, 1, 2),
        (0, -1, 0),
        (3, 3, 1),
        (0, 0, 3),
        (0, -1, 0),
    ]
    assert rows() == []
    assert rows(EMPTY) == [(0, -1, 0)]


def test_one_graph_is_no_shard():
    with pytest.raises((TypeError, GraphError), match="Shard"):
        max_degrees(PATH)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.integers(0, 6), max_size=5), st.randoms(use_true_random=False))
def test_degrees_are_those_of_a_loop(sizes, random):
    graphs, expected = [], []
    for n in sizes:
        pairs = {(a, b) for a in range(n) for b in range(a) if random.random() < 0.4}
        graphs.append(
            CSRGraph.from_edges(*map(list, zip(*pairs, strict=True)), n_nodes=n, symmetrise=True)
            if pairs
            else CSRGraph.from_edges([], [], n_nodes=n, symmetrise=True)
        )
        degree = [sum(node in pair for pair in pairs) for node in range(n)]
        most = max(degree, default=0)
        expected.append((most, degree.index(most) if n else -1, degree.count(most)))
    assert rows(*graphs) == expected
