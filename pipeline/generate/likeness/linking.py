"""Links between routers in classes, as many between each two classes as are wanted.

Ends of links are shuffled within their classes and paired. A pair that is a loop, or linked
already, is linked as Gjoka, Tillman and Markopoulou do (Construction of simple graphs with a target
joint degree matrix and beyond, INFOCOM 2015): two other routers of these classes that are not
linked are, after each has given a neighbour to the router that lacks one. Where all routers of a
class have one degree, this never fails for a matrix that any graph has; else what fails is left out
and counted.

Components are then joined: a link that closes a cycle and a link of another component exchange ends
of one class, which leaves the links between classes as they are.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.generate.likeness.plan import Plan
from pipeline.model.forest import find_root
from pipeline.model.random_words import draw_below, start_stream

_KEY = np.uint64(1 << 50)  # streams apart from those of other models, plus the first AS
_TRIES = 100  # random pairs of routers before all pairs of two classes are tried
_ALL_PAIRS = 1 << 22  # of so many at most


def link(plan: Plan, seed: int, first: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Link the routers of a plan.

    Parameters
    ----------
    plan : Plan
    seed, first : int
        Of the stream of random words.

    Returns
    -------
    indptr, indices : (n_nodes + 1,) int64, (n_arcs,) int32
        A symmetric CSR; rows are not sorted.
    n_lacking : int
        Links that were wanted and could not be made.

    Notes
    -----
    O(n_nodes + n_links) but for hubs; 60 bytes per link at most.
    """
    state = np.empty(1, np.uint64)
    start_stream(state, np.uint64(seed), _KEY + np.uint64(first))
    indptr = np.zeros(len(plan.degree) + 1, np.int64)
    np.cumsum(plan.degree, out=indptr[1:])
    node_class = plan.node_class()
    indices = np.empty(int(indptr[-1]), np.int32)
    length = np.zeros(len(plan.degree), np.int32)
    waiting = _pair(
        indptr,
        node_class,
        plan.class_ptr,
        plan.near,
        plan.far,
        plan.n_links,
        indices,
        length,
        state,
    )
    n_lacking = _place(indptr, indices, length, node_class, plan.class_ptr, waiting, state)
    n_lacking += (int(indptr[-1]) - 2 * int(plan.n_links.sum())) // 2
    return *_compact(indptr, indices, length), n_lacking


def connect(
    indptr: np.ndarray, indices: np.ndarray, node_class: np.ndarray, class_group: np.ndarray
) -> int:
    """Make each group of classes one component by exchanging ends of links, in place.

    Parameters
    ----------
    indptr, indices
        As ``link`` returns them.
    node_class : (n_nodes,) int32
    class_group : (n_classes,) int64
        Ascending; no link joins two groups.

    Returns
    -------
    int
        Exchanges of ends of two classes: only these change the links between classes.
    """
    return _connect(indptr, indices, node_class, class_group)


@njit(cache=True, nogil=True)
def is_linked(indptr, indices, length, u, v):
    """Whether two nodes are linked; ``length``: of their rows."""
    if length[u] > length[v]:
        u, v = v, u
    for k in range(indptr[u], indptr[u] + length[u]):  # noqa: SIM110 - compiled
        if indices[k] == v:
            return True
    return False


@njit(cache=True, nogil=True)
def replace(indptr, indices, length, u, old, new):
    """Replace a neighbour of u by another."""
    for k in range(indptr[u], indptr[u] + length[u]):
        if indices[k] == old:
            indices[k] = new
            return


@njit(cache=True, nogil=True)
def swap(indptr, indices, length, a, x, w, y):
    """Links (a, x), (w, y) become (a, w), (x, y)."""
    replace(indptr, indices, length, a, x, w)
    replace(indptr, indices, length, w, y, a)
    replace(indptr, indices, length, x, a, y)
    replace(indptr, indices, length, y, w, x)


@njit(cache=True, nogil=True)
def _add(indptr, indices, length, u, v):
    indices[indptr[u] + length[u]] = v
    length[u] += 1
    indices[indptr[v] + length[v]] = u
    length[v] += 1


@njit(cache=True, nogil=True)
def _pair(indptr, node_class, class_ptr, near, far, n_links, indices, length, state):
    """Pair shuffled ends; the pairs that are loops or linked already, (n, 2) int32."""
    ends = np.empty(len(indices), np.int32)
    for u in range(len(length)):
        ends[indptr[u] : indptr[u + 1]] = u
    at = np.empty(len(class_ptr) - 1, np.int64)
    for i in range(len(at)):
        at[i] = first = indptr[class_ptr[i]]
        for k in range(indptr[class_ptr[i + 1]] - 1, first, -1):
            j = first + draw_below(state, k - first + 1)
            ends[k], ends[j] = ends[j], ends[k]
    waiting = np.empty((1024, 2), np.int32)
    n_waiting = 0
    for i in range(len(near)):
        for _ in range(n_links[i]):
            u = ends[at[near[i]]]
            at[near[i]] += 1
            v = ends[at[far[i]]]
            at[far[i]] += 1
            if u == v or is_linked(indptr, indices, length, u, v):
                if n_waiting == len(waiting):
                    more = np.empty((2 * n_waiting, 2), np.int32)
                    more[:n_waiting] = waiting
                    waiting = more
                waiting[n_waiting, 0], waiting[n_waiting, 1] = u, v
                n_waiting += 1
            else:
                _add(indptr, indices, length, u, v)
    return waiting[:n_waiting]


@njit(cache=True, nogil=True)
def _place(indptr, indices, length, node_class, class_ptr, waiting, state):
    """Link the classes of each pair; how many could not be."""
    n_lacking = 0
    for i in range(len(waiting)):
        u, v = waiting[i, 0], waiting[i, 1]
        a, b = node_class[u], node_class[v]
        n_a, n_b = class_ptr[a + 1] - class_ptr[a], class_ptr[b + 1] - class_ptr[b]
        done = False
        for _ in range(_TRIES):
            x = class_ptr[a] + draw_below(state, n_a)
            y = class_ptr[b] + draw_below(state, n_b)
            if _try_link(indptr, indices, length, node_class, class_ptr, x, y, u, v):
                done = True
                break
        if not done and n_a * n_b <= _ALL_PAIRS:
            for x in range(class_ptr[a], class_ptr[a + 1]):
                for y in range(class_ptr[b], class_ptr[b + 1]):
                    if _try_link(indptr, indices, length, node_class, class_ptr, x, y, u, v):
                        done = True
                        break
                if done:
                    break
        n_lacking += not done
    return n_lacking


@njit(cache=True, nogil=True)
def _try_link(indptr, indices, length, node_class, class_ptr, x, y, u, v):
    """Link x and y; u and v, of their classes, lack a neighbour each, or others do."""
    if x == y or is_linked(indptr, indices, length, x, y):
        return False
    if not _free(indptr, indices, length, node_class, class_ptr, x, u, -1):
        return False
    if not _free(indptr, indices, length, node_class, class_ptr, y, v, x):
        return False
    _add(indptr, indices, length, x, y)
    return True


@njit(cache=True, nogil=True)
def _lacks(indptr, length, u):
    return indptr[u + 1] - indptr[u] - length[u]


@njit(cache=True, nogil=True)
def _free(indptr, indices, length, node_class, class_ptr, x, likely, but):
    """Have x lack a neighbour: it gives one to a node of its class that does; False if none can.

    ``likely`` is asked first; ``but`` has to keep one place free.
    """
    if _lacks(indptr, length, x) > 0:
        return True
    i = node_class[x]
    for k in range(class_ptr[i] - 1, class_ptr[i + 1]):
        free = likely if k < class_ptr[i] else k
        has_place = _lacks(indptr, length, free) > (1 if free == but else 0)
        if has_place and _give(indptr, indices, length, x, free):
            return True
    return False


@njit(cache=True, nogil=True)
def _give(indptr, indices, length, x, free):
    """Have x give a neighbour to a node that lacks one; False if it has none to give."""
    for k in range(indptr[x], indptr[x] + length[x]):
        t = indices[k]
        if t != free and not is_linked(indptr, indices, length, free, t):
            length[x] -= 1
            indices[k] = indices[indptr[x] + length[x]]
            indices[indptr[free] + length[free]] = t
            length[free] += 1
            replace(indptr, indices, length, t, x, free)
            return True
    return False


