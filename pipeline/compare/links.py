"""Links and routers of two nights: which are new, gone, not observable, or of another owner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.compare.changes import (
    ADDED,
    INPUT,
    MERGED,
    MOVED,
    NOT_BEFORE,
    REMOVED,
    SPLIT,
    UNSEEN,
    Changes,
    make_changes,
)
from pipeline.compare.evidence import (
    Evidence,
    View,
    count_crossings,
    find_evidence,
    label_links,
    link_keys,
)
from pipeline.compare.matching import Groups
from pipeline.compare.night import Night
from pipeline.model.columns.keys import first_rows, is_among

# Why a link, router or AS is of its kind.
TURNED = "a pair that crossed it crosses its near router, and goes elsewhere"
SILENT = "what is behind its near router does not answer"
ELSEWHERE = "traces do not cross its near router"
AS_TARGET = "its far end answers as a target, and no trace shows that it is a router"
STILL = "traces of both nights cross it, and inference left it out of one"
NO_TARGET = "its targets were not measured"
NO_VANTAGE = "its vantage points did not measure"
PLAIN = "by plain difference, without traces"
NOT_CROSSED = "no trace with a known beginning crossed it"
IN_OTHER_ASES = "its routers are in other ASes"
NOT_SEEN = "none of its routers is seen"
TABLES = "prefix tables or options differ"
OWNER = "prefix tables and options are the same"
BY_CHANCE = "as many owners of such routers change by chance"
IN_NO_AS = "on the other night its routers are in no AS, or may be with its tables and options"

SURE = 3.0  # exp(-3): news by chance, on the average, on one night in twenty
MAX_STILL = 0.05  # of the pairs that left: as many may still cross what is lost


@dataclass(frozen=True, eq=False)
class Sides:
    """Two nights, matched.

    Attributes
    ----------
    old, new : Night
    groups : Groups
    in_no_as : (n_groups,) bool
        With an address that is in an AS on one night and in none on the other, or may be.
    old_view, new_view : View or None
        None where one of the nights has no traces.
    n_targets : int
        As in ``Pairs``.
    """

    old: Night
    new: Night
    groups: Groups
    in_no_as: np.ndarray
    old_view: View | None
    new_view: View | None
    n_targets: int = 0

    @property
    def same_inputs(self) -> bool:
        """Whether inference had the same inputs besides traces."""
        return not self.old.other_inputs(self.new)


def compare_links(sides: Sides) -> Iterator[Changes]:
    """Links of one night only, and those whose ends have other owners."""
    old, new, groups = sides.old, sides.new, sides.groups
    old_keys = link_keys(groups.old, old.low, old.high)
    new_keys = link_keys(groups.new, new.low, new.high)
    in_new = is_among(old_keys, new_keys)
    in_old = is_among(new_keys, old_keys)
    views = sides.old_view, sides.new_view
    yield _of_one_night(sides, old, groups.old, old_keys, ~in_new, views, (REMOVED, UNSEEN))
    yield _of_one_night(sides, new, groups.new, new_keys, ~in_old, views[::-1], (ADDED, NOT_BEFORE))
    moved = _moved_groups(sides)
    rows = np.flatnonzero(in_old & (moved[groups.new[new.low]] | moved[groups.new[new.high]]))
    rows = rows[_apart(new_keys[rows])]
    crossed: dict[str, Any] = {}
    if sides.same_inputs and sides.new_view is not None:
        label = label_links(sides.new_view, new_keys[rows])
        crossed = count_crossings(sides.new_view, label, len(rows))
    yield describe(
        new,
        groups.new,
        new.low[rows],
        new.high[rows],
        kind=MOVED if sides.same_inputs else INPUT,
        reason=OWNER if sides.same_inputs else TABLES,
        **crossed,
    )


def compare_routers(sides: Sides) -> Iterator[Changes]:
    """Routers that were merged or split, and those of another owner."""
    old, new, groups = sides.old, sides.new, sides.groups
    n_old = np.bincount(groups.old, minlength=groups.n)
    n_new = np.bincount(groups.new, minlength=groups.n)
    both = (n_old > 0) & (n_new > 0)
    for kind, which in ((MERGED, both & (n_old > n_new)), (SPLIT, both & (n_old < n_new))):
        found = np.flatnonzero(which)
        node = first_nodes(groups.new, groups.n)[found]
        yield describe(
            new, groups.new, node, None, "router", kind=kind, old=n_old[found], new=n_new[found]
        )
    moved = np.flatnonzero(_moved_groups(sides))
    node = first_nodes(groups.new, groups.n)[moved]
    before = first_nodes(groups.old, groups.n)[moved]
    crossed: dict[str, Any] = {}
    if sides.same_inputs and sides.new_view is not None:  # else the network did not change
        number = np.full(groups.n, -1)
        number[moved] = np.arange(len(moved))
        label = number[groups.new[sides.new_view.seen.steps.far]]
        crossed = count_crossings(sides.new_view, label, len(moved))
        if old.confidence is not None and new.confidence is not None:
            crossed["new"] = np.minimum(old.confidence[before], new.confidence[node])
    yield describe(
        new,
        groups.new,
        node,
        None,
        "router",
        kind=MOVED if sides.same_inputs else INPUT,
        reason=OWNER if sides.same_inputs else TABLES,
        **crossed | {"asn": old.asn_of(before), "other_asn": new.asn_of(node)},
    )


def compare_unmapped(sides: Sides) -> Iterator[Changes]:
    """Routers of one night that are in no AS on the other one, or may be."""
    of_old, of_new = sides.groups.old, sides.groups.new
    for night, group, other, view, kind in (
        (sides.old, of_old, of_new, sides.old_view, UNSEEN),
        (sides.new, of_new, of_old, sides.new_view, NOT_BEFORE),
    ):
        node = first_nodes(group, sides.groups.n)
        only = (node >= 0) & (np.bincount(other, minlength=sides.groups.n) == 0)
        which = np.flatnonzero(only & sides.in_no_as)
        crossed = {}
        if view is not None:
            number = np.full(sides.groups.n, -1)
            number[which] = np.arange(len(which))
            crossed = count_crossings(view, number[group[view.seen.steps.far]], len(which))
        yield describe(
            night, group, node[which], None, "router", kind=kind, reason=IN_NO_AS, **crossed
        )


def _of_one_night(
    sides: Sides,
    night: Night,
    group: np.ndarray,
    keys: np.ndarray,
    only: np.ndarray,
    views: tuple[View | None, View | None],
    kinds: tuple[str, str],
) -> Changes:
    """Links of this night that the other one has not: ``kinds`` if observable, and if not."""
    here, there = views
    rows = np.flatnonzero(only & (group[night.low] != group[night.high]))
    rows = rows[_apart(keys[rows])]
    low, high = night.low[rows], night.high[rows]
    in_no_as = sides.in_no_as[group[low]] | sides.in_no_as[group[high]]
    if here is None or there is None:
        kind, reason = np.where(in_no_as, kinds[1], kinds[0]), np.where(in_no_as, IN_NO_AS, PLAIN)
        return describe(
            night, group, low, high, kind=kind.astype(object), reason=reason.astype(object)
        )
    found = find_evidence(here, there, keys[rows])
    known = found.near >= 0
    kind, reason = judge(found, kinds)
    kind[in_no_as], reason[in_no_as] = kinds[1], IN_NO_AS
    return describe(
        night,
        group,
        np.where(known, found.near, low),
        np.where(known, found.far, high),
        kind=kind,
        reason=reason,
        vantage=found.vantage,
        **{name: column for name, column in vars(found).items() if name.startswith("n_")},
    )


def judge(found: Evidence, kinds: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Kind of each link and why.

    Observable if a pair turned, unless others still cross it, or one crosses it to its target; else
    the most frequent reason.
    """
    others = np.array([found.n_silent, found.n_elsewhere, found.n_no_target, found.n_no_vantage])
    words = np.array([SILENT, ELSEWHERE, NO_TARGET, NO_VANTAGE], object)
    is_there = found.n_as_target > 0
    turned = (found.n_turned > 0) & ~is_there
    still = turned & (found.still > MAX_STILL * found.n_turned)
    turned &= ~still
    reason = np.where(turned, TURNED, words[others.argmax(axis=0)])
    reason[still] = STILL
    reason[is_there] = AS_TARGET
    reason[found.n_pairs == 0] = NOT_CROSSED
    return np.where(turned, kinds[0], kinds[1]).astype(object), reason.astype(object)


