"""Routers and whole ASes that stopped or began to answer.

A pair is evidence about a router that it meets on one night if its predecessor there is on the
pair's path on both nights. On the other night the pair sees the router too, or a gap with the same
router after it, or another router, since its path changed. A router is silent if most of these
pairs see a gap.
The first router of a pair is no evidence: it may follow a router that does not answer.

An inferred router may really be two, one of which stopped answering. So the pairs that come from
one predecessor can decide alone, if more of them see a gap than chance explains and the others see
the router as before: if a link was cut, some pairs of its ends may meet a silent router.

An AS is silent as a whole if hardly any of its routers is seen on the other night, but most of the
pairs that crossed them still pass (``passages``): the AS is there, but none of it answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from pipeline.compare.changes import LOUD, QUIET, Changes, make_changes
from pipeline.compare.evidence import View, count_crossings
from pipeline.compare.figures.hops import Places, places_of, same_places, tally
from pipeline.compare.figures.medians import MIN_VANTAGES, wilson
from pipeline.compare.figures.passages import PASSES, UNKNOWN, Trips, passages_of
from pipeline.compare.links import Sides, describe, first_nodes
from pipeline.compare.rerouted import Rerouted, n_vantages, paths_by_step
from pipeline.model.columns import Flat, concat, take
from pipeline.model.columns.keys import (
    distinct_keys,
    is_among,
    number_rows,
    ordered_keys,
    position_of,
)
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.columns.sorted_keys import places_of_keys
from pipeline.model.measured.observations import FIRST

_Z = 2.58  # of 99 %: thousands of routers are asked
_Z_OF_LINKS = 3.29  # of 99.9 %: several times as many
_MOST = 0.5  # of pairs
_FEW = 0.2  # likewise: that go to another router
_SEEN = 0.1  # of the routers of an AS: some answer by an address of another AS, and are seen still
_OF_OTHERS = 0.34  # likewise: routers of neighbours that count in it as long as others of it answer
_MIN_SILENT = 2  # routers of an AS: if one was seen, it may have others
_PASSED = "pairs that crossed it go on behind it, and none of its routers answers them"


@dataclass(frozen=True, eq=False)
class _Observed:
    """Routers that pairs are evidence about, (n,) columns.

    ``before``: their predecessor on the pairs' paths, or -1; ``n_pairs``: number of these pairs.
    """

    group: Annotated[np.ndarray, Flat(np.int64)]
    before: Annotated[np.ndarray, Flat(np.int64)]
    n_pairs: Annotated[np.ndarray, Flat(np.int64)]

    def __len__(self) -> int:
        return len(self.group)


@dataclass(frozen=True, eq=False)
class Passed:
    """ASes of which hardly any router is seen on the other night, (n,) columns.

    Attributes
    ----------
    asn : (n,) int64
        Ascending.
    n_routers, n_left : (n,) int64
        Routers on its night, and on the other one.
    n_passing, n_elsewhere : (n,) int64
        Pairs of both nights that crossed routers of it that are not seen on the other one.
    is_silent : (n,) bool
        Most of these pairs pass.
    """

    asn: Annotated[np.ndarray, Flat(np.int64)]
    n_routers: Annotated[np.ndarray, Flat(np.int64)]
    n_left: Annotated[np.ndarray, Flat(np.int64)]
    n_passing: Annotated[np.ndarray, Flat(np.int64)]
    n_elsewhere: Annotated[np.ndarray, Flat(np.int64)]
    is_silent: Annotated[np.ndarray, Flat(bool)]

    @classmethod
    def none(cls) -> Passed:
        """Of nights without traces, or of other inputs."""
        no = np.zeros(0, np.int64)
        return cls(no, no, no, no, no, np.zeros(0, bool))


def compare_answers(sides: Sides, found: Rerouted) -> Iterator[Changes]:
    """Routers that stopped answering, and those that began to."""
    assert sides.old_view is not None
    assert sides.new_view is not None
    n = sides.groups.n
    old, new = same_places(
        places_of(found.old, found.old_direct), places_of(found.new, found.new_direct)
    )
    swaps = found.swaps
    still = old.group == new.group
    same = found.common.old[found.same]
    on_both = [_one_each(old, still), _whole_places(sides.old_view, same)]
    silent, heard = (old.group >= 0) & (new.group < 0), (old.group < 0) & (new.group >= 0)
    for kind, night, view, group, one, many, few, other in (
        (
            QUIET,
            sides.old,
            sides.old_view,
            sides.groups.old,
            old,
            silent,
            _one_each(new, heard),
            swaps.old,
        ),
        (
            LOUD,
            sides.new,
            sides.new_view,
            sides.groups.new,
            new,
            heard,
            _one_each(old, silent),
            swaps.new,
        ),
    ):
        vantage = found.vantage[one.pair[many]]
        others = _Observed(other, swaps.before, np.ones(len(other), np.int64))
        which = _most(_one_each(one, many), concat([*on_both, few]), others, vantage, n)
        which = which[~sides.in_no_as[which]]
        number = np.full(n, -1)
        number[which] = np.arange(len(which))
        yield describe(
            night,
            group,
            first_nodes(group, n)[which],
            None,
            "router",
            kind=kind,
            **count_crossings(view, number[group[view.seen.steps.far]], len(which)),
        )


def find_passed(sides: Sides, found: Rerouted | None, *, reverse: bool) -> Passed:
    """ASes of the older night that the newer one hardly shows; ``reverse``: nights exchanged."""
    if found is None or not sides.same_inputs:  # with another table routers may be of no AS
        return Passed.none()
    here, there = (sides.new, sides.old) if reverse else (sides.old, sides.new)
    group, other = sides.groups.old, sides.groups.new
    if reverse:
        group, other = other, group
    is_seen = np.bincount(other, minlength=sides.groups.n) > 0
    (owner, router), _ = tally(here.asn_of(np.arange(here.n_nodes)), group)
    (of_others, router_there), _ = tally(there.asn_of(np.arange(there.n_nodes)), other)
    asn, row, n_routers = np.unique(owner, return_inverse=True, return_counts=True)
    n_seen = np.bincount(row, is_seen[router], len(asn))
    # Beside an AS that does not answer, routers of neighbours may count in it.
    was_other = is_among(router_there, router)
    was_other &= ~is_among(ordered_keys(router_there, of_others), ordered_keys(router, owner))
    of_others = of_others[~was_other]
    n_left = np.searchsorted(of_others, asn, side="right") - np.searchsorted(of_others, asn)
    which = (n_left <= _SEEN * n_routers) & (n_seen <= _OF_OTHERS * n_routers)
    asn, n_routers, n_left = asn[which], n_routers[which], n_left[which]
    trips = [
        Trips(found.old, found.old_reached, found.old_direct),
        Trips(found.new, found.new_reached, found.new_direct),
    ]
    own, others = trips[::-1] if reverse else trips
    routes = own.routes
    hop = np.flatnonzero(~is_seen[routes.group] & is_among(routes.asn, asn))
    verdict = passages_of(own, others, hop)
    hop, verdict = hop[verdict != UNKNOWN], verdict[verdict != UNKNOWN]
    of, pair = places_of_keys(asn, routes.asn[hop]), row_of_value(routes.ptr)[hop]
    (every, _), _ = tally(of, pair)
    passes = verdict == PASSES
    (passing, by), _ = tally(of[passes], pair[passes])
    n, n_passing = (np.bincount(rows, minlength=len(asn)) for rows in (every, passing))
    lower, _ = wilson(n_passing, n, _Z)
    vantages = n_vantages(passing, found.vantage[by], len(asn))
    is_silent = (lower > _MOST) & (vantages >= MIN_VANTAGES)
    return Passed(asn, n_routers, n_left, n_passing, n - n_passing, is_silent)


def describe_passed(sides: Sides, passed: Passed, *, reverse: bool) -> Changes:
    """ASes that became silent, or answer again."""
    night, view = (sides.new, sides.new_view) if reverse else (sides.old, sides.old_view)
    kind = LOUD if reverse else QUIET
    if view is None:
        return make_changes(0, "AS", kind=kind)
    which = np.flatnonzero(passed.is_silent & (passed.n_routers >= _MIN_SILENT))
    asn = passed.asn[which]
    owner = night.asn_of(view.seen.steps.far.astype(np.int64))
    label = position_of(asn, owner)
    old, new = passed.n_routers[which], passed.n_left[which]
    if reverse:
        old, new = new, old
    return make_changes(
        len(which),
        "AS",
        kind=kind,
        asn=asn,
        old=old,
        new=new,
        n_silent=passed.n_passing[which],
        n_elsewhere=passed.n_elsewhere[which],
        reason=_PASSED,
        **count_crossings(view, label, len(which)),
    )


def _most(
    many: _Observed, same: _Observed, others: _Observed, vantage: np.ndarray, n: int
) -> np.ndarray:
    """Routers for which ``many`` is more than ``same`` and ``others`` together.

    In all, or by one router before them. ``same``: pairs that see the router on the other night;
    ``others``: pairs that see another one in its place.
    """
    is_asked = np.bincount(many.group, minlength=n) > 0
    behind = [take(seen, (seen.before >= 0) & is_asked[seen.group]) for seen in (same, others)]
    every = concat([many, *behind])
    link, n_links = number_rows(every.before, every.group)
    n_others = np.bincount(behind[1].group, minlength=n)
    is_passed = n_others <= _FEW * np.bincount(every.group, every.n_pairs, n)
    found = []
    for row, n_rows, z, which in (
        (every.group, n, _Z, np.ones(n, bool)),
        (link, n_links, _Z_OF_LINKS, is_passed),
    ):
        own = row[: len(many)]
        n_many = np.bincount(own, many.n_pairs, n_rows)
        lower, _ = wilson(n_many, np.bincount(row, every.n_pairs, n_rows), z)
        sure = (lower > _MOST) & (n_vantages(own, vantage, n_rows) >= MIN_VANTAGES)
        found.append(many.group[sure[own] & which[many.group]])
    return distinct_keys(np.concatenate(found))


def _one_each(places: Places, which: np.ndarray) -> _Observed:
    """Places with a router, each of a pair of its own."""
    which = which & (places.group >= 0)
    return _Observed(places.group[which], places.before[which], np.ones(int(which.sum()), np.int64))


def _whole_places(view: View, paths: np.ndarray) -> _Observed:
    """Places of some paths that are seen whole (``places_of``), by how many paths show them."""
    steps, ends = view.seen.steps, view.seen.paths.step[paths]
    n_paths = paths_by_step(view, paths)
    below = np.flatnonzero((steps.before != FIRST) & ~steps.across_gap & (n_paths > 0))
    last = ends[view.seen.paths.direct[paths] & (ends != FIRST)]
    row = np.concatenate([steps.before[below], last])
    n = np.concatenate([n_paths[below], np.ones(len(last), np.int64)])
    before = steps.before[row]
    first = before == FIRST
    whole = first | ~steps.across_gap[row]
    near = np.where(first, -1, view.group[steps.far[before]])
    return _Observed(view.group[steps.far[row]][whole], near[whole], n[whole])
