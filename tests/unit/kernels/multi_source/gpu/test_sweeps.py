"""What only a GPU's sweeps have: two directions, launches that go on, hubs, memory, many arcs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import CSRGraph, DeviceMemoryError, Shard, bfs, msbfs, msbfs_shard
from kernels.breadth_first.check import check_levels, check_parents
from kernels.breadth_first.footprint import gpu_bytes
from kernels.multi_source.check import check_msbfs, check_shard
from kernels.multi_source.gpu.footprint import (
    gpu_levels_bytes,
    gpu_results_words,
    gpu_state_bytes,
)
from pipeline.generate.barabasi_albert import barabasi_albert_graph
from pipeline.generate.grid import grid_graph
from tests.gpu_memory import Counting, LittleMemory
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, host, path, relabelled, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import searched_graphs

pytestmark = pytest.mark.gpu
PROPERTY = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def assert_right(graph, sources, result, n_checked=8):
    """Certificate of all, and SciPy's levels of some."""
    check_msbfs(graph, sources, result)
    some = np.unique(np.linspace(0, len(sources) - 1, n_checked).astype(int))
    levels = bfs_levels(graph, [int(sources[i]) for i in some])
    for i, level in zip(some, levels, strict=True):
        counts = np.bincount(level[level >= 0])
        assert result.hop_counts[i, : len(counts)].tolist() == counts.tolist()
        assert result.n_reached[i] == counts.sum()
        last = np.flatnonzero(level == level.max())[:10]
        assert result.farthest[i, : len(last)].tolist() == last.tolist()


@pytest.mark.parametrize("factor", [1, 4, 20, 1 << 40])
@PROPERTY
@given(searched=searched_graphs(max_nodes=60), levels=st.booleans())
def test_either_direction_matches_scipy_on_every_graph(monkeypatch, factor, searched, levels):
    from kernels.multi_source.gpu import search as gpu

    monkeypatch.setattr(gpu, "TOP_DOWN_MIN", 0)
    monkeypatch.setattr(gpu, "TOP_DOWN_FACTOR", factor)
    graph, sources = searched
    result = msbfs(graph.to("gpu"), sources, levels=levels)
    check_msbfs(graph, sources, result)
    oracle = bfs_levels(graph, sources)
    for i, level in enumerate(oracle):
        assert result.hop_counts[i].sum() == (level >= 0).sum()
        if levels:
            got = host(result.level)[i].astype(np.int64)
            got[got == np.iinfo(result.level.dtype).max] = -1
            np.testing.assert_array_equal(got, level)


@pytest.mark.parametrize("n_sources", [1, 64, 100, 300])
@pytest.mark.parametrize(
    "graph",
    [
        pytest.param(lambda: grid_graph(300, 300, cut=0.1, seed=2), id="cut grid"),
        pytest.param(lambda: barabasi_albert_graph(80_000, m=2, seed=3, shuffled=True), id="ba"),
        pytest.param(lambda: tree_with_hubs(90_000, seed=5), id="hubs"),
    ],
)
def test_large_graphs_of_many_shapes(graph, n_sources):
    graph = graph()
    sources = np.random.default_rng(n_sources).integers(0, graph.n_nodes, n_sources)
    here = graph.to("gpu")
    assert_right(graph, sources, msbfs(here, sources))
    assert_right(graph, sources, msbfs(here, sources, levels=True), n_checked=3)
    found = bfs(here, int(sources[0]), parents=True)
    check_levels(graph.indptr, graph.indices, int(sources[0]), found.level)
    check_parents(graph.indptr, graph.indices, int(sources[0]), found.level, found.parent)


