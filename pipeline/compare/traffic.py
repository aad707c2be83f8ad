"""Traffic that enters an AS by other ingresses than on the other night.

An AS may be entered by several links. If one of them is cut, no pair may cross its near router any
longer, so the link alone is not observable; but its pairs show where they went. Only pairs that
enter the AS directly on both nights count, so neither lost vantage points nor routers that do not
answer have an effect; and only pairs with as many traces on both nights: the route of a pair is
that of most of its flows, so how often it changes depends on their number. An ingress lost its
traffic if most of the pairs that enter by it on either night did so on the older one only. Pairs
that arrive count against those that leave: where flows are balanced, as many arrive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.compare.changes import GAINED, LOST, MOST_MOVED, OTHER_END, Changes
from pipeline.compare.evidence import View
from pipeline.compare.figures.hops import Entries, entries_of, tally
from pipeline.compare.figures.medians import MIN_VANTAGES, wilson
from pipeline.compare.links import Sides, describe, first_nodes
from pipeline.compare.night import Night
from pipeline.compare.rerouted import Rerouted, n_vantages, paths_by_step
from pipeline.compare.routes import Routes, is_renamed
from pipeline.model.columns import take
from pipeline.model.columns.keys import common_rows, is_among, number_rows, pair_keys
from pipeline.model.columns.ragged import row_of_value, run_starts
from pipeline.model.measured.observations import FIRST

_Z = 2.58  # of 99 %: thousands of ingresses are asked
_MOST = 0.5  # of pairs


@dataclass(frozen=True, eq=False)
class _Moved:
    """Pairs that enter an AS by another ingress: numbers of both, rows of pairs; (n,) int64."""

    old: np.ndarray
    new: np.ndarray
    pair: np.ndarray


def compare_traffic(sides: Sides, found: Rerouted, told: np.ndarray) -> list[Changes]:
    """Ingresses that lost or gained most of their pairs, and where these went or came from.

    Parameters
    ----------
    sides : Sides
    found : Rerouted
    told : (7, n) int64
        Ingresses that moved to another router for the same neighbour: their pairs count nowhere.
    """
    ingress, moved, n_stayed = _by_ingress(sides, found, told)
    n = ingress.shape[1]
    n_left, n_came = (np.bincount(rows, minlength=n) for rows in (moved.old, moved.new))
    n_asked = n_left + n_came + n_stayed
    vantage = found.vantage[moved.pair]
    lost, gained = (
        _is_most(rows, n_pairs, n_asked, vantage)
        for rows, n_pairs in ((moved.old, n_left), (moved.new, n_came))
    )
    (old, new), times = tally(moved.old, moved.new)
    to, of = _most_often(old, new, times, lost), _most_often(new, old, times, gained)
    is_end = np.zeros((2, n), bool)  # where pairs came from, and where they went
    is_end[0, of], is_end[1, to] = True, True
    _, of_as = np.unique(ingress[0], return_inverse=True)
    n_of_as = np.bincount(of_as, n_left + n_stayed)[of_as] if n else np.zeros(0)
    groups = sides.groups
    changes = []
    for kind, is_most, is_other, rows, n_pairs, traces, night, group in (
        (LOST, lost, is_end[0], moved.old, n_left, found.old_traces, sides.old, groups.old),
        (GAINED, gained, is_end[1], moved.new, n_came, found.new_traces, sides.new, groups.new),
    ):
        some = np.flatnonzero(is_most | is_other)
        asn, neighbor, router = ingress[:, some]
        changes.append(
            describe(
                night,
                group,
                first_nodes(group, groups.n)[router],
                None,
                "traffic",
                kind=kind,
                asn=asn,
                other_asn=neighbor,
                old=(n_left + n_stayed)[some] / n_of_as[some],
                new=(n_came + n_stayed)[some] / n_of_as[some],
                n_pairs=n_pairs[some],
                n_traces=np.bincount(rows, traces[moved.pair], n)[some],
                n_vantages=n_vantages(rows, vantage, n)[some],
                reason=np.where(is_most[some], MOST_MOVED, OTHER_END).astype(object),
            )
        )
    return changes


def _by_ingress(
    sides: Sides, found: Rerouted, told: np.ndarray
) -> tuple[np.ndarray, _Moved, np.ndarray]:
    """AS, neighbour and group of each ingress, (3, n); pairs that moved; how many stayed, (n,)."""
    assert sides.old_view is not None
    old, new = _first_entries(found.old), _first_entries(found.new)
    groups = sides.groups
    renamed = (
        _are_renamed(found.old, old, sides.new, groups.new, groups.n),
        _are_renamed(found.new, new, sides.old, groups.old, groups.n),
    )
    of_old, of_new = _numbers((old.pair, old.asn), (new.pair, new.asn))
    at, now = common_rows(of_old, of_new)
    # If a pair still crosses the link, or if the other night has its routers in other ASes, only an
    # owner changed, and no traffic moved.
    still = _crosses(found.new, old)[at] | _crosses(found.old, new)[now]
    still |= renamed[0][at] | renamed[1][now]
    old, new = take(old, at), take(new, now)
    same = (old.neighbor == new.neighbor) & (old.group == new.group)
    shift = (old.asn, old.neighbor, old.group, new.group, new.neighbor)
    is_told = is_among(*_numbers(shift, tuple(told[[0, 1, 2, 3, 1]])))
    is_asked = found.common.as_often[found.pairs][old.pair]
    moved = np.flatnonzero(~same & ~still & ~is_told & is_asked)
    stayed = np.flatnonzero(same & is_asked)
    as_often = found.same[found.common.as_often[found.same]]
    steady, n_steady = _steady(sides.old_view, sides.old, found.common.old[as_often])
    rows = [
        np.array([entries.asn, entries.neighbor, entries.group])
        for entries in (take(old, moved), take(new, moved), take(old, stayed))
    ]
    number, n = number_rows(*np.concatenate([*rows, steady], axis=1))
    ingress = np.empty((3, n), np.int64)
    ingress[:, number] = np.concatenate([*rows, steady], axis=1)
    left, came, kept, others = np.split(number, np.cumsum([part.shape[1] for part in rows]))
    n_stayed = np.bincount(kept, minlength=n) + np.bincount(others, n_steady, n).astype(np.int64)
    return ingress, _Moved(left, came, old.pair[moved]), n_stayed


def _first_entries(routes: Routes) -> Entries:
    """Entries of some routes, the first into each AS."""
    entries = entries_of(routes)
    order = np.lexsort((entries.asn, entries.pair))
    return take(entries, order[run_starts(entries.pair[order], entries.asn[order])])


def _are_renamed(
    routes: Routes, entries: Entries, there: Night, group: np.ndarray, n_groups: int
) -> np.ndarray:
    """(n_entries,) bool: entries of which a router is in another AS on the other night."""
    renamed = is_renamed(routes, there, group, n_groups)
    return renamed[entries.hop] | renamed[entries.hop - 1]


def _numbers(
    rows: tuple[np.ndarray, ...], others: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the rows of two tables, equal for equal rows."""
    number, _ = number_rows(*(np.concatenate(pair) for pair in zip(rows, others, strict=True)))
    return number[: len(rows[0])], number[len(rows[0]) :]


