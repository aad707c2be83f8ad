from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import CheckError, CSRGraph, GraphError, components, dfs
from kernels.depth_first import DFSResult, euler_tour
from kernels.depth_first.check import check_dfs
from tests.shapes import graph_of, grid, host, path, relabelled, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs

PROPERTY = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NAMES = ("discovery", "finish", "parent", "order")


def searched_by_definition(graph: CSRGraph, source: int | None) -> list[list[int]]:
    """Discovery, finish, parent and order, by recursion."""
    discovery, finish, parent = ([-1] * graph.n_nodes for _ in range(3))
    order: list[int] = []
    clock = iter(range(2 * graph.n_nodes))

    def visit(u: int, above: int) -> None:
        discovery[u], parent[u] = next(clock), above
        order.append(u)
        for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]].tolist():
            if discovery[v] < 0:
                visit(v, u)
        finish[u] = next(clock)

    for root in range(graph.n_nodes) if source is None else [source]:
        if discovery[root] < 0:
            visit(root, root)
    return [discovery, finish, parent, order]


def methods(device: str) -> tuple[str, ...]:
    return ("auto",) if device == "cpu" else ("auto", "core", "warp")


def lists(found: DFSResult) -> list[list[int]]:
    return [host(getattr(found, name)).tolist() for name in NAMES]


@st.composite
def forests(draw) -> CSRGraph:
    """Each node below an earlier one or a root; ids in any order."""
    n_nodes = draw(st.integers(1, 40))
    above = [draw(st.integers(-1, v - 1)) for v in range(n_nodes)]
    edges = [(v, up) for v, up in enumerate(above) if up >= 0]
    return relabelled(graph_of(n_nodes, edges), np.array(draw(st.permutations(range(n_nodes)))))


@PROPERTY
@given(graph=graphs(), data=st.data())
def test_every_method_searches_as_defined(device, graph, data):
    source = data.draw(st.none() | st.integers(0, graph.n_nodes - 1))
    there, expected = graph.to(device), searched_by_definition(graph, source)
    for method in methods(device):
        found = dfs(there, source, method)
        assert lists(found) == expected, method
        found.check()


@PROPERTY
@given(graph=forests(), data=st.data())
def test_walks_around_trees_give_the_times_of_the_search(device, graph, data):
    source = data.draw(st.none() | st.integers(0, graph.n_nodes - 1))
    expected = searched_by_definition(graph, source)
    root = components(graph).component
    walked = euler_tour.search(np, graph.indptr, graph.indices, root, source)
    assert [array.tolist() for array in walked] == expected
    assert [array.dtype for array in walked] == ["i8", "i8", "i4", "i4"]
    if device == "gpu":
        assert lists(dfs(graph.to(device), source, "euler-tour")) == expected


@pytest.mark.parametrize(
    "graph",
    [path(70_000), star(5000, hub=17), grid(90, 80), tree_with_hubs(4000, seed=2)],
    ids=["path", "star", "grid", "hubs"],
)
def test_large_graphs_are_certified(device, graph):
    mixed = relabelled(graph, np.random.default_rng(3).permutation(graph.n_nodes))
    for one in (graph, mixed):
        for source in (None, 17):
            found = dfs(one.to(device), source)
            assert found.n_reached == graph.n_nodes
            found.check()


def test_a_large_forest_is_searched_where_it_lies(device):
    found = dfs(path(70_000).to(device), 17)
    assert found.method == ("core" if device == "cpu" else "euler-tour")
    assert dfs(grid(3, 3).to(device)).method == "core"


def test_hand_counted_search(device):
    graph = graph_of(6, [(0, 1), (0, 3), (1, 2), (2, 3), (4, 5)]).to(device)
    found = dfs(graph, 2)
    assert host(found.order).tolist() == [2, 1, 0, 3]
    assert host(found.discovery).tolist() == [2, 1, 0, 3, -1, -1]
    assert host(found.finish).tolist() == [5, 6, 7, 4, -1, -1]
    assert host(found.parent).tolist() == [1, 2, 2, 0, -1, -1]
    assert host(dfs(graph).order).tolist() == [0, 1, 2, 3, 4, 5]
    assert (host(found.finish).dtype, host(found.parent).dtype) == (np.int64, np.int32)