def test_a_hub_of_a_million_neighbours_with_a_tail_and_other_components():
    n_leaves = 1_000_000
    links = np.column_stack([np.zeros(n_leaves, np.int64), np.arange(1, n_leaves + 1)])
    tail = np.arange(n_leaves, n_leaves + 40)
    apart = np.arange(n_leaves + 50, n_leaves + 60)
    links = np.concatenate(
        [links, np.column_stack([tail, tail + 1]), np.column_stack([apart, apart + 1])]
    )
    order = np.random.default_rng(8).permutation(n_leaves + 70)
    graph = relabelled(graph_of(n_leaves + 70, links), order)
    hub = int(np.argmax(np.diff(graph.indptr)))
    sources = np.concatenate([[hub], np.random.default_rng(8).integers(0, graph.n_nodes, 99)])
    here = graph.to("gpu")
    assert_right(graph, sources, msbfs(here, sources))
    for source in (hub, int(sources[1])):
        check_levels(graph.indptr, graph.indices, source, bfs(here, source).level)


@pytest.mark.parametrize("levels", [False, True])
def test_a_sweep_goes_on_where_its_counts_were_full(monkeypatch, levels):
    from kernels.multi_source.gpu import search as gpu

    monkeypatch.setattr(gpu, "ROWS", 3)
    monkeypatch.setattr(gpu, "MORE_ROWS", 5)
    for min_nodes in (0, 1 << 16):
        monkeypatch.setattr(gpu, "TOP_DOWN_MIN", min_nodes)
        graph = relabelled(path(300), np.random.default_rng(1).permutation(300))
        sources = np.arange(0, 300, 7)
        assert_right(graph, sources, msbfs(graph.to("gpu"), sources, levels=levels))


def test_a_shard_of_many_sizes_and_many_sources():
    rng = np.random.default_rng(4)
    graphs = [barabasi_albert_graph(int(n), m=2, seed=int(n)) for n in rng.integers(3, 400, 500)]
    graphs += [star(2000), path(700), tree_with_hubs(30_000, seed=2), graph_of(5, [])]
    order = rng.permutation(len(graphs))
    graphs = [graphs[i] for i in order]
    sources = [rng.integers(0, g.n_nodes, 700 if g.n_nodes > 5000 else 3) for g in graphs]
    source_ptr = np.concatenate([[0], np.cumsum([len(some) for some in sources])])
    shard = Shard.from_graphs(graphs)
    flat = np.concatenate(sources)
    result = msbfs_shard(shard.to("gpu"), flat, source_ptr)
    check_shard(shard, flat, source_ptr, result)
    ours = msbfs_shard(shard, flat, source_ptr)
    for name in ("hop_ptr", "hop_counts", "eccentricity", "n_reached", "farthest"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(result, name))


@pytest.mark.parametrize("n_sources", [64, 100, 256])
@pytest.mark.parametrize("levels", [False, True])
def test_what_a_sweep_allocates_is_what_its_footprint_says(n_sources, levels):
    graph = barabasi_albert_graph(200_000, m=3, seed=1)
    here, sources = graph.to("gpu"), np.arange(n_sources)
    n_words = {64: 1, 100: 2, 256: 4}[n_sources]
    said = gpu_state_bytes(graph.n_nodes, graph.n_arcs, n_words)
    said += 4 * gpu_results_words(n_sources, 66)
    said += gpu_levels_bytes(graph.n_nodes, n_sources, n_words) if levels else 0
    msbfs(here, sources, levels=levels)
    with Counting() as counted:
        msbfs(here, sources, levels=levels)
    assert 0.98 * said <= counted.peak <= said + 8192  # the pool rounds each piece up to 512


def test_what_a_search_allocates_is_what_its_footprint_says():
    graph = barabasi_albert_graph(200_000, m=3, seed=1)
    here = graph.to("gpu")
    bfs(here, 0)
    with Counting() as counted:
        bfs(here, 0)
    said = gpu_bytes(graph.n_nodes, graph.n_arcs)
    assert 0.98 * said <= counted.peak <= said + 4096


