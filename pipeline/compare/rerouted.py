"""What the pairs of both nights show: renumbered routers, longer paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pipeline.compare.changes import (
    ADDED,
    LONGER,
    NO_ROW,
    REMOVED,
    RENUMBERED,
    SHORTER,
    UNSEEN,
    Changes,
    make_changes,
)
from pipeline.compare.events import Events
from pipeline.compare.evidence import View
from pipeline.compare.figures.hops import Swaps, find_swaps, tally
from pipeline.compare.figures.medians import MIN_VANTAGES, medians, rare_shifts, shifted_medians
from pipeline.compare.figures.references import is_news, sign_of_shift, usual_hops
from pipeline.compare.links import Sides, describe, first_nodes, other_router
from pipeline.compare.routes import Common, Routes, common_pairs, spell_out
from pipeline.compare.trees import sum_below
from pipeline.model.columns.keys import (
    distinct_keys,
    is_among,
    number_rows,
    ordered_keys,
    pair_keys,
    position_of,
)
from pipeline.model.columns.ragged import row_of_value, run_starts
from pipeline.model.measured.observations import FIRST
from pipeline.model.measured.references import References

# Routes that are expanded; of more, an even sample, which leaves shares and medians as they are.
_MAX_ROUTES = 1 << 19
_MIN_SWAPPED = 3  # pairs
_SWAPPED_SHARE = 0.3  # of those that crossed the router
_MOST = 0.5  # likewise, and more, of a router one of whose addresses is still seen
_CLOSE = 1.1  # times the pairs of another link, and less: about as many
_OTHER_SHARE = 0.2  # of those that see a new router go on to another one: it took another way


@dataclass(frozen=True, eq=False)
class Rerouted:
    """Pairs of both nights, and the routes of those whose routers differ.

    ``pairs``: rows of ``common``; ``vantage`` and ``longer_by`` (hops, NaN where the target did not
    answer on both nights) of each; ``direct``: the target answered right behind the last router;
    ``traces``: of this route.
    ``same``: rows of the others, or as even a part of them.
    """

    common: Common
    pairs: np.ndarray
    same: np.ndarray
    vantage: np.ndarray
    longer_by: np.ndarray
    old: Routes
    new: Routes
    old_reached: np.ndarray
    new_reached: np.ndarray
    old_direct: np.ndarray
    new_direct: np.ndarray
    old_traces: np.ndarray
    new_traces: np.ndarray

    @cached_property
    def swaps(self) -> Swaps:
        """Routers that took the place of others."""
        return find_swaps(self.old, self.new, (self.old_direct, self.new_direct))


def find_rerouted(sides: Sides) -> Rerouted | None:
    """The pairs whose routes differ; None without traces on both nights."""
    if sides.old_view is None or sides.new_view is None:
        return None
    common = common_pairs(sides.old_view, sides.new_view)
    old_paths, new_paths = sides.old_view.seen.paths, sides.new_view.seen.paths
    differs = common.changed | (old_paths.reached[common.old] != new_paths.reached[common.new])
    pairs, same = np.flatnonzero(differs), np.flatnonzero(~differs)
    every = len(pairs) // _MAX_ROUTES + 1
    pairs, same = pairs[::every], same[::every]
    old, new = common.old[pairs], common.new[pairs]
    reached, now_reached = old_paths.reached[old], new_paths.reached[new]
    hops = new_paths.n_hops[new].astype(np.float64) - old_paths.n_hops[old]
    return Rerouted(
        common,
        pairs,
        same,
        common.vantage[pairs],
        np.where(reached & now_reached, hops, np.nan),
        spell_out(sides.old_view, sides.old, old),
        spell_out(sides.new_view, sides.new, new),
        reached,
        now_reached,
        old_paths.direct[old],
        new_paths.direct[new],
        old_paths.n_traces[old],
        new_paths.n_traces[new],
    )


def compare_numbers(sides: Sides, found: Rerouted) -> tuple[Changes, np.ndarray]:
    """Renumbered routers: the same pairs see a new router in the place of an old one.

    It is as many hops from their targets, if these answer and the routers before are the same, and
    these pairs do not cross the old one somewhere else.

    All addresses of the old one are gone; or some are still seen, perhaps those of another router
    that was merged with it, and most pairs see a new one. If all are still seen, a router was added
    beside the old one, and nothing was renumbered.

    Returns
    -------
    changes : Changes
    renewed : (n,) int64
        Groups of routers that are gone, and of new ones in their place, ascending; however few
        pairs show it: to inference another interface of a renumbered router is a router of its own.
    """
    n = sides.groups.n
    assert sides.old_view is not None
    crossed = paths_through(sides.old_view, found.common.old, n)
    in_old = np.bincount(sides.groups.old, minlength=n) > 0
    in_new = np.bincount(sides.groups.new, minlength=n) > 0
    swaps = found.swaps
    which = np.flatnonzero(~in_old[swaps.new])
    gone, come = swaps.old[which], swaps.new[which]
    differs = swaps.differs[which] | _crosses(found.new, swaps.pair[which], gone)
    n_pairs = np.bincount(gone, minlength=n)
    is_other_way = swaps.came_alike & (np.abs(found.longer_by[swaps.pair]) > 0)
    n_other = np.bincount(gone, differs | is_other_way[which], n)
    enough = np.where(in_new, n_pairs > _MOST * crossed, n_pairs >= _SWAPPED_SHARE * crossed)
    address = _first_gone(sides)
    alike = n_other <= _OTHER_SHARE * n_pairs
    sure = enough & (n_pairs >= _MIN_SWAPPED) & alike
    sure &= address != NO_ROW
    taken = alike[gone] & ~in_new[gone]
    renewed = np.unique(np.concatenate([gone[taken], come[taken]]))
    n_traces = np.bincount(gone, found.old_traces[swaps.pair[which]], n)
    vantages = n_vantages(gone, found.vantage[swaps.pair[which]], n)
    (one, other), times = tally(gone, come)
    order = np.lexsort((other, -times, one))  # the most frequent of each router first
    best = order[run_starts(one[order])]
    best = best[sure[one[best]]]
    one, other = one[best], other[best]
    at = address[one]
    changes = describe(
        sides.old,
        sides.groups.old,
        sides.old.addr_node[at],
        None,
        "router",
        kind=RENUMBERED,
        addr_high=sides.old.addr[at, 0],
        addr_low=sides.old.addr[at, 1],
        **other_router(sides.new, sides.groups.new, first_nodes(sides.groups.new, n)[other]),
        n_pairs=n_pairs[one],
        n_traces=n_traces[one],
        n_vantages=vantages[one],
    )
    return changes, renewed


def _crosses(routes: Routes, pair: np.ndarray, group: np.ndarray) -> np.ndarray:
    """(n,) bool: whether the route of a pair crosses a router."""
    every = distinct_keys(ordered_keys(row_of_value(routes.ptr), routes.group))
    return is_among(ordered_keys(pair, group), every)


def _first_gone(sides: Sides) -> np.ndarray:
    """The smallest address of each group that the new night lacks, ``NO_ROW`` for none.

    Returns
    -------
    (n_groups,) int64
        Rows of the old night's addresses.
    """
    old, new = sides.old, sides.new
    number, _ = number_rows(*np.concatenate([old.addr, new.addr]).T)
    before, now = np.split(number, [len(old.addr)])
    rows = np.flatnonzero(~is_among(before, now))
    rows = rows[np.argsort(-before[rows], kind="stable")]
    first = np.full(sides.groups.n, NO_ROW, np.int64)
    first[sides.groups.old[old.addr_node[rows]]] = rows  # of several the last one, the smallest
    return first


def compare_lengths(sides: Sides, found: Rerouted, references: References) -> Iterator[Changes]:
    """ASes whose hosts are now farther from several vantage points than their baseline, or nearer.

    By more than those of other ASes are by chance. What was so on the older night already is
    reported only if it continues.
    """
    assert sides.old_view is not None
    assert sides.new_view is not None
    old, new = sides.old_view.seen.paths, sides.new_view.seen.paths
    at, now = found.common.old, found.common.new
    ends = old.step[at]
    both = np.flatnonzero(old.reached[at] & new.reached[now] & (ends >= 0))
    ends, at, now = ends[both], at[both], now[both]
    asn, row = np.unique(sides.old.asn_of(sides.old_view.seen.steps.far[ends]), return_inverse=True)
    usual, usual_before = usual_hops(references, sides.old_view, at)
    hops_before, hops = old.n_hops[at].astype(np.float64), new.n_hops[now].astype(np.float64)
    which = tuple(
        sign_of_shift(row, difference, len(asn))
        for difference in (hops - usual, hops_before - usual_before, hops - hops_before)
    )
    is_rare = rare_shifts(row, hops - usual, len(asn))
    vantages = n_vantages(row, found.common.vantage[both], len(asn))
    before, after = shifted_medians(row, usual, hops - usual, len(asn))
    n_pairs = np.bincount(row, minlength=len(asn))
    n_traces = np.bincount(row, old.n_traces[at], len(asn))
    for kind, sign in ((LONGER, 1), (SHORTER, -1)):
        some = np.flatnonzero(is_news(which, sign) & is_rare & (vantages >= MIN_VANTAGES))
        yield make_changes(
            len(some),
            "paths",
            kind=kind,
            asn=asn[some],
            old=before[some],
            new=after[some],
            n_pairs=n_pairs[some],
            n_traces=n_traces[some],
            n_vantages=vantages[some],
        )


def measure_events(changes: Changes, events: Events, found: Rerouted) -> Events:
    """How many hops longer the paths became of pairs that crossed links of each event."""
    of_link = (changes.what == "link") & (changes.event >= 0)
    of_link &= (changes.kind == REMOVED) | (changes.kind == UNSEEN)
    one, other = changes.group[of_link], changes.other_group[of_link]
    keys, first = np.unique(pair_keys(one, other), return_index=True)
    if not len(keys):
        return events
    event = changes.event[of_link][first]
    hop = np.flatnonzero(found.old.direct)
    key = pair_keys(found.old.group[hop - 1], found.old.group[hop])
    at = position_of(keys, key)
    hop, at = hop[at >= 0], at[at >= 0]
    pair = row_of_value(found.old.ptr)[hop]
    both = ~np.isnan(found.longer_by[pair])
    (of, pair), _ = tally(event[at[both]], pair[both])
    enough = n_vantages(of, found.vantage[pair], len(events)) >= MIN_VANTAGES
    longer = [
        np.where(enough, column, np.nan)
        for column in medians(of, found.longer_by[pair], len(events))
    ]
    events = replace(events, longer_by=longer[0], lower=longer[1], upper=longer[2])
    return _named_by_length(changes, events)


def _named_by_length(changes: Changes, events: Events) -> Events:
    """Events of links that were removed and added, named by the link that was added.

    Where a link is added, others are no longer crossed, and the other way round. The cause is the
    link that more pairs cross: they came to it from several, or went from it to several. Where
    about as many do, ways become longer if something is lost, and shorter if something is gained.
    """
    kind, first = events.kind.copy(), events.first.copy()
    most = []
    for of_kind in (REMOVED, ADDED):
        rows = np.flatnonzero((changes.kind == of_kind) & (changes.event >= 0))
        most.append(np.zeros(len(events), np.int64))
        n_unknown = changes.n_no_target[rows] + changes.n_no_vantage[rows]
        np.maximum.at(most[-1], changes.event[rows], changes.n_pairs[rows] - n_unknown)
    n_removed, n_added = most
    is_added = n_added > n_removed
    close = np.maximum(n_removed, n_added) <= _CLOSE * np.minimum(n_removed, n_added)
    is_added[close] = (events.longer_by < 0)[close] | (is_added & ~(events.longer_by > 0))[close]
    some = np.flatnonzero((events.kind == "links removed") & is_added)
    of_event = np.flatnonzero((changes.kind == ADDED) & np.isin(changes.event, some))
    order = of_event[np.lexsort((-changes.n_traces[of_event], changes.event[of_event]))]
    event, at = np.unique(changes.event[order], return_index=True)
    kind[event], first[event] = "links added", order[at]
    return replace(
        events,
        kind=kind,
        first=first,
        asn=changes.asn[first],
        other_asn=changes.other_asn[first],
    )


def n_vantages(row: np.ndarray, vantage: np.ndarray, n_rows: int) -> np.ndarray:
    """Distinct vantage points of each row, (n_rows,) int64."""
    if not len(row):
        return np.zeros(n_rows, np.int64)
    width = int(vantage.max()) + 1
    return np.bincount(distinct_keys(row * width + vantage) // width, minlength=n_rows)


def paths_through(view: View, paths: np.ndarray, n_groups: int) -> np.ndarray:
    """Some paths that show each group, (n_groups,) int64."""
    n_paths = paths_by_step(view, paths)
    return np.bincount(view.group[view.seen.steps.far], n_paths, n_groups).astype(np.int64)


def paths_by_step(view: View, paths: np.ndarray) -> np.ndarray:
    """Some paths that go over each step, (n_steps,) int64."""
    steps = view.seen.steps
    ends = view.seen.paths.step[paths]
    n_paths = np.bincount(ends[ends != FIRST], minlength=len(steps))
    return sum_below(steps.before, n_paths)
