"""BRITE's top-down hierarchy: a graph of ASes, and inside each AS a graph of routers.

Medina, Lakhina, Matta, Byers: BRITE: an approach to universal topology generation, MASCOTS 2001.
Both levels are graphs of any model of one level, Barabasi-Albert if none is given. A link between
two ASes ends at a router of each of them (BRITE's edge connection):

- ``random``: any, uniformly;
- ``smallest``: that of the smallest degree, links made so far included;
- ``smallest-non-leaf``, if none is given: that of the smallest degree of at least 2;
- ``smallest-k``: that of the smallest degree of at least ``k``.

It is the one of the smallest id if there are several, and the first of all if none has the degree.
So an AS with many neighbours has many border routers.

Departure: ASes are numbered from 1, since AS 0 is reserved (RFC 7607); BRITE begins at 0. As in
BRITE's Java engine, node and edge ids continue those of the AS-level graph.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from pipeline.errors import UsageError
from pipeline.generate import check as check_flat
from pipeline.generate import flat_links
from pipeline.generate.barabasi_albert import check_numbers
from pipeline.generate.laws.plane import place, with_geometry
from pipeline.generate.shares import part
from pipeline.model.random_words import draw_below, start_stream
from pipeline.model.synthetic import FIRST_ASN, Parameters, check_links, check_others
from pipeline.model.topology import Topology
from pipeline.model.words import number

_DRAWN = 0.3  # share of the time that drawing the links takes
_AS_LEVEL_SEED = 0xA5_1EE7_C0DE  # mixed into the seed, so that no AS repeats the AS-level graph
_BORDER_KEY = np.uint64(1 << 54)  # a stream apart from those of links and places


def make(given: Parameters) -> Topology:
    """ASes of equal size, as ``generate`` takes them.

    Returns
    -------
    Topology
        Links inside ASes come first, those between ASes last. Columns as the BRITE reader gives
        them. With Barabasi-Albert graphs each AS is connected inside, and so are the ASes.

    Raises
    ------
    UsageError
        If a number is out of range.
    """
    check(given)
    return _make(given)


def _make(given: Parameters) -> Topology:
    as_level = _as_level(given)
    n_ases, n_routers, seed = given.n_ases, given.n_routers, given.seed
    sizes = np.full(n_ases, n_routers // n_ases, np.int64)
    sizes[: n_routers % n_ases] += 1
    node_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    places = place(node_ptr, given)
    with part(0.0, _DRAWN):
        near, far = flat_links(given.router_model, node_ptr, places, given)
    with part(_DRAWN, _DRAWN):
        as_ptr = np.array([0, n_ases], np.int64)
        as_places = place(as_ptr, as_level)
        as_near, as_far = flat_links(given.as_model, as_ptr, as_places, as_level)
    degree = np.bincount(near, minlength=n_routers) + np.bincount(far, minlength=n_routers)
    border_near, border_far = np.empty_like(as_near), np.empty_like(as_far)
    least = {"random": -1, "smallest": 0, "smallest-non-leaf": 2, "smallest-k": given.k}
    _connect(
        node_ptr,
        as_near,
        as_far,
        np.int64(least[given.edge_connection]),
        np.uint64(seed),
        degree.astype(np.int64),
        border_near,
        border_far,
    )
    return with_geometry(
        node_asn=np.repeat(np.arange(FIRST_ASN, FIRST_ASN + n_ases, dtype=np.int64), sizes),
        node_ptr=node_ptr,
        near=np.concatenate([near, border_near]).astype(np.int64),
        far=np.concatenate([far, border_far]).astype(np.int64),
        first_node_id=n_ases,
        first_edge_id=len(as_near),
        seed=seed,
        drawn=_DRAWN,
        places=places,
        bandwidth=given.bandwidth,
        bandwidth_between=given.bandwidth_between,
    )


def check(given: Parameters) -> None:
    """Raise UsageError unless each AS has a router, and some AS enough for the links of each."""
    _check_ases(given.n_ases, given.n_routers)
    check_links(given.n_routers, given.m)
    largest = -(-given.n_routers // given.n_ases)
    check_others(largest, given.m, largest - 1, " of an AS")
    check_flat(given.router_model, replace(given, n_routers=largest))
    if given.as_level is not None or given.as_model != Parameters.as_model:
        check_flat(given.as_model, _as_level(given))


def _as_level(given: Parameters) -> Parameters:
    """Numbers of the graph of ASes: its own, or those of routers on a plane as large as needed."""
    seed = given.seed ^ _AS_LEVEL_SEED
    if given.as_level is not None:
        return replace(given.as_level, n_routers=given.n_ases, seed=seed)
    return replace(given, n_routers=given.n_ases, plane_side=None, square_side=None, seed=seed)


def generate_top_down(n_ases: int, n_routers: int, *, m: int = 2, seed: int = 1) -> Topology:
    """``make`` of Barabasi-Albert graphs.

    Parameters
    ----------
    n_ases : int
    n_routers : int
        In all; distributed evenly, with one more in the first ASes if it does not divide.
    m : int
        Links of each new router inside its AS, and of each new AS among the ASes; as many as there
        can be if these are fewer.
    seed : int
        0 to 2**64 - 1.
    """
    _check_ases(n_ases, n_routers)
    check_numbers(n_routers, m, seed)
    return _make(Parameters(n_routers, n_ases=n_ases, m=m, seed=seed))


def _check_ases(n_ases: int, n_routers: int) -> None:
    if n_ases < 1:
        raise UsageError(f"{n_ases} ASes: give 1 or more")
    if n_routers < n_ases:
        found = f"{number(n_routers, 'router')} for {number(n_ases, 'AS')}"
        raise UsageError(f"{found}: each AS needs at least one")


@njit(cache=True, nogil=True)
def _connect(node_ptr, as_near, as_far, least, seed, degree, border_near, border_far):
    """Choose the end routers of each link between ASes; ``least`` -1: any."""
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _BORDER_KEY)
    for i in range(len(as_near)):
        border_near[i] = _border(node_ptr, as_near[i], least, degree, state)
        border_far[i] = _border(node_ptr, as_far[i], least, degree, state)


@njit(cache=True, nogil=True)
def _border(node_ptr, which, least, degree, state):
    first, stop = node_ptr[which], node_ptr[which + 1]
    best = -1
    if least < 0:
        best = first + draw_below(state, stop - first)
    else:
        for node in range(first, stop):
            if degree[node] >= least and (best < 0 or degree[node] < degree[best]):
                best = node
        if best < 0:
            best = first
    degree[best] += 1
    return best
