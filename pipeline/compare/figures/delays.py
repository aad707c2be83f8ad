"""Links that became slower or faster, by the RTT that they add.

What a link adds is the RTT of its far router less that of its near one, from one vantage point: the
lowest RTTs of the step that most of its traces took, since queues only ever add. Each vantage point
of both nights has one vote on each night; a link differs if the intervals of the two medians lie
apart and the medians at least a millisecond [1]_.

References
----------
.. [1] R. Fontugne, C. Pelsser, E. Aben, R. Bush, "Pinpointing delay and forwarding anomalies using
   large-scale traceroute measurements", IMC 2017.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.compare.changes import FASTER, SLOWER, Changes
from pipeline.compare.evidence import View
from pipeline.compare.figures.medians import MIN_VANTAGES, medians
from pipeline.compare.links import Sides, describe, first_nodes
from pipeline.compare.matching import number_rows
from pipeline.model.columns.ragged import run_starts
from pipeline.model.measured.observations import FIRST

MIN_MS = 1.0  # of a difference of medians


def compare_delays(sides: Sides) -> Iterator[Changes]:
    """Links of both nights that add more or less to the RTT than before."""
    if sides.old_view is None or sides.new_view is None:
        return
    old, new = _added_ms(sides.old_view), _added_ms(sides.new_view)
    number, _ = number_rows(*(np.concatenate(pair) for pair in zip(old[:3], new[:3], strict=True)))
    of_old, of_new = np.split(number, [len(old[0])])
    _, at, now = np.intersect1d(of_old, of_new, assume_unique=True, return_indices=True)
    near, far = old[0][at], old[1][at]
    link, n_links = number_rows(near, far)
    n_of = np.bincount(link, minlength=n_links)
    before, lower, upper = medians(link, old[3][at], n_links)
    after, low, high = medians(link, new[3][now], n_links)
    differs = (n_of >= MIN_VANTAGES) & (np.abs(after - before) >= MIN_MS)
    first = np.full(n_links, -1)
    first[link[::-1]] = np.arange(len(link))[::-1]
    nodes = first_nodes(sides.groups.new, sides.groups.n)
    for kind, apart in ((SLOWER, low > upper), (FASTER, high < lower)):
        which = np.flatnonzero(differs & apart)
        yield describe(
            sides.new,
            sides.groups.new,
            nodes[near[first[which]]],
            nodes[far[first[which]]],
            kind=kind,
            old=before[which],
            new=after[which],
            n_pairs=n_of[which],
            n_vantages=n_of[which],
        )


def _added_ms(view: View) -> tuple[np.ndarray, ...]:
    """Near and far group, vantage point (each such row once), and what the link adds in ms."""
    steps = view.seen.steps
    rows = np.flatnonzero(~steps.across_gap & (steps.before != FIRST))
    added = steps.rtt_ms[rows].astype(np.float64) - steps.rtt_ms[steps.before[rows]]
    rows, added = rows[~np.isnan(added)], added[~np.isnan(added)]
    near, far = view.group[steps.near[rows]], view.group[steps.far[rows]]
    vantage = view.vantage[steps.vantage[rows]]
    order = np.lexsort((-steps.n_traces[rows].astype(np.int64), vantage, far, near))
    columns = (near[order], far[order], vantage[order])
    starts = run_starts(*columns)
    return *(column[starts] for column in columns), added[order][starts]
