"""Trees: every eccentricity by the searches from both ends of a longest path."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, Shard
from kernels.eccentricity import Strategy, center, eccentricities, periphery, radius
from kernels.eccentricity.bounds.bounds import EccentricityBounds
from kernels.eccentricity.bounds.trees import ends_of_trees
from kernels.eccentricity.shard import widths
from kernels.eccentricity.weighted import weighted_eccentricities, weighted_widths
from kernels.eccentricity.weighted.bounds import WeightedBounds
from tests.oracles.paths import bfs_levels
from tests.oracles.weighted import scipy_eccentricities, true_eccentricities
from tests.oracles.widths import networkx_of
from tests.shapes import graph_of, path, relabelled, star, weighted
from tests.soak import examples

FEW = 4  # searches of a tree: the first one, both ends, and one to spare
ONE_BY_ONE = Strategy(sweeps=False)  # else small graphs are swept from every node


def tree(n_nodes: int, seed: int) -> CSRGraph:
    """Each node linked to a random earlier one, in any order of ids."""
    rng = np.random.default_rng(seed)
    later = np.arange(1, n_nodes)
    links = np.stack([later, (rng.random(n_nodes - 1) * later).astype(int)], axis=1)
    return relabelled(graph_of(n_nodes, links), rng.permutation(n_nodes))


def caterpillar(n_spine: int, n_legs: int) -> CSRGraph:
    """A path of the first nodes, from each of which some leaves hang."""
    spine = np.arange(n_spine)
    legs = np.arange(n_spine, n_spine * (1 + n_legs))
    links = [np.stack([spine[:-1], spine[1:]], axis=1), np.stack([legs % n_spine, legs], axis=1)]
    return graph_of(n_spine * (1 + n_legs), np.concatenate(links))


@st.composite
def forests(draw) -> CSRGraph:
    """Trees of one node or more, now and then with a link that closes a ring."""
    n_nodes = draw(st.integers(1, 30))
    links = []
    for v in range(1, n_nodes):
        if draw(st.integers(0, 5)):  # else a new tree begins
            near = draw(st.booleans())  # for long trees
            links.append((v, draw(st.integers(max(0, v - 2) if near else 0, v - 1))))
    if draw(st.integers(0, 3)) == 0:
        links.append((draw(st.integers(0, n_nodes - 1)), draw(st.integers(0, n_nodes - 1))))
    new_id = draw(st.permutations(range(n_nodes)))
    return graph_of(n_nodes, [(new_id[u], new_id[v]) for u, v in links])


@pytest.fixture
def searched(monkeypatch) -> list[int]:
    """How many nodes each update of bounds was about."""
    counts: list[int] = []
    for kind in (EccentricityBounds, WeightedBounds):
        monkeypatch.setattr(kind, "update", counting(kind.update, counts))
    return counts


def counting(update, counts: list[int]):
    def counted(self, sources, *found, **options):
        counts.append(len(sources))
        return update(self, sources, *found, **options)

    return counted


@settings(max_examples=examples(300), deadline=None)
@given(graph=forests())
def test_forests_one_search_after_another(graph):
    true = bfs_levels(graph, range(graph.n_nodes)).max(axis=1)
    np.testing.assert_array_equal(eccentricities(graph, ONE_BY_ONE), true)
    for ask in (radius, center, periphery):
        ask(graph, strategy=ONE_BY_ONE).check()
    for questions in (["eccentricities"], ["center", "periphery", "diameter"], ["radius"]):
        widths(Shard.from_graphs([graph]), questions, strategy=ONE_BY_ONE).check()


WEIGHTS = {
    "whole": st.integers(0, 3),
    "zeros": st.just(0),
    "halves": st.sampled_from([0.0, 0.5, 1.25, 40.0]),
    "rounded": st.sampled_from([0.0, 1e-9, 0.1, 3.3, 1e9]),
    "at the border": st.sampled_from([2.0**-29, 2.0**22, 2.0**23, 3.0]),
}


@settings(max_examples=examples(300), deadline=None)
@given(graph=forests(), kind=st.sampled_from(sorted(WEIGHTS)), data=st.data())
def test_forests_with_weights(graph, kind, data):
    """Also where searches from one end are exact, and those from the other rounded."""
    each = st.lists(WEIGHTS[kind], min_size=graph.n_edges, max_size=graph.n_edges)
    graph = weighted(graph, data.draw(each))
    np.testing.assert_array_equal(weighted_eccentricities(graph), true_eccentricities(graph))
    for questions in (["eccentricities"], ["center", "periphery", "diameter"], ["radius"]):
        weighted_widths(graph, questions).check()


@pytest.mark.parametrize("ask", [center, eccentricities, periphery, radius])
@pytest.mark.parametrize("shape", ["caterpillar", "random", "path", "star"])
def test_a_large_tree_takes_few_searches(shape, ask, searched):
    shapes = {"caterpillar": caterpillar(5_000, 3), "random": tree(20_000, 1)}
    shapes |= {"path": path(20_000), "star": star(20_000)}
    ask(shapes[shape])
    assert sum(searched) <= FEW


def test_a_large_caterpillar(searched):
    graph = caterpillar(5_000, 3)
    spine = np.arange(5_000)
    spine = np.maximum(spine, spine[::-1]) + 1
    expected = np.concatenate([spine, *[spine + 1] * 3])
    np.testing.assert_array_equal(eccentricities(graph), expected)
    ones = weighted(graph, np.full(graph.n_edges, 0.25))
    np.testing.assert_array_equal(weighted_eccentricities(ones), 0.25 * expected)
    assert sum(searched) <= 2 * FEW


def test_a_large_tree_by_weight(searched):
    graph = tree(2_000, 2)
    graph = weighted(graph, np.random.default_rng(2).integers(0, 1_000, graph.n_edges))
    found = weighted_eccentricities(graph)
    np.testing.assert_array_equal(found, scipy_eccentricities(graph))
    assert sum(searched) <= FEW


def test_each_tree_of_a_forest_takes_few_searches(searched):
    parts = [tree(300, seed) for seed in range(40)] + [caterpillar(50, 2), path(1), path(2)]
    whole = nx.disjoint_union_all([networkx_of(part) for part in parts])
    graph = graph_of(whole.number_of_nodes(), whole.edges)
    expected = np.concatenate([list(nx.eccentricity(networkx_of(p)).values()) for p in parts])
    np.testing.assert_array_equal(eccentricities(graph, ONE_BY_ONE), expected)
    assert sum(searched) <= FEW * len(parts)


def test_a_ring_on_a_tree_is_no_tree():
    graph = graph_of(6, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5)])
    np.testing.assert_array_equal(eccentricities(graph, ONE_BY_ONE), [3, 4, 3, 2, 3, 4])
    assert ends_of_trees(np.zeros(6, np.int32), np.diff(graph.indptr), np.array([6])) is None


def test_loops_and_parallel_links_count():
    """Edges may have them, and lose them; as arcs they would be more than those of a tree."""
    tails, heads = [0, 1, 2, 2, 3, 4], [1, 2, 1, 3, 3, 3]  # a loop, and 1 - 2 twice
    graph = CSRGraph.from_edges(tails, heads, symmetrise=True)
    component, size, degree = np.zeros(5, np.int32), np.array([5]), np.diff(graph.indptr)
    assert ends_of_trees(component, degree, size).is_left.all()
    np.testing.assert_array_equal(eccentricities(graph, ONE_BY_ONE), [4, 3, 2, 3, 4])
    for more in ([0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 2, 0]):
        assert ends_of_trees(component, degree + more, size) is None


def test_a_failed_end_is_searched_again_or_others_are():
    graph = caterpillar(6, 1)
    hops = bfs_levels(graph, range(graph.n_nodes))
    bounds = EccentricityBounds(
        "eccentricities", np.zeros(12, np.int32), np.diff(graph.indptr).astype(np.int32)
    )

    def search(source: int) -> None:
        level = hops[source].astype(np.int32)
        e = level.max()
        bounds.update([source], np.maximum(level, e - level), level + e, alone=True)

    search(2)
    (end,) = bounds.take()
    assert hops[2, end] == hops[2].max()
    bounds.release([end])
    assert bounds.take().tolist() == [end]
    others = [v for _ in range(4) for v in bounds.take().tolist()]
    assert end not in others
    while not bounds.done:
        (source,) = others[:1] or bounds.take()
        others = others[1:]
        search(source)
    np.testing.assert_array_equal(bounds.lower, hops.max(axis=1))
