"""Triangles as many as in the original: links exchange ends where that brings them nearer.

Two links (a, x) and (w, y), x and w of one kind, become (a, w) and (x, y): degrees and the links
between kinds stay (Gjoka, Kurant, Markopoulou: 2.5K-graphs: from sampling to generation, INFOCOM
2013, target the clustering of each degree by such exchanges). To make triangles, a and w are drawn
among the neighbours of a router whose kind lacks some; to break them, (a, x) is a link of a router
whose kind has too many and w any router. An exchange is kept if it lowers the sum over kinds of
|corners - wanted| / (degree - 1), and leaves hops to landmarks as near as they were (``levels``).
Where those do not hold anyhow, x has to reach a or w still: a search of a few routers decides this,
so what is cut off is large and rare; ``linking.connect`` joins it again.

Exchanges are drawn in batches, on all threads; then those that gain are made one after another, but
for those that touch a router which an earlier one of the batch has changed. So the result does not
depend on the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernels.host import n_cores
from pipeline.generate.likeness.levels import cost_of, nearer_neighbors, swap_cost, swapped
from pipeline.generate.likeness.linking import is_linked, swap
from pipeline.generate.likeness.plan import Plan
from pipeline.generate.likeness.triangles import corners
from pipeline.generate.threads import call_each
from pipeline.model.random_words import draw_below, draw_unit, start_stream, stream_start, word_at

_KEY = np.uint64((1 << 50) + (1 << 40))  # plus the first AS
_MOST_ROUNDS = 100  # of as many exchanges drawn as there are links
_MOST_TRIES = 1 << 23  # of a graph with many links, or two rounds
_GAIN = 0.004  # of a round, as share of what is lacking, below which no further one follows
_ENOUGH = 0.005  # share of the corners wanted that may be lacking, or too many
_LONG_ROW = 512  # neighbours of two routers of more are not compared
_SEEN = 24  # routers that a search for another path visits
_HUB = 64  # degree from which a router is taken to be in the large part
_SCANNED = 64  # neighbours among which one of a kind is looked for
_SUITED = 8  # neighbours among which one is looked for that is not too far off
_BATCH = 1 << 16  # exchanges drawn at a time, at most
_FEW = 1 << 12  # not worth a second thread


def cluster(
    plan: Plan,
    indptr: np.ndarray,
    indices: np.ndarray,
    seed: int,
    first: int,
    n_threads: int | None = None,
) -> None:
    """Exchange ends of links, in place, until there are as many triangles as wanted.

    Parameters
    ----------
    plan : Plan
    indptr, indices
        As ``linking.link`` returns them.
    seed, first : int
        Of the stream of random words.
    n_threads : int or None
        None: one per core.

    Notes
    -----
    Some microseconds for each triangle that is lacking.
    """
    n_threads = n_threads or n_cores()
    n_kinds = len(plan.kind_group)
    length = np.diff(indptr)
    found = corners(indptr, indices, n_threads)
    have = np.bincount(plan.kind, weights=found, minlength=n_kinds)
    mean = np.bincount(plan.kind, weights=length, minlength=n_kinds)
    price = 1 / np.maximum(mean / np.maximum(np.diff(plan.kind_ptr), 1) - 1, 1)
    lacking = _distance(have, plan.corners, price)
    wanted = float((plan.corners * price).sum())
    enough = max(_ENOUGH * wanted, 1)
    if lacking <= enough:
        return
    nearer = nearer_neighbors(indptr, indices, plan.level)
    is_whole = cost_of(indptr, indices, plan.level) == 0
    state = (indptr, indices, length, plan.kind, plan.kind_ptr, plan.level, nearer)
    begin = np.uint64(stream_start(np.uint64(seed), _KEY + np.uint64(first)))
    n_tries = len(indices) // 2 + 1000
    n_batch = min(max(len(length) // 32, 16), _BATCH)
    drawn = np.empty((n_batch, 4), np.int32)
    changed = np.zeros(len(length), np.int32)
    n_threads = n_threads if n_batch > _FEW else 1
    cuts = np.linspace(0, n_batch, n_threads + 1).astype(np.int64).tolist()
    batch = 0
    for _ in range(min(_MOST_ROUNDS, max(2, _MOST_TRIES // n_tries))):
        for _ in range(0, n_tries, n_batch):
            by = (plan.corners - have) * price
            lack, surplus = np.cumsum(np.maximum(by, 0)), np.cumsum(np.maximum(-by, 0))

            def draw(i: int, lack=lack, surplus=surplus, batch=batch) -> None:
                own = drawn[cuts[i] : cuts[i + 1]]
                number = batch * n_batch + cuts[i]
                _draw(*state, have, plan.corners, price, lack, surplus, begin, number, own)

            call_each(draw, [(i,) for i in range(n_threads)], n_threads)
            batch += 1
            _make(*state, have, plan.corners, price, drawn, changed, batch, is_whole)
        before, lacking = lacking, _distance(have, plan.corners, price)

        if lacking <= enough or before - lacking < _GAIN * lacking:
            return


def _distance(have: np.ndarray, wanted: np.ndarray, price: np.ndarray) -> float:
    return float((np.abs(have - wanted) * price).sum())


@njit(cache=True, nogil=True)
def _draw(
    indptr, indices, length, kind, kind_ptr, level, nearer,
    have, wanted, price, lack, surplus, begin, number, drawn,
):  # fmt: skip
    """Draw exchanges; a is -1 where it would not gain."""
    state = np.empty(1, np.uint64)
    touched = np.empty(12 * _LONG_ROW, np.int32)
    step = np.empty(12 * _LONG_ROW, np.float64)
    have = have.copy()  # to try changes on
    n_kinds = len(have)
    missing, excess = lack[n_kinds - 1], surplus[n_kinds - 1]
    for i in range(len(drawn)):
        drawn[i, 0] = -1
        start_stream(state, begin, word_at(begin, number + i))
        to_make = draw_unit(state) * (missing + excess) < missing
        sums = lack if to_make else surplus
        at = draw_unit(state) * sums[n_kinds - 1]
        chosen = min(np.searchsorted(sums, at, side="right"), n_kinds - 1)
        u = kind_ptr[chosen] + draw_below(state, kind_ptr[chosen + 1] - kind_ptr[chosen])
        if length[u] < 2:
            continue
        a = indices[indptr[u] + draw_below(state, length[u])]
        if to_make:
            w = indices[indptr[u] + draw_below(state, length[u])]
            if a == w or length[a] < 2 or length[w] < 2:
                continue
            if is_linked(indptr, indices, length, a, w):
                continue
            x = _neighbor_of_kind(indptr, indices, length, kind, a, kind[w], u, state)
            if x < 0:
                continue
        else:
            x = u
            j = kind[x]
            w = kind_ptr[j] + draw_below(state, kind_ptr[j + 1] - kind_ptr[j])
            if length[w] == 0 or a == w:
                continue
        if w == x:
            continue
        y = -1
        start = draw_below(state, length[w])
        for j in range(min(length[w], _SUITED)):
            k = start + j
            other = indices[indptr[w] + (k if k < length[w] else k - length[w])]
            if other == x or other == a or (to_make and other == u):  # noqa: SIM109
                continue
            if swap_cost(level, nearer, a, x, w, other) <= 0:
                y = other
                break
        if y < 0:
            continue
        if is_linked(indptr, indices, length, a, w) or is_linked(indptr, indices, length, x, y):
            continue
        n = _steps(indptr, indices, length, kind, a, x, w, y, touched, step)
        if n > 0 and _gain(have, wanted, price, touched, step, n) > 1e-12:
            drawn[i, 0], drawn[i, 1], drawn[i, 2], drawn[i, 3] = a, x, w, y


@njit(cache=True, nogil=True)
def _make(
    indptr, indices, length, kind, kind_ptr, level, nearer,
    have, wanted, price, drawn, changed, batch, is_whole,
):  # fmt: skip
    """Make those that still gain, and whose routers have their neighbours still."""
    touched = np.empty(12 * _LONG_ROW, np.int32)
    step = np.empty(12 * _LONG_ROW, np.float64)
    seen = np.empty(_SEEN + _HUB, np.int32)
    for i in range(len(drawn)):
        a, x, w, y = drawn[i, 0], drawn[i, 1], drawn[i, 2], drawn[i, 3]
        if a < 0 or changed[a] == batch or changed[x] == batch:
            continue
        if changed[w] == batch or changed[y] == batch:
            continue
        n = _steps(indptr, indices, length, kind, a, x, w, y, touched, step)
        if _gain(have, wanted, price, touched, step, n) <= 1e-12:
            continue
        swap(indptr, indices, length, a, x, w, y)
        if not is_whole and not _reaches(indptr, indices, length, x, a, w, seen):
            swap(indptr, indices, length, a, w, x, y)
            continue
        swapped(level, nearer, a, x, w, y)
        for j in range(n):
            have[touched[j]] += step[j]
        changed[a] = changed[x] = changed[w] = changed[y] = batch


@njit(cache=True, nogil=True)
def _steps(indptr, indices, length, kind, a, x, w, y, touched, step):
    """By how much corners of which kinds change; 0 for none, or too many neighbours."""
    if (
        min(length[a], length[x]) > _LONG_ROW
        or min(length[w], length[y]) > _LONG_ROW
        or min(length[a], length[w]) > _LONG_ROW
        or min(length[x], length[y]) > _LONG_ROW
    ):
        return 0
    n = _common(indptr, indices, length, kind, a, x, -1, -1, -1.0, touched, step, 0)
    n = _common(indptr, indices, length, kind, w, y, -1, -1, -1.0, touched, step, n)
    n = _common(indptr, indices, length, kind, a, w, x, y, 1.0, touched, step, n)
    return _common(indptr, indices, length, kind, x, y, a, w, 1.0, touched, step, n)


@njit(cache=True, nogil=True)
def _gain(have, wanted, price, touched, step, n):
    gain = 0.0
    for i in range(n):  # one by one: a kind may be touched several times
        k = touched[i]
        now = have[k]
        gain += (abs(now - wanted[k]) - abs(now + step[i] - wanted[k])) * price[k]
        have[k] = now + step[i]
    for i in range(n):
        have[touched[i]] -= step[i]
    return gain


@njit(cache=True, nogil=True)
def _neighbor_of_kind(indptr, indices, length, kind, a, wanted, but, state):
    """A neighbour of a kind, or -1; of a long row some are looked at."""
    start = draw_below(state, length[a])
    for i in range(min(length[a], _SCANNED)):
        k = start + i
        x = indices[indptr[a] + (k if k < length[a] else k - length[a])]
        if kind[x] == wanted and x != but:
            return x
    return -1


@njit(cache=True, nogil=True)
def _common(indptr, indices, length, kind, u, v, but, nor, by, touched, step, n):
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
            touched[n], touched[n + 1], touched[n + 2] = kind[u], kind[v], kind[z]
            step[n : n + 3] = by
            n += 3
    return n


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
