"""Waxman graphs: two routers are linked the more likely, the nearer they are.

Waxman: Routing of multipoint connections, IEEE JSAC 6 (1988); as BRITE grows them (Medina, Lakhina,
Matta, Byers, MASCOTS 2001). Two routers at distance d on a plane of side s are accepted with
probability alpha * exp(-d / (beta * sqrt(2) * s)).

- ``incremental``: routers join one by one and draw older ones, uniformly, until ``m`` of them are
  accepted. The first m routers draw last, among all others. Each router draws from a random stream
  of its own, so threads divide the routers among them.
- ``all``: all routers are there at once. A router is drawn, uniformly, and draws others until m are
  accepted; and again, until each router has a link. That takes about log(n) / (m + 1) draws of each
  router, so routers have some 2 m log(n) / (m + 1) links. Departure from BRITE: a link that was
  drawn before is left out instead of being drawn again. (BRITE's Java engine, unlike its C++ one,
  never draws a second router; that is not repeated here.)
- with preferential connectivity (BRITE's paper, 2.2; its engines have none), routers that join draw
  older ones in proportion to their degree plus one, then accept them by distance.

Where a router was refused by very many others, as with a small beta, it takes one of them by the
weights of all, which is the same law.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numba import njit

from pipeline.errors import UsageError
from pipeline.generate.laws.plane import check_plane, plane_side
from pipeline.generate.threads import call_each
from pipeline.model.random_words import draw_below, draw_unit, start_stream
from pipeline.model.synthetic import GROWTHS, Parameters, check_others

BETA = 0.2  # if none is given; BRITE's

_NODES_AT_ONCE = 1 << 14  # that a thread links at a time
_ROUNDS_AT_ONCE = 1 << 14
_JOIN_KEY = np.uint64(1 << 50)  # streams apart from those of places and bandwidths
_FIRST_KEY = np.uint64(1 << 51)
_ROUND_KEY = np.uint64(1 << 52)
_PATIENCE = 1 << 16  # refusals before all weights are summed


def check(given: Parameters) -> None:
    """Raise UsageError for probabilities that are none, and for more links than there can be."""
    beta = BETA if given.beta is None else given.beta
    if not (0 < given.alpha <= 1 and 0 < beta <= 1):
        raise UsageError(
            f"--alpha {given.alpha} and --beta {beta}: a Waxman graph takes numbers above 0, to 1"
        )
    if given.growth == "all" and given.preferential:
        raise UsageError("--preferential needs routers that join one by one: --growth incremental")
    check_others(given.n_routers, given.m, given.n_routers - 1)
    check_plane(given, given.n_routers)


def numbers(given: Parameters) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What BRITE writes before its bandwidths, and after them."""
    beta = BETA if given.beta is None else given.beta
    return (given.alpha, beta, GROWTHS.index(given.growth) + 1), ()


def links(
    node_ptr: np.ndarray, places: tuple[np.ndarray, np.ndarray], given: Parameters
) -> tuple[np.ndarray, np.ndarray]:
    """Links of graphs side by side, as ``flat_links`` gives them; on any number of threads."""
    largest = int(np.diff(node_ptr).max(initial=0))
    side = given.plane_side or plane_side(largest)
    beta = BETA if given.beta is None else given.beta
    cells = np.stack(places, axis=1).astype(np.int32)
    law = (np.float64(given.alpha), 1.0 / (beta * math.sqrt(2.0) * side))
    seed, m = np.uint64(given.seed), np.int64(given.m)
    if given.growth == "all":
        return _links_at_once(node_ptr, cells, m, law, seed)
    if given.preferential:
        pairs = [
            _join_preferring(np.int64(first), np.int64(stop), cells, m, *law, seed)
            for first, stop in itertools.pairwise(node_ptr.tolist())
        ]
    else:
        return _links_of_joining(node_ptr, cells, m, law, seed)
    near, far = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    return near.astype(np.int64), far.astype(np.int64)


def _links_of_joining(
    node_ptr: np.ndarray, cells: np.ndarray, m: np.int64, law: tuple, seed: np.uint64
) -> tuple[np.ndarray, np.ndarray]:
    n_nodes = int(node_ptr[-1])
    chosen = np.full((n_nodes, int(m)), -1, np.int32)
    cuts = np.append(np.arange(0, n_nodes, _NODES_AT_ONCE), n_nodes).tolist()
    call_each(
        _join,
        [(*cut, node_ptr, cells, m, *law, seed, chosen) for cut in itertools.pairwise(cuts)],
    )
    for first, stop in itertools.pairwise(node_ptr.tolist()):
        _join_first(first, stop, cells, m, *law, seed, chosen)
    near, column = np.nonzero(chosen >= 0)
    return near.astype(np.int64), chosen[near, column].astype(np.int64)


