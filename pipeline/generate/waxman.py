"""Waxman graphs: two routers are linked the more likely, the nearer they are.

Waxman: Routing of multipoint connections, IEEE JSAC 6 (1988); as BRITE grows them (Medina, Lakhina,
Matta, Byers, MASCOTS 2001). Two routers at distance d on a plane of side s are accepted with
probability alpha * exp(-d / (beta * sqrt(2) * s)). Whoever is refused is drawn again, so alpha
only says how long BRITE takes: routers are linked by exp(-d / (beta * sqrt(2) * s)), and drawn by
that at once (``laws.nearness``).

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
weights of all, which is the same law (of preferential ones the nearest: nearly all weight lies on
them).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numba import njit

from kernels.cache import prefetch
from pipeline.errors import UsageError
from pipeline.generate.flat import side_by_side
from pipeline.generate.laws.nearness import (
    distance,
    draw_near,
    entry_at,
    exp_negative,
    fill_tables,
    is_below,
    least_distances,
    pack,
    square_at,
    square_of,
    squares_of,
    squares_on_a_side,
    taken,
)
from pipeline.generate.laws.plane import check_plane, plane_side
from pipeline.generate.threads import call_by_graph, call_each
from pipeline.model.random_words import (
    GOLDEN,
    below,
    draw,
    draw_below,
    draw_unit,
    mix,
    start_stream,
    stream_start,
    word_at,
)
from pipeline.model.synthetic import GROWTHS, Parameters, check_others

BETA = 0.2  # if none is given; BRITE's

_AHEAD = 12  # nodes whose first draws are fetched into the cache
_NODES_AT_ONCE = 1 << 14  # that a thread links at a time
_ROUNDS_AT_ONCE = 1 << 14
_FEW_ROUNDS = 1 << 17  # drawn at a time at least: some are not needed at the end
_FEW_JOINING = 256  # nodes of the first tables
_FEW_ENDS = 8  # that a square is to hold at least
_BUCKET_SHIFT = 13  # nodes whose links are compared at a time: 2 to this power
_JOIN_KEY = np.uint64(1 << 50)  # streams apart from those of places and bandwidths
_FIRST_KEY = np.uint64(1 << 51)
_ROUND_KEY = np.uint64(1 << 52)
_NO_LINKS = (np.empty(0, np.int32), np.empty(0, np.int32))
_PATIENCE = 1 << 14  # refusals before all weights are summed


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
    side = given.plane_side or plane_side(int(np.diff(node_ptr).max(initial=0)))
    beta = BETA if given.beta is None else given.beta
    cells = np.stack(places, axis=1).astype(np.int32)
    plane = (cells, np.int64(side), 1.0 / (beta * math.sqrt(2.0) * side))
    seed, m = np.uint64(given.seed), np.int64(given.m)
    if given.growth == "incremental" and not given.preferential:
        return _links_of_joining(node_ptr, plane, m, seed)
    pairs: list[tuple[np.ndarray, np.ndarray]] = [_NO_LINKS] * (len(node_ptr) - 1)

    def make(graph: int, n_threads: int | None) -> None:
        first, stop = np.int64(node_ptr[graph]), np.int64(node_ptr[graph + 1])
        if given.growth == "all":
            stream = seed ^ (np.uint64(graph) << np.uint64(32))
            pairs[graph] = _links_at_once(first, stop, plane, m, stream, n_threads)
        else:
            pairs[graph] = _join_preferring(first, stop, *plane, m, seed)

    call_by_graph(make, node_ptr)
    return side_by_side(pairs, node_ptr)


def _links_of_joining(
    node_ptr: np.ndarray, plane: tuple, m: np.int64, seed: np.uint64
) -> tuple[np.ndarray, np.ndarray]:
    chosen = np.full((int(node_ptr[-1]), int(m)), -1, np.int32)

    def make(graph: int, n_threads: int | None) -> None:
        first, stop = int(node_ptr[graph]), int(node_ptr[graph + 1])
        # In steps of twice as many nodes, each with tables of those that are there at its end.
        ends = [stop - first] if stop - first > m else []
        while ends and ends[-1] > _FEW_JOINING:
            ends.append((ends[-1] + 1) // 2)
        for begin, end in itertools.pairwise([0, *ends[::-1]]):
            squares = squares_of(plane[0], first, end, *plane[1:])
            cuts = [*range(begin, end, _NODES_AT_ONCE), end]
            given = (first, stop, *plane, m, seed, squares, chosen)
            call_each(_join, [(*cut, *given) for cut in itertools.pairwise(cuts)], n_threads)
        _join_first(first, stop, *plane, m, seed, chosen)

    call_by_graph(make, node_ptr)
    near, far = np.empty((2, int(np.count_nonzero(chosen >= 0))), np.int64)
    _list_chosen(chosen, near, far)
    return near, far


@njit(cache=True, nogil=True)
def _list_chosen(chosen, near, far):
    n = 0
    for node in range(len(chosen)):
        for other in chosen[node]:
            if other >= 0:
                near[n], far[n] = node, other
                n += 1


@njit(cache=True, nogil=True)
def _is_in(row, n, node):
    for i in range(n):  # noqa: SIM110 - compiled code takes no generator
        if row[i] == node:
            return True
    return False


@njit(cache=True, nogil=True)
def _of_all(node, first, stop, cells, decay, row, n_taken, state):
    """One of first .. stop - 1 that is not taken, by its weight; -1 if there is none."""
    nearest = np.inf
    for other in range(first, stop):
        if other != node and not _is_in(row, n_taken, other):
            nearest = min(nearest, distance(cells, node, other))
    if nearest == np.inf:
        return -1
    total, chosen = 0.0, -1
    for other in range(first, stop):
        if other != node and not _is_in(row, n_taken, other):
            weight = exp_negative((distance(cells, node, other) - nearest) * decay)
            total += weight
            if draw_unit(state) * total < weight:
                chosen = other
    return chosen


@njit(cache=True, nogil=True)
def _words(stream, i):
    """What draws node ``i`` of a row first; what is drawn again takes the words after those."""
    return word_at(stream, 1 + 2 * i), word_at(stream, 2 + 2 * i)


@njit(cache=True, nogil=True)
def _fetch(node, n_wanted, cells, side, squares, stream):
    """Fetch what ``_draw_others`` will draw first into the cache."""
    own = square_of(cells[node, 0], cells[node, 1], side, len(squares[2]))
    for i in range(n_wanted):
        prefetch(1, squares[1], np.uintp(entry_at(own, squares, _words(stream, i))[1]))


@njit(cache=True, nogil=True)
def _draw_others(node, first, stop, n_wanted, cells, side, decay, squares, stream, row, state):
    """Fill a row with nodes of first .. stop - 1, by distance; how many there are."""
    x, y = cells[node, 0], cells[node, 1]
    own = square_of(x, y, side, len(squares[2]))
    state[0] = stream + np.uint64(2 * n_wanted + 1) * GOLDEN
    refused, n_taken = 0, 0
    words = _words(stream, 0)
    while n_taken < n_wanted:
        if refused < _PATIENCE:
            drawn = draw_near(x, y, own, stop - first, decay, squares, words, state)
            other = first + drawn
            if drawn < 0 or other == node or _is_in(row, n_taken, other):
                refused += 1
                words = draw(state), draw(state)
                continue
        else:
            other = _of_all(node, first, stop, cells, decay, row, n_taken, state)
            if other < 0:
                break
        row[n_taken] = other
        n_taken += 1
        refused = 0
        words = _words(stream, n_taken)
    return n_taken


@njit(cache=True, nogil=True)
def _join(begin, end, first, stop, cells, side, decay, m, seed, squares, chosen):
    """What the nodes first + begin .. first + end - 1 of a graph choose among the older ones."""
    state = np.empty(1, np.uint64)
    n_wanted = min(m, stop - first - m)
    for node in range(first + max(begin, m), first + end):
        later = min(node + _AHEAD, first + end - 1)
        stream = stream_start(seed, _JOIN_KEY + np.uint64(later))
        _fetch(later, n_wanted, cells, side, squares, stream)
        stream = stream_start(seed, _JOIN_KEY + np.uint64(node))
        _draw_others(
            *(node, first, node, n_wanted, cells, side, decay, squares, stream, chosen[node], state)
        )


@njit(cache=True, nogil=True)
def _join_first(first, stop, cells, side, decay, m, seed, chosen):
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
        refused = 0
        while n < n_linked_here + n_wanted:
            if refused < _PATIENCE:
                other = later + draw_below(state, stop - later)
                beyond = distance(cells, node, other) * decay
                if not is_below(draw_unit(state), beyond) or _is_in(linked, n, other):
                    refused += 1
                    continue
            else:
                other = _of_all(node, later, stop, cells, decay, linked, n, state)
                if other < 0:
                    break
            linked[n] = other
            chosen[node, n - n_linked_here] = other
            n += 1
            refused = 0


@njit(cache=True, nogil=True)
def _room(size):
    """Places for the ends of links in each square, some of them free; where each begins."""
    ptr = np.zeros(len(size) + 1, np.int64)
    for square in range(len(size)):
        ptr[square + 1] = ptr[square] + max(size[square] + size[square] // 2, _FEW_ENDS)
    return ptr


@njit(cache=True, nogil=True)
def _join_preferring(first, stop, cells, side, decay, m, seed):
    """Links of one graph whose nodes draw older ones in proportion to their degree plus one.

    Each square lists its nodes, and again for each of their links. A square is drawn by the room in
    its list, a free place is refused; where a list is full, all get more room, and squares new
    tables.
    """
    n_nodes = stop - first
    m = min(m, max(n_nodes - 1, 0))
    near, far = np.empty(n_nodes * m, np.int32), np.empty(n_nodes * m, np.int32)
    n_squares = squares_on_a_side(n_nodes, side, decay)
    least = least_distances(side, n_squares)
    n_all = n_squares * n_squares
    tables = np.empty((n_all, n_all), np.uint64)
    size = np.zeros(n_all, np.int64)
    ptr = _room(size)
    ends = np.empty(ptr[-1], np.int64)
    fill_tables(ptr[1:] - ptr[:-1], least, decay, tables)
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _JOIN_KEY + np.uint64(first))
    n_links = 0
    row, entries = np.empty(m, np.int32), np.empty(m + 1, np.int64)
    for node in range(first, stop):
        x, y = cells[node, 0], cells[node, 1]
        own = square_of(x, y, side, n_squares)
        n_taken, refused = 0, 0
        while n_taken < min(m, node - first):
            if refused < _PATIENCE:
                square = square_at(tables[own], draw(state))
                at = below(draw(state), ptr[square + 1] - ptr[square])
                if at >= size[square]:
                    refused += 1
                    continue
                entry = ends[ptr[square] + at]
                other = taken(entry, x, y, own, square, stop, decay, least, state)
                if other < 0 or _is_in(row, n_taken, other):
                    refused += 1
                    continue
            else:  # nearly all weight lies on the nearest ones
                other = _of_all(node, first, node, cells, decay, row, n_taken, state)
                entry = pack(other, cells[other, 0], cells[other, 1])
            row[n_taken] = other
            entries[n_taken] = entry
            n_taken += 1
            refused = 0
        for i in range(n_taken):
            near[n_links], far[n_links] = node - first, row[i] - first
            n_links += 1
        own_entry = pack(node, x, y)
        for i in range(2 * n_taken + 1):
            entry = entries[i] if i < n_taken else own_entry
            square = own
            if i < n_taken:
                square = square_of((entry >> 16) & 0xFFFF, entry & 0xFFFF, side, n_squares)
            if size[square] == ptr[square + 1] - ptr[square]:
                wider = _room(size)
                moved = np.empty(wider[-1], np.int64)
                for j in range(n_all):
                    moved[wider[j] : wider[j] + size[j]] = ends[ptr[j] : ptr[j] + size[j]]
                ptr, ends = wider, moved
                fill_tables(ptr[1:] - ptr[:-1], least, decay, tables)
            ends[ptr[square] + size[square]] = entry
            size[square] += 1
    return near[:n_links], far[:n_links]


def _links_at_once(
    first: np.int64,
    stop: np.int64,
    plane: tuple,
    m: np.int64,
    stream: np.uint64,
    n_threads: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Links of a graph whose nodes are all there at the beginning."""
    n_nodes = int(stop - first)
    if n_nodes < 2:
        return _NO_LINKS
    m_here = min(int(m), n_nodes - 1)
    squares = squares_of(plane[0], first, np.int64(n_nodes), *plane[1:])
    is_linked = np.zeros((n_nodes >> 3) + 1, np.uint8)
    nears, fars = [], []
    n_linked, next_round = 0, 0
    while n_linked < n_nodes:
        # About n_nodes * log(n_nodes) / (m + 1) rounds in all.
        n_rounds = max(min(_FEW_ROUNDS, 4 * n_nodes), n_nodes // 4)
        sources = np.empty(n_rounds, np.int32)
        chosen = np.empty((n_rounds, m_here), np.int32)
        cuts = [*range(0, n_rounds, _ROUNDS_AT_ONCE), n_rounds]
        given = (next_round, first, n_nodes, *plane, m_here, stream, squares, sources, chosen)
        call_each(_rounds, [(*cut, *given) for cut in itertools.pairwise(cuts)], n_threads)
        n_used, n_in_last, n_linked = _until_all(n_nodes, sources, chosen, is_linked, n_linked)
        next_round += n_rounds
        n_links = n_used * m_here
        if n_linked == n_nodes:  # the last round ends with the link that was missing
            n_links -= m_here - n_in_last
        nears.append(np.repeat(sources[:n_used], m_here)[:n_links])
        fars.append(chosen[:n_used].ravel()[:n_links])
    near, far = np.concatenate(nears), np.concatenate(fars)
    del nears, fars
    kept = _first_of_equal(n_nodes, near, far, n_threads)
    return near[kept], far[kept]


def _first_of_equal(
    n_nodes: int, near: np.ndarray, far: np.ndarray, n_threads: int | None
) -> np.ndarray:
    """(n_links,) bool: links whose ends no link before them joins."""
    n_buckets = ((n_nodes - 1) >> _BUCKET_SHIFT) + 1
    ptr = np.zeros(n_buckets + 1, np.int64)
    link, pair = np.empty(len(near), np.int32), np.empty(len(near), np.int64)
    _file_by_bucket(near, far, ptr, link, pair)
    is_first = np.zeros(len(near), bool)
    cuts = itertools.pairwise(ptr.tolist())
    call_each(_mark_first, [(link[a:b], pair[a:b], is_first) for a, b in cuts], n_threads)
    return is_first


@njit(cache=True, nogil=True)
def _file_by_bucket(near, far, ptr, link, pair):
    """Links and their ends by the bucket of the lesser end, in their order."""
    for i in range(len(near)):
        ptr[(min(near[i], far[i]) >> _BUCKET_SHIFT) + 1] += 1
    for bucket in range(len(ptr) - 1):
        ptr[bucket + 1] += ptr[bucket]
    at = ptr[:-1].copy()
    for i in range(len(near)):
        low, high = min(near[i], far[i]), max(near[i], far[i])
        k = at[low >> _BUCKET_SHIFT]
        link[k], pair[k] = i, (np.int64(low) << 32) | np.int64(high)
        at[low >> _BUCKET_SHIFT] = k + 1


@njit(cache=True, nogil=True)
def _mark_first(link, pair, is_first):
    size = 64
    while size < 2 * len(pair):
        size *= 2
    table = np.full(size, -1, np.int64)
    for k in range(len(pair)):
        at = np.int64(mix(np.uint64(pair[k]))) & (size - 1)
        while table[at] != -1 and table[at] != pair[k]:
            at = (at + 1) & (size - 1)
        if table[at] == -1:
            table[at] = pair[k]
            is_first[link[k]] = True


@njit(cache=True, nogil=True)
def _rounds(
    begin, end, number, first, n_nodes, cells, side, decay, m, seed, squares, sources, chosen
):
    state = np.empty(1, np.uint64)
    row = np.empty(m, np.int32)
    stop = first + n_nodes
    for i in range(begin, end):
        later = min(i + 2 * _AHEAD, end - 1)
        stream = stream_start(seed, _ROUND_KEY + np.uint64(number + later))
        drawn = first + below(word_at(stream, 0), n_nodes)
        prefetch(1, cells, np.uintp(drawn))
        later = min(i + _AHEAD, end - 1)
        stream = stream_start(seed, _ROUND_KEY + np.uint64(number + later))
        drawn = first + below(word_at(stream, 0), n_nodes)
        _fetch(drawn, m, cells, side, squares, stream)
        stream = stream_start(seed, _ROUND_KEY + np.uint64(number + i))
        node = first + below(word_at(stream, 0), n_nodes)
        _draw_others(node, first, stop, m, cells, side, decay, squares, stream, row, state)
        sources[i] = node - first
        for j in range(m):
            chosen[i, j] = row[j] - first


@njit(cache=True, nogil=True)
def _until_all(n_nodes, sources, chosen, is_linked, n_linked):
    """Rounds that are used before each node has a link, links of the last, nodes with a link."""
    for i in range(len(sources)):
        for j in range(chosen.shape[1]):
            for node in (sources[i], chosen[i, j]):
                bit = np.uint8(1) << np.uint8(node & 7)
                if is_linked[node >> 3] & bit == 0:
                    is_linked[node >> 3] |= bit
                    n_linked += 1
            if n_linked == n_nodes:
                return i + 1, j + 1, n_linked
    return len(sources), chosen.shape[1], n_linked
