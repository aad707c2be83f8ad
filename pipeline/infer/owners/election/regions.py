"""Moves of regions: neighbouring routers that are cheaper in another AS together, not one by one.

Routers are put into ASes one by one (``settling``), each into the AS of least cost beside its
neighbours as they are. Two routers of one AS that are both in another hold each other there: for
one of them alone the link between the two would become one between ASes, which may cost more than
all the rest of what it sees. So when no single router moves any more, a router is put into each
other AS around it for a trial. Neighbours follow where that is cheaper for them then, and theirs
follow them; when none does, those for which it is all the same follow too, since one behind them
may gain. Of these moves as many stay, from the first on, as save most together; the others go back.

Each move is judged beside the ones before it, so a link between two that move counts once.

Most trials end with their first router, since no neighbour follows it. To count what each neighbour
costs for each AS that is tried would be nearly all the work of an election where ASes have many
links. But an AS that nothing around the neighbour names, the first router aside, costs it at least
what a stranger does, which is counted once for all trials: neighbours are counted whole only where
that bound leaves it open whether they follow. The answers are those of counting them all.

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

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import cost_beside, cost_of
from pipeline.infer.owners.election.near import find_near
from pipeline.infer.owners.election.watched import note_change
from pipeline.infer.rule import Rule
from pipeline.model.borrowing import BORROWS

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


class _Beside(NamedTuple):
    """Scratch: the neighbours of one router that may move with it.

    Attributes
    ----------
    far, first, end : (_MOST_AROUND,) int64
        Neighbour, and where its entries that lead back to the router lie.
    named : (_MOST_AROUND,) uint64
        Bit ``i``: something else around the neighbour names the AS that is tried as number
        ``i``, or one that may be its sibling.
    meets : (_MOST_AROUND,) bool
        Hosts or destinations at the neighbour are of the router's AS: what they cost depends on
        whether there is a router of it.
    tried_as : (n_ases + 1,) uint64
        By ``Watched.kin``: numbers, as bits, of the ASes that are tried.
    """

    far: np.ndarray
    first: np.ndarray
    end: np.ndarray
    named: np.ndarray
    meets: np.ndarray
    tried_as: np.ndarray


@njit(cache=True, nogil=True)
def move_regions(case, watched):
    """Move what saves something together, in place; whether anything moved."""
    labels, near = case.labels, case.near
    region, was, ties = np.empty((3, _MOST), np.int64)
    inside = np.zeros(len(labels), np.bool_)
    beside = _Beside(
        np.empty(_MOST_AROUND, np.int64),
        np.empty(_MOST_AROUND, np.int64),
        np.empty(_MOST_AROUND, np.int64),
        np.empty(_MOST_AROUND, np.uint64),
        np.empty(_MOST_AROUND, np.bool_),
        np.zeros(len(watched.kin), np.uint64),
    )
    any_moved = False
    for group in range(len(labels)):
        if labels[group] < 0 or not _is_small(case.ptr, group) or _stands(case, watched, group):
            continue
        cost = cost_of(case, group, labels[group])
        n_near = find_near(case, group, -1)
        n_beside, is_alone = -1, True
        for at in range(1, n_near):
            to = near[at]
            there = cost_of(case, group, to, cost + _MOST_LOST + 1)
            if there > cost + _MOST_LOST:
                continue
            if there >= cost:
                if n_beside < 0:
                    n_beside = _look_beside(case, watched, beside, group, n_near)
                if not _is_followed(case, watched, beside, n_beside, group, at):
                    continue
            is_alone = False
            _move(group, to, labels, region, was, inside, 0)
            n_moved = _grow(case, to, cost - there, region, was, ties, inside)
            if n_moved:
                any_moved = True
                for one in region[:n_moved]:
                    note_change(watched, one)
                cost = cost_of(case, group, labels[group])
                n_beside = -1
        if is_alone:
            watched.stood[group] = watched.clock[0]
    return any_moved


@njit(**BORROWS)
def _stands(case, watched, group):
    """Whether it is known that no AS moves a group with others.

    Where none followed it, that depends on what it and its neighbours cost.
    """
    stood = watched.stood[group]
    if watched.changed[group] > stood:
        return False
    for i in range(case.ptr[group], case.ptr[group + 1]):
        if case.other[i] >= 0 and watched.changed[case.other[i]] > stood:
            return False
    return True


@njit(**BORROWS)
def _look_beside(case, watched, beside, group, n_near):
    """Look at the neighbours of a group, for ASes ``case.near[1:n_near]``; how many there are."""
    ptr, other, numbered, labels = case.ptr, case.other, case.numbered, case.labels
    kin, tried_as = watched.kin, beside.tried_as
    for at in range(1, n_near):
        tried_as[kin[case.near[at]]] |= np.uint64(1) << np.uint64(at)
    n = 0
    for i in range(ptr[group], ptr[group + 1]):
        far = other[i]
        if far < 0 or labels[far] < 0 or not _is_small(ptr, far):
            continue
        if n > 0 and beside.far[n - 1] == far:
            continue
        named, meets = np.uint64(0), False
        first, end = ptr[far + 1], ptr[far]
        for j in range(ptr[far], ptr[far + 1]):
            z, there = numbered[j], other[j]
            if z >= 0:
                named |= tried_as[kin[z]]
                meets = meets or (there < -1 and z == labels[group])
            if there == group:
                first, end = min(first, j), j + 1
            elif there >= 0 and labels[there] >= 0:
                named |= tried_as[kin[labels[there]]]
        beside.far[n], beside.first[n], beside.end[n] = far, first, end
        beside.named[n], beside.meets[n] = named, meets
        n += 1
    for at in range(1, n_near):
        tried_as[kin[case.near[at]]] = np.uint64(0)
    return n


@njit(**BORROWS)
def _is_followed(case, watched, beside, n_beside, group, at):
    """Whether a neighbour saves something, or loses nothing, if it follows a group."""
    labels, here, to = case.labels, case.labels[group], case.near[at]
    bit = np.uint64(1) << np.uint64(at)
    for i in range(n_beside):
        far = beside.far[i]
        if labels[far] == to:
            continue
        if not beside.named[i] & bit and not beside.meets[i]:
            most = _most_gain(case, watched, group, far, to, beside.first[i], beside.end[i])
            if most < 0:
                continue
        labels[group] = to
        more = _gain(case, far, to)
        labels[group] = here
        if more >= 0:
            return True
    return False


@njit(**BORROWS)
def _most_gain(case, watched, group, far, to, first, end):
    """What a neighbour saves at most if it follows a group into an AS that nothing else names.

    That costs at least what an AS without a row does, of which nothing is known: not less than one
    at the provider of which traces may have broken off, or than one that carries no traffic.
    """
    costs, ways, size, n_known = case.costs, case.ways, case.size, case.n_known
    labels, stranger = case.labels, len(case.size)
    here, label = labels[group], labels[far]
    if watched.changed[far] > watched.priced[far]:
        watched.priced[far] = watched.clock[0]
        watched.own[far] = cost_of(case, far, label)
        watched.apart[far] = cost_of(case, far, stranger)
    most = watched.own[far] - watched.apart[far]
    for j in range(first, end):
        if case.other[j] == group:
            z = case.numbered[j]
            most += cost_beside(costs, ways, size, n_known, label, to, z)
            most -= cost_beside(costs, ways, size, n_known, label, here, z)
            most += cost_beside(costs, ways, size, n_known, stranger, here, z)
            most -= cost_beside(costs, ways, size, n_known, to, to, z)
    return most


@njit(**BORROWS)
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


@njit(**BORROWS)
def _move(group, to, labels, region, was, inside, n):
    """Put a group into a region, after ``n`` others; how many are in it then."""
    region[n], was[n] = group, labels[group]
    labels[group], inside[group] = to, True
    return n + 1


@njit(**BORROWS)
def _is_small(ptr, group):
    """Whether so little is around a group that it may move with others."""
    return ptr[group + 1] - ptr[group] <= _MOST_AROUND


@njit(**BORROWS)
def _gain(case, group, to):
    """What a group saves in another AS, exact unless negative."""
    cost = cost_of(case, group, case.labels[group])
    return cost - cost_of(case, group, to, cost + 1)