@njit(cache=True, nogil=True)
def _compact(indptr, indices, length):
    """The same without the places that stayed empty."""
    at = np.int64(0)
    for u in range(len(length)):
        first = indptr[u]
        indptr[u] = at
        if first != at:
            for k in range(length[u]):
                indices[at + k] = indices[first + k]
        at += length[u]
    indptr[len(length)] = at
    return indptr, indices[:at]


@njit(cache=True, nogil=True)
def _connect(indptr, indices, node_class, class_group):
    n = len(node_class)
    above = np.arange(n, dtype=np.int32)
    # Links that close a cycle, chained by component; first those that make the components.
    n_links = len(indices) // 2
    n_pieces = n
    for u in range(n):
        for k in range(indptr[u], indptr[u + 1]):
            a, b = find_root(above, u), find_root(above, indices[k])
            if a != b:
                above[max(a, b)] = min(a, b)
                n_pieces -= 1
    n_groups = 0
    for i in range(len(class_group)):
        n_groups += i == 0 or class_group[i] != class_group[i - 1]
    if n_pieces == n_groups:
        return 0
    n_spare = max(n_links - n + n_pieces, 0)
    spare = np.empty((n_spare, 2), np.int32)
    after, head, count = np.empty(n_spare, np.int64), np.full(n, -1), np.zeros(n, np.int64)
    tree = np.arange(n, dtype=np.int32)
    at = 0
    for u in range(
        n - 1, -1, -1
    ):  # from hubs on, so that links of few others are left for exchange
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if v > u:
                continue
            a, b = find_root(tree, u), find_root(tree, v)
            if a != b:
                tree[max(a, b)] = min(a, b)
                continue
            root = find_root(above, u)
            spare[at, 0], spare[at, 1] = v, u
            after[at], head[root] = head[root], at
            count[root] += 1
            at += 1
    # Nodes of each component, chained; components of each group, those of most spare links first.
    members, next_member = np.full(n, -1), np.full(n, -1)
    for u in range(n - 1, -1, -1):
        root = find_root(above, u)
        next_member[u] = members[root]
        members[root] = u
    roots = np.array([u for u in range(n) if above[u] == u])
    roots = roots[np.argsort(-count[roots], kind="mergesort")]
    roots = roots[np.argsort(class_group[node_class[roots]], kind="mergesort")]
    length = np.diff(indptr)
    used = np.zeros(n_spare, np.bool_)
    bucket = np.full(len(class_group), -1)  # of each class, entries 2 i and 2 i + 1 of spare i
    chain = np.full(2 * n_spare, -1)
    pool, n_pool = np.empty(n_spare, np.int64), 0  # all of this group
    group, n_across = -1, 0
    for root in roots:
        own = class_group[node_class[root]]
        joined = own != group  # the first of a group has nothing to be joined to
        lost_a, lost_b = -1, -1
        if joined:
            group, n_pool = own, 0
        else:
            c, entry = members[root], -1
            while c >= 0 and entry < 0:
                i = node_class[c]
                while bucket[i] >= 0 and used[bucket[i] >> 1]:
                    bucket[i] = chain[bucket[i]]
                entry = bucket[i] if length[c] > 0 else -1
                if entry < 0:
                    c = next_member[c]
            if entry < 0:
                c = members[root]
                while n_pool > 0 and used[pool[n_pool - 1]]:
                    n_pool -= 1
                if n_pool == 0 or length[c] == 0:
                    continue  # it stays apart
                entry = 2 * pool[n_pool - 1]
                n_across += 1
            used[entry >> 1] = True
            a, b = spare[entry >> 1, entry & 1], spare[entry >> 1, 1 - (entry & 1)]
            d = indices[indptr[c]]
            replace(indptr, indices, length, a, b, d)
            replace(indptr, indices, length, b, a, c)
            replace(indptr, indices, length, c, d, b)
            replace(indptr, indices, length, d, c, a)
            lost_a, lost_b = min(c, d), max(c, d)
        i = head[root]
        while i >= 0:
            if spare[i, 0] == lost_a and spare[i, 1] == lost_b:
                used[i] = True
            else:
                for end in range(2):
                    k = node_class[spare[i, end]]
                    chain[2 * i + end] = bucket[k]
                    bucket[k] = 2 * i + end
                pool[n_pool] = i
                n_pool += 1
            i = after[i]
    return n_across
