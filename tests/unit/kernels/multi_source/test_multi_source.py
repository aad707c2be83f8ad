from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import CheckError, GraphError, Shard, bfs, msbfs, msbfs_shard
from kernels.multi_source.check import check_msbfs, check_shard
from kernels.multi_source.cpu import search as cpu
from kernels.multi_source.cpu import sweeps
from kernels.multi_source.cpu.single import search_singly
from pipeline.generate.top_down import generate_top_down
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, host, path, relabelled, star, tree_with_hubs
from tests.soak import examples
from tests.strategies import searched_graphs, searched_shards

PROPERTY = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def assert_summary(level, hop_counts, eccentricity, n_reached, farthest):
    """A summary is what an oracle's levels (-1 unreached) of one source say."""
    counts = np.bincount(level[level >= 0])
    assert hop_counts[: len(counts)].tolist() == counts.tolist()
    assert not hop_counts[len(counts) :].any()
    assert eccentricity == level.max()
    assert n_reached == counts.sum()
    last = np.flatnonzero(level == level.max())[:10]
    assert farthest[: len(last)].tolist() == last.tolist()
    assert (farthest[len(last) :] == -1).all()


def assert_matches(graph, sources, result):
    oracle = bfs_levels(graph, sources)
    assert result.hop_counts.shape == (len(sources), oracle.max(initial=-1) + 1)
    assert result.farthest.shape == (len(sources), 10)
    for i, level in enumerate(oracle):
        row = (result.hop_counts, result.eccentricity, result.n_reached, result.farthest)
        assert_summary(level, *(column[i] for column in row))
    if result.level is not None:
        level = host(result.level)
        assert level.shape == (len(sources), graph.n_nodes)
        unreached = np.iinfo(level.dtype).max
        np.testing.assert_array_equal(level, np.where(oracle < 0, unreached, oracle))


@PROPERTY
@given(searched=searched_graphs(min_nodes=0), levels=st.booleans())
def test_searches_match_scipy(device, searched, levels):
    graph, sources = searched
    result = msbfs(graph.to(device), sources, levels=levels)
    assert (result.level is None) == (not levels)
    assert_matches(graph, sources, result)
    check_msbfs(graph, sources, result)


@pytest.mark.parametrize("n_sources", [0, 1, 3, 4, 5, 63, 64, 65, 127, 128, 129, 1000])
def test_any_number_of_sources_with_repeats(device, n_sources):
    graph = tree_with_hubs(300, seed=n_sources)
    rng = np.random.default_rng(n_sources)
    sources = rng.integers(0, graph.n_nodes, n_sources)
    for levels in (False, True):
        result = msbfs(graph.to(device), sources, levels=levels)
        assert_matches(graph, sources, result)


@PROPERTY
@given(shard_and_sources=searched_shards(), fill=st.integers(0, 300))
def test_shards_match_scipy_graph_by_graph(device, shard_and_sources, fill):
    shard, sources = shard_and_sources
    if len(sources) and sources[0]:  # one graph with many more sources than the others
        sources = [(sources[0] * fill)[: len(sources[0]) + fill], *sources[1:]]
    source_ptr = np.concatenate([[0], np.cumsum([len(own) for own in sources])]).astype(np.int64)
    flat = np.array([node for own in sources for node in own], np.int64)
    result = msbfs_shard(shard.to(device), flat, source_ptr)
    row = 0
    for i, own in enumerate(sources):
        for level in bfs_levels(shard.graph(i), own):
            hops = result.hop_counts[result.hop_ptr[row] : result.hop_ptr[row + 1]]
            last = result.farthest[result.farthest_ptr[row] : result.farthest_ptr[row + 1]]
            summary = (result.eccentricity[row], result.n_reached[row])
            assert len(hops) == level.max() + 1
            assert_summary(level, hops, *summary, np.append(last, [-1] * (10 - len(last))))
            row += 1
    assert row == len(result.eccentricity) == len(flat)
    check_shard(shard, flat, source_ptr, result)


