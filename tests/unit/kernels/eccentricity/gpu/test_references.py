"""ReferenceNodes on a GPU: against SciPy, and against the same rule on a core."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from benchmarks.diameter.graphs import top_down
from benchmarks.lib.graph_files import largest_component
from kernels import CSRGraph, Shard, center, eccentricities
from kernels.eccentricity.reductions import references
from kernels.eccentricity.thresholds import GPU
from kernels.types import NODE
from pipeline.generate.barabasi_albert import barabasi_albert_graph
from pipeline.generate.grid import grid_graph
from tests.shapes import graph_of

pytestmark = pytest.mark.gpu


def in_one_piece(graph: nx.Graph) -> CSRGraph:
    part = graph.subgraph(max(nx.connected_components(graph), key=len))
    part = nx.convert_node_labels_to_integers(part)
    return graph_of(len(part), list(part.edges()))


GRAPHS = {
    "attachment": barabasi_albert_graph(3000, m=2, seed=5, shuffled=True),
    "dense attachment": barabasi_albert_graph(2000, m=5, seed=6, shuffled=True),
    "random": in_one_piece(nx.gnm_random_graph(3000, 5000, seed=1)),
    "tree": barabasi_albert_graph(1500, m=1, seed=3, shuffled=True),
    "small world": in_one_piece(nx.watts_strogatz_graph(2000, 4, 0.2, seed=2)),
    "hierarchy": top_down(3000, 20),
    "grid": largest_component(grid_graph(25, 30)),
    "long grid": largest_component(grid_graph(20, 60)),
}


def hops_of(graph: CSRGraph) -> np.ndarray:
    n_nodes, links = graph.n_nodes, np.ones(graph.n_arcs)
    matrix = csr_array((links, graph.indices, graph.indptr), shape=(n_nodes, n_nodes))
    return shortest_path(matrix, unweighted=True).astype(int)


@pytest.fixture
def chosen(monkeypatch) -> list[int]:
    """Let them begin at once; numbers of blocking nodes that were found."""
    from kernels.eccentricity.gpu import solver as gpu_solver
    from kernels.eccentricity.gpu.references import DeviceReferences

    counts: list[int] = []
    choose = DeviceReferences.choose

    def counted(self, *args):
        sources = choose(self, *args)
        counts.append(sources.size)
        return sources

    monkeypatch.setattr(gpu_solver, "MANY_OPEN", 0)
    monkeypatch.setattr(gpu_solver, "FIRST_SEARCHES", 1)
    sweeps_soon = replace(GPU, patience=1, sweep_searches=0)  # single searches save nothing
    monkeypatch.setattr(gpu_solver, "GPU", sweeps_soon)
    monkeypatch.setattr(gpu_solver, "MOST_WORDS", 1)
    monkeypatch.setattr(gpu_solver, "REFERENCE_BATCH", 1)
    monkeypatch.setattr(DeviceReferences, "choose", counted)
    return counts


@pytest.mark.parametrize("name", GRAPHS)
def test_all_eccentricities_and_the_center_agree_with_scipy(name, chosen):
    graph = GRAPHS[name]
    expected = hops_of(graph).max(axis=1)
    here = graph.to("gpu")
    np.testing.assert_array_equal(eccentricities(here), expected)
    assert bool(chosen) == (expected.max() < 64)
    found = center(here)
    np.testing.assert_array_equal(found.nodes, np.flatnonzero(expected == expected.min()))


@pytest.mark.parametrize("batch", [2, 3])
def test_many_sweeps_at_once_search_no_node_twice(batch, chosen, monkeypatch):
    import cupy as cp

    from kernels.eccentricity.gpu import solver as gpu_solver

    monkeypatch.setattr(gpu_solver, "REFERENCE_BATCH", batch)
    graph = GRAPHS["attachment"].to("gpu")
    node_ptr = cp.array([0, graph.n_nodes], np.int64)
    shard = Shard(graph.indptr, graph.indices, node_ptr, trusted=True)
    solver = gpu_solver.DeviceSolver.of(shard)
    solver.answer("eccentricities")
    sources = np.concatenate([some.get() for some in solver.sources])
    assert chosen
    nodes, count = np.unique(sources, return_counts=True)
    again = nodes[count > 1]  # references, whose levels are needed
    assert len(again) <= references.N_REFERENCES
    assert len(sources) == solver.n_searches == len(nodes) + len(again)


@pytest.fixture
def batches(chosen, monkeypatch) -> list[list[int]]:
    """Sizes of the sweeps of each batch; and none of them has a node that it need not have."""
    from kernels.eccentricity.gpu.references import DeviceReferences
    from kernels.eccentricity.gpu.solver import DeviceSolver

    reported: list[list[int]] = []
    needed: list[np.ndarray] = []
    sweep, sweep_each, choose = (
        DeviceSolver._sweep,
        DeviceSolver._sweep_each,
        DeviceReferences.choose,
    )

    def batch(self, *args):
        reported.append([])
        sweep(self, *args)

    def one(self, sources, levels):
        nodes = sources.get()
        reported[-1].append(len(nodes))
        is_known = (self.bounds.lower == self.bounds.upper).get()[nodes]
        assert np.isin(nodes[is_known], needed[-1] if needed else []).all()
        sweep_each(self, sources, levels)

    def choosing(self, *args):
        sources = choose(self, *args)
        needed.append(sources.get())
        return sources

    monkeypatch.setattr(DeviceSolver, "_sweep", batch)
    monkeypatch.setattr(DeviceSolver, "_sweep_each", one)
    monkeypatch.setattr(DeviceReferences, "choose", choosing)
    return reported


@pytest.mark.parametrize("name", ["attachment", "random", "hierarchy", "small world"])
def test_batches_make_no_more_sweeps_than_they_fill_and_leave_out_what_is_known(
    name, batches, monkeypatch
):
    from kernels.eccentricity.gpu import solver as gpu_solver

    monkeypatch.setattr(gpu_solver, "REFERENCE_BATCH", 4)
    graph = GRAPHS[name]
    expected = hops_of(graph).max(axis=1)
    np.testing.assert_array_equal(eccentricities(graph.to("gpu")), expected)
    assert max(len(sizes) for sizes in batches) > 1
    for sizes in batches:  # of 64 lanes
        assert len(sizes) < 2 or sizes[0] > 32


def test_nodes_in_the_way_are_found(chosen):
    for name in ("attachment", "random"):
        eccentricities(GRAPHS[name].to("gpu"))
    assert max(chosen) > 0


@pytest.mark.parametrize("n_searched", [0, 1, 40, 700])
@pytest.mark.parametrize("name", ["attachment", "hierarchy", "tree"])
def test_closed_and_chosen_nodes_are_those_a_core_finds(name, n_searched):
    import cupy as cp

    from kernels.eccentricity.gpu.bounds import DeviceBounds
    from kernels.eccentricity.gpu.constants import SEARCHED
    from kernels.eccentricity.gpu.references import DeviceReferences

    graph = GRAPHS[name]
    hops = hops_of(graph)
    truth, hubs = hops.max(axis=1), np.argsort(-np.diff(graph.indptr))[:16]
    searched = np.random.default_rng(1).permutation(graph.n_nodes)[:n_searched]
    searched = np.union1d(searched, hubs).astype(NODE)
    d, e = hops[searched], truth[searched][:, None]
    lower = np.maximum(d, e - d).max(axis=0).astype(np.int32)
    upper = (d + e).min(axis=0).astype(np.int32)
    shard = Shard(graph.indptr, graph.indices, np.array([0, graph.n_nodes])).to("gpu")
    bounds = DeviceBounds(shard)
    bounds.lower, bounds.upper = cp.asarray(lower), cp.asarray(upper)
    bounds.state[cp.asarray(searched)] = SEARCHED
    bounds.find_extremes()
    levels = hops[hubs].astype(np.uint8)
    there = DeviceReferences(bounds, cp.asarray(levels))
    here = references.ReferenceNodes(levels)
    here.note(searched)
    there.close("eccentricities")
    closed = here.close(lower, upper, np.flatnonzero(lower < upper).astype(NODE))
    np.testing.assert_array_equal(bounds.upper.get(), closed)
    assert (closed >= truth).all()
    open_nodes = np.flatnonzero(lower < closed).astype(NODE)
    for n_most in (10, 10**6):
        sources = there.choose("eccentricities", n_most).get()
        expected = here.choose(lower, closed, open_nodes, n_most)
        assert len(np.unique(sources)) == len(sources) == len(expected)
        if n_most > graph.n_nodes:
            np.testing.assert_array_equal(sources, expected)
