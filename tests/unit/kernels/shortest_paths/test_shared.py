"""Shortest paths by threads: the distances of one core, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import jit

from benchmarks.lib.graphs import attachment, cut_grid, rmat, with_weights
from kernels import CSRGraph, GraphError, sssp
from kernels._cpu.threads import Team, use_threads
from kernels.shortest_paths import cpu, near_far, search, shared, weighted_arrays
from tests.soak import examples
from tests.strategies import weighted_graphs

FEW, MANY = 1, 1 << 40  # nodes of a bucket from which threads share it


def by_threads(graph, source, n_threads, target=-1, **more):
    sources = np.array([source], np.int32)
    with Team(n_threads) as team:
        return shared.delta_stepping(weighted_arrays(graph), sources, target, team, **more)


@pytest.fixture
def threads_share_all(monkeypatch):
    monkeypatch.setattr(cpu, "LARGE", 0)
    use_threads(4)
    yield
    use_threads(None)


@pytest.mark.parametrize(
    ("n_threads", "alone"), [(1, FEW), (2, FEW), (7, FEW), (3, 500), (2, MANY)]
)
@pytest.mark.parametrize("graph", [attachment(20_000), cut_grid(120), rmat(11, 16)])
def test_threads_find_the_distances_of_one_core(graph, n_threads, alone):
    graph = with_weights(graph)
    for source in np.flatnonzero(np.diff(graph.indptr))[[0, 1, -1]].tolist():
        expected = search(weighted_arrays(graph), np.array([source], np.int32), 500.0)
        for width in (0.01, 0.125, 1.0):
            more = {"width": width, "alone": alone, "patience": 10**4}
            state, (distance, largest, n_reached) = by_threads(graph, source, n_threads, **more)
            assert state == shared.IS_DONE
            np.testing.assert_array_equal(distance, expected)
            finite = expected[expected < np.inf]
            assert (largest, n_reached) == (finite.max(), len(finite))


@settings(max_examples=examples(30), deadline=None)
@given(
    graph=weighted_graphs(),
    width=st.sampled_from([1e-40, 1e-4, 0.1, 3.0, 1e9]),
    alone=st.sampled_from([FEW, MANY]),
)
def test_any_width_of_the_buckets_gives_the_same(graph, width, alone):
    expected = np.empty(graph.n_nodes)
    assert near_far(weighted_arrays(graph), np.array([0], np.int32), 1.0, 10**6, expected)
    state, (distance, *_) = by_threads(graph, 0, 3, width=width, alone=alone, patience=10**6)
    assert state == shared.IS_DONE
    np.testing.assert_array_equal(distance, expected)


@pytest.mark.parametrize("alone", [FEW, MANY])
def test_weights_of_many_sizes_need_more_buckets_than_are_kept_apart(alone):
    graph = with_weights(attachment(20_000))
    assert graph.weights is not None
    weights = (2.0 ** (graph.weights % 20)).astype(np.float32)
    graph = CSRGraph(graph.indptr, graph.indices, weights, trusted=True)
    expected = search(weighted_arrays(graph), np.array([3], np.int32), 1e5)
    state, (distance, *_) = by_threads(graph, 3, 3, width=0.001, alone=alone)
    assert state == shared.IS_DONE
    np.testing.assert_array_equal(distance, expected)


@pytest.mark.parametrize("more", [{"patience": 0}, {"width": 1e9, "patience": 1}])
def test_too_many_relaxations_are_given_up(more):
    graph = with_weights(cut_grid(100))
    assert by_threads(graph, 0, 2, alone=FEW, **more)[0] == shared.IS_TOO_MUCH


@pytest.mark.usefixtures("threads_share_all")
@pytest.mark.parametrize("patience", [0, 16])
def test_a_search_is_the_same_whoever_makes_it(monkeypatch, patience):
    monkeypatch.setattr(shared.delta_stepping, "__defaults__", (1.0, FEW, patience))
    graph = with_weights(attachment(3_000))
    for target in (None, 1_234):
        found = sssp(graph, 5, target, parents=True)
        use_threads(1)
        alone = sssp(graph, 5, target, parents=True)
        use_threads(4)
        np.testing.assert_array_equal(found.distance, alone.distance)
        np.testing.assert_array_equal(found.parent, alone.parent)
        assert (found.eccentricity, found.n_reached) == (alone.eccentricity, alone.n_reached)


@pytest.mark.usefixtures("threads_share_all")
def test_threads_name_an_invalid_weight():
    graph = with_weights(attachment(100))
    graph.weights[7] = np.nan
    with pytest.raises(GraphError, match=r"weights\[7\] of the arc .* is not finite: nan"):
        sssp(graph, 0)


def test_no_thread_counts_references():
    # Arrays of a named tuple are counted at each use, by atomics on words that all threads share.
    follow = shared.follow
    fresh = jit(follow.signatures, **follow.targetoptions)(follow.py_func)  # not out of a cache
    (code,) = fresh.inspect_llvm().values()
    assert "define" in code
    assert "NRT_incref" not in code