def _crosses(routes: Routes, entries: Entries) -> np.ndarray:
    """(n_entries,) bool: whether the route of its pair holds the link of each entry."""
    hop = np.flatnonzero(routes.direct)
    key = pair_keys(routes.group[hop - 1], routes.group[hop])
    own = entries.pair, pair_keys(entries.before, entries.group)
    return is_among(*_numbers(own, (row_of_value(routes.ptr)[hop], key)))


def _steady(view: View, night: Night, paths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """AS, neighbour and group by which some paths enter, (3, n), and how many do, (n,)."""
    steps = view.seen.steps
    n_paths = paths_by_step(view, paths)
    at = np.flatnonzero((n_paths > 0) & ~steps.across_gap & (steps.near != FIRST))
    near, far = steps.near[at].astype(np.int64), steps.far[at].astype(np.int64)
    asn, neighbor = night.asn_of(far), night.asn_of(near)
    enters = asn != neighbor
    return np.array([asn, neighbor, view.group[far]])[:, enters], n_paths[at][enters]


def _is_most(
    rows: np.ndarray, n_pairs: np.ndarray, n_asked: np.ndarray, vantage: np.ndarray
) -> np.ndarray:
    """(n_ingresses,) bool: ``n_pairs`` are most of those asked, from enough vantage points."""
    lower, _ = wilson(n_pairs, n_asked, _Z)
    return (lower > _MOST) & (n_vantages(rows, vantage, len(n_pairs)) >= MIN_VANTAGES)


def _most_often(
    own: np.ndarray, other: np.ndarray, times: np.ndarray, which: np.ndarray
) -> np.ndarray:
    """The other ingress of most pairs of each one that is marked; the first of equal ones."""
    some = np.flatnonzero(which[own])
    order = some[np.lexsort((other[some], -times[some], own[some]))]
    return other[order[run_starts(own[order])]]
