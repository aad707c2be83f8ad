"""Positions of routers, and what follows from them: lengths, delays, bandwidths, degrees.

As in BRITE: each AS has a square plane of its own; a router takes a random free cell of it, a link
is as long as the straight line between its ends (between two ASes as well), its delay is the time
that light needs for that distance, its bandwidth is drawn uniformly from 10 to 1024 Mbit/s (BWDist
2).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.generate.shares import part, tell_share
from pipeline.model.random_words import draw_below, draw_unit, start_stream
from pipeline.model.topology import NO_ASN, Topology

PLANE_SIDE = 1000  # cells; BRITE's HS. Grows so that no more than a quarter of the cells is taken
LIGHT_KM_PER_MS = 299.792458
MIN_BANDWIDTH, MAX_BANDWIDTH = 10.0, 1024.0  # Mbit/s

_PLACES_KEY = np.uint64(1 << 40)  # streams apart from those that draw links, keyed by AS
_BANDWIDTH_KEY = np.uint64(1 << 41)


def plane_side(n_routers: int) -> int:
    """Side of the plane of an AS with ``n_nodes`` routers, in cells."""
    return max(PLANE_SIDE, int(np.ceil(np.sqrt(4.0 * n_routers))))


def with_geometry(
    *,
    node_asn: np.ndarray,
    node_ptr: np.ndarray,
    near: np.ndarray,
    far: np.ndarray,
    first_node_id: int,
    first_edge_id: int,
    seed: int,
    drawn: float,
    places: tuple[np.ndarray, np.ndarray] | None = None,
) -> Topology:
    """A router-level topology with every column that a BRITE file has.

    Parameters
    ----------
    node_asn : (n_nodes,) int64
    node_ptr : (n_ases + 1,) int64
        Nodes of each plane.
    near, far : (n_links,) int64
    first_node_id, first_edge_id : int
        Ids of the first node and edge; the others follow.
    seed : int
    drawn : float
        Share of the work that was done before, 0 to 1.
    places : two (n_nodes,) float64, or None
        x and y of each node; None: random ones.
    """
    with part(drawn, 1.0):
        return _with_geometry(
            node_asn, node_ptr, near, far, (first_node_id, first_edge_id), seed, places
        )


def routers_in_plane(
    near: np.ndarray,
    far: np.ndarray,
    *,
    n_nodes: int,
    seed: int,
    drawn: float,
    asn: int | None = None,
    places: tuple[np.ndarray, np.ndarray] | None = None,
) -> Topology:
    """As ``with_geometry``, for routers of one AS, or of none, with ids from 0 on.

    Parameters
    ----------
    near, far : (n_links,) integers
    asn : int or None
        None: the routers belong to no AS.
    """
    return with_geometry(
        node_asn=np.full(n_nodes, NO_ASN if asn is None else asn, np.int64),
        node_ptr=np.array([0, n_nodes], np.int64),
        near=near.astype(np.int64),
        far=far.astype(np.int64),
        first_node_id=0,
        first_edge_id=0,
        seed=seed,
        drawn=drawn,
        places=places,
    )


def _with_geometry(
    node_asn: np.ndarray,
    node_ptr: np.ndarray,
    near: np.ndarray,
    far: np.ndarray,
    first_ids: tuple[int, int],
    seed: int,
    places: tuple[np.ndarray, np.ndarray] | None,
) -> Topology:
    first_node_id, first_edge_id = first_ids
    n_nodes, n_edges = len(node_asn), len(near)
    if places is None:
        side = plane_side(int(np.diff(node_ptr).max(initial=0)))
        places = np.empty(n_nodes), np.empty(n_nodes)
        _place(node_ptr, np.int64(side), np.uint64(seed), *places)
    tell_share(0.1)
    x, y = places
    # Squares of whole numbers and IEEE square roots: exact alike on every machine.
    length = np.sqrt((x[near] - x[far]) ** 2 + (y[near] - y[far]) ** 2).astype(np.float32)
    tell_share(0.3)
    bandwidth = np.empty(n_edges)
    _draw_bandwidth(np.uint64(seed), bandwidth)
    degree = np.bincount(near, minlength=n_nodes) + np.bincount(far, minlength=n_nodes)
    degree = degree.astype(np.int32)
    tell_share(0.5)
    inter = node_asn[near] != node_asn[far]
    border = np.zeros(n_nodes, bool)
    border[near[inter]] = True
    border[far[inter]] = True
    tell_share(0.6)
    return Topology(
        node_asn=node_asn,
        node_id=np.arange(first_node_id, first_node_id + n_nodes, dtype=np.int64),
        near=near,
        far=far,
        weight=length,
        weight_unit="length",
        node_columns={
            "x": x,
            "y": y,
            "indegree": degree,
            "outdegree": degree.copy(),
            "type": np.where(border, "RT_BORDER", "RT_NODE"),
        },
        link_columns={
            "edge_id": np.arange(first_edge_id, first_edge_id + n_edges, dtype=np.int64),
            "delay": length.astype(np.float64) / LIGHT_KM_PER_MS,
            "bandwidth": bandwidth,
            "asn_from": node_asn[near],
            "asn_to": node_asn[far],
            "type": np.where(inter, "E_AS", "E_RT"),
            "directed": np.zeros(n_edges, bool),
        },
        kind="router",
    )


@njit(cache=True, nogil=True)
def _place(node_ptr, side, seed, x, y):
    state = np.empty(1, np.uint64)
    taken = np.zeros(side * side, np.uint8)
    for plane in range(len(node_ptr) - 1):
        start_stream(state, seed, _PLACES_KEY + np.uint64(plane))
        for node in range(node_ptr[plane], node_ptr[plane + 1]):
            row, column = draw_below(state, side), draw_below(state, side)
            while taken[row * side + column] == 1:
                row, column = draw_below(state, side), draw_below(state, side)
            taken[row * side + column] = 1
            x[node] = row
            y[node] = column
        for node in range(node_ptr[plane], node_ptr[plane + 1]):
            taken[np.int64(x[node]) * side + np.int64(y[node])] = 0


@njit(cache=True, nogil=True)
def _draw_bandwidth(seed, bandwidth):
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _BANDWIDTH_KEY)
    for i in range(len(bandwidth)):
        value = MIN_BANDWIDTH + (MAX_BANDWIDTH - MIN_BANDWIDTH) * draw_unit(state)
        bandwidth[i] = np.floor(value * 100.0) / 100.0  # two digits, as BRITE's C++ engine