@njit(cache=True, nogil=True)
def _exp_negative(x):
    """exp(-x) of x >= 0, by arithmetic alone: the same bits on every machine.

    To a relative error below 1e-15: x = k ln 2 + r with |r| <= ln(2) / 2, and Taylor's series.
    """
    if x > 700.0:
        return 0.0
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    term, total = 1.0, 1.0
    for i in range(1, 14):
        term *= -r / i
        total += term
    return math.ldexp(total, -int(k))


@njit(cache=True, nogil=True)
def _distance(cells, a, b):
    dx = np.float64(cells[a, 0]) - np.float64(cells[b, 0])
    dy = np.float64(cells[a, 1]) - np.float64(cells[b, 1])
    return math.sqrt(dx * dx + dy * dy)


@njit(cache=True, nogil=True)
def _is_accepted(cells, a, b, alpha, decay, state):
    u = draw_unit(state)
    # Most are refused by alpha alone, without a look at where they are.
    return u < alpha and u < alpha * _exp_negative(_distance(cells, a, b) * decay)


@njit(cache=True, nogil=True)
def _is_in(row, n, node):
    for i in range(n):  # noqa: SIM110 - compiled code takes no generator
        if row[i] == node:
            return True
    return False


@njit(cache=True, nogil=True)
def _of_all(node, first, stop, cells, decay, taken, n_taken, state):
    """One of first .. stop - 1 that is not taken, by its weight; -1 if there is none."""
    nearest = np.inf
    for other in range(first, stop):
        if other != node and not _is_in(taken, n_taken, other):
            nearest = min(nearest, _distance(cells, node, other))
    if nearest == np.inf:
        return -1
    total, chosen = 0.0, -1
    for other in range(first, stop):
        if other != node and not _is_in(taken, n_taken, other):
            weight = _exp_negative((_distance(cells, node, other) - nearest) * decay)
            total += weight
            if draw_unit(state) * total < weight:
                chosen = other
    return chosen


@njit(cache=True, nogil=True)
def _draw_others(node, first, stop, n_wanted, cells, alpha, decay, row, n_taken, state):
    """Add accepted nodes of first .. stop - 1 to a row that has ``n_taken``; how many it has."""
    refused = 0
    n_wanted += n_taken
    while n_taken < n_wanted:
        if refused < _PATIENCE:
            other = first + draw_below(state, stop - first)
            if other == node or not _is_accepted(cells, node, other, alpha, decay, state):
                refused += 1
                continue
            if _is_in(row, n_taken, other):
                refused += 1
                continue
        else:
            other = _of_all(node, first, stop, cells, decay, row, n_taken, state)
            if other < 0:
                break
        row[n_taken] = other
        n_taken += 1
        refused = 0
    return n_taken


@njit(cache=True, nogil=True)
def _join(begin, end, node_ptr, cells, m, alpha, decay, seed, chosen):
    """What the nodes begin .. end - 1, of any graphs, choose among the older ones."""
    state = np.empty(1, np.uint64)
    graph = np.searchsorted(node_ptr, begin, side="right") - 1
    for node in range(begin, end):
        while node >= node_ptr[graph + 1]:
            graph += 1
        first = node_ptr[graph]
        own = node - first
        if own < m:
            continue
        start_stream(state, seed, _JOIN_KEY + np.uint64(node))
        n_wanted = min(m, node_ptr[graph + 1] - first - m)
        _draw_others(node, first, node, n_wanted, cells, alpha, decay, chosen[node], 0, state)


@njit(cache=True, nogil=True)
def _join_first(first, stop, cells, m, alpha, decay, seed, chosen):
    """What the first m nodes of a graph choose among all others, last of all."""
    n_first = min(m, stop - first)
    later = first + n_first
    if later == stop:
        # Too few for anyone to join: all are linked to one another, as in a Barabasi-Albert graph.
        for node in range(first, stop):
            for other in range(first, node):
                chosen[node, other - first] = other
        return
    state = np.empty(1, np.uint64)
    n_linked = np.zeros(n_first, np.int64)
    for node in range(later, stop):
        for i in range(m):
            if 0 <= chosen[node, i] < later:
                n_linked[chosen[node, i] - first] += 1
    linked = np.empty(n_linked.max() + m + 1, np.int32)
    for node in range(first, later):
        most = stop - later  # a node has no more links than there are later ones
        n_linked_here = n_linked[node - first]
        n_wanted = min(m, most - n_linked_here)
        if n_wanted <= 0:
            continue
        n = 0
        for other in range(later, stop):
            if n < n_linked_here and _is_in(chosen[other], m, node):
                linked[n] = other
                n += 1
        start_stream(state, seed, _FIRST_KEY + np.uint64(node))
        total = _draw_others(node, later, stop, n_wanted, cells, alpha, decay, linked, n, state)
        for i in range(n, total):
            chosen[node, i - n] = linked[i]


