"""The searches that the fast ones are compared with: device code, levels, distances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import benchmarks.baselines
from benchmarks.baselines import bfs_thread_per_node, bfs_two_kernel, dijkstra
from kernels import DeviceError, GraphError, sssp
from kernels._cuda.loader import options_for, source_of
from tests.oracles.paths import bfs_levels
from tests.shapes import graph_of, grid, host, path, star, tree_with_hubs, weighted

CU_FILE = Path(benchmarks.baselines.__file__).with_name("baselines.cu")
GRAPHS = {
    "one node": graph_of(1, []),
    "isolated nodes": graph_of(5, [(1, 3)]),
    "star": star(5000, hub=7),
    "long path": path(700),
    "hubs": tree_with_hubs(5000, seed=3),
}


@pytest.mark.parametrize("architecture", ["compute_75", "compute_90"])
def test_compiles_without_a_gpu(architecture):
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC (extra nvrtc) is not installed")
    from tests.unit.kernels._cuda.test_cu_files_compile import compiler_log

    given = options_for(CU_FILE)
    assert compiler_log(source_of(CU_FILE), CU_FILE.name, architecture, given) == ""


@pytest.mark.gpu
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("search", [bfs_thread_per_node, bfs_two_kernel])
def test_levels_match_scipy(search, name):
    graph = GRAPHS[name]
    for source in {0, graph.n_nodes // 2, graph.n_nodes - 1}:
        expected = bfs_levels(graph, [source])[0]
        found = search(graph.to("gpu"), source)
        np.testing.assert_array_equal(host(found.level), expected)
        assert (found.eccentricity, found.n_reached) == (expected.max(), (expected >= 0).sum())


def test_dijkstra_finds_the_distances_of_sssp():
    shape = grid(20, 30)
    graph = weighted(shape, np.random.default_rng(1).uniform(0.01, 9.0, shape.n_edges))
    for source in (0, 17, 599):
        found, expected = dijkstra(graph, source), sssp(graph, source)
        np.testing.assert_array_equal(found.distance, expected.distance)
        assert (found.eccentricity, found.n_reached) == (expected.eccentricity, 600)


@pytest.mark.parametrize("search", [bfs_thread_per_node, bfs_two_kernel])
def test_searches_on_a_gpu_name_the_device_they_need(search):
    with pytest.raises(DeviceError, match=rf"{search.__name__} runs on a GPU; give it graph.to"):
        search(path(2), 0)
    with pytest.raises(GraphError, match="source 5 is not a node"):
        search(path(2), 5)


@pytest.mark.gpu
def test_dijkstra_names_the_device_it_needs():
    with pytest.raises(DeviceError, match=r"dijkstra runs on a core; give it graph\.to"):
        dijkstra(weighted(path(2), [1.0]).to("gpu"), 0)
