"""Links exchange ends until hops to landmarks are those that routers are to have.

Two links (a, x) and (w, y), x and w of one class, become (a, w) and (x, y) where that lowers the
cost of ``levels``: degrees and the links between classes stay. x is a neighbour of a that is too
far off, or a lacks one that is nearer; w is drawn among the routers of its class of a level that
suits a.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.generate.likeness.levels import (
    cost_of,
    lacks_nearer,
    link_cost,
    nearer_neighbors,
    swap_cost,
    swapped,
)
from pipeline.generate.likeness.linking import is_linked, swap
from pipeline.generate.likeness.plan import Plan
from pipeline.model.random_words import draw_below, start_stream

_KEY = np.uint64((1 << 50) + (1 << 39))  # of streams, plus the first AS
_ROUNDS = 24
_TRIES = 12  # partners tried for a link in a round
_GAIN = 0.03  # of a round, as share of the cost, below which no further one follows


def settle(plan: Plan, indptr: np.ndarray, indices: np.ndarray, seed: int, first: int) -> None:
    """Exchange ends of links, in place, until levels hold as far as they can.

    Parameters
    ----------
    plan : Plan
    indptr, indices
        As ``linking.link`` returns them.
    seed, first : int
        Of the stream of random words.
    """
    state = np.empty(1, np.uint64)
    start_stream(state, np.uint64(seed), _KEY + np.uint64(first))
    nearer = nearer_neighbors(indptr, indices, plan.level)
    cost = cost_of(indptr, indices, plan.level)
    for _ in range(_ROUNDS):
        if cost == 0:
            return
        gain = _settle(indptr, indices, plan.level, nearer, plan.kind, plan.kind_ptr, state)
        cost -= gain
        if gain <= _GAIN * cost:
            return


@njit(cache=True, nogil=True)
def _settle(indptr, indices, level, nearer, kind, kind_ptr, state):
    """One round over all nodes; by how much the cost fell."""
    length = np.diff(indptr)
    gain = 0
    for a in range(len(length)):
        lacking = lacks_nearer(level, nearer, a)
        for k in range(indptr[a], indptr[a + 1]):
            x = indices[k]
            off = link_cost(level, a, x)
            if off + lacking == 0:
                continue
            begin, end = kind_ptr[kind[x]], kind_ptr[kind[x] + 1]
            low = _first_from(level, begin, end, level[a, 0] - 1)
            high = _first_from(level, low, end, level[a, 0] + 2)
            for tried in range(_TRIES):
                if tried % 4 == 3 or high == low:
                    w = begin + draw_below(state, end - begin)
                else:
                    w = low + draw_below(state, high - low)
                if w == x or w == a or length[w] == 0:  # noqa: SIM109 - a tuple needs one type
                    continue
                if link_cost(level, a, w) > off:
                    continue
                y = indices[indptr[w] + draw_below(state, length[w])]
                if y == a or y == x:  # noqa: SIM109
                    continue
                cost = swap_cost(level, nearer, a, x, w, y)
                if cost > 0 or (cost == 0 and off == 0):
                    continue
                if is_linked(indptr, indices, length, a, w) or is_linked(
                    indptr, indices, length, x, y
                ):
                    continue
                swap(indptr, indices, length, a, x, w, y)
                swapped(level, nearer, a, x, w, y)
                lacking = lacks_nearer(level, nearer, a)
                gain -= cost
                break
    return gain


@njit(cache=True, nogil=True)
def _first_from(level, begin, end, wanted):
    """First node of a class, sorted by level, of this level or more."""
    while begin < end:
        middle = (begin + end) // 2
        if level[middle, 0] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin
