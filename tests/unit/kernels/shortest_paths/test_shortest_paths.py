from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

from kernels import CSRGraph, GraphError, SSSPResult, sssp
from kernels.shortest_paths import cpu, dijkstra, near_far
from kernels.shortest_paths.check import check_distances, check_parents
from tests.oracles.paths import distances
from tests.shapes import graph_of, grid, host, path, relabelled, star, tree_with_hubs, weighted
from tests.soak import examples
from tests.strategies import weighted_graphs

PROPERTY = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def by_heap(graph, source):
    """Dijkstra's algorithm, to which ``sssp`` turns on a core."""
    distance = np.empty(graph.n_nodes)
    dijkstra(arrays(graph), np.array([source], np.int32), distance)
    return SSSPResult(source, distance, *cpu.summarise(distance), graph=graph)


def variants(device):
    """sssp, and on a core its heap from the start."""
    return [sssp, by_heap] if device == "cpu" else [sssp]


def arrays(graph):
    return graph.indptr, graph.indices, graph.weights


def check(graph, result):
    """Certificates of distances and parents, and what is counted from them."""
    distance = host(result.distance)
    assert distance.dtype == np.float64
    check_distances(*arrays(graph), result.source, distance)
    finite = distance[np.isfinite(distance)]
    assert (result.eccentricity, result.n_reached) == (finite.max(), len(finite))
    if result.parent is not None:
        assert host(result.parent).dtype == np.int32
        check_parents(*arrays(graph), result.source, distance, result.parent)


def random_weights(graph, seed=1, low=0.01, high=100.0):
    return weighted(graph, np.random.default_rng(seed).uniform(low, high, graph.n_edges))


