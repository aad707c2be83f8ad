from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, GraphError, Shard, diameter
from kernels.distance_distribution import counts as pair_counts
from kernels.distance_distribution import effective_diameters
from tests.oracles.pairs import effective_diameter, pairs_by_hops
from tests.shapes import graph_of, grid, path, relabelled, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import graphs

PROPERTY = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def cycle(n_nodes: int) -> CSRGraph:
    return graph_of(n_nodes, [(i, (i + 1) % n_nodes) for i in range(n_nodes)])


def alone(graph: CSRGraph) -> Shard:
    return Shard.from_graphs([graph])


COUNTED = {
    # One pair, at 1 hop: 0.9 of it within 0.9.
    "an edge": (path(2), 0.9),
    # 10 pairs at 1 hop: 4, 2: 3, 3: 2, 4: 1. Nine of them are within 3.
    "path of 5": (path(5), 3.0),
    # 4 pairs at 1 hop, 6 at 2; the ninth is the fifth of the six.
    "star of 4": (star(4), 1 + 5 / 6),
    # 6 at 1, 6 at 2, 3 at 3: 13.5 of 15 is half the third.
    "cycle of 6": (cycle(6), 2.5),
    # A path of 3 (2 at 1, 1 at 2), a path of 2 (1 at 1), a node alone: 3.6 of 4 pairs.
    "two components and a node": (graph_of(6, [(0, 1), (1, 2), (3, 4)]), 1.6),
    # 10 pairs, all at 1 hop.
    "complete of 5": (graph_of(5, [(i, j) for i in range(5) for j in range(i)]), 0.9),
    "no edge": (graph_of(3, []), np.nan),
    "no node": (graph_of(0, []), np.nan),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted_samples(device, name):
    graph, value = COUNTED[name]
    found = effective_diameters(alone(graph).to(device))
    assert found.value == pytest.approx([value], rel=1e-14, nan_ok=True)
    assert found.n_searches.tolist() == [graph.n_nodes]
    assert found.is_estimated.tolist() == [False]
    np.testing.assert_array_equal(found.error, [np.nan if np.isnan(value) else 0])


def test_all_samples_side_by_side(device):
    shard = Shard.from_graphs([graph for graph, _ in COUNTED.values()]).to(device)
    found = effective_diameters(shard)
    values = [value for _, value in COUNTED.values()]
    assert found.value == pytest.approx(values, rel=1e-14, nan_ok=True)
    assert len(effective_diameters(Shard.from_graphs([]).to(device)).value) == 0


@PROPERTY
@given(parts=st.lists(graphs(min_nodes=0, max_nodes=20), max_size=6), data=st.data())
def test_shards_are_as_their_graphs_by_definition(device, parts, data):
    shard = Shard.from_graphs(parts).to(device)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(parts), max_size=len(parts))))
    found = pair_counts.count_pairs(shard, chosen.astype(bool))
    for i, graph in enumerate(parts):
        counts = found.counts[found.level_ptr[i] : found.level_ptr[i + 1]]
        expected = pairs_by_hops(graph) if chosen[i] else []
        np.testing.assert_array_equal(counts, expected)
    percentile = data.draw(st.sampled_from([0.1, 0.5, 0.9, 1.0]))
    values = effective_diameters(shard, percentile).value
    expected = [effective_diameter(graph, percentile) for graph in parts]
    np.testing.assert_allclose(values, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "shape", [tree_with_hubs(1500, seed=2), grid(20, 60), path(1100), star(900)]
)
def test_graphs_of_several_sweeps(device, shape):
    shape = relabelled(shape, np.random.default_rng(1).permutation(shape.n_nodes))
    shard = Shard.from_graphs([star(7), shape, path(3), shape]).to(device)
    found = pair_counts.count_pairs(shard, np.array([True, True, False, True]))
    expected = pairs_by_hops(shape)
    for i in (1, 3):
        counts = found.counts[found.level_ptr[i] : found.level_ptr[i + 1]]
        np.testing.assert_array_equal(counts, expected)
    values = effective_diameters(shard).value
    assert values[1] == values[3] == effective_diameters(alone(shape).to(device)).value[0]


