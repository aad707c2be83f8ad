"""BRITE's top-down hierarchy: a graph of ASes, and inside each AS a graph of routers.

Medina, Lakhina, Matta, Byers: BRITE: an approach to universal topology generation, MASCOTS 2001.
Both levels are Barabasi-Albert graphs. A link between two ASes ends at the router of the smallest
degree that is not a leaf in each of them, links made so far included (BRITE's edge connection
"smallest degree, non-leaf"; the smallest id if there are several, or any router if all are leaves):
an AS with many neighbours has many border routers.

Departure: ASes are numbered from 1, since AS 0 is reserved (RFC 7607); BRITE begins at 0. As in
BRITE's Java engine, node and edge ids continue those of the AS-level graph.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.errors import UsageError
from pipeline.generate.barabasi_albert import attach_all, check_numbers
from pipeline.generate.laws.plane import with_geometry
from pipeline.generate.shares import part
from pipeline.model.synthetic import FIRST_ASN, Parameters, check_others
from pipeline.model.topology import Topology
from pipeline.model.words import number

_DRAWN = 0.3  # share of the time that drawing the links takes
_AS_LEVEL_SEED = 0xA5_1EE7_C0DE  # mixed into the seed, so that no AS repeats the AS-level graph


def make(given: Parameters) -> Topology:
    """ASes of equal size, as ``generate`` takes them."""
    return generate_top_down(given.n_ases, given.n_routers, m=given.m, seed=given.seed)


def check(given: Parameters) -> None:
    """Raise UsageError unless each AS has a router, and some AS enough for the links of each."""
    _check_ases(given.n_ases, given.n_routers)
    largest = -(-given.n_routers // given.n_ases)
    check_others(largest, given.m, largest - 1, " of an AS")


def generate_top_down(n_ases: int, n_routers: int, *, m: int = 2, seed: int = 1) -> Topology:
    """A router-level topology of several ASes.

    Parameters
    ----------
    n_ases : int
    n_routers : int
        In all; distributed evenly, with one more in the first ASes if it does not divide.
    m : int
        Links of each new router inside its AS, and of each new AS among the ASes.
    seed : int
        0 to 2**64 - 1.

    Returns
    -------
    Topology
        Each AS is connected inside, and so are the ASes. Links inside ASes come first, those
        between ASes last. Columns as the BRITE reader gives them.

    Raises
    ------
    UsageError
        If a number is out of range.
    """
    _check_ases(n_ases, n_routers)
    check_numbers(n_routers, m, seed)
    sizes = np.full(n_ases, n_routers // n_ases, np.int64)
    sizes[: n_routers % n_ases] += 1
    node_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    with part(0.0, _DRAWN):
        near, far = attach_all(node_ptr, m, seed)
    with part(_DRAWN, _DRAWN):
        as_near, as_far = attach_all(np.array([0, n_ases], np.int64), m, seed ^ _AS_LEVEL_SEED)
    degree = np.bincount(near, minlength=n_routers) + np.bincount(far, minlength=n_routers)
    border_near, border_far = np.empty_like(as_near), np.empty_like(as_far)
    _connect(node_ptr, as_near, as_far, degree.astype(np.int64), border_near, border_far)
    return with_geometry(
        node_asn=np.repeat(np.arange(FIRST_ASN, FIRST_ASN + n_ases, dtype=np.int64), sizes),
        node_ptr=node_ptr,
        near=np.concatenate([near, border_near]).astype(np.int64),
        far=np.concatenate([far, border_far]).astype(np.int64),
        first_node_id=n_ases,
        first_edge_id=len(as_near),
        seed=seed,
        drawn=_DRAWN,
    )


def _check_ases(n_ases: int, n_routers: int) -> None:
    if n_ases < 1:
        raise UsageError(f"{n_ases} ASes: give 1 or more")
    if n_routers < n_ases:
        found = f"{number(n_routers, 'router')} for {number(n_ases, 'AS')}"
        raise UsageError(f"{found}: each AS needs at least one")


@njit(cache=True, nogil=True)
def _connect(node_ptr, as_near, as_far, degree, border_near, border_far):
    """Choose the end routers of each link between ASes."""
    for i in range(len(as_near)):
        border_near[i] = _smallest_non_leaf(node_ptr, as_near[i], degree)
        border_far[i] = _smallest_non_leaf(node_ptr, as_far[i], degree)


@njit(cache=True, nogil=True)
def _smallest_non_leaf(node_ptr, which, degree):
    best = -1
    for node in range(node_ptr[which], node_ptr[which + 1]):
        if degree[node] > 1 and (best < 0 or degree[node] < degree[best]):
            best = node
    if best < 0:
        best = node_ptr[which]
    degree[best] += 1
    return best