def test_little_memory_means_fewer_lanes_then_no_levels_then_an_error_with_the_numbers():
    graph = barabasi_albert_graph(100_000, m=2, seed=2)
    here, sources = graph.to("gpu"), np.arange(200)
    whole = msbfs(here, sources)
    one_word = gpu_state_bytes(graph.n_nodes, graph.n_arcs, 1)
    with LittleMemory(one_word + 1_000_000):
        narrow = msbfs(here, sources)
        with pytest.raises(DeviceMemoryError, match=r"with all levels \([\d,]+ bytes without them"):
            msbfs(here, sources, levels=True)
    for name in ("hop_counts", "eccentricity", "n_reached", "farthest"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(narrow, name))
    with (
        LittleMemory(one_word // 2),
        pytest.raises(DeviceMemoryError, match=r"100000 nodes and 399994 arcs needs [\d,]+ bytes"),
    ):
        msbfs(here, sources)
    with LittleMemory(500_000), pytest.raises(DeviceMemoryError, match=r"needs [\d,]+ bytes; GPU"):
        bfs(here, 0)


def test_a_shard_with_little_memory_takes_fewer_lanes():
    graphs = [barabasi_albert_graph(1000, m=2, seed=i) for i in range(50)]
    shard = Shard.from_graphs(graphs).to("gpu")
    sources, ptr = np.tile(np.arange(100), 50), np.arange(0, 5001, 100)
    whole = msbfs_shard(shard, sources, ptr)
    with LittleMemory(8_000_000):
        narrow = msbfs_shard(shard, sources, ptr)
    for name in ("hop_ptr", "hop_counts", "eccentricity", "n_reached", "farthest"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(narrow, name))
    with LittleMemory(1_000_000), pytest.raises(DeviceMemoryError, match="50 graphs"):
        msbfs_shard(shard, sources, ptr)


def test_more_than_two_to_the_31_arcs():
    import cupy

    n_all = 46_342  # a complete graph of that many nodes has 2**31 + 50,874 arcs
    tail = 6  # and a path from its last node
    n_nodes = n_all + tail
    n_arcs = n_all * (n_all - 1) + 2 * tail
    assert n_arcs > 2**31
    if cupy.cuda.runtime.memGetInfo()[0] < 16 << 30:
        pytest.skip("needs 16 GiB of free GPU memory")
    degree = np.full(n_nodes, 2, np.int64)
    degree[:n_all] = n_all - 1
    degree[n_all - 1] += 1
    degree[-1] = 1
    indptr = np.concatenate([[0], np.cumsum(degree)])
    indices = cupy.empty(n_arcs, np.int32)
    own = cupy.arange(n_all - 1, dtype=np.int32)
    for v in range(n_all):
        row = indices[indptr[v] : indptr[v] + n_all - 1]
        row[:] = own
        row[v:] += 1
    for i in range(tail):
        v = n_all - 1 + i  # links v and v + 1
        indices[indptr[v + 1] - 1] = v + 1
        indices[indptr[v + 1]] = v
    graph = CSRGraph(cupy.asarray(indptr), indices, trusted=True)

    def levels_from(source):
        level = np.full(n_nodes, 1, np.int32)
        ids = np.arange(n_nodes)
        if source < n_all:
            out = 0 if source == n_all - 1 else 1
            level[n_all:] = ids[n_all:] - (n_all - 1) + out
        else:
            level[:n_all] = source - n_all + 2
            level[n_all - 1] -= 1
            level[n_all:] = np.abs(ids[n_all:] - source)
        level[source] = 0
        return level

    for source in (0, n_all - 1, n_nodes - 1):
        found = bfs(graph, source)
        np.testing.assert_array_equal(host(found.level), levels_from(source))
    sources = np.array([0, 5, n_all - 1, n_all, n_nodes - 1] * 20)
    result = msbfs(graph, sources)
    for source, counts in zip(sources, result.hop_counts, strict=True):
        expected = np.bincount(levels_from(source))
        assert counts[: len(expected)].tolist() == expected.tolist()
        assert counts.sum() == n_nodes
