"""The grid: exactly the requested share of links is cut, each link equally likely."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.breadth_first import bfs
from kernels.connected import components
from pipeline.generate import Parameters, generate
from pipeline.generate.grid import generate_grid, grid_graph
from tests.soak import examples


@settings(max_examples=examples(60), deadline=None)
@given(
    n_rows=st.integers(1, 30),
    n_columns=st.integers(1, 30),
    cut=st.floats(0, 1),
    seed=st.integers(0, 2**64 - 1),
)
def test_a_grid_has_links_of_its_rows_and_columns_only_and_as_many_as_said(
    n_rows, n_columns, cut, seed
):
    graph = grid_graph(n_rows, n_columns, cut=cut, seed=seed)
    graph.validate()
    n_all = n_rows * (n_columns - 1) + (n_rows - 1) * n_columns
    assert graph.n_nodes == n_rows * n_columns
    assert graph.n_edges == n_all - round(cut * n_all)
    tail = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    apart = np.abs(tail // n_columns - graph.indices // n_columns) + np.abs(
        tail % n_columns - graph.indices % n_columns
    )
    assert (apart == 1).all()


def test_every_link_is_as_likely_to_be_cut():
    kept = np.zeros((9, 9), int)
    for seed in range(2000):
        graph = grid_graph(3, 3, cut=0.25, seed=seed)  # 3 of 12 links
        kept[np.repeat(np.arange(9), np.diff(graph.indptr)), graph.indices] += 1
    share = kept[kept > 0] / 2000
    assert len(share) == 24
    assert share == pytest.approx(np.full(24, 0.75), abs=0.05)  # five standard deviations


def test_a_grid_is_the_same_on_any_number_of_threads_and_as_a_topology():
    graphs = [grid_graph(300, 400, seed=4, n_threads=k) for k in (1, 2, 3)]
    assert len({graph.graph_hash() for graph in graphs}) == 1
    topology = generate_grid(300, 400, seed=4)
    assert topology.n_links == graphs[0].n_edges
    tail = np.repeat(np.arange(120_000), np.diff(graphs[0].indptr))
    once = tail < graphs[0].indices
    assert np.array_equal(topology.near, tail[once])
    assert np.array_equal(np.sort(topology.far), np.sort(graphs[0].indices[once]))
    assert (topology.weight == 1).all()


def test_an_uncut_grid_is_as_long_as_its_sides_and_a_cut_one_longer_and_nearly_whole():
    whole = grid_graph(200, 200, cut=0)
    assert bfs(whole, 0).eccentricity == 398
    cut = grid_graph(200, 200, cut=0.1, seed=1)
    found = components(cut)
    assert found.sizes.max() >= 0.999 * cut.n_nodes
    assert len(found.sizes) > 1  # all routers stay, cut off or not
    source = int(found.ids[found.sizes.argmax()])
    assert 398 <= bfs(cut, source).eccentricity < 500


def test_rows_are_as_given_or_nearly_as_many_as_columns():
    def shape(**given):
        topology = generate("grid", Parameters(cut=0, **given))
        x, y = topology.node_columns["x"], topology.node_columns["y"]
        return int(y.max()) + 1, int(x.max()) + 1

    assert shape(n_routers=100) == (10, 10)
    assert shape(n_routers=60) == (6, 10)
    assert shape(n_routers=7) == (1, 7)
    assert shape(n_routers=60, n_rows=3) == (3, 20)