@PROPERTY
@given(parts=st.lists(graphs(min_nodes=0, max_nodes=20), max_size=6), data=st.data())
def test_counts_by_searches_are_those_of_sweeps(parts, data):
    """As on a GPU, but on cores: large graphs alone, others together, a few sources at a time."""
    shard = Shard.from_graphs(parts)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(parts), max_size=len(parts))))
    chosen = chosen.astype(bool) & (np.diff(shard.node_ptr) > 0)
    expected = pair_counts.count_pairs(shard, chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_counts, "LARGE", data.draw(st.sampled_from([4, 12, 1000])))
        patch.setattr(pair_counts, "WINDOW", data.draw(st.sampled_from([1, 3, 1000])))
        found = pair_counts._Merged(shard.n_graphs)
        pair_counts._search(shard, chosen, found)
    np.testing.assert_array_equal(found.counts().level_ptr, expected.level_ptr)
    np.testing.assert_array_equal(found.counts().counts, expected.counts)


def test_all_pairs_are_within_the_diameter(device):
    graph = grid(9, 14)
    assert effective_diameters(alone(graph).to(device), percentile=1.0).value[0] == 21
    assert diameter(graph).diameter == 21


def test_estimates_err_as_much_as_they_state(device):
    """Of 60 seeds: about 68 % within one standard error, nearly all within three, no bias."""
    graph = tree_with_hubs(3000, seed=4)
    shard = Shard.from_graphs([path(4), graph]).to(device)
    exact = effective_diameters(shard)
    off = []
    for seed in range(60):
        found = effective_diameters(shard, seed=seed, max_exact=2000, n_sources=200)
        assert found.is_estimated.tolist() == [False, True]
        assert found.n_searches.tolist() == [4, 200]
        assert found.value[0] == exact.value[0]
        assert found.error[0] == 0
        assert 0 < found.error[1] < 0.1
        off.append((found.value[1] - exact.value[1]) / found.error[1])
    off = np.array(off)
    assert 0.5 < np.mean(np.abs(off) < 1) < 0.85
    assert np.all(np.abs(off) < 4)
    assert abs(off.mean()) < 0.5


def test_estimates_depend_on_the_seed_alone(device):
    graph = tree_with_hubs(700, seed=5)
    limits = {"max_exact": 100, "n_sources": 150}
    here = effective_diameters(alone(graph).to(device), **limits)
    beside = effective_diameters(Shard.from_graphs([path(300), graph]).to(device), **limits)
    assert (here.value[0], here.error[0]) == (beside.value[1], beside.error[1])
    other = effective_diameters(alone(graph).to(device), seed=2, **limits)
    assert here.value[0] != other.value[0]


def test_an_estimate_by_nearly_all_sources_is_nearly_exact(device):
    graph = tree_with_hubs(700, seed=5)
    exact = effective_diameters(alone(graph).to(device))
    found = effective_diameters(alone(graph).to(device), max_exact=10, n_sources=699)
    assert found.is_estimated[0]
    assert abs(found.value[0] - exact.value[0]) < 5 * found.error[0] < 0.01
    whole = effective_diameters(alone(graph).to(device), max_exact=10, n_sources=700)
    assert not whole.is_estimated[0]
    assert whole.value[0] == exact.value[0]


def test_an_estimate_of_a_graph_without_edges_is_nothing(device):
    found = effective_diameters(alone(graph_of(9, [])).to(device), max_exact=1, n_sources=3)
    assert found.is_estimated.tolist() == [True]
    assert np.isnan(found.value).all()
    assert np.isnan(found.error).all()


def test_what_is_out_of_range_is_refused():
    shard = alone(path(3))
    for percentile in (0, -1, 1.1, np.nan):
        with pytest.raises(GraphError, match="is not a share above 0 and at most 1"):
            effective_diameters(shard, percentile)
    with pytest.raises(GraphError, match="1 sources give no error estimate"):
        effective_diameters(shard, n_sources=1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"percentile": "a"}, "percentile 'a' is not a share"),
        ({"percentile": None}, "percentile None is not a share"),
        ({"n_sources": 2.5}, r"n_sources is 2\.5; it must be a whole number"),
        ({"seed": -1}, "seed is -1; it must be 0 or more"),
        ({"seed": None}, "seed is None; it must be a whole number"),
        ({"seed": True}, "seed is True; it must be a whole number"),
        ({"max_exact": "a"}, "max_exact is 'a'; it must be a whole number"),
    ],
)
def test_what_is_not_a_number_is_refused(wrong, message):
    with pytest.raises(GraphError, match=message):
        effective_diameters(alone(path(3)), **wrong)
