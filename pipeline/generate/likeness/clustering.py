"""Triangles as many as in the original: links exchange ends where that brings them nearer.

Two links (a, x) and (w, y), x and w of one class, become (a, w) and (x, y): degrees and the links
between classes stay (Gjoka, Kurant, Markopoulou: 2.5K-graphs: from sampling to generation, INFOCOM
2013, target the clustering of each degree by such exchanges). To make triangles, a and w are drawn
among the neighbours of a router whose class lacks some; to break them, (a, x) is a link of a router
whose class has too many and w any router. An exchange is kept if it lowers the sum over classes of
|corners - wanted| / (degree - 1), and if x still reaches a or w: a search of a few routers decides
this, so what is cut off is large and rare; ``linking.connect`` joins it again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.generate.likeness.linking import is_linked, replace
from pipeline.generate.likeness.plan import Plan
from pipeline.generate.likeness.triangles import corners
from pipeline.model.random_words import draw_below, draw_unit, start_stream

_KEY = np.uint64((1 << 50) + (1 << 40))  # plus the first AS
_ROUND = 1  # links per exchange tried in a round; after each the gain is judged
_MOST_ROUNDS = 40
_MOST_TRIES = 1 << 25  # of a graph with many links, or two rounds: some 20 s of a core
_GAIN = 0.004  # of a round, as share of what is lacking, below which no further one follows
_LONG_ROW = 512  # neighbours of two routers of more are not compared
_SEEN = 24  # routers that a search for another path visits
_HUB = 64  # degree from which a router is taken to be in the large part
_SCANNED = 64  # neighbours among which one of a class is looked for


def cluster(plan: Plan, indptr: np.ndarray, indices: np.ndarray, seed: int, first: int) -> None:
    """Exchange ends of links, in place, until there are as many triangles as wanted.

    Parameters
    ----------
    plan : Plan
    indptr, indices
        As ``linking.link`` returns them.
    seed, first : int
        Of the stream of random words.

    Notes
    -----
    Some microseconds for each triangle that is lacking.
    """
    state = np.empty(1, np.uint64)
    start_stream(state, np.uint64(seed), _KEY + np.uint64(first))
    node_class = plan.node_class()
    found = corners(indptr, indices)
    have = np.bincount(node_class, weights=found, minlength=len(plan.group))
    degree = np.diff(indptr)
    n_each = np.diff(plan.class_ptr)
    mean = np.bincount(node_class, weights=degree, minlength=len(plan.group)) / np.maximum(
        n_each, 1
    )
    price = 1 / np.maximum(mean - 1, 1)
    lacking = _distance(have, plan.corners, price)
    wanted = float((plan.corners * price).sum())
    n_tries = len(indices) // (2 * _ROUND) + 1000
    for _ in range(min(_MOST_ROUNDS, max(2, _MOST_TRIES // n_tries))):
        if lacking <= 0.002 * wanted or lacking < 1:
            return
        _exchange(
            indptr, indices, node_class, plan.class_ptr, have, plan.corners, price, n_tries, state
        )
        before, lacking = lacking, _distance(have, plan.corners, price)
        if before - lacking < _GAIN * lacking:
            return


def _distance(have: np.ndarray, wanted: np.ndarray, price: np.ndarray) -> float:
    return float((np.abs(have - wanted) * price).sum())


@njit(cache=True, nogil=True)
def _exchange(indptr, indices, node_class, class_ptr, have, wanted, price, n_tries, state):
    length = np.diff(indptr)
    n_classes = len(have)
    lack, surplus = np.empty(n_classes), np.empty(n_classes)
    touched = np.empty(8 * _LONG_ROW, np.int32)
    step = np.empty(8 * _LONG_ROW, np.float64)
    seen = np.empty(_SEEN + _HUB, np.int32)
    refresh = 0
    for _ in range(n_tries):
        if refresh == 0:
            # Classes in proportion to what they lack, or have too much.
            refresh = n_tries // 50 + 1
            missing, excess = 0.0, 0.0
            for i in range(n_classes):
                by = (wanted[i] - have[i]) * price[i]
                missing += max(by, 0.0)
                excess += max(-by, 0.0)
                lack[i], surplus[i] = missing, excess
            if missing + excess <= 0:
                return
        refresh -= 1
        to_make = draw_unit(state) * (missing + excess) < missing
        sums = lack if to_make else surplus
        drawn = draw_unit(state) * sums[n_classes - 1]
        chosen = min(np.searchsorted(sums, drawn, side="right"), n_classes - 1)
        u = class_ptr[chosen] + draw_below(state, class_ptr[chosen + 1] - class_ptr[chosen])
        if length[u] < 2:
            continue
        a = indices[indptr[u] + draw_below(state, length[u])]
        if to_make:
            w = indices[indptr[u] + draw_below(state, length[u])]
            if a == w or length[a] < 2 or length[w] < 2:
                continue
            if is_linked(indptr, indices, length, a, w):
                continue
            x = _neighbor_of_class(indptr, indices, length, node_class, a, node_class[w], u, state)
            if x < 0:
                continue
            y = indices[indptr[w] + draw_below(state, length[w])]
            if y == u:
                continue
        else:
            x = u
            i = node_class[x]
            w = class_ptr[i] + draw_below(state, class_ptr[i + 1] - class_ptr[i])
            if length[w] == 0:
                continue
            y = indices[indptr[w] + draw_below(state, length[w])]
            if a == w or is_linked(indptr, indices, length, a, w):
                continue
        if w == x or y == x or y == a or is_linked(indptr, indices, length, x, y):  # noqa: SIM109
            continue
        if (
            min(length[a], length[x]) > _LONG_ROW
            or min(length[w], length[y]) > _LONG_ROW
            or min(length[a], length[w]) > _LONG_ROW
            or min(length[x], length[y]) > _LONG_ROW
        ):
            continue
        n = _common(indptr, indices, length, node_class, a, x, -1, -1, -1.0, touched, step, 0)
        n = _common(indptr, indices, length, node_class, w, y, -1, -1, -1.0, touched, step, n)
        n = _common(indptr, indices, length, node_class, a, w, x, y, 1.0, touched, step, n)
        n = _common(indptr, indices, length, node_class, x, y, a, w, 1.0, touched, step, n)
        if n == 0:
            continue
        gain = 0.0
        for i in range(n):  # one by one: a class may be touched several times
            k = touched[i]
            now = have[k]
            gain += (abs(now - wanted[k]) - abs(now + step[i] - wanted[k])) * price[k]
            have[k] = now + step[i]
        if gain > 1e-12:
            _swap(indptr, indices, length, a, x, w, y)
            if _reaches(indptr, indices, length, x, a, w, seen):
                continue
            _swap(indptr, indices, length, a, w, x, y)
        for i in range(n):
            have[touched[i]] -= step[i]


@njit(cache=True, nogil=True)
def _neighbor_of_class(indptr, indices, length, node_class, a, wanted, but, state):
    """A neighbour of a class, or -1; of a long row some are looked at."""
    start = draw_below(state, length[a])
    for i in range(min(length[a], _SCANNED)):
        k = start + i
        x = indices[indptr[a] + (k if k < length[a] else k - length[a])]
        if node_class[x] == wanted and x != but:
            return x
    return -1


@njit(cache=True, nogil=True)
def _common(indptr, indices, length, node_class, u, v, but, nor, by, touched, step, n):
    """Add the corners of triangles on (u, v) to what is touched, each by ``by``."""
    if length[u] > length[v]:
        u, v = v, u
    for k in range(indptr[u], indptr[u] + length[u]):
        z = indices[k]
        if z == v or z == but or z == nor:  # noqa: SIM109 - a tuple needs one type
            continue
        if not is_linked(indptr, indices, length, v, z):
            continue
        if n + 3 <= len(touched):
            touched[n], touched[n + 1], touched[n + 2] = node_class[u], node_class[v], node_class[z]
            step[n : n + 3] = by
            n += 3
    return n


@njit(cache=True, nogil=True)
def _swap(indptr, indices, length, a, x, w, y):
    """Links (a, x), (w, y) become (a, w), (x, y)."""
    replace(indptr, indices, length, a, x, w)
    replace(indptr, indices, length, w, y, a)
    replace(indptr, indices, length, x, a, y)
    replace(indptr, indices, length, y, w, x)


@njit(cache=True, nogil=True)
def _reaches(indptr, indices, length, start, a, w, seen):
    """Whether a search from ``start`` comes to one of two nodes, to a hub, or no end."""
    seen[0] = start
    n, at = 1, 0
    while at < n:
        u = seen[at]
        at += 1
        if length[u] > _HUB:
            return True
        for k in range(indptr[u], indptr[u] + length[u]):
            v = indices[k]
            if v == a or v == w:  # noqa: SIM109 - a tuple needs one type
                return True
            known = False
            for j in range(n):
                if seen[j] == v:
                    known = True
                    break
            if not known:
                if n >= _SEEN:
                    return True
                seen[n] = v
                n += 1
    return False
