"""Graphs whose arcs stay in host memory while a GPU searches them."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from kernels import CSRGraph, bfs, components, diameter, eccentricities, msbfs, mst, sssp
from tests.shapes import grid, host, tree_with_hubs

SHAPES = {"grid": grid(40, 50), "hubs": tree_with_hubs(3000, 1)}


def with_weights(graph: CSRGraph) -> CSRGraph:
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    weights = ((tails + graph.indices) % 7 + 1).astype(np.float32)
    return CSRGraph(graph.indptr, graph.indices, weights)


@pytest.mark.gpu
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("is_writable", [True, False])
def test_answers_are_those_of_arcs_on_the_card(name, is_writable):
    graph = with_weights(SHAPES[name])
    graph.indices.flags.writeable = is_writable
    here = graph.to("gpu", arcs_on_host=True)
    assert here.device == "gpu"
    assert here.indices.data.ptr == graph.indices.ctypes.data  # the same memory
    for ours, theirs in ((bfs(here, 3, parents=True), bfs(graph, 3, parents=True)),):
        np.testing.assert_array_equal(host(ours.level), theirs.level)
        np.testing.assert_array_equal(host(ours.parent), theirs.parent)
    sources = np.arange(0, graph.n_nodes, graph.n_nodes // 150)
    ours, theirs = msbfs(here, sources, levels=True), msbfs(graph, sources, levels=True)
    np.testing.assert_array_equal(ours.hop_counts, theirs.hop_counts)
    np.testing.assert_array_equal(host(ours.level), theirs.level)
    np.testing.assert_array_equal(host(components(here).component), components(graph).component)
    assert diameter(here).diameter == diameter(graph).diameter
    np.testing.assert_array_equal(host(eccentricities(here)), eccentricities(graph))
    np.testing.assert_array_equal(host(sssp(here, 3).distance), sssp(graph, 3).distance)
    assert mst(here).total == mst(graph).total
    np.testing.assert_array_equal(here.to("cpu").indices, graph.indices)
    assert here.graph_hash() == graph.graph_hash()


@pytest.mark.gpu
def test_memory_is_given_back_and_can_be_shared_again():
    graph = grid(30, 30)
    level = bfs(graph, 5).level
    for _ in range(3):
        here = graph.to("gpu", arcs_on_host=True)
        twice = graph.to("gpu", arcs_on_host=True)  # is in use: a copy
        assert twice.indices.data.ptr != here.indices.data.ptr
        np.testing.assert_array_equal(host(bfs(twice, 5).level), level)
        del here, twice
        gc.collect()
    assert graph.to("gpu", arcs_on_host=True).indices.data.ptr == graph.indices.ctypes.data


@pytest.mark.gpu
def test_a_graph_without_arcs():
    graph = CSRGraph(np.zeros(4, np.int64), np.empty(0, np.int32))
    here = graph.to("gpu", arcs_on_host=True)
    assert host(bfs(here, 2).level).tolist() == [-1, -1, 0]


def test_on_the_host_nothing_changes():
    graph = grid(3, 3)
    assert graph.to("cpu", arcs_on_host=True) is graph
