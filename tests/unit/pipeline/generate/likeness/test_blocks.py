"""Graphs like others: the same joint degrees and components, whatever the original is."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.generate.likeness.blocks import make_block
from tests.soak import examples
from tests.unit.pipeline.generate.likeness.originals import (
    component_sizes,
    graph_of,
    joint_degrees,
    shard_of,
)


def like(graph: nx.Graph, n_nodes: int | None = None, seed: int = 1, ingress=(), values=None):
    is_ingress = np.zeros(len(graph), bool)
    is_ingress[list(ingress)] = True
    size = np.array([len(graph) if n_nodes is None else n_nodes])
    return make_block(shard_of(graph), values, is_ingress, np.zeros(1, np.int64), size, seed, 0)


def made(graph: nx.Graph, n_nodes: int | None = None, seed: int = 1) -> nx.Graph:
    block = like(graph, n_nodes, seed)
    return graph_of(block.indptr, block.indices)


GRAPHS = {
    "karate": nx.karate_club_graph(),
    "complete": nx.complete_graph(9),
    "bipartite": nx.complete_bipartite_graph(4, 7),
    "star": nx.star_graph(12),
    "path": nx.path_graph(30),
    "nearly complete": nx.complement(nx.path_graph(12)),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 7)),
    "tree": nx.convert_node_labels_to_integers(nx.random_labeled_tree(200, seed=4)),
    "barabasi": nx.barabasi_albert_graph(300, 2, seed=2),
    "apart": nx.disjoint_union_all(
        [
            nx.barabasi_albert_graph(99, 2, seed=2),
            nx.empty_graph(5),
            nx.path_graph(2),
            nx.cycle_graph(5),
            nx.star_graph(6),
        ]
    ),
    "none": nx.empty_graph(4),
    "one": nx.empty_graph(1),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_joint_degrees_and_components_stay(name):
    block, graph = like(GRAPHS[name]), GRAPHS[name]
    found = graph_of(block.indptr, block.indices)
    assert component_sizes(found) == component_sizes(graph)
    assert block.n_lacking == 0
    if name == "tree":  # it has no links to spare of any class
        assert sorted(d for _, d in found.degree) == sorted(d for _, d in graph.degree)
        assert block.n_across < 10
    else:
        assert joint_degrees(found) == joint_degrees(graph)
        assert block.n_across == 0


@settings(max_examples=examples(300), deadline=None)
@given(st.integers(2, 40), st.floats(0.02, 0.95), st.integers(0, 2**32))
def test_random_graphs_of_any_density(n, p, seed):
    graph = nx.gnp_random_graph(n, p, seed=seed)
    block = like(graph, seed=seed)
    found = graph_of(block.indptr, block.indices)
    assert block.n_lacking == 0
    assert component_sizes(found) == component_sizes(graph)
    if block.n_across == 0:
        assert joint_degrees(found) == joint_degrees(graph)
    assert sorted(d for _, d in found.degree) == sorted(d for _, d in graph.degree)


def test_seeds_give_different_graphs_and_each_the_same_again():
    one, again, other = (like(GRAPHS["barabasi"], seed=seed).indices for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_triangles_come_near_those_of_the_original():
    graph = nx.powerlaw_cluster_graph(2000, 3, 0.6, seed=3)
    found = made(graph)
    assert joint_degrees(found) == joint_degrees(graph)
    wanted = nx.average_clustering(graph)
    assert abs(nx.average_clustering(found) - wanted) < 0.15 * wanted
    assert nx.is_connected(found)


@pytest.mark.parametrize("name", ["grid", "barabasi", "tree", "path", "star", "karate"])
def test_diameter_radius_and_mean_hops_stay(name):
    graph = GRAPHS[name]
    found = made(graph)
    assert nx.diameter(found) == nx.diameter(graph)
    assert nx.radius(found) == nx.radius(graph)
    wanted = nx.average_shortest_path_length(graph)
    assert nx.average_shortest_path_length(found) == pytest.approx(wanted, rel=0.08)


def test_a_larger_graph_has_hops_like_the_original():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(13, 13))
    found = made(graph, 1690)
    mean, was = (nx.average_shortest_path_length(each) for each in (found, graph))
    assert was < mean < 1.5 * was


@pytest.mark.parametrize(("name", "n_links"), [("one", 39), ("none", 0)])
def test_a_single_router_becomes_a_tree_and_several_stay_apart(name, n_links):
    found = made(GRAPHS[name], 40)
    assert (len(found), found.number_of_edges()) == (40, n_links)


@pytest.mark.parametrize("name", ["karate", "grid", "tree", "barabasi", "apart", "star"])
@pytest.mark.parametrize("factor", [0.4, 2.5, 20])
def test_another_size_keeps_mean_degree_and_connectedness(name, factor):
    graph = GRAPHS[name]
    n = round(factor * len(graph))
    found = made(graph, n)
    assert len(found) == n
    degree, was = 2 * found.number_of_edges() / n, 2 * graph.number_of_edges() / len(graph)
    assert abs(degree - was) < 0.35 * was if n > 30 else degree > 0
    if nx.is_connected(graph):
        assert nx.is_connected(found)


def test_a_larger_tree_is_a_tree_and_a_larger_grid_has_no_larger_degree():
    tree = made(GRAPHS["tree"], 3000)
    assert nx.is_tree(tree)
    assert max(d for _, d in made(GRAPHS["grid"], 3000).degree) == 4


def test_small_components_grow_in_number_and_not_in_size():
    sizes = component_sizes(made(GRAPHS["apart"], 1180))
    small = sizes[:-1]
    assert {1: small.count(1), 2: small.count(2), 5: small.count(5), 7: small.count(7)} == {
        1: 50,
        2: 10,
        5: 10,
        7: 10,
    }  # ten times those of the original
    assert sum(sizes) == 1180


def test_ingresses_are_of_the_degrees_of_the_originals():
    graph = GRAPHS["barabasi"]
    hubs = sorted(range(300), key=lambda node: -graph.degree[node])[:12]
    block = like(graph, ingress=hubs)
    degree = np.diff(block.indptr)
    assert sorted(degree[block.ingress]) == sorted(graph.degree[node] for node in hubs)
    assert len(like(graph, 3000, ingress=hubs).ingress) == 120


def test_values_of_links_are_the_originals_by_degrees_of_both_ends():
    graph = GRAPHS["karate"]
    shard = shard_of(graph)
    tail = np.repeat(np.arange(34), np.diff(shard.indptr))
    degree = np.diff(shard.indptr)
    ends = np.sort([degree[tail], degree[shard.indices]], axis=0)
    values = (100 * ends[0] + ends[1]).astype(np.float32)  # what a link weighs says its ends
    block = like(graph, values=values)
    tail = np.repeat(np.arange(34), np.diff(block.indptr))
    degree = np.diff(block.indptr)
    ends = np.sort([degree[tail], degree[block.indices]], axis=0)
    assert np.array_equal(block.values, 100 * ends[0] + ends[1])
