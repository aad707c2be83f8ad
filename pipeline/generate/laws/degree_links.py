"""Links between nodes of given degrees: random, without loops and parallel links.

The ends of all links are shuffled and taken in pairs (Bollobas: the configuration model); a pair
that is a loop or there already exchanges an end with a random link (Maslov, Sneppen 2002) until it
is neither. Where that does not succeed, as with nearly complete graphs, the links are those of
Havel and Hakimi (each node, from the largest on, is linked to the largest others), which exchange
ends at random ten times each.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.model.forest import find_root
from pipeline.model.random_words import draw_below, mix, start_stream

_LINKS_KEY = np.uint64(1 << 47)  # a stream apart from that of the degrees
_TRIES = 200  # random links with which a pair may exchange an end
_EXCHANGES = 10  # per link, after Havel and Hakimi
_EMPTY = np.int64(-1)


def link_degrees(degrees: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Links of a graph that has these degrees.

    Parameters
    ----------
    degrees : (n_nodes,) int32
        Graphic.
    seed : int

    Returns
    -------
    near, far : (n_links,) int32

    Notes
    -----
    O(n_nodes + n_links) on average; 45 bytes per link at most.
    """
    n_links = int(degrees.sum(dtype=np.int64)) // 2
    near, far = np.empty(n_links, np.int32), np.empty(n_links, np.int32)
    table = np.full(1 << max(4, int(2 * n_links - 1).bit_length()), _EMPTY)
    state = np.empty(1, np.uint64)
    start_stream(state, np.uint64(seed), _LINKS_KEY)
    _pair_ends(degrees, near, far, state)
    if not _mend(len(degrees), near, far, table, state):
        order = np.argsort(-degrees, kind="stable").astype(np.int32)
        left = degrees.copy()
        ends = np.zeros(int(degrees.max(initial=0)) + 2, np.int64)
        counts = np.bincount(degrees, minlength=len(ends))
        ends[: len(counts)] = np.cumsum(counts[::-1])[::-1]
        _havel_hakimi(order, left, ends, near, far)
        table[:] = _EMPTY
        _exchange(len(degrees), near, far, table, state, _EXCHANGES * n_links)
    return near, far


def connect(n_nodes: int, near: np.ndarray, far: np.ndarray) -> None:
    """Make a graph connected by exchanging ends of links; degrees stay.

    Parameters
    ----------
    n_nodes : int
    near, far : (n_links,) int32
        Changed in place. Each node has a link, and there are n_nodes - 1 links or more.

    Notes
    -----
    A link that closes a cycle in one component and a link of another exchange an end: the first
    component stays connected without its link, and each part of the other is linked to it.
    O(n_nodes + n_links).
    """
    above = np.arange(n_nodes, dtype=np.int32)
    _connect(near, far, above, np.full(n_nodes, -1), np.full(n_nodes, -1), np.empty(len(near), int))


@njit(cache=True, nogil=True)
def _pair_ends(degrees, near, far, state):
    ends = np.empty(2 * len(near), np.int32)
    at = 0
    for node in range(len(degrees)):
        for _ in range(degrees[node]):
            ends[at] = node
            at += 1
    for i in range(len(ends) - 1, 0, -1):
        j = draw_below(state, i + 1)
        ends[i], ends[j] = ends[j], ends[i]
    for i in range(len(near)):
        near[i], far[i] = ends[2 * i], ends[2 * i + 1]


@njit(cache=True, nogil=True)
def _key(n_nodes, u, v):
    return np.int64(min(u, v)) * n_nodes + max(u, v)


@njit(cache=True, nogil=True)
def _place(table, key):
    """Where a link is in the table, or where it would be (linear probing)."""
    mask = len(table) - 1
    at = np.int64(mix(np.uint64(key)) & np.uint64(mask))
    while table[at] != _EMPTY and table[at] != key:
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def _remove(table, key):
    """Take a link out and close the gap (Knuth, TAOCP 3, 6.4, R)."""
    mask = len(table) - 1
    gap = _place(table, key)
    at = gap
    while True:
        at = (at + 1) & mask
        if table[at] == _EMPTY:
            break
        home = np.int64(mix(np.uint64(table[at])) & np.uint64(mask))
        if ((at - home) & mask) >= ((at - gap) & mask):
            table[gap] = table[at]
            gap = at
    table[gap] = _EMPTY


