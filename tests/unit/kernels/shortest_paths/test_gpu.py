"""Shortest paths on a GPU at sizes where many blocks work at once, and their memory."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import DeviceMemoryError, sssp
from kernels.shortest_paths.footprint import gpu_bytes, parents_bytes
from pipeline.generate.barabasi_albert import barabasi_albert_graph
from pipeline.generate.grid import grid_graph
from tests.gpu_memory import Counting, LittleMemory
from tests.shapes import host, star, weighted

pytestmark = pytest.mark.gpu


def random_weights(graph, seed=1):
    return weighted(graph, np.random.default_rng(seed).uniform(0.01, 100, graph.n_edges))


def assert_same(ours, theirs):
    """To the bit."""
    np.testing.assert_array_equal(host(ours.distance), host(theirs.distance))
    assert (ours.eccentricity, ours.n_reached) == (theirs.eccentricity, theirs.n_reached)
    if ours.parent is not None and theirs.parent is not None:
        np.testing.assert_array_equal(host(ours.parent), host(theirs.parent))


@pytest.mark.parametrize(
    "make",
    [
        lambda: barabasi_albert_graph(1_000_000, m=2, seed=1, shuffled=True),
        lambda: grid_graph(300, 300, cut=0.1, seed=1),
        lambda: star(1_000_000, hub=17),
    ],
    ids=["attachment", "grid", "star"],
)
def test_large_graphs_are_as_on_a_core_each_time(make):
    graph = random_weights(make())
    here = graph.to("gpu")
    for source in (0, 17, graph.n_nodes - 1):
        expected = sssp(graph, source, parents=True)
        for _ in range(3):
            assert_same(sssp(here, source, parents=True), expected)


@pytest.mark.parametrize("rise", [0.0, 0.01, 1.0, 32.0, 1e9, np.inf])
def test_any_rise_of_the_threshold_gives_the_same(rise):
    from kernels.shortest_paths import gpu

    graphs = [barabasi_albert_graph(3000, m=2, seed=2, shuffled=True), grid_graph(30, 40)]
    for graph in map(random_weights, graphs):
        here, expected = graph.to("gpu"), sssp(graph, 5)
        distance, eccentricity, n_reached, are_valid = gpu.sssp(
            here.indptr, here.indices, here.weights, np.array([5], np.int32), rise=rise
        )
        np.testing.assert_array_equal(host(distance), expected.distance)
        assert (eccentricity, n_reached) == (expected.eccentricity, expected.n_reached)
        assert are_valid


def test_plateaus_of_a_large_graph_have_the_parents_of_a_core():
    shape = barabasi_albert_graph(200_000, m=2, seed=3, shuffled=True)
    for most in (1, 3):  # weights 0, or 0 to 2: half of the nodes have no strictly nearer one
        graph = weighted(shape, np.random.default_rng(4).integers(0, most, shape.n_edges))
        expected = sssp(graph, 9, parents=True)
        assert_same(sssp(graph.to("gpu"), 9, parents=True), expected)


@pytest.mark.parametrize("parents", [False, True])
def test_what_a_search_allocates_is_what_its_footprint_says(parents):
    graph = random_weights(barabasi_albert_graph(200_000, m=3, seed=1))
    here = graph.to("gpu")
    sssp(here, 0, parents=parents)
    with Counting() as counted:
        sssp(here, 0, parents=parents)
    said = gpu_bytes(graph.n_nodes, graph.n_arcs)
    if parents:
        said = max(said, 8 * graph.n_nodes + parents_bytes(graph.n_nodes))
    assert 0.98 * said <= counted.peak <= said + 4096


def test_little_memory_is_an_error_with_the_numbers():
    here = random_weights(barabasi_albert_graph(100_000, m=2, seed=2)).to("gpu")
    sssp(here, 0, parents=True)
    with (
        LittleMemory(500_000),
        pytest.raises(DeviceMemoryError, match=r"by weight of 100000 nodes .* needs [\d,]+ bytes"),
    ):
        sssp(here, 0)
