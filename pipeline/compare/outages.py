"""What pairs crossed on one night and no pair crosses on the other: the largest cause first.

A **thing** is an AS, an exchange point, a city, an adjacency (links between two ASes), some routers
of an AS or in a city, or the routers that an AS hides. Of the pairs (vantage point, target) that
were measured on both nights, those that crossed it on the older one are counted, and those that
still do on the newer one. If hardly any does, and they do not pass it unanswered, the thing may be
lost; with the nights exchanged it is gained.

Many things are lost at once where one fails: its links, its routers, what lies behind. So causes
are taken greedily: the thing that most pairs left, that no earlier cause explains, is the next one;
its pairs are explained by it, and what mostly such pairs left is a fragment of it. Between things
that the same pairs left the larger one is the cause; between one that they left and one that they
came to, their ways decide: these become longer, or end, where something is lost.

Few pairs leave a thing by chance where load is balanced: if on the average n pairs cross it on a
night, none does with probability exp(-n). So a thing counts where so many pairs crossed it
that this is rare among all things of the night.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pipeline.compare.changes import (
    GAINED,
    HIDDEN,
    JOINED,
    LOST,
    MAX_SINGLE,
    NOT_BEFORE,
    PARTED,
    SHOWN,
    UNSEEN,
    Changes,
    make_changes,
)
from pipeline.compare.cities import (
    ALONE,
    MIN_ASES,
    MIN_ROUTERS,
    MIN_SHARE,
    crossed_instead,
    crossings_of,
    number_cities,
    routers_in,
)
from pipeline.compare.evidence import View, crossings
from pipeline.compare.figures.hops import tally
from pipeline.compare.figures.medians import MIN_VANTAGES
from pipeline.compare.figures.passages import ELSEWHERE as GOES_ELSEWHERE
from pipeline.compare.figures.passages import (
    PASSES,
    SHORTCUT,
    UNKNOWN,
    Trips,
    behind_hops,
    passages_of,
)
from pipeline.compare.links import (
    MAX_STILL,
    NOT_SEEN,
    SURE,
    Sides,
    first_nodes,
    other_router,
)
from pipeline.compare.night import Night
from pipeline.compare.rerouted import Rerouted, paths_by_step
from pipeline.compare.routes import Routes, is_renamed, spell_out
from pipeline.model.columns import concat, take
from pipeline.model.columns.keys import (
    distinct_keys,
    is_among,
    number_rows,
    ordered_keys,
    pair_keys,
    position_of,
    split_key,
)
from pipeline.model.columns.ragged import offsets, positions_of_rows, row_of_value, run_starts
from pipeline.model.columns.sorted_keys import places_of_keys
from pipeline.model.measured.observations import FIRST
from pipeline.model.topology import NO_ASN

_PASSING = 0.2  # likewise: may pass it unanswered
_NEW = 0.3  # of the pairs of a thing, and more, that no earlier cause explains
_OF_EVENT = 0.7  # of the pairs of a change, and more, that a cause explains
_AGREES = 1.04  # worth of a cause with which the ways of its pairs agree
_BY_OTHERS = 0.3  # of the pairs behind a router, and more: still come from it
_FEW_HIDDEN = 0.5  # of the pairs that cross routers inside an AS: may still see them

AS, EXCHANGE, HIDING, ADJACENCY, BALANCE, PART, ROUTER, CITY, QUARTER, PIECES = range(10)
_WORTH = (1.15, 1.12, 1.06, 1.03, 1.05, 1.02, 1.0, 1.15, 1.1, 1.03)
_WORDS = (
    *("AS", "exchange", "AS", "adjacency", "balancing", "router", "router", "city", "city", "AS"),
)
_OF_PIECES = 0.3  # of the routers of an AS, and more, that are lost: else it fell apart
_BY_ONE = 0.9  # of the pairs that left a router, and more: came to one new link
_MORE = 1.1  # times these pairs, and more, came to that link: they came from other routers, too
_KNOWN = 0.25  # of the pairs that left an AS, and more: show that they go elsewhere
_LEAST_BALANCED = 0.15  # of the flows, over each of several ways
_APART = 0.3  # of the pairs that changed to a balanced router, and less: go on otherwise
_MOST = 0.4  # of the pairs of a balanced router, and more: changed to it
_BALANCED = 0.003  # of all pairs
_MIN_ADJACENCIES = 2  # of an exchange point
_MIN_TUNNELS = 2  # between routers of an AS


@dataclass(frozen=True, eq=False)
class _Side:
    """What the changed pairs cross on one night.

    ``keys``: of each level, ascending (pair, thing); ``n_steady``: pairs that did not change, by
    thing.
    """

    night: Night
    view: View
    group: np.ndarray
    routes: Routes  # every path of the pairs
    row: np.ndarray  # pair of each
    keys: dict[int, np.ndarray] = field(default_factory=dict)
    n_steady: dict[int, np.ndarray] = field(default_factory=dict)

    def n_through(self) -> np.ndarray:
        """Pairs that cross each router, (n_groups,)."""
        steady = self.n_steady[ROUTER]
        return steady + np.bincount(split_key(self.keys[ROUTER])[1], minlength=len(steady))


@dataclass(frozen=True, eq=False)
class Outages:
    """Causes, most pairs first, and which of them explains each changed pair.

    Attributes
    ----------
    rows : Changes
        One for each cause.
    claims : (n_changed,) int64
        Cause of each row of ``Rerouted.pairs``, -1 for none.
    """

    rows: Changes
    claims: np.ndarray
    sides: tuple[_Side, _Side] | None = None
    names: _Names | None = None

    @classmethod
    def none(cls, n: int = 0) -> Outages:
        """Nothing was lost or gained."""
        return cls(make_changes(0, "AS"), np.full(n, -1))


@dataclass(frozen=True, eq=False)
class _Names:
    """What the numbers of things stand for.

    ``asn``: of ASes; ``adjacencies``: pairs of their rows; ``exchanges``, ``cities``: names;
    ``city``: of each group, -1 for none.
    """

    asn: np.ndarray
    adjacencies: np.ndarray
    exchanges: list[str]
    n_groups: int
    cities: list[str]
    city: np.ndarray

    def row_of(self, asn: np.ndarray) -> np.ndarray:
        """Row of each AS, (n,) int64; where it would be if it is not there."""
        return places_of_keys(self.asn, asn)

    def rows_of_nodes(self, night: Night) -> np.ndarray:
        """(n_nodes,) int64: row of the AS of each node."""
        return np.repeat(self.row_of(night.asn), np.diff(night.node_ptr))

    def count(self, level: int) -> int:
        sizes = {AS: len(self.asn), EXCHANGE: len(self.exchanges), CITY: len(self.cities)}
        return sizes.get(level, len(self.adjacencies) if level == ADJACENCY else self.n_groups)


@dataclass(frozen=True, eq=False)
class _Candidate:
    level: int
    thing: int
    is_gained: bool
    pairs: np.ndarray
    groups: np.ndarray  # routers, of PART, HIDING, CITY; of BALANCE the one before, and the new one
    n_pairs: int = 0  # that cross it, where these are more
    n_routers: int = 0  # of a city; parts, of an AS that fell apart


def find_outages(
    sides: Sides, found: Rerouted | None, renewed: np.ndarray, moves: Changes, ases: Changes
) -> Outages:
    """Find what was lost and gained.

    ``renewed``: groups that others took the place of; ``moves``: ingresses that moved; ``ases``:
    changes of ASes as a whole.
    """
    if found is None or not len(found.pairs) or not sides.same_inputs:
        return Outages.none(0 if found is None else len(found.pairs))
    assert sides.old_view is not None
    assert sides.new_view is not None
    names = _names_of(sides)
    names.city[renewed] = -1  # these, and what has no AS on one night, may still be crossed
    names.city[sides.in_no_as] = -1
    old = _side(sides.old, sides.old_view, sides.groups.old, found, names, is_new=False)
    new = _side(sides.new, sides.new_view, sides.groups.new, found, names, is_new=True)
    least = least_pairs(found, max(len(sides.old.low), len(sides.new.low)))
    trips = (
        Trips(found.old, found.old_reached, found.old_direct),
        Trips(found.new, found.new_reached, found.new_direct),
    )
    shifted = np.zeros((2, names.n_groups), np.int64)
    np.add.at(shifted[0], moves.group, moves.n_pairs)
    np.add.at(shifted[1], moves.other_group, moves.n_pairs)
    candidates = [
        *_candidates(
            old,
            new,
            trips,
            found,
            names,
            renewed,
            shifted[0],
            _said(ases, LOST),
            sides.in_no_as,
            least,
            is_gained=False,
        ),
        *_candidates(
            new,
            old,
            trips[::-1],
            found,
            names,
            renewed,
            shifted[1],
            _said(ases, GAINED),
            sides.in_no_as,
            least,
            is_gained=True,
        ),
        *_balancing(sides, found, new.n_through(), least, is_gained=True),
        *_balancing(sides, found, old.n_through(), least, is_gained=False),
    ]
    candidates = _without_new_links(candidates, old, new)
    candidates = _in_pieces(candidates, ases, (old, new), found, names)
    chosen, claims = _choose(candidates, found)
    return Outages(_describe(chosen, claims, sides, found, names), claims, (old, new), names)


def _without_new_links(candidates: list[_Candidate], old: _Side, new: _Side) -> list[_Candidate]:
    """Without routers that pairs left, or came to, for a link that others came to, or left, too.

    If a router alone were the cause, only its pairs would be found on another link.
    """
    of_one = {
        is_gained: _links_of_one_night(*((old, new) if is_gained else (new, old)))
        for is_gained in (False, True)
    }
    kept = []
    for each in candidates:
        if each.level in (ROUTER, PART):
            ptr, link, n_pairs = of_one[each.is_gained]
            _, at = positions_of_rows(ptr, each.pairs)
            n_by = np.bincount(link[at], minlength=len(n_pairs))
            n = len(each.pairs)
            if ((n_by >= _BY_ONE * n) & (n_pairs >= _MORE * n)).any():
                continue
        kept.append(each)
    return kept


def _links_of_one_night(here: _Side, there: _Side) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Links of changed pairs that the other night does not show.

    Returns
    -------
    ptr : (n_changed + 1,) int64
    link : (n,) int64
        Numbers of the links of each pair.
    n_pairs : (n_links,) int64
    """
    routes = here.routes
    at = np.flatnonzero(routes.direct)
    key = pair_keys(routes.group[at - 1], routes.group[at])
    on = ~is_among(key, _direct_links(there.view))
    number = np.unique(key[on], return_inverse=True)[1]
    pair = here.row[row_of_value(routes.ptr)][at[on]]
    row, link = split_key(distinct_keys(ordered_keys(pair, number)))
    n_changed = int(here.row.max(initial=-1)) + 1
    return offsets(np.bincount(row, minlength=n_changed)), link, np.bincount(link)


