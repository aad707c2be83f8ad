from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import Shard, components
from kernels._cpu.threads import use_threads
from kernels.connected import cpu
from kernels.connected.check import check_components
from kernels.connected.part import grow_part
from tests.oracles.paths import smallest_of_component
from tests.shapes import graph_of, grid, host, path, relabelled, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs

PROPERTY = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@PROPERTY
@given(graph=graphs(min_nodes=0))
def test_components_match_scipy(device, graph):
    result = components(graph.to(device))
    expected = smallest_of_component(graph)
    component = host(result.component)
    assert component.dtype == np.int32
    np.testing.assert_array_equal(component, expected)
    ids, sizes = np.unique(expected, return_counts=True)
    np.testing.assert_array_equal(result.ids, ids)
    np.testing.assert_array_equal(result.sizes, sizes)
    assert result.n_components == len(ids)
    check_components(graph.indptr, graph.indices, component)


@settings(max_examples=examples(150), deadline=None)
@given(graph=graphs(), data=st.data())
def test_certificate_refuses_any_one_wrong_component(graph, data):
    component = components(graph).component.copy()
    node = data.draw(st.integers(0, graph.n_nodes - 1))
    component[node] += data.draw(st.sampled_from([-3, -1, 1, 2]))
    with pytest.raises(AssertionError):
        check_components(graph.indptr, graph.indices, component)


def test_certificate_refuses_merged_and_split_components():
    graph = graph_of(4, [(0, 1), (2, 3)])
    for wrong in ([0, 0, 0, 0], [0, 1, 2, 3], [1, 1, 2, 2]):
        with pytest.raises(AssertionError):
            check_components(graph.indptr, graph.indices, np.array(wrong, np.int32))


def test_hand_counted_components(device):
    graph = graph_of(7, [(6, 2), (2, 4), (1, 5)]).to(device)
    result = components(graph)
    assert host(result.component).tolist() == [0, 1, 2, 3, 2, 1, 2]
    assert result.ids.tolist() == [0, 1, 2, 3]
    assert result.sizes.tolist() == [1, 2, 3, 1]


@pytest.mark.parametrize(
    "graph",
    [path(70_000), star(5000, hub=5000), grid(300, 200), tree_with_hubs(20_000, seed=2)],
    ids=["path", "star", "grid", "hubs"],
)
def test_large_connected_graphs_are_one_component_in_any_order(device, graph):
    rng = np.random.default_rng(5)
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    new_id = rng.permutation(graph.n_nodes)
    mixed = graph_of(graph.n_nodes, np.stack([new_id[tails], new_id[graph.indices]], axis=1))
    for one in (graph, mixed):
        result = components(one.to(device))
        assert result.ids.tolist() == [0]
        assert result.sizes.tolist() == [graph.n_nodes]
        assert not host(result.component).any()


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_threads_that_share_the_rows_find_the_same(monkeypatch, n_threads):
    monkeypatch.setattr(cpu, "LARGE", 0)
    use_threads(n_threads)
    rng = np.random.default_rng(n_threads)
    try:
        for n_nodes, n_links in (
            (1, 0),
            (5, 3),
            (9_000, 4_000),
            (9_000, 7_000),
            (3_000, 90_000),
        ):
            graph = graph_of(n_nodes, rng.integers(0, n_nodes, (n_links, 2)))
            expected = smallest_of_component(graph)
            result = components(graph)
            np.testing.assert_array_equal(result.component, expected)
            ids, sizes = np.unique(expected, return_counts=True)
            np.testing.assert_array_equal(result.ids, ids)
            np.testing.assert_array_equal(result.sizes, sizes)
    finally:
        use_threads(None)


@PROPERTY
@given(graph=graphs(min_nodes=1))
def test_shared_rows_match_scipy(monkeypatch, graph):
    monkeypatch.setattr(cpu, "LARGE", 0)
    np.testing.assert_array_equal(components(graph).component, smallest_of_component(graph))


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_a_part_grown_first_takes_its_label_from_what_hangs_on_it(monkeypatch, n_threads):
    """Its own smallest node is not the smallest where a path that passes do not reach leads on."""
    rng = np.random.default_rng(n_threads)
    n, first = 20_000, 5_000
    inside = rng.integers(first, n, (4 * n, 2))
    inside = np.concatenate(
        [inside, np.stack([np.arange(first, n - 1), np.arange(first + 1, n)], 1)]
    )
    tail = np.arange(100, 600)  # 600 is in no part before 599 is: passes see them in wrong order
    links = np.stack([tail, tail + 1], axis=1)
    bridge = [(600, n - 1), (700, 701), (701, 3000)]
    graph = graph_of(n, np.concatenate([inside, links, bridge]))
    use_threads(n_threads)
    monkeypatch.setattr(cpu, "LARGE", 0)
    grown = []
    monkeypatch.setattr(
        cpu, "grow_part", lambda *given: grown.append(grow_part(*given)) or grown[0]
    )
    try:
        result = components(graph)
    finally:
        use_threads(None)
    assert (n - first) // 2 < sum(int(word).bit_count() for word in grown[0]) < n - first + 501
    np.testing.assert_array_equal(result.component, smallest_of_component(graph))
    assert result.component[n - 1] == 100
    assert result.component[3000] == 700
    assert result.sizes[result.ids == 100] == n - first + 501


@pytest.mark.parametrize(
    "graph",
    [graph_of(4000, [(i, i + 1) for i in range(0, 4000, 2)]), grid(8, 500), graph_of(4000, [])],
    ids=["pairs", "grid", "no links"],
)
def test_graphs_without_a_part_found_with_ease(monkeypatch, graph):
    monkeypatch.setattr(cpu, "LARGE", 0)
    new_id = np.random.default_rng(3).permutation(graph.n_nodes)
    mixed = relabelled(graph, new_id)
    np.testing.assert_array_equal(components(mixed).component, smallest_of_component(mixed))


def test_no_component_spans_two_graphs_of_a_shard(device):
    shard = Shard.from_graphs([path(3), graph_of(0, []), graph_of(2, []), star(2)]).to(device)
    result = components(shard)
    assert host(result.component).tolist() == [0, 0, 0, 3, 4, 5, 5, 5]
    assert result.sizes.tolist() == [3, 1, 1, 3]


def test_no_nodes_no_components(device):
    result = components(graph_of(0, []).to(device))
    assert result.n_components == 0
    assert len(result.sizes) == len(host(result.component)) == 0
