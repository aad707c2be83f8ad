"""Graphs from edges in any order and from other libraries' graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernels import CSRGraph, GraphError, Shard, msbfs
from kernels.edges import sort_arcs
from tests.soak import examples

PAIRS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30)


def edges_of(graph: CSRGraph) -> dict[tuple[int, int], float | None]:
    """Weight of each arc, from the arrays alone."""
    return {
        (u, int(graph.indices[at])): None if graph.weights is None else float(graph.weights[at])
        for u in range(graph.n_nodes)
        for at in range(graph.indptr[u], graph.indptr[u + 1])
    }


@settings(max_examples=examples(60), deadline=None)
@given(pairs=PAIRS, weighted=st.booleans(), dtype=st.sampled_from(["list", "i1", "u2", "i8", "u8"]))
def test_symmetrised_edges_are_those_of_networkx(pairs, weighted, dtype):
    wanted = nx.Graph()
    wanted.add_nodes_from(range(9))
    weights = [(7 * i) % 5 for i in range(len(pairs))]
    for (u, v), w in zip(pairs, weights, strict=True):
        if u != v and w < wanted.get_edge_data(u, v, {}).get("w", 99):
            wanted.add_edge(u, v, w=w)
    ends = [[pair[i] for pair in pairs] for i in (0, 1)]
    if dtype != "list":
        ends = [np.array(end, dtype) for end in ends]
    graph = CSRGraph.from_edges(*ends, weights if weighted else None, n_nodes=9, symmetrise=True)
    found = edges_of(graph)
    arcs = {e: float(w) for u, v, w in wanted.edges(data="w") for e in ((u, v), (v, u))}
    assert found == (arcs if weighted else dict.fromkeys(arcs))
    assert (graph.indptr.dtype, graph.indices.dtype) == (np.int64, np.int32)


def test_arcs_in_any_order_are_taken_as_they_are():
    graph = CSRGraph.from_edges([1, 0, 2, 1], [2, 1, 1, 0], [5, 3, 5, 3])
    assert edges_of(graph) == {(0, 1): 3, (1, 0): 3, (1, 2): 5, (2, 1): 5}
    assert CSRGraph.from_edges([], []).n_nodes == 0
    assert CSRGraph.from_edges([], [], n_nodes=3).indptr.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0], [1]), r"the arc 0 -> 1 has no arc back.*from_edges\(\.\.\., symmetrise=True\)"),
        (([0, 0], [0, 0]), "node 0 has an arc to itself"),
        (([0, 1, 0], [1, 0, 1]), "the arc 0 -> 1 occurs twice"),
        (([0.0, 1.0], [1.0, 0.0]), "tails has dtype float64; give one row of integers"),
        (([0, 1], ["a", "b"]), "heads has dtype <U1; give one row of integers"),
        (([0, 1], [1]), "2 tails and 1 head;"),
        (([[0], [1]], [1, 0]), r"tails has shape \(2, 1\)"),
        (([[0], [1, 2]], [0]), "tails is not one row of numbers"),
        (([0, 1], [[0], [1, 2]]), "heads is not one row of numbers"),
        (([0, 1], [1, 0], [[1], [1, 2]]), "weights is not one row of numbers"),
        (([-1, 0], [0, -1]), "node -1 is negative"),
        (([0, 1], [1, 0], [1]), r"weights has shape \(1,\); there are 2 edges"),
        (([0, 1], [1, 0], ["x", "y"]), "weights has dtype <U1"),
        (([0, 1], [1, 0], [1, 2]), "is not the weight of"),
        (([0, 1], [1, 0], [np.nan, np.nan]), "not finite"),
        ((np.array([2**63], np.uint64), [0]), "tails holds 9223372036854775808"),
    ],
)
def test_wrong_edges_are_refused_by_their_first_fault(given, message):
    with pytest.raises(GraphError, match=message):
        CSRGraph.from_edges(*given)


def test_ids_beyond_the_nodes_are_refused():
    with pytest.raises(GraphError, match="node 5 is not one of 5 nodes, 0 to 4"):
        CSRGraph.from_edges([0, 5], [5, 0], n_nodes=5)
    with pytest.raises(GraphError, match="node ids are int32"):
        sort_arcs([2**31], [0], None, None, True)


@pytest.mark.parametrize(
    ("n_nodes", "message"),
    [
        (2.7, r"n_nodes is 2\.7; it must be a whole number"),
        ("3", "n_nodes is '3'; it must be a whole number"),
        (-1, "n_nodes is -1; it must be 0 or more"),
        (0, "node 1 is not one of 0 nodes$"),
    ],
)
def test_a_wrong_number_of_nodes_is_refused(n_nodes, message):
    with pytest.raises(GraphError, match=message):
        CSRGraph.from_edges([0], [1], n_nodes=n_nodes, symmetrise=True)


class Series:
    """A column of a data frame: becomes an array, and gets values by their label."""

    dtype, ndim = np.dtype(np.int64), 1

    def __init__(self, values):
        self._values = np.asarray(values)

    def get(self, label):
        return self._values[label]

    def __array__(self, dtype=None, copy=None):
        return self._values

    def __len__(self):
        return len(self._values)


def test_columns_of_a_data_frame_are_taken_as_arrays():
    given = Series([0, 1]), Series([1, 2]), Series([2.0, 3.0])
    graph = CSRGraph.from_edges(*given, n_nodes=np.int64(3), symmetrise=True)
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert msbfs(graph, Series([0, 1])).eccentricity.tolist() == [2, 1]
    with pytest.raises(GraphError, match="indptr is a Series; give a NumPy or CuPy array"):
        CSRGraph(Series([0]), np.empty(0, np.int32))


@settings(max_examples=examples(30), deadline=None)
@given(pairs=PAIRS, weighted=st.booleans())
def test_scipy_and_networkx_give_the_same_graph(pairs, weighted):
    wanted = nx.Graph()
    wanted.add_nodes_from(range(9))
    wanted.add_weighted_edges_from((u, v, u + v) for u, v in pairs if u != v)
    from_nx = CSRGraph.from_networkx(wanted, weight="weight" if weighted else None)
    matrix = nx.to_scipy_sparse_array(wanted, nodelist=range(9), format="csr")
    from_matrix = CSRGraph.from_scipy(matrix, weighted=weighted)
    arcs = {e: float(u + v) for u, v in wanted.edges for e in ((u, v), (v, u))}
    assert edges_of(from_nx) == edges_of(from_matrix) == (arcs if weighted else dict.fromkeys(arcs))


def test_nodes_of_networkx_are_numbered_as_it_lists_them():
    graph = nx.Graph([("c", "a"), ("a", "b")])
    assert edges_of(CSRGraph.from_networkx(graph)) == dict.fromkeys(
        [(0, 1), (1, 0), (1, 2), (2, 1)]
    )


def test_what_networkx_allows_and_a_graph_does_not_is_refused_unless_symmetrised():
    loop, parallel = nx.Graph([(0, 0), (0, 1)]), nx.MultiGraph()
    parallel.add_weighted_edges_from([(0, 1, 4), (0, 1, 2)])
    one_way = nx.DiGraph([(0, 1)])
    for graph, message in (
        (loop, "an arc to itself"),
        (parallel, "occurs twice"),
        (one_way, "no arc back"),
    ):
        with pytest.raises(GraphError, match=message):
            CSRGraph.from_networkx(graph)
        assert set(edges_of(CSRGraph.from_networkx(graph, symmetrise=True))) == {(0, 1), (1, 0)}
    lightest = CSRGraph.from_networkx(parallel, weight="weight", symmetrise=True)
    assert edges_of(lightest) == {(0, 1): 2.0, (1, 0): 2.0}
    with pytest.raises(GraphError, match="1 of 1 edges without 'missing': give every edge"):
        CSRGraph.from_networkx(nx.path_graph(2), weight="missing")


def test_a_matrix_that_is_no_graph_is_refused():
    with pytest.raises(GraphError, match="the matrix is 2 x 3; it must be square"):
        CSRGraph.from_scipy(sparse.csr_array((2, 3)))
    for dense in (np.eye(2), [[0, 1], [1, 0]]):
        with pytest.raises(GraphError, match=r"not a (numpy.ndarray|list); a dense array becomes"):
            CSRGraph.from_scipy(dense)
    with pytest.raises(GraphError, match=r"the shape \(3,\)"):
        CSRGraph.from_scipy(sparse.coo_array([1.0, 0.0, 2.0]))
    one_way = sparse.coo_array(([1.0], ([0], [2])), (3, 3))
    with pytest.raises(GraphError, match="no arc back"):
        CSRGraph.from_scipy(one_way)
    assert CSRGraph.from_scipy(one_way, symmetrise=True).indptr.tolist() == [0, 1, 1, 2]


def test_a_graph_prints_itself_in_a_notebook():
    graph = CSRGraph.from_edges([0], [1], [2.0], symmetrise=True)
    assert graph._repr_html_() == "<b>CSRGraph</b>: 2 nodes, 1 edge, weights, on cpu"
    assert repr(graph) == "CSRGraph(2 nodes, 1 edge, cpu, weighted)"
    assert repr(Shard.from_graphs([CSRGraph.from_edges([], [], n_nodes=1)])) == (
        "Shard(1 graph, 1 node, cpu)"
    )
