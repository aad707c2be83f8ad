"""Widths on a GPU: against SciPy and NetworkX, and against the certificate."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from benchmarks.lib.graphs import rmat
from kernels import (
    CSRGraph,
    Shard,
    bfs,
    center,
    components,
    diameter,
    eccentricities,
    periphery,
    radius,
)
from kernels.eccentricity.check import check_diameter
from kernels.eccentricity.questions import QUESTIONS
from pipeline.generate.barabasi_albert import barabasi_albert_graph
from pipeline.generate.grid import grid_graph

pytestmark = pytest.mark.gpu


def links(graph: nx.Graph) -> csr_array:
    return nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), format="csr")


def csr(graph: nx.Graph) -> CSRGraph:
    """Of a graph whose nodes are 0, 1, ..."""
    if len(graph) == 0:  # of which SciPy has no matrix
        return CSRGraph(np.zeros(1, np.int64), np.empty(0, np.int32))
    adjacency = links(graph)
    adjacency.sort_indices()
    return CSRGraph(adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int32))


def scattered(parts: list[nx.Graph], seed: int = 1) -> nx.Graph:
    """All of them in one graph, their nodes mixed."""
    union = nx.disjoint_union_all(parts)
    order = np.random.default_rng(seed).permutation(len(union)).tolist()
    return nx.relabel_nodes(union, dict(enumerate(order)))


def oracle(graph: nx.Graph) -> np.ndarray:
    """Eccentricity of every node within its component, by SciPy."""
    if len(graph) == 0:
        return np.empty(0, np.int32)
    hops = shortest_path(links(graph), unweighted=True)
    return np.where(np.isfinite(hops), hops, 0).max(axis=1).astype(np.int32)


def largest_of(graph: nx.Graph) -> list[int]:
    return sorted(min(nx.connected_components(graph), key=lambda c: (-len(c), min(c))))


GRAPHS = {
    "one node": nx.empty_graph(1),
    "two nodes": nx.path_graph(2),
    "no links": nx.empty_graph(5),
    "path": nx.path_graph(700),
    "cycle": nx.cycle_graph(301),
    "star": nx.star_graph(1000),
    "complete": nx.complete_graph(40),
    "torus": nx.convert_node_labels_to_integers(nx.grid_2d_graph(17, 23, periodic=True)),
    "hypercube": nx.convert_node_labels_to_integers(nx.hypercube_graph(9)),
    "tree": nx.random_labeled_tree(800, seed=3),
    "attachment": nx.barabasi_albert_graph(2000, 2, seed=1),
    "sparse": nx.gnm_random_graph(1500, 1400, seed=2),
    "lollipop": nx.lollipop_graph(30, 200),
    "scattered": scattered(
        [nx.path_graph(9), nx.cycle_graph(12), nx.star_graph(7), nx.empty_graph(3)]
        + [nx.barabasi_albert_graph(300, 2, seed=s) for s in range(3)]
    ),
}


@pytest.fixture(params=GRAPHS.values(), ids=GRAPHS.keys(), scope="module")
def case(request) -> tuple[nx.Graph, CSRGraph, np.ndarray]:
    return request.param, csr(request.param), oracle(request.param)


def test_all_eccentricities(case):
    _, graph, expected = case
    found = eccentricities(graph.to("gpu"))
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, expected)


def test_diameter_with_its_path_and_its_certificate(case):
    other, graph, expected = case
    found = diameter(graph.to("gpu"))
    own = largest_of(other)
    assert found.exact
    assert found.component == own[0]
    assert found.diameter == found.lower == found.upper == expected[own].max()
    assert len(found.path) == found.diameter + 1
    assert nx.is_path(other, found.path.tolist())
    assert nx.shortest_path_length(other, found.path[0], found.path[-1]) == found.diameter
    check_diameter(graph, found)
    for name, low, high in zip(found.components, found.lowers, found.uppers, strict=True):
        nodes = list(nx.node_connected_component(other, int(name)))
        assert low == high == expected[nodes].max()


def test_radius_center_and_periphery(case):
    other, graph, expected = case
    there, own = graph.to("gpu"), largest_of(other)
    found = radius(there)
    assert found.exact
    assert found.radius == expected[own].min()
    assert found.center in own
    assert expected[found.center] == found.radius
    middle, rim = center(there), periphery(there)
    assert middle.exact
    assert rim.exact
    assert middle.nodes.tolist() == [v for v in own if expected[v] == expected[own].min()]
    assert rim.nodes.tolist() == [v for v in own if expected[v] == expected[own].max()]
    for nodes in nx.connected_components(other):
        some = sorted(nodes)
        np.testing.assert_array_equal(
            middle.is_center[some], expected[some] == expected[some].min()
        )
        np.testing.assert_array_equal(
            rim.is_periphery[some], expected[some] == expected[some].max()
        )


@pytest.mark.parametrize("least_apart", [1, 10**9], ids=["apart", "together"])
def test_single_nodes_and_small_components_beside_a_large_one(least_apart, monkeypatch):
    from kernels.eccentricity.gpu import solver as gpu_solver

    monkeypatch.setattr(gpu_solver, "LEAST_APART", least_apart)
    graph = rmat(13, 2)
    here = graph.to("gpu")
    found, expected = diameter(here), diameter(graph)
    assert len(found.components) > 2000
    for name in ("component", "diameter"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("components", "lowers", "uppers"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    check_diameter(graph, found)
    each = eccentricities(graph)
    np.testing.assert_array_equal(eccentricities(here), each)
    middle = radius(here)
    assert middle.radius == radius(graph).radius == each[middle.center]
    for ask, marks in ((center, "is_center"), (periphery, "is_periphery")):
        np.testing.assert_array_equal(getattr(ask(here), marks), getattr(ask(graph), marks))


@pytest.mark.parametrize("is_searched", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_parts_are_the_components_in_order(seed, is_searched):
    from kernels.eccentricity.gpu.components import components_of

    other = nx.gnm_random_graph(3000, 1500, seed=seed)
    if seed == 3:  # in order already
        other = nx.disjoint_union_all([nx.path_graph(k) for k in range(1, 60)])
    graph = csr(other)
    expected = components(graph)
    shard = Shard(graph.indptr, graph.indices, np.array([0, graph.n_nodes])).to("gpu")
    hub = int(np.argmax(np.diff(graph.indptr)))
    level = bfs(graph.to("gpu"), hub).level if is_searched else None
    found = components_of(shard, level)
    np.testing.assert_array_equal(found.names.get(), expected.ids)
    np.testing.assert_array_equal(found.size.get(), expected.sizes)
    order = np.argsort(expected.component, kind="stable")
    assert (found.order is None) == (seed == 3)
    if found.order is not None:
        np.testing.assert_array_equal(found.order.get(), order)
    inner, host = found.shard.to("cpu"), np.argsort(order)
    for i in (0, 17, graph.n_nodes - 1):
        own = inner.indices[inner.indptr[i] : inner.indptr[i + 1]]
        theirs = graph.indices[graph.indptr[order[i]] : graph.indptr[order[i] + 1]]
        np.testing.assert_array_equal(own, host[theirs])


def test_few_searches_give_an_interval_that_holds_the_diameter():
    other = nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 40, periodic=True))
    graph = csr(other).to("gpu")
    for n in (0, 1, 2, 5):
        found = diameter(graph, max_searches=n)
        assert not found.exact
        assert found.n_searches <= n
        assert found.lower <= 40 <= found.upper
        assert found.lower < found.upper
        assert len(found.path) == found.lower + 1


@pytest.mark.parametrize("n", [0, 1, 7, 40, 150])
def test_few_searches_of_a_shard_give_intervals_that_hold_the_widths(n, monkeypatch):
    from kernels.eccentricity.gpu import solver as gpu_solver
    from kernels.eccentricity.gpu.shard import widths_on_gpu

    monkeypatch.setattr(gpu_solver, "LEAST_APART", 1)
    parts = [nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, k)) for k in range(2, 30)]
    parts += [nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 30, periodic=True))]
    expected = np.array([nx.diameter(part) for part in parts])
    radii = np.array([nx.radius(part) for part in parts])
    shard = Shard.from_graphs([csr(part) for part in parts]).to("gpu")
    found = widths_on_gpu(shard, ("diameter", "radius"), max_searches=n)
    assert (found.n_searches <= n).all()
    assert (found.diameter_lower <= expected).all()
    assert (expected <= found.diameter_upper).all()
    assert (found.radius_lower <= radii).all()
    assert (radii <= found.radius_upper).all()
    assert (found.diameter_lower == found.diameter_upper)[found.exact].all()
    assert not found.exact.all()


def test_a_graph_without_nodes():
    empty = CSRGraph(np.zeros(1, np.int64), np.empty(0, np.int32)).to("gpu")
    assert diameter(empty).diameter == 0
    assert len(eccentricities(empty)) == 0


@pytest.mark.parametrize("least_apart", [1, 10**9], ids=["apart", "together"])
@pytest.mark.parametrize("seed", range(3))
def test_a_shard_of_many_graphs(seed, least_apart, monkeypatch):
    from kernels.eccentricity.gpu import solver as gpu_solver
    from kernels.eccentricity.gpu.shard import widths_on_gpu

    monkeypatch.setattr(gpu_solver, "LEAST_APART", least_apart)
    rng = np.random.default_rng(seed)
    parts = [
        nx.gnm_random_graph(int(n), int(1.2 * n), seed=int(n)) for n in rng.integers(1, 90, 60)
    ]
    parts += [nx.empty_graph(0), nx.path_graph(300), nx.barabasi_albert_graph(1500, 2, seed=seed)]
    shard = Shard.from_graphs([csr(part) for part in parts])
    expected = np.concatenate([oracle(part) for part in parts])
    for questions in (("diameter",), ("radius", "diameter"), ("center", "periphery"), QUESTIONS):
        found = widths_on_gpu(shard.to("gpu"), questions)
        assert found.exact.all()
        assert found.n_searches.sum() > 0
        most = np.zeros(len(found.names), int)
        np.maximum.at(most, found.component, expected)
        least = np.full(len(found.names), 10**6)
        np.minimum.at(least, found.component, expected)
        assert (np.bincount(found.component) == found.size).all()
        if "diameter" in questions:
            np.testing.assert_array_equal(found.diameter_lower, most)
            np.testing.assert_array_equal(found.diameter_upper, most)
            check_paths(parts, shard, found, expected)
        if "radius" in questions:
            np.testing.assert_array_equal(found.radius_lower, least)
            np.testing.assert_array_equal(found.radius_upper, least)
        if "center" in questions:
            np.testing.assert_array_equal(found.is_center, expected == least[found.component])
            np.testing.assert_array_equal(found.is_periphery, expected == most[found.component])
        if "eccentricities" in questions:
            np.testing.assert_array_equal(found.eccentricity, expected)


def check_paths(parts, shard, found, expected):
    for i, part in enumerate(parts):
        path = found.path[found.path_ptr[i] : found.path_ptr[i + 1]] - shard.node_ptr[i]
        if len(part) == 0:
            assert len(path) == 0
            continue
        own = largest_of(part)
        assert len(path) - 1 == expected[shard.node_ptr[i] + np.array(own)].max()
        assert nx.is_path(part, path.tolist())
        assert nx.shortest_path_length(part, path[0], path[-1]) == len(path) - 1


@pytest.mark.parametrize("n_sources", [1, 3, 64, 65, 200])
def test_implied_bounds_hold_and_are_those_of_the_searches(n_sources):
    from kernels.eccentricity.gpu.shard import implied_on_gpu

    other = GRAPHS["sparse"]
    graph, expected = csr(other), oracle(other)
    sources = np.random.default_rng(n_sources).permutation(len(other))[:n_sources]
    found = implied_on_gpu(graph.to("gpu"), sources)
    np.testing.assert_array_equal(found.eccentricity, expected[sources])
    lower, upper = np.zeros(len(other), int), np.full(len(other), np.iinfo(found.upper.dtype).max)
    for s in sources.tolist():
        for v, d in nx.single_source_shortest_path_length(other, s).items():
            lower[v] = max(lower[v], d, expected[s] - d)
            upper[v] = min(upper[v], expected[s] + d)
    np.testing.assert_array_equal(found.lower, lower)
    np.testing.assert_array_equal(found.upper, upper)


def test_more_sources_than_lanes_are_refused():
    from kernels.eccentricity.gpu.shard import implied_on_gpu

    graph = csr(nx.cycle_graph(301)).to("gpu")
    assert (implied_on_gpu(graph, np.arange(256)).eccentricity == 150).all()
    with pytest.raises(ValueError, match="257 sources are more than the 256 lanes"):
        implied_on_gpu(graph, np.arange(257))


def test_long_paths_are_implied_in_wider_types():
    from kernels.eccentricity.gpu.shard import implied_on_gpu

    found = implied_on_gpu(csr(nx.path_graph(1000)).to("gpu"), np.array([0]))
    assert found.upper.dtype == np.uint16
    assert found.upper[999] == 1998
    assert found.lower[500] == 500


@pytest.mark.parametrize("model", ["attachment", "grid"])
def test_large_graphs_agree_with_cores(model):
    if model == "grid":
        graph = grid_graph(150, 150, cut=0.1, seed=2)
    else:
        graph = barabasi_albert_graph(60_000, m=2, seed=4)
    there, here = diameter(graph.to("gpu")), diameter(graph)
    assert there.diameter == here.diameter
    check_diameter(graph, there)
    np.testing.assert_array_equal(eccentricities(graph.to("gpu")), eccentricities(graph))


def test_a_core_finds_the_diameter_of_a_small_graph(monkeypatch):
    import kernels.eccentricity

    monkeypatch.setattr(kernels.eccentricity, "FEW", 1 << 18)
    monkeypatch.setattr(kernels.eccentricity, "_on_gpu", None)
    graph = barabasi_albert_graph(500, m=2, seed=1).to("gpu")
    found = diameter(graph)
    found.check()
    assert found.graph is graph
