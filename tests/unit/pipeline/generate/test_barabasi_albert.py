"""Barabasi-Albert graphs: as their definition has them, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import CSRGraph
from kernels.connected import components
from pipeline.generate.barabasi_albert import (
    attach_all,
    barabasi_albert_graph,
    generate_barabasi_albert,
    n_links,
)
from pipeline.generate.csr import csr_from_links, shuffled_ids
from pipeline.model.random_words import below, draw, start_stream, stream_start, word_at
from tests.soak import examples


def plain_links(n: int, m: int, seed: int, graph: int) -> list[tuple[int, int]]:
    """The definition: one list of ends of all links as first drawn, node after node."""
    start = np.uint64(stream_start(np.uint64(seed), np.uint64(graph)))
    links = [(a, b) for a in range(min(n, m + 1)) for b in range(a)]
    ends = [end for link in links for end in link]
    for node in range(m + 1, n):
        before, chosen = len(ends), []
        for _ in range(m):
            number = len(ends) // 2
            other = ends[below(np.uint64(word_at(start, number)), before)]
            ends += [node, other]
            while other in chosen:
                number += 2**32
                other = ends[below(np.uint64(word_at(start, number)), before)]
            chosen.append(other)
        links += [(node, other) for other in chosen]
    return links


@settings(max_examples=examples(60), deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    m=st.integers(1, 6),
    seed=st.integers(0, 2**64 - 1),
    first=st.integers(0, 2**31),
)
def test_links_are_those_of_the_plain_definition(sizes, m, seed, first):
    node_ptr = np.append(0, np.cumsum(sizes))
    near, far = attach_all(node_ptr, m, seed, first=first)
    m = min(m, max(sizes))
    expected = [
        (a + base, b + base)
        for i, (n, base) in enumerate(zip(sizes, node_ptr.tolist(), strict=False))
        for a, b in plain_links(n, m, seed, first + i)
    ]
    assert list(zip(near.tolist(), far.tolist(), strict=True)) == expected


@settings(max_examples=examples(60), deadline=None)
@given(
    n=st.integers(1, 400),
    m=st.integers(1, 8),
    seed=st.integers(0, 2**64 - 1),
    shuffled=st.booleans(),
)
def test_graphs_are_simple_connected_and_of_the_right_size(n, m, seed, shuffled):
    graph = barabasi_albert_graph(n, m=m, seed=seed, shuffled=shuffled)
    graph.validate()
    assert graph.n_nodes == n
    assert graph.n_edges == n_links(np.array([n]), min(m, n))[0]
    assert len(components(graph).sizes) == 1
    if n > m:
        assert np.diff(graph.indptr).min() >= m


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_seed_gives_the_same_graph_on_any_number_of_threads(shuffled):
    n = 400_000  # several parts of nodes, several buckets of rows
    one, two, three = (
        barabasi_albert_graph(n, seed=7, shuffled=shuffled, n_threads=k) for k in (1, 2, 3)
    )
    one.validate()
    assert one.n_edges == 2 * n - 3
    assert one.graph_hash() == two.graph_hash() == three.graph_hash()
    assert one.graph_hash() != barabasi_albert_graph(n, seed=8, shuffled=shuffled).graph_hash()


def test_links_of_many_graphs_are_the_same_on_any_number_of_threads():
    node_ptr = np.array([0, 5, 140_000, 140_001, 400_000, 400_002])
    results = [attach_all(node_ptr, 3, 5, n_threads=k) for k in (1, 2, 3)]
    for near, far in results[1:]:
        assert np.array_equal(near, results[0][0])
        assert np.array_equal(far, results[0][1])


def test_the_graph_is_that_of_the_topology():
    topology = generate_barabasi_albert(2000, m=3, seed=6)
    graph = barabasi_albert_graph(2000, m=3, seed=6)
    tail = np.repeat(np.arange(2000), np.diff(graph.indptr))
    arcs = set(zip(tail.tolist(), graph.indices.tolist(), strict=True))
    links = set(zip(topology.near.tolist(), topology.far.tolist(), strict=True))
    assert arcs == links | {(b, a) for a, b in links}


def test_shuffled_ids_rename_the_nodes_and_change_nothing_else():
    plain, shuffled = (barabasi_albert_graph(5000, seed=2, shuffled=s) for s in (False, True))
    ids = shuffled_ids(5000, 2)
    assert np.array_equal(np.sort(ids), np.arange(5000))
    assert np.array_equal(np.diff(shuffled.indptr)[ids], np.diff(plain.indptr))
    for node in (0, 1, 77, 4999):
        renamed = np.sort(ids[plain.indices[plain.indptr[node] : plain.indptr[node + 1]]])
        new = ids[node]
        assert np.array_equal(
            renamed, shuffled.indices[shuffled.indptr[new] : shuffled.indptr[new + 1]]
        )


def test_shuffled_nodes_of_many_links_lie_anywhere():
    degree = np.diff(barabasi_albert_graph(100_000, seed=3, shuffled=True).indptr)
    hubs = np.argsort(degree)[-1000:]
    # Even over the ids: the mean of 1,000 of them, give or take four standard deviations.
    assert hubs.mean() == pytest.approx(50_000, abs=4 * 100_000 / np.sqrt(12 * 1000))
    assert np.argsort(np.diff(barabasi_albert_graph(100_000).indptr))[-1000:].mean() < 5_000


@settings(max_examples=examples(40), deadline=None)
@given(
    n=st.integers(0, 100_000),
    links=st.integers(0, 300),
    seed=st.integers(0, 2**32 - 1),
    named=st.booleans(),
    n_threads=st.integers(1, 4),
)
def test_any_links_become_their_graph(n, links, seed, named, n_threads):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, max(n, 1), (links if n > 1 else 0, 2)).astype(np.int32)
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    near, far = np.ascontiguousarray(pairs.T)
    ids = rng.permutation(n).astype(np.int32) if named else None
    graph = csr_from_links(n, near, far, ids=ids, n_threads=n_threads)
    if named:
        near, far = ids[near], ids[far]
    tail, head = np.append(near, far), np.append(far, near)
    order = np.lexsort((head, tail))
    indptr = np.append(0, np.cumsum(np.bincount(tail, minlength=n))).astype(np.int64)
    expected = CSRGraph(indptr, head[order])
    assert np.array_equal(graph.indptr, expected.indptr)
    assert np.array_equal(graph.indices, expected.indices)


def test_words_by_number_are_those_of_the_stream():
    state = np.empty(1, np.uint64)
    start_stream(state, np.uint64(3), np.uint64(9))
    start = np.uint64(stream_start(np.uint64(3), np.uint64(9)))
    assert [int(draw(state)) for _ in range(5)] == [int(word_at(start, i)) for i in range(5)]


@pytest.mark.parametrize("m", [1, 2, 4])
def test_degrees_follow_the_law_of_preferential_attachment(m):
    # Bollobas et al. 2001: P(degree = k) = 2m(m+1) / (k(k+1)(k+2)), so P(>= k) = m(m+1)/(k(k+1)).
    n = 200_000
    degree = np.diff(barabasi_albert_graph(n, m=m, seed=9).indptr)
    for k in (m, m + 1, m + 2, 2 * m + 3, 10 * m, 40 * m):
        expected = m * (m + 1) / (k * (k + 1))
        # Four standard deviations of a binomial, twice over: degrees depend on one another.
        slack = 8 * np.sqrt(expected * (1 - expected) / n)
        assert (degree >= k).mean() == pytest.approx(expected, abs=slack + 1e-9)
    assert degree.max() > 100 * m


def test_the_tail_is_a_power_law_of_exponent_three():
    degree = np.diff(barabasi_albert_graph(400_000, seed=12).indptr)
    tail = degree[degree >= 20]
    # Clauset, Shalizi, Newman 2009, equation 3.7. With 5,700 nodes its standard error is 0.03.
    exponent = 1 + len(tail) / np.log(tail / 19.5).sum()
    assert exponent == pytest.approx(3, abs=0.15)
