"""ASes of two nights: lost and gained, split in parts, their neighbours and their figures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipeline.compare.changes import (
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
from pipeline.compare.links import Sides
from pipeline.compare.matching import Groups
from pipeline.compare.night import Night
from pipeline.compare.rerouted import Rerouted

_MIN_PART = 0.1  # of the routers of an AS: what is smaller is not seen whole every night
_MIN_ROUTERS = 3
_MIN_CUT_OFF = 3  # pairs that no longer reach their target
IN_OTHER_ASES = "its routers are in other ASes"
NOT_SEEN = "no router of it is seen"


def compare_ases(sides: Sides, found: Rerouted | None) -> Iterator[Changes]:
    """ASes of one night only, and those whose largest component fell apart, or came together."""
    old, new, groups = sides.old, sides.new, sides.groups
    for here, group, other_group, there, kind in (
        (old, groups.old, groups.new, new, LOST),
        (new, groups.new, groups.old, old, GAINED),
    ):
        only = np.setdiff1d(here.asn, there.asn)
        elsewhere = np.isin(group, other_group)
        row = np.searchsorted(here.asn, only)
        before = np.append(0, np.cumsum(elsewhere))
        n_elsewhere = before[here.node_ptr[row + 1]] - before[here.node_ptr[row]]
        yield make_changes(
            len(only),
            "AS",
            kind=kind,
            asn=only,
            old=np.where(n_elsewhere > 0, n_elsewhere, np.nan),
            reason=np.where(n_elsewhere > 0, IN_OTHER_ASES, NOT_SEEN).astype(object),
        )
    cut_off = None if found is None else _cut_off(found)
    for before_, after, of, kind in (
        (old, new, groups, PARTED),
        (new, old, Groups(groups.new, groups.old, groups.n), JOINED),
    ):
        asn, n_parts, n_routers = _parts(before_, after, of)
        n_pairs = np.zeros(len(asn), np.int64)
        if cut_off is not None:
            ases, counts = cut_off[kind == JOINED]
            at = np.minimum(np.searchsorted(ases, asn), max(0, len(ases) - 1))
            if len(ases):
                n_pairs = np.where(ases[at] == asn, counts[at], 0)
            asn, n_parts, n_routers, n_pairs = (
                column[n_pairs >= _MIN_CUT_OFF] for column in (asn, n_parts, n_routers, n_pairs)
            )
        yield make_changes(
            len(asn),
            "AS",
            kind=kind,
            asn=asn,
            old=1 if kind == PARTED else n_parts,
            new=n_parts if kind == PARTED else 1,
            n_pairs=n_pairs,
            n_traces=n_pairs,
            reason=np.array([f"{n:,} routers" for n in n_routers.tolist()], object),
        )


def compare_inputs(sides: Sides) -> Changes:
    """One row if inference was given something else besides traces."""
    old, new = sides.old.inputs, sides.new.inputs
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
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
            kind=np.where(np.isin(only, sure), kind, unseen).astype(object),
            asn=only >> 32,
            other_asn=only & 0xFFFF_FFFF,
        )


def compare_figures(sides: Sides) -> Iterator[Changes]:
    """Figures of the reports of both nights that differ, of ASes of both."""
    _, at, now = np.intersect1d(sides.old.asn, sides.new.asn, return_indices=True)
    for name in sides.old.figures.keys() & sides.new.figures.keys():
        old, new = sides.old.figures[name][at], sides.new.figures[name][now]
        which = np.flatnonzero((old != new) & ~(np.isnan(old) & np.isnan(new)))
        yield make_changes(
            len(which),
            name,
            kind="changed",
            asn=sides.old.asn[at[which]],
            old=old[which],
            new=new[which],
        )


def _as_pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (np.minimum(one, other) << 32) | np.maximum(one, other)


def _neighbors(night: Night) -> np.ndarray:
    """Pairs of ASes with a link, distinct, ascending."""
    low, high = night.asn_of(night.low), night.asn_of(night.high)
    return np.unique(_as_pairs(low, high)[low != high])


def _parts(before: Night, after: Night, groups: Groups) -> tuple[np.ndarray, ...]:
    """ASes whose largest component became several parts: asn, parts, routers of both nights."""
    row = np.repeat(np.arange(len(before.asn)), np.diff(before.node_ptr))
    size = np.bincount(before.component, minlength=before.n_nodes + 1)
    largest = np.zeros(len(before.asn), np.int64)
    np.maximum.at(largest, row, size[before.component])
    main = np.full(groups.n, -1, np.int64)
    inside = size[before.component] == largest[row]
    main[groups.old[inside]] = before.asn[row[inside]]
    now = np.repeat(np.arange(len(after.asn)), np.diff(after.node_ptr))
    both = np.flatnonzero(main[groups.new] == after.asn[now])
    part, n = np.unique(after.component[both], return_counts=True)
    asn = after.asn_of(part)
    known, of_as = np.unique(asn, return_inverse=True)
    total = np.bincount(of_as, n, len(known))
    large = n >= np.maximum(_MIN_ROUTERS, _MIN_PART * total[of_as])
    n_parts = np.bincount(of_as, large, len(known)).astype(np.int64)
    some = n_parts > 1
    return known[some], n_parts[some], total[some].astype(np.int64)


def _cut_off(found: Rerouted) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """ASes in which routes end that went on to their target, on the new night and on the old one.

    Each with its pairs.
    """
    result = []
    for routes, which in (
        (found.new, found.old_reached & ~found.new_reached),
        (found.old, found.new_reached & ~found.old_reached),
    ):
        some = which & (np.diff(routes.ptr) > 0)
        ends = routes.asn[routes.ptr[1:][some] - 1]
        result.append(np.unique(ends, return_counts=True))
    return tuple(result)
