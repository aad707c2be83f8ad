"""A grid of routers with some of its links cut: a graph with a very large diameter.

Router (row, column) has the id row * n_columns + column and is linked to the next one in its row
and in its column. Exactly the requested share of links is cut, every set of this size equally
likely. All routers stay, so the graph may fall apart: with a tenth of the links cut, one router in
ten thousand is isolated and nearly all others are connected; with half of them or more, it falls
into small pieces (the threshold of bond percolation on this lattice: Kesten, 1980).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from kernels import CSRGraph
from pipeline.errors import UsageError
from pipeline.generate.csr import csr_from_links
from pipeline.generate.laws.plane import routers_in_plane
from pipeline.model.random_words import draw_below, start_stream
from pipeline.model.synthetic import MAX_LINKS, Parameters
from pipeline.model.topology import Topology
from pipeline.model.words import number

_DRAWN = 0.1  # share of the time that drawing the links takes
_CUT_KEY = np.uint64(1 << 45)  # a stream apart from those of places and bandwidths


def make(given: Parameters) -> Topology:
    """A grid, as ``generate`` takes it: as square as possible if the rows are not given.

    Raises
    ------
    UsageError
        If the routers do not fill the rows, or a number is out of range.
    """
    check(given)
    n_routers, n_rows = given.n_routers, given.n_rows
    if n_rows is None:
        side = math.isqrt(max(n_routers, 1))
        n_rows = next(n for n in range(side, 0, -1) if n_routers % n == 0)
    return generate_grid(n_rows, n_routers // n_rows, cut=given.cut, seed=given.seed)


def check(given: Parameters) -> None:
    """Raise UsageError if the routers do not fill the rows."""
    n_routers, n_rows = given.n_routers, given.n_rows
    if n_rows is not None and (n_rows < 1 or n_routers % n_rows):
        fill = "does not fill" if n_routers == 1 else "do not fill"
        raise UsageError(f"{number(n_routers, 'router')} {fill} {number(n_rows, 'row')} of a grid")


def generate_grid(
    n_rows: int, n_columns: int, *, cut: float = 0.1, seed: int = 1, asn: int | None = None
) -> Topology:
    """A grid as a router-level topology; routers lie where rows and columns cross.

    Parameters
    ----------
    n_rows, n_columns : int
    cut : float
        Share of links that are left out, 0 to 1.
    seed : int
        0 to 2**64 - 1.
    asn : int or None
        AS of all routers; None: of no AS.

    Returns
    -------
    Topology
        Node ids 0 .. n_rows * n_columns - 1; links are 1 long.

    Raises
    ------
    UsageError
        If a number is out of range.
    """
    near, far = _links(n_rows, n_columns, cut, seed)
    n_nodes = n_rows * n_columns
    node = np.arange(n_nodes)
    places = (node % n_columns).astype(np.float64), (node // n_columns).astype(np.float64)
    return routers_in_plane(
        near, far, n_nodes=n_nodes, seed=seed, drawn=_DRAWN, asn=asn, places=places
    )


def grid_graph(
    n_rows: int,
    n_columns: int,
    *,
    cut: float = 0.1,
    seed: int = 1,
    n_threads: int | None = None,
) -> CSRGraph:
    """The graph of ``generate_grid`` only, made directly as CSR arrays.

    Examples
    --------
    >>> grid_graph(3, 4, cut=0.0)
    CSRGraph(12 nodes, 17 edges, cpu)
    """
    near, far = _links(n_rows, n_columns, cut, seed)
    return csr_from_links(n_rows * n_columns, near, far, n_threads=n_threads)


def _links(n_rows: int, n_columns: int, cut: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Remaining links, (n_links,) int32 each: near < far, in ascending order."""
    if n_rows < 1 or n_columns < 1:
        raise UsageError(f"a grid of {n_rows} x {n_columns} routers: give 1 or more of each")
    if not 0 <= cut <= 1:
        raise UsageError(f"a share of {cut} of the links to cut: give 0 to 1")
    if not 0 <= seed < 2**64:
        raise UsageError(f"seed {seed}: give a whole number from 0 to {2**64 - 1}")
    n_links = n_rows * (n_columns - 1) + (n_rows - 1) * n_columns
    if max(n_links, n_rows * n_columns) > MAX_LINKS:
        raise UsageError(
            f"a grid of {n_rows} x {n_columns} routers has {n_links} links, more than {MAX_LINKS}"
        )
    n_cut = round(cut * n_links)
    near, far = np.empty(n_links - n_cut, np.int32), np.empty(n_links - n_cut, np.int32)
    _keep(np.int64(n_rows), np.int64(n_columns), np.int64(n_cut), np.uint64(seed), near, far)
    return near, far


@njit(cache=True, nogil=True)
def _keep(n_rows, n_columns, n_cut, seed, near, far):
    """Write the links that are not cut: Knuth's selection sampling (TAOCP 2, 3.4.2, S)."""
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _CUT_KEY)
    left = len(near) + n_cut
    n_kept = 0
    for node in range(n_rows * n_columns):
        for is_down in range(2):
            if is_down == 1:
                there, other = node < (n_rows - 1) * n_columns, node + n_columns
            else:
                there, other = (node + 1) % n_columns != 0, node + 1
            if not there:
                continue
            if draw_below(state, left) >= n_cut:
                near[n_kept], far[n_kept] = node, other
                n_kept += 1
            else:
                n_cut -= 1
            left -= 1
