"""The AS of least cost for each group of addresses, and how clear that is (``borders``)."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import UNLIMITED, cost_of, cost_of_change
from pipeline.infer.owners.election.regions import move_regions
from pipeline.infer.owners.election.surroundings import HOST, ONLY_OF_SIBLINGS, Surroundings
from pipeline.infer.traces.counting import split_key
from pipeline.model.columns.ragged import row_of_value

_MAX_SWEEPS = 20  # over all groups; usually 3 to 5 are enough


@njit(cache=True, nogil=True)
def settle(case):
    """Give each group the AS of least cost, in place, until nothing changes."""
    ptr, labels, tried = case.ptr, case.labels, case.tried
    numbered, second, other = case.numbered, case.second, case.other
    held, change = case.held, case.change
    for _ in range(_MAX_SWEEPS):
        changed = False
        tried[:] = -1
        for group in range(len(ptr) - 1):
            start, end = ptr[group], ptr[group + 1]
            if start == end:
                continue
            best, best_cost = labels[group], UNLIMITED
            # The present AS and the one before come first, then those around.
            for i in range(start - 1, end):
                if i < start:
                    trio = (best, held[group], np.int64(-1))
                else:
                    far = labels[other[i]] if other[i] >= 0 else np.int64(-1)
                    trio = (numbered[i], second[i], far)
                for one in trio:
                    if one < 0 or tried[one] == group:
                        continue
                    tried[one] = group
                    cost = cost_of(case, group, one, best_cost)
                    cost += cost_of_change(change, held[group], one)
                    if cost < best_cost:
                        best, best_cost = one, cost
            if best != labels[group]:
                labels[group] = best
                changed = True
        if not changed:
            break


@njit(cache=True, nogil=True)
def settle_together(case):
    """Settle groups, then move regions, until neither changes anything."""
    for _ in range(_MAX_SWEEPS):
        settle(case)
        if not move_regions(case):
            break


@njit(cache=True, nogil=True)
def find_margins(case, absent):
    """Cost of the cheapest other AS less that of the AS that each group has; 0 without one.

    With ``absent``, the row after the last, one of the others is an AS that is not around: a group
    that only one AS is near may still be in another, and what it costs to be in none of those
    around tells how much evidence there is. Without (-1) such a group has a huge margin.
    """
    ptr, labels, tried = case.ptr, case.labels, case.tried
    numbered, second, other = case.numbered, case.second, case.other
    margins = np.zeros(len(labels), np.int64)
    tried[:] = -1
    for group in range(len(ptr) - 1):
        start, end, label = ptr[group], ptr[group + 1], labels[group]
        if start == end or label < 0:
            continue
        cost = cost_of(case, group, label)
        least = cost_of(case, group, absent) if absent >= 0 else UNLIMITED
        tried[label] = group
        for i in range(start, end):
            far = labels[other[i]] if other[i] >= 0 else np.int64(-1)
            for one in (numbered[i], second[i], far):
                if one < 0 or tried[one] == group:
                    continue
                tried[one] = group
                least = min(least, cost_of(case, group, one, least))
        margins[group] = max(least - cost, 0)
    return margins


def count_majorities(around: Surroundings, group_of: np.ndarray, row_of: np.ndarray) -> np.ndarray:
    """(n,) int64: AS row from which most links of each group are numbered, -1 for none.

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


def find_customers(
    around: Surroundings, labels: np.ndarray, certain: np.ndarray, at_exchange: np.ndarray
) -> np.ndarray:
    """(n,) bool: groups that are in none of the ASes they are linked to (step 6)."""
    n = len(labels)
    source = row_of_value(around.ptr)
    is_link = (around.numbered >= -1) & (around.other != ONLY_OF_SIBLINGS)
    source, other, numbered = source[is_link], around.other[is_link], around.numbered[is_link]
    end = np.maximum(other, 0)
    beyond = np.where(other >= 0, labels[end], -1)
    linked = beyond >= 0
    least, most = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
    np.minimum.at(least, source[linked], beyond[linked])
    np.maximum.at(most, source[linked], beyond[linked])
    own_numbers = (numbered >= 0) & (numbered != beyond)  # or no other end was seen
    between = linked & certain[source] & certain[end] & (labels[source] != beyond)
    between &= (numbered == beyond) | (numbered == labels[source])
    excluded = np.zeros(n, bool)
    excluded[source[own_numbers | (other <= HOST)]] = True
    excluded[source[linked & ~np.isin(beyond, numbered[between])]] = True
    of_several = (most > least) | (at_exchange & (most >= 0))
    return of_several & ~around.goes_on & ~excluded
