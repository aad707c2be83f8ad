"""Pairs of nodes by hops, and the effective diameter, by definition; from SciPy's distances."""

from __future__ import annotations

import numpy as np

from tests.oracles.paths import bfs_levels


def pairs_by_hops(graph) -> np.ndarray:
    """[h]: ordered pairs at h hops, a node with itself among them; none of an empty graph."""
    level = bfs_levels(graph, range(graph.n_nodes))
    return np.bincount(level[level >= 0])


def effective_diameter(graph, percentile: float = 0.9) -> float:
    """The least number at which the interpolated share of joined pairs is ``percentile``."""
    pairs = pairs_by_hops(graph)[1:]
    if not pairs.sum():
        return np.nan
    share = np.concatenate([[0.0], np.cumsum(pairs) / pairs.sum()])
    hops = int(np.argmax(share >= percentile * (1 - 1e-15)))
    return hops - 1 + (percentile - share[hops - 1]) / (share[hops] - share[hops - 1])
