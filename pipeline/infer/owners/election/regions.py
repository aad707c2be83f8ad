"""Moves of regions: neighbouring routers that are cheaper in another AS together, not one by one.

Routers are put into ASes one by one (``settling``), each into the AS of least cost beside its
neighbours as they are. Two routers of one AS that are both in another hold each other there: for
one of them alone the link between the two would become one between ASes, which may cost more than
all the rest of what it sees. So when no single router moves any more, a router is put into each
other AS around it for a trial. Neighbours follow where that is cheaper for them then, and theirs
follow them; when none does, those for which it is all the same follow too, since one behind them
may gain. Of these moves as many stay, from the first on, as save most together; the others go back.

Each move is judged beside the ones before it, so a link between two that move counts once.

Not where an AS uses the addresses of another (``lending``): a link inside it that the other numbers
costs little then, so whole paths of the other would follow a few routers at which traces end.

Moves of single sites are iterated conditional modes [1]_, which stop where such sites hold each
other. To move any set of sites into one label is an expansion move [2]_. There the best set is a
minimum cut, if what is weighed are pairs; here what is around a router is weighed together (where
traces end, hosts), so sets are grown.

References
----------
.. [1] J. Besag, "On the statistical analysis of dirty pictures", Journal of the Royal Statistical
   Society B 48 (3), 1986.
.. [2] Y. Boykov, O. Veksler, R. Zabih, "Fast approximate energy minimization via graph cuts", IEEE
   TPAMI 23 (11), 2001.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import cost_of
from pipeline.infer.owners.election.near import find_near
from pipeline.infer.rule import Rule

REGIONS = Rule(
    "regions",
    "owners",
    "neighbouring routers change their AS together if that lowers the total cost",
    "links",
    source="expansion moves (Boykov et al., TPAMI 2001)",
)

_MOST = 40  # routers that move together
# Entries around one of them. What has more is looked at by each of its neighbors again and again,
# and holds no other by one link.
_MOST_AROUND = 128
_MOST_LOST = 100  # tenths of a nat, by the first of them: more is not made up for


@njit(cache=True, nogil=True)
def move_regions(case):
    """Move what saves something together, in place; whether anything moved."""
    labels, near = case.labels, case.near
    region, was, ties = np.empty((3, _MOST), np.int64)
    inside = np.zeros(len(labels), np.bool_)
    any_moved = False
    for group in range(len(labels)):
        if labels[group] < 0 or not _is_small(case.ptr, group):
            continue
        cost = cost_of(case, group, labels[group])
        for at in range(1, find_near(case, group, -1)):
            to = near[at]
            there = cost_of(case, group, to, cost + _MOST_LOST + 1)
            if there > cost + _MOST_LOST:
                continue
            _move(group, to, labels, region, was, inside, 0)
            if _grow(case, to, cost - there, region, was, ties, inside):
                any_moved = True
                cost = cost_of(case, group, labels[group])
    return any_moved


@njit(cache=True, nogil=True)
def _grow(case, to, saved, region, was, ties, inside):
    """Let neighbours follow the first of a region; how many stay, 0 if nothing is saved."""
    ptr, other, labels = case.ptr, case.other, case.labels
    n, at, n_ties, tie = 1, 0, 0, 0
    most, n_best = np.int64(0), 0
    if saved > 0:
        most, n_best = saved, 1
    while n < _MOST:
        if at < n:
            for i in range(ptr[region[at]], ptr[region[at] + 1]):
                far = other[i]
                if far < 0 or inside[far] or labels[far] < 0 or labels[far] == to or n == _MOST:
                    continue
                if not _is_small(ptr, far):
                    continue
                more = _gain(case, far, to)
                if more > 0:
                    saved += more
                    n = _move(far, to, labels, region, was, inside, n)
                    if saved > most:
                        most, n_best = saved, n
                elif more == 0 and n_ties < _MOST:
                    ties[n_ties] = far
                    n_ties += 1
            at += 1
        elif tie < n_ties:
            far = ties[tie]
            tie += 1
            if not inside[far] and _gain(case, far, to) == 0:
                n = _move(far, to, labels, region, was, inside, n)
        else:
            break
    for at in range(n):
        inside[region[at]] = False
        if at >= n_best:
            labels[region[at]] = was[at]
    return n_best


@njit(cache=True, nogil=True)
def _move(group, to, labels, region, was, inside, n):
    """Put a group into a region, after ``n`` others; how many are in it then."""
    region[n], was[n] = group, labels[group]
    labels[group], inside[group] = to, True
    return n + 1


@njit(cache=True, nogil=True)
def _is_small(ptr, group):
    """Whether so little is around a group that it may move with others."""
    return ptr[group + 1] - ptr[group] <= _MOST_AROUND


@njit(cache=True, nogil=True)
def _gain(case, group, to):
    """What a group saves in another AS, exact unless negative."""
    cost = cost_of(case, group, case.labels[group])
    return cost - cost_of(case, group, to, cost + 1)
