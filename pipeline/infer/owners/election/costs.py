"""What it costs to say that a router is in an AS, given its surroundings (``elect``).

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
    AIMED_SILENT,
    CROSSED,
    HOST,
    HOST_OR_ROUTER,
    MEMBER,
    NAMED,
    ONLY,
    ONLY_OF_SIBLINGS,
    PRIVATE,
    UNNUMBERED,
    Surroundings,
)
from pipeline.infer.owners.terms import (
    TERMS,
    adjacency,
    broken_off,
    destinations,
    habit,
    host_names,
    hosts,
    hosts_past,
    links,
    members,
    numbering,
    only_destination,
    organisations,
    private_links,
    strangers,
    transit,
)
from pipeline.infer.rule import EVERY_RULE, Rules
from pipeline.model.borrowing import BORROWS
from pipeline.model.relations import CUSTOMER, PROVIDER, SIBLING, UNRELATED

_HABIT = 10  # times -log(share) of a way of numbering

# Links of each kind taken as seen before the first lesson, as ``Ways.habit``.
_UNSEEN = ((3.0, 3.0), (3.0, 3.0), (2.0, 6.0))
_FROM_PROVIDER = 2  # row of the habit
_MOST_FROM_PROVIDER = habit.TERM.tenths("most_from_provider")
UNLIMITED = np.int64(1) << 60
_TENTHS = 10  # of a nat

# Columns of what ``explain`` counts.
_LINKS, _ADJACENCY, _NUMBERING = (TERMS.index(of.TERM) for of in (links, adjacency, numbering))
_WAY, _ORGANISATIONS, _STRANGERS = (
    TERMS.index(of.TERM) for of in (habit, organisations, strangers)
)
_PRIVATE, _HOSTS, _HOSTS_PAST = (TERMS.index(of.TERM) for of in (private_links, hosts, hosts_past))
_DESTINATIONS, _BROKEN_OFF = (TERMS.index(of.TERM) for of in (destinations, broken_off))
_ONLY, _TRANSIT, _MEMBERS, _NAMES = (
    TERMS.index(of.TERM) for of in (only_destination, transit, members, host_names)
)


class Costs(NamedTuple):
    """Weights of the terms (``terms``), in tenths of a nat; those left out cost what they say."""

    between: int
    adjacent: int
    numbered_else: int
    foreign_inside: int
    foreign_between: int
    siblings: int
    siblings_near: int
    sibling_inside: int
    sibling_between: int
    strangers: int
    strangers_near: int
    private_between: int
    hosts_else: int
    host_or_router: int
    aimed_else: int
    aimed_else_again: int
    aimed_else_perhaps: int
    broken_else: int
    broken_at_other: int
    broken_else_again: int
    only_else: int
    carried_else: int
    member_else: int

    @classmethod
    def of(cls, rules: Rules) -> Costs:
        """The weights of the terms in force."""
        weights: dict[str, float] = {}
        for term in TERMS:
            left_out = {name: term.without.get(name, 0) for name in term.weights}
            weights.update(term.weights if term in rules else left_out)
        return cls(**{name: round(_TENTHS * weights[name]) for name in cls._fields})


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
    ptr, other, numbered
        Evidence by group, as of ``Surroundings``; placeholders replaced in ``numbered``.
    labels : (n,) int64
        AS row that each group is in now; -1 for none.
    size : (n_ases,) int64
        Addresses numbered from each AS.
    n_known : int
        AS rows; those from here on are placeholders.
    ways : Ways
    costs : Costs
    carries : (n_ases + 1,) bool
        ASes that carry traffic of others, as far as is seen.
    held : (n,) int64
        AS row of each group in the election before; -1 for none.
    near, near_to : (n_ases,) int64
    met : (n_ases + 1,) int64
        Scratch.
    """

    ptr: np.ndarray
    other: np.ndarray
    numbered: np.ndarray
    labels: np.ndarray
    size: np.ndarray
    n_known: int
    ways: Ways
    costs: Costs
    carries: np.ndarray
    held: np.ndarray
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
        costs: Costs | None = None,
        carries: np.ndarray | None = None,
    ) -> Case:
        """The case of these surroundings; without ``costs`` every term is in force.

        Without ``carries`` every AS does.
        """
        return cls(
            around.ptr,
            around.other,
            around.numbered,
            labels,
            size,
            n_known,
            ways,
            Costs.of(EVERY_RULE) if costs is None else costs,
            np.ones(len(size) + 1, bool) if carries is None else carries,
            held,
            np.empty(len(size), np.int64),
            np.empty(len(size), np.int64),
            np.zeros(len(size) + 1, np.int64),
        )


