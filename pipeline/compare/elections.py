"""Whether routers count in another AS by more than chance.

An owner is inferred with a confidence, and is another one where other traces are seen. Routers of
lower confidence show how often that happens on this night: of the errors that their confidences
allow, the share that moved. The same share of the errors that confidences of sure routers allow is
what moves by chance among these. Where it moves one router or more of those that did, more often
than on one night in twenty, an election is no news.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pipeline.compare.changes import MOVED, Changes
from pipeline.compare.events import MIN_CONFIDENCE, MIN_MOVED_PAIRS
from pipeline.compare.figures.medians import wilson
from pipeline.compare.links import BY_CHANCE, SURE, Sides, first_nodes
from pipeline.compare.rerouted import Rerouted, paths_through


def mark_chance(changes: Changes, sides: Sides, found: Rerouted | None) -> Changes:
    """The same changes, with ``BY_CHANCE`` as the reason of routers whose owner chance changes."""
    old, new, groups = sides.old, sides.new, sides.groups
    if found is None or old.confidence is None or new.confidence is None:
        return changes
    assert sides.old_view is not None
    before, now = first_nodes(groups.old, groups.n), first_nodes(groups.new, groups.n)
    both = np.flatnonzero((before >= 0) & (now >= 0))
    one, other = old.confidence[before[both]], new.confidence[now[both]]
    doubt = 2.0 - one - other
    is_sure = np.minimum(one, other) >= MIN_CONFIDENCE
    rows = np.flatnonzero((changes.what == "router") & (changes.kind == MOVED))
    moved = np.isin(both, changes.group[rows])
    n_unsure = np.array((~is_sure).sum())
    at_least, _ = wilson(np.array((moved & ~is_sure).sum()), n_unsure)
    share = float(at_least * n_unsure) / max(float(doubt[~is_sure].sum()), 1e-9)
    is_busy = paths_through(sides.old_view, found.common.old, groups.n)[both] >= MIN_MOVED_PAIRS
    reason = changes.reason.copy()
    for which in (is_sure & is_busy, is_sure & ~is_busy):
        n, expected = int((moved & which).sum()), share * float(doubt[which].sum())
        if n and expected and math.lgamma(n + 1) - n * math.log(expected) < SURE:
            reason[rows[np.isin(changes.group[rows], both[which])]] = BY_CHANCE
    return replace(changes, reason=reason)
