"""What it costs to say that a router is in an AS, given its surroundings (``borders``).

Links between two ASes are numbered by habit, which is learned: its costs are ``Ways``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.owners.election.relations import NOTHING, Relations, relation
from pipeline.infer.owners.election.surroundings import (
    ADJACENCY,
    AIMED,
    AIMED_BROKEN,
    AIMED_PERHAPS,
    AIMED_SECOND,
    AIMED_SILENT,
    HOST,
    HOST_OR_ROUTER,
    MEMBER,
    ONLY,
    ONLY_OF_SIBLINGS,
    PRIVATE,
    UNNUMBERED,
    Surroundings,
)
from pipeline.model.tables.relationships import CUSTOMER, PROVIDER, SIBLING, UNRELATED

# Costs, in tenths of a nat where they stand for a probability. The cost of the habit must be one
# too: if it is higher than the habit's probability warrants, a link numbered the rarer way outvotes
# the inner links of its router.
_BETWEEN = 25  # a link between two ASes
# Groups of two ASes next to each other, link unknown: a little more than half, so that two of them
# outvote one link.
_ADJACENT = 13
_NUMBERED_ELSE = 25  # a link whose other end is unknown, numbered from another AS
_FOREIGN_INSIDE = 50  # a link inside an AS, numbered from another
_SIBLINGS = 15  # a link between two ASes of one organisation
_SIBLINGS_NEAR = 8  # the same next to each other, link unknown
_SIBLING_INSIDE = 3  # a link inside an AS, numbered from one of the same organisation
_SIBLING_BETWEEN = 25  # a link to another AS, numbered from one of the same organisation
_STRANGERS = 24  # more, if the two are in no relationship though both are listed
_STRANGERS_NEAR = 12  # the same next to each other, link unknown
_PRIVATE_BETWEEN = 50  # a link between two ASes by a private address, which only one of them uses
_FOREIGN_BETWEEN = 70  # a link between two ASes, numbered from a third
_HOSTS_ELSE = 45  # hosts of another AS right behind a router that nothing passes through
_AIMED_ELSE = 40  # its address is the last router to one AS, which traces were aimed at
_AIMED_ELSE_AGAIN = 15  # the same by another of its addresses
# The same where traces may have broken off there: a silent router of the AS that is next to it may
# as well be that of a customer, and is the same one for all of its addresses.
_BROKEN_ELSE = 25
_BROKEN_AT_OTHER = 40  # of no customer, as relationships or organisations say
_BROKEN_ELSE_AGAIN = 8
_AIMED_ELSE_PERHAPS = 24  # to several, to what may be routers, or to that of a known neighbor
_MEMBER_ELSE = 34  # another AS is registered with its address: one entry in thirty is old
_ONLY_ELSE = 12  # traces through it were all aimed at one AS
# The same where the AS is the second origin of the prefix (``ip2as``).
_SECOND = 18  # a link
_HOSTS_ELSE_SECOND = 40
_AIMED_SECOND = 35
_HABIT = 10  # times -log(share) of a way of numbering

# Links of each kind taken as seen before the first lesson, as ``Ways.habit``.
_UNSEEN = ((3.0, 3.0), (3.0, 3.0), (2.0, 6.0))
_FROM_PROVIDER = 2  # row of the habit
# Most that the rarer way costs there: certain links are of the common way more often than others,
# so what they teach would outvote the inner links of a router.
_MOST_FROM_PROVIDER = 15
UNLIMITED = np.int64(1) << 60


class Ways(NamedTuple):
    """How links between two ASes are numbered, and what ASes are to each other.

    ``habit`` (3, 2) int64: cost of a link that is numbered from the larger or from the lower AS
    number, where that of the lower number is the smaller AS, and where it is the larger one; from
    the customer or from the provider, where one of them is.
    ``lent_from`` (n_ases + 1,) int64: AS row whose addresses each AS uses inside, -1 for none.
    """

    habit: np.ndarray
    relations: Relations
    lent_from: np.ndarray


class Case(NamedTuple):
    """What one election weighs; ``labels`` and scratch change in place.

    Attributes
    ----------
    ptr, other, numbered, second
        Evidence by group, as of ``Surroundings``; stand-ins replaced in ``numbered``.
    labels : (n,) int64
        AS row that each group is in now; -1 for none.
    size : (n_ases,) int64
        Addresses numbered from each AS.
    n_known : int
        AS rows; those from here on are stand-ins.
    ways : Ways
    held : (n,) int64
        AS row of each group in the election before; -1 for none.
    change : int
        What another AS than that one costs.
    worth : (n_ases,) int64
        As of ``Surroundings``.
    near, near_to : (n_ases,) int64
    met : (n_ases + 1,) int64
        Scratch.
    """

    ptr: np.ndarray
    other: np.ndarray
    numbered: np.ndarray
    second: np.ndarray
    labels: np.ndarray
    size: np.ndarray
    n_known: int
    ways: Ways
    held: np.ndarray
    change: int
    worth: np.ndarray
    near: np.ndarray
    near_to: np.ndarray
    met: np.ndarray

    @classmethod
    def of(
        cls,
        around: Surroundings,
        labels: np.ndarray,
        size: np.ndarray,
        n_known: int,
        ways: Ways,
        held: np.ndarray,
        change: int,
    ) -> Case:
        """The case of these surroundings."""
        worth = np.full(len(size), UNLIMITED) if around.worth is None else around.worth
        return cls(
            around.ptr,
            around.other,
            around.numbered,
            around.second,
            labels,
            size,
            n_known,
            ways,
            held,
            change,
            worth,
            np.empty(len(size), np.int64),
            np.empty(len(size), np.int64),
            np.zeros(len(size) + 1, np.int64),
        )


@njit(cache=True, nogil=True)
def way_of(relations, size, n_known, label, far, z):
    """Row and column of the habit of a link between two ASes; row -1: it has none."""
    kind = relation(relations, label, far)
    if kind in (PROVIDER, CUSTOMER):
        return _FROM_PROVIDER, int((z == label) == (kind == PROVIDER))
    low, high = min(label, far), max(label, far)
    # A stand-in has no place in the order of AS numbers.
    if high < n_known and kind != SIBLING:
        return int(size[low] > size[high]), int(z == low)
    return -1, 0


@njit(cache=True, nogil=True)
def _cost_of_link(ways, size, n_known, label, far, z):
    """Cost of a link to a router in another AS or the same, numbered from AS row ``z``."""
    if far == label:
        if z == label:
            return 0
        lent = ways.lent_from[label] == z or relation(ways.relations, label, z) == SIBLING
        return _SIBLING_INSIDE if lent else _FOREIGN_INSIDE
    cost = 0
    if z not in (label, far):
        if relation(ways.relations, label, z) == SIBLING:
            z = label
        elif relation(ways.relations, far, z) == SIBLING:
            z = far
        else:
            return _FOREIGN_BETWEEN
        cost = _SIBLING_BETWEEN
    kind = relation(ways.relations, label, far)
    if kind == SIBLING:
        return cost + _SIBLINGS
    cost += _BETWEEN
    if kind == UNRELATED:
        cost += _STRANGERS
    row, column = way_of(ways.relations, size, n_known, label, far, z)
    if row >= 0:
        cost += ways.habit[row, column]
    return cost


@njit(cache=True, nogil=True)
def cost_of(case, group, label, limit=UNLIMITED):
    """What an AS costs for a group, in tenths of a nat, whatever it was in before.

    No cost is negative, so counting ends where ``limit`` is reached.
    """
    other, numbered, second, labels = case.other, case.numbered, case.second, case.labels
    ways, met, size, n_known = case.ways, case.met, case.size, case.n_known
    cost = 0
    n_aims, n_sure, n_here, last_aim, several = 0, 0, 0, np.int64(-1), False
    most, may_break_off = int(UNLIMITED), True
    is_second = False
    is_registered, is_member = False, False
    met[-1] += 1
    met[label] = met[-1]
    # Entries that stand for a link come last.
    for i in range(case.ptr[group + 1] - 1, case.ptr[group] - 1, -1):
        if cost >= limit:
            return cost
        z, also = numbered[i], second[i]
        far = labels[other[i]] if other[i] >= 0 else -1
        if far >= 0:
            met[far] = -met[-1] if z == UNNUMBERED else met[-1]
        if other[i] == HOST:
            if z != label:
                cost += _HOSTS_ELSE_SECOND if also == label else _HOSTS_ELSE
        elif other[i] == HOST_OR_ROUTER:
            if abs(met[z]) != met[-1] and (also < 0 or abs(met[also]) != met[-1]):
                met[z] = met[-1]
                cost += _BETWEEN
        elif other[i] in (AIMED, AIMED_PERHAPS, AIMED_SILENT, AIMED_BROKEN):
            n_aims += 1
            # A router of that AS beside it that does not always answer explains it, too.
            n_sure += int(other[i] != AIMED_PERHAPS and met[z] != -met[-1])
            may_break_off = may_break_off and other[i] == AIMED_BROKEN
            if case.worth[z] < most:
                most = int(case.worth[z])
            n_here += int(z == label)
            if last_aim >= 0 and z != last_aim:
                several = True
            last_aim = z
        elif other[i] == AIMED_SECOND:
            is_second = is_second or z == label
        elif other[i] == ONLY:
            if z != label:
                cost += min(_ONLY_ELSE, int(case.worth[z]))
        elif other[i] == ONLY_OF_SIBLINGS:
            if z != label and relation(ways.relations, label, z) == SIBLING:
                cost += min(_ONLY_ELSE, int(case.worth[z]))
        elif other[i] == MEMBER:
            is_registered = True
            is_member = is_member or z == label
        elif far < 0:
            if z >= 0 and z != label:
                cost += _SECOND if also == label else _NUMBERED_ELSE
        elif z < 0:
            if far != label:
                kind = relation(ways.relations, label, far)
                if kind == SIBLING:
                    cost += _SIBLINGS_NEAR if z == ADJACENCY else _SIBLINGS
                elif z == PRIVATE:
                    cost += _PRIVATE_BETWEEN
                else:
                    cost += _BETWEEN if z == UNNUMBERED else _ADJACENT
                    cost += _STRANGERS_NEAR if kind == UNRELATED else 0
        else:
            link = _cost_of_link(ways, size, n_known, label, far, z)
            if also >= 0:
                seconds = _cost_of_link(ways, size, n_known, label, far, also)
                link = min(link, seconds + _SECOND)
            cost += link
    if n_aims and not n_here:
        if not may_break_off:
            most = int(UNLIMITED)
        if is_second:
            cost += min(_AIMED_SECOND, most)
        elif several or not n_sure:
            cost += min(_AIMED_ELSE_PERHAPS, most)
        else:
            once, again = _AIMED_ELSE, _AIMED_ELSE_AGAIN
            if may_break_off:
                kind = relation(ways.relations, label, last_aim)
                once = _BROKEN_ELSE if kind in (NOTHING, PROVIDER) else _BROKEN_AT_OTHER
                again = _BROKEN_ELSE_AGAIN
            cost += min(once, most) + (n_sure - 1) * min(again, most)
    if is_registered and not is_member:
        cost += _MEMBER_ELSE
    return cost


@njit(cache=True, nogil=True)
def cost_of_change(change, held, label):
    """What an AS costs beyond that for a group that was in AS row ``held`` before."""
    return change if held >= 0 and label != held else 0


@njit(cache=True, nogil=True)
def cost_with_change(case, group, label, limit=UNLIMITED):
    """Both costs together; ``limit`` as in ``cost_of``."""
    cost = cost_of(case, group, label, limit)
    return cost + cost_of_change(case.change, case.held[group], label)


@njit(cache=True, nogil=True)
def gain(case, group, before, after):
    """What a group costs in one AS less what it costs in another, with changes."""
    return cost_with_change(case, group, before) - cost_with_change(case, group, after)


@njit(cache=True, nogil=True)
def ways_of_numbering(case, certain):
    """Certain links between two ASes by the rows and columns of the habit."""
    ptr, other, numbered, labels = case.ptr, case.other, case.numbered, case.labels
    seen = np.array(_UNSEEN)
    for group in range(len(ptr) - 1):
        label = labels[group]
        for i in range(ptr[group], ptr[group + 1]):
            z = numbered[i]
            if z < 0 or other[i] < 0 or not (certain[group] and certain[other[i]]):
                continue
            far = labels[other[i]]
            if far == label or z not in (label, far):
                continue
            row, column = way_of(case.ways.relations, case.size, case.n_known, label, far, z)
            if row >= 0:
                seen[row, column] += 0.5  # a link is listed at both ends
    return seen


def nothing_lent(relations: Relations) -> np.ndarray:
    """``Ways.lent_from`` where no AS uses the addresses of another."""
    return np.full(len(relations.listed), -1, np.int64)


def without_habit(relations: Relations) -> Ways:
    """All ways of numbering cost the same."""
    return Ways(np.zeros((3, 2), np.int64), relations, nothing_lent(relations))


def by_habit(relations: Relations, seen: np.ndarray | None = None) -> Ways:
    """Costs of ways by how often each was seen, the commonest nothing; None: before any lesson."""
    seen = np.array(_UNSEEN) if seen is None else seen
    habit = np.rint(-_HABIT * np.log(seen / seen.sum(axis=1, keepdims=True))).astype(np.int64)
    habit -= habit.min(axis=1, keepdims=True)
    habit[_FROM_PROVIDER] = np.minimum(habit[_FROM_PROVIDER], _MOST_FROM_PROVIDER)
    return Ways(habit, relations, nothing_lent(relations))
