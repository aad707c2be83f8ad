"""Moves of routers to another AS because of the paths that lead through them."""

from __future__ import annotations

import numpy as np
from numba import njit

from pipeline.infer.owners.election.costs import cost_with_change

# Most that a move may cost, in tenths of a nat, chosen on simulated networks.
MOST = 40
MAX_ROUNDS = 20


@njit(cache=True, nogil=True)
def cost_of_move(case, groups, to):
    """What the groups of a run cost more in another AS, one moved after the other.

    They stay where they are. ``groups``: (n,) int, -1 for none.
    """
    labels = case.labels
    was, cost = np.full(len(groups), -1, np.int64), np.int64(0)
    for at in range(len(groups)):
        group = groups[at]
        if group >= 0:
            was[at] = labels[group]
            if was[at] != to:
                cost += cost_with_change(case, group, to) - cost_with_change(case, group, was[at])
                labels[group] = to
    for at in range(len(groups)):
        if groups[at] >= 0:
            labels[groups[at]] = was[at]
    return cost