def test_thousands_of_graphs_with_ragged_sources_equal_their_own_searches(device):
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 60, 3000)
    sizes[17], sizes[2000] = 5000, 700
    graphs = [
        graph_of(n, rng.integers(0, n, (int(1.5 * n), 2))) if n < 1000 else tree_with_hubs(n, 1)
        for n in sizes.tolist()
    ]
    n_sources = rng.integers(0, 5, len(graphs))
    n_sources[17], n_sources[500], n_sources[2000] = 300, 130, 64
    source_ptr = np.concatenate([[0], np.cumsum(n_sources)])
    sources = np.concatenate([rng.integers(0, n, k) for n, k in zip(sizes, n_sources, strict=True)])
    shard = Shard.from_graphs(graphs)
    result = msbfs_shard(shard.to(device), sources, source_ptr)
    assert (np.diff(result.hop_ptr) == result.eccentricity + 1).all()
    for i in [*range(0, 3000, 37), 17, 500, 2000]:
        rows = slice(source_ptr[i], source_ptr[i + 1])
        alone = msbfs(graphs[i], sources[rows])
        for row, counts in zip(
            range(source_ptr[i], source_ptr[i + 1]), alone.hop_counts, strict=True
        ):
            hops = result.hop_counts[result.hop_ptr[row] : result.hop_ptr[row + 1]]
            assert hops.tolist() == np.trim_zeros(counts, "b").tolist()
        np.testing.assert_array_equal(result.n_reached[rows], alone.n_reached)
        np.testing.assert_array_equal(result.eccentricity[rows], alone.eccentricity)
        nodes = slice(result.farthest_ptr[rows.start], result.farthest_ptr[rows.stop])
        assert result.farthest[nodes].tolist() == alone.farthest[alone.farthest >= 0].tolist()


@PROPERTY
@given(searched=searched_graphs(max_sources=70), data=st.data())
def test_renaming_nodes_changes_nothing(device, searched, data):
    graph, sources = searched
    new_id = np.array(data.draw(st.permutations(range(graph.n_nodes))))
    plain = msbfs(graph.to(device), sources, levels=True)
    renamed = relabelled(graph, new_id).to(device)
    again = msbfs(renamed, new_id[sources] if sources else [], levels=True)
    np.testing.assert_array_equal(plain.hop_counts, again.hop_counts)
    np.testing.assert_array_equal(host(again.level)[:, new_id], host(plain.level))


@settings(max_examples=examples(200), deadline=None)
@given(searched=searched_graphs(), data=st.data())
def test_certificate_refuses_any_one_wrong_number(searched, data):
    graph, sources = searched
    if not sources:
        return
    right = msbfs(graph, sources, levels=True)
    name = data.draw(
        st.sampled_from(["level", "hop_counts", "eccentricity", "n_reached", "farthest"])
    )
    wrong = getattr(right, name).copy()
    at = tuple(data.draw(st.integers(0, size - 1)) for size in wrong.shape)
    wrong[at] = (int(wrong[at]) + data.draw(st.sampled_from([1, 2, 7]))) % 256
    without_levels = name != "level" and data.draw(st.booleans())
    levels = {"level": None} if without_levels else {}
    with pytest.raises(AssertionError):
        check_msbfs(graph, sources, replace(right, **{**levels, name: wrong}))


@pytest.mark.parametrize("name", ["hop_counts", "eccentricity", "n_reached", "farthest"])
def test_certificate_of_a_shard_refuses_a_wrong_number(name):
    shard = Shard.from_graphs([path(5), star(3)])
    sources, source_ptr = [0, 2, 1], [0, 2, 3]
    right = msbfs_shard(shard, sources, source_ptr)
    check_shard(shard, sources, source_ptr, right)
    for at in range(len(getattr(right, name))):
        wrong = getattr(right, name).copy()
        wrong[at] += 1
        with pytest.raises(AssertionError):
            check_shard(shard, sources, source_ptr, replace(right, **{name: wrong}))


@pytest.mark.parametrize(
    ("name", "ptr"),
    [
        ("source_ptr", [0, 1, 2]),  # the last source is in no row
        ("source_ptr", [1, 2, 3]),
        ("source_ptr", [0, 4, 3]),
        ("source_ptr", [0, 3]),
        ("source_ptr", [0, 2, 3, 3]),
        ("source_ptr", [0, 2.5, 3]),
        ("source_ptr", [[0, 2, 3]]),
        ("source_ptr", []),
        ("hop_ptr", []),
        ("hop_ptr", [0, 5, 8]),
        ("farthest_ptr", [1, 1, 3, 5]),
    ],
)
def test_certificate_of_a_shard_reads_every_row_or_refuses_it(name, ptr):
    right = msbfs_shard(Shard.from_graphs([path(5), star(3)]), [0, 2, 1], [0, 2, 3])
    with pytest.raises(CheckError, match=f"{name} (has|runs)"):
        replace(right, **{name: np.array(ptr)}).check()


