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
as often. beta is a refusal with probability beta / d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pipeline.errors import UsageError
from pipeline.generate.laws.plane import check_plane
from pipeline.model.random_words import draw_below, draw_unit, mix, start_stream
from pipeline.model.synthetic import MAX_LINKS, Parameters, check_others
from pipeline.model.words import number

_KEY = np.uint64(1 << 53)  # streams apart from those of places and bandwidths
_FREE = np.int64(-1)  # of a table of pairs
_PATIENCE = 1 << 14  # draws of a link before it is left out: all that may be are there


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
    p, q, beta = model.law(given)
    nears, fars = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for graph in range(len(node_ptr) - 1):
        n_nodes = node_ptr[graph + 1] - node_ptr[graph]
        m = min(np.int64(given.m), max(n_nodes - 1, 0))
        near, far = _grow(
            n_nodes, m, p, q, beta, model.is_complete, np.uint64(given.seed), np.uint64(graph)
        )
        nears.append(near.astype(np.int64) + node_ptr[graph])
        fars.append(far.astype(np.int64) + node_ptr[graph])
    return np.concatenate(nears), np.concatenate(fars)


@njit(cache=True, nogil=True)
def _slot(a, b, table):
    """Where the pair of nodes stands in a table of pairs, or the free place where it would."""
    key = (np.int64(min(a, b)) << 32) | np.int64(max(a, b))
    mask = len(table) - 1
    at = np.int64(mix(np.uint64(key))) & mask
    while table[at] != _FREE and table[at] != key:
        at = (at + 1) & mask
    return at, key


@njit(cache=True, nogil=True)
def _table_of(ends, n_ends, n_more):
    """A table of the links with room for more; at most half of it will be taken."""
    size = 64
    while size < 2 * n_ends + 2 * n_more:
        size *= 2
    table = np.full(size, _FREE, np.int64)
    for i in range(0, n_ends, 2):
        at, key = _slot(ends[i], ends[i + 1], table)
        table[at] = key
    return table


@njit(cache=True, nogil=True)
def _preferred(n_ends, beta, ends, degree, state):
    while True:
        node = ends[draw_below(state, n_ends)]
        # In proportion to degree - beta; a negative beta prefers nodes of small degrees.
        share = (degree[node] - beta) / degree[node]
        if beta < 0.0:
            share /= 1.0 - beta
        if share >= 1.0 or draw_unit(state) < share:
            return node


@njit(cache=True, nogil=True)
def _append(a, b, n_ends, ends, degree, table):
    ends[n_ends], ends[n_ends + 1] = a, b
    degree[a] += 1
    degree[b] += 1
    at, key = _slot(a, b, table)
    table[at] = key
    return n_ends + 2


@njit(cache=True, nogil=True)
def _longer(values):
    longer = np.empty(len(values) + len(values) // 2 + 16, values.dtype)
    longer[: len(values)] = values
    return longer


@njit(cache=True, nogil=True)
def _grow(n_nodes, m, p, q, beta, is_complete, seed, graph):
    """Links of one graph of the nodes 0 .. n_nodes - 1."""
    state = np.empty(1, np.uint64)
    start_stream(state, seed, _KEY + graph)
    n_first = min(n_nodes, m + 1)
    # Link i ends at ends[2 i] and ends[2 i + 1].
    ends = np.empty(2 * (n_nodes * m + n_first * n_first) + 16, np.int32)
    degree = np.zeros(n_nodes, np.int32)
    table = _table_of(ends, 0, 0)
    n_ends = 0
    # Entries of a node among the ends, each with its neighbours; they are kept where links move.
    head = np.full(n_nodes if q > 0.0 else 0, -1, np.int32)
    following = np.empty(len(ends) if q > 0.0 else 0, np.int32)
    preceding = np.empty_like(following)
    n_listed = 0
    for node in range(1, n_first):
        for other in range(0 if is_complete else node - 1, node):
            if 2 * (n_ends + 2) > len(table):
                table = _table_of(ends, n_ends, 2)
            n_ends = _append(node, other, n_ends, ends, degree, table)
    there = n_first
    while there < n_nodes:
        what = draw_unit(state)
        if n_ends // 2 >= there * (there - 1) // 2 - 2 * (m + 1):
            what = 1.0  # nearly complete: routers join
        while n_ends + 2 * m > len(ends):
            ends = _longer(ends)
            if q > 0.0:
                following, preceding = _longer(following), _longer(preceding)
        if 2 * (n_ends + 2 * m) > len(table):
            table = _table_of(ends, n_ends, 2 * m)
        if what < p:
            for _ in range(m):
                for _ in range(_PATIENCE):
                    a = _preferred(n_ends, beta, ends, degree, state)
                    b = _preferred(n_ends, beta, ends, degree, state)
                    if a != b and table[_slot(a, b, table)[0]] == _FREE:
                        n_ends = _append(a, b, n_ends, ends, degree, table)
                        break
        elif what < p + q:
            while n_listed < n_ends:
                _list(n_listed, ends[n_listed], head, following, preceding)
                n_listed += 1
            for _ in range(m):
                lists = (head, following, preceding)
                _move(there, n_ends, beta, ends, lists, degree, table, state)
        else:
            before = n_ends
            for _ in range(m):
                other = _preferred(before, beta, ends, degree, state)
                while table[_slot(there, other, table)[0]] != _FREE:
                    other = _preferred(before, beta, ends, degree, state)
                n_ends = _append(there, other, n_ends, ends, degree, table)
            there += 1
    return ends[0:n_ends:2].copy(), ends[1:n_ends:2].copy()


@njit(cache=True, nogil=True)
def _list(entry, node, head, following, preceding):
    """Put an entry before the others of a node."""
    following[entry], preceding[entry] = head[node], -1
    if head[node] >= 0:
        preceding[head[node]] = entry
    head[node] = entry


@njit(cache=True, nogil=True)
def _unlist(entry, node, head, following, preceding):
    if preceding[entry] < 0:
        head[node] = following[entry]
    else:
        following[preceding[entry]] = following[entry]
    if following[entry] >= 0:
        preceding[following[entry]] = preceding[entry]


@njit(cache=True, nogil=True)
def _move(there, n_ends, beta, ends, lists, degree, table, state):
    """A random link of a random node gets another end, drawn by preference."""
    head, following, preceding = lists
    for _ in range(_PATIENCE):
        node = np.int32(draw_below(state, there))
        if degree[node] == 0:
            continue
        entry = head[node]
        for _ in range(draw_below(state, np.int64(degree[node]))):
            entry = following[entry]
        other = _preferred(n_ends, beta, ends, degree, state)
        if other == node or table[_slot(node, other, table)[0]] != _FREE:
            continue
        moved, left = entry ^ 1, ends[entry ^ 1]
        _remove_pair(node, left, table)
        degree[left] -= 1
        _unlist(moved, left, head, following, preceding)
        ends[moved] = other
        degree[other] += 1
        _list(moved, other, head, following, preceding)
        at, key = _slot(node, other, table)
        table[at] = key
        return


@njit(cache=True, nogil=True)
def _remove_pair(a, b, table):
    """Take a pair out; those behind it move up (Knuth, TAOCP 3, 6.4, R)."""
    mask = len(table) - 1
    hole = _slot(a, b, table)[0]
    at = hole
    while True:
        at = (at + 1) & mask
        if table[at] == _FREE:
            break
        home = np.int64(mix(np.uint64(table[at]))) & mask
        if ((at - home) & mask) >= ((at - hole) & mask):
            table[hole] = table[at]
            hole = at
    table[hole] = _FREE
