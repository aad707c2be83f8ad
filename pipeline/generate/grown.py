"""Graphs that grow by routers and by links: BRITE's BA-2 and GLP.

Both begin with a few routers. Then, in each step, with probability p ``m`` links are added between
routers that are there, with probability q m links get another end, else a router joins with m
links. Ends are drawn by preference, in proportion to degree - beta.

- BA-2 (``ba2``), Albert, Barabasi: Topology of evolving networks: local events and universality,
  Physical Review Letters 85 (2000): beta = 0; begins with m + 1 routers all linked to one another.
- GLP (``glp``), Bu, Towsley: On distinguishing between Internet power law topology generators,
  INFOCOM 2002: q = 0; begins with m + 1 routers in a chain.

As in BRITE both ends of an added link are drawn by preference (Albert and Barabasi draw the first
uniformly), and only routers join while the graph is nearly complete. Links that get another end may
leave routers without any: a BA-2 graph with q > 0 may fall apart.

Departures from BRITE's engines, which differ from each other: the Java engine counts the m links of
a router that joins twice, the C++ engine forgets the added links of a GLP graph in its preferences;
here preferences follow the degrees.

An end is drawn in constant time, as the end of a random link: a router of degree d is drawn d times
as often. beta is a refusal with probability beta / d. A random link of a random router, which is to
get another end, is a random end that is refused with probability 1 - 1 / d. Each step has a random
stream of its own, so what it will draw first is known and fetched into the cache some steps before.
Ends of links to be moved are drawn from one stream for all steps, before it is known which step
takes them; what is refused is fetched once, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from kernels.cache import prefetch
from pipeline.errors import UsageError
from pipeline.generate.flat import side_by_side
from pipeline.generate.laws.plane import check_plane
from pipeline.generate.threads import call_by_graph
from pipeline.model.borrowing import BORROWS
from pipeline.model.random_words import (
    GOLDEN,
    below,
    draw,
    draw_unit,
    mix,
    stream_start,
    unit,
    word_at,
)
from pipeline.model.synthetic import MAX_LINKS, Parameters, check_others
from pipeline.model.words import number

_KEY = np.uint64(1 << 53)  # streams apart from those of places and bandwidths
_MOVED_KEY = np.uint64(1)  # of a graph's own stream: ends of links to be moved
_FREE = np.int64(-1)  # of a table of pairs
_PATIENCE = 1 << 14  # draws of a link before it is left out: all that may be are there
_ADDED, _MOVED, _JOINED = 0, 1, 2  # what a step does
# Steps before a step, when what it will draw first is fetched: ends of links, then what is known
# of their routers; of links to be moved also whether they are linked to whom they are moved to.
_ENDS_AHEAD, _AHEAD, _SOON = 32, 16, 8
_RING = 64  # steps that are kept in mind; a power of 2 above these
# Draws before a draw of an end of a link to be moved, when it is made, its router's degree is
# fetched, and it is seen whether it will be refused.
_DRAWN_AHEAD, _DEGREE_AHEAD, _TOLD_AHEAD = 96, 64, 40
_DRAWS = 128  # that are kept in mind; a power of 2 above these
# Where they are, a whole number that says whether they are refused, and which of those ahead will
# not be; and counts of these.
_AT, _SHARE, _TOLD = 0, 1, 2
_NEXT, _BOUND, _FIRST_TOLD, _LAST_TOLD = 0, 1, 2, 3
_REFUSED = np.int64(1 << 32)


@dataclass(frozen=True)
class _Growth:
    """What tells the two models apart: numbers if none are given, and how a graph begins."""

    p: float
    q: float | None
    beta: float | None
    is_complete: bool

    def law(self, given: Parameters) -> tuple[float, float, float]:
        """p, q and beta; a model that has none of q or of beta takes 0."""
        p = self.p if given.p is None else given.p
        q = 0.0 if self.q is None else self.q if given.q is None else given.q
        beta = 0.0 if self.beta is None else self.beta if given.beta is None else given.beta
        return p, q, beta


_BA2 = _Growth(p=0.25, q=0.25, beta=None, is_complete=True)
# Bu and Towsley's, for Internets of ASes.
_GLP = _Growth(p=0.4695, q=None, beta=0.6447, is_complete=False)


def links_ba2(
    node_ptr: np.ndarray, places: tuple[np.ndarray, np.ndarray], given: Parameters
) -> tuple[np.ndarray, np.ndarray]:
    """Links of BA-2 graphs side by side, as ``flat_links`` gives them."""
    return _links(node_ptr, given, _BA2)


def links_glp(
    node_ptr: np.ndarray, places: tuple[np.ndarray, np.ndarray], given: Parameters
) -> tuple[np.ndarray, np.ndarray]:
    """Links of GLP graphs side by side, as ``flat_links`` gives them."""
    return _links(node_ptr, given, _GLP)


def numbers_ba2(given: Parameters) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What BRITE writes before its bandwidths, and after them."""
    return (), _BA2.law(given)[:2]