@PROPERTY
@given(graph=weighted_graphs(), data=st.data())
def test_distances_are_the_least_rounded_sums(device, graph, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    for search in variants(device):
        result = search(graph.to(device), source)
        np.testing.assert_array_equal(host(result.distance), distances(graph, source))
        check(graph, result)


def test_weights_below_the_normal_numbers_of_float32_count(device):
    least = float(np.finfo(np.float32).smallest_subnormal)
    graph = weighted(path(4), [3 * least, 1e-40, 1.0])
    first = 3 * least
    second = first + float(np.float32(1e-40))
    result = sssp(graph.to(device), 0, parents=True)
    assert host(result.distance).tolist() == [0.0, first, second, second + 1.0]
    assert host(result.parent).tolist() == [0, 0, 1, 2]
    check(graph, result)
    negative = weighted(path(2), [1.0])
    negative.weights[:] = -least
    with pytest.raises(GraphError, match="weight"):
        sssp(negative.to(device), 0)


@PROPERTY
@given(graph=weighted_graphs(), data=st.data())
def test_parents_are_the_tree_that_the_rule_picks(device, graph, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    result = sssp(graph.to(device), source, parents=True)
    check(graph, result)
    distance, parent = host(result.distance), host(result.parent)
    for node in range(graph.n_nodes):
        if np.isinf(distance[node]):
            assert parent[node] == -1
            continue
        steps = 0
        while node != source:  # up to the root, along tight arcs
            row = slice(graph.indptr[node], graph.indptr[node + 1])
            at = np.flatnonzero(graph.indices[row] == parent[node])
            weight = float(graph.weights[row][at[0]])
            assert distance[parent[node]] + weight == distance[node]
            node = parent[node]
            steps += 1
            assert steps < graph.n_nodes
        assert parent[source] == source


@PROPERTY
@given(graph=weighted_graphs(), data=st.data())
def test_renaming_nodes_changes_nothing(device, graph, data):
    new_id = np.array(data.draw(st.permutations(range(graph.n_nodes))))
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    plain = relabelled(graph, new_id)
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    order = np.lexsort((new_id[graph.indices], new_id[tails]))
    renamed = CSRGraph(plain.indptr, plain.indices, graph.weights[order])
    distance = host(sssp(graph.to(device), source).distance)
    other = sssp(renamed.to(device), int(new_id[source]))
    np.testing.assert_array_equal(host(other.distance)[new_id], distance)


@settings(max_examples=examples(200), deadline=None)
@given(graph=weighted_graphs(), data=st.data())
def test_certificate_refuses_any_one_wrong_distance(graph, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    distance = sssp(graph, source).distance
    node = data.draw(st.integers(0, graph.n_nodes - 1))
    wrong = st.sampled_from(
        [0.0, 1.0, 2.5, 1e9, -1.0, np.inf, np.nan, np.nextafter(distance[node], 0)]
    )
    distance[node] = data.draw(wrong.filter(lambda length: length != distance[node]))
    with pytest.raises(AssertionError):
        check_distances(*arrays(graph), source, distance)


@settings(max_examples=examples(200), deadline=None)
@given(graph=weighted_graphs(), data=st.data())
def test_certificate_refuses_any_one_wrong_parent(graph, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    result = sssp(graph, source, parents=True)
    node = data.draw(st.integers(0, graph.n_nodes - 1))
    parent = result.parent.copy()
    parent[node] = data.draw(
        st.integers(-1, graph.n_nodes - 1).filter(lambda v: v != result.parent[node])
    )
    with pytest.raises(AssertionError, match=f"node {node} at distance"):
        check_parents(*arrays(graph), source, result.distance, parent)


def test_certificate_refuses_a_cycle_of_weight_0_that_hangs_in_the_air():
    graph = weighted(graph_of(4, [(0, 1), (1, 2), (2, 3), (1, 3)]), [5, 0, 0, 0])
    check_distances(*arrays(graph), 0, np.array([0.0, 5, 5, 5]))
    with pytest.raises(AssertionError, match="which is not the length of a path"):
        check_distances(*arrays(graph), 0, np.array([0.0, 3, 3, 3]))


def test_hand_counted_graph_with_two_components(device):
    #   0 -1- 1 -2- 2 -0- 3      5 -.5- 6      7
    #         |     |
    #         9- 4 -3
    edges = [(0, 1), (1, 2), (1, 4), (2, 3), (2, 4), (5, 6)]
    graph = weighted(graph_of(8, edges), [1, 2, 9, 0, 3, 0.5])
    result = sssp(graph.to(device), 0, parents=True)
    assert host(result.distance).tolist() == [0, 1, 3, 3, 6, np.inf, np.inf, np.inf]
    assert host(result.parent).tolist() == [0, 0, 1, 2, 2, -1, -1, -1]
    assert (result.eccentricity, result.n_reached) == (6, 5)


def test_parents_without_a_nearer_neighbour_lead_to_the_nearest_node_that_has_one(device):
    # All except the source at distance 1: node 5 is entered, 1 - 2 - 3 - 4 - 5 - 1 is a ring of
    # zeros.
    edges = [(0, 5), (1, 2), (1, 5), (2, 3), (3, 4), (4, 5)]
    graph = weighted(graph_of(6, edges), [1, 0, 0, 0, 0, 0])
    result = sssp(graph.to(device), 0, parents=True)
    assert host(result.parent).tolist() == [0, 5, 1, 4, 5, 0]
    # The same where rounding absorbs the weights: 1e9 + 1e-30 = 1e9.
    edges_of = weighted(graph, [1e9, 1e-30, 1e-30, 1e-30, 1e-30, 1e-30])
    result = sssp(edges_of.to(device), 0, parents=True)
    assert host(result.distance).tolist() == [0] + 5 * [1e9]
    assert host(result.parent).tolist() == [0, 5, 1, 4, 5, 0]


def test_weights_of_0_everywhere(device):
    for graph in (path(5000), star(3000), grid(30, 40)):
        zeros = weighted(graph, np.zeros(graph.n_edges))
        result = sssp(zeros.to(device), 2, parents=True)
        assert (result.eccentricity, result.n_reached) == (0, graph.n_nodes)
        check(zeros, result)


def test_isolated_source_reaches_itself(device):
    for graph in (graph_of(1, []), graph_of(3, [(1, 2)])):
        for search in variants(device):
            result = search(weighted(graph, [7.0] * graph.n_edges).to(device), 0)
            assert (result.eccentricity, result.n_reached) == (0.0, 1)
            assert host(result.distance)[0] == 0


@pytest.mark.parametrize("hub", [0, 5000])
def test_star_from_hub_and_from_leaf(device, hub):
    graph = random_weights(star(5000, hub=hub))
    for source in (hub, 7):
        for search in variants(device):
            check(graph, search(graph.to(device), source))
        check(graph, sssp(graph.to(device), source, parents=True))


def test_path_of_70000_nodes_sums_its_weights(device):
    graph = random_weights(path(70_000))
    result = sssp(graph.to(device), 0, parents=True)
    steps = graph.weights[graph.indptr[:-2] + (np.arange(69_999) > 0)].astype(np.float64)
    np.testing.assert_array_equal(host(result.distance)[1:], np.cumsum(steps))
    check(graph, result)


@pytest.mark.parametrize("spread", [1.0, 1e3, 1e6])
def test_graphs_with_hubs_and_grids_pass_the_certificate(device, spread):
    for shape in (tree_with_hubs(20_000, seed=1), grid(100, 120)):
        graph = random_weights(shape, low=1.0, high=spread)
        for source in (0, 1, shape.n_nodes - 1):
            for search in variants(device):
                check(graph, search(graph.to(device), source))
            check(graph, sssp(graph.to(device), source, parents=True))


def test_heavy_tailed_weights_pass_the_certificate(device):
    for shape in (tree_with_hubs(20_000, seed=2), grid(100, 120)):
        weights = np.random.default_rng(3).pareto(0.5, shape.n_edges).clip(0, 1e30)
        graph = weighted(shape, weights)
        check(graph, sssp(graph.to(device), 5, parents=True))


def test_distances_match_scipy(device):
    graph = random_weights(tree_with_hubs(3000, seed=4))
    matrix = csr_array(
        (graph.weights, graph.indices, graph.indptr.astype(np.int32)), shape=(3000, 3000)
    )
    expected = scipy_dijkstra(matrix, indices=[0, 17])
    for row, source in zip(expected, (0, 17), strict=True):
        np.testing.assert_array_equal(host(sssp(graph.to(device), source).distance), row)


def test_a_queue_that_relaxes_too_often_gives_way_to_the_heap():
    # Node i reaches i - 1 by 1, the hub reaches it by 3 (n - i): as the queue holds them by id,
    # each round lowers every distance by 2, n / 2 rounds on average.
    n_nodes = 4000
    shape = graph_of(
        n_nodes + 2,
        [(n_nodes, i) for i in range(n_nodes)]
        + [(i, i + 1) for i in range(n_nodes - 1)]
        + [(n_nodes, n_nodes + 1)],
    )
    tails = np.repeat(np.arange(shape.n_nodes), np.diff(shape.indptr))
    low, high = (ends[tails < shape.indices] for ends in (tails, shape.indices))
    weights = np.where(high == n_nodes, 3.0 * (n_nodes - low), 1.0)
    weights[high == n_nodes + 1] = 1e12  # makes the mean, and so the first threshold, large
    graph = weighted(shape, weights)
    mean, _ = cpu.scan_weights(graph.weights)
    distance = np.empty(graph.n_nodes)
    assert not near_far(arrays(graph), np.array([n_nodes], np.int32), mean, cpu.PATIENCE, distance)
    check(graph, sssp(graph, n_nodes, parents=True))


@settings(max_examples=examples(50), deadline=None)
@given(graph=weighted_graphs(), delta=st.sampled_from([0.0, 1e-30, 0.3, 7.0, 1e9, np.inf]))
def test_any_rise_of_the_threshold_gives_the_same(graph, delta):
    distance = np.empty(graph.n_nodes)
    assert near_far(arrays(graph), np.array([0], np.int32), delta, 10**6, distance)
    np.testing.assert_array_equal(distance, distances(graph, 0))


def test_an_invalid_weight_is_named(device):
    plain = path(3)
    with pytest.raises(GraphError, match="the graph has no weights"):
        sssp(plain.to(device), 0)
    for bad, message in ((-1, "1 -> 2 is negative: -1"), (np.nan, "1 -> 2 is not finite: nan")):
        weights = np.array([1, 1, bad, bad], np.float32)
        trusted = CSRGraph(plain.indptr, plain.indices, weights, trusted=True).to(device)
        with pytest.raises(GraphError, match=rf"weights\[2\] of the arc {message}"):
            sssp(trusted, 0)
    with pytest.raises(GraphError, match=r"weights\[0\] of the arc 0 -> 1 is not the weight of"):
        CSRGraph(plain.indptr, plain.indices, np.array([1, 2, 2, 2], np.float32))


def test_nodes_that_are_none_are_named(device):
    graph = weighted(path(2), [1.0]).to(device)
    with pytest.raises(GraphError, match=r"source 5 is not a node; the graph has 2 nodes"):
        sssp(graph, 5)
    with pytest.raises(GraphError, match=r"source 0 is not a node; the graph has 0 nodes"):
        sssp(weighted(graph_of(0, []), []).to(device), 0)