def _in_pieces(
    candidates: list[_Candidate],
    ases: Changes,
    sides: tuple[_Side, _Side],
    found: Rerouted,
    names: _Names,
) -> list[_Candidate]:
    """With ASes that fell apart, or whose parts were joined, by all pairs that show it.

    These are cut off inside of it, or crossed routers of it that are lost, or links inside of it
    that only one night has. Where many of its routers are lost these are the cause, and the rest
    follows.
    """
    added = []
    most = np.nan_to_num(np.maximum(ases.old, ases.new)).astype(np.int64)
    for kind, is_gained in ((PARTED, False), (JOINED, True)):
        here, there = sides[::-1] if is_gained else sides
        rows = np.flatnonzero((ases.what == "AS") & (ases.kind == kind))
        if not len(rows):
            continue
        inside = split_key(_links_inside(here, there, names))
        cut_off = split_key(_ends_in(found, names, is_gained=is_gained))
        nodes = np.maximum(first_nodes(here.group, names.n_groups), 0)
        of_group = names.row_of(here.night.asn_of(nodes))
        n_routers = np.bincount(of_group[here.n_through() > 0], minlength=len(names.asn))
        for asn, n_parts in zip(ases.asn[rows].tolist(), most[rows].tolist(), strict=True):
            thing = int(np.searchsorted(names.asn, asn))
            lost = [
                each
                for each in candidates
                if each.is_gained == is_gained
                and each.level == ROUTER
                and of_group[each.thing] == thing
            ]
            pairs = [pair[of == thing] for pair, of in (inside, cut_off)]
            every = distinct_keys(np.concatenate([*pairs, *(each.pairs for each in lost)]))
            groups = np.array([each.thing for each in lost], np.int64)
            if len(lost) > 1 and len(lost) >= _OF_PIECES * n_routers[thing]:
                added.append(_Candidate(PART, thing, is_gained, every, groups))
            else:
                each = _Candidate(PIECES, thing, is_gained, every, groups[:0], n_routers=n_parts)
                added.append(each)
    return [*candidates, *added]


def _links_inside(here: _Side, there: _Side, names: _Names) -> np.ndarray:
    """(pair, AS) of links inside an AS that the other night does not show."""
    routes = here.routes
    at = np.flatnonzero(routes.direct)
    at = at[routes.asn[at] == routes.asn[at - 1]]
    key = pair_keys(routes.group[at - 1], routes.group[at])
    at = at[~is_among(key, _direct_links(there.view))]
    pair = here.row[row_of_value(routes.ptr)][at]
    return distinct_keys(ordered_keys(pair, names.row_of(routes.asn[at])))


def _ends_in(found: Rerouted, names: _Names, *, is_gained: bool) -> np.ndarray:
    """(pair, AS) of pairs that reach their target on this night alone, and else end in the AS."""
    routes = found.old if is_gained else found.new
    ends = (
        found.old_reached < found.new_reached
        if is_gained
        else (found.new_reached < found.old_reached)
    )
    pair = np.flatnonzero(ends & (np.diff(routes.ptr) > 0))
    return ordered_keys(pair, names.row_of(routes.asn[routes.ptr[1:][pair] - 1]))