def numbers_glp(given: Parameters) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What BRITE writes before its bandwidths, and after them."""
    return (), _GLP.law(given)[::2]


def check_ba2(given: Parameters) -> None:
    """Raise UsageError for numbers that a BA-2 graph cannot have."""
    _check(given, _BA2)


def check_glp(given: Parameters) -> None:
    """Raise UsageError for numbers that a GLP graph cannot have."""
    _check(given, _GLP)


def _check(given: Parameters, model: _Growth) -> None:
    """Raise UsageError for probabilities that are none, and for more links than there can be."""
    p, q, beta = model.law(given)
    if min(p, q) < 0 or p + q >= 1:
        raise UsageError(
            f"--p {p} and --q {q}: give probabilities whose sum is below 1, or no router joins"
        )
    if beta >= 1:
        raise UsageError(f"--beta {beta}: a GLP graph takes a number below 1 (it may be negative)")
    check_others(given.n_routers, given.m, given.n_routers - 1)
    check_plane(given, given.n_routers)
    expected = given.n_routers * given.m * (1 + p / (1 - p - q))
    if expected * 1.01 > MAX_LINKS:
        raise UsageError(
            f"about {number(int(expected), 'link')} are more than {MAX_LINKS}: give fewer routers, "
            "--links or --p"
        )


def _links(
    node_ptr: np.ndarray, given: Parameters, model: _Growth
) -> tuple[np.ndarray, np.ndarray]:
    law, seed = model.law(given), np.uint64(given.seed)
    pairs = [(np.empty(0, np.int32), np.empty(0, np.int32))] * (len(node_ptr) - 1)

    def make(graph: int, n_threads: int | None) -> None:
        n_nodes = node_ptr[graph + 1] - node_ptr[graph]
        m = min(np.int64(given.m), max(n_nodes - 1, 0))
        start = np.uint64(stream_start(seed, _KEY + np.uint64(graph)))
        ends = _grow(n_nodes, m, *law, model.is_complete, start, *_room(n_nodes, m, *law[:2]))
        pairs[graph] = ends[0::2], ends[1::2]

    call_by_graph(make, node_ptr)
    return side_by_side(pairs, node_ptr)


def _room(
    n_nodes: np.int64, m: np.int64, p: float, q: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ends of links, degrees, the links by which each node joined, a table for pairs of the others.

    For a few more than there will be. NumPy's arrays are on huge pages where the system gives them
    on request; those of compiled code are not, and to read them at random takes twice as long.
    """
    n_first = min(n_nodes, m + 1) ** 2
    joining = 1.0 - p - q
    n_links = int(n_nodes * m * (1.0 + 1.02 * p / joining)) + n_first
    ends = np.empty(2 * n_links + 16, np.int32)
    joined = np.full(n_nodes * m, -1, np.int32)
    n_others = int(n_nodes * m * 1.02 * (p + q) / joining) + n_first
    table = np.full(_table_size(n_others), _FREE, np.int64)
    return ends, np.zeros(n_nodes, np.int32), joined, table


@njit(**BORROWS)
def _table_size(n_pairs):
    """Places of a table of which so many pairs take half at most; a power of 2."""
    size = 64
    while size < 2 * n_pairs:
        size *= 2
    return size


@njit(**BORROWS)
def _key(a, b):
    """A pair of nodes as one number."""
    return (np.int64(min(a, b)) << 32) | np.int64(max(a, b))


@njit(**BORROWS)
def _home(key, table):
    """Where a pair would stand in an empty table."""
    return np.int64(mix(np.uint64(key))) & (len(table) - 1)


@njit(**BORROWS)
def _slot(key, table):
    """Where a pair stands in a table of pairs, or the free place where it would."""
    at = _home(key, table)
    while table[at] != _FREE and table[at] != key:
        at = (at + 1) & (len(table) - 1)
    return at


