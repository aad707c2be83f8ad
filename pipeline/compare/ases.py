"""ASes of two nights: lost and gained, split in parts, their neighbours and their figures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.compare.changes import (
    CHANGED,
    GAINED,
    INPUT,
    JOINED,
    LOST,
    NOT_BEFORE,
    PARTED,
    UNSEEN,
    Changes,
    make_changes,
)
from pipeline.compare.evidence import crossings
from pipeline.compare.figures.hops import tally
from pipeline.compare.figures.medians import wilson
from pipeline.compare.links import IN_NO_AS, IN_OTHER_ASES, NOT_SEEN, Sides
from pipeline.compare.matching import Groups
from pipeline.compare.night import Night
from pipeline.compare.rerouted import Rerouted
from pipeline.compare.silence import Passed
from pipeline.model.columns.keys import distinct_keys, is_among, position_of
from pipeline.model.columns.ragged import row_of_value
from pipeline.model.topology import NO_ASN

_MIN_PART = 0.1  # of the routers of an AS: what is smaller is not seen whole every night
_MIN_ROUTERS = 3
_MIN_CUT_OFF = 3  # pairs that no longer reach their target
_Z = 2.58  # of 99 %
_MOST = 0.5  # of pairs; an AS that fewer showed may show by chance on one night only


def compare_ases(
    sides: Sides, found: Rerouted | None, passed: tuple[Passed, Passed]
) -> Iterator[Changes]:
    """ASes of one night only, and those whose largest component fell apart, or came together.

    ``passed``: of both nights; ASes that are silent as a whole are not said to be gone.
    """
    old, new, groups = sides.old, sides.new, sides.groups
    for here, group, other_group, there, own, kind, unseen in (
        (old, groups.old, groups.new, new, passed[0], LOST, UNSEEN),
        (new, groups.new, groups.old, old, passed[1], GAINED, NOT_BEFORE),
    ):
        only = np.setdiff1d(np.setdiff1d(here.asn, there.asn), own.asn[own.is_silent])
        crossed, sure = _seen_again(sides, only, own, reverse=kind == GAINED)
        elsewhere = is_among(group, other_group)
        row = np.searchsorted(here.asn, only)
        before = np.append(0, np.cumsum(elsewhere))
        n_elsewhere = before[here.node_ptr[row + 1]] - before[here.node_ptr[row]]
        before = np.append(0, np.cumsum(sides.in_no_as[group]))
        in_no_as = before[here.node_ptr[row + 1]] > before[here.node_ptr[row]]
        reason = np.where(in_no_as, IN_NO_AS, NOT_SEEN).astype(object)
        reason[sure] = NOT_SEEN
        reason[n_elsewhere > 0] = IN_OTHER_ASES
        yield make_changes(
            len(only),
            "AS",
            kind=np.where(sure | (n_elsewhere > 0), kind, unseen).astype(object),
            asn=only,
            **crossed,
            old=np.where(n_elsewhere > 0, n_elsewhere, np.nan),
            reason=reason,
        )
    for before_, after, of, kind in (
        (old, new, groups, PARTED),
        (new, old, Groups(groups.new, groups.old, groups.n), JOINED),
    ):
        asn, n_parts = _parts(before_, after, of)
        n_pairs = n_traces = np.zeros(len(asn), np.int64)
        if found is not None:
            ases, counts, traces, behind = _cut_off(found, before_, of, reverse=kind == JOINED)
            cut = np.isin(ases, asn) | behind
            n_parts = _filled(ases[cut], asn, n_parts)
            asn = ases[cut]
            n_pairs, n_traces = counts[cut], traces[cut]
        yield make_changes(
            len(asn),
            "AS",
            kind=kind,
            asn=asn,
            old=1 if kind == PARTED else n_parts,
            new=n_parts if kind == PARTED else 1,
            n_pairs=n_pairs,
            n_traces=n_traces,
        )


def compare_inputs(sides: Sides) -> Changes:
    """One row if inference was given something else besides traces."""
    names = sides.old.other_inputs(sides.new)
    return make_changes(min(len(names), 1), "inputs", kind=INPUT, reason=", ".join(names))


def compare_neighbors(sides: Sides, links: Changes) -> Iterator[Changes]:
    """Pairs of ASes with links on one night only."""
    old, new = _neighbors(sides.old), _neighbors(sides.new)
    for own, others, kind, unseen, of_link in (
        (old, new, LOST, UNSEEN, "removed"),
        (new, old, GAINED, NOT_BEFORE, "added"),
    ):
        only = np.setdiff1d(own, others, assume_unique=True)
        which = links.kind == of_link
        sure = _as_pairs(links.asn[which], links.other_asn[which])
        yield make_changes(
            len(only),
            "neighbour",
            kind=np.where(is_among(only, sure), kind, unseen).astype(object),
            asn=(only >> np.uint64(32)).astype(np.int64),
            other_asn=(only & np.uint64(0xFFFF_FFFF)).astype(np.int64),
        )


def compare_figures(sides: Sides) -> Iterator[Changes]:
    """Figures of the reports of both nights that differ, of ASes of both."""
    _, at, now = np.intersect1d(sides.old.asn, sides.new.asn, return_indices=True)
    for name in sides.old.figures:  # in their order: that of a set differs from run to run
        if name not in sides.new.figures:
            continue
        old, new = sides.old.figures[name][at], sides.new.figures[name][now]
        which = np.flatnonzero((old != new) & ~(np.isnan(old) & np.isnan(new)))
        yield make_changes(
            len(which),
            name,
            kind=CHANGED,
            asn=sides.old.asn[at[which]],
            old=old[which],
            new=new[which],
        )


def _as_pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(n,) uint64: one number for each pair of AS numbers, which may be larger than 2**31."""
    low, high = np.minimum(one, other).astype(np.uint64), np.maximum(one, other).astype(np.uint64)
    return (low << np.uint64(32)) | high


