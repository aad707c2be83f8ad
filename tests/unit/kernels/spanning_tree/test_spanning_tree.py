from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from kernels import CheckError, CSRGraph, GraphError, mst
from kernels.spanning_tree import cpu, cpu_boruvka
from kernels.spanning_tree.check import check_forest
from tests.shapes import graph_of, grid, host, path, star, tree_with_hubs, weighted
from tests.soak import examples
from tests.strategies import weighted_graphs

METHODS = {
    "cpu": ("auto", "boruvka", "filter-kruskal", "kruskal", "prim"),
    "gpu": ("auto", "boruvka", "kruskal", "prim"),
}
PROPERTY = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def forests(graph: CSRGraph, device: str):
    """By every method of the device; host arrays."""
    there = graph.to(device)
    for method in METHODS[device]:
        found = mst(there, method)
        yield method, tuple(host(array) for array in (found.tails, found.heads, found.weights))


def chosen_by_definition(graph: CSRGraph) -> list[tuple[float, int, int]]:
    """Edges in the order of (weight, smaller end, larger end) that join two sets of nodes."""
    edges = sorted(
        (float(graph.weights[arc]), u, int(graph.indices[arc]))
        for u in range(graph.n_nodes)
        for arc in range(graph.indptr[u], graph.indptr[u + 1])
        if graph.indices[arc] > u
    )
    part = list(range(graph.n_nodes))
    chosen = []
    for weight, u, v in edges:
        if part[u] != part[v]:
            part = [part[u] if one == part[v] else one for one in part]
            chosen.append((weight, u, v))
    return sorted(chosen, key=lambda edge: edge[1:])


def with_weights(graph: CSRGraph, n_values: int, seed: int = 0) -> CSRGraph:
    """Whole numbers below ``n_values``: few values make many edges equal."""
    return weighted(graph, np.random.default_rng(seed).integers(0, n_values, graph.n_edges))


@PROPERTY
@given(graph=weighted_graphs(min_nodes=0))
def test_every_method_finds_the_forest_of_the_definition(device, graph):
    expected = chosen_by_definition(graph)
    for method, found in forests(graph, device):
        tails, heads, weights = (array.tolist() for array in found)
        assert list(zip(weights, tails, heads, strict=True)) == expected, method
        check_forest(graph.indptr, graph.indices, graph.weights, *found)


@pytest.mark.parametrize(
    "graph",
    [path(5000), star(5000, hub=17), grid(70, 80), tree_with_hubs(4000, seed=2)],
    ids=["path", "star", "grid", "hubs"],
)
@pytest.mark.parametrize("n_values", [1, 3, 10**6])
def test_total_is_that_of_scipy(device, graph, n_values):
    graph = with_weights(graph, n_values)
    matrix = csr_array((graph.weights + 1.0, graph.indices, graph.indptr))
    expected = minimum_spanning_tree(matrix).sum() - (graph.n_nodes - 1)
    found = mst(graph.to(device))
    assert (found.n_edges, found.n_components) == (graph.n_nodes - 1, 1)
    assert found.total == pytest.approx(expected)
    for _, arrays in forests(graph, device):
        check_forest(graph.indptr, graph.indices, graph.weights, *arrays)


def test_edges_are_parted_and_left_out_as_when_all_are_sorted(monkeypatch):
    graph = with_weights(grid(60, 60), 50)
    whole = mst(graph, "kruskal")
    monkeypatch.setattr(cpu, "SMALL_PART", 8)
    parted = mst(graph, "filter-kruskal")
    assert parted.tails.tolist() == whole.tails.tolist()
    assert parted.heads.tolist() == whole.heads.tolist()


def shared_by(monkeypatch, n_threads: int) -> None:
    """Let threads share even the smallest graphs, and all rounds, from now on."""
    for name in ("LARGE", "FEW_EDGES", "FEW_TREES"):
        monkeypatch.setattr(cpu_boruvka, name, 0)
    for name in ("MANY_EDGES", "LIGHT_EDGES"):  # light edges first wherever there is a cycle
        monkeypatch.setattr(cpu_boruvka, name, 1)
    monkeypatch.setattr(cpu_boruvka, "n_threads", lambda: n_threads)


@pytest.mark.parametrize("n_values", [1, 5, 10**6])
def test_light_edges_come_first_where_there_are_many(n_values):
    rng = np.random.default_rng(n_values)
    edges = {tuple(sorted(pair)) for pair in rng.integers(0, 400, (16000, 2)).tolist()}
    graph = graph_of(450, [(u, v) for u, v in sorted(edges) if u != v])  # some are isolated
    graph = with_weights(graph, n_values)
    ours, theirs = mst(graph), mst(graph, "kruskal")
    assert graph.n_edges > cpu_boruvka.MANY_EDGES * graph.n_nodes
    assert graph.n_arcs > cpu_boruvka.VERY_MANY_ARCS * graph.n_nodes
    assert (ours.tails.tolist(), ours.heads.tolist()) == (
        theirs.tails.tolist(),
        theirs.heads.tolist(),
    )


@PROPERTY
@given(graph=weighted_graphs(min_nodes=0), n_threads=st.integers(1, 5))
def test_any_number_of_threads_finds_the_forest_of_the_definition(monkeypatch, graph, n_threads):
    shared_by(monkeypatch, n_threads)
    found = mst(graph)
    edges = zip(found.weights.tolist(), found.tails.tolist(), found.heads.tolist(), strict=True)
    assert list(edges) == chosen_by_definition(graph)