@njit(cache=True, nogil=True)
def _table_for(n_pairs, pairs):
    """A table with room for ``n_pairs``, and those of another in it."""
    table = np.full(_table_size(n_pairs), _FREE, np.int64)
    for key in pairs:
        if key != _FREE:
            table[_slot(key, table)] = key
    return table


@njit(**BORROWS)
def _is_linked(a, b, m, joined, table):
    """Whether two nodes are linked: the newer joined by this link, or it was added later."""
    newer, older = max(a, b), min(a, b)
    for i in range(newer * m, newer * m + m):
        if joined[i] == older:
            return True
    key = _key(a, b)
    return table[_slot(key, table)] == key


@njit(**BORROWS)
def _preferred(word, n_ends, beta, ends, degree, state):
    """A node in proportion to degree - beta; ``word`` is what the first draw takes."""
    while True:
        node = ends[below(word, n_ends)]
        # A negative beta prefers nodes of small degrees.
        share = (degree[node] - beta) / degree[node]
        if beta < 0.0:
            share /= 1.0 - beta
        if share >= 1.0 or draw_unit(state) < share:
            return node
        word = draw(state)


@njit(**BORROWS)
def _append(a, b, n_ends, ends, degree):
    ends[n_ends], ends[n_ends + 1] = a, b
    degree[a] += 1
    degree[b] += 1
    return n_ends + 2


