"""Positions of routers, and what follows from them: lengths, delays, bandwidths, degrees.

As in BRITE: each AS has a square plane of its own; a router takes a random free cell of it, a link
is as long as the straight line between its ends (between two ASes as well), its delay is the time
that light needs for that distance, its bandwidth is drawn by a law: uniformly from 10 to 1024
Mbit/s if none is given (BWDist 2). With heavy-tailed placement, the plane is cut into squares; each
in turn takes a number of routers that is drawn by a Pareto law of exponent 1, up to three quarters
of its cells, until all have a place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numba import njit

from kernels.cache import prefetch
from pipeline.errors import UsageError
from pipeline.generate.shares import part
from pipeline.generate.threads import call_each
from pipeline.model.random_words import (
    draw_below,
    draw_unit,
    start_stream,
    stream_start,
    unit,
    word_at,
)
from pipeline.model.synthetic import (
    BANDWIDTH,
    BANDWIDTHS,
    FIRST_ASN,
    PARETO_SHAPE,
    Parameters,
    bandwidth_law_of,
)
from pipeline.model.topology import NO_ASN, Topology
from pipeline.model.words import number

PLANE_SIDE = 1000  # cells; BRITE's HS. Grows so that no more than a quarter of the cells is taken
LIGHT_KM_PER_MS = 299.792458

_Y = (1 << 32) - 1  # the half of a cell that holds y
_AHEAD = 16  # links whose routers are fetched into the cache
_LINKS_AT_ONCE = 1 << 17  # that a thread measures at a time
_FULL = 0.75  # share of the cells of a plane, or of a square, that may be taken
_MOST_IN_A_SQUARE = 1e6  # times the cells of a square: where BRITE cuts the Pareto law
_PLACES_KEY = np.uint64(1 << 40)  # streams apart from those that draw links, keyed by AS
_BANDWIDTH_KEY = np.uint64(1 << 41)


def plane_side(n_routers: int) -> int:
    """Side of the plane of an AS with ``n_nodes`` routers, in cells."""
    return max(PLANE_SIDE, int(np.ceil(np.sqrt(4.0 * n_routers))))


def check_plane(given: Parameters, n_routers: int) -> None:
    """Raise UsageError for a plane or squares that do not hold so many routers."""
    side = given.plane_side or plane_side(n_routers)
    square = given.square_side or max(side // 10, 1)
    if side < 1 or square < 1:  # compiled code would write elsewhere
        raise UsageError(f"a plane of side {side} in squares of side {square}: give 1 or more")
    if n_routers > _FULL * side * side:
        raise UsageError(
            f"--plane-side {side}: {number(n_routers, 'router')} would take more than three "
            f"quarters of its cells; give {plane_side(n_routers)} or more"
        )
    if given.placement == "heavy-tailed":
        in_squares = (side // square) ** 2 * max(int(_FULL * square * square), 1)
        if square > side or n_routers > in_squares:
            raise UsageError(
                f"--square-side {square}: the squares of a plane of {side} x {side} cells do not "
                f"hold {number(n_routers, 'router')}; give a divisor of {side}"
            )


def place(node_ptr: np.ndarray, given: Parameters) -> tuple[np.ndarray, np.ndarray]:
    """Places of the routers of graphs side by side, each graph on a plane of its own.

    Parameters
    ----------
    node_ptr : (n_graphs + 1,) int64
        Nodes of graph i are node_ptr[i] .. node_ptr[i + 1] - 1.
    given : Parameters
        Its placement, plane_side, square_side and seed.

    Returns
    -------
    x, y : (n_nodes,) float64
        Whole numbers of cells; no two routers of a graph share one.

    Raises
    ------
    UsageError
        If the plane is too small.
    """
    largest = int(np.diff(node_ptr).max(initial=0))
    check_plane(given, largest)
    side = given.plane_side or plane_side(largest)
    x, y = np.empty(int(node_ptr[-1])), np.empty(int(node_ptr[-1]))
    if given.placement == "random":
        _place(node_ptr, np.int64(side), np.uint64(given.seed), x, y)
    else:
        square = given.square_side or max(side // 10, 1)
        _place_in_squares(node_ptr, np.int64(side), np.int64(square), np.uint64(given.seed), x, y)
    return x, y


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
    bandwidth: str = BANDWIDTH,
    bandwidth_between: str | None = None,
) -> Topology:
    """A router-level topology with every column that a BRITE file has.

    Parameters
    ----------
    node_asn : (n_nodes,) int64
    node_ptr : (n_ases + 1,) int64
        Nodes of each plane.
    near, far : (n_links,) int64 or int32
    first_node_id, first_edge_id : int
        Ids of the first node and edge; the others follow.
    seed : int
    drawn : float
        Share of the work that was done before, 0 to 1.
    places : two (n_nodes,) float64, or None
        x and y of each node; None: random ones.
    bandwidth : str
        Law of the bandwidths, as ``bandwidth_law_of`` reads it.
    bandwidth_between : str or None
        That of links between ASes; None: the same.
    """
    with part(drawn, 1.0):
        if places is None:
            places = place(node_ptr, Parameters(int(node_ptr[-1]), seed=seed))
        first_ids = (first_node_id, first_edge_id)
        laws = (bandwidth, bandwidth_between or bandwidth)
        return _with_geometry(node_asn, near, far, first_ids, seed, places, laws)


def routers_in_plane(
    near: np.ndarray,
    far: np.ndarray,
    *,
    n_nodes: int,
    seed: int,
    drawn: float,
    asn: int | None = None,
    places: tuple[np.ndarray, np.ndarray] | None = None,
    bandwidth: str = BANDWIDTH,
) -> Topology:
    """As ``with_geometry``, for routers of one AS, or of none, with ids from 0 on.

    Parameters
    ----------
    near, far : (n_links,) int64 or int32
    asn : int or None
        None: the routers belong to no AS.
    """
    return with_geometry(
        node_asn=np.broadcast_to(np.int64(NO_ASN if asn is None else asn), n_nodes),
        node_ptr=np.array([0, n_nodes], np.int64),
        near=near,
        far=far,
        first_node_id=0,
        first_edge_id=0,
        seed=seed,
        drawn=drawn,
        places=places,
        bandwidth=bandwidth,
    )


def _with_geometry(
    node_asn: np.ndarray,
    near: np.ndarray,
    far: np.ndarray,
    first_ids: tuple[int, int],
    seed: int,
    places: tuple[np.ndarray, np.ndarray],
    laws: tuple[str, str],
) -> Topology:
    first_node_id, first_edge_id = first_ids
    n_nodes, n_edges = len(node_asn), len(near)
    x, y = places
    degree = np.zeros(n_nodes, np.int32)
    length, delay, mbit_per_s = np.empty(n_edges, np.float32), np.empty(n_edges), np.empty(n_edges)
    cell = x.astype(np.int64) << 32 | y.astype(np.int64)
    has_ases = bool((node_asn[1:] != node_asn[:-1]).any())
    inter = node_asn[near] != node_asn[far] if has_ases else None
    start = np.uint64(stream_start(np.uint64(seed), _BANDWIDTH_KEY))

    def fill(begin: int, end: int) -> None:
        some = slice(begin, end)
        _measure(cell, near[some], far[some], length[some], delay[some])
        share = np.empty(end - begin)
        _draw_shares(start, begin, share)
        drawn = _bandwidths(share, laws[0])
        if inter is not None and laws[1] != laws[0]:
            drawn = np.where(inter[some], _bandwidths(share, laws[1]), drawn)
        mbit_per_s[some] = drawn

    cuts = [*range(0, n_edges, _LINKS_AT_ONCE), n_edges]
    parts: list[tuple] = [(_count_degrees, near, far, degree)]
    call_each(lambda call, *given: call(*given), parts + [(fill, *c) for c in pairwise(cuts)])
    asn = node_asn[0] if n_nodes else NO_ASN
    node_type, link_type = np.broadcast_to("RT_NODE", n_nodes), np.broadcast_to("E_RT", n_edges)
    asn_from = asn_to = np.broadcast_to(np.int64(asn), n_edges)
    if inter is not None:
        border = np.zeros(n_nodes, bool)
        border[near[inter]] = True
        border[far[inter]] = True
        node_type = np.where(border, "RT_BORDER", "RT_NODE")
        link_type = np.where(inter, "E_AS", "E_RT")
        asn_from, asn_to = node_asn[near], node_asn[far]
    return Topology(
        node_asn=node_asn,
        node_id=np.arange(first_node_id, first_node_id + n_nodes, dtype=np.int64),
        near=near,
        far=far,
        weight=length,
        weight_unit="length",
        node_columns={"x": x, "y": y, "indegree": degree, "outdegree": degree, "type": node_type},
        link_columns={
            "edge_id": np.arange(first_edge_id, first_edge_id + n_edges, dtype=np.int64),
            "delay": delay,
            "bandwidth": mbit_per_s,
            "asn_from": asn_from,
            "asn_to": asn_to,
            "type": link_type,
            "directed": np.broadcast_to(False, n_edges),
        },
        kind="router",
    )


@njit(cache=True, nogil=True)
def _count_degrees(near, far, degree):
    for i in range(len(near)):
        later = min(i + _AHEAD, len(near) - 1)
        prefetch(1, degree, np.uintp(near[later]) >> np.uintp(1))
        prefetch(1, degree, np.uintp(far[later]) >> np.uintp(1))
        degree[near[i]] += 1
        degree[far[i]] += 1


@njit(cache=True, nogil=True)
def _measure(cell, near, far, length, delay):
    """Length of links and the time that light takes for it; ``cell``: x in the upper half, and y.

    Squares of whole numbers and IEEE square roots: exactly alike on every machine.
    """
    for i in range(len(near)):
        later = min(i + _AHEAD, len(near) - 1)
        prefetch(1, cell, np.uintp(near[later]))
        prefetch(1, cell, np.uintp(far[later]))
        a, b = cell[near[i]], cell[far[i]]
        dx = np.float64((a >> 32) - (b >> 32))
        dy = np.float64((a & _Y) - (b & _Y))
        length[i] = math.sqrt(dx * dx + dy * dy)
        delay[i] = np.float64(length[i]) / LIGHT_KM_PER_MS


def as_ases(topology: Topology) -> Topology:
    """The same graph, each node an AS of its own, numbered from 1: BRITE's AS-level models."""
    asn = np.arange(FIRST_ASN, FIRST_ASN + topology.n_nodes, dtype=np.int64)
    n_nodes, n_links = topology.n_nodes, topology.n_links
    return replace(
        topology,
        kind="as",
        node_asn=asn,
        node_id=asn.copy(),
        node_columns={**topology.node_columns, "type": np.full(n_nodes, "AS_NODE")},
        link_columns={
            **topology.link_columns,
            "asn_from": asn[topology.near],
            "asn_to": asn[topology.far],
            "type": np.full(n_links, "E_AS"),
        },
    )