@njit(**BORROWS)
def way_of(relations, size, n_known, label, far, z):
    """Row and column of the habit of a link between two ASes; row -1: it has none."""
    kind = relation(relations, label, far)
    if kind in (PROVIDER, CUSTOMER):
        return _FROM_PROVIDER, int((z == label) == (kind == PROVIDER))
    low, high = min(label, far), max(label, far)
    # A placeholder has no place in the order of AS numbers.
    if high < n_known and kind != SIBLING:
        return int(size[low] > size[high]), int(z == low)
    return -1, 0


@njit(**BORROWS)
def _cost_of_link(costs, ways, size, n_known, label, far, z, tally):
    """Cost of a link to a router in another AS or the same, numbered from AS row ``z``."""
    if far == label:
        if z == label:
            return 0
        lent = ways.lent_from[label] == z or relation(ways.relations, label, z) == SIBLING
        inside = costs.sibling_inside if lent else costs.foreign_inside
        _count(tally, _ORGANISATIONS if lent else _NUMBERING, inside)
        return inside
    cost = 0
    if z not in (label, far):
        if relation(ways.relations, label, z) == SIBLING:
            z = label
        elif relation(ways.relations, far, z) == SIBLING:
            z = far
        else:
            _count(tally, _NUMBERING, costs.foreign_between)
            return costs.foreign_between
        cost = costs.sibling_between
        _count(tally, _ORGANISATIONS, cost)
    kind = relation(ways.relations, label, far)
    if kind == SIBLING:
        _count(tally, _ORGANISATIONS, costs.siblings)
        return cost + costs.siblings
    cost += costs.between
    _count(tally, _LINKS, costs.between)
    if kind == UNRELATED:
        cost += costs.strangers
        _count(tally, _STRANGERS, costs.strangers)
    row, column = way_of(ways.relations, size, n_known, label, far, z)
    if row >= 0:
        cost += ways.habit[row, column]
        _count(tally, _WAY, ways.habit[row, column])
    return cost


@njit(**BORROWS)
def cost_beside(costs, ways, size, n_known, label, far, z, tally=None):
    """Cost of one entry of a group in AS row ``label`` whose other end is in ``far``.

    ``z``: AS row that it is numbered from, or what stands in its place.
    """
    if z >= 0:
        return _cost_of_link(costs, ways, size, n_known, label, far, z, tally)
    if far == label:
        return 0
    kind = relation(ways.relations, label, far)
    if kind == SIBLING:
        more = costs.siblings_near if z == ADJACENCY else costs.siblings
        _count(tally, _ORGANISATIONS, more)
        return more
    if z == PRIVATE:
        _count(tally, _PRIVATE, costs.private_between)
        return costs.private_between
    more = costs.between if z == UNNUMBERED else costs.adjacent
    _count(tally, _LINKS if z == UNNUMBERED else _ADJACENCY, more)
    if kind == UNRELATED:
        _count(tally, _STRANGERS, costs.strangers_near)
        more += costs.strangers_near
    return more


@njit(**BORROWS)
def _count(tally, term, cost):
    """Add to what a term costs; compiled to nothing where ``tally`` is None."""
    if tally is not None:
        tally[0, term] += cost
        tally[1, term] += cost > 0


