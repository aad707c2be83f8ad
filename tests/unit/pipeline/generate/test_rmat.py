"""R-MAT graphs: simple, skewed as the probabilities say, for any number of nodes."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import CSRGraph
from pipeline.generate import rmat
from pipeline.model.synthetic import Parameters


def rmat_graph(n_nodes, **given):
    made = rmat.make(Parameters(n_routers=n_nodes, **given))
    return CSRGraph.from_edges(made.near, made.far, n_nodes=n_nodes, symmetrise=True)


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 100, 1000, 4096])
def test_links_are_simple_and_no_more_than_drawn(n_nodes):
    made = rmat.make(Parameters(n_routers=n_nodes, m=3, seed=2))
    links = np.stack([made.near, made.far])
    assert len(made.node_asn) == n_nodes
    assert ((links >= 0) & (links < n_nodes)).all()
    assert (made.near < made.far).all()
    assert len(np.unique(links, axis=1).T) == len(made.near) <= 3 * n_nodes
    assert len(made.near) > n_nodes or n_nodes < 100


def test_few_nodes_have_many_links():
    degrees = np.sort(np.diff(rmat_graph(4096, m=16).indptr))
    assert degrees[-41:].sum() > 0.1 * degrees.sum()  # one in a hundred
    assert (degrees == 0).mean() > 0.05


def test_quarters_are_drawn_in_their_shares():
    """Of 4 nodes: the share of links drawn that are loops is that of the diagonal."""
    keys = np.empty(40_000, np.int64)
    rmat._draw_links(0, len(keys), np.arange(4, dtype=np.int32), np.uint64(7), keys)
    diagonal = (0.57 + 0.05) ** 2
    assert abs((keys == -1).mean() - diagonal) < 0.01