def test_hand_counted_graph_with_two_components(device):
    graph = graph_of(8, [(0, 1), (1, 2), (2, 3), (1, 4), (4, 2), (5, 6)]).to(device)
    for padding in (0, 200):  # by single searches and by a sweep
        result = msbfs(graph, [0, 7, 5, 0] + [3] * padding)
        assert result.hop_counts[:4].tolist() == [
            [1, 1, 2, 1],
            [1, 0, 0, 0],
            [1, 1, 0, 0],
            [1, 1, 2, 1],
        ]
        assert result.eccentricity[:4].tolist() == [3, 0, 1, 3]
        assert result.n_reached[:4].tolist() == [5, 1, 2, 5]
        assert result.farthest[:4, :2].tolist() == [[3, -1], [7, -1], [6, -1], [3, -1]]


@pytest.mark.parametrize("n_sources", [3, 100])
def test_farthest_are_the_ten_smallest_of_the_last_level(device, n_sources):
    graph = star(2000, hub=1000).to(device)
    sources = np.arange(n_sources) * 7
    result = msbfs(graph, sources)
    for source, nodes in zip(sources, result.farthest, strict=True):
        assert nodes.tolist() == [v for v in range(12) if v != source][:10]


@pytest.mark.parametrize("n_sources", [5, 130])
def test_levels_over_254_widen_to_uint16(device, n_sources):
    graph = path(400)
    sources = np.linspace(0, 399, n_sources).astype(int)
    result = msbfs(graph.to(device), sources, levels=True)
    level = host(result.level)
    assert level.dtype == np.uint16
    np.testing.assert_array_equal(level, abs(np.arange(400)[None, :] - sources[:, None]))
    check_msbfs(graph, sources, result)


@pytest.mark.parametrize(("n_nodes", "dtype"), [(255, np.uint8), (256, np.uint16)])
def test_widest_level_that_fits_uint8_is_254(device, n_nodes, dtype):
    graph = graph_of(n_nodes + 1, [(v, v + 1) for v in range(n_nodes - 1)])  # one unreached
    result = msbfs(graph.to(device), [0] * 6, levels=True)
    level = host(result.level)
    assert level.dtype == dtype
    assert (level[:, -1] == np.iinfo(dtype).max).all()
    assert (level[:, -2] == n_nodes - 1).all()


def test_levels_over_65534_widen_to_int32(device):
    graph = path(70_000)
    result = msbfs(graph.to(device), [0, 35_000, 69_999, 1, 2], levels=True)
    level = host(result.level)
    assert level.dtype == np.int32
    np.testing.assert_array_equal(level[0], np.arange(70_000))
    assert result.eccentricity.tolist() == [69_999, 35_000, 69_999, 69_998, 69_997]
    assert result.hop_counts.shape == (5, 70_000)
    assert result.farthest[:, 0].tolist() == [69_999, 0, 0, 69_999, 69_999]