@njit(**BORROWS)
def explain(case, group, label, tally):
    """Add what an AS costs for a group to ``tally``, (2, n_terms) int64 zeros.

    Tenths of a nat by term, and how many pieces of evidence cost something.
    """
    _sum_up(case, group, label, UNLIMITED, tally)


@njit(**BORROWS)
def cost_of(case, group, label, limit=UNLIMITED):
    """What an AS costs for a group, in tenths of a nat, whatever it was in before.

    No cost is negative, so counting ends where ``limit`` is reached.
    """
    return _sum_up(case, group, label, limit, None)


@njit(**BORROWS)
def _sum_up(case, group, label, limit, tally):
    other, numbered, labels = case.other, case.numbered, case.labels
    costs, ways, met, size, n_known = case.costs, case.ways, case.met, case.size, case.n_known
    cost = 0
    n_aims, n_sure, n_here, last_aim, several = 0, 0, 0, np.int64(-1), False
    may_break_off = True
    is_registered, is_member = False, False
    met[-1] += 1
    met[label] = met[-1]
    # Entries that stand for a link come last.
    for i in range(case.ptr[group + 1] - 1, case.ptr[group] - 1, -1):
        if cost >= limit:
            return cost
        z = numbered[i]
        far = labels[other[i]] if other[i] >= 0 else -1
        more, term = 0, _LINKS
        if far >= 0:
            met[far] = -met[-1] if z == UNNUMBERED else met[-1]
        if other[i] == HOST:
            if z != label:
                more, term = costs.hosts_else, _HOSTS
        elif other[i] == HOST_OR_ROUTER:
            if abs(met[z]) != met[-1]:
                met[z] = met[-1]
                more, term = costs.host_or_router, _HOSTS_PAST
        elif other[i] in (AIMED, AIMED_PERHAPS, AIMED_SILENT, AIMED_BROKEN):
            n_aims += 1
            # A router of that AS beside it that does not always answer explains it, too.
            n_sure += int(other[i] != AIMED_PERHAPS and met[z] != -met[-1])
            may_break_off = may_break_off and other[i] == AIMED_BROKEN
            n_here += int(z == label)
            if last_aim >= 0 and z != last_aim:
                several = True
            last_aim = z
        elif other[i] == ONLY:
            if z != label:
                more, term = costs.only_else, _ONLY
        elif other[i] == ONLY_OF_SIBLINGS:
            if z != label and relation(ways.relations, label, z) == SIBLING:
                more, term = costs.only_else, _ONLY
        elif other[i] == CROSSED:
            if not case.carries[label]:
                more, term = costs.carried_else, _TRANSIT
        elif other[i] <= NAMED:
            if z != label:
                more, term = NAMED - other[i], _NAMES
        elif other[i] == MEMBER:
            is_registered = True
            is_member = is_member or z == label
        elif far < 0:
            if z >= 0 and z != label:
                more, term = costs.numbered_else, _NUMBERING
        else:
            cost += cost_beside(costs, ways, size, n_known, label, far, z, tally)
        cost += more
        _count(tally, term, more)
    if n_aims and not n_here:
        if several or not n_sure:
            more, term = costs.aimed_else_perhaps, _DESTINATIONS
        else:
            once, again, term = costs.aimed_else, costs.aimed_else_again, _DESTINATIONS
            if may_break_off:
                kind = relation(ways.relations, label, last_aim)
                is_near = kind in (NOTHING, PROVIDER)
                once = costs.broken_else if is_near else costs.broken_at_other
                again, term = costs.broken_else_again, _BROKEN_OFF
            more = once + (n_sure - 1) * again
        cost += more
        _count(tally, term, more)
    if is_registered and not is_member:
        cost += costs.member_else
        _count(tally, _MEMBERS, costs.member_else)
    return cost


@njit(**BORROWS)
def gain(case, group, before, after):
    """What a group costs in one AS less what it costs in another."""
    return cost_of(case, group, before) - cost_of(case, group, after)


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
