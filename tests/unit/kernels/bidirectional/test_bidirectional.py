from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, GraphError, bfs
from kernels.bidirectional import cpu, shortest_path
from tests.interpreted import n_lines
from tests.oracles.paths import distances
from tests.oracles.weighted import length_of
from tests.shapes import graph_of, grid, path, star, tree_with_hubs, weighted
from tests.soak import examples
from tests.strategies import graphs, weighted_graphs

PROPERTY = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def pair_of(graph: CSRGraph, data) -> tuple[int, int]:
    node = st.integers(0, graph.n_nodes - 1)
    return data.draw(node), data.draw(node)


def assert_is_path(graph: CSRGraph, found) -> None:
    assert (found.nodes.dtype, found.nodes[0], found.nodes[-1]) == (
        np.int32,
        found.source,
        found.target,
    )
    for u, v in zip(found.nodes[:-1], found.nodes[1:], strict=True):
        assert v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]


@PROPERTY
@given(graph=graphs(), data=st.data())
def test_hops_are_those_of_the_whole_search(device, graph, data):
    source, target = pair_of(graph, data)
    found = shortest_path(graph.to(device), source, target)
    hops = bfs(graph, source).level[target]
    if hops < 0:
        assert (found.nodes.tolist(), found.length) == ([], np.inf)
    else:
        assert (len(found.nodes) - 1, found.length) == (hops, hops)
        assert_is_path(graph, found)


@PROPERTY
@given(graph=weighted_graphs(), data=st.data())
def test_lengths_are_those_of_all_paths(device, graph, data):
    source, target = pair_of(graph, data)
    found = shortest_path(graph.to(device), source, target, weighted=True)
    least = distances(graph, source)[target]
    if least == np.inf:
        assert (found.nodes.tolist(), found.length) == ([], np.inf)
    else:
        assert_is_path(graph, found)
        assert found.length == length_of(graph, found.nodes.tolist())
        assert least <= found.length <= least * (1 + 1e-12)


@pytest.mark.parametrize(
    "graph",
    [path(3000), star(3000, hub=17), grid(50, 60), tree_with_hubs(4000, seed=2)],
    ids=["path", "star", "grid", "hubs"],
)
def test_large_graphs_from_many_pairs(device, graph):
    rng = np.random.default_rng(3)
    whole = weighted(graph, rng.integers(0, 1000, graph.n_edges))
    there = whole.to(device)
    for source, target in rng.integers(0, graph.n_nodes, (6, 2)).tolist():
        found = shortest_path(there, source, target)
        assert found.length == bfs(graph, source).level[target]
        assert_is_path(graph, found)
        found = shortest_path(there, source, target, weighted=True)
        assert found.length == distances(whole, source)[target]
        assert_is_path(graph, found)


def test_hand_counted_paths(device):
    graph = weighted(graph_of(5, [(0, 1), (1, 2), (0, 3), (2, 3)]), [1, 1, 1, 0.5]).to(device)
    assert shortest_path(graph, 0, 2).length == 2
    found = shortest_path(graph, 0, 2, weighted=True)
    assert (found.nodes.tolist(), found.length) == ([0, 3, 2], 1.5)
    assert shortest_path(graph, 3, 3).nodes.tolist() == [3]
    assert shortest_path(graph, 3, 3, weighted=True).length == 0
    assert shortest_path(graph, 0, 4).length == np.inf


def test_what_cannot_be_done_is_refused(device):
    graph = graph_of(3, [(0, 1), (1, 2)]).to(device)
    with pytest.raises(GraphError, match="target 3"):
        shortest_path(graph, 0, 3)
    with pytest.raises(GraphError, match="no weights"):
        shortest_path(graph, 0, 2, weighted=True)
    arrays = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    for bad in (-1, np.inf, np.nan):
        broken = CSRGraph(*arrays, np.array([1, 1, bad, bad], np.float32), trusted=True)
        with pytest.raises(GraphError, match=r"weights\[2\]"):
            shortest_path(broken.to(device), 0, 2, weighted=True)


def test_a_long_path_from_one_end_is_followed_by_compiled_code(monkeypatch):
    """The search from one end takes over where that from both would take too long."""
    graph = weighted(path(20_000), np.full(19_999, 0.5))
    monkeypatch.setattr(cpu, "by_weight", lambda *given: None)
    shortest_path(graph, 19_999, 0, weighted=True)  # imports what it needs
    n, found = n_lines(lambda: shortest_path(graph, 19_999, 0, weighted=True))
    assert found.length == 9_999.5
    assert found.nodes.tolist() == list(range(19_999, -1, -1))
    assert n < 5_000