def without_told(changes: Changes, rows: Changes) -> Changes:
    """Changes but those of ASes that rows of outages tell of."""
    kept = np.ones(len(changes), bool)
    for kinds in ((LOST, UNSEEN), (GAINED, NOT_BEFORE), (PARTED,), (JOINED,)):
        told = rows.asn[(rows.what == "AS") & (rows.kind == kinds[0])]
        own = (changes.what == "AS") & np.isin(changes.kind, kinds) & np.isin(changes.asn, told)
        kept &= ~own
    return take(changes, np.flatnonzero(kept))


def number_outages(rows: Changes) -> tuple[np.ndarray, int]:
    """Event of each outage, and how many there are: many ASes that were lost at once are one."""
    number = np.arange(len(rows))
    for kind in (LOST, GAINED):
        ases = np.flatnonzero((rows.what == "AS") & (rows.kind == kind))
        if len(ases) > MAX_SINGLE:
            number[ases] = ases[0]
    distinct, number = np.unique(number, return_inverse=True)
    return number, len(distinct)


def join_outages(changes: Changes, outages: Outages, found: Rerouted | None) -> np.ndarray:
    """The cause that explains each change, by the pairs that cross it; (n_changes,), -1: none."""
    event = np.full(len(changes), -1)
    if found is None or outages.sides is None or outages.names is None:
        return event
    old, new = outages.sides
    names = outages.names
    for side, kinds in ((old, _OF_OLD), (new, _OF_NEW)):
        of_side = np.isin(changes.kind, kinds)
        links = np.flatnonzero(of_side & (changes.what == "link"))
        keys = distinct_keys(pair_keys(changes.group[links], changes.other_group[links]))
        at = np.searchsorted(keys, pair_keys(changes.group[links], changes.other_group[links]))
        event[links] = _explained(_link_keys(side, keys), outages.claims, len(keys))[at]
        single = np.isin(changes.what, ("router", "ingress"))
        routers = np.flatnonzero(of_side & single & (changes.group >= 0))
        of_router = _explained(side.keys[ROUTER], outages.claims, names.n_groups)
        event[routers] = of_router[changes.group[routers]]
        traffic = np.flatnonzero(of_side & (changes.what == "traffic"))
        entries, numbers = _entries(changes, traffic, side, old if side is new else new)
        event[traffic] = _explained(entries, outages.claims, len(traffic) + 1)[numbers]
        ases = np.flatnonzero(of_side & np.isin(changes.what, ("AS", "paths")))
        known = np.isin(changes.asn[ases], names.asn)
        ases = ases[known]
        of_as = _explained(side.keys[AS], outages.claims, len(names.asn))
        event[ases] = of_as[names.row_of(changes.asn[ases])]
        rows = outages.rows
        told = np.flatnonzero((rows.what == "router") & (rows.kind == kinds[2]))
        apart = np.flatnonzero((changes.what == "AS") & (changes.kind == kinds[4]))
        by_as = dict(zip(rows.asn[told].tolist(), told.tolist(), strict=True))
        for row in apart.tolist():  # the rest of what is left of it
            event[row] = by_as.get(int(changes.asn[row]), event[row])
        between = np.flatnonzero(of_side & (changes.what == "neighbour"))
        number = _adjacency(names, changes.asn[between], changes.other_asn[between])
        of_two = _explained(side.keys[ADJACENCY], outages.claims, len(names.adjacencies))
        event[between[number >= 0]] = of_two[number[number >= 0]]
    return event


def pairs_of_events(
    changes: Changes, event: np.ndarray, outages: Outages, found: Rerouted | None
) -> np.ndarray:
    """(event, row of ``Rerouted.pairs``) that links and routers of each event touch; ascending."""
    if found is None or outages.sides is None:
        return np.empty(0, np.int64)
    told = np.flatnonzero(outages.claims >= 0)
    first = len(changes) - len(outages.rows)
    touched = [ordered_keys(event[first + outages.claims[told]], told)]
    for side, kinds in zip(outages.sides, (_OF_OLD, _OF_NEW), strict=True):
        own = (event >= 0) & np.isin(changes.kind, kinds)
        links = np.flatnonzero(own & (changes.what == "link"))
        key = pair_keys(changes.group[links], changes.other_group[links])
        keys, at = np.unique(key, return_index=True)
        pair, row = split_key(_link_keys(side, keys))
        touched.append(ordered_keys(event[links[at]][row], pair))
        routers = np.flatnonzero(own & (changes.what == "router") & (changes.group >= 0))
        of = np.full(side.n_steady[ROUTER].size, -1)
        of[changes.group[routers]] = event[routers]
        pair, group = split_key(side.keys[ROUTER])
        touched.append(ordered_keys(of[group], pair)[of[group] >= 0])
    return distinct_keys(np.concatenate(touched))


def measure_together(keys: np.ndarray, n: int, found: Rerouted | None) -> np.ndarray:
    """Traces, pairs and vantage points of each event, (3, n); ``keys``: ``pairs_of_events``."""
    if found is None:
        return np.zeros((3, n), np.int64)
    every = _sampled(found)
    of, pair = split_key(keys)
    n_traces = np.bincount(of, found.old_traces[pair], n) * every
    by = distinct_keys(ordered_keys(of, found.vantage[pair]))
    return np.array(
        [
            n_traces.astype(np.int64),
            np.bincount(of, minlength=n) * every,
            np.bincount(split_key(by)[0], minlength=n),
        ]
    )


def least_pairs(found: Rerouted | None, n_links: int) -> float:
    """Pairs by which a link of one night alone shows a change, and not balanced flows.

    Where flows are balanced otherwise each night, some pairs change from one router to another and
    some back. One pair is enough where hardly any does.
    """
    if found is None:
        return 1.0
    swaps = found.swaps
    here = np.stack([swaps.before, swaps.old, swaps.new], axis=1)
    number, _ = number_rows(*np.concatenate([here, here[:, [0, 2, 1]]]).T)
    own, others = np.split(number, 2)
    n_back = len(np.unique(swaps.pair[np.isin(own, others)])) * _sampled(found)
    if n_back <= _BALANCED * len(found.common.old):
        return 1.0
    return float(np.log(max(1, n_links)) + SURE)


def _sampled(found: Rerouted) -> int:
    """Pairs that each of the looked at stands for."""
    return max(1, round(len(found.common.old) / max(1, len(found.pairs) + len(found.same))))


def _entries(
    changes: Changes, rows: np.ndarray, side: _Side, other: _Side
) -> tuple[np.ndarray, np.ndarray]:
    """(pair, number) of pairs that enter at the ingresses of some rows on one night alone."""
    asked = ordered_keys(changes.group[rows], changes.other_asn[rows])
    keys, numbers = np.unique(asked, return_inverse=True)
    found = []
    for each in (side, other):
        routes = each.routes
        at = np.flatnonzero(routes.direct)
        own = ordered_keys(routes.group[at], routes.asn[at - 1])
        row = np.minimum(np.searchsorted(keys, own), max(0, len(keys) - 1))
        on = keys[row] == own if len(keys) else np.zeros(len(own), bool)
        pair = each.row[row_of_value(routes.ptr)][at[on]]
        found.append(distinct_keys(ordered_keys(pair, row[on])))
    return found[0][~is_among(found[0], found[1])], numbers