@njit(cache=True, nogil=True)
def _is_taken(taken, cell):
    return (taken[cell >> 3] >> np.uint8(cell & 7)) & np.uint8(1) != 0


@njit(cache=True, nogil=True)
def _take(taken, cell):
    taken[cell >> 3] |= np.uint8(1) << np.uint8(cell & 7)


@njit(cache=True, nogil=True)
def _place(node_ptr, side, seed, x, y):
    state = np.empty(1, np.uint64)
    taken = np.zeros((side * side >> 3) + 1, np.uint8)
    for plane in range(len(node_ptr) - 1):
        start_stream(state, seed, _PLACES_KEY + np.uint64(plane))
        for node in range(node_ptr[plane], node_ptr[plane + 1]):
            row, column = draw_below(state, side), draw_below(state, side)
            while _is_taken(taken, row * side + column):
                row, column = draw_below(state, side), draw_below(state, side)
            _take(taken, row * side + column)
            x[node] = row
            y[node] = column
        for node in range(node_ptr[plane], node_ptr[plane + 1]):
            taken[np.int64(x[node]) * side + np.int64(y[node]) >> 3] = 0


@njit(cache=True, nogil=True)
def _place_in_squares(node_ptr, side, square, seed, x, y):
    state = np.empty(1, np.uint64)
    taken = np.zeros((side * side >> 3) + 1, np.uint8)
    per_side = side // square
    in_square = np.zeros(per_side * per_side, np.int64)
    most = max(np.int64(_FULL * square * square), 1)
    share = 1.0 / (_MOST_IN_A_SQUARE * square * square)
    for plane in range(len(node_ptr) - 1):
        start_stream(state, seed, _PLACES_KEY + np.uint64(plane))
        in_square[:] = 0
        node, stop = node_ptr[plane], node_ptr[plane + 1]
        which = 0
        while node < stop:
            u = draw_unit(state)
            wanted = np.int64(min(1.0 / (1.0 - u + u * share), _FULL * square * square + 1.0))
            wanted = min(wanted, most - in_square[which], stop - node)
            in_square[which] += wanted
            for _ in range(wanted):
                row = which % per_side * square + draw_below(state, square)
                column = which // per_side * square + draw_below(state, square)
                while _is_taken(taken, row * side + column):
                    row = which % per_side * square + draw_below(state, square)
                    column = which // per_side * square + draw_below(state, square)
                _take(taken, row * side + column)
                x[node] = row
                y[node] = column
                node += 1
            which = (which + 1) % (per_side * per_side)
        for node in range(node_ptr[plane], node_ptr[plane + 1]):
            taken[np.int64(x[node]) * side + np.int64(y[node]) >> 3] = 0


