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
from pipeline.generate.at_once import links_at_once
from pipeline.generate.flat import side_by_side
from pipeline.generate.laws.nearness import (
    bound,
    distance,
    draw_near,
    entry_at,
    fill_tables,
    is_below,
    is_in,
    least_distances,
    one_of_all,
    pack,
    square_at,
    square_of,
    squares_of,
    squares_on_a_side,
    taken,
)
from pipeline.generate.laws.plane import check_plane, plane_side
from pipeline.generate.threads import call_by_graph, call_each
from pipeline.model.borrowing import BORROWS
from pipeline.model.random_words import (
    GOLDEN,
    below,
    draw,
    draw_below,
    draw_unit,
    start_stream,
    stream_start,
    word_at,
)
from pipeline.model.synthetic import GROWTHS, Parameters, check_others

BETA = 0.2  # if none is given; BRITE's

_AHEAD = 12  # nodes whose first draws are fetched into the cache
_NODES_AT_ONCE = 1 << 14  # that a thread links at a time
_FEW_JOINING = 256  # nodes of the first tables
_FEW_ENDS = 8  # that a square is to hold at least
_JOIN_KEY = np.uint64(1 << 50)  # streams apart from those of places and bandwidths
_FIRST_KEY = np.uint64(1 << 51)
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
        first, stop = int(node_ptr[graph]), int(node_ptr[graph + 1])
        if given.growth == "all":
            stream = seed ^ (np.uint64(graph) << np.uint64(32))
            pairs[graph] = links_at_once(first, stop, plane, given.m, stream, n_threads)
        else:
            pairs[graph] = _links_preferring(first, stop, plane, given.m, seed)

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


@njit(**BORROWS)
def _list_chosen(chosen, near, far):
    n = 0
    for node in range(len(chosen)):
        for other in chosen[node]:
            if other >= 0:
                near[n], far[n] = node, other
                n += 1


@njit(cache=True, nogil=True)
def _words(stream, i):
    """What draws node ``i`` of a row first; what is drawn again takes the words after those."""
    return word_at(stream, 1 + 2 * i), word_at(stream, 2 + 2 * i)


@njit(**BORROWS)
def _fetch(node, n_wanted, cells, side, squares, stream):
    """Fetch what ``_draw_others`` will draw first into the cache."""
    own = square_of(cells[node, 0], cells[node, 1], side, len(squares[2]))
    for i in range(n_wanted):
        prefetch(1, squares[1], np.uintp(entry_at(own, squares, _words(stream, i))[1]))


@njit(**BORROWS)
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
            if drawn < 0 or other == node or is_in(row[:n_taken], other):
                refused += 1
                words = draw(state), draw(state)
                continue
        else:
            other = one_of_all(node, first, stop, 0, cells, decay, row[:n_taken], state)
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
            if n < n_linked_here and is_in(chosen[other], node):
                linked[n] = other
                n += 1
        start_stream(state, seed, _FIRST_KEY + np.uint64(node))
        refused = 0
        while n < n_linked_here + n_wanted:
            if refused < _PATIENCE:
                other = later + draw_below(state, stop - later)
                beyond = distance(cells, node, other) * decay
                if not is_below(draw_unit(state), beyond) or is_in(linked[:n], other):
                    refused += 1
                    continue
            else:
                other = one_of_all(node, later, stop, 0, cells, decay, linked[:n], state)
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


def _links_preferring(
    first: int, stop: int, plane: tuple, m: int, seed: np.uint64
) -> tuple[np.ndarray, np.ndarray]:
    """Links of one graph whose nodes draw older ones in proportion to their degree plus one.

    Each square lists its nodes, and again for each of their links. A square is drawn by the room in
    its list, a free place is refused; where a list is full, all get more room, and squares new
    tables. NumPy makes the lists, on huge pages where the system gives them.
    """
    side, decay = plane[1:]
    n_nodes = stop - first
    m = min(m, max(n_nodes - 1, 0))
    near, far = np.empty(n_nodes * m, np.int32), np.empty(n_nodes * m, np.int32)
    n_squares = squares_on_a_side(n_nodes, side, decay)
    least = least_distances(side, n_squares)
    n_all = n_squares * n_squares
    tables = np.empty((n_all, n_all), np.uint64)
    size, ptr, ends = (
        np.zeros(n_all, np.int64),
        np.zeros(n_all + 1, np.int64),
        np.empty(0, np.int64),
    )
    state = np.array([stream_start(seed, _JOIN_KEY + np.uint64(first))], np.uint64)
    row, entries = np.empty(m, np.int32), np.empty(m + 1, np.int64)
    done = np.array([first, 0, -1, 0])
    while done[0] < stop:
        wider = _room(size)
        moved = np.empty(int(wider[-1]), np.int64)
        _move_lists(size, ptr, ends, wider, moved)
        ptr, ends = wider, moved
        fill_tables(np.diff(ptr), least, decay, tables)
        lists = least, tables, size, ptr, ends
        _join_preferring(first, stop, plane, m, lists, state, row, entries, done, near, far)
    return near[: done[1]], far[: done[1]]


@njit(**BORROWS)
def _move_lists(size, ptr, ends, wider, moved):
    for square in range(len(size)):
        for i in range(size[square]):
            moved[wider[square] + i] = ends[ptr[square] + i]


@njit(**BORROWS)
def _join_preferring(first, stop, plane, m, lists, state, row, entries, done, near, far):
    """Join nodes until a list is full.

    ``done``: the node that joins, the links that are there, how many ends of that node's are listed
    (-1: it has drawn none yet), and how many it has drawn; those are in ``row`` and ``entries``.
    """
    cells, side, decay = plane
    least, tables, size, ptr, ends = lists
    node, n_links, n_listed, n_taken = done
    n_squares = len(least)
    while node < stop:
        x, y = cells[node, 0], cells[node, 1]
        own = square_of(x, y, side, n_squares)
        if n_listed < 0:
            n_taken, refused = 0, 0
            while n_taken < min(m, node - first):
                if refused < _PATIENCE:
                    square = square_at(tables[own], draw(state))
                    at = below(draw(state), ptr[square + 1] - ptr[square])
                    if at >= size[square]:
                        refused += 1
                        continue
                    entry = ends[ptr[square] + at]
                    nearest = bound(own, square, least)
                    other = taken(entry, x, y, nearest, stop, decay, state)
                    if other < 0 or is_in(row[:n_taken], other):
                        refused += 1
                        continue
                else:  # nearly all weight lies on the nearest ones
                    other = one_of_all(node, first, node, 0, cells, decay, row[:n_taken], state)
                    entry = pack(other, cells[other, 0], cells[other, 1])
                row[n_taken] = other
                entries[n_taken] = entry
                n_taken += 1
                refused = 0
            for i in range(n_taken):
                near[n_links], far[n_links] = node - first, row[i] - first
                n_links += 1
            n_listed = 0
        while n_listed < 2 * n_taken + 1:
            entry, square = pack(node, x, y), own
            if n_listed < n_taken:
                entry = entries[n_listed]
                square = square_of((entry >> 16) & 0xFFFF, entry & 0xFFFF, side, n_squares)
            if size[square] == ptr[square + 1] - ptr[square]:
                done[0], done[1], done[2], done[3] = node, n_links, n_listed, n_taken
                return
            ends[ptr[square] + size[square]] = entry
            size[square] += 1
            n_listed += 1
        n_listed = -1
        node += 1
    done[0], done[1], done[2], done[3] = node, n_links, n_listed, n_taken
