"""Pictures: small graphs whole, of large ones what is near; every link shown is one."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import CSRGraph, mst
from pipeline.explore.drawing import MAX_NODES, draw
from pipeline.explore.worker import MAX_BARS, _bars
from pipeline.generate.barabasi_albert import barabasi_albert_graph
from pipeline.generate.grid import grid_graph
from pipeline.model.named_graph import NamedGraph


def links_of(graph: CSRGraph) -> set[tuple[int, int]]:
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    return {(u, v) for u, v in zip(tails.tolist(), graph.indices.tolist(), strict=True) if u < v}


def shown_links(picture) -> set[tuple[int, int]]:
    names = [int(node["name"]) for node in picture["nodes"]]
    return {tuple(sorted((names[i], names[j]))) for i, j, _ in picture["links"]}


def test_a_small_graph_is_drawn_whole_with_its_path_marked():
    graph = grid_graph(4, 5, cut=0.0)
    picture = draw(NamedGraph("g", graph), [0, 1, 2, 7], [0, 7])
    assert picture["note"] == "The whole graph: 20 routers."
    assert shown_links(picture) == links_of(graph)
    marked = {tuple(sorted((i, j))) for i, j, on in picture["links"] if on}
    assert marked == {(0, 1), (1, 2), (2, 7)}
    roles = {node["name"]: node["role"] for node in picture["nodes"] if node["role"]}
    assert roles == {"0": "end", "1": "path", "2": "path", "7": "end"}
    assert all(0 <= node["x"] <= 1 and 0 <= node["y"] <= 1 for node in picture["nodes"])


@pytest.mark.parametrize("focus", [[], [5, 1234]])
def test_of_a_large_graph_what_is_near_is_drawn(focus):
    graph = barabasi_albert_graph(5000, m=3)
    picture = draw(NamedGraph("g", graph), [], focus)
    names = [node["name"] for node in picture["nodes"]]
    assert len(set(names)) == len(names) == MAX_NODES
    assert {str(node) for node in focus} <= set(names)
    assert shown_links(picture) <= links_of(graph)
    assert picture["note"].startswith("220 of 5,000 routers: those nearest")


def test_of_a_forest_of_any_size_the_links_in_the_picture_are_marked():
    graph = grid_graph(90, 90, cut=0.0, seed=1)
    weighted = CSRGraph(graph.indptr, graph.indices, np.ones(graph.n_arcs, np.float32))
    forest = mst(weighted)
    picture = draw(NamedGraph("g", weighted), [], [], (forest.tails, forest.heads))
    names = [int(node["name"]) for node in picture["nodes"]]
    marked = {tuple(sorted((names[i], names[j]))) for i, j, on in picture["links"] if on}
    of_forest = set(zip(forest.tails.tolist(), forest.heads.tolist(), strict=True))
    assert marked == shown_links(picture) & of_forest
    assert 0 < len(marked) < len(picture["links"])


def test_of_a_long_path_the_ends_are_drawn():
    line = grid_graph(1, 3000, cut=0.0)
    picture = draw(NamedGraph("g", line), range(3000), [0, 2999])
    assert picture["note"].endswith("2,940 in the middle of the path are left out.")
    names = {int(node["name"]) for node in picture["nodes"]}
    assert names == {*range(30), *range(2970, 3000)}


@pytest.mark.parametrize("n", [0, 1, 2])
def test_graphs_of_few_nodes_have_a_picture(n):
    graph = grid_graph(1, n, cut=0.0) if n else CSRGraph(np.zeros(1, int), np.empty(0, np.int32))
    picture = draw(NamedGraph("g", graph), [], [])
    assert len(picture["nodes"]) == n


def test_many_levels_are_added_up():
    assert _bars([1, 2, 3]) == [["0", 1], ["1", 2], ["2", 3]]
    bars = _bars([1] * 130)
    assert len(bars) <= MAX_BARS
    assert bars[0] == ["0-2", 3]
    assert bars[-1] == ["129", 1]
    assert _bars([]) == []