@njit(cache=True, nogil=True)
def _join_preferring(first, stop, cells, m, alpha, decay, seed):
    """Links of one graph whose nodes draw older ones in proportion to their degree plus one."""
    n_nodes = stop - first
    m = min(m, max(n_nodes - 1, 0))
    near = np.empty(n_nodes * m, np.int32)
    far = np.empty(n_nodes * m, np.int32)
    ends = np.empty(n_nodes + 2 * n_nodes * m, np.int32)  # a node, and again for each link
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _JOIN_KEY + np.uint64(first))
    n_ends, n_links = 0, 0
    row = np.empty(m, np.int32)
    for own in range(n_nodes):
        node = first + own
        n_taken, refused = 0, 0
        while n_taken < min(m, own):
            if refused < _PATIENCE:
                other = np.int64(ends[draw_below(state, n_ends)])
                if not _is_accepted(cells, node, other, alpha, decay, state) or _is_in(
                    row, n_taken, other
                ):
                    refused += 1
                    continue
            else:  # nearly all weight lies on the nearest ones
                other = _of_all(node, first, node, cells, decay, row, n_taken, state)
            row[n_taken] = other
            n_taken += 1
            refused = 0
        for i in range(n_taken):
            near[n_links], far[n_links] = node, row[i]
            n_links += 1
            ends[n_ends], ends[n_ends + 1] = node, row[i]
            n_ends += 2
        ends[n_ends] = node
        n_ends += 1
    return near[:n_links], far[:n_links]


def _links_at_once(
    node_ptr: np.ndarray, cells: np.ndarray, m: np.int64, law: tuple, seed: np.uint64
) -> tuple[np.ndarray, np.ndarray]:
    """Links of graphs whose nodes are all there at the beginning."""
    nears, fars = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for graph, (first, stop) in enumerate(itertools.pairwise(node_ptr.tolist())):
        n_nodes = stop - first
        if n_nodes < 2:
            continue
        m_here = min(int(m), n_nodes - 1)
        is_linked = np.zeros(n_nodes, bool)
        n_linked, next_round = 0, 0
        # As many rounds as half of what is expected, then smaller and smaller batches.
        while n_linked < n_nodes:
            n_rounds = max(_ROUNDS_AT_ONCE, int((n_nodes - n_linked) / (m_here + 1)))
            sources = np.empty(n_rounds, np.int32)
            chosen = np.empty((n_rounds, m_here), np.int32)
            cuts = np.append(np.arange(0, n_rounds, _ROUNDS_AT_ONCE), n_rounds).tolist()
            stream = seed ^ (np.uint64(graph) << np.uint64(32))
            call_each(
                _rounds,
                [
                    (*cut, next_round, first, n_nodes, cells, m_here, *law, stream, sources, chosen)
                    for cut in itertools.pairwise(cuts)
                ],
            )
            n_used, n_in_last, n_linked = _until_all(sources, chosen, is_linked, n_linked)
            next_round += n_rounds
            near = np.repeat(sources[:n_used].astype(np.int64), m_here)
            far = chosen[:n_used].astype(np.int64).ravel()
            if n_linked == n_nodes:  # the last round ends with the link that was missing
                n_kept = len(near) - m_here + n_in_last
                near, far = near[:n_kept], far[:n_kept]
            nears.append(near + first)
            fars.append(far + first)
    near, far = np.concatenate(nears), np.concatenate(fars)
    pair = np.minimum(near, far) << 32 | np.maximum(near, far)
    kept = np.sort(np.unique(pair, return_index=True)[1])
    return near[kept], far[kept]


@njit(cache=True, nogil=True)
def _rounds(begin, end, number, first, n_nodes, cells, m, alpha, decay, seed, sources, chosen):
    state = np.empty(1, np.uint64)
    row = np.empty(m, np.int32)
    for i in range(begin, end):
        start_stream(state, seed, _ROUND_KEY + np.uint64(number + i))
        node = first + draw_below(state, n_nodes)
        _draw_others(node, first, first + n_nodes, m, cells, alpha, decay, row, 0, state)
        sources[i] = node - first
        for j in range(m):
            chosen[i, j] = row[j] - first


@njit(cache=True, nogil=True)
def _until_all(sources, chosen, is_linked, n_linked):
    """Rounds that are used before each node has a link, links of the last, nodes with a link."""
    n_nodes = len(is_linked)
    for i in range(len(sources)):
        for j in range(chosen.shape[1]):
            for node in (sources[i], chosen[i, j]):
                if not is_linked[node]:
                    is_linked[node] = True
                    n_linked += 1
            if n_linked == n_nodes:
                return i + 1, j + 1, n_linked
    return len(sources), chosen.shape[1], n_linked