@njit(cache=True, nogil=True)
def _try_exchange(n_nodes, near, far, table, i, j, flip):
    """Links i and j exchange an end unless that makes a loop or a parallel link."""
    u, v = near[i], far[i]
    x, y = (far[j], near[j]) if flip else (near[j], far[j])
    if u == x or v == y:
        return False
    first, second = _key(n_nodes, u, x), _key(n_nodes, v, y)
    if first == second or table[_place(table, first)] == first:
        return False
    if table[_place(table, second)] == second:
        return False
    _remove(table, _key(n_nodes, x, y))
    table[_place(table, first)] = first
    table[_place(table, second)] = second
    near[i], far[i], near[j], far[j] = u, x, v, y
    return True


@njit(cache=True, nogil=True)
def _mend(n_nodes, near, far, table, state):
    """Exchange ends of loops and parallel links; False if one could not be removed."""
    wrong = np.zeros(len(near), np.bool_)
    for i in range(len(near)):
        key = _key(n_nodes, near[i], far[i])
        at = _place(table, key)
        wrong[i] = near[i] == far[i] or table[at] == key
        if not wrong[i]:
            table[at] = key
    for i in range(len(near)):
        tries = 0
        while wrong[i]:
            if tries == _TRIES:
                return False
            tries += 1
            j = draw_below(state, len(near))
            flip = draw_below(state, 2) == 1
            if not wrong[j] and _try_exchange(n_nodes, near, far, table, i, j, flip):
                wrong[i] = False
    return True


@njit(cache=True, nogil=True)
def _exchange(n_nodes, near, far, table, state, n_tries):
    for i in range(len(near)):
        key = _key(n_nodes, near[i], far[i])
        table[_place(table, key)] = key
    for _ in range(n_tries):
        i, j = draw_below(state, len(near)), draw_below(state, len(near))
        flip = draw_below(state, 2) == 1
        if i != j:
            old = _key(n_nodes, near[i], far[i])
            if _try_exchange(n_nodes, near, far, table, i, j, flip):
                _remove(table, old)


@njit(cache=True, nogil=True)
def _havel_hakimi(order, left, ends, near, far):
    """Write the links; ``ends[d]``: nodes of ``order`` before this place have degree >= d left."""
    n_nodes = len(order)
    link = 0
    for first in range(n_nodes):
        u = order[first]
        k = left[u]
        if k == 0:
            return
        begin = first + 1
        least = left[order[begin + k - 1]]  # of the k largest others
        start = max(ends[least + 1], begin)
        stop = ends[least]
        n_ties = begin + k - start
        # Of the nodes of that degree the last ones, so that the order stays.
        for at in range(begin, start):
            v = order[at]
            near[link], far[link] = u, v
            left[v] -= 1
            link += 1
        for at in range(stop - n_ties, stop):
            v = order[at]
            near[link], far[link] = u, v
            left[v] -= 1
            link += 1
        for degree in range(least + 1, k + 1):
            ends[degree] = max(ends[degree + 1], begin)
        ends[least] = stop - n_ties


@njit(cache=True, nogil=True)
def _connect(near, far, above, tree, spare, following):
    """``tree``: a link of each component's tree; ``spare``: a list of links that close cycles."""
    closes = np.zeros(len(near), np.bool_)
    for i in range(len(near)):
        u, v = find_root(above, near[i]), find_root(above, far[i])
        closes[i] = u == v
        if u != v:
            above[max(u, v)] = min(u, v)
    n_spare = np.zeros(len(above), np.int64)
    for i in range(len(near)):
        root = find_root(above, near[i])
        if closes[i]:
            following[i] = spare[root]
            spare[root] = i
            n_spare[root] += 1
        else:
            tree[root] = i
    roots = np.array([node for node in range(len(above)) if above[node] == node])
    roots = roots[np.argsort(-n_spare[roots], kind="mergesort")]
    own = spare[roots[0]]
    for root in roots[1:]:
        i, j = own, tree[root]
        own = following[i]
        last = spare[root]  # its own links that close cycles serve the next ones
        while last >= 0:
            after = following[last]
            following[last] = own
            own = last
            last = after
        x = near[j]
        v = far[i]
        far[i] = x
        near[j] = v
