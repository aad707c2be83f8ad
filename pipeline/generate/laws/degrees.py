"""A random graph whose smallest and largest degree are given and attained, connected on demand."""

from __future__ import annotations

import numpy as np

from kernels import CSRGraph
from pipeline.errors import UsageError
from pipeline.generate.csr import csr_from_links
from pipeline.generate.laws.degree_links import connect, link_degrees
from pipeline.generate.laws.degree_sequence import check_bounds, draw_degrees
from pipeline.generate.laws.plane import routers_in_plane
from pipeline.generate.shares import tell_share
from pipeline.model.synthetic import Parameters, check_degrees
from pipeline.model.topology import Topology

_DRAWN = 0.3  # share of the time that drawing the links takes


def make(given: Parameters) -> Topology:
    """The graph, as ``generate`` takes it.

    Raises
    ------
    UsageError
        If no graph has such degrees, or a number is out of range.
    """
    n_nodes = given.n_routers
    near, far = _links(n_nodes, given.min_degree, given.max_degree, given.connected, given.seed)
    return routers_in_plane(near, far, n_nodes=n_nodes, seed=given.seed, drawn=_DRAWN)


def check(given: Parameters) -> None:
    """Raise UsageError for bounds that no graph of so many routers has."""
    check_bounds(given.n_routers, given.min_degree, given.max_degree, given.connected)


def degrees_graph(
    n_nodes: int, least: int, most: int, *, connected: bool = False, seed: int = 1
) -> CSRGraph:
    """The graph only, made directly as CSR arrays, without weights.

    Examples
    --------
    >>> degrees_graph(1000, 3, 3)
    CSRGraph(1000 nodes, 1500 edges, cpu)
    """
    return csr_from_links(n_nodes, *_links(n_nodes, least, most, connected, seed))


def _links(
    n_nodes: int, least: int, most: int, connected: bool, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed {seed}: give a whole number from 0 to {2**64 - 1}")
    check_degrees(n_nodes, most)
    degrees = draw_degrees(n_nodes, least, most, connected, seed)
    near, far = link_degrees(degrees, seed)
    tell_share(0.75 * _DRAWN)
    if connected:
        connect(n_nodes, near, far)
    return near, far
