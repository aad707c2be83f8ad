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

from itertools import pairwise

import numpy as np
from numba import njit

from kernels import CSRGraph
from kernels.cache import prefetch
from pipeline.errors import UsageError
from pipeline.generate import check as check_flat
from pipeline.generate import flat_links
from pipeline.generate.csr import csr_from_links
from pipeline.generate.laws.plane import place, with_geometry
from pipeline.generate.shares import part
from pipeline.generate.threads import call_each
from pipeline.model.borrowing import BORROWS
from pipeline.model.random_words import draw_below, draw_unit, start_stream, stream_start
from pipeline.model.synthetic import FIRST_ASN, PARETO_SHAPE, Parameters
from pipeline.model.topology import Topology
from pipeline.model.words import number

_DRAWN = 0.4  # share of the time that drawing the links and grouping the routers takes
_SIZE_KEY = np.uint64(1 << 55)  # streams apart from those of links and places
_GROUP_KEY = np.uint64(1 << 56)

# Of a router's row: its number, how many neighbours it has, which is tried next (in their order
# from a random one on), how many are left; then the rows of its neighbours.
_ID, _DEGREE, _NEXT, _LEFT, _HEAD = 0, 1, 2, 3, 4
_NODES_AT_ONCE = 1 << 16  # whose rows a thread lists
_AHEAD = 16  # routers or links that are fetched into the cache


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
            order = _walk(graph, seed)
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


def _walk(graph: CSRGraph, seed: np.uint64) -> np.ndarray:
    """(n_nodes,) routers in the order in which a walk finds them, that goes back where it is stuck.

    Each step depends on the one before, so one thread walks. A router's row begins with all that is
    to be known of it, and names the rows of its neighbours: one read at random per step.
    """
    n_nodes = graph.n_nodes
    size = len(graph.indices) + _HEAD * n_nodes
    rows = np.empty(size, np.int32 if size < 1 << 31 else np.int64)
    cuts = pairwise([*range(0, n_nodes, _NODES_AT_ONCE), n_nodes])
    call_each(_list_rows, [(*cut, graph.indptr, graph.indices, rows) for cut in cuts])
    is_seen = np.zeros(size // (8 * _HEAD) + 1, np.uint8)
    order, path = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int64)
    state = np.array([stream_start(seed, _GROUP_KEY)], np.uint64)
    _follow(graph.indptr, rows, is_seen, order, path, state)
    return order


@njit(**BORROWS)
def _row_of(node, indptr):
    return indptr[node] + _HEAD * node


@njit(**BORROWS)
def _list_rows(begin, end, indptr, indices, rows):
    for node in range(begin, end):
        row = _row_of(node, indptr)
        rows[row + _ID] = node
        rows[row + _DEGREE] = indptr[node + 1] - indptr[node]
        for i in range(indptr[node], indptr[node + 1]):
            prefetch(1, indptr, np.uintp(indices[min(i + _AHEAD, len(indices) - 1)]))
            rows[row + _HEAD + i - indptr[node]] = _row_of(np.int64(indices[i]), indptr)


@njit(**BORROWS)
def _is_seen(row, is_seen):
    """Rows are as long as their heads at least: one bit for so many places."""
    bit = row // _HEAD
    return (is_seen[bit >> 3] >> np.uint8(bit & 7)) & np.uint8(1) != 0


@njit(**BORROWS)
def _follow(indptr, rows, is_seen, order, path, state):
    n_found, begin, depth = 0, 0, 0
    words = 8 // rows.itemsize  # numbers in what is fetched
    while n_found < len(order):
        if depth == 0:
            while _is_seen(_row_of(begin, indptr), is_seen):
                begin += 1
            found = _row_of(begin, indptr)
        else:
            row, found = path[depth - 1], np.int64(-1)
            i, n_left = np.int64(rows[row + _NEXT]), np.int64(rows[row + _LEFT])
            while n_left > 0 and found < 0:
                other = np.int64(rows[row + _HEAD + i])
                if not _is_seen(other, is_seen):
                    found = other
                i = i + 1 if i + 1 < rows[row + _DEGREE] else np.int64(0)
                n_left -= 1
            if found < 0:
                depth -= 1
                prefetch(1, rows, np.uintp(path[max(depth - _AHEAD, 0)] // words))
                continue
            rows[row + _NEXT], rows[row + _LEFT] = i, n_left
        bit = found // _HEAD
        is_seen[bit >> 3] |= np.uint8(1) << np.uint8(bit & 7)
        order[n_found], path[depth] = rows[found + _ID], found
        n_found += 1
        depth += 1
        degree = np.int64(rows[found + _DEGREE])
        rows[found + _LEFT] = degree
        rows[found + _NEXT] = draw_below(state, degree) if degree > 0 else np.int64(0)