@njit(cache=True, nogil=True)
def _longer(values):
    longer = np.empty(len(values) + len(values) // 2 + 16, values.dtype)
    longer[: len(values)] = values
    return longer


@njit(**BORROWS)
def _kind(stream, p, q):
    """What a step does, by the first word of its stream."""
    what = unit(word_at(stream, 0))
    return _ADDED if what < p else _MOVED if what < p + q else _JOINED


@njit(**BORROWS)
def _fetch_ends(stream, kind, m, n_ends, ends):
    """Fetch the ends that a step will draw first, if there will be ``n_ends`` then."""
    for i in range(2 * m if kind == _ADDED else m):
        more = 2 * (i // 2) if kind == _ADDED else 0
        prefetch(1, ends, np.uintp(below(word_at(stream, 1 + i), n_ends + more)) >> np.uintp(1))


@njit(**BORROWS)
def _fetch_nodes(stream, kind, m, n_ends, n_there, ends, degree, joined, table):
    """Fetch what a step will need of the nodes that it draws first; ``n_there``: ends by now."""
    before = np.int64(-1)
    for i in range(2 * m if kind == _ADDED else m):
        more = 2 * (i // 2) if kind == _ADDED else 0
        at = below(word_at(stream, 1 + i), n_ends + more)
        node = np.int64(ends[at]) if at < n_there else np.int64(-1)
        if node >= 0:
            prefetch(1, degree, np.uintp(node) >> np.uintp(1))
        if kind == _ADDED and i & 1 == 1 and node >= 0 and before >= 0:
            _fetch_pair(before, node, m, joined, table)
        before = node


@njit(**BORROWS)
def _fetch_pair(a, b, m, joined, table):
    """Fetch what says whether two nodes are linked."""
    prefetch(1, table, np.uintp(_home(_key(a, b), table)))
    prefetch(1, joined, np.uintp(max(a, b) * m) >> np.uintp(1))


@njit(**BORROWS)
def _fetch_moved(stream, n_before, m, n_ends, n_there, draws, counts, ends, joined, table):
    """Of a step that moves links: fetch what says whether they may end there.

    ``n_before``: links that are moved before.
    """
    for i in range(m):
        which = counts[_FIRST_TOLD] + n_before + i
        to = below(word_at(stream, 1 + i), n_ends)
        if which < counts[_LAST_TOLD] and to < n_there:
            node = ends[draws[_AT, draws[_TOLD, which & (_DRAWS - 1)] & (_DRAWS - 1)]]
            _fetch_pair(np.int64(node), np.int64(ends[to]), m, joined, table)


@njit(**BORROWS)
def _draw_end(start, number, draws, counts, ends):
    """Draw an end of which it is to be seen whether its link is moved, and fetch it."""
    i = number & (_DRAWS - 1)
    draws[_AT, i] = below(word_at(start, 2 * number), counts[_BOUND])
    draws[_SHARE, i] = np.int64(word_at(start, 2 * number + 1) >> np.uint64(32))
    prefetch(1, ends, np.uintp(draws[_AT, i]) >> np.uintp(1))


@njit(**BORROWS)
def _look_ahead(start, m, n_ends, draws, counts, ends, degree, joined, table):
    """Draw one more end, and fetch what those that come soon will need."""
    number = counts[_NEXT]
    _draw_end(start, number + _DRAWN_AHEAD, draws, counts, ends)
    soon = draws[_AT, (number + _DEGREE_AHEAD) & (_DRAWS - 1)]
    if soon < n_ends:
        prefetch(1, degree, np.uintp(ends[soon]) >> np.uintp(1))
    number += _TOLD_AHEAD
    soon = draws[_AT, number & (_DRAWS - 1)]
    if soon < n_ends and draws[_SHARE, number & (_DRAWS - 1)] * degree[ends[soon]] < _REFUSED:
        draws[_TOLD, counts[_LAST_TOLD] & (_DRAWS - 1)] = number
        counts[_LAST_TOLD] += 1
        left = np.int64(ends[soon ^ 1])
        prefetch(1, degree, np.uintp(left) >> np.uintp(1))
        _fetch_pair(np.int64(ends[soon]), left, m, joined, table)


@njit(**BORROWS)
def _end_to_move(start, m, n_ends, draws, counts, ends, degree, joined, table):
    """An end of a random link of a random router with links.

    A router is drawn as the router of a random end, and refused as often as its degree is greater
    than 1.
    """
    if n_ends > counts[_BOUND]:  # some more than there are, or each step would draw all again
        counts[_BOUND] = n_ends + n_ends // 64 + 256
        for number in range(counts[_NEXT], counts[_NEXT] + _DRAWN_AHEAD):
            _draw_end(start, number, draws, counts, ends)
        counts[_FIRST_TOLD] = counts[_LAST_TOLD]
    while True:
        _look_ahead(start, m, n_ends, draws, counts, ends, degree, joined, table)
        number = counts[_NEXT]
        counts[_NEXT] += 1
        i = number & (_DRAWS - 1)
        at = draws[_AT, i]
        if at < n_ends and draws[_SHARE, i] * degree[ends[at]] < _REFUSED:
            while (
                counts[_FIRST_TOLD] < counts[_LAST_TOLD]
                and draws[_TOLD, counts[_FIRST_TOLD] & (_DRAWS - 1)] <= number
            ):
                counts[_FIRST_TOLD] += 1
            return at


@njit(cache=True, nogil=True)
def _grow(n_nodes, m, p, q, beta, is_complete, start, ends, degree, joined, table):
    """Links of one graph of the nodes 0 .. n_nodes - 1; the arrays are those of ``_room``.

    Link i ends at ends[2 i] and ends[2 i + 1].
    """
    state = np.empty(1, np.uint64)
    n_first = min(n_nodes, m + 1)
    n_ends, n_in_table = 0, 0
    for node in range(1, n_first):
        for other in range(0 if is_complete else node - 1, node):
            key = _key(node, other)
            table[_slot(key, table)] = key
            n_in_table += 1
            n_ends = _append(node, other, n_ends, ends, degree)
    there, step = n_first, 0
    # What the next steps do, and the ends that there will be then if none leaves a link out.
    streams, kinds = np.empty(_RING, np.uint64), np.empty(_RING, np.int64)
    foreseen = np.full(_RING, n_ends)
    n_foreseen, n_moved = n_ends, 0
    moved_before = np.zeros(_RING, np.int64)  # steps that move links
    for soon in range(_ENDS_AHEAD):
        streams[soon] = word_at(start, soon)
        kinds[soon] = _kind(streams[soon], p, q)
        foreseen[soon], moved_before[soon] = n_foreseen, n_moved
        n_foreseen += 0 if kinds[soon] == _MOVED else 2 * m
        n_moved += kinds[soon] == _MOVED
    # Of ends whose links may be moved; as ``_draw_end`` makes them.
    moving = stream_start(start, _MOVED_KEY)
    draws, counts = np.zeros((3, _DRAWS), np.int64), np.zeros(4, np.int64)
    while there < n_nodes:
        at = (step + _ENDS_AHEAD) & (_RING - 1)
        streams[at] = word_at(start, step + _ENDS_AHEAD)
        kinds[at] = _kind(streams[at], p, q)
        foreseen[at], moved_before[at] = n_foreseen, n_moved
        n_foreseen += 0 if kinds[at] == _MOVED else 2 * m
        n_moved += kinds[at] == _MOVED
        _fetch_ends(streams[at], kinds[at], m, foreseen[at], ends)
        at = (step + _AHEAD) & (_RING - 1)
        _fetch_nodes(
            *(streams[at], kinds[at], m, foreseen[at], n_ends, ends, degree, joined, table)
        )
        at = (step + _SOON) & (_RING - 1)
        if kinds[at] == _MOVED:
            n_before = (moved_before[at] - moved_before[step & (_RING - 1)]) * m
            _fetch_moved(
                *(
                    streams[at],
                    n_before,
                    m,
                    foreseen[at],
                    n_ends,
                    draws,
                    counts,
                    ends,
                    joined,
                    table,
                )
            )
        at = step & (_RING - 1)
        stream, kind = streams[at], kinds[at]
        step += 1
        n_expected = n_ends + (0 if kind == _MOVED else 2 * m)
        if n_ends // 2 >= there * (there - 1) // 2 - 2 * (m + 1):
            kind = _JOINED  # nearly complete
        while n_ends + 2 * m > len(ends):
            ends = _longer(ends)
        if 2 * (n_in_table + m) > len(table):
            table = _table_for(len(table), table)
        # Words of numbers 1 .. 2 m are what is drawn first, those after them what is drawn again.
        state[0] = stream + np.uint64(2 * m + 1) * GOLDEN
        if kind == _ADDED:
            for i in range(m):
                word_a, word_b = word_at(stream, 1 + 2 * i), word_at(stream, 2 + 2 * i)
                for _ in range(_PATIENCE):
                    a = _preferred(word_a, n_ends, beta, ends, degree, state)
                    b = _preferred(word_b, n_ends, beta, ends, degree, state)
                    if a != b and not _is_linked(a, b, m, joined, table):
                        key = _key(a, b)
                        table[_slot(key, table)] = key
                        n_in_table += 1
                        n_ends = _append(a, b, n_ends, ends, degree)
                        break
                    word_a, word_b = draw(state), draw(state)
        elif kind == _MOVED:
            for i in range(m):
                n_in_table += _move(
                    *(word_at(stream, 1 + i), moving, draws, counts, n_ends, beta, m),
                    *(ends, degree, joined, table, state),
                )
        else:
            before, row = n_ends, there * m
            for i in range(m):
                other = _preferred(word_at(stream, 1 + i), before, beta, ends, degree, state)
                while other in joined[row : row + i]:
                    other = _preferred(draw(state), before, beta, ends, degree, state)
                joined[row + i] = other
                n_ends = _append(there, other, n_ends, ends, degree)
            there += 1
        n_foreseen += n_ends - n_expected
    return ends[:n_ends]


@njit(**BORROWS)
def _move(word, moving, draws, counts, n_ends, beta, m, ends, degree, joined, table, state):
    """A random link of a random node gets another end, by preference; how many pairs are new."""
    for _ in range(_PATIENCE):
        moved = _end_to_move(moving, m, n_ends, draws, counts, ends, degree, joined, table) ^ 1
        node, left = ends[moved ^ 1], ends[moved]
        other = _preferred(word, n_ends, beta, ends, degree, state)
        word = draw(state)
        if other == node or _is_linked(node, other, m, joined, table):
            continue
        n_more = 1
        newer, older = max(node, left), min(node, left)
        for i in range(newer * m, newer * m + m):
            if joined[i] == older:
                joined[i] = -1
                break
        else:
            _remove_pair(_key(node, left), table)
            n_more = 0
        ends[moved] = other
        degree[left] -= 1
        degree[other] += 1
        key = _key(node, other)
        table[_slot(key, table)] = key
        return n_more
    return 0


@njit(**BORROWS)
def _remove_pair(key, table):
    """Take a pair out; those behind it move up (Knuth, TAOCP 3, 6.4, R)."""
    mask = len(table) - 1
    hole = _slot(key, table)
    at = hole
    while True:
        at = (at + 1) & mask
        if table[at] == _FREE:
            break
        home = _home(table[at], table)
        if ((at - home) & mask) >= ((at - hole) & mask):
            table[hole] = table[at]
            hole = at
    table[hole] = _FREE
