"""Random graphs whose lists are all equally long."""

from __future__ import annotations

import numpy as np

from kernels import CSRGraph
from kernels.types import NODE
from pipeline.generate.csr import csr_from_links

MOST_ROUNDS = 1000


def regular_graph(n_nodes: int, degree: int, seed: int = 1) -> CSRGraph:
    """A random graph in which every node has the same number of neighbours.

    Ends of links are paired at random (the configuration model); a link that is a loop or there
    already swaps its far end with another one drawn at random, until there is none.

    Parameters
    ----------
    n_nodes : int
        Greater than ``degree``; one of the two is even.
    degree : int
    seed : int

    Raises
    ------
    ValueError
        If there is no such graph, or none was found: ``degree`` is near ``n_nodes``.
    """
    if not 0 <= degree < n_nodes or n_nodes * degree % 2:
        raise ValueError(f"no graph of {n_nodes} nodes has {degree} neighbours at each")
    rng = np.random.default_rng(seed)
    ends = rng.permutation(np.repeat(np.arange(n_nodes, dtype=NODE), degree))
    near, far = ends[: ends.size // 2].copy(), ends[ends.size // 2 :].copy()
    for _ in range(MOST_ROUNDS):
        faulty = _faulty(n_nodes, near, far)
        if faulty.size == 0:
            return csr_from_links(n_nodes, near, far)
        for i, other in zip(faulty, rng.integers(0, far.size, faulty.size), strict=True):
            far[i], far[other] = far[other], far[i]
    raise ValueError(f"no graph of {n_nodes} nodes with {degree} neighbours was found; give more")


def _faulty(n_nodes: int, near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Links that are loops, and all but one of those that are alike."""
    low, high = np.minimum(near, far).astype(np.int64), np.maximum(near, far)
    _, first = np.unique(low * n_nodes + high, return_index=True)
    is_faulty = near == far
    is_again = np.ones(near.size, np.bool_)
    is_again[first] = False
    return np.flatnonzero(is_faulty | is_again)