def _apart(keys: np.ndarray) -> np.ndarray:
    """Positions of distinct keys in ascending order."""
    return first_rows(keys)


def first_nodes(group: np.ndarray, n: int) -> np.ndarray:
    """The first node of each group, -1 for none; (n,) int64."""
    first = np.full(n, -1, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    return first


def _moved_groups(sides: Sides) -> np.ndarray:
    """(n_groups,) bool: groups of both nights whose routers are in no AS of the other night."""
    old, new, groups = sides.old, sides.new, sides.groups
    n_ases = int(max(old.asn.max(initial=0), new.asn.max(initial=0))) + 1
    both = np.zeros(groups.n, bool)
    both[groups.old] = True
    both &= np.bincount(groups.new, minlength=groups.n) > 0
    old_owner = groups.old * n_ases + old.asn_of(np.arange(old.n_nodes))
    new_owner = groups.new * n_ases + new.asn_of(np.arange(new.n_nodes))
    kept = np.zeros(groups.n, bool)
    kept[groups.new[is_among(new_owner, old_owner)]] = True
    return both & ~kept


def describe(
    night: Night,
    group: np.ndarray,
    near: np.ndarray,
    far: np.ndarray | None,
    what: str = "link",
    **columns: Any,
) -> Changes:
    """Changes of routers, or of links between them, with their addresses and ASes."""
    first = night.name_addr
    own: dict[str, Any] = {
        "asn": night.asn_of(near),
        "addr_high": first[near, 0],
        "addr_low": first[near, 1],
        "group": group[near],
    }
    if far is not None:
        own |= other_router(night, group, far)
    return make_changes(len(near), what, **own | columns)


def other_router(night: Night, group: np.ndarray, node: np.ndarray) -> dict[str, np.ndarray]:
    """The other of two routers of a change."""
    first = night.name_addr
    return {
        "other_asn": night.asn_of(node),
        "other_high": first[node, 0],
        "other_low": first[node, 1],
        "other_group": group[node],
    }
