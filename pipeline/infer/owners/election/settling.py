"""The AS of least cost for each group of addresses, and how clear that is (``elect``)."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import UNLIMITED, Case, cost_of
from pipeline.infer.owners.election.near import find_near
from pipeline.infer.owners.election.regions import move_regions
from pipeline.infer.owners.election.surroundings import ONLY_OF_SIBLINGS, Surroundings
from pipeline.infer.owners.election.watched import Watched, note_change
from pipeline.model.columns.keys import split_key
from pipeline.model.columns.ragged import row_of_value

_MAX_SWEEPS = 20  # over all groups; usually 3 to 5 are enough


def settle(case: Case) -> None:
    """Give each group the AS of least cost, in place, until nothing changes."""
    _settle(case, Watched.of(case))


def settle_together(case: Case, by_regions: bool = True, watched: Watched | None = None) -> None:
    """Settle groups, then move regions, as long as ever fewer groups are moved.

    What both do may go round in a circle: what it costs that traces end at a router depends on its
    neighbors' ASes too, so what a region saves is less than the sum over its groups.

    ``watched``: as the last one left it, if nothing of the case has changed since; None: nothing
    was tried yet.
    """
    _settle_together(case, Watched.of(case) if watched is None else watched, by_regions)


@njit(cache=True, nogil=True)
def _settle(case, watched):
    ptr, labels, held, near = case.ptr, case.labels, case.held, case.near
    for _ in range(_MAX_SWEEPS):
        changed = False
        for group in range(len(ptr) - 1):
            if ptr[group] == ptr[group + 1] or watched.changed[group] <= watched.settled[group]:
                continue
            watched.settled[group] = watched.clock[0]
            best, best_cost = labels[group], UNLIMITED
            for at in range(find_near(case, group, held[group])):
                cost = cost_of(case, group, near[at], best_cost)
                if cost < best_cost:
                    best, best_cost = near[at], cost
            if best != labels[group]:
                labels[group] = best
                note_change(watched, group)
                changed = True
        if not changed:
            break


@njit(cache=True, nogil=True)
def _settle_together(case, watched, by_regions):
    fewest = len(case.labels) + 1
    for _ in range(_MAX_SWEEPS):
        _settle(case, watched)
        if not by_regions:
            break
        before = case.labels.copy()
        move_regions(case, watched)
        n_moved = int(np.count_nonzero(case.labels != before))
        if n_moved == 0 or n_moved >= fewest:
            break
        fewest = n_moved


@njit(cache=True, nogil=True)
def find_margins(case, absent):
    """Cost of the cheapest other AS less that of the AS that each group has; 0 without one.

    With ``absent``, the row after the last, one of the others is an AS that is not around: a group
    that only one AS is near may still be in another, and what it costs to be in none of those
    around tells how much evidence there is. Without (-1) such a group has a huge margin.
    """
    ptr, labels, near = case.ptr, case.labels, case.near
    margins = np.zeros(len(labels), np.int64)
    for group in range(len(ptr) - 1):
        if ptr[group] == ptr[group + 1] or labels[group] < 0:
            continue
        least = cost_of(case, group, absent) if absent >= 0 else UNLIMITED
        for at in range(1, find_near(case, group, -1)):
            least = min(least, cost_of(case, group, near[at], least))
        margins[group] = max(least - cost_of(case, group, labels[group]), 0)
    return margins


def count_majorities(around: Surroundings, group_of: np.ndarray, row_of: np.ndarray) -> np.ndarray:
    """(n,) int64: AS row that most entries of each group name, links and others; -1 for none.

    Of several, the one that most of its own addresses are from.
    """
    n = len(around.ptr) - 1
    source = row_of_value(around.ptr)
    mapped = (around.numbered >= 0) & (around.other != ONLY_OF_SIBLINGS)
    keys, counts = np.unique((source[mapped] << 32) | around.numbered[mapped], return_counts=True)
    group, row = split_key(keys)
    is_own = row_of >= 0
    own, n_own = np.unique((group_of[is_own] << 32) | row_of[is_own], return_counts=True)
    at = np.minimum(np.searchsorted(own, keys), max(0, len(own) - 1))
    n_own = np.where(own[at] == keys, n_own[at], 0) if len(own) else np.zeros(len(keys), np.int64)
    order = np.lexsort((row, -n_own, -counts, group))
    group, row = group[order], row[order]
    first = np.ones(len(group), bool)
    first[1:] = group[1:] != group[:-1]
    labels = np.full(n, -1, np.int64)
    labels[group[first]] = row[first]
    return labels
