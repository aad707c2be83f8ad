"""BRITE's bottom-up hierarchy: one graph of routers, whose routers are grouped into ASes.

Medina, Lakhina, Matta, Byers: BRITE: an approach to universal topology generation, MASCOTS 2001.
The routers are linked by any model of one level. ASes are made one after the other until each
router is in one. How many routers an AS takes:

- ``constant``: as many as the others, one more in the first ASes if it does not divide;
- ``uniform``: 1 to twice the mean less one; ``exponential``: by that law, of the same mean;
- ``heavy-tailed``: Pareto's law from 1 to all, of exponent 1.2, whatever the number of ASes.

The mean is the number of routers by that of ASes, which only ``constant`` meets exactly.
Which routers it takes:

- ``random-pick``: any that are left;
- ``random-walk``: the next ones of a walk through all routers that goes on to a random neighbour
  not seen before, and back where there is none. So an AS is near together, but need not be
  connected.

Departures: BRITE's Java engine leaves routers without an AS (random pick, constant), which here are
shared out; ASes are numbered from 1.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.errors import UsageError
from pipeline.generate import check as check_flat
from pipeline.generate import flat_links
from pipeline.generate.csr import csr_from_links
from pipeline.generate.laws.plane import place, with_geometry
from pipeline.generate.shares import part
from pipeline.model.random_words import draw_below, draw_unit, start_stream
from pipeline.model.synthetic import FIRST_ASN, PARETO_SHAPE, Parameters
from pipeline.model.topology import Topology
from pipeline.model.words import number

_DRAWN = 0.4  # share of the time that drawing the links and grouping the routers takes
_SIZE_KEY = np.uint64(1 << 55)  # streams apart from those of links and places
_GROUP_KEY = np.uint64(1 << 56)


def make(given: Parameters) -> Topology:
    """Routers in ASes, as ``generate`` takes them; ids from 0 on, in the order of the links.

    Raises
    ------
    UsageError
        If a number is out of range.
    """
    check(given)
    n_routers = given.n_routers
    node_ptr = np.array([0, n_routers], np.int64)
    places = place(node_ptr, given)
    with part(0.0, _DRAWN / 2):
        near, far = flat_links(given.router_model, node_ptr, places, given)
    with part(_DRAWN / 2, _DRAWN):
        sizes = _sizes(given)
        seed = np.uint64(given.seed)
        if given.grouping == "random-pick":
            order = _shuffled(n_routers, seed)
        else:
            graph = csr_from_links(n_routers, near.astype(np.int32), far.astype(np.int32))
            order = _walk(graph.indptr, graph.indices, seed)
        which = np.empty(n_routers, np.int64)
        which[order] = np.repeat(np.arange(len(sizes)), sizes)
    return with_geometry(
        node_asn=FIRST_ASN + which,
        node_ptr=node_ptr,
        near=near,
        far=far,
        first_node_id=0,
        first_edge_id=0,
        seed=given.seed,
        drawn=_DRAWN,
        places=places,
        bandwidth=given.bandwidth,
        bandwidth_between=given.bandwidth_between,
    )


def check(given: Parameters) -> None:
    """Raise UsageError unless each AS can have a router, and for what its routers cannot be."""
    if not 1 <= given.n_ases <= given.n_routers:
        found = f"{number(given.n_routers, 'router')} for {number(given.n_ases, 'AS')}"
        raise UsageError(f"{found}: each AS needs at least one")
    check_flat(given.router_model, given)


def _sizes(given: Parameters) -> np.ndarray:
    """(n_ases,) int64 sizes of the ASes, summing to the routers; the last is what is left."""
    n, mean = given.n_routers, given.n_routers / given.n_ases
    if given.assignment == "constant":
        sizes = np.full(given.n_ases, n // given.n_ases, np.int64)
        sizes[: n % given.n_ases] += 1
        return sizes
    sizes = np.empty(n, np.int64)
    laws = ("uniform", "exponential", "heavy-tailed")
    law = laws.index(given.assignment)
    return sizes[: _draw_sizes(np.int64(n), mean, law, np.uint64(given.seed), sizes)]


@njit(cache=True, nogil=True)
def _draw_sizes(n, mean, law, seed, sizes):
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _SIZE_KEY)
    n_sizes, left = 0, n
    while left > 0:
        u = draw_unit(state)
        if law == 0:
            size = 1.0 + np.floor(u * (2.0 * mean - 1.0))
        elif law == 1:
            size = np.ceil(-mean * np.log1p(-u))
        else:
            size = 1.0 / (1.0 - u + u * (1.0 / n) ** PARETO_SHAPE) ** (1.0 / PARETO_SHAPE)
        sizes[n_sizes] = min(max(np.int64(min(size, np.float64(n))), 1), left)
        left -= sizes[n_sizes]
        n_sizes += 1
    return n_sizes


@njit(cache=True, nogil=True)
def _shuffled(n, seed):
    """0 .. n - 1 in random order (Fisher, Yates)."""
    order = np.arange(n)
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _GROUP_KEY)
    for i in range(n - 1, 0, -1):
        j = draw_below(state, np.int64(i + 1))
        order[i], order[j] = order[j], order[i]
    return order


@njit(cache=True, nogil=True)
def _walk(indptr, indices, seed):
    """Routers in the order in which a walk finds them, that goes back where it gets stuck."""
    n = len(indptr) - 1
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _GROUP_KEY)
    order, path = np.empty(n, np.int64), np.empty(n, np.int64)
    is_seen = np.zeros(n, np.bool_)
    n_tried = np.zeros(n, np.int64)  # neighbours that were tried, in their order from an offset on
    offset = np.zeros(n, np.int64)
    n_found, begin, depth = 0, 0, 0
    while n_found < n:
        if depth == 0:
            while is_seen[begin]:
                begin += 1
            other = begin
        else:
            node = path[depth - 1]
            degree = indptr[node + 1] - indptr[node]
            if n_tried[node] == degree:
                depth -= 1
                continue
            if n_tried[node] == 0:
                offset[node] = draw_below(state, np.int64(degree))
            other = indices[indptr[node] + (offset[node] + n_tried[node]) % degree]
            n_tried[node] += 1
        if not is_seen[other]:
            is_seen[other] = True
            order[n_found], path[depth] = other, other
            n_found += 1
            depth += 1
    return order
