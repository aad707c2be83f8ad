"""Changes of neighbouring routers, judged together: one may only have followed the other.

Routers are put into ASes one by one. So where more is known than in the election before
(``earlier``), a router may change for what a neighbour seems to be in for a while, and the
neighbour then follows it: each of the two is right beside the other, though both were cheaper where
they were. So routers next to each other that are in other ASes than before are judged as one: all
stay where they were unless the surroundings of all of them cost less now, by more than the changes
themselves cost. What each saves is summed up while one after the other goes back, so a link between
two of them counts once.

The sources of this idea are those of ``regions``, which moves what would be cheaper elsewhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import gain
from pipeline.infer.rule import Rule

CHANGES_TOGETHER = Rule(
    "changes-together",
    "owners",
    "changes of neighbouring routers that save nothing together are taken back",
    "the election before, links",
)


@njit(cache=True, nogil=True)
def take_back(case):
    """Take back changes that save nothing together, in place.

    Returns
    -------
    (n,) bool
        Groups that are in the AS before again.
    """
    labels, held = case.labels, case.held
    seen, taken = np.zeros(len(labels), np.bool_), np.zeros(len(labels), np.bool_)
    changed, to = np.empty(len(labels), np.int64), np.empty(len(labels), np.int64)
    for first in range(len(labels)):
        if seen[first] or not _is_changed(case, first):
            continue
        seen[first] = True
        changed[0] = first
        n = _gather(case, changed, seen)
        saved = np.int64(0)
        for at in range(n - 1, -1, -1):
            group = changed[at]
            now, before = labels[group], held[group]
            saved += gain(case, group, before, now)
            to[at], labels[group] = now, before
        for at in range(n):
            if saved > 0:
                labels[changed[at]] = to[at]
            else:
                taken[changed[at]] = True
    return taken


@njit(cache=True, nogil=True)
def _is_changed(case, group):
    labels, held = case.labels, case.held
    return held[group] >= 0 and labels[group] >= 0 and labels[group] != held[group]


@njit(cache=True, nogil=True)
def _gather(case, changed, seen):
    """Add the changed groups next to those in ``changed``, at first one; how many there are."""
    ptr, other = case.ptr, case.other
    n, at = 1, 0
    while at < n:
        for i in range(ptr[changed[at]], ptr[changed[at] + 1]):
            far = other[i]
            if far >= 0 and not seen[far] and _is_changed(case, far):
                seen[far] = True
                changed[n] = far
                n += 1
        at += 1
    return n