def test_no_nodes_and_isolated_nodes(device):
    nothing = dfs(graph_of(0, []).to(device))
    assert nothing.n_reached == 0
    nothing.check()
    assert lists(dfs(graph_of(2, []).to(device))) == [[0, 2], [1, 3], [0, 1], [0, 1]]
    assert lists(dfs(graph_of(2, []).to(device), 1)) == [[-1, 0], [-1, 1], [-1, 1], [1]]


@settings(max_examples=examples(150), deadline=None)
@given(graph=graphs(), data=st.data())
def test_certificate_refuses_any_one_wrong_number(graph, data):
    source = data.draw(st.none() | st.integers(0, graph.n_nodes - 1))
    found = dfs(graph, source)
    arrays = {name: getattr(found, name).copy() for name in NAMES}
    array = arrays[data.draw(st.sampled_from(NAMES))]
    array[data.draw(st.integers(0, len(array) - 1))] += data.draw(st.sampled_from([-2, -1, 1, 3]))
    with pytest.raises(CheckError):
        check_dfs(graph.indptr, graph.indices, source, *arrays.values())


@settings(max_examples=examples(100), deadline=None)
@given(graph=graphs(min_nodes=2), data=st.data())
def test_certificate_refuses_the_search_in_another_order_of_arcs(graph, data):
    """It is a depth-first search as well: times nest and no edge crosses."""
    new_id = np.array(data.draw(st.permutations(range(graph.n_nodes))))
    there = dfs(relabelled(graph, new_id))
    old_id = np.argsort(new_id).astype(np.int32)
    other = [
        there.discovery[new_id],
        there.finish[new_id],
        old_id[there.parent[new_id]],
        old_id[there.order],
    ]
    if [array.tolist() for array in other] == searched_by_definition(graph, None):
        return
    with pytest.raises(CheckError):
        check_dfs(graph.indptr, graph.indices, None, *other)


@pytest.mark.parametrize(
    ("source", "order", "parent", "words"),
    [
        (0, [0, 1, 1], [0, 0, 1, 0], "in the order twice"),
        (1, [0, 1, 2, 3], [0, 0, 1, 0], "does not begin with the source"),
        (None, [0, 1, 2], [0, 0, 1, 0], "3 of 5 nodes"),
        (0, [0, 1, 9], [0, 0, 1, 0], "the graph has 5 nodes"),
        (0, [0, 1, 2, 3], [0, 0, 1, 3], "is a root, and 0 comes first"),
        (0, [0, 1, 3, 2], [0, 0, 1, 0], "not open when 2 is found"),
        (0, [0, 1, 2, 3], [0, 0, 0, 0], "neither is above"),
        (0, [0, 2, 1, 3], [0, 2, 0, 0], "found before 1, an earlier neighbour"),
        (0, [0, 1, 2, 3], [0, 0, 1, 2], "which is not a neighbour"),
        (0, [0, 1, 2], [0, 0, 1, -1], "leaves the reached nodes"),
        (0, [0, 1, 2, 3], [0, 0, 1, 0, 0], "not in the order, but has times or a parent"),
    ],
)
def test_certificate_says_what_is_wrong(source, order, parent, words):
    """Of a triangle 0 - 1 - 2, the edge 0 - 3 and node 4, with the times that parents ask for."""
    graph = graph_of(5, [(0, 1), (0, 2), (1, 2), (0, 3)])
    parent = [*parent, -1][:5]
    opened, closed, stack = {}, {}, []
    clock = iter(range(2 * len(order)))
    for u in order:
        while stack and stack[-1] != parent[min(u, 4)]:
            closed.setdefault(stack.pop(), next(clock))
        opened.setdefault(u, next(clock))
        stack.append(u)
    while stack:
        closed.setdefault(stack.pop(), next(clock))
    discovery, finish = ([times.get(u, -1) for u in range(5)] for times in (opened, closed))
    with pytest.raises(CheckError, match=words):
        check_dfs(graph.indptr, graph.indices, source, discovery, finish, parent, order)


def test_what_cannot_be_done_is_refused(device):
    graph = graph_of(3, [(0, 1), (1, 2), (0, 2)]).to(device)
    with pytest.raises(GraphError, match="source 3"):
        dfs(graph, 3)
    with pytest.raises(GraphError, match="give one of"):
        dfs(graph, 0, "recursive")
    with pytest.raises(GraphError, match="on a GPU" if device == "cpu" else "has a cycle"):
        dfs(graph, 0, "euler-tour")
