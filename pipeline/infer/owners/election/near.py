"""The ASes near a group of addresses: those that the election tries for it (``elect``)."""

from __future__ import annotations

import numpy as np
from numba import njit

# A router has links to a few ASes, a large one to some tens. Each AS that is tried costs a look at
# all that is around, so for what seems to have links to thousands only the likely ones are tried.
_MOST = 64


@njit(cache=True, nogil=True)
def find_near(case, group, held):
    """Write the ASes near a group into ``case.near``; how many there are.

    First its own, then ``held``, each if it is not negative, then others by the entries that name
    them as what the link is numbered from, or as the AS at the other end. If
    there are more than ``_MOST``, these are the ones that most entries name.
    """
    near, near_to = case.near, case.near_to
    ptr, labels, other, numbered = case.ptr, case.labels, case.other, case.numbered
    start, end = ptr[group], ptr[group + 1]
    n, n_first = 0, 0
    for i in range(start - 1, end):
        if i < start:
            both = (labels[group], held)
        else:
            far = labels[other[i]] if other[i] >= 0 else np.int64(-1)
            both = (numbered[i], far)
        for one in both:
            if one < 0:
                continue
            place = near_to[one]  # of an earlier group, perhaps
            if 0 <= place < n and near[place] == one:
                continue
            near_to[one] = n
            near[n] = one
            n += 1
        if i < start:
            n_first = n
    return n if n <= _MOST else _keep_likely(case, start, end, n, n_first)


@njit(cache=True, nogil=True)
def _keep_likely(case, start, end, n, n_first):
    """Keep the first ASes and those that most entries name, in their order; how many."""
    near, near_to, labels = case.near, case.near_to, case.labels
    numbered, other = case.numbered, case.other
    n_named = np.zeros(n, np.int64)
    for i in range(start, end):
        far = labels[other[i]] if other[i] >= 0 else np.int64(-1)
        for one in (numbered[i], far):
            if one >= 0:
                n_named[near_to[one]] += 1
    n_named[:n_first] = 2 * (end - start) + 1
    fewest = np.sort(n_named)[n - _MOST]  # so many, or more, name those that stay
    n_ties = _MOST - np.count_nonzero(n_named > fewest)
    kept = 0
    for at in range(n):
        if n_named[at] < fewest or (n_named[at] == fewest and n_ties == 0):
            continue
        n_ties -= n_named[at] == fewest
        near[kept] = near[at]
        kept += 1
    return kept