@pytest.mark.parametrize("n_values", [1, 4, 10**6])
@pytest.mark.parametrize("n_threads", [2, 7])
def test_threads_agree_with_kruskal_on_larger_graphs(monkeypatch, n_threads, n_values):
    shared_by(monkeypatch, n_threads)
    apart = graph_of(700, [(7 * i, 7 * i + 3) for i in range(90)])  # and isolated nodes
    hubs = tree_with_hubs(4000, seed=2)
    for plain in (path(5000), star(3000, hub=17), grid(90, 80), hubs, apart):
        graph = with_weights(plain, n_values, seed=n_threads)
        ours, theirs = mst(graph), mst(graph, "kruskal")
        assert ours.n_components == theirs.n_components
        for name in ("tails", "heads", "weights"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


@pytest.mark.parametrize("n_values", [1, 4, 10**6])
def test_one_list_and_rows_give_the_same_forest(monkeypatch, n_values):
    apart = graph_of(900, [(7 * i + 5, 7 * i + 8) for i in range(90)])  # first and last isolated
    hubs = tree_with_hubs(4000, seed=2)
    for plain in (path(5000), star(3000, hub=17), grid(90, 80), hubs, apart):
        graph = with_weights(plain, n_values)
        in_one_list = mst(graph)
        with monkeypatch.context() as patch:
            patch.setattr(cpu_boruvka, "VERY_MANY_ARCS", 0)
            by_rows = mst(graph)
        for name in ("tails", "heads", "weights"):
            assert np.array_equal(getattr(in_one_list, name), getattr(by_rows, name)), name


def test_minus_zero_is_as_light_as_zero():
    graph = weighted(graph_of(3, [(0, 1), (0, 2), (1, 2)]), [0.0, -0.0, -0.0])
    for _, (tails, heads, _) in forests(graph, "cpu"):
        assert (tails.tolist(), heads.tolist()) == ([0, 0], [1, 2])


def test_dense_graphs_list_light_edges_first(device, monkeypatch):
    if device == "gpu":
        from kernels.spanning_tree import gpu

        monkeypatch.setattr(gpu, "FEW_NODES", 0)
    graph = with_weights(graph_of(150, list(itertools.combinations(range(150), 2))), 40)
    for _, arrays in forests(graph, device):
        check_forest(graph.indptr, graph.indices, graph.weights, *arrays)


def test_hand_counted_forest(device):
    graph = weighted(graph_of(6, [(0, 1), (1, 2), (0, 2), (3, 4)]), [2, 2, 2, 0.5])
    for _, (tails, heads, weights) in forests(graph, device):
        assert tails.tolist() == [0, 0, 3]  # of three equal edges the two that come first
        assert heads.tolist() == [1, 2, 4]
        assert weights.tolist() == [2, 2, 0.5]
    found = mst(graph.to(device))
    assert (found.total, found.n_components) == (4.5, 3)


@settings(max_examples=examples(100), deadline=None)
@given(graph=weighted_graphs(min_nodes=2), data=st.data())
def test_certificate_refuses_any_other_edge(graph, data):
    found = mst(graph)
    others = [
        (u, int(v), weight)
        for u in range(graph.n_nodes)
        for v, weight in zip(
            graph.indices[graph.indptr[u] : graph.indptr[u + 1]],
            graph.weights[graph.indptr[u] : graph.indptr[u + 1]],
            strict=True,
        )
        if u < v
    ]
    right = list(zip(found.tails, found.heads, found.weights, strict=True))
    others = [edge for edge in others if edge not in right]
    wrong = set(right)
    if right:
        wrong.remove(data.draw(st.sampled_from(right)))
    if others and data.draw(st.booleans()):
        wrong.add(data.draw(st.sampled_from(others)))
    if wrong == set(right):
        return
    arrays = np.array(sorted(wrong), "i4, i4, f4").reshape(-1)
    with pytest.raises(CheckError):
        check_forest(
            *(graph.indptr, graph.indices, graph.weights),
            *(np.ascontiguousarray(arrays[name]) for name in ("f0", "f1", "f2")),
        )


@pytest.mark.parametrize(
    ("tails", "heads", "weights", "words"),
    [
        ([1], [0], [1], "does not come after"),
        ([0, 0], [1, 1], [1, 1], "does not come after"),
        ([0], [3], [1], "is not an edge"),
        ([0], [1], [2], "another weight"),
        ([0, 0, 1], [1, 2, 2], [1, 3, 2], "closes a cycle"),
        ([0], [1], [1], "no path of the forest"),
        ([0, 0, 2], [1, 2, 3], [1, 3, 4], "comes before one of the path"),
        ([0], [9], [1], "the graph has 4 nodes"),
        ([0], [1, 2], [1], r"heads has shape \(2,\), not \(1\)"),
    ],
)
def test_certificate_says_what_is_wrong(tails, heads, weights, words):
    graph = weighted(graph_of(4, [(0, 1), (0, 2), (1, 2), (2, 3)]), [1, 3, 2, 4])
    with pytest.raises(CheckError, match=words):
        check_forest(graph.indptr, graph.indices, graph.weights, tails, heads, weights)


def test_what_cannot_be_done_is_refused(device):
    plain = graph_of(3, [(0, 1), (1, 2)])
    with pytest.raises(GraphError, match="no weights"):
        mst(plain.to(device))
    graph = weighted(plain, [1, 2])
    with pytest.raises(GraphError, match="give one of"):
        mst(graph.to(device), "best")
    if device == "gpu":
        with pytest.raises(GraphError, match="runs on"):
            mst(graph.to(device), "filter-kruskal")
    for bad in (-1, np.inf, np.nan):
        arrays = graph.indptr, graph.indices, np.array([1, 1, bad, bad], np.float32)
        broken = CSRGraph(*arrays, trusted=True).to(device)
        for method in (*METHODS[device], "auto"):
            with pytest.raises(GraphError, match=r"weights\[2\]"):
                mst(broken, method)
