from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, GraphError, Shard, msbfs
from kernels._cpu.sweep_constants import UNIT
from kernels.closeness import closeness_of_sources, closenesses
from kernels.closeness.sums import inverses
from tests.shapes import graph_of, grid, path, star
from tests.soak import examples
from tests.strategies import graphs

PROPERTY = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def alone(graph: CSRGraph) -> Shard:
    return Shard.from_graphs([graph])


def by_networkx(graph: CSRGraph) -> tuple[list[float], list[float]]:
    """Closeness, and harmonic centrality divided by the other nodes, as NetworkX has them."""
    theirs = nx.Graph()
    theirs.add_nodes_from(range(graph.n_nodes))
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    theirs.add_edges_from(zip(tails.tolist(), graph.indices.tolist(), strict=True))
    close, harmonic = nx.closeness_centrality(theirs), nx.harmonic_centrality(theirs)
    nodes, others = range(graph.n_nodes), max(graph.n_nodes - 1, 1)
    return [close[v] for v in nodes], [harmonic[v] / others for v in nodes]


COUNTED = {
    # From the end: hops 1, 2; from the middle: 1, 1.
    "path of 3": (path(3), [2 / 3, 1.0, 2 / 3], [0.75, 1.0, 0.75]),
    # A path of 3, one of 2, a node alone; the first reach 2 of 5 others.
    "two components and a node": (
        graph_of(6, [(0, 1), (1, 2), (3, 4)]),
        [2 / 5 * 2 / 3, 2 / 5, 2 / 5 * 2 / 3, 1 / 5, 1 / 5, 0.0],
        [1.5 / 5, 2 / 5, 1.5 / 5, 1 / 5, 1 / 5, 0.0],
    ),
    "a node": (graph_of(1, []), [0.0], [0.0]),
    "no node": (graph_of(0, []), [], []),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted_samples(device, name):
    graph, closeness, harmonic = COUNTED[name]
    found = closenesses(alone(graph).to(device))
    np.testing.assert_allclose(found.closeness, closeness, rtol=1e-15)
    np.testing.assert_allclose(found.harmonic, harmonic, rtol=1e-15)
    most = max(closeness, default=np.nan)
    np.testing.assert_allclose(found.max_closeness, [most], rtol=1e-15)
    assert found.node.tolist() == [closeness.index(most) if closeness else -1]
    assert (found.n_searches.tolist(), found.is_estimated.tolist()) == ([graph.n_nodes], [False])


@PROPERTY
@given(parts=st.lists(graphs(min_nodes=0, max_nodes=20), max_size=6))
def test_shards_are_as_networkx_has_their_graphs(device, parts):
    shard = Shard.from_graphs(parts).to(device)
    found, at = closenesses(shard), 0
    for i, graph in enumerate(parts):
        closeness, harmonic = by_networkx(graph)
        here = slice(at, at + graph.n_nodes)
        np.testing.assert_allclose(found.closeness[here], closeness, rtol=1e-14)
        np.testing.assert_allclose(found.harmonic[here], harmonic, rtol=1e-14)
        if graph.n_nodes:
            first = int(np.argmax(found.closeness[here]))
            assert (found.node[i], found.max_closeness[i]) == (first, found.closeness[at + first])
        at += graph.n_nodes


def test_graphs_of_several_sweeps_are_as_networkx_has_them(device):
    rng = np.random.default_rng(3)
    links = rng.integers(0, 1300, (1900, 2))
    shapes = [
        graph_of(1300, [(u, v) for u, v in links.tolist() if u != v]),
        grid(25, 25),
        star(600),
    ]
    shard = Shard.from_graphs(shapes).to(device)
    found = closenesses(shard)
    closeness, harmonic = (np.concatenate(x) for x in zip(*map(by_networkx, shapes), strict=True))
    np.testing.assert_allclose(found.closeness, closeness, rtol=1e-14)
    np.testing.assert_allclose(found.harmonic, harmonic, rtol=1e-10)  # inverses of 48 hops
    single = [closenesses(alone(graph).to(device)) for graph in shapes]
    for name in ("closeness", "harmonic"):  # to the bit, whatever the other graphs
        values = np.concatenate([getattr(one, name) for one in single])
        np.testing.assert_array_equal(getattr(found, name), values)


@pytest.mark.parametrize("n_sources", [2, 40, 129, 700])
def test_estimates_are_means_over_their_sources(device, n_sources):
    rng = np.random.default_rng(5)
    links = rng.integers(0, 900, (1000, 2))
    graph = graph_of(900, [(u, v) for u, v in links.tolist() if u != v])
    found = closenesses(alone(graph).to(device), seed=7, max_exact=10, n_sources=n_sources)
    assert (found.is_estimated.tolist(), found.n_searches.tolist()) == ([True], [n_sources])
    sources = np.random.default_rng(7).choice(900, n_sources, replace=False)
    level = msbfs(graph, np.arange(900), levels=True).level
    is_reached = (level < np.iinfo(level.dtype).max) & ~np.eye(900, dtype=bool)
    others = is_reached.sum(axis=0)
    hits, hops = is_reached[sources], level[sources].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(hits, hops, 0).sum(axis=0) / hits.sum(axis=0)
        inverse = np.where(hits, 1 / hops, 0).sum(axis=0) / hits.sum(axis=0)
        closeness = np.where(others > 0, others / 899 / mean, 0)
        harmonic = np.where(others > 0, others / 899 * inverse, 0)
    np.testing.assert_allclose(found.closeness, closeness, rtol=1e-12)
    np.testing.assert_allclose(found.harmonic, harmonic, rtol=1e-10)
    node = int(found.node[0])
    assert found.max_closeness[0] == np.nanmax(found.closeness) == found.closeness[node]
    apart = hops_to = level[is_reached[:, node], node].astype(float)
    n = int(hits[:, node].sum())
    error = np.sqrt((1 - n / len(apart)) * hops_to.var(ddof=1) / n) / hops_to.mean()
    assert found.error[0] == pytest.approx(found.max_closeness[0] * error, rel=1e-12)


def test_an_estimate_is_near_what_it_estimates():
    shard = alone(grid(60, 60))
    exact = closenesses(shard)
    off = [
        closenesses(shard, seed=seed, max_exact=1, n_sources=400).closeness / exact.closeness - 1
        for seed in range(5)
    ]
    assert np.abs(off).max() < 0.12
    assert np.abs(np.mean(off)) < 0.02


def test_closeness_of_sources_is_that_of_nodes():
    graph = grid(9, 30)
    found = closenesses(alone(graph))
    sources = np.arange(0, 270, 7)
    counts = msbfs(graph, sources).hop_counts
    lengths = np.count_nonzero(counts, axis=1)
    ptr = np.append(0, np.cumsum(lengths))
    flat = counts[np.arange(counts.shape[1]) < lengths[:, None]]
    closeness, harmonic = closeness_of_sources(ptr, flat, np.full(len(sources), 270))
    np.testing.assert_array_equal(closeness, found.closeness[sources])
    np.testing.assert_array_equal(harmonic, found.harmonic[sources])


def test_inverses_are_whole_numbers_to_the_nearest():
    each = inverses(3000).tolist()
    assert each[0] == 0
    assert all(abs(h * n - UNIT) * 2 <= h for h, n in enumerate(each[1:], start=1))
    assert all(h * n == UNIT for h, n in enumerate(each[1:21], start=1))
    assert inverses(0).tolist() == []
    assert inverses(1).tolist() == [0]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"n_sources": 1}, "1 sources give no error estimate"),
        ({"max_exact": 1 << 24}, "sums would not fit 64 bits"),
        ({"seed": -1}, "seed"),
    ],
)
def test_numbers_out_of_range_are_refused(given, says):
    with pytest.raises(GraphError, match=says):
        closenesses(alone(path(3)), **given)
