"""Searches by several threads: the same answers, in the memory that is stated."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.diameter.flat_graphs import circulant, cylinder
from kernels import Shard, msbfs, msbfs_shard
from kernels._cpu import threads
from kernels.multi_source.check import check_msbfs, check_shard
from kernels.multi_source.cpu import search as cpu
from kernels.multi_source.cpu import sweeps as cpu_sweeps
from kernels.multi_source.cpu.costs import is_stretched
from kernels.multi_source.cpu.footprint import host_bytes
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, path, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import searched_graphs, searched_shards

NAMES = ("hop_counts", "eccentricity", "n_reached", "farthest", "level")


@pytest.fixture
def n_threads():
    """Set the number of threads; every graph is large enough for them."""
    with pytest.MonkeyPatch.context() as patched:
        for module in (cpu, cpu_sweeps):
            patched.setattr(module, "LARGE", 0)
        yield threads.use_threads
    threads.use_threads(None)


def same(ours, theirs, names=NAMES):
    for name in names:
        a, b = getattr(ours, name), getattr(theirs, name)
        if a is not None or b is not None:
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b, err_msg=name)


def with_tail(n_nodes: int, tail: int):
    """A short graph with a path of ``tail`` nodes hanging from it, and an isolated node."""
    core = tree_with_hubs(n_nodes, seed=1)
    tails = np.repeat(np.arange(core.n_nodes), np.diff(core.indptr))
    edges = list(zip(tails.tolist(), core.indices.tolist(), strict=True))
    nodes = [7, *range(n_nodes, n_nodes + tail)]
    edges += list(itertools.pairwise(nodes))
    return graph_of(n_nodes + tail + 1, edges)


SHAPES = {
    "hubs": lambda: tree_with_hubs(3000, seed=2),
    "star": lambda: star(3000, hub=1500),
    "grid": lambda: grid(40, 50),
    "tail over 254": lambda: with_tail(2000, 400),
    "path": lambda: path(700),
    "many components": lambda: graph_of(
        900, np.random.default_rng(0).integers(0, 900, (500, 2)).tolist()
    ),
}


@pytest.mark.parametrize("n_sources", [9, 64, 100, 300])
@pytest.mark.parametrize("shape", SHAPES)
def test_any_number_of_threads_and_either_way_give_the_same(n_threads, shape, n_sources):
    graph = SHAPES[shape]()
    sources = np.random.default_rng(n_sources).integers(0, graph.n_nodes, n_sources, np.int32)
    n_threads(1)
    alone = msbfs(graph, sources, levels=True)
    check_msbfs(graph, sources, alone)
    for n in (2, 3):
        n_threads(n)
        same(msbfs(graph, sources, levels=True), alone)
        for way in ("sweep", "single"):
            raw, level = cpu.search_graph(graph.indptr, graph.indices, sources, True, way)
            assert level.dtype == alone.level.dtype
            np.testing.assert_array_equal(level, alone.level)
            for i, name in ((2, "eccentricity"), (3, "n_reached"), (4, "farthest")):
                np.testing.assert_array_equal(raw[i], getattr(alone, name))


@settings(max_examples=examples(60), deadline=None)
@given(searched=searched_graphs(max_sources=140), n=st.integers(1, 3), levels=st.booleans())
def test_threads_match_scipy(searched, n, levels):
    graph, sources = searched
    with pytest.MonkeyPatch.context() as patched:
        for module in (cpu, cpu_sweeps):
            patched.setattr(module, "LARGE", 0)
        threads.use_threads(n)
        try:
            result = msbfs(graph, sources, levels=levels)
        finally:
            threads.use_threads(None)
    oracle = bfs_levels(graph, sources)
    for i, level in enumerate(oracle):
        counts = np.bincount(level[level >= 0])
        assert result.hop_counts[i, : len(counts)].tolist() == counts.tolist()
        if levels:
            np.testing.assert_array_equal(result.level[i], np.where(level < 0, 255, level))


@settings(max_examples=examples(60), deadline=None)
@given(shard_and_sources=searched_shards(), n=st.integers(1, 3), large=st.sampled_from([0, 40]))
def test_shards_by_threads_are_right(shard_and_sources, n, large):
    shard, sources = shard_and_sources
    source_ptr = np.concatenate([[0], np.cumsum([len(own) for own in sources])]).astype(np.int64)
    flat = np.array([node for own in sources for node in own], np.int64)
    with pytest.MonkeyPatch.context() as patched:
        for module in (cpu, cpu_sweeps):
            patched.setattr(module, "LARGE", large)
        threads.use_threads(n)
        try:
            result = msbfs_shard(shard, flat, source_ptr)
        finally:
            threads.use_threads(None)
    check_shard(shard, flat, source_ptr, result)


def test_long_graphs_of_a_shard_leave_the_sweep(n_threads):
    graphs = [path(4000), tree_with_hubs(2000, seed=3), grid(300, 8), star(50)]
    shard = Shard.from_graphs(graphs)
    rng = np.random.default_rng(5)
    sources = [rng.integers(0, graph.n_nodes, 40) for graph in graphs]
    source_ptr = np.arange(5) * 40
    n_threads(2)
    result = msbfs_shard(shard, np.concatenate(sources), source_ptr)
    check_shard(shard, np.concatenate(sources), source_ptr, result)


@pytest.mark.parametrize("n_sources", [9, 64, 100, 128, 300])
@pytest.mark.parametrize("levels", [False, True])
@pytest.mark.parametrize("n", [1, 2])
def test_no_more_memory_is_allocated_than_stated(n_threads, n_sources, levels, n):
    """NumPy reports its arrays to tracemalloc; the kernels of one graph allocate none."""
    n_threads(n)
    graph = tree_with_hubs(40_000, seed=9)
    sources = np.random.default_rng(1).integers(0, graph.n_nodes, n_sources)
    msbfs(graph, sources[:9], levels=levels)
    tracemalloc.start()
    try:
        msbfs(graph, sources, levels=levels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    stated = host_bytes(graph.n_nodes, n_sources, levels=levels, n_threads=n, eccentricity=12)
    assert 0.6 * stated < peak <= 1.02 * stated + 50_000


STRETCHED = {
    "path": (lambda: path(20_000), True),
    "ring": (lambda: circulant(20_000, [1]), True),
    "thin cylinder": (lambda: cylinder(5, 4000), True),
    "grid": (lambda: grid(140, 140), False),
    "hubs": (lambda: tree_with_hubs(20_000, seed=2), False),
    "short path": (lambda: path(60), False),
}


@pytest.mark.parametrize("name", STRETCHED)
def test_no_sweep_from_few_sources_is_begun_where_all_around_them_is_long(name, monkeypatch):
    make, is_long = STRETCHED[name]
    graph, begun = make(), []

    class Begun(cpu_sweeps.Sweeps):
        def __init__(self, *given):
            begun.append(given)
            super().__init__(*given)

    monkeypatch.setattr(cpu, "Sweeps", Begun)
    for n_sources, may_begin in ((12, not is_long), (33, True)):
        begun.clear()
        sources = np.linspace(0, graph.n_nodes - 1, n_sources).astype(np.int32)
        found = msbfs(graph, sources)
        assert bool(begun) == may_begin
        truth = bfs_levels(graph, sources[[0, -1]].tolist())
        assert found.eccentricity[[0, -1]].tolist() == truth.max(axis=1).tolist()


def test_sources_in_a_long_tail_of_a_short_graph_do_not_hide_it():
    graph = with_tail(5000, 300)
    sources = np.array([0, *range(5150, 5158), 1], np.int32)
    assert not is_stretched(graph.indptr, graph.indices, 0, graph.n_nodes, sources)
