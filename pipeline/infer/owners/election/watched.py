"""What has changed around each group since it was tried, so that nothing is tried again in vain.

What an AS costs for a group depends on the ASes of the groups that it lists, and on nothing else
that changes while groups are settled (``costs``). So a group that had the AS of least cost keeps it
until it is moved or one that it lists is; then it is tried again, in the same order as all others.
To leave out the rest changes no answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import Case
from pipeline.model.borrowing import BORROWS
from pipeline.model.forest import unite
from pipeline.model.relations import SIBLING
from pipeline.model.tables.organisations import UNKNOWN


class Watched(NamedTuple):
    """Times of one case, in changes of labels so far; -1: never.

    Attributes
    ----------
    clock : (1,) int64
    changed : (n,) int64
        When a group, or one that it lists, was put into another AS.
    settled, stood : (n,) int64
        When the group had the AS of least cost; when none moved it with others (``regions``).
    priced, own, apart : (n,) int64
        When these were counted: what the group costs in its AS, and in one that nothing names.
    listed_ptr : (n + 1,) int64
    listed_by : (n_listed,) int64
        Groups that list each group.
    kin : (n_ases + 1,) int64
        Equal for ASes that may be siblings, else distinct.
    """

    clock: np.ndarray
    changed: np.ndarray
    settled: np.ndarray
    stood: np.ndarray
    priced: np.ndarray
    own: np.ndarray
    apart: np.ndarray
    listed_ptr: np.ndarray
    listed_by: np.ndarray
    kin: np.ndarray

    @classmethod
    def of(cls, case: Case) -> Watched:
        """Nothing was tried yet."""
        listed_ptr, listed_by = _listed(case.ptr, case.other)
        none = np.empty(0, np.int64)
        new = cls(none, none, none, none, none, none, none, listed_ptr, listed_by, _kin_of(case))
        return new.untried()

    def untried(self) -> Watched:
        """The same for other costs, or with other labels: nothing was tried yet."""
        n = len(self.listed_ptr) - 1
        return self._replace(
            clock=np.zeros(1, np.int64),
            changed=np.zeros(n, np.int64),
            settled=np.full(n, -1, np.int64),
            stood=np.full(n, -1, np.int64),
            priced=np.full(n, -1, np.int64),
            own=np.empty(n, np.int64),
            apart=np.empty(n, np.int64),
        )


def _kin_of(case: Case) -> np.ndarray:
    """(n_ases + 1,) int64: smallest of the AS rows that may be siblings of each."""
    relations = case.ways.relations
    kin = np.arange(len(relations.organisation))
    some = np.flatnonzero(relations.organisation != UNKNOWN)
    _, first, which = np.unique(
        relations.organisation[some], return_index=True, return_inverse=True
    )
    siblings = relations.pairs[relations.kind == SIBLING]
    one, other = siblings >> 32, siblings & 0xFFFF_FFFF
    unite(kin, np.append(some[first[which]], one), np.append(some, other))
    return kin


@njit(cache=True, nogil=True)
def _listed(ptr, other):
    """By group: those that list it, ``Watched.listed_ptr`` and ``listed_by``."""
    n = len(ptr) - 1
    listed_ptr = np.zeros(n + 1, np.int64)
    for far in other:
        if far >= 0:
            listed_ptr[far + 1] += 1
    for group in range(n):
        listed_ptr[group + 1] += listed_ptr[group]
    at = listed_ptr[:-1].copy()
    listed_by = np.empty(listed_ptr[-1], np.int64)
    for group in range(n):
        for i in range(ptr[group], ptr[group + 1]):
            far = other[i]
            if far >= 0:
                listed_by[at[far]] = group
                at[far] += 1
    return listed_ptr, listed_by


@njit(**BORROWS)
def note_change(watched, group):
    """Note that a group was put into another AS."""
    watched.clock[0] += 1
    now = watched.clock[0]
    watched.changed[group] = now
    for i in range(watched.listed_ptr[group], watched.listed_ptr[group + 1]):
        watched.changed[watched.listed_by[i]] = now
