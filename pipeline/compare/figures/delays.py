"""Links that became slower or faster, by the RTT that they add.

What a link adds is the RTT of its far router less that of its near one, from one vantage point: the
lowest RTTs of the step that most of its traces took, since queues only ever add. Each vantage point
of both nights has one vote: by how much this changed, since replies come back to each another way.
A link differs if the interval of their median leaves out 0 and the median is at least a millisecond
(after [1]_, where votes are not paired). If nights before the older one are known, its values are
references smoothed over all of them (``references``).

Where load is balanced, many votes change by chance, each by much. So as many votes of the link must
have moved by half of its shift or more that it is rare among all links, if each vote moves so far
as often as those of other links of the night do. Routers that are several on one of the nights are
left out: what was merged is not one delay.

References
----------
.. [1] R. Fontugne, C. Pelsser, E. Aben, R. Bush, "Pinpointing delay and forwarding anomalies using
   large-scale traceroute measurements", IMC 2017.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.compare.changes import ALL_AGREE, FASTER, SLOWER, Changes
from pipeline.compare.evidence import View, count_crossings, label_links
from pipeline.compare.figures.medians import MIN_VANTAGES, rare_shifts, shifted_medians
from pipeline.compare.figures.references import (
    MIN_MS,
    added_ms,
    is_news,
    sign_of_shift,
    usual_ms,
)
from pipeline.compare.links import Sides, describe, first_nodes
from pipeline.model.columns.keys import number_rows, pair_keys, position_of
from pipeline.model.measured.references import References

_MOST_KEYS = 1 << 62
AGREE_MS = 2.0  # by which a link differs from each vantage point, where these are few


def _votes(view: View, is_one: np.ndarray) -> tuple[np.ndarray, ...]:
    """``added_ms`` of links between routers that are one."""
    votes = added_ms(view.seen, view.group, view.vantage)
    kept = is_one[votes[0]] & is_one[votes[1]]
    return tuple(column[kept] for column in votes)


def _common(
    old: tuple[np.ndarray, ...], new: tuple[np.ndarray, ...], n_groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the votes of both nights, of the same link from the same vantage point."""
    n_by = int(max(old[2].max(initial=0), new[2].max(initial=0))) + 1
    if n_groups * n_groups * n_by < _MOST_KEYS:
        keys = [(near * n_groups + far) * n_by + by for near, far, by, _ in (old, new)]
    else:
        every = (np.concatenate(pair) for pair in zip(old[:3], new[:3], strict=True))
        keys = np.split(number_rows(*every)[0], [len(old[0])])
    found = position_of(keys[1], keys[0])  # in order, and each once
    at = np.flatnonzero(found >= 0)
    return at, found[at]


def compare_delays(sides: Sides, references: References) -> Iterator[Changes]:
    """Links of both nights that began to add more or less to the RTT than their baseline."""
    if sides.old_view is None or sides.new_view is None:
        return
    is_one = np.ones(sides.groups.n, bool)
    for group in (sides.groups.old, sides.groups.new):
        is_one &= np.bincount(group, minlength=sides.groups.n) == 1
    old, new = (_votes(view, is_one) for view in (sides.old_view, sides.new_view))
    at, now = _common(old, new, sides.groups.n)
    near, far, vantage, before = (column[at] for column in old)
    after = new[3][now]
    del old, new, at, now
    link, n_links = number_rows(near, far)
    usual, usual_before = usual_ms(sides, references, (near, far, vantage, before))
    which = tuple(
        sign_of_shift(link, other - one, n_links, MIN_MS)
        for one, other in ((usual, after), (usual_before, before), (before, after))
    )
    is_rare = rare_shifts(link, after - usual, n_links)
    n_of = np.bincount(link, minlength=n_links)
    least, most = np.full(n_links, np.inf), np.full(n_links, -np.inf)
    np.minimum.at(least, link, after - before)
    np.maximum.at(most, link, after - before)
    first = np.full(n_links, -1)
    first[link[::-1]] = np.arange(len(link))[::-1]
    nodes = first_nodes(sides.groups.new, sides.groups.n)
    shown = shifted_medians(link, usual, after - usual, n_links)
    for kind, sign in ((SLOWER, 1), (FASTER, -1)):
        some = np.flatnonzero(is_news(which, sign) & is_rare & (n_of >= MIN_VANTAGES))
        low, high = (least[some], most[some]) if sign > 0 else (-most[some], -least[some])
        # Replies to some come back over the link, and wait twice; and queues add to either.
        agree = (low >= AGREE_MS) & (high <= 2 * low + AGREE_MS)
        keys, row = np.unique(pair_keys(near[first[some]], far[first[some]]), return_inverse=True)
        crossed = count_crossings(sides.new_view, label_links(sides.new_view, keys), len(keys))
        yield describe(
            sides.new,
            sides.groups.new,
            nodes[near[first[some]]],
            nodes[far[first[some]]],
            kind=kind,
            old=shown[0][some],
            new=shown[1][some],
            n_traces=crossed["n_traces"][row],
            n_pairs=crossed["n_pairs"][row],
            n_vantages=n_of[some],
            reason=np.where(agree, ALL_AGREE, "").astype(object),
        )