def test_sweeps_and_single_searches_agree():
    """On a core the length of the graph decides between them; here both run on the same ones."""
    for graph in (path(300), grid(40, 12), tree_with_hubs(500, seed=8), path(70_000)):
        sources = np.linspace(0, graph.n_nodes - 1, 6).astype(np.int32)
        arrays = (graph.indptr, graph.indices, sources, True)
        ours, our_level = cpu.search_graph(*arrays, way="sweep")
        theirs, their_level = cpu.search_graph(*arrays, way="single")
        for a, b in zip((*ours, our_level), (*theirs, their_level), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_long_grid_equals_single_searches(device):
    graph = grid(1500, 20)
    rng = np.random.default_rng(2)
    sources = rng.integers(0, graph.n_nodes, 70)
    result = msbfs(graph.to(device), sources)
    for i in (0, 33, 69):
        level = bfs(graph, sources[i]).level
        farthest = result.farthest[i]
        summary = (result.eccentricity[i], result.n_reached[i], farthest)
        assert_summary(level, result.hop_counts[i], *summary)


def test_sources_that_are_none_are_named(device):
    graph = path(3).to(device)
    with pytest.raises(GraphError, match="source 3 is not a node; the graph has 3 nodes"):
        msbfs(graph, [0, 3])
    with pytest.raises(GraphError, match="source -1 is not a node"):
        msbfs(graph, [-1])
    with pytest.raises(GraphError, match="give one row of integers"):
        msbfs(graph, [0.5])
    shard = Shard.from_graphs([path(3), path(2)]).to(device)
    with pytest.raises(GraphError, match="source 2 is not a node; graph 1 has 2 nodes"):
        msbfs_shard(shard, [2, 2], [0, 1, 2])
    with pytest.raises(GraphError, match=r"source_ptr has shape \(2,\); 2 graphs need \(3,\)"):
        msbfs_shard(shard, [0], [0, 1])
    with pytest.raises(GraphError, match="source_ptr runs from 0 to 1; it must rise from 0 to"):
        msbfs_shard(shard, [0, 1], [0, 2, 1])


def test_sources_of_a_wrong_form_are_refused(device):
    graph = path(5).to(device)
    with pytest.raises(GraphError, match="sources is not one row of numbers"):
        msbfs(graph, [[1], [2, 3]])
    with pytest.raises(GraphError, match=r"sources has dtype float64"):
        msbfs(graph, [1.0, 2.0])
    shard = Shard.from_graphs([path(5)]).to(device)
    with pytest.raises(GraphError, match="source_ptr has dtype float64; give one row of integers"):
        msbfs_shard(shard, [1, 2], [0.0, 2.0])


def test_no_sources_and_no_nodes_give_no_rows(device):
    for graph in (graph_of(0, []), path(3)):
        result = msbfs(graph.to(device), [], levels=True)
        assert result.hop_counts.shape == (0, 0)
        assert result.farthest.shape == (0, 10)
        assert host(result.level).shape == (0, graph.n_nodes)
    result = msbfs_shard(Shard.from_graphs([]).to(device), [], [0])
    assert result.hop_ptr.tolist() == result.farthest_ptr.tolist() == [0]


@pytest.mark.gpu
def test_cores_and_gpu_agree_in_every_array():
    graph = tree_with_hubs(20_000, seed=4)
    sources = np.random.default_rng(4).integers(0, graph.n_nodes, 300)
    on_cpu = msbfs(graph, sources, levels=True)
    on_gpu = msbfs(graph.to("gpu"), sources, levels=True)
    for name in ("hop_counts", "eccentricity", "n_reached", "farthest", "level"):
        ours, theirs = getattr(on_cpu, name), host(getattr(on_gpu, name))
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.gpu(count=2)
def test_a_graph_on_the_second_gpu_is_searched_there():
    import cupy

    graph = tree_with_hubs(5000, seed=6)
    with cupy.cuda.Device(1):
        there = graph.to("gpu")
    result = msbfs(there, np.arange(200), levels=True)
    assert result.level.device.id == 1
    check_msbfs(graph, np.arange(200), result)
    assert bfs(there, 0).level.device.id == 1


@pytest.mark.parametrize(
    ("family", "n_sources", "is_swept"), [("top-down", 64, True), ("path", 9, False)]
)
def test_a_sweep_is_left_for_single_searches_only_where_one_of_them_says_so(
    monkeypatch, family, n_sources, is_swept
):
    """The better way takes a sixth and a tenth of the other's time; only own time is counted."""
    clock = SimpleNamespace(perf_counter=time.thread_time)
    monkeypatch.setattr(sweeps, "time", clock)
    if family == "path":
        graph = path(60_000)
    else:
        topology = generate_top_down(30, 60_000)
        graph = graph_of(60_000, np.stack([topology.near, topology.far], axis=1))
    singly = []
    monkeypatch.setattr(
        cpu, "search_singly", lambda *args: singly.append(args) or search_singly(*args)
    )
    sources = np.random.default_rng(3).integers(0, graph.n_nodes, n_sources)
    result = msbfs(graph, sources)
    assert (not singly) is is_swept
    check_msbfs(graph, sources, result)