def _bandwidths(share: np.ndarray, law: str) -> np.ndarray:
    """(n,) float64 in Mbit/s of shares from 0 to 1, with two digits, as BRITE's C++ engine.

    Laws with a tail may differ in their last digit between machines: they take logarithms and
    powers.
    """
    name, numbers = bandwidth_law_of(law)
    return np.floor(_BANDWIDTHS[name](share, *numbers) * 100.0) / 100.0


def _uniform(share: np.ndarray, low: float, high: float) -> np.ndarray:
    return low + (high - low) * share


def _heavy_tailed(share: np.ndarray, low: float, high: float) -> np.ndarray:
    """Pareto's law between two bounds."""
    return low / (1.0 - share + share * (low / high) ** PARETO_SHAPE) ** (1 / PARETO_SHAPE)


def _exponential(share: np.ndarray, mean: float) -> np.ndarray:
    return -mean * np.log1p(-share)


_BANDWIDTHS: dict[str, Callable[..., np.ndarray]] = dict(
    zip(
        BANDWIDTHS,
        (lambda share, value: np.full_like(share, value), _uniform, _heavy_tailed, _exponential),
        strict=True,
    )
)


@njit(cache=True, nogil=True)
def _draw_shares(start, first, share):
    """Numbers from 0 to 1 of the links from ``first`` on."""
    for i in range(len(share)):
        share[i] = unit(word_at(start, first + i))