def _explained(keys: np.ndarray, claims: np.ndarray, n: int) -> np.ndarray:
    """The cause of most pairs of each thing, (n,) int64; -1 where all explain too few."""
    pair, thing = split_key(keys)
    by = claims[pair]
    is_claimed = by >= 0
    is_told = np.bincount(thing[is_claimed], minlength=n) > _OF_EVENT * np.bincount(
        thing, minlength=n
    )
    distinct, times = np.unique(ordered_keys(thing[is_claimed], by[is_claimed]), return_counts=True)
    order = np.argsort(times, kind="stable")
    thing, cause = split_key(distinct[order])
    out = np.full(n, -1)
    out[thing] = cause
    return np.where(is_told, out, -1)


def _names_of(sides: Sides) -> _Names:
    asn = np.union1d(sides.old.asn, sides.new.asn)
    found = []
    for night, view in ((sides.old, sides.old_view), (sides.new, sides.new_view)):
        assert view is not None
        row = np.repeat(places_of_keys(asn, night.asn), np.diff(night.node_ptr))
        near, far = view.seen.steps.near, view.seen.steps.far
        across = np.flatnonzero((near != FIRST) & (row[near] != row[far]))
        found.append(distinct_keys(pair_keys(row[near[across]], row[far[across]])))
    exchanges = {
        name
        for night in (sides.old, sides.new)
        if night.neighbor_ixp is not None
        for name in night.neighbor_ixp.tolist()
        if name
    }
    adjacencies = distinct_keys(np.concatenate(found))
    return _Names(asn, adjacencies, sorted(exchanges), sides.groups.n, *number_cities(sides))