def _neighbors(night: Night) -> np.ndarray:
    """Pairs of ASes with a link, distinct, ascending."""
    low, high = night.asn_of(night.low), night.asn_of(night.high)
    return distinct_keys(_as_pairs(low, high)[low != high])


def _parts(before: Night, after: Night, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """ASes whose largest component became several parts, and how many.

    Of several equally large components each is looked at alone: together they are several anyway.
    """
    row = np.repeat(np.arange(len(before.asn)), np.diff(before.node_ptr))
    size = np.bincount(before.component, minlength=before.n_nodes + 1)
    largest = np.zeros(len(before.asn), np.int64)
    np.maximum.at(largest, row, size[before.component])
    whole = np.full(groups.n, -1, np.int64)  # the one that each group was in
    inside = size[before.component] == largest[row]
    whole[groups.old[inside]] = before.component[inside]
    now = np.flatnonzero(whole[groups.new] >= 0)
    now = now[before.asn_of(whole[groups.new[now]]) == after.asn_of(now)]
    (of, _), n = tally(whole[groups.new[now]], after.component[now])
    known, at = np.unique(of, return_inverse=True)
    total = np.bincount(at, n, len(known))
    large = n >= np.maximum(_MIN_ROUTERS, _MIN_PART * total[at])
    n_parts = np.bincount(at, large, len(known)).astype(np.int64)
    some = n_parts > 1
    asn, at = np.unique(before.asn_of(known[some]), return_inverse=True)
    most = np.zeros(len(asn), np.int64)
    np.maximum.at(most, at, n_parts[some])
    return asn, most


def _seen_again(
    sides: Sides, asn: np.ndarray, passed: Passed, *, reverse: bool
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """What the pairs of both nights say of ASes of one night only.

    An AS is gone if most pairs with the same targets crossed it and no longer do. Other
    inputs may have put its routers into no AS; then only the pairs that no longer reach their
    target count.

    Returns
    -------
    columns : dict of str to (n,) int64
        Traces, pairs and vantage points that crossed it and measured the same on both nights.
    sure : (n,) bool
    """
    n = len(asn)
    nothing = {name: np.zeros(n, np.int64) for name in ("n_traces", "n_pairs", "n_vantages")}
    views = (sides.new_view, sides.old_view) if reverse else (sides.old_view, sides.new_view)
    here, there = views
    if here is None or there is None or not n:
        return nothing, np.ones(n, bool)  # by plain difference
    night = sides.new if reverse else sides.old
    paths, n_targets = here.seen.paths, sides.n_targets
    owner = night.asn_of(here.seen.steps.far.astype(np.int64))
    label = position_of(asn, owner)
    on_both = is_among(here.pair, there.pair)
    found = list(crossings(here, label, on_both))
    if not found:
        return nothing, np.zeros(n, bool)
    of, path = (np.concatenate(column) for column in zip(*found, strict=True))
    n_traces = np.bincount(of, paths.n_traces[path], n).astype(np.int64)
    (of, pair), _ = tally(of, here.pair[path])
    n_pairs = np.bincount(of, minlength=n)
    (by, _), _ = tally(of, pair // n_targets)
    measured = np.bincount(distinct_keys(here.pair[on_both]) % n_targets, minlength=n_targets)
    (asked, target), _ = tally(of, pair % n_targets)
    n_asked = np.bincount(asked, measured[target], n)
    _, at, row = np.intersect1d(asn, passed.asn, return_indices=True)
    n_gone = n_pairs.copy()
    n_gone[at] -= passed.n_passing[row]
    if not sides.same_inputs:
        reached = np.setdiff1d(here.pair[paths.reached], there.pair[there.seen.paths.reached])
        n_gone = np.bincount(of[is_among(pair, reached)], minlength=n)
    lower, _ = wilson(n_gone, n_asked, _Z)
    columns = {
        "n_traces": n_traces,
        "n_pairs": n_pairs,
        "n_vantages": np.bincount(by, minlength=n),
    }
    return columns, (n_pairs > 0) & (lower > _MOST)


def _filled(asn: np.ndarray, known: np.ndarray, n_parts: np.ndarray) -> np.ndarray:
    """Parts of some ASes; two where nothing is known: one is not seen."""
    if not len(known):
        return np.full(len(asn), 2)
    at = np.minimum(np.searchsorted(known, asn), len(known) - 1)
    return np.where(known[at] == asn, n_parts[at], 2)


def _cut_off(
    found: Rerouted, before: Night, groups: Groups, reverse: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """ASes in which routes end that went on to their target before.

    Returns
    -------
    asn, n_pairs, n_traces : (n,) int64
    behind : (n,) bool
        These routes crossed many routers of the AS that are no longer seen.
    """
    old, new = (found.new, found.old) if reverse else (found.old, found.new)
    reached, now = found.old_reached, found.new_reached
    which = (now & ~reached) if reverse else (reached & ~now)
    which &= np.diff(new.ptr) > 0
    ends = np.full(len(which), NO_ASN, np.int64)
    ends[which] = new.asn[new.ptr[1:][which] - 1]
    asn, row, n_pairs = np.unique(ends[which], return_inverse=True, return_counts=True)
    traces = found.new_traces if reverse else found.old_traces
    n_traces = np.bincount(row, traces[which], len(asn))
    of_hop = ends[row_of_value(old.ptr)]
    lost = (of_hop == old.asn) & ~is_among(old.group, groups.new)
    (owner, _), _ = tally(old.asn[lost], old.group[lost])
    n_lost = np.searchsorted(owner, asn, side="right") - np.searchsorted(owner, asn)
    row = np.minimum(np.searchsorted(before.asn, asn), len(before.asn) - 1)
    size = before.node_ptr[row + 1] - before.node_ptr[row]
    behind = n_lost >= np.maximum(_MIN_ROUTERS, _MIN_PART * size)
    kept = n_pairs >= _MIN_CUT_OFF
    return asn[kept], n_pairs[kept], n_traces[kept], behind[kept]
