"""Widths of whole shards: many graphs, many components, several questions on one set of bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, Shard, center, components, diameter, periphery, radius
from kernels.eccentricity import Strategy
from kernels.eccentricity import shard as module
from kernels.eccentricity.check import check_path
from kernels.eccentricity.questions import QUESTIONS
from kernels.eccentricity.shard import widths
from kernels.errors import GraphError
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, path, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs

SOME = st.lists(st.sampled_from(QUESTIONS), min_size=1, unique=True)
SIZES = st.sampled_from([(1, 0), (4, 0), (30, 2), (1 << 17, 1 << 13)])


@pytest.fixture(scope="module")
def sizes():
    """Sets how many nodes a chunk has, and from how many on its rest is taken out of it."""
    patch = pytest.MonkeyPatch()

    def set_sizes(chunk, small):
        patch.setattr(module, "CHUNK_NODES", chunk)
        patch.setattr(module, "SMALL_NODES", small)

    yield set_sizes
    patch.undo()


def whole(shard: Shard) -> CSRGraph:
    return CSRGraph(shard.indptr, shard.indices)


def true_eccentricities(shard: Shard) -> np.ndarray:
    graph = whole(shard)
    return bfs_levels(graph, range(graph.n_nodes)).max(axis=1, initial=0)


def check_widths(shard: Shard, found, truth: np.ndarray) -> None:
    """Compare exact answers with the eccentricities of all nodes."""
    named = components(whole(shard))
    np.testing.assert_array_equal(found.names, named.ids)
    np.testing.assert_array_equal(found.size, named.sizes)
    np.testing.assert_array_equal(found.names[found.component], named.component)
    n_components = len(found.names)
    most, least = np.zeros(n_components, int), np.full(n_components, 1 << 30)
    np.maximum.at(most, found.component, truth)
    np.minimum.at(least, found.component, truth)
    assert (found.diameter_lower <= most).all()
    assert (most <= found.diameter_upper).all()
    assert (found.radius_lower <= least).all()
    assert (least <= found.radius_upper).all()
    exact = found.exact
    asked = set(found.questions)
    if asked & {"diameter", "periphery", "eccentricities"}:
        np.testing.assert_array_equal(found.diameter_lower[exact], found.diameter_upper[exact])
    if asked & {"radius", "center", "eccentricities"}:
        np.testing.assert_array_equal(found.radius_lower[exact], found.radius_upper[exact])
    known = exact[found.component]
    if "center" in asked:
        np.testing.assert_array_equal(
            found.is_center[known], (truth == least[found.component])[known]
        )
    if "periphery" in asked:
        np.testing.assert_array_equal(
            found.is_periphery[known], (truth == most[found.component])[known]
        )
    if "eccentricities" in asked:
        np.testing.assert_array_equal(found.eccentricity[known], truth[known])
    assert (found.is_center is None, found.is_periphery is None) == (
        "center" not in asked,
        "periphery" not in asked,
    )
    assert (found.eccentricity is None) == ("eccentricities" not in asked)
    if "diameter" not in asked:
        assert found.path is None
        return
    for i in range(shard.n_graphs):
        own = found.path[found.path_ptr[i] : found.path_ptr[i + 1]]
        graph = shard.graph(i)
        if graph.n_nodes == 0:
            assert not len(own)
            continue
        check_path(graph, own - shard.node_ptr[i])
        parts = components(graph)
        largest = parts.ids[np.argmax(parts.sizes)] + shard.node_ptr[i]
        c = int(found.component[own[0]])
        assert found.names[c] == largest
        assert len(own) == found.diameter_lower[c] + 1


@settings(max_examples=examples(200), deadline=None)
@given(
    parts=st.lists(graphs(min_nodes=0, max_nodes=14), max_size=7),
    questions=SOME,
    size=SIZES,
    strategy=st.builds(Strategy, *[st.booleans()] * 4),
)
def test_answers_are_those_of_all_searches(sizes, parts, questions, size, strategy):
    sizes(*size)
    shard = Shard.from_graphs(parts)
    found = widths(shard, questions, strategy=strategy)
    assert found.exact.all()
    assert (found.n_searches <= found.size).all()
    check_widths(shard, found, true_eccentricities(shard))


@settings(max_examples=examples(100), deadline=None)
@given(
    parts=st.lists(graphs(min_nodes=1, max_nodes=14), max_size=5),
    questions=SOME,
    size=SIZES,
    limit=st.integers(0, 3),
)
def test_cut_short_the_intervals_hold_the_truth(sizes, parts, questions, size, limit):
    sizes(*size)
    shard = Shard.from_graphs(parts)
    found = widths(shard, questions, max_searches=limit)
    assert (found.n_searches <= limit).all()
    assert (found.n_searches[~found.exact] == limit).all()
    check_widths(shard, found, true_eccentricities(shard))


@pytest.mark.parametrize("questions", [("diameter",), ("diameter", "radius"), QUESTIONS])
def test_graphs_of_very_different_shape_are_answered_together(sizes, questions):
    sizes(500, 100)
    shapes = [path(300), star(50), grid(9, 31), tree_with_hubs(700, 3), graph_of(3, []), path(2)]
    shapes += [tree_with_hubs(n, n) for n in range(10, 60)] + [graph_of(9, [(0, 1), (5, 6)])]
    shard = Shard.from_graphs(shapes)
    found = widths(shard, questions)
    assert found.exact.all()
    assert found.diameter_lower[:4].tolist()[:3] == [299, 2, 38]
    check_widths(shard, found, true_eccentricities(shard))


def test_networkx_agrees():
    networkx = pytest.importorskip("networkx")
    parts = [tree_with_hubs(n, n) for n in (5, 40, 300)]
    found = widths(Shard.from_graphs(parts), QUESTIONS)
    first = 0
    for i, graph in enumerate(parts):
        peer = networkx.Graph()
        peer.add_nodes_from(range(graph.n_nodes))
        tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        peer.add_edges_from(zip(tails.tolist(), graph.indices.tolist(), strict=True))
        own = slice(first, first + graph.n_nodes)
        truth = networkx.eccentricity(peer)
        assert found.eccentricity[own].tolist() == [truth[v] for v in range(graph.n_nodes)]
        assert found.diameter_lower[i] == networkx.diameter(peer)
        assert found.radius_lower[i] == networkx.radius(peer)
        assert np.flatnonzero(found.is_center[own]).tolist() == sorted(networkx.center(peer))
        rim = np.flatnonzero(found.is_periphery[own]).tolist()
        assert rim == sorted(networkx.periphery(peer))
        first += graph.n_nodes


def test_a_shard_of_nothing():
    found = widths(Shard.from_graphs([]), ["diameter"])
    assert (len(found.names), found.path_ptr.tolist(), len(found.path)) == (0, [0], 0)


@pytest.mark.parametrize("questions", [[], ["girth"], ["diameter", "girth"]])
def test_an_unknown_question_is_named(questions):
    with pytest.raises(
        GraphError, match=r"(no question|unknown question 'girth'); use one of diameter"
    ):
        widths(Shard.from_graphs([path(3)]), questions)


@pytest.mark.parametrize("ask", [diameter, radius, center, periphery])
def test_fewer_searches_than_none_are_refused(device, ask):
    for graph in (graph_of(6, [(0, 1), (1, 2), (3, 4), (4, 5)]), graph_of(0, [])):
        there = graph.to(device)
        with pytest.raises(GraphError, match="max_searches is -1; give a whole number, 0 or more"):
            ask(there, max_searches=-1)
        with pytest.raises(GraphError, match="max_searches is -1; give a whole number, 0 or more"):
            widths(Shard.from_graphs([graph]).to(device), ["radius"], max_searches=-1)
        for wrong in ("3", 1.5):
            with pytest.raises(GraphError, match=f"max_searches is {wrong!r}; give a whole number"):
                ask(there, max_searches=wrong)
        assert ask(there, max_searches=0).n_searches == 0
        assert ask(there, max_searches=np.int64(0)).n_searches == 0
