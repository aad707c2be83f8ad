"""Hypothesis strategies: graphs with isolated nodes, several components, and one node or none."""

from __future__ import annotations

from hypothesis import strategies as st

from kernels import CSRGraph, Shard
from tests.shapes import graph_of, weighted


@st.composite
def graphs(draw, min_nodes: int = 1, max_nodes: int = 40) -> CSRGraph:
    """Any symmetric graph; sparse ones are as likely as dense ones."""
    n_nodes = draw(st.integers(min_nodes, max_nodes))
    if n_nodes < 2:
        return graph_of(n_nodes, [])
    node = st.integers(0, n_nodes - 1)
    return graph_of(n_nodes, draw(st.lists(st.tuples(node, node), max_size=3 * n_nodes)))


WEIGHTS = {
    "whole": st.integers(0, 5),
    "any": st.floats(0, 100, width=32),
    "of all sizes": st.sampled_from([0.0, 1e-30, 1e-9, 0.1, 1.0, 3.3, 1e9, 1e30, 3e38]),
}


@st.composite
def weighted_graphs(draw, **sizes) -> CSRGraph:
    """Any graph with weights: a few distinct ones, zeros among them, or of very different sizes."""
    graph = draw(graphs(**sizes))
    weight = WEIGHTS[draw(st.sampled_from(sorted(WEIGHTS)))]
    return weighted(graph, draw(st.lists(weight, min_size=graph.n_edges, max_size=graph.n_edges)))


@st.composite
def searched_graphs(draw, max_sources: int = 6, **sizes) -> tuple[CSRGraph, list[int]]:
    """A graph and some of its nodes, repeats allowed."""
    graph = draw(graphs(**sizes))
    node = st.integers(0, graph.n_nodes - 1)
    return graph, draw(st.lists(node, max_size=max_sources)) if graph.n_nodes else []


@st.composite
def searched_shards(draw) -> tuple[Shard, list[list[int]]]:
    """A shard of up to 8 graphs, graphs without nodes among them, and sources of each."""
    parts = draw(st.lists(searched_graphs(min_nodes=0, max_nodes=12), max_size=8))
    return Shard.from_graphs([graph for graph, _ in parts]), [sources for _, sources in parts]
