from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, DeviceError, GraphError, bfs
from kernels.breadth_first import bfs_queue
from kernels.breadth_first.check import check_levels, check_parents
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, host, path, relabelled, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs

PROPERTY = settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def variants(device):
    """bfs, and on a core the search on which certificates rely."""
    return [bfs, bfs_queue] if device == "cpu" else [bfs]


def check(graph, result):
    """Certificate of levels, and what is counted from them."""
    level = host(result.level)
    assert level.dtype == np.int32
    check_levels(graph.indptr, graph.indices, result.source, level)
    assert result.eccentricity == level.max()
    assert result.n_reached == (level >= 0).sum()


@PROPERTY
@given(graph=graphs(), data=st.data())
def test_levels_match_scipy(device, graph, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    for search in variants(device):
        result = search(graph.to(device), source)
        np.testing.assert_array_equal(host(result.level), bfs_levels(graph, [source])[0])
        check(graph, result)


@PROPERTY
@given(graph=graphs(), data=st.data())
def test_parents_are_the_smallest_neighbours_one_level_up(device, graph, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    result = bfs(graph.to(device), source, parents=True)
    parent = host(result.parent)
    check_parents(graph.indptr, graph.indices, source, result.level, parent)
    known = nx.Graph()
    known.add_nodes_from(range(graph.n_nodes))
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    known.add_edges_from(zip(tails.tolist(), graph.indices.tolist(), strict=True))
    hops = nx.single_source_shortest_path_length(known, source)
    for node in range(graph.n_nodes):
        up = [v for v in known[node] if v in hops and hops[v] == hops[node] - 1]
        expected = source if node == source else min(up, default=-1)
        assert parent[node] == expected


@PROPERTY
@given(graph=graphs(), data=st.data())
def test_a_target_stops_the_search_after_its_level(device, graph, data):
    node = st.integers(0, graph.n_nodes - 1)
    source, target = data.draw(node), data.draw(node)
    whole = bfs_levels(graph, [source])[0]
    result = bfs(graph.to(device), source, target=target, parents=True)
    expected = whole.copy()
    if whole[target] >= 0:
        expected[whole > whole[target]] = -1
        assert result.eccentricity == whole[target]
    np.testing.assert_array_equal(host(result.level), expected)
    assert result.eccentricity == expected.max()
    assert result.n_reached == (expected >= 0).sum()
    check_parents(graph.indptr, graph.indices, source, result.level, result.parent)


@PROPERTY
@given(graph=graphs(), data=st.data())
def test_renaming_nodes_changes_nothing(device, graph, data):
    new_id = np.array(data.draw(st.permutations(range(graph.n_nodes))))
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    level = host(bfs(graph.to(device), source).level)
    renamed = bfs(relabelled(graph, new_id).to(device), int(new_id[source]))
    np.testing.assert_array_equal(host(renamed.level)[new_id], level)


@settings(max_examples=examples(200), deadline=None)
@given(graph=graphs(), data=st.data())
def test_certificate_refuses_any_one_wrong_level(graph, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    level = bfs(graph, source).level.copy()
    node = data.draw(st.integers(0, graph.n_nodes - 1))
    level[node] += data.draw(st.sampled_from([-2, -1, 1, 2, 7]))
    with pytest.raises(AssertionError):
        check_levels(graph.indptr, graph.indices, source, level)


@settings(max_examples=examples(200), deadline=None)
@given(graph=graphs(), data=st.data())
def test_certificate_refuses_any_one_wrong_parent(graph, data):
    source = data.draw(st.integers(0, graph.n_nodes - 1))
    result = bfs(graph, source, parents=True)
    node = data.draw(st.integers(0, graph.n_nodes - 1))
    wrong = data.draw(st.integers(-1, graph.n_nodes - 1).filter(lambda v: v != result.parent[node]))
    parent = result.parent.copy()
    parent[node] = wrong
    with pytest.raises(AssertionError, match=f"node {node} at level"):
        check_parents(graph.indptr, graph.indices, source, result.level, parent)


def test_hand_counted_graph_with_two_components(device):
    #   0 - 1 - 2 - 3      5 - 6      7
    #       |   |
    #       4 - +
    graph = graph_of(8, [(0, 1), (1, 2), (2, 3), (1, 4), (4, 2), (5, 6)]).to(device)
    result = bfs(graph, 0, parents=True)
    assert host(result.level).tolist() == [0, 1, 2, 3, 2, -1, -1, -1]
    assert host(result.parent).tolist() == [0, 0, 1, 2, 1, -1, -1, -1]
    assert (result.eccentricity, result.n_reached) == (3, 5)


def test_isolated_source_reaches_itself(device):
    for graph in (graph_of(1, []), graph_of(3, [(1, 2)])):
        for search in variants(device):
            result = search(graph.to(device), 0)
            assert (result.eccentricity, result.n_reached) == (0, 1)
            assert host(result.level)[0] == 0


@pytest.mark.parametrize("hub", [0, 5000])
def test_star_from_hub_and_from_leaf(device, hub):
    graph = star(5000, hub=hub)
    for search in variants(device):
        from_hub, from_leaf = search(graph.to(device), hub), search(graph.to(device), 7)
        assert (from_hub.eccentricity, from_leaf.eccentricity) == (1, 2)
        check(graph, from_hub)
        check(graph, from_leaf)


def test_path_of_70000_nodes_has_69999_levels(device):
    graph = path(70_000)
    result = bfs(graph.to(device), 0)
    np.testing.assert_array_equal(host(result.level), np.arange(70_000))
    assert result.eccentricity == 69_999


def test_graph_with_hubs_passes_the_certificate(device):
    graph = tree_with_hubs(20_000, seed=1)
    for source in (0, 1, 19_999):
        for search in variants(device):
            check(graph, search(graph.to(device), source))
        result = bfs(graph.to(device), source, parents=True)
        check_parents(graph.indptr, graph.indices, source, result.level, result.parent)


def test_grid_has_manhattan_levels(device):
    level = host(bfs(grid(30, 40).to(device), 0).level).reshape(30, 40)
    rows, columns = np.mgrid[:30, :40]
    np.testing.assert_array_equal(level, rows + columns)


def test_nodes_that_are_none_are_named(device):
    graph = graph_of(1, []).to(device)
    with pytest.raises(GraphError, match=r"source 5 is not a node; the graph has 1 node$"):
        bfs(graph, 5)
    with pytest.raises(GraphError, match=r"target -1 is not a node"):
        bfs(graph, 0, target=-1)
    with pytest.raises(GraphError, match=r"source 0.5 is not a node; give an integer"):
        bfs(graph, 0.5)
    with pytest.raises(GraphError, match=r"source 0 is not a node; the graph has 0 nodes"):
        bfs(graph_of(0, []).to(device), 0)


def test_numpy_integers_are_nodes(device):
    assert bfs(path(3).to(device), np.int64(2), target=np.uint8(1)).eccentricity == 1


@pytest.mark.gpu
@pytest.mark.parametrize("n_leaves", [200_000, 2_000])  # of each: a list of hubs, and all segments
def test_hubs_of_a_frontier_are_expanded_whole(n_leaves):
    n_hubs = 12
    hubs = np.arange(1, n_hubs + 1)
    leaves = n_hubs + 1 + np.arange(n_hubs * n_leaves)
    tails = np.concatenate([np.zeros(n_hubs, np.int64), np.repeat(hubs, n_leaves), leaves[:-1:50]])
    heads = np.concatenate([hubs, leaves, leaves[1::50]])
    graph = CSRGraph.from_edges(tails, heads, n_nodes=int(leaves[-1]) + 1, symmetrise=True)
    for source in (0, int(hubs[3]), int(leaves[7])):
        result = bfs(graph.to("gpu"), source)
        np.testing.assert_array_equal(host(result.level), bfs_queue(graph, source).level)
        check(graph, result)


@pytest.mark.gpu
@pytest.mark.parametrize("hops", [1, 2, 40, 399, 400, 401])
def test_a_target_stops_narrow_levels(hops):
    # A path of 400, then a hub, then a path: one block stops at the hub, and goes on behind it.
    links = [(i, i + 1) for i in range(800)] + [(400, 801 + i) for i in range(3_000)]
    graph = graph_of(3_801, links)
    result = bfs(graph.to("gpu"), 0, target=hops)
    assert result.eccentricity == hops
    level = bfs_queue(graph, 0).level
    np.testing.assert_array_equal(host(result.level), np.where(level <= hops, level, -1))


def fans(n_times: int) -> CSRGraph:
    """Layers of 1, 30, 600, 5,000, 600, 30 nodes and 41 of one: lists of a cluster run over."""
    sizes = np.array([1, 30, 600, 5_000, 600, 30, *[1] * 41] * n_times)
    first = np.concatenate([[0], np.cumsum(sizes)])
    rng = np.random.default_rng(3)
    tails, heads = [], []
    for i in range(sizes.size - 1):
        n_links = max(sizes[i], sizes[i + 1])
        tails.append(first[i] + rng.permutation(n_links) % sizes[i])
        heads.append(first[i + 1] + rng.permutation(n_links) % sizes[i + 1])
    return CSRGraph.from_edges(
        np.concatenate(tails), np.concatenate(heads), n_nodes=int(first[-1]), symmetrise=True
    )


def beads() -> CSRGraph:
    """A path of 1,000 with a hub at each hundredth node: of 40, or of 700 neighbours."""
    links = [(i, i + 1) for i in range(999)]
    for hub in range(100, 1_000, 100):
        links += [(hub, len(links) + 1 + i) for i in range(700 if hub % 200 else 40)]
    return graph_of(len(links) + 1, links)


@pytest.mark.gpu
@pytest.mark.parametrize("n_levels", [1, 3, None])  # before a cluster goes on; None: as it is
@pytest.mark.parametrize("shape", ["path", "grid", "fans", "beads"])
def test_a_cluster_of_blocks_goes_on_with_narrow_levels(shape, n_levels, monkeypatch):
    from kernels.breadth_first import gpu

    graph = {
        "path": lambda: path(1_000),
        "grid": lambda: grid(40, 300),
        "fans": lambda: fans(4),
        "beads": beads,
    }[shape]()
    loaded, asked = gpu.load_kernel, []

    def noted(file, name, **given):
        asked.append(name)
        return loaded(file, name, **given)

    monkeypatch.setattr(gpu, "load_kernel", noted)
    if n_levels:
        monkeypatch.setattr(gpu, "NARROW_LEVELS", n_levels)
    there = graph.to("gpu")
    for source in (0, graph.n_nodes // 2, graph.n_nodes - 1):
        asked.clear()
        result = bfs(there, source)
        expected = bfs_queue(graph, source)
        np.testing.assert_array_equal(host(result.level), expected.level)
        assert result.n_reached == expected.n_reached
        check(graph, result)
        if gpu._has_clusters(0):
            assert "narrow_search" in asked
        for hops in (1, 33, 34, 35, 60, result.eccentricity):
            target = int(np.flatnonzero(expected.level == hops)[-1])
            found = bfs(there, source, target=target)
            assert found.eccentricity == hops
            near = np.where(expected.level <= hops, expected.level, -1)
            assert found.n_reached == (near >= 0).sum()
            np.testing.assert_array_equal(host(found.level), near)


@pytest.mark.gpu
def test_the_queue_names_the_device_it_needs():
    with pytest.raises(DeviceError, match=r"give it graph.to\('cpu'\)"):
        bfs_queue(path(2).to("gpu"), 0)


def test_hubs_far_from_the_source_get_the_smallest_parent(device):
    rng = np.random.default_rng(4)
    n, first_leaf = 3000, 60
    links = [(0, 1), (1, 50), (1, 59), (2, 59), (0, 2)]  # hubs 50 to 59 are two levels down
    links += [(int(v), 50) for v in rng.permutation(np.arange(first_leaf, n))[:2500]]
    links += [(v, 59) for v in range(first_leaf, n)]
    links += [(v, hub) for hub in (53, 55) for v in range(first_leaf, n, 3)]
    graph = graph_of(n, links)
    for source in (0, 53, n - 1, 1):
        result = bfs(graph.to(device), source, parents=True)
        level, parent = (host(array) for array in (result.level, result.parent))
        check_levels(graph.indptr, graph.indices, source, level)
        check_parents(graph.indptr, graph.indices, source, level, parent)