def _adjacency(names: _Names, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Number of the adjacency of two ASes, (n,) int64; -1 for none."""
    return position_of(names.adjacencies, pair_keys(names.row_of(one), names.row_of(other)))


def _side(
    night: Night, view: View, group: np.ndarray, found: Rerouted, names: _Names, *, is_new: bool
) -> _Side:
    """What the changed pairs cross, by all their paths, and how many others do."""
    main = (found.common.new if is_new else found.common.old)[found.pairs]
    numbers = view.pair[main]
    order = np.argsort(numbers)
    at = position_of(numbers[order], view.pair)
    paths = np.flatnonzero(at >= 0)
    row = order[at[paths]]
    routes = spell_out(view, night, paths)
    side = _Side(night, view, group, routes, row)
    pair = row[row_of_value(routes.ptr)]
    own = names.row_of(routes.asn)
    side.keys[ROUTER] = distinct_keys(ordered_keys(pair, routes.group))
    ends = np.flatnonzero(view.at_target[paths] & (np.diff(routes.ptr) > 0))
    last = routes.ptr[1:][ends] - 1
    side.keys[_TARGET] = distinct_keys(ordered_keys(row[ends], routes.group[last]))
    side.keys[AS] = distinct_keys(ordered_keys(pair, own))
    first = np.zeros(len(pair), bool)
    first[routes.ptr[:-1][np.diff(routes.ptr) > 0]] = True
    enters = np.flatnonzero(~first & (routes.asn != np.roll(routes.asn, 1)))
    number = _adjacency(names, routes.asn[enters - 1], routes.asn[enters])
    side.keys[ADJACENCY] = distinct_keys(ordered_keys(pair[enters], number)[number >= 0])
    direct = enters[routes.direct[enters]]
    number = _adjacency(names, routes.asn[direct - 1], routes.asn[direct])
    side.keys[_DIRECT] = distinct_keys(ordered_keys(pair[direct], number)[number >= 0])
    ixp = _exchange_of(night, group, names, routes.group[direct], routes.asn[direct - 1])
    side.keys[EXCHANGE] = distinct_keys(ordered_keys(pair[direct], ixp)[ixp >= 0])
    side.keys[CITY] = crossings_of(pair, names.city[routes.group])
    _count_steady(side, found, names, is_new=is_new)
    return side


_TARGET = -2  # level of routers that are the target: on the other night it may be a host
_DIRECT = -1  # level of adjacencies that are crossed without a gap


def _exchange_of(
    night: Night, group: np.ndarray, names: _Names, far: np.ndarray, neighbor: np.ndarray
) -> np.ndarray:
    """Number of the exchange point by which routers are entered from an AS, (n,); -1 for none."""
    if night.neighbor_ixp is None or not names.exchanges:
        return np.full(len(far), -1)
    number = {name: i for i, name in enumerate(names.exchanges)}
    known = np.array([number.get(name, -1) for name in night.neighbor_ixp.tolist()], np.int64)
    node = np.repeat(night.ingress, np.diff(night.neighbor_ptr))
    keys = ordered_keys(group[node], names.row_of(night.neighbor_asn))
    keys, first = np.unique(keys, return_index=True)
    asked = ordered_keys(far, names.row_of(neighbor))
    at = position_of(keys, asked)
    return np.where(at >= 0, np.append(known[first], -1)[at], -1)


def _count_steady(side: _Side, found: Rerouted, names: _Names, *, is_new: bool) -> None:
    """Pairs that did not change, by thing."""
    steps = side.view.seen.steps
    same = (found.common.new if is_new else found.common.old)[found.same]
    n_paths = paths_by_step(side.view, same)
    at = np.flatnonzero(n_paths)  # with the steps before these
    n_paths = n_paths[at]
    row = names.rows_of_nodes(side.night)
    far, near = steps.far[at], steps.near[at]
    inner = near != FIRST
    own, before = row[far], np.where(inner, row[near], -1)
    side.n_steady[ROUTER] = np.bincount(side.group[far], n_paths, names.n_groups)
    enters = own != before
    side.n_steady[AS] = np.bincount(own[enters], n_paths[enters], len(names.asn))
    across = np.flatnonzero(enters & inner)
    number = position_of(names.adjacencies, pair_keys(before[across], own[across]))
    side.n_steady[ADJACENCY] = np.bincount(number, n_paths[across], len(names.adjacencies))
    neighbor = names.asn[before[across]]
    ixp = _exchange_of(side.night, side.group, names, side.group[far[across]], neighbor)
    on = (ixp >= 0) & ~steps.across_gap[at[across]]
    side.n_steady[EXCHANGE] = np.bincount(
        ixp[on], n_paths[across][on], max(1, len(names.exchanges))
    )
    city = names.city[side.group[far]]
    came = (city >= 0) & ~(inner & (names.city[side.group[np.where(inner, near, 0)]] == city))
    side.n_steady[CITY] = np.bincount(city[came], n_paths[came], max(1, len(names.cities)))
    third = np.flatnonzero(inner & (own == before))
    above = steps.near[steps.before[at[third]]]
    third = third[(above != FIRST) & (row[above] == own[third])]
    side.n_steady[HIDING] = np.bincount(own[third], n_paths[third], len(names.asn))


def _candidates(
    here: _Side,
    there: _Side,
    trips: tuple[Trips, Trips],
    found: Rerouted,
    names: _Names,
    renewed: np.ndarray,
    shifted: np.ndarray,
    said: np.ndarray,
    unsure: np.ndarray,
    least: float,
    *,
    is_gained: bool,
) -> list[_Candidate]:
    """Things that pairs crossed here and hardly any crosses there."""
    own = trips[0].routes
    pair = row_of_value(own.ptr)
    hop = np.flatnonzero(~is_among(ordered_keys(pair, own.group), there.keys[ROUTER]))
    verdict = passages_of(trips[0], trips[1], hop)
    passing = hop[verdict == PASSES]
    shortcut = hop[verdict == SHORTCUT]
    skipped = {
        ROUTER: ordered_keys(pair[passing], own.group[passing]),
        AS: ordered_keys(pair[passing], names.row_of(own.asn[passing])),
        CITY: crossings_of(pair[passing], names.city[own.group[passing]]),
    }
    skipped[ADJACENCY] = skipped[EXCHANGE] = _adjacencies_of(names, own, pair, passing)
    is_seen = np.bincount(there.group, minlength=names.n_groups) > 0
    is_seen[renewed] = True
    is_seen |= unsure
    same = _only_renamed(here, there, names)
    found_: list[_Candidate] = []
    hidden = _hidden(here, there, names, (own, trips[1].routes), pair, shortcut, least)
    nodes = np.maximum(first_nodes(here.group, names.n_groups), 0)
    of_groups = names.row_of(here.night.asn_of(nodes))
    of_hidden = {int(group) for each in hidden for group in each.groups}
    lost_routers: dict[int, list[tuple[int, np.ndarray]]] = {}
    # A router is gone, and not silent, if pairs go elsewhere, or no longer reach a target that
    # answered: it would have to fall silent on the same night.
    ends = (trips[0].reached & ~trips[1].reached)[pair[hop]]
    at = hop[(verdict == GOES_ELSEWHERE) | ((verdict == UNKNOWN) & ends)]
    sure = distinct_keys(ordered_keys(pair[at], own.group[at]))
    for level in (AS, EXCHANGE, ADJACENCY, ROUTER, CITY):
        source = _DIRECT if level == ADJACENCY else level
        left = here.keys[source][~is_among(here.keys[source], there.keys[level])]
        if level == ROUTER:
            left = left[~is_among(left, here.keys[_TARGET])]
        n = names.count(level)
        n_same = np.zeros(n, np.int64)
        if level in same:
            stays = is_among(left, same[level])
            n_same = np.bincount(split_key(left[stays])[1], minlength=n)
            left = left[~stays]
        if level in (AS, ROUTER, CITY):
            silent = left[is_among(left, skipped[level])]
            left = left[~is_among(left, skipped[level])]
            n_passing = np.bincount(split_key(silent)[1], minlength=n)
        else:
            if level == ADJACENCY:
                left = left[~is_among(left, skipped[level])]
            n_passing = np.zeros(n, np.int64)
        n_left = np.bincount(split_key(left)[1], minlength=n)
        n_now = np.bincount(split_key(there.keys[source])[1], minlength=n)
        n_now = n_now + n_same + there.n_steady[level][:n]
        enough = n_left >= np.log(max(1, int(np.count_nonzero(n_left + n_now)))) + SURE
        lost = enough & (n_now <= MAX_STILL * n_left) & (n_passing <= _PASSING * n_left)
        if level == ADJACENCY:  # of the rest gaps leave open whether they still cross it
            lost &= 2 * n_left >= np.bincount(split_key(here.keys[source])[1], minlength=n)
        if level in (AS, CITY):  # else it may as well be silent
            at = hop[verdict != UNKNOWN]
            if level == AS:
                known = distinct_keys(ordered_keys(pair[at], names.row_of(own.asn[at])))
            else:
                known = crossings_of(pair[at], names.city[own.group[at]])
            n_known = np.bincount(split_key(left[is_among(left, known)])[1], minlength=n)
            is_said = np.isin(names.asn, said) if level == AS else np.zeros(n, bool)
            lost &= (n_known >= _KNOWN * n_left) | is_said
        if level == ROUTER:
            lost &= shifted < _OF_EVENT * n_left
            n_sure = np.bincount(split_key(left[is_among(left, sure)])[1], minlength=n)
            lost &= ~_enters_otherwise(here, there, left, names.n_groups)
            lost &= ~is_seen & ((2 * n_sure >= n_left) | (n_sure >= 3 * SURE))
        order = np.argsort(split_key(left)[1], kind="stable")
        pairs, things = (column[order] for column in split_key(left))
        start = np.searchsorted(things, np.arange(n + 1)) if lost.any() else np.zeros(n + 1, int)
        for thing in np.flatnonzero(lost).tolist():
            own_pairs = pairs[start[thing] : start[thing + 1]]
            if level == ROUTER:
                if thing in of_hidden:
                    continue
                asn = int(of_groups[thing])
                lost_routers.setdefault(asn, []).append((thing, own_pairs))
            groups = np.array([thing] if level == ROUTER else [], np.int64)
            found_.append(_Candidate(level, thing, is_gained, own_pairs, groups))
    found_ = _of_several(found_, here, names)
    for asn, routers in lost_routers.items():
        if len(routers) > 1:
            every = distinct_keys(np.concatenate([pairs for _, pairs in routers]))
            groups = np.array([thing for thing, _ in routers])
            found_.append(_Candidate(PART, asn, is_gained, every, groups))
    found_ = _of_cities(found_, hidden, here, names, of_groups, is_gained=is_gained)
    few = min(MIN_VANTAGES, len(np.unique(found.common.vantage)))
    return [
        each
        for each in (*found_, *hidden_of(hidden, is_gained))
        if len(np.unique(found.vantage[each.pairs])) >= few
    ]


def _enters_otherwise(here: _Side, there: _Side, left: np.ndarray, n_groups: int) -> np.ndarray:
    """(n_groups,) bool: addresses of routers that pairs still cross, by another address.

    A router answers with the address that a packet came in by. Where the next address on the way is
    the only one known of its router, and pairs still see it, they come to it over the same link: a
    link into the router is gone, and the router is not. But if they now come to it from a router
    that other traces show beside the one that is gone, they come over another link, and it answers
    with the same address whichever way it is entered. Of a router with several known addresses no
    link takes all.
    """
    routes = here.routes
    n_addrs = np.bincount(here.group[here.night.addr_node], minlength=n_groups)
    at = np.flatnonzero(routes.direct)
    at = at[n_addrs[routes.group[at]] == 1]
    path = row_of_value(routes.ptr)
    pair = here.row[path[at]]
    on = is_among(ordered_keys(pair, routes.group[at - 1]), left)
    at, pair = at[on], pair[on]
    gone, follows = routes.group[at - 1], routes.group[at]
    own = ordered_keys(pair, follows)
    still = is_among(own, there.keys[ROUTER])
    ptr, hop = positions_of_rows(routes.ptr, path[at])
    apart = [pair_keys(gone[row_of_value(ptr)], routes.group[hop]), _neighbors(here.view)]
    later = there.routes
    into = np.flatnonzero(later.direct)
    from_apart = ordered_keys(there.row[row_of_value(later.ptr)[into]], later.group[into])
    order = np.argsort(from_apart, kind="stable")
    from_apart, into = from_apart[order], into[order]
    row = np.minimum(np.searchsorted(from_apart, own), max(0, len(into) - 1))
    if len(into):
        comes = from_apart[row] == own
        before = np.where(comes, later.group[into[row] - 1], gone)
        still &= ~(comes & is_among(pair_keys(gone, before), distinct_keys(np.concatenate(apart))))
    n = np.bincount(gone, minlength=n_groups)
    n_still = np.bincount(gone, still, n_groups)
    return (n_still > _BY_OTHERS * n) & (n_addrs == 1)


def _neighbors(view: View) -> np.ndarray:
    """(n,) int64: ``pair_keys`` of groups that follow one another, also across a gap."""
    steps = view.seen.steps
    at = np.flatnonzero(steps.near != FIRST)
    return distinct_keys(pair_keys(view.group[steps.near[at]], view.group[steps.far[at]]))


def _said(ases: Changes, kind: str) -> np.ndarray:
    return ases.asn[(ases.what == "AS") & (ases.kind == kind) & (ases.reason == NOT_SEEN)]


def _only_renamed(here: _Side, there: _Side, names: _Names) -> dict[int, np.ndarray]:
    """(pair, thing) by routers and links that the other night has, under another name.

    The pair crosses them there, too, and only an owner changed; so it did where the router is in no
    such AS there, whether this pair crosses it again or, where flows are balanced, others do. Of
    adjacencies others must cross the same link. An exchange point is there as long as its links are
    crossed.
    """
    routes = here.routes
    pair = here.row[row_of_value(routes.ptr)]
    renamed = is_renamed(routes, there.night, there.group, names.n_groups)
    is_there = is_among(ordered_keys(pair, routes.group), there.keys[ROUTER])
    own = names.row_of(routes.asn)
    at = np.flatnonzero(routes.direct)
    at = at[routes.asn[at] != routes.asn[at - 1]]
    links = pair_keys(routes.group[at - 1], routes.group[at])
    keys = distinct_keys(links)
    own_link = ordered_keys(pair[at], places_of_keys(keys, links))
    again = is_there[at] & is_there[at - 1] & is_among(own_link, _link_keys(there, keys))
    of_renamed = renamed[at] | renamed[at - 1]
    is_there |= renamed
    number = _adjacency(names, routes.asn[at - 1], routes.asn[at])
    ixp = _exchange_of(here.night, here.group, names, routes.group[at], routes.asn[at - 1])
    of_ixp = ixp >= 0
    if (of_ixp | of_renamed).any():  # else there is no need to look at all links of a night
        of_others = is_among(links, _direct_links(there.view))
        again |= of_renamed & of_others
        of_ixp &= again | of_others
    of_two = again & (number >= 0)
    return {
        AS: distinct_keys(ordered_keys(pair[is_there], own[is_there])),
        ADJACENCY: distinct_keys(ordered_keys(pair[at], number)[of_two]),
        EXCHANGE: distinct_keys(ordered_keys(pair[at], ixp)[of_ixp]),
    }


def _direct_links(view: View) -> np.ndarray:
    """(n_links,) int64: ``pair_keys`` of groups that follow one another on any path."""
    steps = view.seen.steps
    at = np.flatnonzero(~steps.across_gap & (steps.near != FIRST))
    return distinct_keys(pair_keys(view.group[steps.near[at]], view.group[steps.far[at]]))


def hidden_of(hidden: list[_Candidate], is_gained: bool) -> list[_Candidate]:
    return [_Candidate(HIDING, e.thing, is_gained, e.pairs, e.groups) for e in hidden]


def _adjacencies_of(
    names: _Names, own: Routes, pair: np.ndarray, passing: np.ndarray
) -> np.ndarray:
    """(pair, adjacency) into and out of routers that pairs pass unanswered."""
    starts = np.zeros(len(own.group) + 1, bool)
    starts[own.ptr[:-1]] = True
    into = passing[~starts[passing]]
    out = passing[~starts[passing + 1] & (passing + 1 < len(own.group))] + 1
    at = np.concatenate([into, out]).astype(np.int64)
    number = _adjacency(names, own.asn[at - 1], own.asn[at])
    return ordered_keys(pair[at], number)[number >= 0]


def _of_several(found: list[_Candidate], here: _Side, names: _Names) -> list[_Candidate]:
    """Without exchange points at which a single adjacency was crossed."""
    kept = []
    for each in found:
        if each.level == EXCHANGE:
            on = is_among(split_key(here.keys[_DIRECT])[0], each.pairs)
            number = split_key(here.keys[_DIRECT][on])[1]
            if len(np.unique(number)) < _MIN_ADJACENCIES:
                continue
        kept.append(each)
    return kept


def _of_cities(
    found: list[_Candidate],
    hidden: list[_Candidate],
    here: _Side,
    names: _Names,
    of_groups: np.ndarray,
    *,
    is_gained: bool,
) -> list[_Candidate]:
    """With cities that no one thing explains, and with parts of cities that are still crossed.

    ``of_groups``: row of the AS of each group.
    """
    if not names.cities:
        return found
    whole = {each.thing: each.pairs for each in found if each.level == CITY}
    others = [each for each in found if each.level != CITY]
    lost: dict[int, list[_Candidate]] = {}
    for each in others:
        if each.level == ROUTER and (city := int(names.city[each.thing])) >= 0:
            lost.setdefault(city, []).append(each)
    n_through = here.n_through()
    least = np.log(max(1, int(np.count_nonzero(n_through)))) + SURE
    known = names.city >= 0
    n_often, n_routers = (
        np.bincount(names.city[known & (n_through >= few)], minlength=len(names.cities))
        for few in (least, 1)
    )
    for city in [*lost]:
        if len(lost[city]) < max(MIN_ROUTERS, MIN_SHARE * n_often[city]):
            del lost[city]
    wanted = np.array(sorted({*whole, *lost}), np.int64)
    added = []
    gone = np.array([each.thing for each in others if each.level == ROUTER], np.int64)
    inside = np.zeros(int(here.row.max(initial=-1)) + 1, bool)
    for city, (pair, group, near) in routers_in(here.routes, here.row, names.city, wanted).items():
        if city in whole:
            pairs = whole[city]
            groups = np.unique(group[is_among(pair, pairs)])
        else:
            pairs = distinct_keys(np.concatenate([each.pairs for each in lost[city]]))
            groups = np.array([each.thing for each in lost[city]])
        if len(groups) < MIN_ROUTERS or len(np.unique(of_groups[groups])) < MIN_ASES:
            continue
        most = ALONE * len(pairs)
        enters = np.flatnonzero((near >= 0) & is_among(pair, pairs))
        if len(np.unique(pair[enters[is_among(near[enters], gone)]])) > most:
            continue
        inside[:] = False
        inside[pairs] = True
        if any(
            len(each.pairs) > most and np.count_nonzero(inside[each.pairs]) > most
            for each in (*others, *hidden)
            if each.level != PART or _is_in_several(names.city[each.groups], city)
        ):
            continue
        level, n_all = (CITY, len(groups)) if city in whole else (QUARTER, int(n_routers[city]))
        added.append(_Candidate(level, city, is_gained, pairs, groups, n_routers=n_all))
    return [*others, *added]


def _is_in_several(cities: np.ndarray, city: int) -> bool:
    """Whether routers stand in a city and in another one; -1: unknown."""
    return bool((cities == city).any() and ((cities != city) & (cities >= 0)).any())


def _hidden(
    here: _Side,
    there: _Side,
    names: _Names,
    own: tuple[Routes, Routes],
    pair: np.ndarray,
    shortcut: np.ndarray,
    least: float,
) -> list[_Candidate]:
    """ASes whose inner routers pairs no longer see between the same routers of it.

    Between several two of its routers: where all pairs skip routers over one link, this link was
    added, or an ingress moved. Pairs that lack these routers otherwise, or come to new links inside
    of the AS, are explained, too.

    ``own``: routes of the pairs here, and there; ``shortcut``: hops here that are skipped.
    """
    if not len(shortcut):
        return []
    routes, later = own
    of = names.row_of(routes.asn[shortcut])
    order = np.argsort(of, kind="stable")
    of, shortcut = of[order], shortcut[order]
    over = behind_hops(routes, later, shortcut)
    over = pair_keys(later.group[over - 1], later.group[over])
    of_new, thing_of_new = split_key(_links_inside(there, here, names))
    of_lost, lost = split_key(here.keys[ROUTER][~is_among(here.keys[ROUTER], there.keys[ROUTER])])
    asn = names.row_of(there.routes.asn)
    row = there.row[row_of_value(there.routes.ptr)]
    inner = np.zeros(len(asn), bool)
    if len(asn) > 2:
        same = (asn[1:] == asn[:-1]) & (row[1:] == row[:-1])
        inner[2:] = same[1:] & same[:-1]
    still = distinct_keys(ordered_keys(row[inner], asn[inner]))
    n_still = np.bincount(split_key(still)[1], minlength=len(names.asn))
    n_still = n_still + there.n_steady[HIDING]
    found = []
    starts = run_starts(of)[1:]
    for at, joins in zip(np.split(shortcut, starts), np.split(over, starts), strict=True):
        thing = int(names.row_of(routes.asn[at[:1]])[0])
        pairs, groups = np.unique(pair[at]), np.unique(routes.group[at])
        if len(groups) < 2 or n_still[thing] > _FEW_HIDDEN * len(pairs):
            continue
        if len(pairs) < max(least, np.log(len(names.asn)) + SURE):
            continue
        if len(np.unique(joins)) < _MIN_TUNNELS:
            continue
        others = of_new[thing_of_new == thing], of_lost[is_among(lost, groups)]
        pairs = distinct_keys(np.concatenate([pairs, *others]))
        found.append(_Candidate(HIDING, thing, False, pairs, groups))
    return found


def _balancing(
    sides: Sides, found: Rerouted, n_through: np.ndarray, least: float, *, is_gained: bool
) -> list[_Candidate]:
    """Routers between which flows are now divided, where all went by one of them; or no longer.

    Some pairs see a router between the same two which no pair saw on the other night, and others
    still the one that was there; on the way to one AS some see it and some do not, so it is no
    route. A router that pairs cross on other ways, too, came or went as such.

    ``n_through``: pairs that cross each group, (n_groups,); ``least``: pairs, at least.
    """
    swaps, groups = found.swaps, sides.groups
    night, view = (sides.new, sides.new_view) if is_gained else (sides.old, sides.old_view)
    assert view is not None
    stays, comes = (swaps.old, swaps.new) if is_gained else (swaps.new, swaps.old)
    is_here, is_there = np.zeros((2, groups.n), bool)
    is_here[groups.new if is_gained else groups.old] = True
    is_there[groups.old if is_gained else groups.new] = True
    which = np.flatnonzero((swaps.before >= 0) & ~is_there[comes] & is_here[stays])
    which = which[_ends_alike(found)[swaps.pair[which]]]
    come = comes[which]
    (of, _), _ = tally(come, swaps.pair[which])
    n_pairs = np.bincount(of, minlength=groups.n)
    n_apart = np.bincount(come, swaps.differs[which], groups.n)
    is_one = (n_pairs >= max(least, SURE)) & (n_apart <= _APART * n_pairs)
    is_one &= n_pairs > _MOST * n_through
    which = which[is_one[come]]
    if not len(which):
        return []
    beside, label = _label_places(view, swaps.before[which], stays[which], swaps.after[which])
    of, path = (
        np.concatenate(column)
        for column in zip((np.empty(0, np.int64),) * 2, *crossings(view, label), strict=True)
    )
    by_place = np.argsort(of, kind="stable")
    path, start = path[by_place], offsets(np.bincount(of, minlength=len(which)))
    ends = night.asn_of(view.seen.steps.far.astype(np.int64))
    main = found.common.new if is_gained else found.common.old
    found_ = []
    order = np.argsort(comes[which], kind="stable")
    for at in np.split(order, run_starts(comes[which][order])[1:]):
        rows = which[at]
        pairs = np.unique(swaps.pair[rows])
        own = np.unique(beside[at])
        still = path[positions_of_rows(start, own[own >= 0])[1]]
        moved = main[found.pairs[pairs]]
        n_both = len(moved) + len(np.unique(view.pair[still]))
        if not _LEAST_BALANCED <= len(moved) / n_both <= 1 - _LEAST_BALANCED:
            continue
        one, other = (np.unique(ends[view.seen.paths.step[paths]]) for paths in (moved, still))
        if 3 * len(np.intersect1d(one, other)) < min(len(one), len(other)):
            continue
        before = int(np.argmax(np.bincount(swaps.before[rows])))
        around = np.array([before, comes[rows[0]]])
        found_.append(_Candidate(BALANCE, before, is_gained, pairs, around, n_both))
    return found_


def _label_places(
    view: View, before: np.ndarray, router: np.ndarray, after: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Number of each place (a router between two others), and of the place that each step leaves.

    Parameters
    ----------
    view : View
    before, router, after : (n,) int64
        Groups; of a place without a router after it (-1) the number is -1.

    Returns
    -------
    (n,) int64, (n_steps,) int64
        -1 for none.
    """
    steps = view.seen.steps
    into = ordered_keys(before, router)
    links = distinct_keys(into)
    wanted = ordered_keys(places_of_keys(links, into), np.maximum(after, 0))
    keys = distinct_keys(wanted[after >= 0])
    number = np.where(after >= 0, places_of_keys(keys, wanted), -1)
    label = np.full(len(steps), -1, np.int64)
    direct = ~steps.across_gap & (steps.near != FIRST)
    at = np.flatnonzero(direct & (steps.before != FIRST))
    at = at[direct[steps.before[at]]]
    above = steps.before[at]
    own = position_of(
        links, ordered_keys(view.group[steps.near[above]], view.group[steps.far[above]])
    )
    at, own = at[own >= 0], own[own >= 0]
    label[at] = position_of(keys, ordered_keys(own, view.group[steps.far[at]]))
    return number, label


def _ends_alike(found: Rerouted) -> np.ndarray:
    """(n_changed,) bool: pairs whose last router is the same on both nights."""
    last = np.full((2, len(found.pairs)), -1)
    for row, routes in zip(last, (found.old, found.new), strict=True):
        some = np.flatnonzero(np.diff(routes.ptr) > 0)
        row[some] = routes.group[routes.ptr[1:][some] - 1]
    return last[0] == last[1]


def _choose(candidates: list[_Candidate], found: Rerouted) -> tuple[list[_Candidate], np.ndarray]:
    """Causes, greedily, and which of them each pair is explained by."""
    claims = np.full(len(found.pairs), -1)
    longer = np.nan_to_num(np.sign(found.longer_by))
    longer += found.old_reached.astype(float) - found.new_reached

    def worth(each: _Candidate, pairs: np.ndarray) -> float:
        sign = longer[pairs].sum()
        agrees = sign < 0 if each.is_gained else sign >= 0
        n = max(len(pairs), each.n_pairs if len(pairs) == len(each.pairs) else 0)
        return n * _WORTH[each.level] * (_AGREES if agrees else 1.0)

    heap = [(-worth(each, each.pairs), i) for i, each in enumerate(candidates)]
    heapq.heapify(heap)
    chosen: list[_Candidate] = []
    while heap:
        before, i = heapq.heappop(heap)
        each = candidates[i]
        left = each.pairs[claims[each.pairs] < 0]
        if len(left) <= _NEW * len(each.pairs) or len(left) < SURE:
            continue
        now = -worth(each, left)
        if now > before and heap and now > heap[0][0]:
            heapq.heappush(heap, (now, i))
            continue
        claims[left] = len(chosen)
        chosen.append(each)
    return chosen, claims


def _describe(
    chosen: list[_Candidate], claims: np.ndarray, sides: Sides, found: Rerouted, names: _Names
) -> Changes:
    """A row for each cause."""
    rows = [make_changes(0, "AS")]
    every = _sampled(found)
    first_of, n_of = (
        [act(group, names.n_groups) for group in (sides.groups.old, sides.groups.new)]
        for act in (first_nodes, lambda group, n: np.bincount(group, minlength=n))
    )
    for each in chosen:
        night = sides.new if each.is_gained else sides.old
        group = sides.groups.new if each.is_gained else sides.groups.old
        here, there = (found.new, found.old) if each.is_gained else (found.old, found.new)
        reached = found.old_reached if each.is_gained else found.new_reached
        was = found.new_reached if each.is_gained else found.old_reached
        traces = found.new_traces if each.is_gained else found.old_traces
        pairs = each.pairs
        ended = was[pairs] & ~reached[pairs]
        elsewhere = ~ended & (reached[pairs] | _crosses_others(here, there, pairs))
        own: dict[str, Any] = {"asn": NO_ASN}
        if each.level in (AS, PART, HIDING, PIECES):
            own["asn"] = names.asn[each.thing]
        elif each.level == ADJACENCY:
            one, other = split_key(names.adjacencies[each.thing : each.thing + 1])
            own |= {"asn": names.asn[one[0]], "other_asn": names.asn[other[0]]}
        elif each.level == EXCHANGE:
            own["reason"] = names.exchanges[each.thing]
        if each.level == BALANCE:
            side = sides.new if each.is_gained else sides.old
            nodes = first_of[each.is_gained][each.groups]
            own |= {
                "asn": side.asn_of(nodes)[0],
                "addr_high": side.name_addr[nodes[0], 0],
                "addr_low": side.name_addr[nodes[0], 1],
                "group": each.groups[0],
                **other_router(side, group, nodes[1:]),
            }
        if each.level in (ROUTER, PART):
            first = first_of[each.is_gained][each.groups]
            row = int(np.argmax(n_of[each.is_gained][each.groups]))
            node = int(first[row])
            own |= {
                "asn": night.asn_of(np.array([node]))[0],
                "addr_high": night.name_addr[node, 0],
                "addr_low": night.name_addr[node, 1],
                "group": each.groups[row],
            }
        kinds = {HIDING: (SHOWN, HIDDEN), PIECES: (JOINED, PARTED)}.get(each.level, (GAINED, LOST))
        n_routers = len(each.groups)
        if each.level == PIECES:
            own["old"], own["new"] = (each.n_routers, 1) if each.is_gained else (1, each.n_routers)
        if each.level in (CITY, QUARTER):
            own["reason"] = names.cities[each.thing]
            ends = float(each.n_routers), float(each.n_routers - n_routers)
            own["old"], own["new"] = ends[::-1] if each.is_gained else ends
            instead = crossed_instead(here, there, pairs)
            if instead >= 0:
                later = sides.old if each.is_gained else sides.new
                of_later = sides.groups.old if each.is_gained else sides.groups.new
                own |= other_router(later, of_later, first_of[not each.is_gained][instead])
        if each.level in (AS, EXCHANGE):
            now = _where_now(here, there, pairs, own["asn"])
            if now != NO_ASN and each.level == AS:
                own["other_asn"] = now
        rows.append(
            make_changes(
                1,
                _WORDS[each.level],
                kind=kinds[0] if each.is_gained else kinds[1],
                n_pairs=max(each.n_pairs, len(pairs) * every),
                n_traces=int(traces[pairs].sum()) * every,
                n_vantages=len(np.unique(found.vantage[pairs])),
                n_silent=int((~ended & ~elsewhere).sum()) * every,
                n_elsewhere=int(elsewhere.sum()) * every,
                n_no_target=int(ended.sum()) * every,
                **{"old": float(n_routers) if n_routers else np.nan} | own,
            )
        )
    return concat(rows)


def _crosses_others(here: Routes, there: Routes, pairs: np.ndarray) -> np.ndarray:
    """(n_pairs,) bool: on the other night it crosses a router that it does not cross on this one.

    Else the way ends before what is lost, and shows no other one.
    """

    def crossed(routes: Routes) -> np.ndarray:
        ptr, hop = positions_of_rows(routes.ptr, pairs)
        return distinct_keys(ordered_keys(row_of_value(ptr), routes.group[hop]))

    now = crossed(there)
    others = split_key(now[~is_among(now, crossed(here))])[0]
    return np.bincount(others, minlength=len(pairs)) > 0


def _where_now(here: Routes, there: Routes, pairs: np.ndarray, asn: int) -> int:
    """The AS that most of some pairs cross on the other night and did not before; or none."""

    def crossed(routes: Routes) -> np.ndarray:
        ptr, hop = positions_of_rows(routes.ptr, pairs)
        return distinct_keys(ordered_keys(row_of_value(ptr), routes.asn[hop]))

    now = crossed(there)
    now = now[~is_among(now, crossed(here))]
    if not len(now):
        return NO_ASN
    ases, times = np.unique(split_key(now)[1], return_counts=True)
    return int(ases[np.argmax(times)])


def _link_keys(side: _Side, keys: np.ndarray) -> np.ndarray:
    """(pair, row in ``keys``) of links that the changed pairs cross."""
    routes = side.routes
    at = np.flatnonzero(routes.direct)
    link = pair_keys(routes.group[at - 1], routes.group[at])
    row = position_of(keys, link)
    on = row >= 0
    pair = side.row[row_of_value(routes.ptr)][at[on]]
    return distinct_keys(ordered_keys(pair, row[on]))


_OF_OLD: tuple[str, ...] = (
    *("removed", "not observable", "lost", "silent", "split in parts", "renumbered", "moved"),
    *("longer", "moved to another owner"),
)
_OF_NEW = ("added", "not observable before", "gained", "answers again", "parts joined", "shorter")
